"""A writer of killed.py in Python: python worker.py FILE KEY."""

import os
import random
import sys

import bytewright


def transfer(table):
    amount = random.randrange(100)
    with table.transaction():
        table.increment(f"account {random.randrange(20)}", amount)
        table.increment(f"account {random.randrange(20)}", -amount)


def pair(table):
    number = str(random.randrange(1_000_000))
    with table.transaction():
        table.update({"pair a": number, "pair b": number})


def other(table):
    key = f"other {random.randrange(200)}"
    if random.randrange(2):
        table[key] = key * (1 + random.randrange(300))
    else:
        table.delete(key)


kind = bytewright.TreeTable if sys.argv[1].endswith(".bwt") else bytewright.HashTable
table = kind.open(sys.argv[1], timeout=120)
while True:
    step = random.randrange(1000)
    if step == 0:
        table.compact()
    elif step < 3:
        with table.snapshot() as snapshot:
            assert snapshot.get("pair a") == snapshot.get("pair b") and len(list(snapshot)) == len(snapshot)
    elif step < 80:
        transfer(table)
    elif step < 140:
        pair(table)
    elif step < 250:
        other(table)
    else:
        # One call, which the system writes whole or not at all.
        os.write(1, b"%d\n" % table.increment(sys.argv[2]))
