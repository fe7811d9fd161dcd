"""Goal: flows of many captures that Spark's workers sum up are those that the command merges into a table, also when a worker is lost
in the middle of a capture.

Method: 40 made and real captures; the tables compared entry by entry; an executor that is killed with SIGKILL when a marker says that
Spark has taken the first batch of a capture from a task of it, which waits with the others.
"""

import os
import pathlib
import subprocess
import sys

import pytest
from opened import Opened
from test_source import command, in_order, plain

import bytewright
import bytewright.spark


def entries(path):
    with bytewright.TreeTable.open(path, text=False, read_only=True) as table:
        return dict(table.items())


@pytest.fixture(scope="module")
def expected(paths, tmp_path_factory):
    """The table that the command makes of the captures."""
    table = tmp_path_factory.mktemp("expected") / "week.bwt"
    subprocess.run([sys.executable, "-m", "bytewright", "flows", *paths, "--into", table], capture_output=True)
    return table


def test_flows_are_those_that_the_command_merges(spark, paths, expected):
    found = [plain(row) for row in bytewright.spark.flows(spark, paths).collect()]
    stored, _ = command("flows", "--from", expected)
    assert in_order(found) == in_order(stored) and len(found) > 300


def test_a_table_that_is_written_is_that_of_the_command(spark, paths, expected, tmp_path):
    flows = bytewright.spark.flows(spark, paths)
    table = tmp_path / "week.bwt"
    count = bytewright.spark.write_table(flows, table)
    assert entries(table) == entries(expected) and count == flows.count()
    again = bytewright.flows(paths[0], into=table)
    assert again[0]["added"] is False
    with pytest.raises(FileExistsError):
        bytewright.spark.write_table(flows, table)
    with pytest.raises(bytewright.ArgumentError, match="df.write.parquet"):
        bytewright.spark.write_table(flows.where("packets > 3"), tmp_path / "some.bwt")


def test_equal_captures_count_once_and_damage_is_told(spark, paths):
    told = {row.file: row for row in bytewright.spark.flows(spark, paths).captures.collect()}
    assert list(told) == paths
    assert told[paths[0]].content_id == told[paths[1]].content_id is not None
    assert [path for path in paths if told[path].text] == [paths[2], paths[3]]
    assert told[paths[3]].content_id is None
    twice = bytewright.spark.flows(spark, paths[:2])
    assert in_order(map(plain, twice.collect())) == in_order(command("flows", paths[0])[0])


def test_options_are_those_of_flows(spark, paths):
    found = bytewright.spark.flows(spark, paths[0], filter="tcp", idle_timeout=0.01).collect()
    assert len(found) > 0 and {row.proto for row in found} == {6}


def test_each_capture_is_read_once(spark, paths, tmp_path):
    opened = Opened(paths[:8])
    frame = spark.read.format("bytewright").option("rows", "entries").load(paths[:8])
    bytewright.spark.count_into(tmp_path / "week.bwt")(frame, 0)
    assert opened.counts() == dict.fromkeys(paths[:8], 1)
    assert len(bytewright.spark.flows(spark, paths[:8]).captures.collect()) == 8
    assert opened.counts() == dict.fromkeys(paths[:8], 1)


def partitions(frame):
    return frame.rdd.getNumPartitions()


def test_a_task_merges_eight_captures_but_where_the_session_says_how_many(spark, paths, expected):
    assert len(paths) == 40 and partitions(bytewright.spark.flows(spark, paths, split_bytes="65536")) == 5
    # Two tasks read all of them.
    assert partitions(bytewright.spark.flows(spark, paths)) == 2
    assert partitions(bytewright.spark.flows(spark, paths[0])) == 2
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    try:
        flows = bytewright.spark.flows(spark, paths)
        assert partitions(flows) == 3
        assert in_order(map(plain, flows.collect())) == in_order(command("flows", "--from", expected)[0])
    finally:
        spark.conf.unset("spark.sql.shuffle.partitions")
        spark.conf.unset("spark.sql.adaptive.enabled")


def test_a_path_that_is_none_is_an_error_before_the_job_begins(spark, tmp_path):
    with pytest.raises(FileNotFoundError, match="no file matches"):
        bytewright.spark.flows(spark, f"{tmp_path}/*.pcap")


@pytest.mark.parametrize("run", range(20 if os.environ.get("HEAVY") else 1))
def test_an_executor_that_is_killed_in_the_middle_of_a_capture_changes_nothing(run, paths, expected, tmp_path):
    table = tmp_path / "week.bwt"
    program = pathlib.Path(__file__).parent / "killed.py"
    done = subprocess.run([sys.executable, program, tmp_path, table, *paths], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "killed executor" in done.stdout
    assert entries(table) == entries(expected)
