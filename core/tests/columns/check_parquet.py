"""Goal: a Parquet file that the command writes has the rows that it prints as JSON, value by value, for every reader.

Method: each capture goes through the command twice, to a file and as JSON; the file is read by pyarrow, polars, pandas
and DuckDB, and by pyarrow alone for every choice of types.

Usage: check_parquet.py COMMAND CAPTURE...
"""

import ipaddress
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet

COMMAND, *CAPTURES = sys.argv[1:]
TIMES = ("ts",)
DURATIONS = ("duration", "latency", "p50", "p99", "max")
SPARK = ("--timestamps", "us", "--signed")
CHOICES = ((), SPARK, ("--addresses", "binary"))


def run(*arguments):
    """Runs the command and returns its exit code, which tells damage, and its output."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def columns_of(rows, names):
    return {name: [row[name] for row in rows] for name in names}


def from_pyarrow(path):
    table = pa.parquet.read_table(path)
    table.validate(full=True)
    is_time = lambda column: pa.types.is_temporal(column.type)
    cast = lambda column: column.cast(pa.int64()) if is_time(column) else column
    return {name: cast(table[name]).to_pylist() for name in table.column_names}


def from_polars(path):
    frame = polars.read_parquet(path)
    cast = lambda column: column.cast(polars.Int64) if column.dtype == polars.Datetime else column
    return {column.name: cast(column).to_list() for column in frame.get_columns()}


def from_pandas(path):
    frame = pandas.read_parquet(path, dtype_backend="pyarrow")
    values = {}
    for name in frame.columns:
        column = pa.chunked_array(pa.array(frame[name]))  # nulls stay nulls
        is_time = pa.types.is_temporal(column.type)
        values[name] = (column.cast(pa.int64()) if is_time else column).to_pylist()
    return values


def from_duckdb(path):
    found = duckdb.sql(f"select * from read_parquet('{path}')")
    kinds = dict(zip(found.columns, map(str, found.types)))
    # Nanoseconds with a time zone are cut to microseconds by DuckDB unless it is asked for the number.
    ask = lambda name: f'epoch_ns("{name}")' if kinds[name].startswith("TIMESTAMP") else f'"{name}"'
    asked = ", ".join(map(ask, found.columns))
    rows = duckdb.sql(f"select {asked} from read_parquet('{path}')").fetchall()
    return {name: [row[place] for row in rows] for place, name in enumerate(found.columns)}


READERS = (from_pyarrow, from_polars, from_pandas, from_duckdb)


def as_json(columns, choices):
    """The columns as the JSON has them, whatever was chosen."""
    values = dict(columns)
    if "us" in choices:
        for name in [name for name in values if name.endswith("_nanos")]:
            whole = name.removesuffix("_nanos")
            rest = values.pop(name)
            pairs = zip(values[whole], rest, strict=True)
            values[whole] = [None if time is None else time * 1000 + rest for time, rest in pairs]
    if "binary" in choices:
        for name in [name for name in values if name.endswith("_ip")]:
            values[name] = [None if value is None else text_of(value) for value in values[name]]
    return values


def text_of(packed):
    address = ipaddress.IPv6Address(packed)
    return str(address.ipv4_mapped or address)


class ParquetTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(pathlib.Path(folder.name) / "rows.parquet")

    def same(self, found, wanted, what):
        """A difference of long lists takes unittest minutes to print: the first one is enough."""
        pairs = zip(found, wanted)
        first = next((row for row, pair in enumerate(pairs) if pair[0] != pair[1]), None)
        if first is not None:
            self.fail(f"{what}, row {first}: found {found[first]!r}, wanted {wanted[first]!r}")
        self.assertEqual(len(found), len(wanted), what)

    def check(self, arguments, choices, readers):
        code, printed, told = run(*arguments, "--json")
        rows = [json.loads(line) for line in printed.splitlines()]
        written, nothing, told_too = run(*arguments, "--parquet", self.path, *choices)
        self.assertEqual((written, nothing, told_too), (code, "", told), arguments)
        if not rows:
            self.assertEqual(pa.parquet.read_metadata(self.path).num_rows, 0)
            return
        wanted = columns_of(rows, rows[0])
        for read in readers:
            found = as_json(read(self.path), choices)
            self.assertEqual(list(found), list(wanted), (arguments, read.__name__))
            for name, values in wanted.items():
                self.same(found[name], values, (arguments, read.__name__, name))

    def test_every_reader_finds_the_rows_that_are_printed(self):
        fields = [line.split()[0] for line in run("packets", "--fields", "help")[1].splitlines()]
        for capture in CAPTURES:
            with self.subTest(capture=capture):
                self.check(["packets", capture, "--fields", ",".join(fields)], (), READERS)
                self.check(["flows", capture], (), READERS)
                self.check(["rpc", "--calls", capture], (), READERS)
                self.check(["rpc", capture], (), READERS)

    def test_every_choice_of_types_has_the_same_values(self):
        for capture in CAPTURES:
            for choices in CHOICES[1:]:
                with self.subTest(capture=capture, choices=choices):
                    self.check(["packets", capture], choices, READERS[:1])
                    self.check(["flows", capture], choices, READERS[:2])
                    self.check(["rpc", "--calls", capture], choices, READERS[:1])

    def test_types_are_those_that_were_chosen(self):
        arguments = ["packets", CAPTURES[0], "--fields", "ts,src_ip,proto,src_port,seq,number"]
        expected = {
            (): [pa.timestamp("ns", "UTC"), pa.string(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
            SPARK: [pa.timestamp("us", "UTC"), pa.int16(), pa.string(), pa.int16(), pa.int32(), pa.int64(), pa.int64()],
            ("--addresses", "binary"): [pa.timestamp("ns", "UTC"), pa.binary(16), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
        }
        for choices, kinds in expected.items():
            self.assertEqual(run(*arguments, "--parquet", self.path, *choices)[0], 0)
            self.assertEqual(pa.parquet.read_schema(self.path).types, kinds)

    def test_a_file_says_who_made_it_and_of_what(self):
        run("packets", *CAPTURES[:2], "--filter", "tcp", "--limit", "3", "--parquet", self.path)
        found = pa.parquet.read_metadata(self.path)
        self.assertRegex(found.created_by, r"\Abytewright version \d")
        metadata = found.metadata
        self.assertEqual(metadata[b"bytewright.sources"].decode().split("\n"), CAPTURES[:2])
        self.assertEqual((metadata[b"bytewright.filter"], metadata[b"bytewright.schema"]), (b"tcp", b"packets"))
        self.assertRegex(metadata[b"bytewright.version"], rb"\A\d")

    def test_many_rows_are_cut_into_row_groups(self):
        limit = 300_000
        code = 0
        files = CAPTURES[:1] * 1000
        code, _, told = run("packets", *files, "--limit", str(limit), "--parquet", self.path)
        self.assertEqual((code, told), (0, ""))
        found = pa.parquet.read_metadata(self.path)
        sizes = [found.row_group(group).num_rows for group in range(found.num_row_groups)]
        self.assertEqual(sum(sizes), found.num_rows)
        self.assertTrue(all(size < 2 * 131_072 for size in sizes), sizes)

    def test_the_guide_runs_as_it_stands(self):
        root = pathlib.Path(__file__).resolve().parents[3]
        guide = (root / "docs/guides/columns.md").read_text()
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "samples").symlink_to(root / "samples")
            shell = re.findall(r"^\$ bytewright (.*)$", guide, re.MULTILINE)
            for line in shell:
                subprocess.run([str(pathlib.Path(COMMAND).resolve()), *line.split()], cwd=folder, check=True)
            blocks = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
            self.assertTrue(shell and blocks)
            for block in blocks:
                subprocess.run([sys.executable, "-c", block], cwd=folder, check=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
