"""Ours: records of a file as columns, or as tuples.

    python records.py columns|tuples FILE
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workload"))
import records  # noqa: E402
from bytewright import Reader  # noqa: E402


def columns(path):
    with Reader(path) as reader:
        batch = reader.unpack_records("N4", columns=True)
    batch.__arrow_c_array__()
    return batch


def column_sums(path):
    batch = columns(path)
    return [sum(batch[name]) for name in batch.columns]


def tuples(path):
    with Reader(path) as reader:
        return reader.unpack_records("N4")


TASKS = {
    "columns": (columns, column_sums),
    "tuples": (tuples, lambda path: [sum(column) for column in zip(*tuples(path))]),
}

records.main(TASKS, sys.argv[1:])
