"""A cache of cachelib in one file, which processes and threads share:

    cache = bytewright.cachelib.BytewrightCache("cache.bwc")

Values are what `bytewright.Cache` keeps; all other objects only with `pickle_key`. `bytewright.flask_caching` has it for
Flask-Caching.
"""

from cachelib import BaseCache

from . import _backend
from ._errors import LockError


class BytewrightCache(BaseCache):
    """Cache in the file at `path`, or in memory. `options` are those of `bytewright.Cache`.

    A `default_timeout`, or a timeout, of 0 seconds is none. A damaged file is cleared, unless `on_damage` is "raise".
    """

    def __init__(self, path=None, default_timeout=300, **options):
        super().__init__(default_timeout)
        # Flask-Caching gives it to each cache. To delete what is not there is no error here.
        options.pop("ignore_delete_many_errors", None)
        #: The `bytewright.Cache` itself, for its other methods.
        self.cache = _backend.opened(path, options)

    def _expire(self, timeout):
        timeout = self._normalize_timeout(timeout)
        return timeout or None

    def get(self, key):
        return _backend.found(self.cache, key)

    def set(self, key, value, timeout=None):
        """Sets the value of a key, and returns True; False for one that is too long, or if another process writes for long."""
        try:
            return _backend.kept(self.cache, key, value, self._expire(timeout))
        except LockError:
            return False

    def add(self, key, value, timeout=None):
        return self.cache.add(key, value, self._expire(timeout))

    def delete(self, key):
        return self.cache.delete(key)

    def has(self, key):
        return key in self.cache

    def clear(self):
        self.cache.clear()
        return True

    def inc(self, key, delta=1):
        """Adds `delta` to the number of a key, in one step. One that is missing begins with 0."""
        return _backend.added(self.cache, key, delta, 0, self._expire(None))

    def dec(self, key, delta=1):
        """Subtracts `delta`, as `inc` adds it."""
        return self.inc(key, -delta)


__all__ = ["BytewrightCache"]
