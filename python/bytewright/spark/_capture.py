"""Captures, or parts of them, that tasks of Spark's read."""

from pyspark.sql.datasource import InputPartition


class Capture(InputPartition):
    """One capture, or a part of it, and its place in the list; its size, where it must be that."""

    def __init__(self, place, path, part=None, size=None):
        super().__init__(place)
        self.path = path
        self.part = part
        self.size = size
