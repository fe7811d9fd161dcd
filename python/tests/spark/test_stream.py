"""Goal: captures that come into a folder are counted once each, also when the driver is killed in the middle.

Method: a query in a process of its own, killed with SIGKILL while it counts a batch, and started again.
"""

import pathlib
import signal
import subprocess
import sys
import time

from test_totals import entries

import bytewright

PROGRAM = pathlib.Path(__file__).parent / "streaming.py"


def test_new_captures_of_a_folder_are_read_once(spark, paths, tmp_path):
    folder, rows = tmp_path / "captures", tmp_path / "rows"
    folder.mkdir()
    stream = spark.readStream.format("bytewright").option("columns", "ts,file").load(str(folder))
    expected = 0
    for path in paths[:3]:
        (folder / pathlib.Path(path).name).symlink_to(path)
        expected += 199 if "cut" in path else 300
        writing = stream.writeStream.format("parquet").trigger(availableNow=True)
        writing.option("checkpointLocation", str(tmp_path / "checkpoint")).start(str(rows)).awaitTermination()
        assert spark.read.parquet(str(rows)).count() == expected


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
    # What was counted and not yet noted in the checkpoint comes again.
    for path in paths[8:10]:
        (folder / pathlib.Path(path).name).symlink_to(path)
    # A run that takes what is there now does only the batch again that was not noted; the next one takes the rest.
    for _ in range(2):
        subprocess.run([*arguments, "go"], check=True, timeout=300)
    expected = tmp_path / "expected.bwt"
    bytewright.flows(sorted(map(str, folder.iterdir())), into=expected)
    assert entries(table) == entries(expected)
