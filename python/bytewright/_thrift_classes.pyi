from collections.abc import Iterable
from os import PathLike
from types import ModuleType
from typing import Any, ClassVar, NoReturn, TypeVar

from ._bytewright import ThriftCodec

_K = TypeVar("_K")
_V = TypeVar("_V")

class Struct:
    __match_args__: ClassVar[tuple[str, ...]]
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class FrozenDict(dict[_K, _V]):
    def __hash__(self) -> int: ...  # type: ignore[override]
    def clear(self, *_values: Any, **_entries: Any) -> NoReturn: ...
    def popitem(self, *_values: Any, **_entries: Any) -> NoReturn: ...

def load(idl: str | PathLike[str], *, include: Iterable[str | PathLike[str]] = ()) -> ModuleType: ...
def codec_of_derived(cls: type) -> ThriftCodec | None: ...
