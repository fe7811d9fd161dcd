"""Goal: what reads Arrow takes our rows as they are: pandas, polars and DuckDB beside pyarrow.

Method: each of them sums a column up, and has every value as Python has it.
"""

import io
import pathlib

import duckdb
import fsspec
import numpy
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


def test_rows_and_batches_are_frames(packets):
    batch = next(packets.batches())
    for rows, expected in ((packets, ROWS), (batch, ROWS[: len(batch)])):
        frame = rows.to_polars()
        assert isinstance(frame, polars.DataFrame) and frame.rows() == expected
        frame = rows.to_pandas()
        assert isinstance(frame, pandas.DataFrame) and list(frame) == list(FIELDS)
        assert list(frame["length"]) == [row[2] for row in expected]


def test_columns_of_messages_are_frames():
    logs = bytewright.thrift.load("struct Entry { 1: i64 time, 2: string host }")
    message = bytewright.thrift.encode(logs.Entry(time=7, host="a"))
    columns = bytewright.thrift.columns(logs.Entry, len(message).to_bytes(4, "big") + message, "time", "host")
    assert columns.to_polars().rows() == [(7, "a")] and list(columns.to_pandas()["host"]) == ["a"]
    with pytest.raises(TypeError, match="from_arrow"):
        pandas.DataFrame(columns)


def test_a_frame_with_numbered_columns_is_refused(packets):
    for wrong in (lambda: pandas.DataFrame(packets), lambda: pandas.DataFrame(bytewright.flows(WEB)), lambda: numpy.array(packets)):
        with pytest.raises(TypeError, match=r"use rows.to_pandas\(\) or pandas.DataFrame.from_arrow\(rows\)"):
            wrong()
    batch = next(packets.batches())
    with pytest.raises(TypeError, match=r"use batch.to_pandas\(\)"):
        numpy.asarray(batch)


@pytest.mark.parametrize("integer", [numpy.int64, numpy.uint16, numpy.uint8])
def test_integers_of_numpy_are_numbers(integer, tmp_path):
    two = integer(2)
    assert bytewright.HashTable({"a": two}, values="integer")["a"] == 2
    table = bytewright.TreeTable({"a": "1", "b": "2", "c": "3"})
    assert table.increment("a", two) == 3 and len(list(table.range(limit=two))) == 2
    target = io.BytesIO()
    with bytewright.Writer(target) as writer:
        for name in ("u8", "i8", "u16le", "u24be", "u32be", "i64le", "u64be", "varint", "zigzag", "f32le", "f64be"):
            getattr(writer, name)(two)
        writer.seek(integer(0))
    with bytewright.Reader(target.getvalue()) as reader:
        assert (reader.read(two), reader.skip(integer(5)), reader.u32be(), reader.seek(two)) == (b"\2\2", 5, 2, 2)
        assert len(reader.unpack_records("C", two)) == 2 and len(reader.peek(two)) == 2
    with bytewright.Capture(WEB, jobs=two) as capture:
        assert len(next(capture.batches("length", rows=two))) == 2
        assert capture.sum(by="proto", every=two, top=two).to_dict() == capture.sum(by="proto", every=2, top=2).to_dict()
        assert capture.write_to(tmp_path / "w.pcap", snaplen=integer(20), from_time=integer(0))["packets"] == 8760
    list(bytewright.flows(WEB, idle_timeout=two, active_timeout=two, max_flows=integer(100)))


def test_large_integers_of_numpy_are_whole():
    target = io.BytesIO()
    with bytewright.Writer(target) as writer:
        writer.u64be(numpy.uint64(2**64 - 1))
        writer.varint(numpy.uint64(2**63))
        for wrong in (lambda: writer.u8(numpy.int64(256)), lambda: writer.u32be(numpy.int64(-1)), lambda: writer.i64be(numpy.uint64(2**63))):
            with pytest.raises(OverflowError, match="fits into"):
                wrong()
    assert target.getvalue()[:8] == b"\xff" * 8
    with pytest.raises(OverflowError):
        bytewright.HashTable({"a": numpy.uint64(2**63)}, values="integer")


@pytest.mark.parametrize("real", [numpy.float64, numpy.float32, float])
def test_floats_of_numpy_are_seconds(real, tmp_path):
    with bytewright.CaptureWriter(tmp_path / "w.pcapng") as writer:
        writer.write(b"x", time=real(1.5))
        writer.write(b"x", time=numpy.int64(1_600_000_000_000_000_000))
    capture = bytewright.Capture(tmp_path / "w.pcapng")
    assert [packet.ts for packet in capture] == [1_500_000_000, 1_600_000_000_000_000_000]
    assert capture.write_to(tmp_path / "x.pcapng", from_time=real(1.75))["packets"] == 1
    assert len(capture.sum(every=real(0.5))) == 2
    assert len(list(capture.flows(idle_timeout=real(0.5), active_timeout=real(1.5)))) == 0
    with bytewright.HashTable.open(tmp_path / "t.bwh", timeout=real(0.5)) as table:
        assert not table
