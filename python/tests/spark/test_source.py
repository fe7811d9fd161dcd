"""Goal: the rows that Spark has of captures are those of the command, value by value, wherever a capture is and however it is damaged.

Method: 40 made and real captures, read by Spark and by the command; random conditions over frames with and without push-down; the
seed is in the failure.
"""

import datetime
import json
import os
import random
import subprocess
import sys

import captures
import fsspec
import pytest
import random_frames
from pyspark.errors import PySparkException
from pyspark.sql import functions

import bytewright
import bytewright.spark

EPOCH = datetime.datetime(1970, 1, 1)
SETTING = "spark.sql.python.filterPushdown.enabled"
FIELDS = [field[0] for field in bytewright._bytewright.schema_of("packets")]


def command(*arguments):
    """The rows that the command prints, and its exit code."""
    done = subprocess.run([sys.executable, "-m", "bytewright", *arguments, "--json"], capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def plain(row):
    """A row of Spark's with the values that the command prints."""
    values = row.asDict()
    nanos = values.pop("ts_nanos", None)
    for name, value in values.items():
        if isinstance(value, datetime.datetime):
            values[name] = (value - EPOCH) // datetime.timedelta(microseconds=1) * 1000 + nanos
        elif isinstance(value, datetime.timedelta):
            values[name] = value // datetime.timedelta(microseconds=1)
    return values


def read(spark, paths, **options):
    return spark.read.format("bytewright").options(**options).load(paths)


def in_order(rows):
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def test_packets_are_those_of_the_command(spark, paths):
    columns = ",".join(["ts", "ts_nanos", *FIELDS[1:], "file"])
    by_file = {}
    for row in read(spark, paths, rows="packets", columns=columns).collect():
        values = plain(row)
        by_file.setdefault(values.pop("file"), []).append(values)
    for path in paths:
        expected, _ = command("packets", path, "--fields", ",".join(FIELDS))
        assert by_file.get(path, []) == expected, path


@pytest.mark.parametrize("rows,arguments", [("flows", ["flows"]), ("calls", ["rpc", "--calls"])])
def test_flows_and_calls_of_each_capture_are_those_of_the_command(spark, paths, rows, arguments):
    expected = [row for path in paths for row in command(*arguments, path)[0]]
    found = [plain(row) for row in read(spark, paths, rows=rows).collect()]
    assert in_order(found) == in_order(expected) and len(found) > 0


def test_a_damaged_capture_gives_what_is_before_the_damage_and_a_row_about_it(spark, paths):
    cut, none = paths[2], paths[3]
    assert read(spark, [cut, none]).count() == 199
    by_file = {row.file: row for row in read(spark, paths, rows="damage").collect()}
    assert set(by_file) == {cut, none}
    with pytest.raises(bytewright.TruncatedError) as raised:
        list(bytewright.Capture(cut))
    assert by_file[cut].offset == raised.value.offset and by_file[cut].text == str(raised.value)


def test_failfast_fails_where_a_capture_is_damaged(spark, paths):
    for rows in ("packets", "flows", "entries"):
        with pytest.raises(PySparkException, match="TruncatedError"):
            read(spark, paths[2], rows=rows, mode="failfast").count()
    assert read(spark, paths[0], mode="failfast").count() == 300


def test_patterns_folders_and_lists_name_captures(spark, paths, tmp_path):
    for number, path in enumerate(paths[:2]):
        (tmp_path / f"{number}.pcap{'.gz' if path.endswith('gz') else ''}").symlink_to(path)
    (tmp_path / ".hidden").write_text("no capture")
    (tmp_path / "2.pcap.part").write_text("no capture")
    for named, count in [(tmp_path, 600), (tmp_path / "*.gz", 300), (f"file://{tmp_path}/0.pcap", 300)]:
        assert read(spark, str(named)).count() == count
    assert read(spark, [str(tmp_path / "0.pcap"), str(tmp_path)]).count() == 900
    with pytest.raises(PySparkException, match="no file matches"):
        read(spark, str(tmp_path / "none*")).count()


def test_captures_are_read_from_file_systems_of_fsspec(spark, paths, tmp_path):
    # Local behind a name of fsspec's, because workers share no memory.
    system = fsspec.filesystem("local")
    system.put(paths[1], str(tmp_path / "0.pcap.gz"))
    for named in (f"local://{tmp_path}/0.pcap.gz", f"local://{tmp_path}/*.gz", f"local://{tmp_path}", f"simplecache::file://{tmp_path}/0.pcap.gz"):
        assert read(spark, named).count() == 300, named
    assert read(spark, f"local://{tmp_path}", rows="entries").where("key is null").count() == 0


def test_captures_are_tables_of_the_catalog(spark, paths):
    spark.sql(f"CREATE TABLE by_option USING bytewright OPTIONS (path '{paths[0]}', columns 'ts,file')")
    spark.sql(f"CREATE TABLE by_location USING bytewright OPTIONS (rows 'flows') LOCATION '{paths[0]}'")
    spark.catalog.createTable("by_catalog", path=paths[0], source="bytewright")
    try:
        assert spark.table("by_option").count() == spark.table("by_catalog").count() == 300
        assert spark.table("by_option").columns == ["ts", "file"]
        assert spark.table("by_location").count() == read(spark, paths[0], rows="flows").count()
    finally:
        for name in ("by_option", "by_location", "by_catalog"):
            spark.sql(f"DROP TABLE IF EXISTS {name}")


def random_condition(chance, rows, depth=2):
    if depth and chance.random() < 0.6:
        one, two = random_condition(chance, rows, depth - 1), random_condition(chance, rows, depth - 1)
        return chance.choice([one & two, one & two, one | two, ~one & two])
    name = chance.choice(["src_port", "dst_port", "proto", "src_ip", "dst_ip", "ts", "length"])
    column, value = functions.col(name), chance.choice(rows)[name]
    if value is None:
        return chance.choice([column.isNull(), column.isNotNull()])
    more = [column > value, column >= value, column < value, column <= value]
    return chance.choice([column == value, column.isin([value]), column.eqNullSafe(value), *([] if name.endswith("ip") else more)])


@pytest.fixture
def pushing(spark):
    """The session, while Spark hands conditions down."""
    bytewright.spark.register(spark, pushdown=True)
    yield spark
    spark.conf.unset(SETTING)


def test_only_sessions_that_ask_for_it_hand_conditions_down(spark, paths):
    before = spark.conf.get(SETTING)
    bytewright.spark.register(spark)
    bytewright.spark.flows(spark, paths[0])
    assert spark.conf.get(SETTING) == before == "false"
    with pytest.raises(PySparkException, match=SETTING):
        read(spark, paths[0], pushdown="true").where("dst_port = 80").count()


def test_random_conditions_give_the_same_rows_with_and_without_pushing_down(pushing, paths):
    spark = pushing
    some = [paths[0], *paths[4:14]]
    every = read(spark, some).cache()
    rows = every.collect()
    for seed in range(12):
        condition = random_condition(random.Random(seed), rows)
        found, expected = (frame.where(condition).collect() for frame in (read(spark, some, pushdown="true"), every))
        assert sorted(map(str, found)) == sorted(map(str, expected)), (seed, str(condition))
    every.unpersist()


@pytest.mark.parametrize("condition,is_all", [
    ("ts > timestamp'9999-12-30'", False), ("ts = timestamp'9999-12-30'", False), ("ts < timestamp'0001-01-02'", False),
    ("ts < timestamp'9999-12-30'", True), ("ts >= timestamp'0001-01-02'", True),
])  # fmt: skip
def test_times_that_no_packet_can_have_are_compared_as_all_others(pushing, paths, condition, is_all):
    frames = [read(pushing, paths[0], pushdown=pushdown).where(condition) for pushdown in ("true", "false")]
    assert [frame.count() for frame in frames] == [300 * is_all] * 2


@pytest.mark.parametrize("is_some_first", [True, False])
def test_a_data_frame_that_is_used_twice_has_all_rows_each_time(spark, paths, is_some_first):
    packets = read(spark, paths[0])
    frames = {"some": packets.where("dst_port = 80"), "all": packets}
    counts = {name: frames[name].count() for name in sorted(frames, reverse=is_some_first)}
    assert 0 < counts["some"] < counts["all"] == 300


def test_one_flow_of_captures_is_read(spark, paths):
    flow = max(command("flows", paths[0])[0], key=lambda row: row["packets"])
    assert read(spark, paths[0], flow=flow["community_id"]).count() == flow["packets"]


def test_what_the_core_can_tell_is_pushed_down(spark):
    from pyspark.sql.datasource import EqualNullSafe, EqualTo, GreaterThan, In, IsNotNull, IsNull, LessThanOrEqual, Not

    from bytewright.spark._filters import condition as pushed

    port, address = EqualTo(("dst_port",), 80), In(("src_ip",), ("10.0.0.1", "fd00::1", None))
    assert pushed([port, GreaterThan(("length",), 9)]) == "dst_port == 80 and length > 9"
    assert pushed([Not(port), address]) == "dst_port != 80 and src_ip in (10.0.0.1, fd00::1)"
    assert pushed([Not(address)]) == "not src_ip in (10.0.0.1, fd00::1)"
    assert pushed([IsNull(("vlan",)), IsNotNull(("ts",)), Not(IsNull(("ttl",)))]) == "vlan is null and ts is not null and ttl is not null"
    assert pushed([EqualNullSafe(("vlan",), 5)]) == "vlan == 5"
    assert pushed([Not(EqualNullSafe(("vlan",), 5))]) == "vlan != 5 or vlan is null"
    second = datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc)
    later = second + datetime.timedelta(seconds=1)
    # To the microsecond.
    assert pushed([EqualTo(("ts",), second)]) == "ts >= 1000000000ns and ts <= 1000000999ns"
    assert pushed([GreaterThan(("ts",), second), LessThanOrEqual(("ts",), later)]) == "ts >= 1000000000ns and ts <= 2000000999ns"
    # Of no packet's year, because the core has nanoseconds in 64 bits.
    assert pushed([GreaterThan(("ts",), second.replace(year=9999))]) == f"ts >= {2**63 - 1}ns"
    # Times without a zone, columns that only Spark has, null, text for a number.
    nothing = [EqualTo(("ts",), second.replace(tzinfo=None)), EqualTo(("file",), "a"), EqualNullSafe(("vlan",), None), EqualTo(("vlan",), "5")]
    assert pushed(nothing) is None


@pytest.mark.parametrize("seed", range(12))
def test_random_conditions_over_random_frames_give_the_same_rows_with_and_without_pushing_down(pushing, tmp_path, seed):
    chance, columns = random.Random(seed), ",".join(["ts", "ts_nanos", *FIELDS[1:]])
    for number in range(4):
        (tmp_path / f"{number}.pcapng").write_bytes(random_frames.capture(chance, 150))
    every = read(pushing, str(tmp_path), columns=columns).cache()
    rows = every.collect()
    for _ in range(10):
        condition = random_condition(chance, rows)
        found, expected = (frame.where(condition).collect() for frame in (read(pushing, str(tmp_path), columns=columns, pushdown="true"), every))
        assert sorted(map(str, found)) == sorted(map(str, expected)), (seed, str(condition))
    every.unpersist()


def test_a_large_plain_capture_is_read_in_parts(spark, tmp_path):
    chance = random.Random(int(os.environ.get("BYTEWRIGHT_SEED", "21")))
    data = captures.pcap(chance, 9_000)
    (tmp_path / "whole.pcap").write_bytes(data)
    (tmp_path / "cut.pcap").write_bytes(data[:-7])
    columns = ",".join(["number", "ts", "ts_nanos", "src_ip", "src_port", "length", "file"])
    for path in map(str, sorted(tmp_path.iterdir())):
        whole, split = (read(spark, path, columns=columns, split_bytes=bytes) for bytes in ("1000000000", "100000"))
        assert whole.rdd.getNumPartitions() == 1 and 5 < split.rdd.getNumPartitions() <= len(data) // 100_000 + 1
        assert in_order(map(plain, split.collect())) == in_order(map(plain, whole.collect()))
        # Rows that go on from part to part are not split.
        assert read(spark, path, rows="flows", split_bytes="100000").rdd.getNumPartitions() == 1
        assert read(spark, path, rows="damage", split_bytes="100000").count() == ("cut" in path)
    with pytest.raises(PySparkException, match="TruncatedError"):
        read(spark, str(tmp_path / "cut.pcap"), mode="failfast", split_bytes="100000").count()


def test_packets_outside_of_the_times_of_a_query_do_not_reach_spark(spark, paths):
    from pyspark.sql.datasource import GreaterThan

    from bytewright.spark._capture import Capture, Task
    from bytewright.spark._options import Options
    from bytewright.spark._source import PushingReader

    times = sorted(packet.ts for packet in bytewright.Capture(paths[0]))
    middle = EPOCH.replace(tzinfo=datetime.timezone.utc) + datetime.timedelta(microseconds=times[len(times) // 2] // 1000)
    options = {"columns": "ts", "pushdown": "true"}
    reader = PushingReader(Options(options), read(spark, paths[0], **options).schema)
    condition = GreaterThan(("ts",), middle)
    assert reader.pushFilters([condition]) == [condition]
    rows = sum(len(batch) for batch in reader.read(Task([Capture(0, paths[0])])))
    assert rows == sum(ts >= times[len(times) // 2] // 1000 * 1000 for ts in times) < len(times)


@pytest.mark.parametrize("options,message", [
    ({"rows": "frames"}, "expected rows to be packets, flows, calls, messages, damage or entries, found frames"),
    ({"mode": "x"}, "expected mode to be permissive or failfast, found x"),
    ({"colums": "ts"}, "expected an option .*pathGlobFilter.*, found colums; did you mean columns"),
    ({"pathGlobFiltre": "*"}, "did you mean pathGlobFilter"),
    ({"modifiedAfter": "yesterday"}, "expected modifiedAfter to be a time, such as .*, found yesterday"),
    ({"modifiedAfter": "2026-01-01", "timeZone": "Mars/Base"}, "expected timeZone to be a zone of this system"),
    ({"mode": "failfast", "ignoreCorruptFiles": "true"}, "expected mode or ignoreCorruptFiles"),
    ({"recursiveFileLookup": "maybe"}, "expected recursiveFileLookup to be true or false, found maybe"),
    ({"split_bytes": "many"}, "expected split_bytes to be a number, found many"),
    ({"columns": "src_prot"}, "did you mean src_port"),
    ({"jobs": "many"}, r'expected jobs to be an integer, found \\?"many'),
])  # fmt: skip
def test_wrong_options_are_told(spark, paths, options, message):
    with pytest.raises(PySparkException, match=message):
        read(spark, paths[0], **options).count()
