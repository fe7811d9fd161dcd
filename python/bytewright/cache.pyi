from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from typing import Any, Generic, Literal, ParamSpec, Protocol, TypeVar

from typing_extensions import Self, Unpack

from . import _bytewright
from ._open_file import OpenFile
from .options import _CacheOptions

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)

class _Memoized(Protocol, Generic[_P, _R]):
    __wrapped__: Callable[..., Any]
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def __cache_key__(self, *args: _P.args, **kwargs: _P.kwargs) -> str: ...

class _Block:
    def __init__(self, cache: Cache) -> None: ...
    def __enter__(self) -> Cache: ...
    def __exit__(self, *error: Any) -> Literal[False]: ...
    async def __aenter__(self) -> Cache: ...
    async def __aexit__(self, *error: Any) -> Literal[False]: ...

class Cache(OpenFile, _bytewright.CacheTable):
    def __new__(
        cls,
        path: str | PathLike[str] | None = None,
        *,
        pickle_key: bytes | None = None,
        on_damage: Literal["raise", "clear"] = "raise",
        **options: Unpack[_CacheOptions],
    ) -> Self: ...
    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        pickle_key: bytes | None = None,
        on_damage: Literal["raise", "clear"] = "raise",
        **options: Unpack[_CacheOptions],
    ) -> None: ...
    @property
    def path(self) -> str | None: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def sync(self) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __reversed__(self) -> Iterator[Any]: ...
    def iterkeys(self, reverse: bool = False) -> Iterator[Any]: ...
    def decr(self, key: Any, delta: int = 1, default: int | None = 0) -> int: ...
    def peekitem(self, last: bool = True) -> tuple[Any, Any]: ...
    def transact(self) -> _Block: ...
    def check(self) -> int: ...
    def memoize(
        self,
        name: str | None = None,
        typed: bool = False,
        expire: float | None = None,
        tag: Any = None,
        ignore: Iterable[int | str] | int | str = (),
    ) -> Callable[[Callable[_P, _R]], _Memoized[_P, _R]]: ...
    @classmethod
    def from_diskcache(
        cls,
        folder: str | PathLike[str],
        path: str | PathLike[str] | None = None,
        *,
        pickled: bool = False,
        **options: Any,
    ) -> Self: ...

__all__ = ["Cache"]
