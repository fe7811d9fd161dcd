"""Peer: a folder of captures on Spark, read whole by `binaryFile` and taken apart by dpkt in `mapInPandas`.

    python spark_dpkt.py CORES FOLDER
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# dpkt.py beside this file has the library's name.
sys.path = [os.path.join(HERE, "..", "workload"), *(folder for folder in sys.path if folder != HERE), HERE]
import on_spark  # noqa: E402

SCHEMA = "ts long, src_ip string, dst_ip string, src_port int, dst_port int, proto int, length int"


def frames(files):
    """The packets of some files as frames of pandas, a frame for each."""
    import gzip
    import io

    import dpkt_columns
    import pandas

    for some in files:
        for content in some["content"]:
            times, *columns = dpkt_columns.lists(gzip.GzipFile(fileobj=io.BytesIO(content)))
            columns = [[round(time * 1_000_000) for time in times], *columns]
            yield pandas.DataFrame({
                name: pandas.array(column, dtype="Int64") if type_ != "string" else column
                for (name, type_), column in zip((field.split() for field in SCHEMA.split(", ")), columns, strict=True)
            })  # fmt: skip


def packets(spark, folder):
    return on_spark.of_packets(spark.read.format("binaryFile").load(folder).mapInPandas(frames, SCHEMA), on_spark.functions.col("ts"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: spark_dpkt.py CORES FOLDER")
    on_spark.main(packets, *sys.argv[1:])
