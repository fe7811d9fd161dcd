"""Goal: readers and writers give and write the same bytes as Python's own files and `struct`, whatever they come from.

Method: random operations on random input, compared with a slow, obvious twin over `io.BytesIO`; the seed is in the failure.
"""

import array
import gzip
import io
import math
import mmap
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import pyarrow
import pytest

import bytewright
from bytewright import Reader, Writer

# Names of a number for `struct`, for a template, and as a method of readers and writers.
NUMBERS = [
    ("B", "C", "u8"), ("b", "c", "i8"),
    ("<H", "v", "u16le"), (">H", "n", "u16be"), ("<h", "s<", "i16le"), (">h", "s>", "i16be"),
    ("<I", "V", "u32le"), (">I", "N", "u32be"), ("<i", "l<", "i32le"), (">i", "l>", "i32be"),
    ("<Q", "Q<", "u64le"), (">Q", "Q>", "u64be"), ("<q", "q<", "i64le"), (">q", "q>", "i64be"),
    ("<f", "e", "f32le"), (">f", "g", "f32be"), ("<d", "E", "f64le"), (">d", "G", "f64be"),
]  # fmt: skip


def random_value(chance, form):
    bits = 8 * struct.calcsize(form)
    if form[-1] in "fd":
        return float(chance.randrange(-(2**20), 2**20)) / 4
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if form[-1].islower() else (0, 2**bits)
    return chance.choice([low, high - 1, chance.randrange(low, high)])


class OnlyReadInto(io.RawIOBase):
    """A raw file that gives a few bytes at a time."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.data.readinto(memoryview(buffer)[:7])


def inputs(data, folder):
    """Yields the same bytes as every kind of input that can be read."""
    path = folder / "input.bin"
    path.write_bytes(data)
    (folder / "input.gz").write_bytes(gzip.compress(data))
    yield path
    yield str(path)
    yield folder / "input.gz"
    yield data
    yield bytearray(data)
    yield array.array("B", data)
    yield io.BytesIO(data)
    yield open(path, "rb")
    yield open(path, "rb", buffering=0)
    yield os.open(path, os.O_RDONLY)
    yield gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(data)))
    yield OnlyReadInto(data)
    if data:
        yield mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("size", [0, 1, 1000, 300_000])
def test_whatever_can_be_read_gives_the_same_bytes(size, tmp_path):
    data = random.Random(size).randbytes(size)
    for source in inputs(data, tmp_path):
        with Reader(source) as reader:
            first = reader.read(10)
            assert (first, reader.tell()) == (data[:10], len(data[:10])), source
            assert first + reader.read() == data, source
            assert reader.at_end() and reader.read(1) == reader.read() == b""
        assert reader.closed


@pytest.mark.parametrize("form,template,name", NUMBERS)
def test_a_number_is_written_and_read_as_struct_does(form, template, name):
    chance = random.Random(name)
    values = [random_value(chance, form) for _ in range(50)]
    written = io.BytesIO()
    with Writer(written) as writer:
        for value in values:
            getattr(writer, name)(value)
    packed = b"".join(struct.pack(form, value) for value in values)
    assert written.getvalue() == packed
    reader = Reader(packed)
    assert [getattr(reader, name)() for _ in values] == values
    assert Reader(packed).unpack_records(template) == [(value,) for value in values]
    assert list(Reader(packed).iter_unpack(template)) == [(value,) for value in values]
    with pytest.raises(bytewright.TruncatedError):
        getattr(reader, name)()


def test_other_numbers_come_back_as_they_were():
    written = io.BytesIO()
    with Writer(written) as writer:
        writer.u24le(0x010203), writer.u24be(0x010203)
        for number in (0, 127, 128, 2**64 - 1):
            writer.varint(number)
        for number in (0, -1, 2**63 - 1, -(2**63)):
            writer.zigzag(number)
    assert written.getvalue()[:9] == b"\x03\x02\x01\x01\x02\x03\x00\x7f\x80"
    reader = Reader(written.getvalue())
    assert (reader.u24le(), reader.u24be()) == (0x010203, 0x010203)
    assert [reader.varint() for _ in range(4)] == [0, 127, 128, 2**64 - 1]
    assert [reader.zigzag() for _ in range(4)] == [0, -1, 2**63 - 1, -(2**63)]
    with pytest.raises(bytewright.FormatError):
        Reader(b"\xff" * 20).varint()


@pytest.mark.parametrize("value", [-1, 256, 2**70, -(2**70)])
def test_a_number_that_does_not_fit_is_refused(value):
    writer = Writer(io.BytesIO())
    with pytest.raises(OverflowError, match="fits into u8"):
        writer.u8(value)
    with pytest.raises(TypeError):
        writer.u8("1")
    assert writer.tell() == 0


@pytest.mark.parametrize("order", ["le", "be"])
def test_a_float_that_four_bytes_cannot_hold_is_refused(order):
    written = io.BytesIO()
    writer = Writer(written)
    put, form = getattr(writer, f"f32{order}"), "<f" if order == "le" else ">f"
    for value in (1e300, -1e300, 3.4028236e38, 2**128):
        with pytest.raises(OverflowError, match=f"fits into f32{order}"):
            put(value)
        with pytest.raises((OverflowError, struct.error)):
            struct.pack(form, value)
    kept = [3.4028234e38, 1e-300, math.inf, -math.inf, 2]
    for value in kept:
        put(value)
    put(math.nan)
    writer.flush()
    assert written.getvalue() == b"".join(struct.pack(form, value) for value in [*kept, math.nan])


def one_step(chance, reader, twin, size):
    """One random operation on both; what each answered."""
    kind = chance.choice(["read", "peek", "skip", "seek", "back", "end", "into", "records", "find", "tell"])
    count = chance.choice([0, 1, 3, 16, 5000, 70_000])
    place = twin.tell()
    if kind == "read":
        return reader.read(count), twin.read(count)
    if kind == "peek":
        found = twin.read(count)
        twin.seek(place)
        return reader.peek(count), found
    if kind == "skip":
        twin.seek(min(size, place + count) if place < size else place)
        return reader.skip(count), twin.tell() - place
    if kind in ("seek", "back", "end"):
        target = {"seek": chance.randrange(size + 10), "back": max(0, place - count), "end": max(0, size - count)}[kind]
        given = {"seek": (target,), "back": (target - place, 1), "end": (target - size, 2)}[kind]
        return reader.seek(*given), twin.seek(target)
    if kind == "into":
        one, two = bytearray(count), bytearray(count)
        return (reader.readinto(one), one), (twin.readinto(two), two)
    if kind == "records":
        whole = min(count, max(0, size - place) // 4)
        return reader.unpack_records("N", whole), [(number,) for (number,) in struct.iter_unpack(">I", twin.read(whole * 4))]
    if kind == "find":
        pattern = bytes([chance.randrange(256)] * chance.randrange(1, 3))
        at = twin.getvalue().find(pattern, place)
        twin.seek(at + len(pattern) if at >= 0 else max(size, place))
        return reader.find(pattern), at if at >= 0 else None
    return reader.tell(), place


@pytest.mark.parametrize("seed", range(20))
def test_random_operations_answer_as_a_file_of_python_does(seed, tmp_path):
    chance = random.Random(seed)
    data = chance.randbytes(chance.choice([0, 10, 100_000, 400_000]))
    path = tmp_path / "input.bin"
    path.write_bytes(gzip.compress(data, 1) if seed % 3 == 0 else data)
    with Reader([path, data, io.BytesIO(data)][seed % 3]) as reader:
        twin = io.BytesIO(data)
        for number in range(100):
            found, expected = one_step(chance, reader, twin, len(data))
            assert found == expected, (seed, number)
            assert reader.tell() == twin.tell(), (seed, number)


def test_columns_have_the_values_and_the_types_of_the_records():
    chance = random.Random(7)
    rows = [tuple(random_value(chance, form) for form, _, _ in NUMBERS) for _ in range(500)]
    data = b"".join(b"".join(struct.pack(form[0], value) for form, value in zip(NUMBERS, row)) + b"ab\0x" for row in rows)
    template = "".join(template for _, template, _ in NUMBERS) + "Z3x"
    rows = [(*row, b"ab") for row in rows]
    assert Reader(data).unpack_records(template) == rows
    table = pyarrow.record_batch(Reader(data).unpack_records(template, columns=True))
    assert [tuple(row.values()) for row in table.to_pylist()] == rows
    assert table.column("f0").type == pyarrow.uint8() and table.column("f15").type == pyarrow.float64()
    reader = Reader(data)
    named = reader.unpack_records("C a87", 2, columns=["kind", "rest"])
    assert named.columns == ("kind", "rest") and named["kind"] == [data[0], data[88]] and reader.tell() == 2 * 88


def test_what_is_wrong_with_a_template_or_its_names_is_said():
    reader = Reader(b"1234")
    with pytest.raises(bytewright.ArgumentError, match="a template of a fixed length"):
        reader.unpack_records("a*")
    with pytest.raises(bytewright.ArgumentError, match="expected a name for each of 2 values, found 1 names"):
        reader.unpack_records("CC", columns=["one"])
    with pytest.raises(bytewright.ArgumentError, match="found one twice"):
        reader.unpack_records("CC", columns=["one", "one"])
    with pytest.raises(bytewright.ArgumentError, match="at least a byte"):
        reader.records(0)
    assert reader.read() == b"1234"


@pytest.mark.parametrize("take", [
    lambda reader: reader.unpack_records("a8"),
    lambda reader: reader.unpack_records("a8", columns=True),
    lambda reader: reader.seek(16) and reader.unpack("a8"),
    lambda reader: list(reader.records(8)),
    lambda reader: reader.seek(14) and reader.u64be(),
])  # fmt: skip
def test_input_that_ends_within_a_record_says_where_and_keeps_the_rest(take):
    reader = Reader(b"x" * 20)
    with pytest.raises(bytewright.TruncatedError, match="before the input ends") as raised:
        take(reader)
    assert raised.value.file == "bytes" and raised.value.needed in (8, 24) and raised.value.offset in (0, 14, 16)
    assert reader.tell() in (0, 14, 16)
    with pytest.raises(EOFError):
        Reader(b"").unpack("C")


def test_a_buffer_is_filled_and_pinned_meanwhile():
    data = random.Random(1).randbytes(1_000_000)
    for buffer in (bytearray(len(data)), memoryview(bytearray(len(data))), array.array("I", bytes(len(data)))):
        assert Reader(data).readinto(buffer) == len(data) and bytes(buffer) == data
    short = bytearray(b"12345678")
    assert Reader(b"ab").readinto(short) == 2 and short == b"ab345678"
    with pytest.raises(TypeError, match="can be written to"):
        Reader(data).readinto(data)
    with pytest.raises(TypeError):
        Reader(data).readinto(3)

    class Resizes:
        def __init__(self):
            self.buffer, self.refused = bytearray(100), False

        def read(self, count):
            try:
                self.buffer.extend(b"more")
            except BufferError:
                self.refused = True
            return b"x" * 50

    source = Resizes()
    assert Reader(source, compressed="none").readinto(source.buffer) == 100 and source.refused
    source.buffer.extend(b"is free again")


def test_a_failing_object_loses_nothing():
    class Fails:
        def __init__(self):
            self.left = [b"abc", OSError(5, "it failed"), b"def"]

        def read(self, count):
            given = self.left.pop(0) if self.left else b""
            if isinstance(given, Exception):
                raise given
            return given

    reader = Reader(Fails(), compressed="none")
    with pytest.raises(OSError, match="it failed"):
        reader.read(6)
    assert reader.tell() == 0 and reader.read(6) == b"abcdef"
    for wrong, error in (("text", TypeError), (None, BlockingIOError)):
        source = Fails()
        source.left = [wrong]
        with pytest.raises(error):
            Reader(source).read(1)


def test_a_file_that_is_open_is_read_from_where_it_is_and_stays_there(tmp_path):
    path = tmp_path / "input.bin"
    path.write_bytes(bytes(range(100)))
    with open(path, "rb") as file:
        file.read(10)
        with Reader(file) as reader:
            assert reader.u8() == 10 and reader.tell() == 1 and reader.seek(0, 2) == 90 and reader.seek(0) == 0
        assert file.tell() == 10 and not file.closed
    with open(path, "wb") as file, pytest.raises(io.UnsupportedOperation):
        Reader(file).u8()


def test_a_pipe_is_read_as_it_comes_and_forwards_only():
    ours, theirs = os.pipe()
    os.write(theirs, b"\0\0\0\x07rest")
    with Reader(ours, compressed="none") as reader:
        assert reader.u32be() == 7 and reader.skip(1) == 1
        with pytest.raises(OSError) as raised:
            reader.seek(0)
        assert raised.value.errno == 29
        threading.Timer(0.05, lambda: (os.write(theirs, b"!"), os.close(theirs))).start()
        assert reader.read() == b"est!"
    os.close(ours)


def test_a_wait_for_input_ends_with_ctrl_c_and_loses_nothing():
    program = """
import os, bytewright
ours, theirs = os.pipe()
os.write(theirs, b"\\0\\0")
reader = bytewright.Reader(ours, compressed="none")
print("waits", flush=True)
try:
    reader.u32be()
except KeyboardInterrupt:
    os.write(theirs, b"\\1\\2")
    print("interrupted", reader.u32be(), flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "waits\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "interrupted 258\n" and child.returncode == 0


def test_threads_that_share_a_reader_get_each_number_once():
    data = struct.pack(">20000I", *range(20_000))
    ours, theirs = socket.socketpair()
    threading.Thread(target=lambda: (theirs.sendall(data), theirs.close())).start()
    with ours, ours.makefile("rb") as file, Reader(file, compressed="none") as reader:
        found = [[] for _ in range(4)]

        def take(into):
            try:
                while True:
                    into.append(reader.u32be())
            except bytewright.TruncatedError:
                pass

        threads = [threading.Thread(target=take, args=(into,)) for into in found]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    assert sorted(sum(found, [])) == list(range(20_000)) and all(one == sorted(one) for one in found)


def test_an_object_that_uses_its_own_reader_is_told_so():
    class Reenters:
        def read(self, count):
            return self.reader.read(1)

    source = Reenters()
    source.reader = Reader(source)
    with pytest.raises(bytewright.LockError, match="this thread is already using"):
        source.reader.u8()


def test_a_closed_reader_and_writer_say_so(tmp_path):
    reader, writer = Reader(b"12"), Writer(tmp_path / "output.bin")
    for stream in (reader, writer):
        stream.close()
        stream.close()
        assert stream.closed and "closed" in repr(stream)
    for use in (reader.u8, reader.read, reader.tell, lambda: reader.unpack("C"), lambda: writer.u8(1), lambda: writer.write(b"")
                or writer.flush(), writer.tell):  # fmt: skip
        with pytest.raises(bytewright.ClosedError):
            use()
    with pytest.raises(TypeError, match="pickle its path"):
        __import__("pickle").dumps(reader)


def test_what_cannot_be_read_or_written_is_refused(tmp_path):
    for source in (None, 1.5, [1]):
        with pytest.raises(TypeError, match="expected a path"):
            Reader(source)
        with pytest.raises(TypeError, match="expected a path"):
            Writer(source)
    with pytest.raises(FileNotFoundError) as raised:
        Reader(tmp_path / "none")
    assert raised.value.filename == str(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        Reader(tmp_path)
    with pytest.raises(FileNotFoundError):
        Writer(tmp_path / "none" / "file")
    with pytest.raises(OSError):
        Reader(987_654)
    with pytest.raises(bytewright.ArgumentError, match='compressed to be auto, gzip, zstd or none, found "zip"'):
        Reader(b"", compressed="zip")
    with pytest.raises(TypeError, match="found compresed; did you mean compressed\\?"):
        Reader(b"", compresed="gzip")
    with pytest.raises(TypeError, match="expected bytes, found str"):
        Writer(io.BytesIO()).write("text")


def test_damage_comes_after_what_is_good():
    data = gzip.compress(b"good" * 100_000)
    reader = Reader(data[:-20])
    good = reader.read(100)
    assert good == b"good" * 25
    with pytest.raises(bytewright.Error):
        reader.read()


@pytest.mark.parametrize("seed", range(6))
def test_random_writing_leaves_the_bytes_that_a_file_of_python_has(seed, tmp_path):
    chance = random.Random(seed)
    path, target = tmp_path / "output.bin", io.BytesIO()
    twin = io.BytesIO()
    with open(path, "wb") as file, Writer([path, target, file][seed % 3]) as writer:
        for _ in range(300):
            if chance.random() < 0.1:
                place = chance.randrange(twin.tell() + 100)
                assert writer.seek(place) == twin.seek(place), seed
            data = chance.randbytes(chance.choice([0, 1, 7, 1000, 300_000]))
            form = chance.choice([bytes, bytearray, memoryview])
            assert writer.write(form(data)) == twin.write(data)
            assert writer.tell() == twin.tell(), seed
    found = target.getvalue() if seed % 3 == 1 else path.read_bytes()
    assert found == twin.getvalue(), seed


def test_a_replacement_takes_the_place_of_a_file_when_it_is_whole(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with pytest.raises(ZeroDivisionError), Writer.replace(path) as writer:
        writer.write(b"half")
        writer.flush()
        1 / 0
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]
    Writer.replace(path).write(b"forgotten")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]
    with Writer.replace(path) as writer:
        writer.write(b"new" * 100_000)
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new" * 100_000 and path.stat().st_mode & 0o777 == 0o640


def test_a_writer_appends_and_keeps_what_was_written_before_an_error(tmp_path):
    path = tmp_path / "file"
    for text in (b"one", b"two"):
        with pytest.raises(KeyError), Writer.open(path, append=True, sync=True) as writer:
            writer.write(text)
            raise KeyError
    assert path.read_bytes() == b"onetwo"
    with Writer(path) as writer:
        writer.write(b"gone")
        writer.discard()
    assert path.read_bytes() == b""


def test_an_object_that_fails_to_write_gets_the_same_bytes_later():
    class Fails(io.BytesIO):
        fails = True

        def write(self, data):
            if self.fails:
                raise OSError(28, "no space")
            return super().write(data[:1000])

    target = Fails()
    writer = Writer(target)
    writer.write(b"x" * 5000)
    with pytest.raises(OSError, match="no space"):
        writer.close()
    assert not writer.closed
    target.fails = False
    writer.close()
    assert target.getvalue() == b"x" * 5000


def test_a_forked_child_leaves_what_the_parent_gathered_alone(tmp_path):
    program = """
import os, sys, warnings, bytewright
warnings.simplefilter("ignore")
writer = bytewright.Writer(sys.argv[1])
writer.write(b"once")
child = os.fork()
if child == 0:
    try:
        writer.write(b"twice")
        writer.flush()
    except bytewright.ClosedError:
        os._exit(0 if not os.path.getsize(sys.argv[1]) else 2)
    os._exit(1)
print(os.waitpid(child, 0)[1])
writer.close()
"""
    path = tmp_path / "output.bin"
    told = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
    assert told.stdout == "0\n", told
    assert path.read_bytes() == b"once"


@pytest.mark.parametrize("length", [0, 1, 1000, 8 << 10, 100_000, 5_000_000])
def test_memory_of_others_is_filled_as_far_as_the_input_goes(length, tmp_path):
    content = random.Random(length).randbytes(3_000_000)
    path = tmp_path / "input.bin"
    path.write_bytes(content)
    (tmp_path / "input.bin.gz").write_bytes(gzip.compress(content, 1))
    for source in (path, tmp_path / "input.bin.gz", io.BytesIO(content), content):
        memory = array.array("d", bytes(length // 8 * 8))
        with Reader(source) as reader:
            head = bytearray(3)
            assert reader.readinto(head) == 3 and head == content[:3]
            view = memoryview(memory)
            count = reader.readinto(view)
            assert count == min(len(view) * 8, len(content) - 3) == reader.tell() - 3
            assert memory.tobytes()[:count] == content[3 : 3 + count]
            view.release()
            memory.append(1.0)  # nothing of ours pins it any more
            assert reader.read(5) == content[3 + count : 8 + count]


def test_memory_stays_where_it_is_while_it_is_filled():
    class Resizing:
        content = b"ab"

        def read(self, _count):
            with pytest.raises(BufferError):
                memory.append(1)
            content, self.content = self.content, b""
            return content

    memory = bytearray(100)
    assert Reader(Resizing()).readinto(memory) == 2 and memory[:3] == b"ab\0"
    memory.append(1)


def test_memory_that_cannot_be_filled_is_refused_and_a_failure_takes_nothing():
    reader = Reader(b"abcdef")
    for wrong, told in ((b"abc", "can be written to"), (memoryview(b"abc"), "can be written to"), (memoryview(bytearray(9))[::2], "contiguous")):
        with pytest.raises((TypeError, BufferError), match=told):
            reader.readinto(wrong)
    assert reader.read(6) == b"abcdef"

    class Failing:
        pieces = [b"abc", ZeroDivisionError(), b"def", b""]

        def read(self, _count):
            piece = self.pieces.pop(0)
            if isinstance(piece, bytes):
                return piece
            raise piece

    reader = Reader(Failing())
    with pytest.raises(ZeroDivisionError):
        reader.readinto(bytearray(6))
    memory = bytearray(6)
    assert reader.tell() == 0 and reader.readinto(memory) == 6 and memory == b"abcdef"


def test_raising_ten_thousand_times_takes_no_memory():
    import tracemalloc

    def raise_often(count):
        for _ in range(count):
            reader = Reader(b"abc")
            for use in (reader.u64be, lambda: list(reader.iter_unpack("a2")), lambda: reader.unpack_records("a2")):
                with pytest.raises(bytewright.TruncatedError):
                    use()
            with pytest.raises(OverflowError):
                Writer(io.BytesIO()).u8(300)

    raise_often(100)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    raise_often(2500)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000
