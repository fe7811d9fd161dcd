"""Goal: no error is as long as what a program hands in.

Method: a megabyte, as a text, a name of a class, a number and an object, in each place where an error repeats it.
"""

import io
import os

import pytest

import bytewright
from bytewright import _bytewright, thrift
from bytewright._open_file import OpenFile
from bytewright._thrift_generated import codec_of

WEB = os.path.join(os.path.dirname(__file__), "../../samples/web.pcap.gz")
LONG = "x" * 1_000_000
LongClass = type(LONG, (), {})
LongFile = type(LONG, (OpenFile,), {})
LONG_INT = 10**4000


class Shown:
    def __repr__(self):
        return LONG


class Timeless(Shown):
    tzinfo = None


class LongInput(io.BytesIO):
    name = LONG


class CountsWrong:
    def readinto(self, _buffer):
        return LONG_INT

    def write(self, _data):
        return LONG_INT


class ReadsObjects:
    def read(self, _count=-1):
        return LongClass()


IDL = thrift.load("struct Entry { 1: required i32 time, 2: string host }\nunion Either { 1: i32 left, 2: i32 right }")
# The longest that IDL may have.
NAME = "x" * 1000
LONG_IDL = f"struct {NAME} {{ 1: required i32 {NAME}, 2: i32 from }} union {NAME}Or {{ 1: i32 left, 2: i32 right }}"


def long_class(ending=""):
    return getattr(thrift.load(LONG_IDL), NAME + ending)


def written(file):
    with bytewright.Writer(file) as writer:
        writer.write(b"a")


CASES = {
    "an option": lambda: bytewright.Capture(WEB, **{LONG: 1}),
    "the value of an option": lambda: bytewright.Capture(WEB, damage=LONG),
    "the class of an option": lambda: bytewright.Capture(WEB, jobs=LongClass()),
    "a field": lambda: list(bytewright.packets(WEB, LONG)),
    "a field of counts": lambda: bytewright.count_by(WEB, LONG),
    "a condition": lambda: bytewright.count_by(WEB, "dst_port", where=LONG),
    "a column": lambda: next(iter(bytewright.packets(WEB).batches()))[LONG],
    "times of a column": lambda: bytewright.packets(WEB).converted(timestamps=LONG),
    "addresses of a column": lambda: bytewright.packets(WEB).converted(addresses=LONG),
    "a pattern": lambda: list(bytewright.packets(LONG + "*")),
    "a source": lambda: bytewright.Capture(LongClass()),
    "options beside a capture": lambda: list(bytewright.packets(bytewright.Capture(LongInput()), jobs=7)),
    "a time": lambda: bytewright.Capture(WEB).write_to("/nowhere/a.pcap", from_time=Shown()),
    "an attribute of the module": lambda: getattr(bytewright, LONG),
    "a schema": lambda: _bytewright.schema_of(LONG),
    "a reader's source": lambda: bytewright.Reader(LongClass()),
    "compression": lambda: bytewright.Reader(b"", compressed=LONG),
    "what a file gives": lambda: bytewright.Reader(ReadsObjects()).read(),
    "what a file says that it gives": lambda: bytewright.Reader(CountsWrong()).read(),
    "what a file says that it took": lambda: written(CountsWrong()),
    "a writer's target": lambda: bytewright.Writer(LongClass()),
    "what is written": lambda: bytewright.Writer(io.BytesIO()).write(LongClass()),
    "a number that is written": lambda: bytewright.Writer(io.BytesIO()).u8(LONG_INT),
    "a key": lambda: bytewright.HashTable()[Shown()],
    "a key of a long class": lambda: bytewright.HashTable()[LongClass()],
    "values of a table": lambda: bytewright.HashTable(values=Shown()),
    "the name of values": lambda: bytewright.HashTable(values=type("Codec", (), {"name": LONG, "dumps": str, "loads": str})()),
    "an integer": lambda: bytewright.HashTable(values="integer").update({"a": LONG_INT}),
    "an object for an integer": lambda: bytewright.HashTable(values="integer").update({"a": LongClass()}),
    "an option of a table": lambda: bytewright.HashTable.open("/nowhere/a.bwh", **{LONG: 1}),
    "when a table is synced": lambda: bytewright.HashTable.open("/nowhere/a.bwh", sync=LONG),
    "a class to be pickled": lambda: LongFile().__reduce_ex__(2),
    "a protocol": lambda: thrift.encode(IDL.Entry(time=1), protocol=LONG),
    "bytes of a message": lambda: thrift.decode(IDL.Entry, LongClass()),
    "a source of messages": lambda: list(thrift.decode_many(IDL.Entry, LongClass())),
    "a class of Thrift": lambda: codec_of(Shown()),
    "a value of a field": lambda: thrift.encode(IDL.Entry(time=Shown())),
    "a number of a field": lambda: thrift.encode(IDL.Entry(time=LONG_INT)),
    "a required field of a long name": lambda: thrift.encode(long_class()()),
    "a value of a field of a long name": lambda: thrift.encode(long_class()(**{NAME: "b"})),
    "another field": lambda: long_class()(**{LONG + "y": 1}),
    "a field twice": lambda: long_class()(**{"from": 1, "from_": 1}),
    "a union of a long name": lambda: thrift.encode(long_class("Or")()),
    "a field of Python's": lambda: thrift.load(f"struct Entry {{ 1: i32 __{NAME} }}"),
    "an included file": lambda: thrift.load(f'include "{LONG}.thrift"'),
    "IDL": lambda: thrift.load(f"struct {LONG}"),
}


@pytest.mark.parametrize("case", CASES)
def test_an_error_repeats_no_long_argument(case):
    with pytest.raises(Exception) as raised:
        CASES[case]()
    message = str(raised.value)
    assert len(message.encode()) < 1024, f"{len(message)}: {message[:300]}"
    assert "…" in message, message


def test_what_is_short_is_repeated_wholly():
    assert _bytewright.excerpt("x" * 200) == "x" * 200
    assert _bytewright.excerpt("a" + LONG + "b").startswith("ax")
    assert _bytewright.excerpt("a" + LONG + "b").endswith("xb")
    assert _bytewright.excerpt("\udcff") == "\ufffd" * 3
    with pytest.raises(bytewright.ArgumentError, match='found "often"$'):
        bytewright.HashTable.open("/nowhere/a.bwh", sync="often")
    with pytest.raises(TypeError, match=r"^expected a path or an object with write, found list$"):
        bytewright.Writer([])
