"""Goal: an exception leaves nothing behind, whichever iterator raised it.

Method: each iterator raises ten thousand times what damage, or a program's own object, makes it raise. What Python has allocated, what
is resident, and the references to the objects that were given must be as they were.
"""

import gc
import gzip
import io
import pathlib
import sys
import sysconfig
import tracemalloc

import pytest

import bytewright
from bytewright import Capture, HashTable, Reader, TreeTable, thrift

SAMPLES = pathlib.Path(__file__).parents[2] / "samples"
TIMES = 10_000
#: Times before the first look: what is kept for later uses is there then.
WARMING = 500
#: An allocator keeps some memory for later; what is lost ten thousand times shows.
RESIDENT_MAX = 4_000_000
TRACED_MAX = 100_000
#: A free-threaded interpreter counts references to classes by thread, and adds them up at some later time.
REFERENCES_MAX = TIMES // 10 if sysconfig.get_config_var("Py_GIL_DISABLED") else 10

#: The beginning of a capture that ends within a packet.
CUT = gzip.decompress((SAMPLES / "web.pcap.gz").read_bytes())[:1000]
LOGS = thrift.load(SAMPLES / "log.thrift")
MESSAGES = b"".join(len(one).to_bytes(4, "big") + one for one in [thrift.encode(LOGS.Entry(time=1, host="a"))] * 3)


class Failing:
    """A file object that gives some bytes, and then fails."""

    def __init__(self, content):
        self.content = content

    def read(self, _count):
        content, self.content = self.content, None
        if content is None:
            raise ZeroDivisionError
        return content


class BytesCodec:
    name = "failing"

    @staticmethod
    def dumps(value):
        return bytes(value)

    @staticmethod
    def loads(_value):
        raise ZeroDivisionError


def failing_table(cls):
    table = cls(values=BytesCodec)
    table["a"] = b"1"
    return table


HASHED, ORDERED = failing_table(HashTable), failing_table(TreeTable)
ENTRY = LOGS.Entry

ITERATORS = {
    "packets": lambda: Capture(io.BytesIO(CUT)),
    "packets of an object that fails": lambda: Capture(Failing(CUT)),
    "rows": lambda: bytewright.packets(io.BytesIO(CUT), "length"),
    "batches": lambda: Capture(io.BytesIO(CUT)).batches("length"),
    "flows": lambda: Capture(io.BytesIO(CUT)).flows(),
    "calls": lambda: Capture(io.BytesIO(CUT)).calls(),
    "keys of a closed table": lambda: closed(TreeTable({"a": "1"})).keys(),
    "values": lambda: HASHED.values(),
    "items": lambda: ORDERED.items(),
    "a range": lambda: ORDERED.range(prefix="a"),
    "records as tuples": lambda: Reader(b"\0\0\0").iter_unpack("n"),
    "records as bytes": lambda: Reader(b"\0\0\0").records(2),
    "records of an object that fails": lambda: Reader(Failing(b"\0\0\0")).iter_unpack("n"),
    "messages": lambda: thrift.decode_many(ENTRY, MESSAGES[:-1]),
    "messages that are wrong": lambda: thrift.decode_many(ENTRY, b"\0\0\0\1\7"),
    "messages of an object that fails": lambda: thrift.decode_many(ENTRY, Failing(MESSAGES)),
    "columns of messages": lambda: thrift.columns(ENTRY, MESSAGES[:-1], "time"),
    "batches of messages": lambda: thrift.columns(ENTRY, MESSAGES[:-1], "time").batches(),
}


def closed(table):
    table.close()
    return table


def resident_bytes():
    with open("/proc/self/smaps_rollup", encoding="ascii") as rollup:
        return next(int(line.split()[1]) * 1024 for line in rollup if line.startswith("Rss:"))


def references():
    """Counts the references to objects that the iterators are given, or raise."""
    given = [HASHED, ORDERED, ENTRY, Failing, BytesCodec, CUT, MESSAGES, *vars(bytewright).values(), ZeroDivisionError]
    return sum(sys.getrefcount(each) for each in given)


def provoke(make, times):
    raised = 0
    for _ in range(times):
        try:
            for _ in make():
                pass
        except (bytewright.Error, ZeroDivisionError):
            raised += 1
    return raised


@pytest.mark.skipif(not pathlib.Path("/proc/self/smaps_rollup").exists(), reason="Linux alone tells what is resident")
@pytest.mark.parametrize("name", ITERATORS)
def test_ten_thousand_exceptions_leave_nothing_behind(name):
    make = ITERATORS[name]
    assert provoke(make, WARMING) == WARMING
    gc.collect()
    resident, held = resident_bytes(), references()
    assert provoke(make, TIMES) == TIMES
    gc.collect()
    grown = resident_bytes() - resident
    assert grown < RESIDENT_MAX, grown
    assert abs(references() - held) < REFERENCES_MAX
    # Apart, because it takes memory itself, and makes all of it slower.
    tracemalloc.start()
    try:
        provoke(make, WARMING)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        provoke(make, WARMING)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < TRACED_MAX, grown
