"""Goal: messages in Thrift's JSON protocol are those that apache's library wrote.

Method: random values of random schemas are written by apache's library in JSON and in Binary; what each function reads of the text
is what it reads of the bytes. BYTEWRIGHT_SCHEMAS sets how many schemas, BYTEWRIGHT_SEED the first one; a failure has its seed.
"""

import io
import os
import random

import pyarrow
import pytest
import thrift_messages
from bytewright import FormatError, LimitError, TruncatedError, thrift
from thrift_libraries import Apache
from thrift_schemas import Schema

SCHEMAS = int(os.environ.get("BYTEWRIGHT_SCHEMAS", "200"))
SEED = int(os.environ.get("BYTEWRIGHT_SEED", "0") or random.randrange(1 << 32))

IDL = "struct Place { 1: string city, 2: list<i64> codes } struct Entry { 1: i64 time, 2: binary host, 3: Place place }"


def entries(count=3):
    made = thrift.load(IDL)
    return made, [made.Entry(time=at, host=b"\xff" * at, place=made.Place(city='ä"\\', codes=[at, -at])) for at in range(count)]


def text(entry):
    """A message of `entries` as apache's library writes it."""
    host = {0: "", 1: "/w==", 2: "//8="}[entry.time]
    codes = ",".join(str(code) for code in entry.place.codes)
    place = f'{{"1":{{"str":"ä\\"\\\\"}},"2":{{"lst":["i64",{len(entry.place.codes)},{codes}]}}}}'
    return f'{{"1":{{"i64":{entry.time}}},"2":{{"str":"{host}"}},"3":{{"rec":{place}}}}}'.encode()


def test_what_apache_writes_in_json_is_what_it_writes_in_binary(tmp_path):
    pytest.importorskip("thrift")
    print(f"BYTEWRIGHT_SEED={SEED}")
    seeds = range(SEED, SEED + SCHEMAS)
    schemas = {seed: Schema(random.Random(seed), f"N{seed}") for seed in seeds}
    idl = "\n".join(schema.idl for schema in schemas.values())
    ours, apache = thrift.load(idl), Apache(tmp_path, idl)
    for seed, schema in schemas.items():
        dice, cls = random.Random(seed), getattr(ours, schema.root)
        objects = [schema.value(dice, schema.root, apache.made, set) for _ in range(3)]
        texts, messages = ([apache.encode(each, protocol) for each in objects] for protocol in ("json", "binary"))
        where = f"BYTEWRIGHT_SEED={seed}: {schema.idl}"
        decoded = [thrift.decode(cls, each) for each in messages]
        assert [thrift.decode(cls, each, "json") for each in texts] == decoded, where
        framed, lines = thrift_messages.framed(texts), b"\n".join(texts)
        assert list(thrift.decode_many(cls, framed, "json")) == decoded, where
        assert list(thrift.decode_many(cls, io.BytesIO(lines), "json", framed=False)) == decoded, where
        names = [name for name, _ in schema.fields]
        for one, other in zip(texts, messages, strict=True):
            assert thrift.pluck(cls, one, *names, protocol="json") == thrift.pluck(cls, other, *names), where
        expected = pyarrow.table(thrift.columns(cls, thrift_messages.framed(messages)))
        assert pyarrow.table(thrift.columns(cls, framed, protocol="json")).equals(expected), where
        assert pyarrow.table(thrift.columns(cls, lines, protocol="json", framed=False)).equals(expected), where


def test_texts_come_in_pieces_of_any_source(tmp_path):
    made, objects = entries()
    lines = b"\n".join(text(each) for each in objects) + b"\n"
    path = tmp_path / "lines"
    path.write_bytes(lines)

    class Slow:
        def __init__(self):
            self.file = io.BytesIO(lines)

        def read(self, _count):
            return self.file.read(3)

    for source in (lines, path, io.BytesIO(lines), Slow()):
        assert list(thrift.decode_many(made.Entry, source, "json", framed=False)) == objects
    for source in (lines, path, io.BytesIO(lines), Slow()):
        rows = thrift.columns(made.Entry, source, "time", "place.codes", protocol="json", framed=False, rows=2)
        assert list(rows) == [(each.time, each.place.codes) for each in objects]


def test_what_is_wrong_is_told_with_its_place_after_what_is_before_it():
    made, objects = entries(1)
    good = text(objects[0])

    def told(bad, error, words, at):
        for framed in (True, False):
            data = thrift_messages.framed([good, bad]) if framed else good + b"\n" + bad
            start = len(data) - len(bad)
            read = []
            with pytest.raises(error, match=words) as raised:
                read.extend(thrift.decode_many(made.Entry, data, "json", framed))
            assert raised.value.offset == start + at
            with pytest.raises(error, match=words) as raised:
                list(thrift.columns(made.Entry, data, "place.codes", protocol="json", framed=framed))
            assert raised.value.offset == start + at
        for read in (
            lambda: thrift.decode(made.Entry, bad, "json"),
            lambda: thrift.pluck(made.Entry, bad, "place.codes", protocol="json"),
        ):
            with pytest.raises(error, match=words) as raised:
                read()
            assert raised.value.offset == at

    told(b'{"1":{"i64":9223372036854775808}}', FormatError, "expected an i64, found 9223372036854775808", 12)
    told(b'{"2":{"str":"*"}}', FormatError, "expected binary in base64", 12)
    told(b'{"9":{"rec":' * 65 + b"{}" + b"}}" * 65, LimitError, "at most 64 nested structs", 12 * 65)
    told(b"\x0a\x00\x01", FormatError, "struct in JSON", 1)
    with pytest.raises(TruncatedError) as raised:
        thrift.decode(made.Entry, good[:-1], "json")
    assert raised.value.offset == len(good) - 1
    with pytest.raises(TruncatedError):
        list(thrift.decode_many(made.Entry, good[:-1], "json", framed=False))


def test_nothing_is_written_in_json():
    with pytest.raises(ValueError, match='"binary" or "compact", found "json"'):
        thrift.encode(entries(1)[1][0], "json")
