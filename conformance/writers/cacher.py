"""A user of a cache for killed_caches.py in Python: python cacher.py FILE KEY."""

import os
import random
import sys

import bytewright

cache = bytewright.Cache(sys.argv[1], size_limit=4 << 20, timeout=120)


def other():
    key = f"other {random.randrange(2000)}"
    cache.set(key, key * (1 + random.randrange(100)), expire=random.choice((0.01, 0.1, 10)), tag=key[-1])


while True:
    step = random.randrange(1000)
    if step == 0:
        cache.expire()
    elif step < 3:
        cache.evict(str(random.randrange(10)))
    elif step < 10:
        cache.delete(f"other {random.randrange(2000)}")
    elif step < 500:
        other()
    else:
        # One call, which the system writes whole or not at all.
        os.write(1, b"%d\n" % cache.incr(sys.argv[2]))
