from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from os import PathLike
from types import TracebackType
from typing import Any, Literal, Protocol, SupportsIndex, TypeVar, overload

from typing_extensions import Self, Unpack

from . import _bytewright
from ._bytewright import Batch, Call, Flow, Packet, Rows
from ._open_file import OpenFile
from .options import (
    _CallColumnsOptions,
    _CallsOptions,
    _CaptureOptions,
    _CountsOptions,
    _CutOptions,
    _FlowsOptions,
    _LiveOptions,
    _OutputOptions,
    _PacketsOptions,
    _ReportOptions,
    _SumsOptions,
    _WrittenPacketOptions,
)
from .questions import Questions

_Self = TypeVar("_Self")
_Path = str | PathLike[str]
_Value = int | str | None
_Time = datetime | str | int | float
_FlowFormat = Literal["zeek", "zeek-json", "ecs", "ipfix"]

class _Readable(Protocol):
    def read(self, count: int, /) -> Any: ...

class _ReadableInto(Protocol):
    def readinto(self, buffer: Any, /) -> Any: ...

_Source = _Path | _Readable | _ReadableInto | _bytewright.Capture
_Sources = _Source | Sequence[_Source]

class _LiveCaptureOptions(_LiveOptions, _CaptureOptions, total=False): ...
class _CountsOfCapturesOptions(_CountsOptions, _CaptureOptions, total=False): ...
class _PacketsOfCapturesOptions(_PacketsOptions, _CaptureOptions, total=False): ...
class _FlowsOfCapturesOptions(_FlowsOptions, _CaptureOptions, total=False): ...
class _WrittenFlowsOptions(_FlowsOptions, _OutputOptions, total=False): ...
class _FlowsInFileOptions(_FlowsOfCapturesOptions, _OutputOptions, total=False): ...
class _CallRowsOptions(_CallsOptions, _CallColumnsOptions, total=False): ...
class _CallsOfCapturesOptions(_CallRowsOptions, _CaptureOptions, total=False): ...
class _ReportOfCapturesOptions(_ReportOptions, _CaptureOptions, total=False): ...

class Capture(OpenFile, Questions, _bytewright.Capture):
    def __new__(
        cls,
        source: _Path | _Readable | _ReadableInto | _bytewright.Interface | _bytewright.CapturePart,
        **options: Unpack[_CaptureOptions],
    ) -> Self: ...
    @classmethod
    def live(
        cls: type[_Self],
        interface: str,
        **options: Unpack[_LiveCaptureOptions],
    ) -> _Self: ...
    def __iter__(self) -> Iterator[Packet]: ...
    def __getitem__(self, number: SupportsIndex) -> Packet: ...
    def packets(self, *fields: str, **options: Unpack[_PacketsOptions]) -> Rows[tuple[_Value, ...]]: ...
    def batches(self, *fields: str, **options: Unpack[_PacketsOptions]) -> Iterator[Batch]: ...
    @overload
    def flows(self, *fields: str, into: None = None, format: None = None, **options: Unpack[_FlowsOptions]) -> Rows[Flow]: ...
    @overload
    def flows(self, *, into: _Path, format: _FlowFormat, **options: Unpack[_WrittenFlowsOptions]) -> int: ...
    def calls(self, *fields: str, **options: Unpack[_CallRowsOptions]) -> Rows[Call]: ...
    def sum(self, *fields: str, **options: Unpack[_SumsOptions]) -> Batch: ...
    def write_to(
        self,
        path: _Path,
        *,
        from_time: _Time | None = None,
        to_time: _Time | None = None,
        **options: Unpack[_CutOptions],
    ) -> dict[str, Any]: ...

class CaptureWriter(OpenFile, _bytewright.CaptureWriter):
    def write(
        self,
        data: bytes | bytearray | memoryview,
        *,
        time: datetime | int | float | None = None,
        **details: Unpack[_WrittenPacketOptions],
    ) -> None: ...
    def __exit__(
        self, error: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

class FlowStore(OpenFile, _bytewright.FlowStore):
    def merge(self, *paths: _Path) -> list[dict[str, Any]]: ...

def packets(
    source: _Sources,
    *fields: str,
    **options: Unpack[_PacketsOfCapturesOptions],
) -> Rows[tuple[_Value, ...]]: ...
@overload
def flows(
    *sources: _Sources,
    fields: Iterable[str] = (),
    into: None = None,
    format: None = None,
    **options: Unpack[_FlowsOfCapturesOptions],
) -> Rows[Flow]: ...
@overload
def flows(
    *sources: _Sources,
    fields: Iterable[str] = (),
    into: _Path | FlowStore,
    format: None = None,
    **options: Unpack[_FlowsOfCapturesOptions],
) -> list[dict[str, Any]]: ...
@overload
def flows(
    *sources: _Sources,
    fields: Iterable[str] = (),
    into: _Path,
    format: _FlowFormat,
    **options: Unpack[_FlowsInFileOptions],
) -> int: ...
def calls(
    *sources: _Sources,
    fields: Iterable[str] = (),
    **options: Unpack[_CallsOfCapturesOptions],
) -> Rows[Call]: ...
def count_by(
    source: _Sources,
    field: str,
    **options: Unpack[_CountsOfCapturesOptions],
) -> dict[int | str | None, int]: ...
def report(
    *sources: _Sources,
    into: _Path,
    **options: Unpack[_ReportOfCapturesOptions],
) -> list[dict[str, Any]]: ...
def info(
    source: _Source,
    **options: Unpack[_CaptureOptions],
) -> dict[str, Any]: ...
