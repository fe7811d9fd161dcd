"""Goal: columns leave in the types and the order that a program requests where these can be made, and with the same values.

Method: pyarrow requests schemas; what comes is compared with what pyarrow itself makes of the columns as they are.
"""

import pathlib

import pyarrow
import pytest

import bytewright
from bytewright import thrift

WEB = pathlib.Path(__file__).parents[2] / "samples" / "web.pcap.gz"
FIELDS = ("ts", "src_ip", "dst_port", "proto", "length")
OWN = pyarrow.table(bytewright.packets(WEB, *FIELDS))
NAMES = pyarrow.dictionary(pyarrow.int16(), pyarrow.string())
PORTS = "struct Ports { 1: i32 port, 2: string name, 3: list<i16> more }"


def packets():
    return bytewright.packets(WEB, *FIELDS, rows=1000)


def read(rows, *columns):
    """Reads the rows with these columns requested."""
    return pyarrow.RecordBatchReader.from_stream(rows, schema=pyarrow.schema(columns)).read_all()


def requested(**types):
    """The columns of `packets`, some of them in other types."""
    return [field.with_type(types.get(field.name, field.type)) for field in OWN.schema]


@pytest.mark.parametrize(
    "types",
    [
        {},
        {"ts": pyarrow.timestamp("us", "UTC")},
        {"ts": pyarrow.timestamp("ns")},
        {"ts": pyarrow.timestamp("us", "Europe/Berlin")},
        {"length": pyarrow.int64(), "dst_port": pyarrow.int32(), "proto": pyarrow.uint32()},
        {"length": pyarrow.uint16()},
        {"src_ip": pyarrow.string()},
        {"src_ip": pyarrow.string_view()},
        {"src_ip": NAMES},
        {"src_ip": pyarrow.dictionary(pyarrow.uint64(), pyarrow.large_string())},
    ],
)
def test_columns_come_in_the_types_that_are_requested(types):
    wanted = pyarrow.schema(requested(**types))
    found = read(packets(), *wanted)
    found.validate(full=True)
    assert found.schema == wanted
    if pyarrow.types.is_dictionary(wanted.field("src_ip").type):
        assert found["src_ip"].to_pylist() == OWN["src_ip"].to_pylist()
        wanted = pyarrow.schema(requested())
        found = found.set_column(1, wanted.field("src_ip"), found["src_ip"].cast(pyarrow.large_string()))
    assert found.equals(OWN.cast(wanted))


def test_columns_come_in_the_order_that_is_requested():
    columns = list(reversed(requested(length=pyarrow.int64())))
    found = read(packets(), *columns)
    assert found.column_names == ["length", "proto", "dst_port", "src_ip", "ts"]
    assert found["dst_port"].to_pylist() == OWN["dst_port"].to_pylist()
    assert found["length"].to_pylist() == OWN["length"].to_pylist()


def test_addresses_come_as_text_or_as_16_bytes():
    binary = read(packets(), *requested(src_ip=pyarrow.binary(16)))
    assert binary.schema.field("src_ip").type == pyarrow.binary(16)
    of_rows = packets().converted(addresses="binary")
    assert binary.equals(pyarrow.table(of_rows))
    text = read(of_rows, *requested(src_ip=pyarrow.string()))
    assert text["src_ip"].to_pylist() == OWN["src_ip"].to_pylist()


def test_columns_may_be_null_where_a_program_requests_that():
    field = OWN.schema.field("length")
    assert not field.nullable
    wanted = pyarrow.schema(requested()).set(4, field.with_nullable(True))
    assert read(packets(), *wanted).schema == wanted


def test_a_type_that_is_not_made_leaves_the_column_as_it_is():
    wanted = requested(length=pyarrow.float32(), ts=pyarrow.timestamp("us", "UTC"))
    found = read(packets(), *wanted)
    assert found.schema.field("length").type == OWN.schema.field("length").type
    assert found.schema.field("ts").type == pyarrow.timestamp("us", "UTC")
    # pyarrow casts the rest itself.
    assert pyarrow.table(packets(), schema=pyarrow.schema(wanted)).schema.field("length").type == pyarrow.float32()


def test_values_that_a_requested_type_cannot_hold_are_an_error_and_never_rounded():
    for name, asked in [("length", pyarrow.uint8()), ("ts", pyarrow.timestamp("s", "UTC"))]:
        told = f"expected values of the column {name} that the requested type can hold, found "
        with pytest.raises((pyarrow.ArrowInvalid, ValueError), match=told):
            read(packets(), *requested(**{name: asked}))
    with pytest.raises(bytewright.LimitError, match="expected values of the column length"):
        pyarrow.record_batch(next(packets().batches()), schema=pyarrow.schema(requested(length=pyarrow.int8())))


def test_other_columns_and_other_kinds_are_refused():
    names = "expected a requested schema of the columns ts, src_ip, dst_port, proto, length, found ts"
    with pytest.raises(bytewright.ArgumentError, match=names):
        read(packets(), ("ts", pyarrow.timestamp("ns", "UTC")))
    told = "expected a number type for the column length in the requested schema, found u"
    with pytest.raises(bytewright.ArgumentError, match=told):
        read(packets(), *requested(length=pyarrow.string()))
    with pytest.raises(bytewright.ArgumentError, match="expected a requested schema of columns"):
        packets().__arrow_c_stream__(pyarrow.int8().__arrow_c_schema__())


def test_something_that_is_no_schema_is_refused():
    with pytest.raises(TypeError):
        packets().__arrow_c_stream__(OWN.schema)
    with pytest.raises(ValueError, match="(?i)incorrect name"):
        packets().__arrow_c_stream__(OWN.__arrow_c_stream__())


def test_a_batch_comes_in_the_types_that_are_requested():
    batch = next(packets().batches())
    wanted = pyarrow.schema(requested(src_ip=NAMES, length=pyarrow.int64()))
    found = pyarrow.record_batch(batch, schema=wanted)
    assert found.schema == wanted
    assert found.column("src_ip").to_pylist() == batch["src_ip"]
    assert found.column("length").to_pylist() == batch["length"]
    assert pyarrow.record_batch(batch).equals(OWN.to_batches()[0][: len(batch)])


def test_columns_of_messages_come_in_the_types_that_are_requested(tmp_path):
    (tmp_path / "ports.thrift").write_text(PORTS)
    cls = thrift.load(tmp_path / "ports.thrift").Ports
    content = b"".join(thrift.encode(cls(port=port, name=f"port {port}")) for port in range(300))
    columns = thrift.columns(cls, content, "port", "name", framed=False)
    found = read(columns, ("name", pyarrow.string_view()), ("port", pyarrow.int16()))
    found.validate(full=True)
    assert found["port"].to_pylist() == list(range(300))
    assert found["name"].to_pylist() == [f"port {port}" for port in range(300)]
    with pytest.raises((pyarrow.ArrowInvalid, ValueError), match="found 128"):
        read(columns, ("name", pyarrow.string()), ("port", pyarrow.int8()))
