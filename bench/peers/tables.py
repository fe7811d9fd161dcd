"""Peers: Python's dict, and what keeps a mapping in a file.

    python tables.py TASK ENGINE RECORDS

workload/tables.py says what the tasks are. None waits for the disk.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import tables  # noqa: E402


class Sqlite:
    """A table of a key and a value."""

    def __init__(self, folder):
        import sqlite3

        self.connection = sqlite3.connect(f"{folder}/x.sqlite", timeout=600, isolation_level=None)
        for setting in ("journal_mode = wal", "synchronous = off"):
            self.connection.execute(f"pragma {setting}")
        self.connection.execute("create table if not exists entries (key blob primary key, value blob) without rowid")

    def transaction(self):
        # Who has read before it writes would be refused beside others.
        self.connection.execute("begin immediate")
        return self.connection

    def __setitem__(self, key, value):
        self.connection.execute("insert or replace into entries values (?, ?)", (key, value))

    def __getitem__(self, key):
        return self.connection.execute("select value from entries where key = ?", (key,)).fetchone()[0]

    def __len__(self):
        return self.connection.execute("select count(*) from entries").fetchone()[0]


class Lmdb:
    """A transaction to write at a time; all reads are in one."""

    MAP_BYTES = 1 << 30

    def __init__(self, folder):
        import lmdb

        self.environment = lmdb.open(f"{folder}/x.lmdb", map_size=self.MAP_BYTES, sync=False)
        self.writing = self.reading = None

    def transaction(self):
        self.writing = self.environment.begin(write=True)
        return self.writing

    def __setitem__(self, key, value):
        self.writing.put(key, value)

    def __getitem__(self, key):
        if self.reading is None:
            self.reading = self.environment.begin()
        return self.reading.get(key)

    def __len__(self):
        return self.environment.stat()["entries"]


class Shelf:
    """A shelf keeps str; what it pickles is the value."""

    def __init__(self, folder):
        import shelve

        self.shelf = shelve.open(f"{folder}/x.shelf")

    def __setitem__(self, key, value):
        self.shelf[key.decode("latin-1")] = value

    def __getitem__(self, key):
        return self.shelf[key.decode("latin-1")]

    def __len__(self):
        return len(self.shelf)


def diskcache(folder):
    import diskcache

    return diskcache.Cache(f"{folder}/x.diskcache")


def gnu(folder):
    import dbm.gnu

    # "f" is what it is called not to wait for the disk.
    return dbm.gnu.open(f"{folder}/x.gdbm", "nf")


ENGINES = {
    "dict": lambda _: {},
    "dbm.gnu": gnu,
    "diskcache": diskcache,
    "shelve": Shelf,
    "sqlite3": Sqlite,
    "lmdb": Lmdb,
}

tables.main(ENGINES, sys.argv[1:])
