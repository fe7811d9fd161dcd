from typing import Literal

import polars

from .captures import _Sources

def scan_packets(
    source: _Sources,
    *,
    filter: str | None = None,
    inner: bool = False,
    jobs: int | None = None,
    damage: Literal["raise", "keep"] = "raise",
) -> polars.LazyFrame: ...
def scan_flows(
    *sources: _Sources,
    idle_timeout: float | None = None,
    active_timeout: float | None = None,
    max_flows: int = 1_000_000,
    filter: str | None = None,
    inner: bool = False,
    jobs: int | None = None,
    damage: Literal["raise", "keep"] = "raise",
) -> polars.LazyFrame: ...
