"""A cache of Django in one file, which processes and threads share:

    CACHES = {"default": {"BACKEND": "bytewright.django.BytewrightCache", "LOCATION": "/var/cache/site.bwc"}}

Values are what `bytewright.Cache` keeps; all other objects only with `pickle_key` in `OPTIONS`.
"""

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.exceptions import ImproperlyConfigured
from django.utils.safestring import SafeString

from . import _backend

#: Tag of text that needs no escaping. Others cannot set tags here.
_SAFE = "SafeString"


class BytewrightCache(BaseCache):
    """Cache in the file at `LOCATION`.

    `OPTIONS` are those of `bytewright.Cache`, and `MAX_ENTRIES` for `count_limit`. `pickle_key` is bytes, or "SECRET_KEY" for a
    key that is made of that setting. A damaged file is cleared, unless `on_damage` is "raise".
    """

    def __init__(self, location, params):
        super().__init__(params)
        if not location:
            raise ImproperlyConfigured("expected the path of a file, such as /var/cache/site.bwc, as LOCATION, found none")
        options = {name: value for name, value in params.get("OPTIONS", {}).items() if name not in ("MAX_ENTRIES", "CULL_FREQUENCY")}
        count_limit = params.get("max_entries", params.get("OPTIONS", {}).get("MAX_ENTRIES"))
        if count_limit is not None:
            options["count_limit"] = self._max_entries
        if options.get("pickle_key") == "SECRET_KEY":
            options["pickle_key"] = _secret_key()
        #: The `bytewright.Cache` itself, for its other methods. Its keys are those that `make_key` returns.
        self.cache = _backend.opened(location, options)

    def _expire(self, timeout):
        timeout = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        return None if timeout is None else max(timeout, 0)

    def add(self, key, value, timeout=DEFAULT_TIMEOUT, version=None):
        value, tag = _plain(value)
        return self.cache.add(self.make_and_validate_key(key, version), value, self._expire(timeout), tag=tag)

    def get(self, key, default=None, version=None):
        value, tag = _backend.found(self.cache, self.make_and_validate_key(key, version), default, tag=True)
        return SafeString(value) if tag == _SAFE else value

    def set(self, key, value, timeout=DEFAULT_TIMEOUT, version=None):
        value, tag = _plain(value)
        _backend.kept(self.cache, self.make_and_validate_key(key, version), value, self._expire(timeout), tag)

    def touch(self, key, timeout=DEFAULT_TIMEOUT, version=None):
        return self.cache.touch(self.make_and_validate_key(key, version), self._expire(timeout))

    def delete(self, key, version=None):
        return self.cache.delete(self.make_and_validate_key(key, version))

    def has_key(self, key, version=None):
        return self.make_and_validate_key(key, version) in self.cache

    def incr(self, key, delta=1, version=None):
        """Adds `delta` to the number of a key, in one step."""
        try:
            return _backend.added(self.cache, self.make_and_validate_key(key, version), delta)
        except KeyError:
            raise ValueError(f"Key {key!r} not found") from None

    def clear(self):
        """Removes all values, of all prefixes and versions."""
        self.cache.clear()

    def close(self, **kwargs):
        """Leaves the file open for the next request."""


def _plain(value):
    """A value without the class that Django gives to text that needs no escaping, and a tag that stands for it."""
    return (str.__str__(value), _SAFE) if type(value) is SafeString else (value, None)


def _secret_key():
    from django.utils.crypto import salted_hmac

    return salted_hmac("bytewright.django", "pickle_key", algorithm="sha256").digest()


__all__ = ["BytewrightCache"]
