from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from os import PathLike
from types import TracebackType
from typing import Any, Generic, Literal, Protocol, TypeVar, overload

from _typeshed import SupportsKeysAndGetItem
from typing_extensions import Unpack

from ._bytewright import Changes, Cursor
from ._open_file import OpenFile
from .options import _TableOptions

_S = TypeVar("_S", str, bytes)
_T = TypeVar("_T")
_Self = TypeVar("_Self")
_V = TypeVar("_V")
_Pairs = SupportsKeysAndGetItem[_S, _V] | Iterable[tuple[_S, _V]]
_Path = str | PathLike[str]

class _Codec(Protocol):
    def dumps(self, value: Any, /) -> str | bytes: ...
    def loads(self, data: bytes, /) -> Any: ...

class _Transaction(Generic[_T]):
    def __enter__(self) -> _T: ...
    def __exit__(
        self, class_: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Literal[False]: ...
    async def __aenter__(self) -> _T: ...
    async def __aexit__(
        self, class_: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> Literal[False]: ...

_Objects = Literal["json", "pickle"] | _Codec

class Range(Generic[_S, _V]):
    def __init__(self, entries: Any, keywords: dict[str, Any]) -> None: ...
    def __iter__(self) -> Iterator[tuple[_S, _V]]: ...
    def items(self) -> Iterator[tuple[_S, _V]]: ...
    def keys(self) -> Iterator[_S]: ...
    def values(self) -> Iterator[_V]: ...

class _Readable(OpenFile, Mapping[_S, _V]):
    @property
    def text(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    def __getitem__(self, key: _S, /) -> _V: ...
    def __iter__(self) -> Iterator[_S]: ...
    def __len__(self) -> int: ...
    def close(self) -> None: ...
    @overload
    def get_many(self, keys: Iterable[_S], default: None = None) -> list[_V | None]: ...
    @overload
    def get_many(self, keys: Iterable[_S], default: _T) -> list[_V | _T]: ...

class _Ordered(Generic[_S, _V]):
    def __reversed__(self) -> Iterator[_S]: ...
    def range(
        self,
        first: _S | None = None,
        last: _S | None = None,
        *,
        prefix: _S | None = None,
        reverse: bool = False,
        limit: int | None = None,
    ) -> Range[_S, _V]: ...
    def first(self) -> tuple[_S, _V] | None: ...
    def last(self) -> tuple[_S, _V] | None: ...
    def floor(self, key: _S) -> tuple[_S, _V] | None: ...
    def ceiling(self, key: _S) -> tuple[_S, _V] | None: ...

class _Changeable(_Readable[_S, _V], MutableMapping[_S, _V]):
    @property
    def path(self) -> str | None: ...
    @property
    def in_transaction(self) -> bool: ...
    def __setitem__(self, key: _S, value: _V, /) -> None: ...
    def __delitem__(self, key: _S, /) -> None: ...
    def delete(self, key: _S) -> bool: ...
    def create(self, key: _S, value: _V) -> bool: ...
    def append(self, key: _S, end: _V) -> None: ...
    def increment(self, key: _S, by: int = 1) -> int: ...
    def transaction(self: _Self) -> _Transaction[_Self]: ...
    def sync(self) -> None: ...
    def compact(self) -> None: ...
    def backup(self, path: str | PathLike[str], *, replace: bool = False) -> int: ...
    def dump(self, path: str | PathLike[str], *, format: Literal["db", "lmdb", "sql"] = "db", force: bool = False) -> int: ...
    def load(self, path: str | PathLike[str]) -> int: ...
    def changes_since(self, position: str | None = None) -> Changes[_S, _V]: ...
    def stat(self) -> dict[str, int]: ...
    def copy(self: _Self) -> _Self: ...
    def __or__(self: _Self, other: Mapping[_S, _V], /) -> _Self: ...
    def __ror__(self: _Self, other: Mapping[_S, _V], /) -> _Self: ...
    def __ior__(self: _Self, other: _Pairs[_S, _V], /) -> _Self: ...

class Snapshot(_Readable[_S, _V]): ...
class TreeSnapshot(_Ordered[_S, _V], _Readable[_S, _V]): ...

class HashTable(_Changeable[_S, _V]):
    @overload
    def __new__(cls, entries: _Pairs[str, str] = (), /, *, text: Literal[True] = True, values: Literal["string"] = "string") -> HashTable[str, str]: ...
    @overload
    def __new__(cls, entries: _Pairs[bytes, bytes] = (), /, *, text: Literal[False], values: Literal["string"] = "string") -> HashTable[bytes, bytes]: ...
    @overload
    def __new__(cls, entries: _Pairs[str, int] = (), /, *, text: Literal[True] = True, values: Literal["integer"]) -> HashTable[str, int]: ...
    @overload
    def __new__(cls, entries: _Pairs[bytes, int] = (), /, *, text: Literal[False], values: Literal["integer"]) -> HashTable[bytes, int]: ...
    @overload
    def __new__(cls, entries: _Pairs[str, Any] = (), /, *, text: Literal[True] = True, values: _Objects) -> HashTable[str, Any]: ...
    @overload
    def __new__(cls, entries: _Pairs[bytes, Any] = (), /, *, text: Literal[False], values: _Objects) -> HashTable[bytes, Any]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[True] = True,
        values: Literal["string"] = "string",
        **options: Unpack[_TableOptions],
    ) -> HashTable[str, str]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[False],
        values: Literal["string"] = "string",
        **options: Unpack[_TableOptions],
    ) -> HashTable[bytes, bytes]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[True] = True,
        values: Literal["integer"],
        **options: Unpack[_TableOptions],
    ) -> HashTable[str, int]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[False],
        values: Literal["integer"],
        **options: Unpack[_TableOptions],
    ) -> HashTable[bytes, int]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[True] = True,
        values: _Objects,
        **options: Unpack[_TableOptions],
    ) -> HashTable[str, Any]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[False],
        values: _Objects,
        **options: Unpack[_TableOptions],
    ) -> HashTable[bytes, Any]: ...
    @classmethod
    def fromkeys(
        cls, keys: Iterable[Any], value: Any = None, /, *, text: bool = True, values: Literal["string", "integer"] | _Objects = "string"
    ) -> HashTable[Any, Any]: ...
    def snapshot(self) -> Snapshot[_S, _V]: ...

class TreeTable(_Ordered[_S, _V], _Changeable[_S, _V]):
    @overload
    def __new__(cls, entries: _Pairs[str, str] = (), /, *, text: Literal[True] = True, values: Literal["string"] = "string") -> TreeTable[str, str]: ...
    @overload
    def __new__(cls, entries: _Pairs[bytes, bytes] = (), /, *, text: Literal[False], values: Literal["string"] = "string") -> TreeTable[bytes, bytes]: ...
    @overload
    def __new__(cls, entries: _Pairs[str, int] = (), /, *, text: Literal[True] = True, values: Literal["integer"]) -> TreeTable[str, int]: ...
    @overload
    def __new__(cls, entries: _Pairs[bytes, int] = (), /, *, text: Literal[False], values: Literal["integer"]) -> TreeTable[bytes, int]: ...
    @overload
    def __new__(cls, entries: _Pairs[str, Any] = (), /, *, text: Literal[True] = True, values: _Objects) -> TreeTable[str, Any]: ...
    @overload
    def __new__(cls, entries: _Pairs[bytes, Any] = (), /, *, text: Literal[False], values: _Objects) -> TreeTable[bytes, Any]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[True] = True,
        values: Literal["string"] = "string",
        **options: Unpack[_TableOptions],
    ) -> TreeTable[str, str]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[False],
        values: Literal["string"] = "string",
        **options: Unpack[_TableOptions],
    ) -> TreeTable[bytes, bytes]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[True] = True,
        values: Literal["integer"],
        **options: Unpack[_TableOptions],
    ) -> TreeTable[str, int]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[False],
        values: Literal["integer"],
        **options: Unpack[_TableOptions],
    ) -> TreeTable[bytes, int]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[True] = True,
        values: _Objects,
        **options: Unpack[_TableOptions],
    ) -> TreeTable[str, Any]: ...
    @overload
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        text: Literal[False],
        values: _Objects,
        **options: Unpack[_TableOptions],
    ) -> TreeTable[bytes, Any]: ...
    @classmethod
    def fromkeys(
        cls, keys: Iterable[Any], value: Any = None, /, *, text: bool = True, values: Literal["string", "integer"] | _Objects = "string"
    ) -> TreeTable[Any, Any]: ...
    def delete_range(
        self,
        first: _S | None = None,
        last: _S | None = None,
        *,
        prefix: _S | None = None,
        reverse: bool = False,
        limit: int | None = None,
    ) -> int: ...
    def snapshot(self) -> TreeSnapshot[_S, _V]: ...
    def cursor(self) -> Cursor[_S, _V]: ...
