"""Goal: what reads Arrow takes our rows as they are: pandas, polars and DuckDB beside pyarrow.

Method: each of them sums a column up, and has every value as Python has it.
"""

import pathlib

import duckdb
import fsspec
import pandas
import polars
import pyarrow
import pytest

import bytewright

WEB = pathlib.Path(__file__).parents[2] / "samples" / "web.pcap.gz"
FIELDS = ("src_ip", "dst_port", "length")
ROWS = list(bytewright.packets(WEB, *FIELDS))


@pytest.fixture
def packets():
    return bytewright.packets(WEB, *FIELDS, rows=1000)


def test_polars_takes_rows_and_batches(packets):
    frame = polars.DataFrame(packets)
    assert frame.rows() == ROWS and frame.columns == list(FIELDS)
    assert frame.schema["dst_port"] == polars.UInt16
    batch = next(packets.batches())
    assert polars.DataFrame(batch).rows() == ROWS[: len(batch)]
    assert polars.DataFrame(bytewright.packets(WEB, "ts")).schema["ts"] == polars.Datetime("ns", "UTC")


def test_pandas_takes_rows(packets):
    frame = pandas.DataFrame.from_arrow(packets) if hasattr(pandas.DataFrame, "from_arrow") else pyarrow.table(packets).to_pandas()
    assert frame["length"].tolist() == [length for *_, length in ROWS]
    assert frame["src_ip"].tolist() == [address for address, *_ in ROWS] or frame["src_ip"].isna().any()


def test_duckdb_takes_rows(packets):
    found = duckdb.sql("select dst_port, sum(length) from packets where dst_port is not null group by 1 order by 1").fetchall()
    expected = {}
    for _, port, length in ROWS:
        if port is not None:
            expected[port] = expected.get(port, 0) + length
    assert dict(found) == expected


def test_duckdb_joins_flows_with_packets(packets):
    flows = bytewright.flows(WEB)
    assert duckdb.sql("select count(*) from flows").fetchall() == [(len(list(flows)),)]
    assert duckdb.sql("select count(*) from packets").fetchall() == [(len(ROWS),)]


def test_pyarrow_takes_rows(packets):
    assert pyarrow.table(packets).num_rows == len(ROWS)


def test_pyarrow_has_the_types_that_it_asks_for():
    wanted = pyarrow.schema([("ts", pyarrow.timestamp("us", "UTC")), ("length", pyarrow.int64())])
    rows = list(bytewright.packets(WEB, "ts", "length"))
    table = pyarrow.table(bytewright.packets(WEB, "ts", "length"), schema=wanted)
    assert table.schema == wanted
    assert table["length"].to_pylist() == [length for _, length in rows]
    assert table["ts"].cast(pyarrow.int64()).to_pylist() == [ts // 1000 for ts, _ in rows]


def test_files_of_fsspec_are_read_and_written():
    system = fsspec.filesystem("memory")
    system.pipe("/web.pcap.gz", WEB.read_bytes())
    with system.open("/web.pcap.gz", "rb") as file:
        assert bytewright.count_by(file, "dst_port") == bytewright.count_by(WEB, "dst_port")
    with system.open("/numbers", "wb") as file, bytewright.Writer(file) as writer:
        writer.u32be(7)
    with system.open("/numbers", "rb") as file, bytewright.Reader(file) as reader:
        assert reader.u32be() == 7
