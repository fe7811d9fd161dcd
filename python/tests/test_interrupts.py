"""Goal: Ctrl-C ends what reads a capture, whoever pulls its columns, and is a KeyboardInterrupt in the end.

Method: a program reads a pipe that has always more to read, which is written until the program is gone. It gets the signal when some
of it has been read; how much of the rest it still takes says whether it has ended at once.
"""

import importlib.util
import io
import os
import pathlib
import signal
import struct
import subprocess
import sys

import pytest

import bytewright

FRAME = bytes.fromhex("ffffffffffff0000000000010800 4500002e00000000401100000102030405060708 00350035001a0000") + b"x" * 18
HEADER = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)
#: What is written at once.
PIECE = (struct.pack("<IIII", 1_700_000_000, 0, len(FRAME), len(FRAME)) + FRAME) * 4000
#: Pieces before the signal, and the most that is there behind it: some seconds of work for a release build, which reads
#: hundreds of pieces in the tenth of a second after which it looks for interrupts.
PIECES_BEFORE, PIECES_MAX = 40, 8000

PROGRAM = """
import bytewright, signal, sys, time
from bytewright import {function} as rows_of

class Timeout(Exception):
    pass

def on_alarm(*_):
    raise Timeout

class Object:
    def __init__(self):
        self.file = open(PATH, "rb", buffering=0)

    def read(self, count):
        return self.file.read(count)

PATH = "/dev/fd/{descriptor}"
signal.signal(signal.SIGALRM, on_alarm)
rows = rows_of({source})
print("begun", flush=True)
try:
    try:
        {pull}
    except Exception as error:
        # An error of the library that pulls comes first. It says what it was, and does not hide the exception.
        print("error", error, flush=True)
        time.sleep(0)
except (KeyboardInterrupt, Timeout) as error:
    try:
        print("raised", type(error).__name__, flush=True)
    except KeyboardInterrupt:
        # A lazy frame of polars raises it twice.
        print("raised", type(error).__name__, flush=True)
"""

# DuckDB is left out: its main thread sees the signal at once, and then waits for its own threads, which nothing tells of it: only
# the main thread of Python is told of signals, and DuckDB's keeps to itself that it was. Its threads read all 1500 pieces that were
# there behind the signal, and then DuckDB 2.0 raises its own "Query interrupted".
PULLS = [
    pytest.param(pull, marks=pytest.mark.skipif(not importlib.util.find_spec(library), reason=f"needs {library}"))
    for library, pull in [
        ("pyarrow", "import pyarrow; pyarrow.table(rows)"),
        ("pyarrow", "import pyarrow; pyarrow.RecordBatchReader.from_stream(rows).read_all()"),
        ("polars", "import polars; polars.DataFrame(rows)"),
        ("polars", "import bytewright.polars; bytewright.polars.scan_packets(PATH).collect()"),
        ("sys", "[None for _ in rows]"),
        ("sys", "[None for _ in rows.batches()]"),
    ]
]


def interrupt(pull, number=signal.SIGINT, function="packets", source="PATH"):
    """Pieces that were taken after the signal, and what the program said."""
    read, write = os.pipe()
    program = PROGRAM.format(function=function, descriptor=read, source=source, pull=pull)
    folder = str(pathlib.Path(bytewright.__file__).parents[1])
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        pass_fds=[read],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": folder},
    )
    os.close(read)
    assert child.stdout.readline() == "begun\n"
    taken = 0
    try:
        os.write(write, HEADER)
        for taken in range(PIECES_BEFORE + PIECES_MAX):
            if taken == PIECES_BEFORE:
                child.send_signal(number)
            os.write(write, PIECE)
    except BrokenPipeError:
        pass
    os.close(write)
    said, _ = child.communicate(timeout=120)
    return taken - PIECES_BEFORE, said


@pytest.mark.parametrize("pull", PULLS)
def test_ctrl_c_ends_a_pull(pull):
    taken, said = interrupt(pull)
    assert 0 <= taken < PIECES_MAX // 3, (taken, said)
    assert "raised KeyboardInterrupt" in said, said


@pytest.mark.parametrize("function", ["flows", "calls"])
def test_ctrl_c_ends_a_pull_of_flows_and_calls(function):
    pytest.importorskip("pyarrow")
    taken, said = interrupt("import pyarrow; pyarrow.table(rows)", function=function)
    assert 0 <= taken < PIECES_MAX // 3, (taken, said)
    assert "raised KeyboardInterrupt" in said, said


def test_ctrl_c_ends_a_pull_from_an_object():
    pytest.importorskip("pyarrow")
    taken, said = interrupt("import pyarrow; pyarrow.table(rows)", source="bytewright.Capture(Object())")
    assert 0 <= taken < PIECES_MAX // 3, (taken, said)
    assert "raised KeyboardInterrupt" in said, said


def test_the_exception_of_another_handler_ends_a_pull_and_is_the_one_that_is_raised():
    pytest.importorskip("pyarrow")
    taken, said = interrupt("import pyarrow; pyarrow.table(rows)", number=signal.SIGALRM)
    assert 0 <= taken < PIECES_MAX // 3, (taken, said)
    # If Python raises it as the block that handles the library's error begins, that error is not printed.
    assert "raised Timeout" in said, said
    assert "error" not in said or "interrupted: Timeout" in said, said


class Raised(BaseException):
    """What the handler of a signal raises while an object's own code runs."""


def raising(*names, number=None, **others):
    def method(*_):
        raise Raised

    base, given = (object, ()) if number is None else (int, (number,))
    return type("Raising", (base,), {**others, **dict.fromkeys(names, method)})(*given)


def encoded(idl, value):
    return lambda: bytewright.thrift.encode(bytewright.thrift.load(f"struct S {{ 1: {idl} a }}").S(a=value))


def read_by(**methods):
    return lambda: bytewright.Reader(type("File", (), methods)()).u8()


def integers():
    return bytewright.HashTable(values="integer")


MEANWHILE = {
    "key": lambda: bytewright.HashTable().__setitem__(raising("__repr__"), "a"),
    "value": lambda: bytewright.HashTable().__setitem__("a", raising("__repr__")),
    "bytes": lambda: bytewright.HashTable(text=False).__setitem__(raising("__repr__"), b"a"),
    "integer": lambda: integers().__setitem__("a", raising("__index__")),
    "shown integer": lambda: integers().__setitem__("a", raising("__repr__", number=1 << 70)),
    "written integer": lambda: bytewright.Writer(io.BytesIO()).u8(raising("__index__")),
    "written integer that is shown": lambda: bytewright.Writer(io.BytesIO()).u8(raising("__repr__", number=300)),
    "count read": read_by(readinto=lambda self, buffer: raising("__index__")),
    "count read that is shown": read_by(readinto=lambda self, buffer: raising("__repr__")),
    "encoded": encoded("i32", raising("__repr__")),
    "encoded number": encoded("i32", raising("__index__")),
    "encoded number that is shown": encoded("i8", raising("__repr__", number=300)),
    "encoded double": encoded("double", raising("__float__")),
    "encoded list's length": encoded("list<i32>", raising("__len__")),
    "encoded list's elements": encoded("list<i32>", raising("__iter__", __len__=lambda self: 1)),
    "encoded uuid": encoded("uuid", raising(bytes=property(lambda self: raising("__repr__").__repr__()))),
}


@pytest.mark.parametrize("case", MEANWHILE)
def test_what_is_raised_while_an_error_is_worded_is_raised(case):
    with pytest.raises(Raised):
        MEANWHILE[case]()


LONG = "x" * (1 << 20)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: bytewright.HashTable().__setitem__([LONG], "a"),
        lambda: bytewright.HashTable(text=False).__setitem__([LONG], b"a"),
        lambda: integers().__setitem__("a", 1 << 10_000),
        lambda: bytewright.Writer(io.BytesIO()).u8(1 << 10_000),
        encoded("i32", [LONG]),
        encoded("i8", 1 << 10_000),
        read_by(readinto=lambda self, buffer: LONG),
    ],
)
def test_an_error_repeats_an_object_as_far_as_people_read(refused):
    with pytest.raises((TypeError, OverflowError, OSError)) as raised:
        refused()
    assert len(str(raised.value)) < 1000
