"""Tasks of Spark's, and the captures, or parts of them, that each reads."""

from typing import NamedTuple

from pyspark.sql.datasource import InputPartition


class Capture(NamedTuple):
    """One capture, or a part of it: its place in the list of captures, its path and its size in bytes; the part as offsets that
    `opened` takes, or as the numbers of its packets."""

    place: int
    path: str
    size: int = 0
    part: "tuple[int, int | None, int] | None" = None
    numbers: "str | None" = None


class Task(InputPartition):
    """Captures that one task reads, one after another, each on so many threads; none where there is nothing to read."""

    def __init__(self, captures=(), jobs=1):
        super().__init__(None)
        self.captures = list(captures)
        self.jobs = jobs


def captures_of(partition):
    """The captures of what Spark hands to a task. Where there is no task, it makes one that has nothing."""
    return partition.captures if isinstance(partition, Task) else []
