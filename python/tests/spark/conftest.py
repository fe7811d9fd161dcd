import os
import pathlib
import sys

import captures
import pytest
from pyspark.sql import SparkSession

import bytewright.spark

# Spark would run the python3 that it finds first.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

SAMPLES = sorted(path for path in (pathlib.Path(__file__).parents[3] / "samples").iterdir() if ".pcap" in path.name)


def session(master, **settings):
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
    # The library that packs what Spark writes takes a system that has musl beside glibc for one that has musl alone.
    plain = {"spark.ui.showConsoleProgress": "false", "spark.sql.parquet.compression.codec": "uncompressed"}
    for name, value in {**plain, **settings}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    bytewright.spark.register(spark)
    return spark


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    # Spark takes relative paths from where it was started, as the guide is: beside the samples.
    folder = tmp_path_factory.mktemp("started")
    (folder / "samples").symlink_to(SAMPLES[0].parent)
    os.chdir(folder)
    spark = session("local[2]")
    yield spark
    spark.stop()


@pytest.fixture(scope="session")
def paths(tmp_path_factory):
    """40 captures, made from a seed: BYTEWRIGHT_SEED makes others."""
    return captures.write(tmp_path_factory.mktemp("captures"), int(os.environ.get("BYTEWRIGHT_SEED", "21")), SAMPLES)
