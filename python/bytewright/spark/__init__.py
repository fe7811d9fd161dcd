"""Captures on Apache Spark: rows of many captures, read side by side by the workers of a cluster, and their flows in one sum.

    import bytewright.spark

    bytewright.spark.register(spark)
    spark.read.format("bytewright").option("rows", "packets").load("monday/*.pcap.gz").groupBy("dst_port").count()

    week = bytewright.spark.flows(spark, "week/*.pcap.gz")
    bytewright.spark.write_table(week, "week.bwt")

It needs PySpark 4.3 with pyarrow where the program runs, and this package on every worker, for the Python that
`PYSPARK_PYTHON` names.
"""

from ._source import CaptureSource, register
from ._totals import count_into, flows, write_table

__all__ = ["CaptureSource", "count_into", "flows", "register", "write_table"]
