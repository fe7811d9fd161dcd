"""Goal: a lazy frame of a capture has the rows that the capture has, whatever a query pushes down.

Method: random queries over the samples, compared with the same query over a frame that has all; the seed is in the failure.
"""

import datetime
import io
import pathlib
import random
import struct

import polars
import pytest

import bytewright
import bytewright.polars
from bytewright._polars_predicates import libpcap_filter
from bytewright.polars import scan_flows, scan_packets

SAMPLES = sorted(path for path in (pathlib.Path(__file__).parents[2] / "samples").iterdir() if ".pcap" in path.name)
FIELDS = [field[0] for field in bytewright._bytewright.schema_of("packets")]


@pytest.fixture(scope="module", params=SAMPLES, ids=lambda path: path.name)
def capture(request):
    return request.param, polars.DataFrame(bytewright.packets(request.param, *FIELDS))


def random_predicate(chance, frame, depth=2):
    if depth and chance.random() < 0.6:
        one, two = random_predicate(chance, frame, depth - 1), random_predicate(chance, frame, depth - 1)
        return chance.choice([one & two, one | two, ~one & two, one.is_not_null() | two])
    name = chance.choice(["src_port", "dst_port", "proto", "src_ip", "dst_ip", "ts", "length", "tcp_flags"])
    column, value = polars.col(name), frame[name].sample(1, seed=chance.randrange(2**32))[0]
    if value is None or chance.random() < 0.1:
        return chance.choice([column.is_null(), column == (7 if frame.schema[name].is_numeric() else frame[name].max())])
    if name == "ts":
        # Python's have microseconds, and the column's nanoseconds.
        exact = polars.lit(frame[name].drop_nulls().cast(int).sample(1, seed=chance.randrange(2**32))[0], dtype=frame.schema[name])
        later = value + datetime.timedelta(microseconds=chance.randrange(10**6))
        closed = chance.choice(["both", "left", "right", "none"])
        return chance.choice([
            column == value, column != value, column >= exact, column < value, value <= column, exact > column, column.is_in([value]),
            column.is_between(value, later, closed), (column > exact) & (column <= later), column.dt.second() == 1,
            (column < value) | (column > later), (column == value) | (column == later),
        ])  # fmt: skip
    if name in ("src_ip", "dst_ip"):
        return chance.choice([column == value, column != value, column.is_in([value]), value == column])
    return chance.choice([
        column == value, column >= value, column < value, value <= column, value > column, column.is_between(value, value + 3),
        column.is_in([value, 80]), column != value, column + 0 == value,
    ])  # fmt: skip


@pytest.mark.parametrize("seed", range(15))
def test_random_queries_give_the_rows_of_a_frame_that_has_all(seed, capture):
    path, frame = capture
    chance = random.Random(f"{seed} {path.name}")
    predicate = random_predicate(chance, frame)
    columns = chance.sample(FIELDS, chance.randrange(1, 5))

    def query(frame):
        match chance_of_head:
            case 0:
                return frame.head(50).filter(predicate).select(columns)
            case 1:
                return frame.filter(predicate).head(5).select(columns)
            case _:
                return frame.filter(predicate).select(columns)

    chance_of_head = chance.randrange(4)
    found, expected = query(scan_packets(path)).collect(), query(frame.lazy()).collect()
    assert found.equals(expected), (seed, path.name, str(predicate))


@pytest.mark.parametrize("predicate,pushed", [
    (polars.col("dst_port") == 80, ["(dst portrange 80-80)"] * 2),
    (polars.col("dst_port").is_in([80, 443]), ["((dst portrange 80-80) or (dst portrange 443-443))"] * 2),
    (polars.col("src_port").is_between(5, 9), ["((src portrange 5-65535) and (src portrange 0-9))"] * 2),
    ((polars.col("proto") == 6) & (polars.col("length") > 100), ["(ip proto 6)", "(ip6[6] = 6)"]),
    (polars.col("proto") == 1, ["(ip proto 1)", False]),
    ((polars.col("proto") == 6) | (polars.col("src_ip") == "10.0.0.1"),
     ["((ip proto 6) or (ip src host 10.0.0.1))", "((ip6[6] = 6) or (ip6 src host ::ffff:10.0.0.1))"]),
    (polars.col("src_ip") == "fd00::1", [False, "(ip6 src host fd00::1)"]),
    ((polars.col("dst_port") == 80) & (polars.col("src_ip") == "fd00::1"),
     [False, "((dst portrange 80-80) and (ip6 src host fd00::1))"]),
    (polars.col("dst_ip").is_in(["fd00::1", "10.0.0.1"]),
     ["(ip dst host 10.0.0.1)", "((ip6 dst host fd00::1) or (ip6 dst host ::ffff:10.0.0.1))"]),
    (polars.col("dst_port").is_in([80, None]), None),
    (polars.col("dst_port").is_in(list(range(65))), None),
    (polars.col("dst_port").is_in(polars.col("src_port").implode()), None),
    ((polars.col("proto") == 6) | (polars.col("length") > 100), None),
    (~(polars.col("proto") == 6), None),
    (polars.col("src_ip") == "no address", None),
    (polars.col("dst_port") != 80, None),
    (polars.col("src_port") == polars.col("dst_port"), None),
])  # fmt: skip
def test_what_libpcap_can_tell_is_pushed_down(predicate, pushed, monkeypatch):
    told = []

    def packets(*arguments, filter=None, **options):
        told.append((arguments[1:], filter))
        return bytewright.packets(*arguments, filter=filter, **options)

    monkeypatch.setattr(bytewright.polars, "packets", packets)
    scan_packets(SAMPLES[-1]).filter(predicate).select("ttl").collect()
    (_, _), (fields, filter) = told
    assert set(fields) == {"ttl", *predicate.meta.root_names()}
    assert filter == (None if pushed is None else f"({whole_filter(*pushed)})")


TIME = polars.lit(5, dtype=polars.Datetime("ns", "UTC"))
LATER = polars.lit(9, dtype=polars.Datetime("ns", "UTC"))
TS = polars.col("ts")


@pytest.mark.parametrize("predicate,where", [
    (TS >= TIME, "ts >= 5"),
    (TIME > TS, "ts <= 5"),
    (TS == TIME, "ts >= 5 and ts <= 5"),
    (TS.is_between(TIME, LATER, "none"), "ts >= 5 and ts <= 9"),
    ((TS > TIME) & (TS < LATER) & (polars.col("length") > 100), "ts >= 5 and ts <= 9"),
    ((TS == LATER) | (TS == TIME), "ts >= 5 and ts <= 9"),
    ((TS < TIME) | (TS > LATER), None),
    ((TS >= TIME) | (polars.col("length") > 100), None),
    ((TS >= TIME) | TS.is_null(), None),
    (~(TS >= TIME), "ts <= 5"),
    (TS != TIME, None),
    (TS.dt.second() == 1, None),
    (polars.col("length") > 100, None),
])  # fmt: skip
def test_times_are_compared_by_the_core(predicate, where, monkeypatch):
    told = []

    def packets(*arguments, where=None, **options):
        told.append(where)
        return bytewright.packets(*arguments, where=where, **options)

    monkeypatch.setattr(bytewright.polars, "packets", packets)
    scan_packets(SAMPLES[-1]).filter(predicate).select("ttl").collect()
    assert told[-1] == where


def test_times_before_1970_are_compared_by_the_core():
    old = scan_packets(SAMPLES[-1]).filter(TS > polars.lit(-5, dtype=polars.Datetime("ns", "UTC")))
    assert len(old.collect()) == bytewright.info(SAMPLES[-1])["packets"]


def whole_filter(four, six):
    unknown = "not (ip6[6] = 6 or ip6[6] = 17 or ip6[6] = 58 or ip6[6] = 132)"
    old = f"(ip and (ip proto 51 or {four}))" if four else "(ip and (ip proto 51))"
    new = f"(ip6 and ({unknown} or {six}))" if six else f"(ip6 and ({unknown}))"
    return f"(not ip and not ip6) or {old} or {new}"


@pytest.mark.parametrize("seed", range(10))
def test_random_filters_of_ipv6_are_those_of_polars(seed):
    """Of packets of IPv6 with and without extension headers, from and to addresses that are IPv4's and others."""
    chance = random.Random(seed)
    addresses = [bytes(10) + b"\xff\xff\x0a\0\0\1", b"\xfd" + bytes(14) + b"\1", bytes(15) + b"\1"]
    frames = []
    for _ in range(300):
        ports = struct.pack(">HH", chance.choice([53, 80]), chance.choice([53, 80]))
        next_header = chance.choice([6, 17, 58])
        payload = ports + {6: struct.pack(">IIBBHHH", 0, 0, 0x50, 0, 0, 0, 0), 17: struct.pack(">HH", 8, 0), 58: bytes(4)}[next_header]
        for _ in range(chance.choice([0, 0, 1, 2])):
            extension = chance.choice([0, 43, 60])
            payload, next_header = bytes([next_header, 0]) + bytes(6) + payload, extension
        header = struct.pack(">IHBB", 6 << 28, len(payload), next_header, 64) + chance.choice(addresses) + chance.choice(addresses)
        vlan = chance.choice([b"", b"\x81\0\0\1"])
        frames.append(bytes(12) + vlan + b"\x86\xdd" + header + payload)
    records = b"".join(struct.pack("<IIII", 1, 0, len(frame), len(frame)) + frame for frame in frames)
    content = bytewright.polars._EMPTY + records
    frame = polars.DataFrame(bytewright.packets(io.BytesIO(content), *FIELDS))
    texts = [None, *frame["src_ip"].unique(), "10.0.0.1", "fd00::1"]
    for _ in range(20):
        predicates = [
            polars.col(chance.choice(["src_ip", "dst_ip"])) == chance.choice(texts[1:]),
            polars.col(chance.choice(["src_ip", "dst_ip"])).is_in(chance.sample(texts[1:], 2)),
            polars.col(chance.choice(["src_port", "dst_port"])).is_in(chance.sample([53, 80, 443], 2)),
            polars.col("proto") == chance.choice([0, 6, 17, 43, 58]),
            polars.col("proto").is_in([6, 58]),
        ]
        one, two = chance.sample(predicates, 2)
        predicate = chance.choice([one, one & two, one | two])
        pushed = libpcap_filter(predicate)
        assert pushed is not None, predicate
        left = polars.DataFrame(bytewright.packets(io.BytesIO(content), *FIELDS, filter=pushed))
        assert left.filter(predicate).equals(frame.filter(predicate)), (seed, str(predicate), pushed)


def test_a_filter_of_the_callers_is_kept_beside_what_is_pushed():
    web = SAMPLES[-1]
    query = scan_packets(web, filter="udp").filter(polars.col("dst_port") == 53)
    expected = polars.DataFrame(bytewright.packets(web, *FIELDS, filter="udp and dst port 53"))
    assert query.collect().equals(expected) and len(expected) > 0
    with pytest.raises(Exception, match="filter expression"):
        scan_packets(web, filter="no filter").filter(polars.col("dst_port") == 53).collect()


def test_flows_are_a_lazy_frame_of_all_captures():
    frame = polars.DataFrame(bytewright.flows(*SAMPLES))
    busy = (polars.col("packets") > 3) & (polars.col("dst_port") == 80)
    assert scan_flows(*SAMPLES).collect().equals(frame)
    found = scan_flows(SAMPLES).filter(busy).select("community_id", "bytes").collect()
    assert found.equals(frame.filter(busy).select("community_id", "bytes")) and len(found) > 0


def test_a_frame_can_be_collected_again_and_counts_without_columns():
    frame = scan_packets(SAMPLES)
    count = sum(bytewright.info(path)["packets"] for path in SAMPLES)
    assert frame.select(polars.len()).collect().item() == count == frame.select(polars.len()).collect().item()
    assert frame.group_by("proto").len().collect()["len"].sum() == count
