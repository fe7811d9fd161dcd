"""Goal: each operation survives each trouble: nothing that was committed is lost, nothing is half there, and the next run is right.

Method: the table of `conformance/troubles.json`. An operation is a class with a set-up in a new folder, `run`, which answers the same each time,
and `itself`, which aims it at itself: those of each kind of object are a module in `troubles/`. One driver for each trouble works for all of
them (`troubles/drivers.py`). Every public method of the package is of an operation, or plain: one that does no input or output, calls nobody
and waits for nothing.
"""

import json

import pytest

import bytewright
from bytewright import pstore, thrift
from troubles import backups, caches, captures, flow_stores, stores, streams, tables
from troubles import thrift as thrift_operations
from troubles.drivers import DRIVERS
from troubles.operation import ROOT, Operation

TABLE = json.loads((ROOT / "conformance" / "troubles.json").read_text())

#: A handler's error may come between the opening of a file, by Python or by us, and what would close it: the collector does then.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

OPERATIONS = {
    **tables.OPERATIONS,
    **backups.OPERATIONS,
    **caches.OPERATIONS,
    **stores.OPERATIONS,
    **captures.OPERATIONS,
    **flow_stores.OPERATIONS,
    **streams.OPERATIONS,
    **thrift_operations.OPERATIONS,
}
#: Operations that Python does not offer, and why.
NOT_OFFERED = {}
#: Troubles that there are not in Python, and why: of one operation, or of all.
NO_TROUBLE = {("run a transaction of a store", "full"): "Python only reads stores"}

CASES = [(each["name"], trouble) for each in TABLE["operations"] for trouble in each["troubles"]]


@pytest.mark.parametrize("name,trouble", [pytest.param(*case, id=": ".join(case)) for case in CASES])
def test_trouble(name, trouble, tmp_path):
    reason = NOT_OFFERED.get(name) or NO_TROUBLE.get((name, trouble))
    if reason:
        pytest.skip(reason)
    for folder in ("expected", "operation"):
        (tmp_path / folder).mkdir()
    expected = OPERATIONS[name](tmp_path / "expected")
    answer = expected.run()
    expected.close()
    DRIVERS[trouble](OPERATIONS[name](tmp_path / "operation"), answer)


# Completeness.

#: What does each operation. A name of a table stands for both kinds, and that of a snapshot, too.
METHODS = {
    "open a table": ["Table.open"],
    "read an entry": ["Table.get", "Table.get_many", "Table.first", "Table.last", "Table.floor", "Table.ceiling"],
    "change an entry": [f"Table.{name}" for name in ("append", "create", "delete", "increment", "pop", "popitem", "setdefault")],
    "change many entries": ["Table.update", "Table.clear", "Table.copy", "Table.fromkeys", "Table.delete_range"],
    "walk a table": [
        *(f"Table.{name}" for name in ("items", "keys", "values", "range", "cursor", "changes_since")),
        *(f"Cursor.{name}" for name in ("first", "last", "next", "prev", "seek")),
    ],
    "use a snapshot": [
        "Table.snapshot",
        *(f"Snapshot.{name}" for name in ("close", "get", "get_many", "items", "keys", "values", "range", "first", "last", "floor", "ceiling")),
    ],
    "run a transaction": ["Table.transaction"],
    "sync or compact a table": ["Table.sync", "Table.compact", "Table.stat"],
    "back a table up": ["Table.backup"],
    "dump a table": ["Table.dump"],
    "load a dump": ["Table.load"],
    "close a table": ["Table.close"],
    "use a cache": [
        *(f"Cache.{name}" for name in ("set", "add", "get", "pop", "delete", "touch", "incr", "decr", "evict", "cull", "expire", "clear")),
        *(f"Cache.{name}" for name in ("transact", "memoize", "memoize_stampede", "peekitem", "iterkeys", "read", "check", "sync")),
        *(f"Cache.{name}" for name in ("close", "from_diskcache")),
    ],
    "run a transaction of a store": ["pstore.open", *(f"pstore.Store.{name}" for name in ("close", "get", "items", "keys", "values"))],
    # Live capture needs rights of its own: python/tests/test_live.py interrupts it.
    "open a capture": ["Capture.close", "Capture.live", "Capture.stop"],
    "walk the packets of a capture": ["Capture.packets", "packets"],
    "read a capture as columns": ["Capture.batches", "Rows.batches", "Rows.converted", "Rows.to_pandas", "Rows.to_polars"],
    "sum up a capture": [
        *(f"Capture.{name}" for name in ("count_by", "endpoints", "info", "services", "sum")),
        *("count_by", "endpoints", "info", "services"),
    ],
    "walk the flows or calls of a capture": ["Capture.flows", "Capture.calls", "calls"],
    "merge flows into a store": ["flows", "FlowStore.merge", "FlowStore.captures", "FlowStore.close"],
    "walk a store of flows": ["FlowStore"],
    "write packets to a capture": [f"CaptureWriter.{name}" for name in ("write", "close", "discard")],
    "write what was read to a file": ["Capture.write_to", "Capture.index", "Rows.to_parquet", "index", "report"],
    "read values from a stream": [f"Reader.{name}" for name in "at_end close find iter_unpack peek read readinto records seek skip".split()]
    + ["Reader.unpack", "Reader.unpack_records", "Reader.NUMBER"],
    "write values to a stream": [f"Writer.{name}" for name in "close discard flush open replace seek write".split()] + ["Writer.NUMBER"],
    "read a Thrift message": [
        *(f"thrift.{name}" for name in ("decode", "decode_many", "pluck", "columns")),
        *(f"thrift.Columns.{name}" for name in ("batches", "to_pandas", "to_parquet", "to_polars")),
    ],
    "write a Thrift message": ["thrift.encode"],
    "read a Thrift IDL file": ["thrift.load"],
}
#: Getters and conversions of what is in memory.
PLAIN = {
    *(f"Table.{name}" for name in ("closed", "in_transaction", "path", "text")),
    *(f"Snapshot.{name}" for name in ("closed", "text")),
    *(f"Cache.{name}" for name in ("closed", "path", "size_limit", "stats", "volume")),
    *(f"Batch.{name}" for name in ("columns", "to_dict", "to_pandas", "to_polars")),
    *("Changes.position", "Cursor.key", "Cursor.value", "Rows.columns", "Rows.damage", "Call.to_dict", "Flow.to_dict"),
    *("Packet.captured", "Packet.payload", "Packet.to_dict"),
    *(f"Capture.{name}" for name in ("closed", "damage", "index_fault", "name", "live_counts")),
    *("CaptureWriter.closed", "CaptureWriter.name", "FlowStore.closed", "FlowStore.name", "Reader.closed", "Reader.compression"),
    *("Reader.name", "Reader.size", "Reader.tell", "Writer.closed", "Writer.name", "Writer.tell"),
    *(f"thrift.FrozenDict.{name}" for name in dir(dict) if not name.startswith("_")),
    *("thrift.Columns.columns", "thrift.Struct", "pstore.Store.closed", "pstore.Store.damage", "pstore.Store.path", "pstore.Object"),
}
#: Names that are in the table under another one.
CLASSES = {"HashTable": "Table", "TreeTable": "Table", "TreeSnapshot": "Snapshot"}
NUMBERS = {f"{sign}{bits}{order}" for sign in "iu" for bits in (16, 24, 32, 64) for order in ("be", "le")}
NUMBERS |= {"u8", "i8", "varint", "zigzag", "f32be", "f32le", "f64be", "f64le"}


def public_names():
    """Every public function and method, as the table has it."""
    for prefix, module, names in (
        ("", bytewright, bytewright.__all__),
        ("thrift.", thrift, thrift.__all__),
        ("pstore.", pstore, ["open", "Store", "Object"]),
    ):
        for name in names:
            found = getattr(module, name)
            if isinstance(found, type) and issubclass(found, Exception) or name in ("__version__", "pstore"):
                continue
            if not isinstance(found, type):
                yield prefix + name
                continue
            members = {member for member in dir(found) if not member.startswith("_")} - set(getattr(found, "__match_args__", ()))
            for member in members - (set(found.__slots__) if name == "Object" else set()):
                number = "NUMBER" if name in ("Reader", "Writer") and member in NUMBERS else member
                yield f"{prefix}{CLASSES.get(name, name)}.{number}"


def test_every_public_method_is_of_an_operation_or_plain():
    known = {method for methods in METHODS.values() for method in methods} | PLAIN
    missing = sorted(set(public_names()) - known)
    assert missing == [], "add each to METHODS, for the operation that it does, or to PLAIN if it does no input or output"
    gone = sorted(known - set(public_names()) - {"FlowStore", "thrift.Struct", "pstore.Object"})
    assert gone == [], "these are not there any more"


def test_every_operation_and_every_trouble_has_its_place():
    names = {each["name"] for each in TABLE["operations"]}
    assert names == set(OPERATIONS) | set(NOT_OFFERED) == set(METHODS) | set(NOT_OFFERED), "add a class in troubles/, or a reason to NOT_OFFERED"
    assert set(TABLE["troubles"]) == set(DRIVERS), "add a driver for the trouble"
    for name, trouble in NO_TROUBLE:
        assert (name, trouble) in CASES
    for name, trouble in CASES:
        assert trouble != "full" or (name, trouble) in NO_TROUBLE or OPERATIONS[name].grow is not Operation.grow, name
        assert trouble != "itself" or hasattr(OPERATIONS[name], "itself"), name
