from types import TracebackType
from typing import TypeVar

_Self = TypeVar("_Self")

class OpenFile:
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, class_: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...
