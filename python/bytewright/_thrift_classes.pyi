from collections.abc import Iterable
from os import PathLike
from types import ModuleType
from typing import ClassVar

from ._bytewright import ThriftCodec

class Struct:
    __match_args__: ClassVar[tuple[str, ...]]
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

def load(idl: str | PathLike[str], *, include: Iterable[str | PathLike[str]] = ()) -> ModuleType: ...
def codec_of_derived(cls: type) -> ThriftCodec | None: ...
