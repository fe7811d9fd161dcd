"""Operations on caches."""

import pytest

from bytewright import Cache, ClosedError
from troubles.operation import ENTRIES, Operation, of_thread


class UseACache(Operation):
    """Caches in memory and in a file, of which nothing is evicted: what was set stays."""

    files = ("c.bwc",)

    def __init__(self, folder):
        super().__init__(folder)
        self.caches = [Cache(), Cache(folder / "c.bwc")]
        for cache in self.caches:
            for key, value in ENTRIES.items():
                cache.set(key, [value], tag="t")

    def run(self):
        return [self.run_one(cache) for cache in self.caches]

    def run_one(self, cache):
        key = of_thread("own")
        cache.delete(key)
        found = [cache.set(key, {"n": 1}, 60, tag=key), cache.add(key, 2), cache.get(key), cache.pop(key), key in cache]
        found += [cache.incr(key, 5), cache.decr(key, 2), cache.touch(key, 60), cache.evict(key), cache.cull(), cache.expire()]
        with cache.transact():
            cache[key] = 1
            del cache[key]
        double = cache.memoize(key, expire=60)(lambda number: number * 2)
        found += [double(4), double(4), cache.delete(double.__cache_key__(4)), cache.peekitem(last=False)]
        # Of a name of its own: who is stopped here leaves an entry.
        triple = cache.memoize_stampede(60, f"{key} triple", beta=0)(lambda number: number * 3)
        found += [triple(4), triple(4), cache.delete(triple.__cache_key__(4)), cache.read(next(iter(ENTRIES)))]
        cache.sync()
        return found, sum(known in ENTRIES for known in cache), cache.check() >= len(ENTRIES)

    def grow(self):
        for number in range(10_000):
            self.caches[1].set(f"more {number}", "x" * 10_000)

    def second(self):
        with Cache(self.folder / "c.bwc") as other:
            assert other.get("key 007") == ["value 7"]
            other.set("second", 1)
        assert self.caches[1].pop("second") == 1

    def itself(self):
        for cache in self.caches:
            closing = cache.memoize()(lambda cache=cache: cache.close())
            with pytest.raises(ClosedError):
                closing()
            with pytest.raises(ClosedError):
                self.run_one(cache)

    def close(self):
        for cache in self.caches * 2:
            cache.close()

    def check(self):
        for cache in self.caches:
            assert all(cache.get(key) == [value] for key, value in ENTRIES.items())


OPERATIONS = {
    "use a cache": UseACache,
}
