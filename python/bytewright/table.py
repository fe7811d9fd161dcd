"""Tables: dictionaries of strings in a fraction of a dict's memory, hashed or ordered, in memory or in one file.

    table = bytewright.HashTable.open("users.bwh")
    table["ada"] = "1815"
    with table.transaction():
        table.increment("visits")

Keys and values are `str`, or with `text=False` `bytes` (and all that has the buffer protocol, to put in). Iterations
walk the table as it was when they began: changing it meanwhile is fine, and not seen. A `HashTable` gives entries in
the order of their last write, a `TreeTable` in that of their keys, which compare as bytes.

Values may be something else than strings, in all of a table: `values="integer"` keeps `int` of 64 bits and counts fast,
"json" and "pickle" keep objects, and so does whatever has `dumps` and `loads`. A file remembers which, and is refused where
it is opened for another. Reading pickled values runs what is in them: open only files that you trust with "pickle".

Threads may share every object, and so may tasks: see `transaction`. A forked child may use tables in memory, and those in
files.
"""

import os
from collections.abc import ItemsView, KeysView, Mapping, MutableMapping, Set, ValuesView

from . import _bytewright
from ._errors import ArgumentError
from ._open_file import OpenFile

#: Entries that `repr` shows.
_SHOWN_ENTRIES = 20
_MISSING = object()


def _at_one_moment(entries):
    """The entries as they are now, for what reads more than one of them: another process may write a file."""
    return entries.snapshot() if getattr(entries, "path", None) is not None else entries


def _of_one_moment(name):
    """An operation of sets that asks no view for more than one commit."""
    operation = getattr(Set, name)

    def of_one_moment(self, other):
        return operation(*(type(view)(_at_one_moment(view._mapping)) if isinstance(view, _SetView) else view for view in (self, other)))

    of_one_moment.__name__ = name
    return of_one_moment


class _SetView(Set):
    __slots__ = ()

    __le__ = _of_one_moment("__le__")
    __lt__ = _of_one_moment("__lt__")
    __ge__ = _of_one_moment("__ge__")
    __gt__ = _of_one_moment("__gt__")
    __eq__ = _of_one_moment("__eq__")
    __and__ = _of_one_moment("__and__")
    __rand__ = _of_one_moment("__rand__")
    __sub__ = _of_one_moment("__sub__")
    __rsub__ = _of_one_moment("__rsub__")
    __xor__ = _of_one_moment("__xor__")
    __rxor__ = _of_one_moment("__rxor__")
    isdisjoint = _of_one_moment("isdisjoint")

    __hash__ = None


class _Items(_SetView, ItemsView):
    __slots__ = ()

    def __contains__(self, item):
        key, _ = item
        return key in self._mapping and super().__contains__(item)

    def __iter__(self):
        return self._mapping._scan("items")

    def __reversed__(self):
        return self._mapping._scan("items", reverse=True)


class _Keys(_SetView, KeysView):
    __slots__ = ()

    def __iter__(self):
        return self._mapping._scan("keys")

    def __reversed__(self):
        return self._mapping._scan("keys", reverse=True)


class _Values(ValuesView):
    __slots__ = ()

    def __iter__(self):
        return self._mapping._scan("values")

    def __reversed__(self):
        return self._mapping._scan("values", reverse=True)

    def __contains__(self, value):
        return any(value == found for found in self)


class _Json:
    """Objects as JSON in UTF-8, as Ruby's tables have them, too."""

    name = "json"

    def __init__(self):
        import json

        self.loads = json.loads
        # JSON has no NaN and no infinity: other languages would not read what Python writes for them.
        self.dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def _codec(values):
    """The name that a file remembers of what the values are, and for most names what was given and what converts."""
    if values in ("string", "integer"):
        return values, None
    if values == "json":
        codec = _Json()
    elif values == "pickle":
        import pickle as codec
    else:
        codec = values
    if not (hasattr(codec, "dumps") and hasattr(codec, "loads")):
        expected = 'values to be "string", "integer", "json", "pickle" or an object with dumps and loads'
        raise ArgumentError(f"expected {expected}, found {_bytewright.excerpt(repr(values))}")
    name = next((name for name in (getattr(codec, "name", None), getattr(codec, "__name__", None)) if isinstance(name, str)), None)
    return name or type(codec).__name__, (values, codec.dumps, codec.loads)


class Range:
    """Entries of an ordered table whose keys are in a range. Iterating gives pairs of key and value."""

    __slots__ = ("_entries", "_keywords")

    def __init__(self, entries, keywords):
        self._entries = entries
        self._keywords = keywords

    def __iter__(self):
        return self.items()

    def items(self):
        """Iterates over the pairs of key and value."""
        return self._entries._scan("items", **self._keywords)

    def keys(self):
        """Iterates over the keys."""
        return self._entries._scan("keys", **self._keywords)

    def values(self):
        """Iterates over the values."""
        return self._entries._scan("values", **self._keywords)

    def __repr__(self):
        given = ", ".join(f"{name}={value!r}" for name, value in self._keywords.items() if value)
        return f"<{type(self._entries).__name__}.range({given})>"


class _Entries(OpenFile):
    """Base of tables and their snapshots."""

    __slots__ = ()

    _no_pickle = "it may be a file, or larger than memory; pickle dict(table), or its path, or write it to a file with backup"

    def __iter__(self):
        return self._scan("keys")

    def keys(self):
        """A view of the keys."""
        return _Keys(self)

    def values(self):
        """A view of the values."""
        return _Values(self)

    def items(self):
        """A view of the pairs of key and value."""
        return _Items(self)

    def __eq__(self, other):
        if not isinstance(other, Mapping):
            return NotImplemented
        mine, others = _at_one_moment(self), _at_one_moment(other)
        if len(mine) != len(others):
            return False
        if isinstance(others, _Entries) and mine.text != others.text:
            return len(mine) == 0
        return all(others.get(key, _MISSING) == value for key, value in mine.items())

    __hash__ = None

    def __repr__(self):
        name = type(self).__name__
        path = getattr(self, "path", None)
        where = f" {os.fspath(path)!r}" if path else ""
        if self.closed:
            return f"<{name}{where} (closed)>"
        shown = [f"{key!r}: {value!r}" for _, (key, value) in zip(range(_SHOWN_ENTRIES), self.items())]
        if len(self) > len(shown):
            shown.append(f"... {len(self)} in all")
        entries = "{" + ", ".join(shown) + "}"
        return f"<{name}{where} {entries}>" if path else f"{name}({entries})"


class _OrderedEntries(_Entries):
    """Methods of ordered tables and their snapshots."""

    __slots__ = ()

    def __reversed__(self):
        return self._scan("keys", reverse=True)

    def range(self, first=None, last=None, *, prefix=None, reverse=False, limit=None):
        """The entries whose keys are not below `first`, not above `last` and begin with `prefix`.

        With `reverse` the highest key comes first; with `limit` there are at most so many entries.
        """
        return Range(self, {"first": first, "last": last, "prefix": prefix, "reverse": reverse, "limit": limit})

    def first(self):
        """The pair with the lowest key, or None."""
        return self._first()

    def last(self):
        """The pair with the highest key, or None."""
        return self._first(reverse=True)

    def floor(self, key):
        """The pair with the highest key that is not above this one, or None."""
        return self._first(last=key, reverse=True)

    def ceiling(self, key):
        """The pair with the lowest key that is not below this one, or None."""
        return self._first(first=key)


def _pairs(entries):
    """The pairs of a mapping, of an object with `keys` and `[]` as `dict` takes them, or of an iterable, which has them already."""
    if type(entries) is dict:
        return entries
    if isinstance(entries, Mapping):
        return entries.items()
    if hasattr(entries, "keys"):
        return ((key, entries[key]) for key in entries.keys())
    return entries


class _Table(_Entries):
    """Methods of tables that snapshots lack."""

    __slots__ = ()

    _is_ordered = False

    def __new__(cls, entries=(), /, *, text=True, values="string"):
        name, codec = _codec(values)
        return _bytewright.Table.__new__(cls, cls._is_ordered, text, name, codec=codec)

    def __init__(self, entries=(), /, *, text=True, values="string"):
        if entries != ():
            self.update(entries)

    @classmethod
    def open(cls, path, *, text=True, values="string", **options):
        """Opens the table in the file at `path`, and makes the file where it is missing. `options` are those of
        `bytewright.options.TABLE`: `create`, `read_only`, `exclusive`, `sync`, `timeout` and `verify`.

        Commits reach the file whole and in their order, whatever happens; `sync` says when they are made to survive a
        power cut: "interval" (within a second, and at the latest when it is closed), "commit" (before each commit
        returns) or "never". Processes write a file by turns, a transaction or a change each: `timeout` says how
        many seconds to wait for another one, after which a change raises `LockError`. `exclusive` keeps other writers out.
        `read_only` reads beside others who write. `verify` checks all of the file first.

        `values` says what the values are: "string", "integer" (`int` of 64 bits), "json", "pickle", or an object with `dumps`
        and `loads` such as a module, whose name the file remembers.

        Raises `FileNotFoundError` and its like where the file cannot be opened, `FormatError` where it holds something
        else or other values, `LockError` where another process writes to it, and `CorruptError` where it is damaged.
        """
        name, codec = _codec(values)
        return _bytewright.Table.__new__(cls, cls._is_ordered, text, name, os.fspath(path), codec, **options)

    @classmethod
    def fromkeys(cls, keys, value=None, /, *, text=True, values="string"):
        """A table in memory with these keys, which have all the same value."""
        return cls(((key, value) for key in keys), text=text, values=values)

    def update(self, entries=(), /, **more):
        """Puts the entries in of a mapping, of an object with `keys()` and `[]`, or of an iterable of pairs: all of them or, where
        something fails, none."""
        pairs = _pairs(entries)
        if more:
            pairs = [*(pairs.items() if type(pairs) is dict else pairs), *more.items()]
        self._put_all(pairs)

    def pop(self, key, default=_MISSING, /):
        """Takes the entry of a key out and returns its value, or `default`; `KeyError` without one."""
        value = self._take(key, default)
        if value is _MISSING:
            raise KeyError(key)
        return value

    def popitem(self):
        """Takes the first entry out, the one that an iteration gives first, and returns its key and value."""
        entry = self._shift()
        if entry is None:
            raise KeyError("popitem(): the table is empty")
        return entry

    def copy(self):
        """A table in memory with the same entries."""
        return type(self)(self, text=self.text, values=self._values)

    __copy__ = copy

    def __or__(self, other):
        """A table in memory with the entries of both, of which those of `other` count for keys that both have."""
        if not isinstance(other, Mapping):
            return NotImplemented
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other):
        if not isinstance(other, Mapping):
            return NotImplemented
        joined = type(self)(other, text=self.text, values=self._values)
        joined.update(self)
        return joined

    def __ior__(self, other):
        self.update(other)
        return self

    def __eq__(self, other):
        if isinstance(other, _Table) and self.text == other.text and self._values == other._values in ("string", "integer"):
            return self._has_same_entries(other)
        return super().__eq__(other)

    __hash__ = None


_NO_PICKLE_OF_SNAPSHOT = "it is a view of a table; pickle dict(snapshot)"


class Snapshot(_Entries, _bytewright.Snapshot, Mapping):
    """A `HashTable` as it was when `snapshot()` was called. Later changes of the table do not change it."""

    __slots__ = ()

    _no_pickle = _NO_PICKLE_OF_SNAPSHOT


class TreeSnapshot(_OrderedEntries, _bytewright.Snapshot, Mapping):
    """A `TreeTable` as it was when `snapshot()` was called."""

    __slots__ = ()

    _no_pickle = _NO_PICKLE_OF_SNAPSHOT


class HashTable(_Table, _bytewright.Table, MutableMapping):
    """A table that finds keys by their hashes, in memory or (`HashTable.open`) in a file (`.bwh`).

    It takes a fifth of the memory of a dict of the same short strings, and the garbage collector has nothing to do
    with its entries. It gives them in the order of their last write.
    """

    __slots__ = ()

    def snapshot(self):
        """The table as it is now."""
        return Snapshot(self._snapshot())


class TreeTable(_OrderedEntries, _Table, _bytewright.Table, MutableMapping):
    """A table in the order of its keys, which compare as bytes, in memory or (`TreeTable.open`) in a file (`.bwt`).

    >>> from bytewright import TreeTable
    >>> table = TreeTable({"2026-11-21": "up", "2026-11-22": "down", "2026-12-01": "up"})
    >>> list(table.range(prefix="2026-11-", reverse=True))
    [('2026-11-22', 'down'), ('2026-11-21', 'up')]
    >>> table.floor("2026-11-30")
    ('2026-11-22', 'down')
    """

    __slots__ = ()

    _is_ordered = True

    def snapshot(self):
        """The table as it is now."""
        return TreeSnapshot(self._snapshot())
