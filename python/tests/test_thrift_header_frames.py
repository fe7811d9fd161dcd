"""Goal: messages in frames of THeader are those that were written into them, by apache's library or by these bytes.

Method: objects that are written by apache's THeaderTransport, deflated and not, in both protocols, and frames by the bytes of the
specification, whole and damaged.
"""

import io
import struct
import zlib

import pytest

from bytewright import ArgumentError, FormatError, LimitError, TruncatedError, thrift

thrift_header = pytest.importorskip("thrift.transport.THeaderTransport")

IDL = "struct Place { 1: string city, 2: list<i64> codes } struct Entry { 1: i64 time, 2: string host, 3: Place place }"


def entries(count=3):
    made = thrift.load(IDL)
    return made, [
        made.Entry(time=time, host="h" * time, place=made.Place(city="Bern", codes=[time, -time])) for time in range(1, count + 1)
    ]


def frame(message, protocol="binary", transforms=(), information=b"\x01\x01\x03key\x01v"):
    header = bytes([{"binary": 0, "compact": 2}.get(protocol, protocol), len(transforms), *transforms]) + information
    header += bytes(-len(header) % 4)
    payload = zlib.compress(message) if 1 in transforms else message
    content = struct.pack(">HHiH", 0x0FFF, 0, 7, len(header) // 4) + header + payload
    return struct.pack(">i", len(content)) + content


def by_apache(message, protocol, is_deflated):
    """The frame that apache's transport writes of a message."""
    from thrift.transport.TTransport import TMemoryBuffer

    sent = TMemoryBuffer()
    transport = thrift_header.THeaderTransport(sent, [thrift_header.THeaderClientType.HEADERS])
    transport.set_header(b"key", b"value")
    transport.set_max_frame_size(1 << 20)
    transport._protocol_id = {"binary": 0, "compact": 2}[protocol]
    if is_deflated:
        transport.add_transform(thrift_header.THeaderTransformID.ZLIB)
    transport.write(message)
    transport.flush()
    return sent.getvalue()


@pytest.mark.parametrize("protocol", ["binary", "compact"])
@pytest.mark.parametrize("is_deflated", [False, True])
def test_what_apache_writes_is_read(protocol, is_deflated):
    made, objects = entries()
    frames = [by_apache(thrift.encode(each, protocol), protocol, is_deflated) for each in objects]
    assert all(b"\x0f\xff" == each[4:6] for each in frames)
    assert [thrift.decode(made.Entry, each, "header") for each in frames] == objects
    data = b"".join(frames)
    assert list(thrift.decode_many(made.Entry, data, "header")) == objects
    assert list(thrift.decode_many(made.Entry, io.BytesIO(data), "header")) == objects
    rows = thrift.columns(made.Entry, data, "time", "place.city", "place.codes", protocol="header", rows=2)
    assert list(rows) == [(each.time, "Bern", [each.time, -each.time]) for each in objects]
    assert thrift.pluck(made.Entry, frames[1], "host", "place.codes", protocol="header") == ("hh", [2, -2])


def text_by_apache(entry):
    """The struct that apache's TJSONProtocol writes of an entry."""
    from thrift.protocol.TJSONProtocol import TJSONProtocol
    from thrift.Thrift import TType
    from thrift.transport.TTransport import TMemoryBuffer

    sent = TMemoryBuffer()
    to = TJSONProtocol(sent)

    def field(kind, number, write, *value):
        to.writeFieldBegin("", kind, number)
        write(*value)
        to.writeFieldEnd()

    def codes():
        to.writeListBegin(TType.I64, len(entry.place.codes))
        for code in entry.place.codes:
            to.writeI64(code)
        to.writeListEnd()

    def place():
        to.writeStructBegin("Place")
        field(TType.STRING, 1, to.writeString, entry.place.city)
        field(TType.LIST, 2, codes)
        to.writeStructEnd()

    to.writeStructBegin("Entry")
    field(TType.I64, 1, to.writeI64, entry.time)
    field(TType.STRING, 2, to.writeString, entry.host)
    field(TType.STRUCT, 3, place)
    to.writeStructEnd()
    return sent.getvalue()


@pytest.mark.parametrize("transforms", [(), (1,)])
def test_texts_that_apache_writes_are_read_behind_headers(transforms):
    made, objects = entries()
    frames = [frame(text_by_apache(each), 1, transforms) for each in objects]
    assert [thrift.decode(made.Entry, each, "header") for each in frames] == objects
    assert thrift.pluck(made.Entry, frames[1], "host", "place.codes", protocol="header") == ("hh", [2, -2])
    mixed = b"".join([*frames, frame(thrift.encode(objects[0]))])
    assert list(thrift.decode_many(made.Entry, io.BytesIO(mixed), "header")) == [*objects, objects[0]]
    rows = thrift.columns(made.Entry, mixed, "time", "place.codes", protocol="header")
    assert list(rows) == [(each.time, [each.time, -each.time]) for each in [*objects, objects[0]]]


def test_frames_of_both_protocols_deflated_and_not_may_follow_each_other(tmp_path):
    made, objects = entries(40)
    kinds = [(protocol, transforms) for protocol in ("binary", "compact") for transforms in ((), (1,))]
    frames = [frame(thrift.encode(each, kind[0]), *kind) for each, kind in zip(objects, kinds * 10, strict=True)]
    path = tmp_path / "frames"
    path.write_bytes(b"".join(frames))
    assert list(thrift.decode_many(made.Entry, path, "header")) == objects
    assert list(thrift.columns(made.Entry, path, "time", protocol="header")) == [(each.time,) for each in objects]

    class Slow:
        def __init__(self):
            self.file = io.BytesIO(path.read_bytes())

        def read(self, _count):
            return self.file.read(3)

    assert list(thrift.decode_many(made.Entry, Slow(), "header")) == objects


def test_what_is_damaged_is_told_with_its_place_after_what_is_before_it():
    made, objects = entries(1)
    message = thrift.encode(objects[0])
    good = frame(message)

    def told(bad, error, words, at):
        for read in (
            lambda: list(thrift.decode_many(made.Entry, good + bad, "header")),
            lambda: list(thrift.columns(made.Entry, good + bad, "place.codes", protocol="header")),
        ):
            with pytest.raises(error, match=words) as raised:
                read()
            assert raised.value.offset == len(good) + at
        for read in (
            lambda: thrift.decode(made.Entry, bad, "header"),
            lambda: thrift.pluck(made.Entry, bad, "place.codes", protocol="header"),
        ):
            with pytest.raises(error, match=words) as raised:
                read()
            assert raised.value.offset == at

    told(struct.pack(">i", len(message)) + message, FormatError, "frame of THeader, which begins with 0fff, found 0a00", 4)
    told(frame(message, 3), FormatError, r"protocol 0 \(Binary\), 1 \(JSON\) or 2 \(Compact\) in a header, found 3", 14)
    told(frame(message, "binary", [2]), FormatError, r"transform 1 \(zlib\) in a header, found 2 \(HMAC\)", 16)
    told(frame(message, "binary", [3]), FormatError, r"transform 1 \(zlib\) in a header, found 3 \(Snappy\)", 16)
    told(frame(bytes(16_384_001), "binary", [1]), LimitError, "payload of a frame inflated of at most 16384000", 26)
    told(frame(message[:3], information=b""), TruncatedError, "found 0 before the input ends", 18 + 3)
    told(frame(message[:3], transforms=[1], information=b""), TruncatedError, "found 0 before the input ends", 18 + 3)
    deflated = bytearray(frame(message, "binary", [1]))
    deflated[-1] ^= 1
    told(bytes(deflated), FormatError, "payload of a frame deflated", 26)
    told(good[:-1], TruncatedError, "a frame", 0)


def test_frames_are_needed_and_nothing_is_written_with_headers():
    made, objects = entries(1)
    for call in (thrift.decode_many, thrift.columns):
        with pytest.raises(ArgumentError, match="in frames with the protocol header"):
            call(made.Entry, b"", protocol="header", framed=False)
    with pytest.raises(ArgumentError, match='"binary" or "compact", found "header"'):
        thrift.encode(objects[0], "header")
    with pytest.raises(ArgumentError, match='"binary", "compact", "header" or "json", found "JSON"'):
        thrift.decode(made.Entry, b"", "JSON")
