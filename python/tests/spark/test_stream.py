"""Goal: captures that come into a folder are counted once each, also when the driver is killed in the middle.

Method: a query in a process of its own, killed with SIGKILL while it counts a batch, and started again.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest
from pyspark.errors import PySparkException
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles
from pyspark.sql.types import StructType
from test_totals import entries

import bytewright
from bytewright.spark._options import Options
from bytewright.spark._listing import Found
from bytewright.spark._stream import Offset, StreamReader

PROGRAM = pathlib.Path(__file__).parent / "streaming.py"


def count(spark, folder, rows, **options):
    """Reads what is new in a folder, and says how many rows came by now."""
    stream = spark.readStream.format("bytewright").options(**{"columns": "ts,file", "min_age": "0", **options}).load(str(folder))
    writing = stream.writeStream.format("parquet").trigger(availableNow=True)
    writing.option("checkpointLocation", str(rows) + ".checkpoint").start(str(rows)).awaitTermination()
    return spark.read.parquet(str(rows)).count()


def test_new_captures_of_a_folder_are_read_once(spark, paths, tmp_path):
    folder, rows = tmp_path / "captures", tmp_path / "rows"
    folder.mkdir()
    expected = 0
    for path in paths[:3]:
        (folder / pathlib.Path(path).name).symlink_to(path)
        expected += 199 if "cut" in path else 300
        assert count(spark, folder, rows) == expected
    # Neither a folder that is empty for a while nor a capture that is away makes those new that come back.
    for away in [sorted(folder.iterdir()), [folder / pathlib.Path(paths[0]).name]]:
        for link in away:
            link.rename(tmp_path / link.name)
        assert count(spark, folder, rows) == expected
        for link in away:
            (tmp_path / link.name).rename(link)
        assert count(spark, folder, rows) == expected


def test_a_driver_that_is_killed_and_started_again_counts_each_capture_once(paths, tmp_path):
    folder, table = tmp_path / "captures", tmp_path / "week.bwt"
    folder.mkdir()
    for path in paths[4:8]:
        (folder / pathlib.Path(path).name).symlink_to(path)
    marker = tmp_path / "counted"
    arguments = [sys.executable, PROGRAM, folder, table, tmp_path / "checkpoint", marker]
    first = subprocess.Popen([*arguments, "wait"])
    for _ in range(2400):
        if marker.exists() or first.poll() is not None:
            break
        time.sleep(0.1)
    assert marker.exists() and first.poll() is None, "no batch was under way"
    first.send_signal(signal.SIGKILL)
    first.wait()
    marker.unlink()
    # Captures that were counted and not yet noted in the checkpoint come again.
    for path in paths[8:10]:
        (folder / pathlib.Path(path).name).symlink_to(path)
    # A run that takes what is there now does only the batch again that was not noted; the next one takes the rest.
    for _ in range(2):
        subprocess.run([*arguments, "go"], check=True, timeout=300)
    expected = tmp_path / "expected.bwt"
    bytewright.flows(sorted(map(str, folder.iterdir())), into=expected)
    assert entries(table) == entries(expected)


def reader(folder, **options):
    return StreamReader(Options({"path": str(folder), "min_age": "0", **options}), StructType())


def new(stream, start, end):
    return [pathlib.Path(capture.path).name for task in stream.partitions(start, end) for capture in task.captures]


def test_an_offset_says_what_was_read_and_not_what_is_there(tmp_path):
    stream = reader(tmp_path)
    begin = stream.initialOffset()
    (tmp_path / "a.pcap").write_bytes(b"1")
    first = stream.latestOffset(begin, ReadAllAvailable())
    assert new(stream, begin, first) == ["a.pcap"]
    (tmp_path / "a.pcap").rename(tmp_path / ".a")
    assert stream.latestOffset(first, ReadAllAvailable()) == first
    (tmp_path / "b.pcap").write_bytes(b"2")
    second = stream.latestOffset(first, ReadAllAvailable())
    (tmp_path / ".a").rename(tmp_path / "a.pcap")
    assert new(stream, first, second) == ["b.pcap"] and new(stream, second, second) == []
    assert stream.latestOffset(second, ReadAllAvailable()) == second


def test_a_batch_has_at_most_max_files_captures_the_oldest_first(tmp_path):
    for age, name in enumerate(["c", "b", "a"]):
        (tmp_path / name).write_bytes(b"1")
        os.utime(tmp_path / name, (1_000_000 + age, 1_000_000 + age))
    stream = reader(tmp_path, max_files="2")
    begin = stream.initialOffset()
    first = stream.latestOffset(begin, stream.getDefaultReadLimit())
    second = stream.latestOffset(first, stream.getDefaultReadLimit())
    assert isinstance(stream.getDefaultReadLimit(), ReadMaxFiles)
    assert (new(stream, begin, first), new(stream, first, second)) == (["c", "b"], ["a"])
    # Spark asks for all where a query ends with what is there.
    assert new(stream, begin, stream.latestOffset(begin, ReadAllAvailable())) == ["c", "b", "a"]


def test_an_offset_has_20_bytes_for_each_capture_of_the_last_week():
    offset = Offset()
    for minute in range(20_000):
        capture = Found(f"/captures/of/a/sensor/with/a/long/name/{minute}.pcap.gz", 1_000 + minute, 1_700_000_000 + minute * 60)
        assert offset.new_among([capture], None) == [capture]
        offset = offset.after([capture], 7 * 86_400)
    assert len(offset.read) == 7 * 24 * 60 + 1
    assert len(json.dumps(offset.to_dict())) < 27 * len(offset.read) + 300
    again = Offset.from_dict(offset.to_dict())
    assert (again.read, again.new, again.horizon) == (offset.read, offset.new, offset.horizon)
    # The others are too old for new ones.
    assert again.new_among([Found("/captures/of/a/sensor/with/a/long/name/0.pcap.gz", 1_000, 1_700_000_000)], None) == []


def test_a_capture_that_is_being_written_is_read_when_it_is_whole(spark, paths, tmp_path):
    folder = tmp_path / "captures"
    folder.mkdir()
    shutil.copyfile(paths[0], folder / "now.pcap")
    patient = reader(folder, min_age="60")
    assert patient.latestOffset(patient.initialOffset(), ReadAllAvailable()) == patient.initialOffset()
    assert count(spark, folder, tmp_path / "rows") == 300
    with open(folder / "now.pcap", "ab") as file:
        file.write(bytes(16))
    with pytest.raises(PySparkException, match="expected a capture that stays as it was listed, with [0-9]+ bytes, found [0-9]+ bytes"):
        count(spark, folder, tmp_path / "rows")


def test_a_capture_that_changes_before_its_task_is_not_read(tmp_path):
    (tmp_path / "a.pcap").write_bytes(b"1")
    stream = reader(tmp_path)
    begin = stream.initialOffset()
    (task,) = stream.partitions(begin, stream.latestOffset(begin, ReadAllAvailable()))
    (tmp_path / "a.pcap").write_bytes(b"12")
    with pytest.raises(bytewright.Error, match="with 1 bytes, found 2 bytes; move captures into the folder"):
        list(stream.read(task))


def test_a_checkpoint_of_another_version_is_refused(tmp_path):
    with pytest.raises(bytewright.ArgumentError, match="start the query with a new one"):
        reader(tmp_path).latestOffset({"captures": "[]"}, ReadAllAvailable())
