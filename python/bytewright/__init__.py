"""Reads, decodes and keeps bulk binary data at native speed.

Tables are dictionaries in a fraction of the memory, in memory or in a file that a crash leaves whole:

>>> import bytewright
>>> table = bytewright.HashTable({"dns": "53"})
>>> table["https"] = "443"
>>> table["dns"], len(table)
('53', 2)

Every error of Bytewright is a `bytewright.Error`, except what the operating system refuses, which is an `OSError`,
a wrong type, which is a `TypeError`, and a missing key, which is a `KeyError`.
"""

from ._bytewright import VERSION as __version__
from ._bytewright import Cursor
from ._errors import (
    ArgumentError,
    ClosedError,
    CorruptError,
    Error,
    FormatError,
    InternalError,
    LimitError,
    LockError,
    MissingLibraryError,
    TruncatedError,
)
from .table import HashTable, Snapshot, TreeSnapshot, TreeTable

__all__ = [
    "ArgumentError",
    "ClosedError",
    "CorruptError",
    "Cursor",
    "Error",
    "FormatError",
    "HashTable",
    "InternalError",
    "LimitError",
    "LockError",
    "MissingLibraryError",
    "Snapshot",
    "TreeSnapshot",
    "TreeTable",
    "TruncatedError",
    "__version__",
]
