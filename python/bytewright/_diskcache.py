"""Entries of a folder of the package diskcache, which keeps them in a file of SQLite and, if they are long, in files of their own."""

import os
import time

from ._bytewright import excerpt
from ._errors import FormatError

#: Ways in which diskcache keeps a value.
_RAW, _BINARY, _TEXT, _PICKLE = 1, 2, 3, 4

_ENTRIES = "SELECT key, raw, expire_time, tag, mode, filename, value FROM Cache ORDER BY store_time"


def entries(folder, pickled):
    """Iterates over key, value, seconds until it expires or None, and tag or None, of entries that have not expired."""
    import sqlite3

    path = os.path.join(folder, "cache.db")
    if not os.path.exists(path):
        raise FormatError(f"expected a folder of diskcache, found no file cache.db in {excerpt(folder)}")
    database = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True)
    try:
        try:
            rows = database.execute(_ENTRIES)
        except sqlite3.DatabaseError as error:
            raise FormatError(f"expected a folder of diskcache, found a file cache.db without its entries: {error}") from None
        now = time.time()
        for key, raw, expire_time, tag, mode, filename, value in rows:
            if expire_time is not None and expire_time <= now:
                continue
            if not pickled and (not raw or mode == _PICKLE):
                continue
            found = _value(folder, mode, filename, value)
            if found is not None:
                expire = None if expire_time is None else expire_time - now
                yield _key(key, raw), found[0], expire, tag
    finally:
        database.close()


def _quoted(path):
    import urllib.parse

    return urllib.parse.quote(os.path.abspath(path))


def _key(key, raw):
    if raw:
        return bytes(key) if isinstance(key, (memoryview, bytes)) else key
    import pickle

    return pickle.loads(key)


def _value(folder, mode, filename, value):
    """The value in a tuple; None if its file is gone, which diskcache takes for a missing entry, too."""
    if filename is not None:
        try:
            with open(os.path.join(folder, filename), "rb") as file:
                value = file.read()
        except FileNotFoundError:
            return None
        if mode == _TEXT:
            return (value.decode("utf-8"),)
    if mode == _PICKLE:
        import pickle

        return (pickle.loads(value),)
    return (bytes(value) if mode == _BINARY else value,)
