"""Caches behind the interfaces of web frameworks: one object for each file in a process, and no error for a value that cannot be read."""

import os
import threading
import weakref

from ._errors import ArgumentError, CorruptError, LimitError
from .cache import Cache

#: Caches that are open, by their paths and options: frameworks make an object for each thread.
_open = weakref.WeakValueDictionary()
_lock = threading.Lock()

_MISSING = object()


def opened(path, options):
    """The cache at `path`, which all with the same options share. A damaged one is cleared, unless the options say otherwise."""
    options = {"on_damage": "clear", **options}
    path = path and os.path.abspath(path)
    form = path, tuple(sorted(options.items()))
    with _lock:
        cache = _open.get(form) if path else None
        if cache is None or cache.closed:
            cache = Cache(path, **options)
            if path:
                _open[form] = cache
        return cache


def found(cache, key, default=None, tag=False):
    """What `get` gives; a value that was pickled with another key, or without this program's leave, is none."""
    try:
        return cache.get(key, default, tag=tag)
    except (ArgumentError, CorruptError):
        if not cache._clears:
            raise
        return (default, None) if tag else default


def kept(cache, key, value, expire, tag=None):
    """Sets a value, and returns True. One that is too long for the cache leaves none, not the old one."""
    try:
        return cache.set(key, value, expire, False, tag)
    except LimitError:
        cache.delete(key)
        return False


def added(cache, key, delta, begin=_MISSING, expire=None):
    """Adds to any number, which keeps its expiry. One that is missing begins with `begin`, and expires after `expire` seconds.

    Raises `KeyError` for a missing one without `begin`, and `TypeError` for what is no number.
    """
    if begin is _MISSING and type(delta) is int:
        try:
            return cache.incr(key, delta, None)
        except (ArgumentError, OverflowError):
            # Not an integer, or too long for one of a cache.
            pass
    with cache.transact():
        value, expire_time = cache.get(key, _MISSING, expire_time=True)
        if value is _MISSING:
            if begin is _MISSING:
                raise KeyError(key)
            value = begin
        elif expire_time is None:
            expire = None
        else:
            import time

            expire = expire_time - time.time()
        cache.set(key, value + delta, expire)
        return value + delta


__all__ = ["added", "found", "kept", "opened"]
