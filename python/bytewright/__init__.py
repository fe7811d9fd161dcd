"""Reads, decodes and keeps bulk binary data at native speed.

Tables are dictionaries in a fraction of the memory, in memory or in a file that a crash leaves whole:

>>> import bytewright
>>> table = bytewright.HashTable({"dns": "53"})
>>> table["https"] = "443"
>>> table["dns"], len(table)
('53', 2)

Captures are read in one pass, as packets, flows and Thrift calls, one by one or as columns that pyarrow, pandas, polars and
DuckDB take as they are: `Capture`, `packets`, `flows`, `calls`, `count_by` and `info`.

Other binary files are read and written by values and records: `Reader` and `Writer`.

Every error of Bytewright is a `bytewright.Error`, except what the operating system refuses, which is an `OSError`,
a wrong type, which is a `TypeError`, and a missing key, which is a `KeyError`.
"""

from . import pstore
from ._bytewright import VERSION as __version__
from ._bytewright import Batch, Call, Cursor, Flow, Packet, Rows
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
from .captures import Capture, calls, count_by, flows, info, packets
from .streams import Reader, Writer
from .table import HashTable, Snapshot, TreeSnapshot, TreeTable

__all__ = [
    "ArgumentError",
    "Batch",
    "Call",
    "Capture",
    "ClosedError",
    "CorruptError",
    "Cursor",
    "Error",
    "Flow",
    "FormatError",
    "HashTable",
    "InternalError",
    "LimitError",
    "LockError",
    "MissingLibraryError",
    "Packet",
    "Reader",
    "Rows",
    "Snapshot",
    "TreeSnapshot",
    "TreeTable",
    "TruncatedError",
    "Writer",
    "__version__",
    "calls",
    "count_by",
    "flows",
    "info",
    "packets",
    "pstore",
]
