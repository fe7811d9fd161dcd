"""Flows of many captures in one sum, which Spark's workers make together by the rules of `bytewright.flows` with `into`."""

import os
from itertools import groupby

import pyarrow
from pyspark.sql import functions
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from .. import _bytewright
from .._errors import ArgumentError
from ..table import TreeTable
from ._listing import captures
from ._options import Options
from ._rows import CAPTURE_KEY, schema
from ._session import settings_of
from ._source import register
from ._tasks import planned

#: Entries that are written to a table together.
_WRITTEN = 8_192

#: Number of partitions that Spark shuffles into, 200 by default. For each of them a task writes a file of its own,
#: which for a capture of some megabytes takes longer than to read it.
_SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"

#: Captures whose flows one task merges where nobody says: that takes about an eighth of the time of reading them.
_CAPTURES_MERGED = 8

_MERGING_TASKS_MAX = 200

_MERGED = pyarrow.schema([("key", pyarrow.binary()), ("value", pyarrow.binary())])


def flows(spark, paths, **options):
    """The flows of captures as a `DataFrame`: those of one key summed up over all of them, and a capture that comes twice
    counted once, whatever its name.

    `paths` is a path, a pattern, a folder, or a list of these, in the order in which captures are counted; `options` are
    those of the format `bytewright`. The frame has two attributes beside: `captures`, a frame with what became of each capture
    (`file`, `content_id`, `offset` and `text` of its damage), and `entries`, what `write_table` writes. Each of them
    reads the captures when it is used.
    """
    register(spark)
    paths = [paths] if isinstance(paths, str) else [str(path) for path in paths]
    options = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items() if value is not None}
    reader = spark.read.format("bytewright").options(**{**options, "rows": "entries"})
    asked = Options({**options, "rows": "entries"}, settings_of(spark))
    return merged(reader.load(paths), _merging_tasks(spark, asked, captures(paths, asked.selection)))


def _merging_tasks(spark, options, found):
    """Returns the number of tasks that merge the flows of captures, no more than read them; None if the session says it."""
    if spark.conf.get(_SHUFFLE_PARTITIONS, None) is not None:
        return None
    reading = len(planned(options, found))
    return min(max(min(len(found) // _CAPTURES_MERGED, reading), 2), _MERGING_TASKS_MAX)


def merged(entries, tasks=None):
    """The flows that entries of single captures come to, with the attributes that `flows` tells of. So many tasks merge them, or
    as many as Spark makes by itself."""
    is_capture = entries.key.isNull() | (functions.substring(entries.key, 1, 1) == CAPTURE_KEY)
    # The entries of a key are in one partition, and in the order in which captures are counted.
    shuffled = entries.where(entries.key.isNotNull()).repartition(*([] if tasks is None else [tasks]), "key")
    sorted_entries = shuffled.sortWithinPartitions("key", "capture")
    wanted = sorted_entries.select("content_id", "key", "value")
    frame = wanted.mapInArrow(_flows_of, _spark(_flow_schema()))
    frame.entries = wanted.mapInArrow(_entries_of, _spark(_MERGED))
    # In one partition, because a sort of many reads the captures once more, to find where partitions begin.
    captures = entries.where(is_capture).repartition(1).sortWithinPartitions("capture")
    frame.captures = captures.select("file", "content_id", "offset", "text")
    return frame


def write_table(flows, path):
    """Writes what `flows` gave to a new table file, which is as if `bytewright.flows` had merged the captures into it: a store
    of flows of every language, to which more captures can be added. Answers how many flows there are.

    Raises `FileExistsError` where the file is there, and `ArgumentError` for a frame that `flows` did not give: flows
    that were filtered or changed are no sum of whole captures.
    """
    entries = getattr(flows, "entries", None)
    if entries is None or not hasattr(entries, "mapInArrow"):
        raise ArgumentError("expected what bytewright.spark.flows gave, found another frame; write that with df.write.parquet")
    if os.path.exists(path):
        raise FileExistsError(17, "the table is there", os.fspath(path))
    count = 0
    with TreeTable.open(path, text=False) as table, table.transaction():
        for rows in _chunks(entries.sort("key").toLocalIterator()):
            table.update((bytes(row.key), bytes(row.value)) for row in rows)
            count += sum(row.key[0] in (4, 6) for row in rows)
    return count


def count_into(path):
    """A function for `foreachBatch` that counts the captures of a stream of `entries` into a table file where the driver is.
    A capture is in it wholly or not at all, and once, also where a batch is done again after a crash."""

    def count(batch, _batch_id):
        store = _bytewright.FlowStore._to_count(path)
        try:
            # In one partition, because a sort of many reads the captures once more, to find where partitions begin.
            entries = batch.where("key is not null").select("capture", "key", "value")
            rows = entries.repartition(1).sortWithinPartitions("capture", "key").toLocalIterator()
            for _, entries in groupby(rows, key=lambda row: row.capture):
                keys, values = zip(*((bytes(row.key), bytes(row.value)) for row in entries))
                store._count(list(keys), list(values))
        finally:
            store.close()

    return count


def _flow_schema():
    return schema(Options({"rows": "flows"}))


def _spark(arrow):
    return StructType([StructField(field.name, field.dataType) for field in from_arrow_schema(arrow).fields])


def _flows_of(batches):
    target = _flow_schema()
    for merge in _merging(batches):
        found = pyarrow.record_batch(merge.take_flows())
        columns = [found.column(field.name).cast(field.type) for field in target]
        yield pyarrow.RecordBatch.from_arrays(columns, schema=target)


def _entries_of(batches):
    for merge in _merging(batches):
        yield pyarrow.record_batch(merge.take_entries()).cast(_MERGED)


def _merging(batches):
    """The merge after each batch, and at the end."""
    merge = _bytewright.EntryMerge()
    for batch in batches:
        merge.add(*(_bytes(batch.column(name)) for name in ("content_id", "key", "value")))
        yield merge
    merge.finish()
    yield merge


def _bytes(column):
    """A column of bytes as its offsets and its data."""
    column = column.cast(pyarrow.binary())
    _, offsets, data = column.buffers()
    begin = column.offset * 4
    return offsets.to_pybytes()[begin : begin + (len(column) + 1) * 4], data.to_pybytes() if data else b""


def _chunks(rows):
    chunk = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == _WRITTEN:
            yield chunk
            chunk = []
    yield chunk
