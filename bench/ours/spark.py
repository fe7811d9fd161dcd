"""Ours: a folder of captures on Spark.

    python spark.py flows|entries|packets|unsplit CORES FOLDER

`entries` is what `flows` does before the shuffle; `unsplit` is `packets` in one task for each capture. FOLDER may be one capture.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import bytewright.spark  # noqa: E402
import on_spark  # noqa: E402
from pyspark.sql import functions  # noqa: E402


def flows(spark, folder):
    total = functions.sum
    found = bytewright.spark.flows(spark, folder)
    numbers = [total(f"{direction}{name}") for name in ("packets", "bytes") for direction in ("", "rev_")]
    weighted = total(functions.coalesce("dst_port", functions.lit(0)) * functions.col("packets"))
    row = found.agg(functions.count(functions.lit(1)), *numbers, weighted).first()
    return dict(zip(["flows", "packets", "rev_packets", "bytes", "rev_bytes", "weighted"], row, strict=True))


def entries(spark, folder):
    bytewright.spark.register(spark)
    found = spark.read.format("bytewright").option("rows", "entries").load(folder)
    # Keys begin with the version of IP of a flow, or with what only that of a capture has.
    first = functions.substring("key", 1, 1)
    counts = [functions.count_if(first.isin(kinds)) for kinds in ([b"\xc0"], [b"\x04", b"\x06"])]
    of_captures, of_flows, size = found.agg(*counts, functions.sum(functions.length("value"))).first()
    return {"captures": of_captures, "flows_of_captures": of_flows, "value_bytes": size}


def packets(spark, folder, **options):
    bytewright.spark.register(spark)
    found = spark.read.format("bytewright").options(columns=",".join(on_spark.COLUMNS), **options).load(folder)
    return on_spark.of_packets(found, functions.unix_micros("ts"))


def unsplit(spark, folder):
    return packets(spark, folder, split_bytes=1 << 40)


TASKS = {"flows": flows, "entries": entries, "packets": packets, "unsplit": unsplit}

if len(sys.argv) != 4 or sys.argv[1] not in TASKS:
    sys.exit(f"usage: spark.py {'|'.join(TASKS)} CORES FOLDER")
on_spark.main(TASKS[sys.argv[1]], *sys.argv[2:])
