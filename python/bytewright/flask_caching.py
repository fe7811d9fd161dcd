"""A cache of Flask-Caching in one file, which processes and threads share:

    Cache(app, config={"CACHE_TYPE": "bytewright.flask_caching.BytewrightCache", "CACHE_DIR": "instance"})
"""

import os

from flask_caching.backends.base import BaseCache

from . import cachelib


class BytewrightCache(cachelib.BytewrightCache, BaseCache):
    """Cache in the file `cache.bwc` of `CACHE_DIR`, or in that of `CACHE_ARGS`. `CACHE_OPTIONS` are those of `bytewright.Cache`."""

    @classmethod
    def factory(cls, app, config, args, kwargs):
        """The cache that the `config` of an application tells."""
        if not args and config.get("CACHE_DIR"):
            args = [os.path.join(config["CACHE_DIR"], "cache.bwc")]
        return cls(*args, **{"default_timeout": config["CACHE_DEFAULT_TIMEOUT"], **kwargs})


__all__ = ["BytewrightCache"]
