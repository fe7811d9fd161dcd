"""Questions about a folder of captures on Spark, and how they are measured: each program answers again and again until
Spark is warm, and then once more, which is timed. The sides are ours/spark.py and peers/spark_dpkt.py.
"""

import json
import os
import sys
import time

# Spark would run the python3 that it finds first, and workers import what stands beside these programs.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)

import captures  # noqa: E402
from pyspark.sql import SparkSession, functions  # noqa: E402

#: Java compiles what runs often, and has done most of it after so many passes, or seconds where a pass takes long.
WARM_UP_PASSES = 6
WARM_UP_S = 20

COLUMNS = ("ts", "src_ip", "dst_ip", "src_port", "dst_port", "proto", "length")


def session(cores):
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
    # Over TCP, the end of a task of Python's waits up to 40 ms for an acknowledgement that the JVM delays. docs/guides/spark.md tells
    # users, too.
    builder = builder.config("spark.python.unix.domain.socket.enabled", "true")
    # Counts of bytes are those of the last task at once.
    builder = builder.config("spark.ui.liveUpdate.period", "0")
    spark = builder.config("spark.ui.showConsoleProgress", "false").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def main(answer, cores, folder):
    """Prints what `answer(spark, folder)` says, and what it took when Spark was warm."""
    spark = session(cores)
    start = time.perf_counter()
    first = answer(spark, folder)
    for _ in range(1, WARM_UP_PASSES):
        if time.perf_counter() - start < WARM_UP_S:
            answer(spark, folder)
    shuffled_before = shuffled_bytes(spark)
    again, figures = captures.measured(folder, lambda: answer(spark, folder))
    shuffled = shuffled_bytes(spark) - shuffled_before
    spark.stop()
    if first != again:
        sys.exit(f"{first}, then {again}")
    print(json.dumps({**again, "figures": {**figures, "shuffled_bytes": captures.for_a_terabyte(folder, shuffled)}}))


def shuffled_bytes(spark):
    """Bytes that all tasks until now have written for others to read."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    executors = context.statusStore().executorList(True)
    return sum(executors.apply(place).totalShuffleWrite() for place in range(executors.size()))


def of_packets(packets, microseconds):
    """Sums up a frame of packets with `COLUMNS`: every value counts. Times are a column of their own."""
    total = functions.sum
    text = [total(functions.octet_length(name)) for name in ("src_ip", "dst_ip")]
    numbers = [total(functions.col(name)) for name in ("src_port", "dst_port", "proto", "length")]
    row = packets.agg(functions.count(functions.lit(1)), total(microseconds % 60_000_000), *text, *numbers).first()
    return dict(zip(["packets", "times", "src_ip", "dst_ip", "src_port", "dst_port", "proto", "length"], row, strict=True))
