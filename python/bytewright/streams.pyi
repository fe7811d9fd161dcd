from collections.abc import Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Literal, Protocol, overload

from typing_extensions import Buffer, Self, Unpack

from . import _bytewright
from ._bytewright import Batch
from ._open_file import OpenFile
from .options import _ReaderOptions

_Path = str | PathLike[str]

class _Readable(Protocol):
    def read(self, count: int, /) -> Any: ...

class _ReadableInto(Protocol):
    def readinto(self, buffer: Any, /) -> Any: ...

class _Writable(Protocol):
    def write(self, data: bytes, /) -> Any: ...

class _Stream(OpenFile): ...

class Reader(_Stream, _bytewright.Reader):
    def __new__(
        cls, source: _Path | Buffer | _Readable | _ReadableInto | int, **options: Unpack[_ReaderOptions]
    ) -> Self: ...
    @overload
    def unpack_records(
        self, template: str, count: int | None = None, *, columns: Literal[False] = False
    ) -> list[tuple[Any, ...]]: ...
    @overload
    def unpack_records(
        self, template: str, count: int | None = None, *, columns: Literal[True] | Sequence[str]
    ) -> Batch: ...

class Writer(_Stream, _bytewright.Writer):
    def __new__(cls, target: _Path | _Writable | int, *, append: bool = False, sync: bool = False) -> Self: ...
    @classmethod
    def open(cls, target: _Path | _Writable | int, *, append: bool = False, sync: bool = False) -> Self: ...
    @classmethod
    def replace(cls, path: _Path) -> Self: ...
    def flush(self, *, sync: bool | None = None) -> None: ...
    def close(self) -> None: ...
    def discard(self) -> None: ...
    def __exit__(
        self, class_: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...
