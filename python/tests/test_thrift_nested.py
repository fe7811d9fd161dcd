"""Goal: columns of lists, structs and maps, rows of their elements, and what is plucked through lists, are what the objects have.

Method: random messages of random schemas are read as objects and as columns, and both compared as plain values; footers of Parquet
files that pyarrow wrote are compared with what pyarrow reads in them. BYTEWRIGHT_CASES sets how many schemas; a failure has its seed.
"""

import itertools
import os
import pathlib
import pickle
import random

import bytewright
import pyarrow
import pyarrow.parquet
import pytest
import thrift_messages
from bytewright import thrift
from thrift_schemas import Schema

CASES = int(os.environ.get("BYTEWRIGHT_CASES", "300"))
PROTOCOLS = ("binary", "compact")
PARQUET = thrift.load((pathlib.Path(__file__).parents[2] / "samples" / "parquet.thrift").read_text())

@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_whole_messages_as_columns_are_the_objects(protocol):
    for seed in range(CASES):
        dice = random.Random(seed)
        schema = Schema(dice)
        made = thrift.load(schema.idl)
        cls = getattr(made, schema.root)
        objects = [schema.value(dice, schema.root, made) for _ in range(dice.randrange(8))]
        data = thrift_messages.framed([thrift.encode(each, protocol) for each in objects])
        decoded = list(thrift.decode_many(cls, data, protocol))
        expected = [tuple(schema.plain(getattr(each, name), of) for name, of in schema.fields) for each in decoded]
        columns = thrift.columns(cls, data, protocol=protocol, rows=3)
        table = pyarrow.table(columns)
        table.validate(full=True)
        for rows in (list(columns), list(zip(*(column.to_pylist() for column in table.columns)))):
            found = [tuple(schema.alike(value, of) for value, (_, of) in zip(row, schema.fields)) for row in rows]
            assert found == expected, f"seed {seed}: {schema.idl}"
        for batch in columns.batches():
            assert pickle.loads(pickle.dumps(batch)).to_dict() == batch.to_dict(), f"seed {seed}"


def footer_of(path):
    data = pathlib.Path(path).read_bytes()
    return data[-8 - int.from_bytes(data[-8:-4], "little") : -8]


def footer_columns(path, *paths):
    return thrift.columns(PARQUET.FileMetaData, footer_of(path), *paths, protocol="compact", framed=False)


CHUNK = "row_groups[].columns[].meta_data."


@pytest.fixture(params=["1.0", "2.6"])
def parquet(tmp_path, request):
    table = pyarrow.table(
        {
            "id": list(range(1000)),
            "name": [None if id % 7 == 0 else str(id) for id in range(1000)],
            "pair": [{"x": id, "y": [id] * (id % 3)} for id in range(1000)],
        }
    )
    path = tmp_path / "table.parquet"
    pyarrow.parquet.write_table(table, path, row_group_size=300, version=request.param)
    return path


def test_footers_of_parquet_files_are_read_as_pyarrow_reads_them(parquet):
    metadata = pyarrow.parquet.read_metadata(parquet)
    names = ("num_values", "total_compressed_size", "total_uncompressed_size", "dictionary_page_offset", "data_page_offset")
    table = pyarrow.table(footer_columns(parquet, "row_groups[].num_rows", *(CHUNK + name for name in names), "num_rows"))
    chunks = [
        (group, metadata.row_group(group).column(place))
        for group in range(metadata.num_row_groups)
        for place in range(metadata.num_columns)
    ]
    for name in names:
        assert table[CHUNK + name].to_pylist() == [getattr(chunk, name) for _, chunk in chunks]
    rows = [metadata.row_group(group).num_rows for group, _ in chunks]
    assert table["row_groups[].num_rows"].to_pylist() == rows
    assert table["num_rows"].to_pylist() == [metadata.num_rows] * len(chunks)
    paths = pyarrow.table(footer_columns(parquet, CHUNK + "path_in_schema"))[0].to_pylist()
    assert [".".join(path) for path in paths] == [chunk.path_in_schema for _, chunk in chunks]
    statistics = pyarrow.table(footer_columns(parquet, CHUNK + "statistics.null_count"))[0].to_pylist()
    assert statistics == [chunk.statistics.null_count if chunk.statistics else None for _, chunk in chunks]


def test_whole_footers_are_those_that_are_decoded(parquet):
    decoded = thrift.decode(PARQUET.FileMetaData, footer_of(parquet), "compact")
    [row] = pyarrow.table(footer_columns(parquet)).to_pylist()

    def as_dict(value):
        if isinstance(value, list):
            return [as_dict(each) for each in value]
        if isinstance(value, thrift.Struct):
            return {name: as_dict(getattr(value, name)) for name in type(value).__annotations__}
        return value

    assert row == as_dict(decoded)


def test_what_is_plucked_through_lists_is_what_the_objects_have(parquet):
    footer = footer_of(parquet)
    decoded = thrift.decode(PARQUET.FileMetaData, footer, "compact")
    sizes, encodings, keys, groups = thrift.pluck(
        PARQUET.FileMetaData,
        footer,
        "row_groups.columns.meta_data.total_compressed_size",
        "row_groups.columns.meta_data.encodings",
        "key_value_metadata.key",
        "row_groups.columns.meta_data.statistics",
        protocol="compact",
    )
    chunks = [[chunk.meta_data for chunk in group.columns] for group in decoded.row_groups]
    assert sizes == [[chunk.total_compressed_size for chunk in group] for group in chunks]
    assert encodings == [[chunk.encodings for chunk in group] for group in chunks]
    assert groups == [[chunk.statistics for chunk in group] for group in chunks]
    assert keys == [each.key for each in decoded.key_value_metadata or []]
    rows = thrift.pluck(PARQUET.FileMetaData, footer, "row_groups.*", protocol="compact")
    assert rows == ([each.total_byte_size for each in decoded.row_groups], [each.num_rows for each in decoded.row_groups])
    with pytest.raises(bytewright.ArgumentError, match="row_groups.num_rows has a list"):
        thrift.pluck(PARQUET.FileMetaData, footer, "row_groups[].num_rows", protocol="compact")


def test_maps_unions_and_enums_are_columns():
    made = thrift.load(
        """
        enum Color { RED = 1 }
        union Shape { 1: i32 radius, 2: string name }
        struct All { 1: map<string, Color> colors, 2: Shape shape, 3: map<Shape, i32> by_shape, 4: set<Color> set }
        """
    )
    one = made.All(colors={"a": made.Color.RED, "b": 7}, shape=made.Shape(name="x"), set={made.Color.RED})
    data = thrift_messages.framed([thrift.encode(one), thrift.encode(made.All(by_shape={made.Shape(radius=2): 5}))])
    first, second = list(thrift.columns(made.All, data))
    assert first == ({"a": 1, "b": 7}, {"radius": None, "name": "x"}, None, [1])
    assert second == (None, None, [({"radius": 2, "name": None}, 5)], None)
    table = pyarrow.table(thrift.columns(made.All, data))
    assert table.schema.field("colors").type == pyarrow.map_(pyarrow.large_string(), pyarrow.int32())
    assert list(thrift.columns(made.All, data, "colors{}.key", "colors{}.value", "shape.name")) == [("a", 1, "x"), ("b", 7, "x")]
    assert thrift.pluck(made.All, data[4:], "colors.value", "set") == ([made.Color.RED, 7], {made.Color.RED})


def test_a_struct_that_holds_itself_is_refused_with_the_path():
    made = thrift.load("struct Node { 1: i32 id, 2: list<Node> children }")
    with pytest.raises(bytewright.ArgumentError, match=r"found Node in children\[\] inside of Node; name the fields"):
        thrift.columns(made.Node, b"")
    node = made.Node(id=1, children=[made.Node(id=2), made.Node(id=3)])
    data = thrift_messages.framed([thrift.encode(node)])
    assert list(thrift.columns(made.Node, data, "id", "children[].id")) == [(1, 2), (1, 3)]
    assert list(thrift.columns(made.Node, data, "children.children.id")) == [([None, None],)]


def test_a_message_that_would_become_any_size_is_refused_with_the_path():
    made = thrift.load("struct Wide {" + ", ".join(f"{id}: i64 f{id}" for id in range(1, 201)) + "} struct Bomb { 1: list<Wide> wides }")
    bomb = b"\x19\xfc" + b"\x80\x80\x80\x01" + b"\0" * (1 << 21) + b"\0"
    with pytest.raises(bytewright.LimitError, match=", in wides"):
        list(thrift.columns(made.Bomb, bomb, protocol="compact", framed=False))


def test_batches_end_with_the_message_that_fills_them():
    made = thrift.load("struct Log { 1: i32 id, 2: list<i32> parts }")
    messages = [thrift.encode(made.Log(id=id, parts=list(range(id % 5)))) for id in range(100)]
    data = thrift_messages.framed(messages)
    columns = thrift.columns(made.Log, data, "parts[]", "id", rows=10)
    sizes = [len(batch) for batch in columns.batches()]
    assert sum(sizes) == sum(id % 5 for id in range(100)) and all(10 <= size < 14 for size in sizes[:-1])
    assert list(columns) == list(itertools.chain.from_iterable([(part, id) for part in range(id % 5)] for id in range(100)))
    empty = thrift_messages.framed([thrift.encode(made.Log(id=1, parts=[]))] * 100)
    assert list(thrift.columns(made.Log, empty, "parts[]")) == []
