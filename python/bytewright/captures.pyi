from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from os import PathLike
from types import TracebackType
from typing import Any, Literal, Protocol, TypeVar, overload

from typing_extensions import Self

from . import _bytewright
from ._bytewright import Batch, Call, Flow, Packet, Rows
from ._open_file import OpenFile

_Self = TypeVar("_Self")
_Damage = Literal["raise", "keep"]
_Path = str | PathLike[str]
_Value = int | str | None
_Time = datetime | str | int | float

class _Readable(Protocol):
    def read(self, count: int, /) -> Any: ...

class _ReadableInto(Protocol):
    def readinto(self, buffer: Any, /) -> Any: ...

_Source = _Path | _Readable | _ReadableInto | _bytewright.Capture
_Sources = _Source | Sequence[_Source]

class Capture(OpenFile, _bytewright.Capture):
    def __new__(
        cls,
        source: _Path | _Readable | _ReadableInto | _bytewright.Interface | _bytewright.CapturePart,
        *,
        filter: str | None = None,
        flow: str | None = None,
        inner: bool = False,
        jobs: int | None = None,
        damage: _Damage = "raise",
    ) -> Self: ...
    @classmethod
    def live(
        cls: type[_Self],
        interface: str,
        *,
        snaplen: int = 262_144,
        buffer: int = 16_777_216,
        promiscuous: bool = False,
        filter: str | None = None,
        flow: str | None = None,
        inner: bool = False,
    ) -> _Self: ...
    def __iter__(self) -> Iterator[Packet]: ...
    def packets(self, *fields: str, rows: int = 65_536, where: str | None = None) -> Rows[tuple[_Value, ...]]: ...
    def batches(self, *fields: str, rows: int = 65_536, where: str | None = None) -> Iterator[Batch]: ...
    def flows(
        self,
        *fields: str,
        idle_timeout: float | None = None,
        active_timeout: float | None = None,
        max_flows: int = 1_000_000,
    ) -> Rows[Flow]: ...
    def calls(
        self,
        *fields: str,
        idl: _Path | None = None,
        service: str | None = None,
        include: Iterable[_Path] = (),
    ) -> Rows[Call]: ...
    def sum(
        self,
        *fields: str,
        by: str | Iterable[str] = (),
        every: float | None = None,
        top: int | None = None,
        where: str | None = None,
    ) -> Batch: ...
    def write_to(
        self,
        path: _Path,
        *,
        where: str | None = None,
        from_time: _Time | None = None,
        to_time: _Time | None = None,
        snaplen: int | None = None,
        force: bool = False,
    ) -> dict[str, Any]: ...

class CaptureWriter(OpenFile, _bytewright.CaptureWriter):
    def write(
        self,
        data: bytes | bytearray | memoryview,
        *,
        time: datetime | int | float | None = None,
        length: int | None = None,
        link_type: int = 1,
        interface: str | None = None,
        comment: str | None = None,
    ) -> None: ...
    def __exit__(
        self, error: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

class FlowStore(OpenFile, _bytewright.FlowStore):
    def merge(self, *paths: _Path) -> list[dict[str, Any]]: ...

def packets(
    source: _Sources,
    *fields: str,
    rows: int = 65_536,
    where: str | None = None,
    filter: str | None = None,
    flow: str | None = None,
    inner: bool = False,
    jobs: int | None = None,
    damage: _Damage = "raise",
) -> Rows[tuple[_Value, ...]]: ...
@overload
def flows(
    *sources: _Sources,
    fields: Iterable[str] = (),
    into: None = None,
    idle_timeout: float | None = None,
    active_timeout: float | None = None,
    max_flows: int = 1_000_000,
    filter: str | None = None,
    flow: str | None = None,
    inner: bool = False,
    jobs: int | None = None,
    damage: _Damage = "raise",
) -> Rows[Flow]: ...
@overload
def flows(
    *sources: _Sources,
    fields: Iterable[str] = (),
    into: _Path | FlowStore,
    idle_timeout: float | None = None,
    active_timeout: float | None = None,
    max_flows: int = 1_000_000,
    filter: str | None = None,
    flow: str | None = None,
    inner: bool = False,
    jobs: int | None = None,
    damage: _Damage = "raise",
) -> list[dict[str, Any]]: ...
def calls(
    *sources: _Sources,
    fields: Iterable[str] = (),
    idl: _Path | None = None,
    service: str | None = None,
    include: Iterable[_Path] = (),
    filter: str | None = None,
    flow: str | None = None,
    inner: bool = False,
    jobs: int | None = None,
    damage: _Damage = "raise",
) -> Rows[Call]: ...
def count_by(
    source: _Sources,
    field: str,
    *,
    filter: str | None = None,
    flow: str | None = None,
    inner: bool = False,
    jobs: int | None = None,
    damage: _Damage = "raise",
) -> dict[int | str | None, int]: ...
def report(
    *sources: _Sources,
    into: _Path,
    title: str | None = None,
    where: str | None = None,
    force: bool = False,
    filter: str | None = None,
    flow: str | None = None,
    inner: bool = False,
    jobs: int | None = None,
    damage: _Damage = "raise",
) -> list[dict[str, Any]]: ...
def info(
    source: _Source,
    *,
    filter: str | None = None,
    flow: str | None = None,
    inner: bool = False,
    jobs: int | None = None,
    damage: _Damage = "raise",
) -> dict[str, Any]: ...
