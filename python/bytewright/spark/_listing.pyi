from collections.abc import Iterable
from typing import Any, NamedTuple

from ._globs import NameFilter

class Found(NamedTuple):
    path: str
    size: int
    time: float | None

class Selection(NamedTuple):
    names: NameFilter | None = None
    is_recursive: bool = False
    after: float | None = None
    before: float | None = None
    min_age: float | None = None
    storage: dict[str, dict[str, Any]] = {}
    def of(self, found: Iterable[Found]) -> list[Found]: ...

def captures(paths: Iterable[str], selection: Selection) -> list[Found]: ...
def present(paths: Iterable[str], selection: Selection) -> list[Found]: ...
