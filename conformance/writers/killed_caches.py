"""Goal: users of one cache file in Ruby, Python, Perl and C that are killed at random lose nothing that was set within the limits, and
nobody reads what has expired, or half of it.

Method: eight of them count in keys of their own, each count a change that they say when it is made; set texts that
expire, more than there is room for; delete, expire and evict by tag. Again and again one is killed and begun anew, and a reader
looks. What is counted all the time is used, and stays. BYTEWRIGHT_KILLS says how often, BYTEWRIGHT_SEED how it went before.

    python killed_caches.py NAME=COMMAND...

runs each COMMAND with the cache's file and a key behind it.
"""

import os
import pathlib
import random
import sys
import tempfile
import time

from writer import Writer, commands_of

import bytewright

KILLS = int(os.environ.get("BYTEWRIGHT_KILLS", "60"))
SEED = int(os.environ.get("BYTEWRIGHT_SEED", random.randrange(1 << 32)))
USERS = 8
SIZE_LIMIT = 4 << 20


def check_whole(cache, path):
    # A walk keeps the file from being shorter: those who write make it so after the last one.
    ends = time.monotonic() + 60
    while os.stat(path).st_blocks * 512 > SIZE_LIMIT:
        assert time.monotonic() < ends, f"{os.stat(path).st_blocks * 512} bytes are taken, {SIZE_LIMIT} are the limit"
        time.sleep(0.01)
    for key in cache:
        if key.startswith("other"):
            began = time.time()
            found, expire_time = cache.get(key, expire_time=True)
            if found is not None:
                # Perl and C set bytes.
                text = found.decode() if isinstance(found, bytes) else found
                assert expire_time >= began - 0.001, f"{key} was read {began - expire_time} s after its end"
                assert text == key * (len(text) // len(key)), key


def kill_again_and_again(path, commands):
    bytewright.Cache(path, size_limit=SIZE_LIMIT).close()
    users = [Writer(number, commands[number % len(commands)], path) for number in range(USERS)]
    try:
        cache = bytewright.Cache(path, size_limit=SIZE_LIMIT)
        for _ in range(KILLS):
            user = random.choice(users)
            for _ in range(random.randrange(1, 80)):
                user.hear()
            user.kill()
            found = cache[user.key]
            assert user.said <= found <= user.said + 1, f"{user.command}: {found}, {user.said} were promised"
            check_whole(cache, path)
            user.begin()
        for user in users:
            user.kill()
            assert cache.get(user.key, 0) >= user.said, f"{user.command}: {user.said} were promised"
        cache.close()
    finally:
        for user in users:
            user.process.kill()
            user.process.wait()
    with bytewright.Cache(path, size_limit=SIZE_LIMIT, verify=True) as cache:
        assert cache.check() >= USERS


def main(arguments):
    print(f"seed {SEED}", flush=True)
    random.seed(SEED)
    commands = commands_of(arguments)
    with tempfile.TemporaryDirectory() as folder:
        kill_again_and_again(pathlib.Path(folder) / "cache.bwc", list(commands.values()))
    print(f".bwc: {KILLS} users in {', '.join(commands)} were killed, nothing was lost, and nothing read that had expired", flush=True)


main(sys.argv[1:])
