"""Goal: pyarrow, polars, pandas and DuckDB read what Arrow's C interface gives them, and free it once.

Method: a library (arrow_stream.rs) exports streams whose values follow from the number of the row; they are made here
once more.

Usage: check_arrow.py LIBRARY
"""

import ctypes
import gc
import ipaddress
import sys
import unittest
import uuid

import duckdb
import pandas
import polars
import pyarrow as pa

ROWS = 1000
US, SIGNED, BINARY = 1, 2, 4


class Stream(ctypes.Structure):
    """struct ArrowArrayStream."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("schema", "next", "error", "release", "private")]


def library():
    loaded = ctypes.CDLL(sys.argv[1])
    numbers = [ctypes.c_size_t] * 2 + [ctypes.c_uint8] * 3
    loaded.stream.argtypes = [*numbers, ctypes.POINTER(Stream)]
    loaded.stream.restype = None
    loaded.freed.restype = ctypes.c_size_t
    return loaded


LIBRARY = library()


def reader(batches=3, rows=ROWS, nulls=True, fails=False, choices=0):
    stream = Stream()
    LIBRARY.stream(batches, rows, nulls, fails, choices, ctypes.byref(stream))
    taken = pa.RecordBatchReader._import_from_c(ctypes.addressof(stream))
    assert not stream.release, "the stream was taken over"
    return taken


def address(row):
    if row % 2 == 0:
        return ipaddress.IPv4Address(row)
    return ipaddress.IPv6Address(0xFD00 << 112 | row)


def mapped(row):
    value = address(row)
    return value.packed if value.version == 6 else ipaddress.IPv6Address(f"::ffff:{value}").packed


# Name, type as it is, type with `signed`, value of a row. Times and durations are compared as numbers.
FIELDS = [
    ("time_ns", pa.timestamp("ns", "UTC"), None, lambda row: row * 1_000_000_007 - 5),
    ("duration_us", pa.duration("us"), None, lambda row: row * 3),
    ("address", pa.large_string(), None, lambda row: str(address(row))),
    ("u8", pa.uint8(), pa.int16(), lambda row: row & 0xFF),
    ("u16", pa.uint16(), pa.int32(), lambda row: 0xFFFF - (row & 0xFF)),
    ("u32", pa.uint32(), pa.int64(), lambda row: 0xFFFF_FFFF - row),
    ("u64", pa.uint64(), pa.int64(), lambda row: 2**63 - 1 - row),
    ("i8", pa.int8(), None, lambda row: -(row & 0x7F)),
    ("i16", pa.int16(), None, lambda row: -(row & 0x7FFF)),
    ("i32", pa.int32(), None, lambda row: -(row & 0x7FFF)),
    ("i64", pa.int64(), None, lambda row: -(2**63) + row),
    ("double", pa.float64(), None, lambda row: row / 4),
    ("bool", pa.bool_(), None, lambda row: row % 3 == 0),
    ("text", pa.large_string(), None, lambda row: "é" * (row % 4)),
    ("bytes", pa.large_binary(), None, lambda row: ("é" * (row % 4)).encode()),
    ("uuid", pa.uuid(), None, lambda row: uuid.UUID(int=row)),
    ("json", pa.large_string(), None, lambda row: "[1]"),
    ("tcp_flags", pa.uint16(), pa.int32(), lambda row: row & 0xFFF),
    ("color", pa.large_string(), None, lambda row: ["red", "green"][row % 2]),
    ("enumeration", pa.uint8(), pa.int16(), lambda row: row & 0xFF),
]


def expected(rows, nulls=True, choices=0):
    """Columns by name, as (type, values)."""
    columns = {}
    for place, (name, plain, signed, value) in enumerate(FIELDS):
        is_null = lambda row, place=place: nulls and (row + place) % 5 == 0
        values = [None if is_null(row) else value(row) for row in rows]
        if name == "address" and choices & BINARY:
            values = [None if is_null(row) else mapped(row) for row in rows]
            plain = pa.binary(16)
        if name == "time_ns" and choices & US:
            rest = [None if value is None else value % 1000 for value in values]
            values = [None if value is None else value // 1000 for value in values]
            columns[name] = (pa.timestamp("us", "UTC"), values)
            columns["time_ns_nanos"] = (pa.int16(), rest)
        else:
            columns[name] = ((signed if choices & SIGNED else None) or plain, values)
    return columns


def plain(column):
    """The values of a pyarrow column; times and durations as numbers."""
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int64())
    return column.to_pylist()


class ArrowTest(unittest.TestCase):
    def same(self, found, wanted, what):
        """A difference of long lists takes unittest minutes to print: the first one is enough."""
        found, wanted = list(found), list(wanted)
        pairs = zip(found, wanted)
        first = next((place for place, pair in enumerate(pairs) if pair[0] != pair[1]), None)
        if first is not None:
            self.fail(f"{what}, row {first}: found {found[first]!r}, wanted {wanted[first]!r}")
        self.assertEqual(len(found), len(wanted), what)

    def check(self, table, rows, nulls=True, choices=0):
        table.validate(full=True)
        wanted = expected(rows, nulls, choices)
        self.assertEqual(table.column_names, list(wanted))
        for name, (kind, values) in wanted.items():
            self.assertEqual(table.schema.field(name).type, kind, name)
            self.assertEqual(table.schema.field(name).nullable, nulls, name)
            self.same(plain(table[name]), values, name)

    def test_every_type_is_read_with_and_without_nulls_and_in_every_form(self):
        for nulls in (True, False):
            for choices in range(8):
                table = reader(nulls=nulls, choices=choices).read_all()
                self.check(table, range(3 * ROWS), nulls, choices)

    def test_slices_are_the_rows_that_they_cut_out(self):
        table = reader(batches=1).read_all()
        for start, count in ((0, 1), (1, 7), (3, 64), (9, 500), (ROWS - 1, 1), (ROWS, 0)):
            self.check(table.slice(start, count), range(start, start + count))
        batch = reader(batches=1).read_next_batch().slice(13, 50)
        self.check(pa.Table.from_batches([batch]), range(13, 63))

    def test_a_schema_says_what_fields_mean_and_what_rows_were_made_of(self):
        schema = reader(choices=US).schema
        self.assertEqual(schema.field("u8").metadata, {b"meaning": b"A field of type u8."})
        self.assertEqual(schema.metadata[b"bytewright.schema"], b"rows")
        self.assertEqual(schema.metadata[b"bytewright.sources"], b"one\ntwo")

    def test_empty_batches_and_streams_are_tables_without_rows(self):
        self.check(reader(batches=2, rows=0).read_all(), range(0))
        self.check(reader(batches=0).read_all(), range(0))

    def test_memory_is_freed_once_when_nobody_needs_it(self):
        before = LIBRARY.freed()
        taken = reader()
        table = taken.read_all()
        del taken
        gc.collect()
        self.assertEqual(LIBRARY.freed(), before + 1)
        column = table["text"].slice(5)
        del table
        gc.collect()
        self.assertEqual(column.to_pylist()[0], expected(range(5, 6))["text"][1][0])
        reader().close()
        reader().read_next_batch()
        gc.collect()
        self.assertEqual(LIBRARY.freed(), before + 3)

    def test_an_error_in_the_middle_of_a_stream_has_its_text_and_leaves_what_came_before(self):
        before = LIBRARY.freed()
        taken = reader(batches=2, fails=True)
        batches = [taken.read_next_batch(), taken.read_next_batch()]
        for _ in range(2):
            with self.assertRaisesRegex(pa.ArrowInvalid, "web.pcap: byte 24: expected a packet of 60 bytes"):
                taken.read_next_batch()
        del taken
        gc.collect()
        self.assertEqual(LIBRARY.freed(), before + 1)
        self.check(pa.Table.from_batches(batches), range(2 * ROWS))

    def test_polars_pandas_and_duckdb_take_the_same_rows(self):
        rows = range(3 * ROWS)
        wanted = {name: values for name, (_, values) in expected(rows).items()}
        # polars and pandas have no such types, or the values as other objects.
        names = [name for name in wanted if name not in ("uuid", "bytes")]
        frame = polars.DataFrame(reader().read_all().select(names))
        for name in names:
            column = frame[name]
            if column.dtype in (polars.Datetime, polars.Duration):
                column = column.cast(polars.Int64)
            self.same(column.to_list(), wanted[name], name)
        table = reader().read_all()
        found = duckdb.from_arrow(table).project('u64, text, address, i64, "bool"').fetchall()
        columns = ("u64", "text", "address", "i64", "bool")
        self.same(found, zip(*(wanted[name] for name in columns)), "DuckDB")
        frame = table.select(names).to_pandas(types_mapper=pandas.ArrowDtype)
        self.same(frame["text"].array.to_numpy(object, na_value=None), wanted["text"], "pandas")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
