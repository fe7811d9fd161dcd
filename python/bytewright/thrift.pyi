from collections.abc import Iterator
from os import PathLike
from typing import Any, Literal, Protocol

from . import _bytewright
from ._bytewright import thrift_decode as decode
from ._bytewright import thrift_decode_many as decode_many
from ._bytewright import thrift_encode as encode
from ._bytewright import thrift_pluck as pluck
from ._frames import to_pandas as to_pandas
from ._frames import to_polars as to_polars
from ._thrift_classes import FrozenDict as FrozenDict
from ._thrift_classes import Struct as Struct
from ._thrift_classes import load as load

__all__ = ["Columns", "FrozenDict", "Struct", "columns", "decode", "decode_many", "encode", "load", "pluck"]

class _Readable(Protocol):
    def read(self, count: int, /) -> Any: ...

class Columns(_bytewright.ThriftColumns):
    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...

def columns(
    cls: type,
    source: bytes | bytearray | memoryview | str | PathLike[str] | _Readable,
    *paths: str,
    protocol: Literal["binary", "compact", "header", "json"] = "binary",
    framed: bool = True,
    rows: int = 65_536,
) -> Columns: ...
