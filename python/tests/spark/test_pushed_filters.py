"""Goal: packets that the core leaves out for Spark's filters are none that Spark would keep.

Method: random filters are given to the source's reader as Spark gives them, without Spark. What it reads over random frames of 34 link
types, filtered by plain Python, is compared with all rows, filtered so. The seed is in the failure.
"""

import os
import random

import pyarrow
import random_frames
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
)

from bytewright.spark._source import CaptureSource

#: How many lists of filters are tried: BYTEWRIGHT_TRIALS says another number, and BYTEWRIGHT_SEED from where.
TRIALS, SEED = int(os.environ.get("BYTEWRIGHT_TRIALS", "600")), int(os.environ.get("BYTEWRIGHT_SEED", "1"))
PER_CAPTURE = 50
NAMES = ["ts", "src_ip", "dst_ip", "src_port", "dst_port", "proto", "length", "vlan", "ttl", "tcp_flags", "dns_query", "interface_name", "number"]
OPERATORS = {
    EqualTo: lambda one, other: one == other,
    GreaterThan: lambda one, other: one > other,
    GreaterThanOrEqual: lambda one, other: one >= other,
    LessThan: lambda one, other: one < other,
    LessThanOrEqual: lambda one, other: one <= other,
}


def holds(condition, row):
    """True, False, or None for null, as in SQL."""
    if isinstance(condition, Not):
        found = holds(condition.child, row)
        return None if found is None else not found
    value = row[condition.attribute[0]]
    if isinstance(condition, (IsNull, IsNotNull)):
        return (value is None) == isinstance(condition, IsNull)
    if isinstance(condition, EqualNullSafe):
        return value == condition.value
    if value is None:
        return None
    if isinstance(condition, In):
        return True if value in condition.value else None if None in condition.value else False
    return None if condition.value is None else OPERATORS[type(condition)](value, condition.value)


def random_filter(chance, rows):
    name = chance.choice(NAMES)
    column, value = (name,), chance.choice(rows)[name]
    other = chance.choice(rows)[name]
    if isinstance(value, int) and chance.random() < 0.2:
        value += chance.choice([-1, 1, 2**31])
    kind = chance.choice([*OPERATORS, EqualNullSafe, In, IsNull, IsNotNull])
    if kind in (IsNull, IsNotNull):
        found = kind(column)
    elif kind is In:
        found = In(column, tuple(chance.sample([value, other, None], chance.randrange(1, 4))))
    else:
        found = kind(column, value)
    return Not(found) if chance.random() < 0.3 else found


def read(path, filters=()):
    source = CaptureSource({"path": str(path), "columns": ",".join(NAMES), "pushdown": "true", "jobs": "1"})
    reader = source.reader(source.schema())
    list(reader.pushFilters(list(filters)))
    batches = [batch for partition in reader.partitions() for batch in reader.read(partition)]
    return pyarrow.Table.from_batches(batches).to_pylist() if batches else []


def test_random_filters_over_random_frames_leave_out_no_row_that_they_hold(tmp_path):
    pushed = left_out = 0
    for seed in range(SEED, SEED + TRIALS // PER_CAPTURE):
        chance, path = random.Random(seed), tmp_path / f"{seed}.pcapng"
        path.write_bytes(random_frames.capture(chance, 150))
        rows = read(path)
        assert rows
        for trial in range(PER_CAPTURE):
            filters = [random_filter(chance, rows) for _ in range(chance.randrange(1, 4))]
            found = read(path, filters)
            kept = [[row for row in some if all(holds(each, row) is True for each in filters)] for some in (found, rows)]
            assert kept[0] == kept[1], (seed, trial, filters)
            pushed += 1
            left_out += len(found) < len(rows)
        path.unlink()
    # Filters that are not pushed down are right for nothing.
    assert left_out > pushed / 3, (pushed, left_out)
