"""Goal: what a worker needs does not grow with a capture.

Method: a capture whose packets are the same million bytes over and over, compressed once, and the peak of the workers' memory when
Spark has read it: of 200 MB, and with HEAVY=1 of 2 GB.
"""

import gzip
import os
import pathlib
import random

import captures
import pytest
from pyspark.sql import functions

SIZE = 2_000_000_000 if os.environ.get("HEAVY") else 200_000_000

#: What docs/guides/spark.md states.
WORKER_BYTES_MAX = 256 * 1024 * 1024

HEADER_BYTES = 24


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    whole = captures.pcap(random.Random(7), 20_000)
    header, packets = whole[:HEADER_BYTES], whole[HEADER_BYTES:]
    path = tmp_path_factory.mktemp("large") / "large.pcap.gz"
    member = gzip.compress(packets)
    count = SIZE // len(packets)
    with open(path, "wb") as file:
        file.write(gzip.compress(header))
        for _ in range(count):
            file.write(member)
    return str(path), 20_000 * count


def peaks():
    """The most memory that each Python worker of this session had, in bytes."""
    parents, workers = {}, []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = dict(line.split(":\t", 1) for line in (entry / "status").read_text().splitlines() if ":\t" in line)
                parents[entry.name] = status["PPid"].strip()
                if b"pyspark.daemon" in (entry / "cmdline").read_bytes():
                    workers.append((entry.name, int(status["VmHWM"].split()[0]) * 1024))
            except (FileNotFoundError, ProcessLookupError, KeyError):
                # It has ended meanwhile.
                continue
    return [peak for pid, peak in workers if _is_below(pid, str(os.getpid()), parents)]


def _is_below(pid, ancestor, parents):
    while pid in parents and pid != ancestor:
        pid = parents[pid]
    return pid == ancestor


@pytest.mark.parametrize("rows", ["packets", "entries"])
def test_a_worker_reads_a_capture_of_any_size_in_bounded_memory(spark, large, rows):
    path, packets = large
    read = spark.read.format("bytewright").option("rows", rows).load(path)
    if rows == "packets":
        assert read.agg(functions.sum("length"), functions.count("length")).first()[1] == packets
    else:
        assert read.count() > 100
    found = peaks()
    assert found and max(found) < WORKER_BYTES_MAX, [f"{peak / 1e6:.0f} MB" for peak in found]
    print(f"{rows}: {SIZE / 1e6:.0f} MB, the largest worker had {max(found) / 1e6:.0f} MB")
