"""Goal: the rows that Spark has of files of Thrift messages are the columns of `bytewright.thrift`, also of damaged files.

Method: files of random messages of random schemas, read by Spark and as columns of Arrow, and compared as plain values; the seed is in
the failure.
"""

import gzip
import pathlib
import random
import struct
import sys
import zlib

import pyarrow
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row

from bytewright import thrift

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import thrift_messages
from thrift_schemas import Schema

IDL = """
struct Tag { 1: string name, 2: i32 size }
struct Log { 1: i64 time, 2: list<Tag> tags, 3: map<string, i32> counts, 4: Tag tag, 5: binary file }
"""
LOGS = thrift.load(IDL)
OPTIONS = {"rows": "messages", "idl": IDL, "type": "Log"}


def log(time):
    tags = [LOGS.Tag(name=f"t{number}", size=number) for number in range(time % 4)]
    return LOGS.Log(time=time, tags=tags, counts={"a": time}, tag=LOGS.Tag(name="x"))


def framed(times):
    return thrift_messages.framed([thrift.encode(log(time)) for time in times])


def read(spark, paths, **options):
    return spark.read.format("bytewright").options(**{**OPTIONS, **options}).load([str(path) for path in paths])


def plain(value):
    if isinstance(value, Row):
        return {name: plain(each) for name, each in value.asDict().items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return bytes(value) if isinstance(value, bytearray) else value


def test_messages_of_random_schemas_are_the_columns_of_arrow(spark, tmp_path):
    for seed in range(12):
        dice = random.Random(seed)
        schema, protocol, is_framed = Schema(dice), dice.choice(["binary", "compact"]), dice.randrange(2) == 1
        made = thrift.load(schema.idl)
        messages = [thrift.encode(schema.value(dice, schema.root, made), protocol) for _ in range(30)]
        path = tmp_path / f"{seed}.bin"
        path.write_bytes(thrift_messages.framed(messages) if is_framed else b"".join(messages))
        columns = thrift.columns(getattr(made, schema.root), path, protocol=protocol, framed=is_framed)
        expected = [{name: schema.alike(row[name], of) for name, of in schema.fields} for row in pyarrow.table(columns).to_pylist()]
        options = {"idl": schema.idl, "type": schema.root, "protocol": protocol, "framed": str(is_framed)}
        rows = [plain(row) for row in read(spark, [path], **options).collect()]
        assert [{name: schema.alike(row[name], of) for name, of in schema.fields} for row in rows] == expected, (seed, schema.idl)


def header_frame(message, protocol, is_deflated):
    """A frame of THeader with a message."""
    transforms = [1] if is_deflated else []
    header = bytes([{"binary": 0, "compact": 2}[protocol], len(transforms), *transforms])
    header += bytes(-len(header) % 4)
    payload = zlib.compress(message) if is_deflated else message
    return struct.pack(">HHiH", 0x0FFF, 0, 7, len(header) // 4) + header + payload


def test_messages_in_frames_with_headers_say_their_protocol(spark, tmp_path):
    messages = [LOGS.Log(time=time) for time in range(20)]
    kinds = [(protocol, is_deflated) for protocol in ("binary", "compact") for is_deflated in (False, True)] * 5
    frames = [header_frame(thrift.encode(each, kind[0]), *kind) for each, kind in zip(messages, kinds, strict=True)]
    (tmp_path / "frames").write_bytes(thrift_messages.framed(frames))
    rows = read(spark, [tmp_path / "frames"], protocol="header", columns="time").collect()
    assert sorted(row.time for row in rows) == list(range(20))


def test_messages_in_json_are_a_line_each_or_in_frames(spark, tmp_path):
    texts = [f'{{"1":{{"i64":{time}}},"2":{{"lst":["rec",1,{{"1":{{"str":"t{time}"}}}}]}}}}'.encode() for time in range(20)]
    (tmp_path / "lines.gz").write_bytes(gzip.compress(b"\n".join(texts)))
    (tmp_path / "frames").write_bytes(thrift_messages.framed(texts))
    for name, framed in (("lines.gz", "false"), ("frames", "true")):
        rows = read(spark, [tmp_path / name], protocol="json", framed=framed, columns="time,tags[].name").collect()
        assert sorted(map(tuple, rows)) == [(time, f"t{time}") for time in range(20)]
    (tmp_path / "cut").write_bytes(b"\n".join(texts)[:-1])
    assert read(spark, [tmp_path / "cut"], protocol="json", framed="false").count() == 19


def test_columns_are_paths_and_the_file(spark, tmp_path):
    for place in range(2):
        (tmp_path / f"{place}.bin.gz").write_bytes(gzip.compress(framed(range(place * 10, place * 10 + 10))))
    (tmp_path / "log.thrift").write_text(IDL.replace(", 5: binary file", ""))
    paths = [tmp_path / "*.bin.gz"]
    frame = read(spark, paths, idl=str(tmp_path / "log.thrift"), columns="file, time,tags[].*")
    assert frame.columns == ["file", "time", "tags[].name", "tags[].size"]
    expected = [(str(tmp_path / f"{time // 10}.bin.gz"), time, f"t{number}", number) for time in range(20) for number in range(time % 4)]
    assert sorted(map(tuple, frame.collect())) == sorted(expected)
    assert frame.where("`tags[].size` = 2").count() == 5
    # A field of that name is the field.
    assert read(spark, paths, columns="time,file").first().file is None
    assert read(spark, paths, idl=str(tmp_path / "log.thrift"), columns="file").count() == 20


def test_a_damaged_file_gives_what_is_before_the_damage_or_fails(spark, tmp_path):
    (tmp_path / "cut").write_bytes(framed(range(50))[:-1])
    assert read(spark, [tmp_path / "cut"]).count() == 49
    with pytest.raises(PySparkException, match="TruncatedError"):
        read(spark, [tmp_path / "cut"], mode="failfast").count()


def test_files_that_come_into_a_folder_are_read_once(spark, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    counts = []
    for place in range(2):
        (folder / f"{place}.bin").write_bytes(framed(range(place * 10, place * 10 + 10)))
        stream = spark.readStream.format("bytewright").options(**OPTIONS, min_age="0", columns="time").load(str(folder))
        writer = stream.writeStream.foreachBatch(lambda batch, _: counts.append(sorted(row.time for row in batch.collect())))
        writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start().awaitTermination()
    assert [each for each in counts if each] == [list(range(10)), list(range(10, 20))]


@pytest.mark.parametrize("options,message", [
    ({"type": "Lag"}, r"expected type to be a struct of the IDL \(Log, Tag\), found Lag"),
    ({"columns": "tagz"}, "tagz"),
    ({"protocol": "text"}, "expected protocol to be binary, compact, header or json, found text"),
    ({"protocol": "header", "framed": "false"}, "expected messages in frames with the protocol header"),
    ({"rows": "packets"}, "expected framed beside rows=messages, found it beside rows=packets"),
    ({"idl": "no such file"}, "no such file"),
])  # fmt: skip
def test_wrong_options_are_refused(spark, tmp_path, options, message):
    with pytest.raises(PySparkException, match=message):
        read(spark, [tmp_path], **{"framed": "true", **options}).schema  # noqa: B018


def test_an_idl_and_a_struct_are_needed(spark, tmp_path):
    for name in ("idl", "type"):
        given = {each: value for each, value in OPTIONS.items() if each != name}
        with pytest.raises(PySparkException, match=f"expected the option {name} beside rows=messages"):
            spark.read.format("bytewright").options(**given).load(str(tmp_path)).schema  # noqa: B018
