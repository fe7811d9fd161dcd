"""Caches: results kept in memory or in one file, which are gone after a while, or when there are too many.

    cache = bytewright.Cache("results.bwc", size_limit=200_000_000)
    cache.set("answer", {"n": 42}, expire=3600)
    cache.get("answer")

    @cache.memoize(expire=60)
    def looked_up(name): ...

Keys and values are `str`, `bytes`, `int`, `float`, `bool` and None, and lists, tuples, dicts and sets of these. Nothing is pickled,
or unpickled, unless the program says so with `pickle_key`. Processes and threads share a cache: they write
by turns, and read without waiting. What is used stays longest.

The methods are those of `diskcache.Cache`; `Cache.from_diskcache` takes over what such a cache has.
"""

import os
from collections.abc import Iterable

from . import _bytewright
from ._errors import ArgumentError, CorruptError
from ._open_file import OpenFile

#: Bytes of the check in front of what is pickled: HMAC-SHA-256.
_CHECK_LEN = 32

#: Flag of the code of an `async def`, as `inspect.CO_COROUTINE` has it.
_CO_COROUTINE = 0x80

#: Stands for a call that has no result in the cache.
_MISSING = object()


def _sealed(key):
    """Functions that pickle behind a check by `key`, and unpickle what has that check."""
    import hmac
    import pickle

    if not isinstance(key, bytes) or len(key) < 16:
        raise ArgumentError("expected bytes as pickle_key, 16 or more that nobody else knows, such as of secrets.token_bytes(32)")

    def dumps(value):
        data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        return hmac.digest(key, data, "sha256") + data

    def loads(sealed):
        check, data = sealed[:_CHECK_LEN], sealed[_CHECK_LEN:]
        if not hmac.compare_digest(check, hmac.digest(key, data, "sha256")):
            raise CorruptError("expected a value that was pickled with this pickle_key, found one with another check; nothing of it was read")
        return pickle.loads(data)

    return dumps, loads


def _name_of(function):
    return f"{function.__module__}.{function.__qualname__}"


class _Block:
    """The `with` block of `Cache.transact`."""

    __slots__ = ("_block", "_cache")

    def __init__(self, cache):
        self._cache = cache
        self._block = cache._table.transaction()

    def __enter__(self):
        self._block.__enter__()
        return self._cache

    def __exit__(self, *error):
        return self._block.__exit__(*error)

    async def __aenter__(self):
        await self._block.__aenter__()
        return self._cache

    async def __aexit__(self, *error):
        return await self._block.__aexit__(*error)


class Cache(OpenFile, _bytewright.CacheTable):
    """Entries that expire, in memory or in the file at `path` (`.bwc`), which is made where it is missing.

    `size_limit` is how many bytes the file, or the memory, may take (a GiB by default), and `count_limit` how many entries there
    may be. What is over is evicted: what was not used goes first. All `options` are in `bytewright.options.CACHE`; `sync` is
    "never" by default, as what a power cut takes can be made again.

    `on_damage` says what is done about a file that is damaged: "raise" a `CorruptError`, or "clear", which begins with an empty
    one and warns with `bytewright.DamageWarning`.

    With `pickle_key`, bytes that only the program knows, all other objects are kept, too: pickled, with a check by that key. What
    has no such check is refused before any of it is read.

    Raises `OSError` where the file cannot be opened, `FormatError` where it is something else, and `LockError` where
    another process writes for longer than `timeout`.
    """

    _no_pickle = "it may be a file; pickle its path"

    def __new__(cls, path=None, *, pickle_key=None, on_damage="raise", **options):
        sealed = None if pickle_key is None else _sealed(pickle_key)
        if on_damage not in ("raise", "clear"):
            raise ArgumentError(f'expected on_damage to be "raise" or "clear", found {_bytewright.excerpt(repr(on_damage))}')

        def opened():
            return super(Cache, cls).__new__(cls, sealed, path, **options)

        if path is None:
            return opened()
        path = os.fspath(path)
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        try:
            return opened()
        except CorruptError as error:
            if on_damage != "clear":
                raise
            import warnings

            from ._errors import DamageWarning

            warnings.warn(f"a damaged cache was cleared: {error}", DamageWarning, stacklevel=2)
            os.unlink(path)
            return opened()

    def __init__(self, path=None, *, pickle_key=None, on_damage="raise", **options):
        pass

    @property
    def path(self):
        """The file, or None for a cache in memory."""
        return self._table.path

    @property
    def closed(self):
        """True after it was closed."""
        return self._table.closed

    def close(self):
        """Closes it."""
        self._table.close()

    def sync(self):
        """Returns when everything set so far will survive a power cut."""
        self._table.sync()

    def __repr__(self):
        where = f" {os.fspath(self.path)!r}" if self.path else ""
        return f"<{type(self).__name__}{where}{' (closed)' if self.closed else f' of {len(self)} entries'}>"

    def __iter__(self):
        """Iterates over the keys as they are now, the one that was set first of all first."""
        return self.iterkeys()

    def __reversed__(self):
        return self.iterkeys(reverse=True)

    def iterkeys(self, reverse=False):
        """Iterates over the keys as they are now, in the order in which they were set last, or the other way round."""
        keys = (self._key(key, value, _MISSING) for key, value in self._table._scan("items"))
        found = (key for key in keys if key is not _MISSING)
        return reversed(list(found)) if reverse else found

    def decr(self, key, delta=1, default=0):
        """Subtracts `delta`, as `incr` adds it."""
        return self.incr(key, -delta, default)

    def peekitem(self, last=True):
        """Returns the key and value that were set last, or first of all, and takes nothing out.

        Raises `KeyError` if the cache is empty.
        """
        for key in self.iterkeys(reverse=last):
            value = self.get(key, _MISSING)
            if value is not _MISSING:
                return key, value
        raise KeyError("expected a cache with an entry, found an empty one")

    def transact(self):
        """A `with` block whose changes are kept together when it ends, or not at all where an error leaves it. Other threads, and
        processes that write, wait meanwhile; nothing is evicted. `async with` waits without blocking the loop of asyncio."""
        return _Block(self)

    def check(self):
        """Reads all of the file, and returns its number of entries.

        Raises `CorruptError` for a damaged one.
        """
        return sum(1 for _ in self._table._scan("items"))

    def memoize(self, name=None, typed=False, expire=None, tag=None, ignore=()):
        """A decorator that keeps the results of a function, which may be an `async def`, by its arguments.

        They are kept by `name`, or the name of the function, so that processes share them. With `typed`, arguments that are
        equal but of different types, as 3 and 3.0, have results of their own. `ignore` names arguments, by place or by
        name, that make no difference. The function has `__cache_key__`, which returns the key of a call, and `__wrapped__`.

        Raises `TypeError` when it is called with arguments, or returns a result, that a cache does not keep.
        """
        if callable(name):
            raise TypeError("expected a name for memoize, found a function; write @cache.memoize()")
        ignored = frozenset(ignore) if isinstance(ignore, Iterable) and not isinstance(ignore, str) else frozenset((ignore,))

        def decorate(function):
            import functools

            base = _name_of(function) if name is None else name

            def key_of(*args, **kwargs):
                return _call_key(base, args, kwargs, typed, ignored)

            def keep(key, result):
                if expire is None or expire > 0:
                    self.set(key, result, expire, tag)
                return result

            if getattr(getattr(function, "__code__", None), "co_flags", 0) & _CO_COROUTINE:

                async def wrapper(*args, **kwargs):
                    key = _call_key(base, args, kwargs, typed, ignored)
                    result = self.get(key, _MISSING)
                    return keep(key, await function(*args, **kwargs)) if result is _MISSING else result

            else:

                def wrapper(*args, **kwargs):
                    key = _call_key(base, args, kwargs, typed, ignored)
                    result = self.get(key, _MISSING)
                    return keep(key, function(*args, **kwargs)) if result is _MISSING else result

            wrapper = functools.wraps(function)(wrapper)
            wrapper.__cache_key__ = key_of
            return wrapper

        return decorate

    @classmethod
    def from_diskcache(cls, folder, path=None, *, pickled=False, **options):
        """A cache at `path`, or in memory, with the entries of the `diskcache.Cache` in `folder`, which stays as it is.

        Entries that were pickled are left out, unless `pickled` says that the folder is trusted: to unpickle what a stranger has
        written runs what he likes. `options` are those of `Cache`.

        Raises `FormatError` for a folder that is none of diskcache's.
        """
        from ._diskcache import entries

        cache = cls(path, **options)
        for key, value, expire, tag in entries(os.fspath(folder), pickled):
            cache.set(key, value, expire, tag)
        return cache


def _call_key(base, args, kwargs, typed, ignored):
    """The key of a call: text, which says what each argument is."""
    if ignored:
        args = tuple(argument for place, argument in enumerate(args) if place not in ignored)
        kwargs = {name: argument for name, argument in kwargs.items() if name not in ignored}
    if not kwargs and len(args) == 1 and not typed and type(args[0]) is str:
        return f"{base}({args[0]!r})"
    parts = [_shown(argument, typed) for argument in args]
    parts += [f"{name}={_shown(kwargs[name], typed)}" for name in sorted(kwargs)]
    return f"{base}({', '.join(parts)})"


_PLAIN = frozenset((str, bytes, int, float, bool, type(None)))


def _shown(argument, typed):
    """An argument as text that no other one has."""
    kind = type(argument)
    if kind in _PLAIN:
        if not typed and kind in (float, bool) and float(argument).is_integer():
            return repr(int(argument))
        return repr(argument)
    if kind in (tuple, list):
        inside = ", ".join(_shown(element, typed) for element in argument)
        return f"({inside},)" if kind is tuple else f"[{inside}]"
    if kind is dict:
        return "{" + ", ".join(f"{_shown(key, typed)}: {_shown(argument[key], typed)}" for key in sorted(argument, key=repr)) + "}"
    if kind in (set, frozenset):
        return f"{kind.__name__}({{{', '.join(sorted(_shown(element, typed) for element in argument))}}})"
    raise TypeError(
        "memoize takes str, bytes, int, float, bool, None, and tuples, lists, dicts and sets of these as arguments: one is "
        f"{_bytewright.excerpt(kind.__name__)}; name it in ignore, or pass what tells it from others"
    )


__all__ = ["Cache"]
