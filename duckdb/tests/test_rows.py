"""Goal: a table function has the rows that the command prints as JSON, value by value, with types that lose nothing.

Method: each sample goes through the command and through a query for all columns.
"""

import datetime
import json
import os
import pathlib
import struct
import subprocess

import duckdb
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CAPTURES = sorted(path for path in (ROOT / "samples").rglob("*") if ".pcap" in path.name)


def rows_of(db, call):
    """The rows of a call, with times and durations as the command prints them."""
    described = db.execute(f"DESCRIBE SELECT * FROM {call}").fetchall()
    # Python's times have no nanoseconds.
    asked = [f'epoch_ns("{name}")' if kind == "TIMESTAMP_NS" else f'"{name}"' for name, kind, *_ in described]
    found = db.execute(f"SELECT {', '.join(asked)} FROM {call}").fetchall()
    return [{name: printed(value) for (name, *_), value in zip(described, row)} for row in found]


def printed(value):
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(microseconds=1)
    return value


def packet_fields():
    """The names of all fields of a packet, as the command tells them."""
    words = [os.environ["BYTEWRIGHT_COMMAND"], "packets", "--fields", "help"]
    lines = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=True).stdout.splitlines()
    return ",".join(line.split()[0] for line in lines if line)


def same(found, expected):
    """Compares row by row: the difference of two long lists takes minutes to tell."""
    for place, (one, other) in enumerate(zip(found, expected)):
        assert one == other, place
    assert len(found) == len(expected)


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_packets_are_those_of_the_command(db, command, capture):
    expected, _ = command("packets", capture, "--json", "--fields", packet_fields())
    same(rows_of(db, f"read_packets('{capture}')"), expected)


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_flows_are_those_of_the_command_with_all_features(db, command, capture):
    expected, _ = command("flows", capture, "--json", "--features", "all")
    same(rows_of(db, f"read_flows('{capture}')"), expected)


def test_calls_are_those_of_the_command(db, command):
    capture = ROOT / "samples/warehouse.pcap.zst"
    expected, _ = command("rpc", capture, "--calls", "--json")
    assert expected
    same(rows_of(db, f"read_calls('{capture}')"), expected)


def test_calls_have_what_they_carry_as_json_or_as_structs(db, command):
    capture, idl = ROOT / "samples/warehouse.pcap.zst", ROOT / "samples/warehouse.thrift"
    call = f"read_calls('{capture}', idl := '{idl}', service := 'Store'"
    expected, _ = command("rpc", capture, "--calls", "--json", "--idl", idl, "--service", "Store")
    found = rows_of(db, call + ")")
    for row in found:
        row.update({name: json.loads(row[name]) for name in ("arguments", "result") if row[name] is not None})
    same(found, expected)
    with_json = db.execute(f"SELECT method, arguments, result FROM {call})").fetchall()
    assert {type(arguments) for _, arguments, _ in with_json} <= {str, type(None)}
    methods = sorted({method for method, *_ in with_json})
    found = 0
    for method in methods:
        structs = f"{call}, method := '{method.split(':')[-1]}', arguments := true)"
        rows = db.execute(f"SELECT to_json(arguments), to_json(result), method FROM {structs}").fetchall()
        assert len(rows) == len([one for one, *_ in with_json if one.split(":")[-1] == method.split(":")[-1]])
        kinds = dict(db.execute(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {structs})").fetchall())
        found += kinds["arguments"].startswith("STRUCT")
        # A column of the calls alone.
        assert db.execute(f"SELECT count(latency) FROM {structs}").fetchone()[0] <= len(rows)
    assert found


def test_types_lose_nothing(db):
    kinds = dict(
        db.execute(
            f"SELECT column_name, column_type FROM (DESCRIBE SELECT ts, src_ip, dst_port, seq, number, tcp_flags, proto FROM"
            f" read_packets('{ROOT}/samples/web.pcap.gz'))"
        ).fetchall()
    )
    assert kinds == {
        **{"ts": "TIMESTAMP_NS", "src_ip": "VARCHAR", "dst_port": "USMALLINT", "seq": "UINTEGER"},
        **{"number": "UBIGINT", "tcp_flags": "USMALLINT", "proto": "UTINYINT"},
    }
    flows = f"read_flows('{ROOT}/samples/web.pcap.gz')"
    kinds = dict(db.execute(f"SELECT column_name, column_type FROM (DESCRIBE SELECT duration, mean_length FROM {flows})").fetchall())
    assert kinds == {"duration": "INTERVAL", "mean_length": "DOUBLE"}


def field(kind, number, value):
    """A field of Thrift's binary protocol."""
    return struct.pack(">bh", kind, number) + value


def text(value):
    return struct.pack(">i", len(value)) + value


IDL = """
struct Empty {}
struct Part { 1: string name, 2: optional list<i32> sizes }
struct All {
  1: bool b, 2: byte i8, 3: i16 i16, 4: i32 i32, 5: i64 i64, 6: double d, 7: string s, 8: binary bin, 9: uuid u,
  10: list<Part> parts, 11: map<string, list<bool>> tags, 12: Part part, 13: Empty empty, 14: set<i64> many,
}
"""


def message(number):
    """A message with all fields, or with none where the number is odd."""
    if number % 2:
        return b"\0"
    part = field(11, 1, text(b"n%d" % number)) + field(15, 2, struct.pack(">bi3i", 8, 3, 1, number, 3)) + b"\0"
    tags = struct.pack(">bbi", 11, 15, 1) + text(b"key") + struct.pack(">bi2b", 2, 2, 1, 0)
    many = [number] * (number * 30)
    return b"".join(
        [
            field(2, 1, b"\1"),
            *(field(kind, place, struct.pack(form, -number)) for kind, place, form in ((3, 2, ">b"), (6, 3, ">h"), (8, 4, ">i"), (10, 5, ">q"))),
            *(field(4, 6, struct.pack(">d", number / 4)), field(11, 7, text("häß %d, long enough".encode() % number)), field(11, 8, text(b"\xff\0"))),
            field(16, 9, bytes(range(16))),
            field(15, 10, struct.pack(">bi", 12, 2) + part + b"\0"),
            field(13, 11, tags),
            field(12, 12, part),
            field(12, 13, b"\0"),
            field(14, 14, struct.pack(f">bi{len(many)}q", 10, len(many), *many)),
            b"\0",
        ]
    )


@pytest.fixture
def messages(tmp_path):
    """A call for 100 messages of all types, in two files."""
    (tmp_path / "all.thrift").write_text(IDL)
    for place in range(2):
        (tmp_path / f"{place}.bin").write_bytes(b"".join(message(number) for number in range(50 * place, 50 * place + 50)))
    return f"read_thrift('{tmp_path}/?.bin', idl := '{tmp_path}/all.thrift', type := 'All'"


def test_messages_have_lists_structs_and_maps(db, messages):
    rows = db.execute(f"SELECT * FROM {messages})").fetchall()
    assert len(rows) == 100
    for number, row in enumerate(rows):
        if number % 2:
            assert row == (None,) * 14, number
            continue
        part = {"name": f"n{number}", "sizes": [1, number, 3]}
        assert row[:6] == (True, -number, -number, -number, -number, number / 4)
        assert row[6:8] == (f"häß {number}, long enough", b"\xff\0")
        assert str(row[8]) == "00010203-0405-0607-0809-0a0b0c0d0e0f"
        assert row[9] == [part, {"name": None, "sizes": None}]
        assert row[10] in ({"key": [True, False]}, {"key": ["key"], "value": [[True, False]]})
        assert row[11:13] == (part, True)
        assert row[13] == [number] * (number * 30)


def test_paths_of_messages_are_columns_and_rows_of_lists(db, messages):
    call = f"{messages}, paths := ['i64', 'parts[].name'])"
    assert db.execute(f"SELECT * FROM {call}").fetchall()[2:4] == [(-2, "n2"), (-2, None)]
    # A query for another column has the rows of the list, too, and one for none.
    assert db.execute(f"SELECT i64 FROM {call}").fetchall() == db.execute(f"SELECT i64 FROM (SELECT * FROM {call})").fetchall()
    assert db.execute(f"SELECT count(*) FROM {call}").fetchone() == (100,)
    assert db.execute(f"SELECT sum(i64) FROM {messages}, paths := 'i64')").fetchone() == (-sum(range(0, 100, 2)),)


def test_only_the_columns_of_a_query_are_read(db, messages, tmp_path):
    bad = field(10, 5, struct.pack(">q", 7)) + field(11, 7, text(b"\xff")) + b"\0"
    (tmp_path / "2.bin").write_bytes(bad)
    # The text that is none is not looked at where another column is wanted.
    assert db.execute(f"SELECT sum(i64) FROM {messages})").fetchone() == (7 - sum(range(0, 100, 2)),)
    with pytest.raises(duckdb.Error, match="expected UTF-8 in the column s, found other bytes"):
        db.execute(f"SELECT max(s) FROM {messages})").fetchall()


def test_footers_of_parquet_files_are_messages(db, command, tmp_path):
    file = (ROOT / "samples/parquet/cities.parquet").read_bytes()
    length = struct.unpack("<i", file[-8:-4])[0]
    footer, idl = tmp_path / "footer.bin", ROOT / "samples/parquet.thrift"
    footer.write_bytes(file[-8 - length : -8])
    paths = ("num_rows", "row_groups.num_rows", "created_by")
    options = ("--idl", idl, "--type", "FileMetaData", "--protocol", "compact", "--json")
    expected, _ = command("thrift", "pluck", footer, *paths, *options)
    call = f"read_thrift('{footer}', idl := '{idl}', type := 'FileMetaData', protocol := 'compact', paths := {list(paths)})"
    assert rows_of(db, call) == expected
