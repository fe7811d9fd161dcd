"""Goal: a lazy frame of Thrift messages has the columns of `bytewright.thrift.columns`, whatever a query wants of it.

Method: random queries over messages of random schemas, compared with the same query over a frame that has all; the seed is in the
failure. What a query does not want is damaged, where a reader of it would fail.
"""

import gzip
import os
import pathlib
import random
import signal
import subprocess
import sys

import polars
import pytest
import thrift_messages
from thrift_schemas import Schema

import bytewright
from bytewright import thrift
from bytewright.polars import scan_thrift

LOG = """
    struct Tag { 1: string name, 2: i32 size }
    struct Log { 1: i64 time, 2: list<Tag> tags, 3: map<string, i32> counts, 4: Tag tag, 5: string host }
"""
LOGS = thrift.load(LOG)


def log(time):
    tags = [LOGS.Tag(name=f"t{number}", size=number) for number in range(time % 4)]
    return LOGS.Log(time=time, tags=tags, counts={"a": time}, tag=LOGS.Tag(name="x", size=time), host=f"h{time % 3}")


def framed(times, protocol="binary"):
    return thrift_messages.framed([thrift.encode(log(time), protocol) for time in times])


@pytest.mark.parametrize("seed", range(60))
def test_random_queries_give_what_a_frame_that_has_all_gives(seed, tmp_path):
    dice = random.Random(seed)
    schema, protocol, is_framed = Schema(dice), dice.choice(["binary", "compact"]), dice.randrange(2) == 1
    made = thrift.load(schema.idl)
    messages = [thrift.encode(schema.value(dice, schema.root, made), protocol) for _ in range(30)]
    (tmp_path / "messages").write_bytes(thrift_messages.framed(messages) if is_framed else b"".join(messages))
    options = {"protocol": protocol, "framed": is_framed}
    arguments = (tmp_path / "messages", getattr(made, schema.root))
    lazy = scan_thrift(*arguments, **options)
    every = polars.DataFrame(thrift.columns(*reversed(arguments), **options))
    assert lazy.collect_schema() == every.schema, seed
    names = dice.sample(every.columns, dice.randrange(1, len(every.columns) + 1))
    predicate = polars.col(dice.choice(every.columns)).is_null()
    for query in (
        lambda frame: frame,
        lambda frame: frame.select(names),
        lambda frame: frame.filter(predicate).select(names),
        lambda frame: frame.head(7).filter(~predicate).select(names),
        lambda frame: frame.select(polars.len()),
    ):
        assert query(lazy).collect().equals(query(every.lazy()).collect()), (seed, names, schema.idl)


def test_a_query_without_the_path_of_the_rows_has_the_rows():
    lazy = scan_thrift(framed(range(20)), LOGS.Log, "time", "tags[].*", "counts")
    assert lazy.collect_schema().names() == ["time", "tags[].name", "tags[].size", "counts"]
    times = [time for time in range(20) for _ in range(time % 4)]
    assert lazy.select("time").collect()["time"].to_list() == times
    assert lazy.select(polars.len()).collect().item() == len(times)
    assert lazy.filter(polars.col("tags[].size") == 2).select("time").collect()["time"].to_list() == [3, 7, 11, 15, 19]


@pytest.mark.parametrize("protocol", ["binary", "compact"])
def test_what_a_query_does_not_want_is_not_decoded(protocol):
    message = thrift.encode(log(7), protocol)
    # The count of the list of tags is more than there is.
    before = thrift.encode(LOGS.Log(time=7), protocol)[:-1]
    damaged = before + (b"\x0f\0\x02\x0c\x7f\xff\xff\xff" if protocol == "binary" else b"\x19\xfc\xff\xff\xff\xff\x07")
    lazy = scan_thrift(thrift_messages.framed([message, damaged]), LOGS.Log, protocol=protocol)
    assert lazy.select("time").collect()["time"].to_list() == [7, 7]
    with pytest.raises((bytewright.Error, polars.exceptions.ComputeError), match="in tags"):
        lazy.select("tags").collect()


def test_patterns_and_lists_name_files_and_bytes(tmp_path):
    for place in range(3):
        (tmp_path / f"{place}.bin.gz").write_bytes(gzip.compress(framed(range(place * 10, place * 10 + 10))))
    frame = scan_thrift([str(tmp_path / "*.bin.gz"), framed([77])], LOGS.Log)
    expected = [*range(30), 77]
    assert frame.select("time").collect()["time"].to_list() == expected
    assert frame.head(12).collect()["time"].to_list() == expected[:12]
    assert frame.group_by("host").len().collect()["len"].sum() == 31 == frame.select(polars.len()).collect().item()
    with pytest.raises((FileNotFoundError, polars.exceptions.ComputeError), match="no file matches"):
        scan_thrift(str(tmp_path / "*.none"), LOGS.Log).collect()


def test_more_columns_than_a_call_can_name_are_read():
    made = thrift.load("struct Wide {" + ", ".join(f"{id}: i32 f{id}" for id in range(1, 101)) + "}")
    data = thrift_messages.framed([thrift.encode(made.Wide(**{f"f{id}": id for id in range(1, 101)}))] * 3)
    lazy = scan_thrift(data, made.Wide)
    assert lazy.collect().row(0) == tuple(range(1, 101))
    assert lazy.select([f"f{id}" for id in range(100, 20, -1)]).collect().row(2) == tuple(range(100, 20, -1))
    assert lazy.select("f7").collect().rows() == [(7,)] * 3


def test_a_path_that_there_is_not_is_refused_before_the_query():
    with pytest.raises(bytewright.ArgumentError, match="tags"):
        scan_thrift("no such file", LOGS.Log, "tagz")
    with pytest.raises(bytewright.ArgumentError, match="protocol"):
        scan_thrift("no such file", LOGS.Log, protocol="xml")


def test_files_are_read_in_batches_and_only_as_far_as_a_query_needs(tmp_path):
    # Damage behind what is wanted is never reached.
    (tmp_path / "cut").write_bytes(framed(range(100_000))[:-1])
    lazy = scan_thrift(tmp_path / "cut", LOGS.Log)
    assert lazy.select("time").head(1000).collect().height == 1000
    with pytest.raises((bytewright.TruncatedError, polars.exceptions.ComputeError), match="before the input ends"):
        lazy.select("time").collect()


INTERRUPTED = """
import time

import bytewright.polars
from bytewright import thrift

print("begun", flush=True)
try:
    try:
        bytewright.polars.scan_thrift("/dev/fd/{descriptor}", thrift.load({idl!r}).Log).collect()
    except Exception:
        # An error of the library comes first.
        time.sleep(0)
except KeyboardInterrupt:
    try:
        print("raised", flush=True)
    except KeyboardInterrupt:
        print("raised", flush=True)
"""

#: Bytes that go into a pipe before Ctrl-C, and at most behind it.
PIECE, PIECES_BEFORE, PIECES_MAX = framed(range(2000)), 20, 3000


def test_ctrl_c_ends_a_query():
    read, write = os.pipe()
    program = INTERRUPTED.format(descriptor=read, idl=LOG)
    folder = str(pathlib.Path(bytewright.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": folder}
    child = subprocess.Popen([sys.executable, "-c", program], pass_fds=[read], text=True, stdout=subprocess.PIPE, env=environment)
    os.close(read)
    assert child.stdout.readline() == "begun\n"
    taken = 0
    try:
        for taken in range(PIECES_BEFORE + PIECES_MAX):
            if taken == PIECES_BEFORE:
                child.send_signal(signal.SIGINT)
            os.write(write, PIECE)
    except BrokenPipeError:
        pass
    os.close(write)
    said, _ = child.communicate(timeout=120)
    assert said == "raised\n" and taken < PIECES_MAX // 3, (taken, said)
