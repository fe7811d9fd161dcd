"""Reads, decodes and keeps bulk binary data at native speed.

Tables are dictionaries in a fraction of the memory, in memory or in a file that a crash leaves whole:

>>> import bytewright
>>> table = bytewright.HashTable({"dns": "53"})
>>> table["https"] = "443"
>>> table["dns"], len(table)
('53', 2)

Captures are read in one pass, as packets, flows and Thrift calls, one by one or as columns that pyarrow, pandas, polars and
DuckDB take as they are: `Capture`, `packets`, `flows`, `calls`, `count_by` and `info`; `report` makes a page of them to look at.

Other binary files are read and written by values and records: `Reader` and `Writer`.

Thrift messages are read and written by classes of IDL, or by generated ones: `bytewright.thrift`.

Every error of Bytewright is a `bytewright.Error`, except what the operating system refuses, which is an `OSError`,
a wrong type, which is a `TypeError`, and a missing key, which is a `KeyError`.
"""

# Nothing is imported that Python has not imported itself. Types are in stubs, because the module `typing` would double the time of
# `import bytewright`.
try:
    from ._bytewright import VERSION as __version__
except ModuleNotFoundError:
    from ._other_python import refuse as _refuse

    _refuse()

from . import _frames as _frames
from . import pstore
from ._bytewright import Batch, Call, Changes, Cursor, Flow, Packet, Rows
from ._errors import (
    ArgumentError,
    ClosedError,
    CorruptError,
    DamageWarning,
    Error,
    FormatError,
    InternalError,
    LimitError,
    LockError,
    MissingLibraryError,
    TruncatedError,
)
from .cache import Cache
from .captures import Capture, CaptureWriter, FlowStore, calls, count_by, flows, info, packets, report
from .questions import endpoints, index, services
from .streams import Reader, Writer
from .table import HashTable, Snapshot, TreeSnapshot, TreeTable

# For type checkers, which take it for true.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import thrift as thrift
else:

    def __getattr__(name):
        # When it is first used: it takes longer to import than all the rest.
        if name == "thrift":
            import importlib

            return importlib.import_module(".thrift", __name__)
        from ._bytewright import excerpt

        raise AttributeError(f"module {__name__!r} has no attribute {excerpt(name)!r}")


__all__ = [
    "ArgumentError",
    "Batch",
    "Cache",
    "Call",
    "Capture",
    "CaptureWriter",
    "Changes",
    "ClosedError",
    "CorruptError",
    "Cursor",
    "DamageWarning",
    "Error",
    "Flow",
    "FlowStore",
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
    "endpoints",
    "flows",
    "index",
    "info",
    "packets",
    "pstore",
    "report",
    "services",
]
