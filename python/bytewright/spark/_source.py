"""Captures, and files of Thrift messages, as a data source of Spark's."""

import json

from pyspark.sql.datasource import DataSource, DataSourceReader
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructField, StructType

from .._bytewright import excerpt
from .._errors import ArgumentError
from ._filters import condition
from ._listing import captures
from ._options import Options
from ._rows import schema
from ._session import Settings, settings_of
from ._stream import StreamReader
from ._tasks import planned, rows

#: The metadata of a column of a table of Spark's catalog that has the table's options, because Spark 4.3 keeps no others for sources
#: in Python.
_OPTIONS = "bytewright.options"

#: Setting that is true if Spark hands filters down to sources in Python.
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


class CaptureSource(DataSource):
    """The format `bytewright`. Options of a reader:

    - `rows`: "packets", "flows" or "calls"; "messages" for files of Thrift messages; "damage" for where captures are damaged, and
      "entries" for what `flows` adds up.
    - `columns`: the names of the columns, with commas between; `file` is the capture's path. Some common ones where none is named.
    - `mode`: "permissive" ends a damaged capture where the damage is; "failfast" fails.
    - `filter`, `flow`, `inner`, `vxlan_port`, `jobs`, `idle_timeout`, `active_timeout`, `max_flows`, `features`: those of
      `bytewright.Capture` and its `flows`. `jobs` are the cores of a task where nothing is said, and for a large capture with a task of
      its own also those of the worker that have none.
    - `index`, `index_dir`: "true" has the driver make an index of each large capture, unless there is one, so that several tasks read its
      packets; the folder of indexes, where they are not beside the captures.
    - `ignoreCorruptFiles`, `ignoreMissingFiles`, `pathGlobFilter`, `recursiveFileLookup`, `modifiedAfter`, `modifiedBefore`, `timeZone`,
      `maxFilesPerTrigger`: those of Spark's own file sources. The first says the `mode`.
    - `idl`, `type`, `protocol`, `framed`: of messages. The path of an IDL file that each worker has, or its text; the struct of it that
      the messages are; "binary", "compact", "header" (frames of THeader) or "json"; and "false" if no length comes before each.
      `columns` are paths, as for `bytewright.thrift.columns`, and all fields of the struct where none is named: of others nothing is
      decoded.
    - `split_bytes`: bytes of captures for each task, in place of what the session says of files (spark.sql.files.maxPartitionBytes).
      Packets of larger captures are read in parts of this size if they have an index or are plain pcap files, whose records the driver
      looks for then; without the option, of plain pcap files from 256 MiB on.
    - `min_age`: a capture is read when it did not change for so many seconds; 30 of a stream, else 0.
    - `max_file_age`, `max_files`: of a stream. Captures that are so many seconds older than the newest one that was read (604800, a
      week) are no new ones; and a batch has at most so many captures, the oldest first.
    - `pushdown`: "true" has the core leave out packets that a query does not want, where `register` was told `pushdown=True`. It
      is for data frames that are used once: Spark keeps what the first query of a data frame handed down, and a later query
      of it lacks those rows.
    """

    #: The settings of the session.
    settings = Settings()

    @classmethod
    def name(cls):
        return "bytewright"

    def schema(self):
        options = Options(self.options, self.settings)
        metadata = options.of_table and {_OPTIONS: json.dumps(options.of_table)}
        fields = from_arrow_schema(schema(options)).fields
        return StructType([StructField(field.name, field.dataType, metadata=metadata) for field in fields])

    def reader(self, schema):
        options = self._options(schema)
        return (PushingReader if options.pushdown else Reader)(options, schema)

    def streamReader(self, schema):
        return StreamReader(self._options(schema), schema)

    def _options(self, schema):
        stored = next((field.metadata[_OPTIONS] for field in schema.fields if _OPTIONS in field.metadata), "{}")
        return with_columns(Options({**json.loads(stored), **self.options}, self.settings), schema.names)

    def writer(self, schema, overwrite):
        raise ArgumentError(
            "expected to read captures, found a write: take df.write.parquet or saveAsTable of another format, bytewright.spark.write_table "
            "for flows, or CREATE TABLE ... USING bytewright OPTIONS (path ...) for a table over captures that there are"
        )

    streamWriter = writer


def with_columns(options, names):
    """The options, for a frame with columns of these names, which somebody may have named by a schema of his own."""
    if options.rows in ("damage", "entries"):
        known = schema(options).names
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ArgumentError(f"expected a field ({', '.join(known)}), found {excerpt(unknown[0])}")
    elif options.rows != "messages" or names != schema(options).names:
        options.columns = list(names)
        # The core tells a name that it does not know.
        schema(options)
    return options


def register(spark, pushdown=False):
    """Registers the format `bytewright` with a session. `pushdown=True` is for readers with the option `pushdown`, which Spark
    refuses otherwise: it sets `spark.sql.python.filterPushdown.enabled`, which is for all data sources in Python of the session.
    """
    if pushdown:
        spark.conf.set(_PUSHDOWN, "true")

    class SessionSource(CaptureSource):
        """The source with the settings of this session, which is pickled with them."""

        settings = settings_of(spark)

    spark.dataSource.register(SessionSource)


class Reader(DataSourceReader):
    """Reads captures, one after another or side by side."""

    #: Condition on the packets of a query, in the core's language.
    where = None

    def __init__(self, options, schema):
        self.options = options
        self.schema = schema

    def partitions(self):
        if not self.options.paths:
            # Spark keeps the options of a table of its catalog only where the source says the columns.
            raise ArgumentError(
                "expected a path, found none: take load(path), or CREATE TABLE ... USING bytewright OPTIONS (path ..., columns ...) without "
                "a list of columns"
            )
        return planned(self.options, captures(self.options.paths, self.options.selection))

    def read(self, partition):
        return rows(self.options, partition, _arrow(self.schema), self.where)


class PushingReader(Reader):
    """Has the core leave out packets that Spark does not want. Spark filters what comes nevertheless."""

    def pushFilters(self, filters):
        if self.options.rows == "packets":
            self.where = condition(filters)
        return filters


def _arrow(schema):
    return to_arrow_schema(schema, timezone="UTC")
