"""Counts the captures of a folder into a table: streaming.py FOLDER TABLE CHECKPOINT MARKER wait|go. With `wait` it stops before a batch
is noted as done, and says so by the marker."""

import pathlib
import sys
import time

from conftest import session

import bytewright.spark

folder, table, checkpoint, marker, what = sys.argv[1:]
count = bytewright.spark.count_into(table)


def counted(batch, batch_id):
    count(batch, batch_id)
    pathlib.Path(marker).touch()
    if what == "wait":
        time.sleep(600)


spark = session("local[2]")
stream = spark.readStream.format("bytewright").option("rows", "entries").option("min_age", "0").load(folder)
query = stream.writeStream.foreachBatch(counted).option("checkpointLocation", checkpoint)
query.trigger(availableNow=True).start().awaitTermination()
spark.stop()
