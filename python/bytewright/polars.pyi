from collections.abc import Sequence
from os import PathLike
from typing import Literal

import polars
from typing_extensions import Unpack

from .captures import _FlowsOfCapturesOptions, _Sources
from .options import _CaptureOptions

_Messages = bytes | bytearray | memoryview | str | PathLike[str]

def scan_packets(source: _Sources, **options: Unpack[_CaptureOptions]) -> polars.LazyFrame: ...
def scan_flows(*sources: _Sources, **options: Unpack[_FlowsOfCapturesOptions]) -> polars.LazyFrame: ...
def scan_thrift(
    source: _Messages | Sequence[_Messages],
    cls: type,
    *paths: str,
    protocol: Literal["binary", "compact", "header", "json"] = "binary",
    framed: bool = True,
) -> polars.LazyFrame: ...
