"""Captures as a data source of Spark's: a partition for each."""

import json

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructField, StructType

from ._filters import condition
from ._options import Options
from ._paths import captures, in_folder, parts
from ._rows import batches, schema

#: Whether Spark hands filters down to sources in Python.
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


class CaptureSource(DataSource):
    """The format `bytewright`. Options of a reader:

    - `rows`: "packets", "flows" or "calls"; "damage" for where captures are damaged, and "entries" for what `flows` adds up.
    - `columns`: the names of the columns, with commas between; `file` is the capture's path. Some common ones where none is named.
    - `mode`: "permissive" ends a damaged capture where the damage is; "failfast" fails.
    - `filter`, `flow`, `inner`, `jobs`, `idle_timeout`, `active_timeout`, `max_flows`: those of `bytewright.Capture` and its `flows`.
    - `split_bytes`: packets of a plain pcap file that is larger are read in parts of this size, a partition for each; 256 MiB where
      nothing is said. The driver looks for where the records begin, so it needs the file, too.
    - `pushdown`: "true" has the core leave out packets that a query does not want, where `register` was told `pushdown=True`. It
      is for data frames that are used once: Spark keeps what the first query of a data frame handed down, and a later query
      of it lacks those rows.
    """

    @classmethod
    def name(cls):
        return "bytewright"

    def schema(self):
        fields = from_arrow_schema(schema(Options(self.options))).fields
        return StructType([StructField(field.name, field.dataType) for field in fields])

    def reader(self, schema):
        options = Options(self.options)
        return (PushingReader if options.pushdown else Reader)(options, schema)

    def streamReader(self, schema):
        return StreamReader(Options(self.options), schema)


def register(spark, pushdown=False):
    """Registers the format `bytewright` with a session. `pushdown=True` is for readers with the option `pushdown`, which Spark
    refuses otherwise: it sets `spark.sql.python.filterPushdown.enabled`, which is for all data sources in Python of the session.
    """
    if pushdown:
        spark.conf.set(_PUSHDOWN, "true")
    spark.dataSource.register(CaptureSource)


class Capture(InputPartition):
    """One capture, or a part of it, and its place in the list."""

    def __init__(self, place, path, part=None):
        super().__init__(place)
        self.path = path
        self.part = part


class Reader(DataSourceReader):
    """Reads captures, one after another or side by side."""

    #: What packets of a query are, in the core's language.
    where = None

    def __init__(self, options, schema):
        self.options = options
        self.schema = schema

    def partitions(self):
        paths = captures(self.options.paths)
        if self.options.rows != "packets":
            # A flow, and a call, may go on from part to part.
            return _partitions(paths)
        found = [(path, part) for path in paths for part in parts(path, self.options.split_bytes)]
        return [Capture(place, path, part) for place, (path, part) in enumerate(found)]

    def read(self, partition):
        return batches(self.options, partition.value, partition.path, _arrow(self.schema), partition.part, self.where)


class PushingReader(Reader):
    """Has the core leave out packets that Spark does not want. Spark filters what comes nevertheless."""

    def pushFilters(self, filters):
        if self.options.rows == "packets":
            self.where = condition(filters)
        return filters


class StreamReader(DataSourceStreamReader):
    """Reads the captures that come into a folder, each once. An offset has the names of those that were there by then."""

    def __init__(self, options, schema):
        self.options = options
        self.schema = schema

    def initialOffset(self):
        return _offset([])

    def latestOffset(self, start=None, limit=None):
        return _offset([path for folder in self.options.paths for path in in_folder(folder)])

    def partitions(self, start, end):
        before = set(_paths(start))
        return _partitions([path for path in _paths(end) if path not in before])

    def read(self, partition):
        return batches(self.options, partition.value, partition.path, _arrow(self.schema))


def _partitions(paths):
    return [Capture(place, path) for place, path in enumerate(paths)]


def _arrow(schema):
    return to_arrow_schema(schema, timezone="UTC")


def _offset(paths):
    # As text, because an offset has no lists.
    return {"captures": json.dumps(paths)}


def _paths(offset):
    return json.loads(offset["captures"])
