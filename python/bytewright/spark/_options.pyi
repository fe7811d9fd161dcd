from collections.abc import Mapping
from typing import Any

class Options:
    paths: list[str]
    rows: str
    columns: list[str]
    is_failfast: bool
    filter: str | None
    flow: str | None
    inner: bool
    pushdown: bool
    jobs: int
    split_bytes: int
    limits: dict[str, Any]
    def __init__(self, given: Mapping[str, str]) -> None: ...
