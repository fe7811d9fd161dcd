"""Sums up captures in a cluster of two executors, and kills one of them when Spark has taken some rows of a capture from a task of
it, and not all: killed.py FOLDER TABLE CAPTURE..."""

import os
import pathlib
import signal
import sys
import threading
import time

from conftest import session

import bytewright.spark
from bytewright.spark._source import CaptureSource, Reader
from bytewright.spark._totals import merged

FOLDER, TABLE, *CAPTURES = sys.argv[1:]
MARKER = pathlib.Path(FOLDER) / "reading"
KILLED = pathlib.Path(FOLDER) / "killed"
AGAIN = pathlib.Path(FOLDER) / "again"


class MarkingReader(Reader):
    """Gives a capture in small batches. Between the first and the second batch of one capture it says in a file which executor reads,
    and waits until that one was killed."""

    def read(self, partition):
        import bytewright.spark._rows
        import bytewright.spark._tasks

        bytewright.spark._rows.ROWS = bytewright.spark._tasks.ROWS = 8
        batches = iter(super().read(partition))
        if partition.captures[0].place == MARKED:
            first, second = next(batches), next(batches)
            yield first
            # Spark asks for more: it has taken the first batch.
            _mark_and_wait()
            yield second
        yield from batches


class MarkingSource(CaptureSource):
    def reader(self, schema):
        from bytewright.spark._options import Options

        return MarkingReader(Options(self.options), schema)


#: The first capture has more than two batches of flows.
MARKED, MARKER_PATH, KILLED_PATH, AGAIN_PATH = 0, str(MARKER), str(KILLED), str(AGAIN)


def _mark_and_wait():
    """The first time only: the task that does the same again finds the marker, says so in a file, and goes on."""
    try:
        with open(MARKER_PATH, "x") as marker:
            marker.write(str(_executor()))
    except FileExistsError:
        pathlib.Path(AGAIN_PATH).touch()
        return
    while not os.path.exists(KILLED_PATH):
        time.sleep(0.05)


def _executor():
    """The Java process that this worker works for."""
    import os

    process = os.getpid()
    while True:
        with open(f"/proc/{process}/stat") as stat:
            parent = int(stat.read().rsplit(")", 1)[1].split()[1])
        with open(f"/proc/{parent}/comm") as comm:
            if comm.read().strip() == "java":
                return parent
        process = parent


def kill():
    while not MARKER.exists() or not MARKER.read_text():
        time.sleep(0.05)
    executor = int(MARKER.read_text())
    command = pathlib.Path(f"/proc/{executor}/cmdline").read_bytes()
    assert b"CoarseGrainedExecutorBackend" in command, command
    os.kill(executor, signal.SIGKILL)
    print("killed executor", executor, flush=True)
    KILLED.touch()


spark = session("local-cluster[2,1,1024]", **{"spark.executor.memory": "1g", "spark.task.maxFailures": "8"})
spark.dataSource.register(MarkingSource)
killer = threading.Thread(target=kill, daemon=True)
killer.start()
entries = spark.read.format("bytewright").option("rows", "entries").load(CAPTURES)
bytewright.spark.write_table(merged(entries), TABLE)
killer.join(5)
assert AGAIN.exists(), "expected the task of the executor that was killed to be done again"
spark.stop()
