"""Ours: a folder of captures on Spark.

    python spark.py flows|packets|unsplit CORES FOLDER

`unsplit` is `packets` in one task for each capture; FOLDER may be one capture.
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


def packets(spark, folder, **options):
    bytewright.spark.register(spark)
    found = spark.read.format("bytewright").options(columns=",".join(on_spark.COLUMNS), **options).load(folder)
    return on_spark.of_packets(found, functions.unix_micros("ts"))


def unsplit(spark, folder):
    return packets(spark, folder, split_bytes=1 << 40)


TASKS = {"flows": flows, "packets": packets, "unsplit": unsplit}

if len(sys.argv) != 4 or sys.argv[1] not in TASKS:
    sys.exit(f"usage: spark.py {'|'.join(TASKS)} CORES FOLDER")
on_spark.main(TASKS[sys.argv[1]], *sys.argv[2:])
