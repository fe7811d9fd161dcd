"""Captures and files of Thrift messages as lazy frames of polars, which read what a query needs of them: `scan_packets`, `scan_flows`
and `scan_thrift`.

    import bytewright.polars

    packets = bytewright.polars.scan_packets("monday/*.pcap.gz")
    packets.filter(polars.col("dst_port") == 443).group_by("src_ip").agg(polars.col("length").sum()).collect()

    entries = bytewright.polars.scan_thrift("logs/*.bin.gz", logs.Entry, "time", "tags[].name")
    entries.group_by("tags[].name").len().collect()

Only the columns of the query are decoded. Of its filter on packets, the core is given what compares a field with a value or the
values of a list, and what joins that with `&`, `|` and `~`: packets that it leaves out have no columns. Polars filters what comes
in any case, and the result is the same. A query may read a capture more than once, so a file object, which can be read once,
is better read with `bytewright.packets`.
"""

import io
import struct

import polars
from polars.io.plugins import register_io_source

from ._polars_predicates import condition
from .captures import _files, _sources, flows, packets
from .thrift import columns as thrift_columns

#: A capture without packets, of which columns and their types are known.
_EMPTY = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)

#: Columns that a call can name: more of them are read as a whole.
_PATHS_MAX = 64

#: Rows of a batch, unless polars asks for fewer.
_ROWS = 65_536


def scan_packets(source, **options):
    """The packets of a capture, or of several, as a `polars.LazyFrame` with all fields. Options are those of
    `bytewright.Capture`."""

    def read(fields, rows, where):
        return packets(source, *fields, rows=rows, where=where, **options).batches()

    # Options beside an open capture are refused now, in place of an error of polars later.
    _sources([source], options)
    return _scan(packets(io.BytesIO(_EMPTY), *_all_fields("packets"), **options), read)


def scan_flows(*sources, **options):
    """The flows of captures, which are read in this order as one run, as a `polars.LazyFrame`. Options are those of
    `bytewright.flows`."""

    def read(fields, _rows, _where):
        # A packet that a condition leaves out could end a flow, or be its first.
        return flows(*sources, fields=fields, **options).batches()

    _sources(sources, options)
    return _scan(flows(io.BytesIO(_EMPTY), **options), read)


def scan_thrift(source, cls, *paths, protocol="binary", framed=True):
    """Thrift messages that follow each other as a `polars.LazyFrame`: a column for each field of `cls`, or for each of `paths`.

    `source` is a path, a pattern such as "logs/*.bin.gz", bytes, or a list of these, which are read in this order. The others are
    those of `bytewright.thrift.columns`. Of each message, what the query does not use is skipped. Files are read in batches.
    """
    whole = thrift_columns(cls, b"", *paths, protocol=protocol, framed=framed)
    # A query that wants other columns alone has their rows nevertheless.
    of_rows = max(whole.columns, key=_rows_in, default="")
    needed = [of_rows] if _rows_in(of_rows) else []

    def read(fields, rows, _where):
        wanted = [name for name in whole.columns if name in fields or name in needed]
        wanted = paths if len(wanted) > _PATHS_MAX else wanted
        for one in _files(source):
            yield from thrift_columns(cls, one, *wanted, protocol=protocol, framed=framed, rows=rows).batches()

    return _scan(whole, read)


def _rows_in(path):
    """The lists and maps of a path that make rows."""
    return path.count("[]") + path.count("{}")


def _all_fields(name):
    from ._bytewright import schema_of

    return [field[0] for field in schema_of(name)]


def _scan(empty, read):
    """A lazy frame of the batches that `read(fields, rows, where)` gives, with the columns of `empty`."""
    schema = polars.DataFrame(empty).schema

    def source(columns, predicate, row_count, batch_size):
        wanted = list(schema) if columns is None else columns
        needed = [] if predicate is None else predicate.meta.root_names()
        fields = list(dict.fromkeys([*wanted, *needed])) or list(schema)[:1]
        rows = max(1, min(batch_size or _ROWS, _ROWS))
        # The rows to count are those before the filter.
        where = None if predicate is None or row_count is not None else condition(predicate)
        left = row_count
        for batch in read(fields, rows, where):
            frame = polars.DataFrame(batch)
            if left is not None:
                frame = frame.head(left)
                left -= len(frame)
            if predicate is not None:
                frame = frame.filter(predicate)
            yield frame.select(wanted)
            if left == 0:
                return

    return register_io_source(source, schema=schema, is_pure=True)
