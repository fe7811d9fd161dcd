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
from ._errors import ArgumentError, ClosedError, CorruptError
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


def _reopened(cls, path, options):
    return cls(path, **options)


def _is_coroutine_function(function):
    return bool(getattr(getattr(function, "__code__", None), "co_flags", 0) & _CO_COROUTINE)


def _memoized(wrapper, function, key_of):
    import functools

    wrapper = functools.wraps(function)(wrapper)
    wrapper.__cache_key__ = key_of
    return wrapper


class _CallForm:
    """Way in which calls of functions are kept in a cache, as `Cache.memoize` is told."""

    __slots__ = ("_cache", "_ignored", "_name", "_typed")

    def __init__(self, cache, name, typed, ignore):
        if callable(name):
            raise TypeError("expected a name for memoize, found a function; write @cache.memoize()")
        ignored = frozenset(ignore) if isinstance(ignore, Iterable) and not isinstance(ignore, str) else frozenset((ignore,))
        self._cache, self._name, self._typed, self._ignored = cache, name, bool(typed), ignored or None

    def of(self, function):
        """Functions that return the result of a call, or a default, and the key of a call."""
        import functools

        base = _name_of(function) if self._name is None else self._name
        form = base, self._typed, self._ignored
        call_key = self._cache._call_key

        def key_of(*args, **kwargs):
            return call_key(*form, args, kwargs)

        return functools.partial(self._cache._result, *form), key_of


class _Block:
    """The `with` block of `Cache.transact`."""

    __slots__ = ("_block", "_cache")

    def __init__(self, cache):
        self._cache = cache
        self._block = cache._table.transaction()

    def __enter__(self):
        self._cache._mended(self._block.__enter__)
        return self._cache

    def __exit__(self, *error):
        return self._block.__exit__(*error)

    async def __aenter__(self):
        seen = self._cache._clearings
        try:
            await self._block.__aenter__()
        except CorruptError as error:
            self._cache._clear(error, seen)
            await self._block.__aenter__()
        return self._cache

    async def __aexit__(self, *error):
        return await self._block.__aexit__(*error)


class Cache(OpenFile, _bytewright.CacheTable):
    """Entries that expire, in memory or in the file at `path` (`.bwc`), which is made where it is missing.

    `size_limit` is how many bytes the file, or the memory, may take (a GiB by default), and `count_limit` how many entries there
    may be. What is over is evicted: what was not used goes first. All `options` are in `bytewright.options.CACHE`; `sync` is
    "never" by default, as what a power cut takes can be made again.

    `on_damage` says what is done about a file that is damaged, also if that is met while the cache is used: "raise" a
    `CorruptError`, or "clear", which goes on with an empty one, for all who have the file open, and warns with
    `bytewright.DamageWarning`. In a transaction, damage is always an error.

    With `pickle_key`, bytes that only the program knows, all other objects are kept, too: pickled, with a check by that key. What
    has no such check is refused before any of it is read.

    A cache in a file can be pickled, unless it has a `pickle_key`: another process opens the file.

    Raises `OSError` where the file cannot be opened, `FormatError` where it is something else, and `LockError` where
    another process writes for longer than `timeout`.
    """

    def __new__(cls, path=None, *, pickle_key=None, on_damage="raise", **options):
        sealed = None if pickle_key is None else _sealed(pickle_key)
        if on_damage not in ("raise", "clear"):
            raise ArgumentError(f'expected on_damage to be "raise" or "clear", found {_bytewright.excerpt(repr(on_damage))}')

        if path is not None:
            path = os.fspath(path)
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        self = super().__new__(cls, sealed, on_damage == "clear", path, **options)
        # For another process that gets it pickled, wherever that is.
        self._reopening = pickle_key, path and os.path.abspath(path), {"on_damage": on_damage, **options}
        return self

    def __init__(self, path=None, *, pickle_key=None, on_damage="raise", **options):
        pass

    def __reduce_ex__(self, _protocol):
        pickle_key, path, options = self._reopening
        if path is None:
            raise TypeError("cannot pickle a Cache: it is in memory; pickle a dict of what it has")
        if pickle_key is not None:
            raise TypeError("cannot pickle a Cache: its pickle_key would be in the pickle; pickle its path")
        return _reopened, (type(self), path, options)

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
        try:
            self._table.close()
        except CorruptError:
            # Who opens the file next clears it.
            if not self._clears:
                raise

    def sync(self):
        """Returns when everything set so far will survive a power cut."""
        self._mended(self._table.sync)

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
        keys = (self._key(key, value, _MISSING) for key, value in self._entries())
        found = (key for key in keys if key is not _MISSING)
        return reversed(list(found)) if reverse else found

    def _entries(self):
        """Iterates over the entries of the table as they are now. Damage that is cleared ends it."""
        seen = self._clearings
        entries = self._mended(lambda: self._table._scan("items"))

        def whole():
            try:
                yield from entries
            except CorruptError as error:
                self._clear(error, seen)

        return whole()

    def _mended(self, work):
        """Does `work`, and once more after damage that is cleared."""
        seen = self._clearings
        try:
            return work()
        except CorruptError as error:
            self._clear(error, seen)
            return work()

    def _clear(self, error, seen):
        """Clears damage, or raises its error with what can be done."""
        try:
            self._clear_damage(seen, str(error))
        except CorruptError as advised:
            advised.offset, advised.file = error.offset, error.file
            raise advised from None

    def read(self, key, retry=False):
        """Returns the value of a key: bytes as a file to read, in memory.

        Raises `KeyError` for a key without a value.
        """
        found = self.get(key, _MISSING, read=True)
        if found is _MISSING:
            raise KeyError(key)
        return found

    def decr(self, key, delta=1, default=0, retry=False):
        """Subtracts `delta`, as `incr` adds it."""
        return self.incr(key, -delta, default)

    def peekitem(self, last=True, expire_time=False, tag=False, retry=False):
        """Returns the key and value that were set last, or first of all, and takes nothing out; with `expire_time` and `tag`, a
        tuple of these two and what `get` gives of them.

        Raises `KeyError` if the cache is empty.
        """
        for key in self.iterkeys(reverse=last):
            value, *more = self.get(key, _MISSING, False, True, True)
            if value is not _MISSING:
                more = [part for part, is_wanted in zip(more, (expire_time, tag)) if is_wanted]
                return ((key, value), *more) if more else (key, value)
        raise KeyError("expected a cache with an entry, found an empty one")

    def transact(self, retry=False):
        """A `with` block whose changes are kept together when it ends, or not at all where an error leaves it. Other threads, and
        processes that write, wait meanwhile, up to `timeout`, whatever `retry` is; nothing is evicted. `async with` waits without
        blocking the loop of asyncio."""
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
        form = _CallForm(self, name, typed, ignore)

        def decorate(function):
            recalled, key_of = form.of(function)

            def keep(key, result):
                if expire is None or expire > 0:
                    self.set(key, result, expire, False, tag)
                return result

            # The key of a miss is made before the call, which may change its arguments.

            if _is_coroutine_function(function):

                async def wrapper(*args, **kwargs):
                    result = recalled(args, kwargs, _MISSING)
                    if result is not _MISSING:
                        return result
                    key = key_of(*args, **kwargs)
                    return keep(key, await function(*args, **kwargs))

            else:

                def wrapper(*args, **kwargs):
                    result = recalled(args, kwargs, _MISSING)
                    if result is not _MISSING:
                        return result
                    key = key_of(*args, **kwargs)
                    return keep(key, function(*args, **kwargs))

            return _memoized(wrapper, function, key_of)

        return decorate

    def memoize_stampede(self, expire, name=None, typed=False, tag=None, beta=1, ignore=()):
        """A decorator as `memoize`, for results that take long: one that is about to expire is made anew before it does, by one
        caller alone, while the others still get it.

        The longer a result took, the earlier it is made anew; `beta` above 1 is earlier. A function does so in a thread of its
        own, an `async def` in the task of its caller. (A. Vattani, F. Chierichetti, K. Lowenstein, "Optimal Probabilistic Cache
        Stampede Prevention", VLDB 2015.)
        """
        form = _CallForm(self, name, typed, ignore)

        def decorate(function):
            import math
            import random
            import time

            _, key_of = form.of(function)

            def kept(key, result, began):
                self.set(key, (result, time.time() - began), expire, False, tag)
                return result

            def found(key):
                """The result, or `_MISSING`, and True if this caller is to make it anew, which is marked until then."""
                pair, expire_time = self.get(key, _MISSING, expire_time=True)
                if pair is _MISSING or expire_time is None:
                    return _MISSING if pair is _MISSING else pair[0], False
                result, took = pair
                left = expire_time - time.time()
                is_early = -took * beta * math.log(1 - random.random()) >= left
                # A caller that dies leaves it to those who miss the result.
                return result, is_early and self.add(marker_of(key), None, left)

            def marker_of(key):
                return f"{key} is made anew"

            if _is_coroutine_function(function):

                async def wrapper(*args, **kwargs):
                    key = key_of(*args, **kwargs)
                    result, is_due = found(key)
                    if result is not _MISSING and not is_due:
                        return result
                    try:
                        began = time.time()
                        return kept(key, await function(*args, **kwargs), began)
                    finally:
                        if is_due:
                            self.delete(marker_of(key))

            else:

                def wrapper(*args, **kwargs):
                    key = key_of(*args, **kwargs)
                    result, is_due = found(key)

                    def make():
                        began = time.time()
                        return kept(key, function(*args, **kwargs), began)

                    def make_anew():
                        try:
                            make()
                        except ClosedError:
                            # The program has no use for it any more.
                            return
                        finally:
                            if not self.closed:
                                self.delete(marker_of(key))

                    if result is _MISSING:
                        return make()
                    if is_due:
                        import threading

                        threading.Thread(target=make_anew, name="bytewright-stampede", daemon=True).start()
                    return result

            return _memoized(wrapper, function, key_of)

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
            cache.set(key, value, expire, False, tag)
        return cache


__all__ = ["Cache"]
