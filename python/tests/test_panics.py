"""Goal: a panic below Python is one error that a program can catch, prints nothing, and leaves everything usable.

Method: an ordered table that somebody crafted, whose pages name places outside of them and match their checks; in a Python of its
own, whose standard error is looked at. And defects: the first work of the core panics in place of being done, then the second, and so
on, until none is left that could; after each, the same objects work.
"""

import gc
import gzip
import pathlib
import subprocess
import sys
import threading

import pyarrow
import pytest

import bytewright
from bytewright import _bytewright, thrift

ROOT = pathlib.Path(__file__).parents[2]
WEB = ROOT / "samples" / "web.pcap.gz"
LOGS = thrift.load(ROOT / "samples" / "log.thrift")
ASKED = "a panic that a test asked for"
DEFECT = f"a defect in Bytewright, please report it: {ASKED} at "
SAMPLE = pathlib.Path(__file__).parents[2] / "core/tests/samples/tree_table_crafted.bwt.gz"

READS = """
import sys, threading
import bytewright

reads = [list, lambda table: [table.get(n.to_bytes(4, "big")) for n in range(400)], lambda table: list(table.values())]

def read_all():
    for read in reads:
        try:
            with bytewright.TreeTable.open(sys.argv[1], read_only=True, text=False) as table:
                read(table)
        except bytewright.Error as error:
            print(type(error).__name__, isinstance(error, Exception), "fields that do not fit together" in str(error))

read_all()
thread = threading.Thread(target=read_all)
thread.start()
thread.join()
with bytewright.TreeTable.open(sys.argv[2]) as table:
    table["a"] = "1"
    print(dict(table))
"""


@pytest.fixture
def damaged(tmp_path):
    """A table file that somebody crafted: its pages say that they have more entries than fit, and match their checks."""
    path = tmp_path / "damaged.bwt"
    path.write_bytes(gzip.decompress(SAMPLE.read_bytes()))
    return path


def run(*arguments):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def test_a_table_that_somebody_crafted_is_an_error_in_every_thread_and_everything_works_on(damaged, tmp_path):
    done = run("-c", READS, damaged, tmp_path / "good.bwt")
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["CorruptError True True"] * 6 + ["{'a': '1'}"]
    assert done.returncode == 0


def test_the_command_tells_it_in_one_line(damaged):
    done = run("-m", "bytewright", "table", "scan", damaged)
    assert done.returncode == 1
    assert done.stderr.startswith(f"bytewright: {damaged}: byte ")
    assert "expected a page of the tree" in done.stderr
    assert len(done.stderr.splitlines()) == 1


# Each takes a folder, and answers a function that can be called again and gives the same each time.


def memory_tables(_folder, kind=bytewright.HashTable):
    table = kind()

    def use():
        table.update((str(n), "x") for n in range(100))
        with table.transaction():
            table["a"] = "1"
            del table["5"]
        return sorted(table.items()), table.get_many(["a", "5"]), len(table.snapshot())

    return use


def ordered_tables(folder):
    use_hash = memory_tables(folder, bytewright.TreeTable)
    table = bytewright.TreeTable({"a": "1", "b": "2"})
    return lambda: (use_hash(), list(table.range("b")), table.last(), table.floor("aa"))


def table_files(folder, kind=bytewright.HashTable):
    def use():
        with kind.open(folder / f"{kind.__name__}.bwx") as table:
            table["a"] = "1"
            table.update({"b": "2", "c": "3"})
            with table.transaction():
                table["d"] = "4"
            table.sync()
            return sorted(table.items())

    return use


def ordered_table_files(folder):
    return table_files(folder, bytewright.TreeTable)


def open_table_files(folder):
    """Files that stay open."""
    tables = [bytewright.HashTable.open(folder / "open.bwh"), bytewright.TreeTable.open(folder / "open.bwt")]

    def put(table):
        table["a"] = "1"
        table.sync()

    def use():
        for table in tables:
            put(table)
        return [dict(table) for table in tables]

    return use


def captures(_folder):
    def use():
        with bytewright.Capture(WEB, jobs=1) as capture:
            sums = capture.count_by("dst_port")
            return sums, sum(packet.length for packet in capture), len(list(capture.flows())), capture.info()

    return use


def columns(folder):
    rows = bytewright.packets(WEB, "ts", "length", rows=3000, jobs=2)

    def use():
        table = pyarrow.table(rows)
        return table.num_rows, sum(len(batch) for batch in rows.batches()), rows.to_parquet(folder / "web.parquet")

    return use


def streams(folder):
    path = folder / "numbers.gz"

    def use():
        with bytewright.Writer(path) as writer:
            writer.u32be(7)
            writer.write(b"text")
        with bytewright.Reader(path) as reader:
            return reader.u32be(), reader.read()

    return use


def messages(_folder):
    entry = LOGS.Entry(time=5, host="a")

    def use():
        data = thrift.encode(entry)
        many = thrift.decode_many(LOGS.Entry, data * 3, framed=False)
        columns = thrift.columns(LOGS.Entry, data * 3, "time", framed=False)
        return thrift.decode(LOGS.Entry, data), list(many), thrift.pluck(LOGS.Entry, data, "host"), pyarrow.table(columns).to_pydict()

    return use


def flow_stores(folder):
    vlan = ROOT / "samples" / "vlan.pcapng"
    bytewright.flows(vlan, into=folder / "vlan.bwt")

    def use():
        with bytewright.FlowStore(folder / "vlan.bwt") as store:
            return [flow.bytes for flow in store], len(list(store.captures()))

    return use


SCENARIOS = [
    memory_tables,
    ordered_tables,
    table_files,
    ordered_table_files,
    open_table_files,
    captures,
    columns,
    streams,
    messages,
    flow_stores,
]


def with_panic(use, nth):
    """Returns the result and the error of a use in which the nth work of the core panics, and if there were so many."""
    _bytewright.panic_in_nth(nth)
    try:
        return use(), None, _bytewright.panic_in_nth(0) == 0
    except Exception as error:
        # Objects that were in use when it was raised, such as a table that could not be closed, live no longer than they must.
        error.__context__ = None
        return None, error.with_traceback(None), _bytewright.panic_in_nth(0) == 0


def says_what_it_is(error):
    # A program that reads a stream of Arrow's makes an error of its own of the text.
    return DEFECT in str(error) and isinstance(error, (bytewright.InternalError, pyarrow.ArrowException, OSError))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_defect_is_an_internal_error_wherever_it_is_and_everything_works_on(scenario, tmp_path, capfd):
    use = scenario(tmp_path)
    expected = use()
    told = 0
    # The first ones each, and then ever fewer: there may be one work for each packet.
    nth = 1
    while True:
        found, error, was_there = with_panic(use, nth)
        if error is None:
            assert found == expected
        else:
            assert says_what_it_is(error), (nth, repr(error))
            told += 1
        assert use() == expected, nth
        if not was_there:
            break
        nth += 1 + nth // 40
    assert told > 1
    gc.collect()
    assert threading.active_count() == 1
    assert capfd.readouterr().err == ""


def test_an_internal_error_is_an_exception_that_a_program_can_catch():
    table = bytewright.HashTable({"a": "1"})
    _bytewright.panic_in_nth(1)
    with pytest.raises(Exception, match="a panic that a test asked for at core/src/panics.rs:") as raised:
        table["b"] = "2"
    assert type(raised.value) is bytewright.InternalError and isinstance(raised.value, bytewright.Error)
    assert dict(table) == {"a": "1"}


def test_a_defect_in_another_thread_stays_there():
    table = bytewright.HashTable({"a": "1"})
    errors = []

    def read():
        _bytewright.panic_in_nth(1)
        try:
            table["a"]
        except bytewright.InternalError as error:
            errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert len(errors) == 1 and table["a"] == "1"
