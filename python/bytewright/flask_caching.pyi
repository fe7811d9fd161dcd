from typing import Any

from flask_caching.backends.base import BaseCache

from . import cachelib

class BytewrightCache(cachelib.BytewrightCache, BaseCache):
    @classmethod
    def factory(cls, app: Any, config: dict[str, Any], args: list[Any], kwargs: dict[str, Any]) -> BytewrightCache: ...

__all__ = ["BytewrightCache"]
