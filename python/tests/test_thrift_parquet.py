"""Goal: a Parquet file of nested columns of messages has the values of the columns, for each reader; and there is a whole file or none.

Method: messages of random schemas go to a file and to pyarrow; pyarrow, DuckDB and polars read the file. What writes is interrupted, its
source raises or is damaged, and its output is its input. The seed is in the failure.
"""

import io
import random
import signal

import duckdb
import polars
import pyarrow
import pyarrow.parquet
import pytest
import thrift_messages
from thrift_schemas import Schema, parted

import bytewright
from bytewright import thrift

LOGS = thrift.load("struct Log { 1: i64 time, 2: list<string> tags, 3: map<string, list<i32>> counts }")


def framed(times):
    return thrift_messages.framed([thrift.encode(LOGS.Log(time=time, tags=["a"] * (time % 3), counts={"x": [time]})) for time in times])


def columns(source, **options):
    return thrift.columns(LOGS.Log, source, **options)


def from_duckdb(schema, path):
    """Rows as DuckDB reads them. It has structs as dicts, and maps with keys that are bytes and lists as lists of pairs."""
    return [tuple(of_duckdb(schema, value, of) for value, (_, of) in zip(row, schema.fields)) for row in duckdb.sql(f"from '{path}'").fetchall()]


def of_duckdb(schema, value, of):
    kind, inside = parted(of)
    if value is None:
        return None
    if kind == "map":
        pairs = zip(value["key"], value["value"]) if set(value) == {"key", "value"} and isinstance(value["key"], list) else value.items()
        return {key: of_duckdb(schema, each, inside[1]) for key, each in pairs}
    if kind == "list":
        return [of_duckdb(schema, each, inside) for each in value]
    if kind == "set":
        return sorted(value)
    if of in schema.structs:
        return {name: of_duckdb(schema, value[name], type) for name, type in schema.structs[of]}
    return value


@pytest.mark.parametrize("seed", range(80))
def test_each_reader_finds_the_values_of_the_columns(seed, tmp_path):
    dice, path = random.Random(seed), tmp_path / "messages.parquet"
    schema = Schema(dice)
    made = thrift.load(schema.idl)
    data = thrift_messages.framed([thrift.encode(schema.value(dice, schema.root, made)) for _ in range(dice.randrange(40))])
    found = thrift.columns(getattr(made, schema.root), data, rows=7)
    expected = pyarrow.table(found)
    assert found.to_parquet(path) == len(expected)
    rows = lambda table: [tuple(schema.alike(row[name], of) for name, of in schema.fields) for row in table.to_pylist()]
    assert rows(pyarrow.parquet.read_table(path)) == rows(expected), (seed, schema.idl)
    assert from_duckdb(schema, path) == rows(expected), (seed, schema.idl)
    if "map<" not in schema.idl:
        assert rows(polars.read_parquet(path).to_arrow()) == rows(expected), (seed, schema.idl)


def test_a_file_says_what_it_was_made_of(tmp_path):
    (tmp_path / "logs.bin").write_bytes(framed(range(9)))
    assert columns(tmp_path / "logs.bin").to_parquet(tmp_path / "logs.parquet") == 9
    metadata = pyarrow.parquet.read_metadata(tmp_path / "logs.parquet").metadata
    assert metadata[b"bytewright.sources"].decode() == str(tmp_path / "logs.bin")
    assert metadata[b"bytewright.schema"] == b"messages" and metadata[b"bytewright.version"]


def test_an_output_that_is_the_input_is_refused_also_with_force(tmp_path):
    path, content = tmp_path / "logs.bin", framed(range(9))
    path.write_bytes(content)
    (tmp_path / "link").symlink_to("logs.bin")
    (tmp_path / "hard").hardlink_to(path)
    for name in ("logs.bin", "link", "hard"):
        with pytest.raises(bytewright.ArgumentError, match="expected an output beside the inputs"):
            columns(path).to_parquet(tmp_path / name, force=True)
        with path.open("rb") as file, pytest.raises(bytewright.ArgumentError, match="beside the inputs"):
            columns(file).to_parquet(tmp_path / name, force=True)
    assert path.read_bytes() == content


def test_a_table_is_replaced_with_force_only(tmp_path):
    path = tmp_path / "a.bwt"
    with bytewright.TreeTable.open(path) as table:
        table["a"] = "1"
    with pytest.raises(bytewright.ArgumentError, match="replace it with force"):
        columns(framed([1])).to_parquet(path)
    assert columns(framed([1])).to_parquet(path, force=True) == 1


class Raising(io.RawIOBase):
    """A source that raises, or that is interrupted, once some of it was read."""

    def __init__(self, content, end):
        self.content, self.end = io.BytesIO(content), end

    def read(self, count=-1):
        return self.content.read(count) or self.end()


class Failed(Exception):
    pass


def fail():
    raise Failed


def be_interrupted():
    signal.raise_signal(signal.SIGINT)
    return b""


@pytest.mark.parametrize("end,error", [(fail, Failed), (be_interrupted, KeyboardInterrupt), (lambda: b"\0\0\0\x05\x63", bytewright.TruncatedError)])
def test_what_ends_before_its_end_leaves_the_older_file(tmp_path, end, error):
    path, ended = tmp_path / "logs.parquet", []
    path.write_bytes(b"older")
    once = lambda: end() if not ended and not ended.append(1) else b""
    with pytest.raises(error):
        columns(Raising(framed(range(50_000)), once)).to_parquet(path)
    assert path.read_bytes() == b"older"
    assert [each.name for each in tmp_path.iterdir()] == ["logs.parquet"]


def test_columns_that_their_own_source_writes_are_written_or_refused(tmp_path):
    class Itself(Raising):
        def end_(self):
            columns(framed(range(3))).to_parquet(tmp_path / "own.parquet")
            return b""

    source = Itself(framed(range(9)), None)
    source.end = source.end_
    assert columns(source).to_parquet(tmp_path / "own.parquet") == 9
    assert pyarrow.parquet.read_metadata(tmp_path / "own.parquet").num_rows == 9
