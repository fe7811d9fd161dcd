"""Goal: a lazy frame of a capture has the rows that the capture has, whatever a query pushes down.

Method: random queries over the samples, and over random frames of 34 link types, compared with the same query over a frame that has
all; the seed is in the failure.
"""

import datetime
import ipaddress
import os
import pathlib
import random

import polars
import pytest
import random_frames

import bytewright
import bytewright.polars
from bytewright._polars_predicates import condition
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


PORT, PROTO, SOURCE, LENGTH, TS, QUERY = map(polars.col, ["dst_port", "proto", "src_ip", "length", "ts", "dns_query"])
TIME, LATER = (polars.lit(number, dtype=polars.Datetime("ns", "UTC")) for number in (5, 9))
COARSE = polars.lit(5, dtype=polars.Datetime("us", "UTC"))


@pytest.mark.parametrize("predicate,where", [
    (PORT == 80, "dst_port == 80"),
    (80 <= PORT, "dst_port >= 80"),
    (PORT != 80, "dst_port != 80"),
    (PORT > 80.5, "dst_port >= 80"),
    (PORT == 80.5, "dst_port >= 80 and dst_port <= 81"),
    (PORT != 80.5, None),
    (PORT.cast(polars.Float64) > 80, "dst_port > 80"),
    (PORT.cast(polars.String) == "80", None),
    (PORT < -5, "dst_port < -5"),
    (PORT.is_in([80, None, 443]), "dst_port in (80, 443)"),
    (~PORT.is_in([80, 443]), "not dst_port in (80, 443)"),
    (PORT.is_in([None]), None),
    (PORT.is_in(polars.col("src_port").implode()), None),
    (PORT.is_between(5, 9), "dst_port >= 5 and dst_port <= 9"),
    (PORT.is_between(5, 9, "left"), "dst_port >= 5 and dst_port < 9"),
    (~PORT.is_between(5, 9, "none"), "dst_port <= 5 or dst_port >= 9"),
    (PORT.eq_missing(80), "dst_port == 80"),
    (PORT.ne_missing(80), "dst_port != 80 or dst_port is null"),
    (PORT.is_null(), "dst_port is null"),
    (~PORT.is_null(), "dst_port is not null"),
    (polars.lit(None) == PORT, None),
    ((PROTO == 6) & (LENGTH + 1 > 100), "proto == 6"),
    ((PROTO == 6) | (LENGTH + 1 > 100), None),
    (~((PROTO == 6) & (LENGTH > 100)), "proto != 6 or length <= 100"),
    ((PROTO == 6) & (LENGTH > 1) & ((PORT == 1) | (PORT == 2)), "proto == 6 and length > 1 and (dst_port == 1 or dst_port == 2)"),
    (polars.any_horizontal(PROTO == 6, PORT == 1), "proto == 6 or dst_port == 1"),
    (SOURCE == "10.0.0.1", "src_ip == 10.0.0.1"),
    # Python's text of it, which is another in 3.13.
        (SOURCE == "::FFFF:10.0.0.1", f"src_ip == {ipaddress.ip_address('::ffff:10.0.0.1')}"),
    (SOURCE.is_in(["fd00::1", "10.0.0.1"]), "src_ip in (fd00::1, 10.0.0.1)"),
    (SOURCE != "fd00::1", "src_ip != fd00::1"),
    # Another text for an address that some packet has.
    (SOURCE != "FD00::1", None),
    (SOURCE != "::ffff:10.0.0.1", None),
    (SOURCE == "no address", None),
    (SOURCE > "10.0.0.1", None),
    (QUERY == "it's", 'dns_query == "it\'s"'),
    (QUERY == "'\"", None),
    (QUERY.str.starts_with("x"), None),
    (TS >= TIME, "ts >= 5ns"),
    (TIME > TS, "ts < 5ns"),
    (TS == TIME, "ts == 5ns"),
    (TS != TIME, "ts != 5ns"),
    (TS == COARSE, "ts >= 4001ns and ts <= 5999ns"),
    (TS < COARSE, "ts <= 5999ns"),
    (TS != COARSE, None),
    (TS.is_between(TIME, LATER, "none"), "ts > 5ns and ts < 9ns"),
    ((TS < TIME) | (TS > LATER), "ts < 5ns or ts > 9ns"),
    (TS.dt.second() == 1, None),
    (polars.col("src_port") == PORT, None),
])  # fmt: skip
def test_what_the_core_can_tell_of_a_predicate(predicate, where):
    assert condition(predicate) == where
    every = polars.DataFrame(bytewright.packets(SAMPLES[-1], *FIELDS))
    assert scan_packets(SAMPLES[-1]).filter(predicate).collect().equals(every.filter(predicate))


@pytest.mark.parametrize("predicate,where", [
    ((PROTO == 6) & ~(PORT != 80), "dst_port == 80 and proto == 6"),
    # Polars has made other conditions of these by then.
    (PORT > 80.5, "dst_port >= 80"),
    (TS == COARSE, "ts <= 5999ns and ts >= 5000ns"),
])
def test_what_the_core_can_tell_is_pushed_down(predicate, where, monkeypatch):
    told = []

    def packets(*arguments, where=None, **options):
        told.append((arguments[1:], where))
        return bytewright.packets(*arguments, where=where, **options)

    monkeypatch.setattr(bytewright.polars, "packets", packets)
    scan_packets(SAMPLES[-1]).filter(predicate).select("ttl").collect()
    (_, _), (fields, given) = told
    assert set(fields) == {"ttl", *predicate.meta.root_names()}
    assert " and ".join(sorted(given.split(" and "))) == where


def test_a_long_condition_is_left_to_polars_and_a_long_list_is_not():
    ports = list(range(0, 8_000, 2))
    assert condition(PORT.is_in(ports)) == f"dst_port in ({', '.join(map(str, ports))})"
    assert condition(PORT.is_in(list(range(5_000)))) is None
    deep = wide = PORT == 1
    for number in range(300):
        deep = ((deep | (PORT == number)) & (LENGTH == number))
        wide = wide | (LENGTH == number)
    assert condition(deep) is None and condition(wide) is None
    assert condition((PORT == 80) & wide) is None


def test_times_before_1970_are_compared_by_the_core():
    old = scan_packets(SAMPLES[-1]).filter(TS > polars.lit(-5, dtype=polars.Datetime("ns", "UTC")))
    assert len(old.collect()) == bytewright.info(SAMPLES[-1])["packets"]


#: How many predicates are tried: BYTEWRIGHT_TRIALS says another number, and BYTEWRIGHT_SEED from where.
TRIALS, SEED = int(os.environ.get("BYTEWRIGHT_TRIALS", "600")), int(os.environ.get("BYTEWRIGHT_SEED", "1"))
PREDICATES = 50


def leaf(chance, frame):
    """A comparison of a random field with a value that some packet has, or with another."""
    name = chance.choice(["src_port", "dst_port", "proto", "src_ip", "dst_ip", "ts", "length", *FIELDS])
    column, values = polars.col(name), frame[name].drop_nulls()
    value = chance.choice(values.to_list()) if len(values) and chance.random() < 0.9 else None
    if name == "ts":
        exact = chance.choice(values.cast(int).to_list()) + chance.choice([-1, 0, 0, 1]) if len(values) else 0
        value = polars.lit(exact // chance.choice([1, 1_000]), dtype=polars.Datetime(chance.choice(["ns", "us"]), "UTC"))
        other = polars.lit(exact + chance.randrange(10**9), dtype=polars.Datetime("ns", "UTC"))
    elif frame.schema[name] == polars.String:
        value = chance.choice([*random_frames.HOSTS, *random_frames.NAMES, "", "x", "FD00::1", "if1"]) if value is None else value
        other = chance.choice(random_frames.HOSTS)
    else:
        value = chance.choice([0, 1, 80, 70_000, 2**33]) if value is None else value
        value, other = value + chance.choice([0, 0, 0, 0.0, 0.5, 1]), value + chance.randrange(9)
    kinds = (str,) if frame.schema[name] == polars.String else (int,)
    items = [*(one for one in (value, other) if isinstance(one, kinds)), None]
    return chance.choice([
        lambda: column == value, lambda: value == column, lambda: column != value, lambda: column < value, lambda: column <= value,
        lambda: column > value, lambda: column >= value, lambda: value > column, lambda: column.eq_missing(value),
        lambda: column.ne_missing(value), lambda: column.is_null(), lambda: column.is_not_null(),
        lambda: column.is_between(value, other, chance.choice(["both", "left", "right", "none"])),
        lambda: column.is_in(items), lambda: ~column.is_in(items[:2]), lambda: column.is_in(items[:1]),
        lambda: column == polars.lit(None), lambda: column == column, lambda: column.cast(polars.String) == str(items[0]),
    ])()  # fmt: skip


def any_predicate(chance, frame, depth=3):
    if not depth or chance.random() < 0.35:
        return leaf(chance, frame)
    one, two = any_predicate(chance, frame, depth - 1), any_predicate(chance, frame, depth - 1)
    return chance.choice([
        one & two, one & two, one | two, one | two, ~one & two, ~(one | two), one ^ two, polars.all_horizontal(one, ~two),
        polars.when(one).then(two).otherwise(False), ~(~one),
    ])  # fmt: skip


def answer(filtered):
    """The rows, or which error there is."""
    try:
        return filtered().rows()
    except polars.exceptions.PolarsError as error:
        return type(error).__name__


@pytest.mark.parametrize("seed", range(SEED, SEED + TRIALS // PREDICATES))
def test_random_predicates_over_random_frames_are_those_of_polars(seed, tmp_path):
    chance, path = random.Random(seed), tmp_path / "random.pcapng"
    path.write_bytes(random_frames.capture(chance, 150))
    options = {"inner": chance.random() < 0.3, "jobs": chance.choice([1, 2])}
    frame, count, left_out = polars.DataFrame(bytewright.packets(path, *FIELDS, **options)), 0, 0
    for trial in range(PREDICATES):
        predicate = any_predicate(chance, frame)
        expected = answer(lambda: frame.filter(predicate))
        assert answer(lambda: scan_packets(path, **options).filter(predicate).collect()) == expected, (seed, trial, str(predicate))
        where = condition(predicate)
        if where is not None and expected != "InvalidOperationError":
            count += 1
            left_out += len(list(bytewright.packets(path, "number", where=where, **options))) < len(frame)
    # Predicates that are not pushed down are right for nothing.
    assert count > PREDICATES / 3 and left_out > PREDICATES / 4, (seed, count, left_out)


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


def test_options_beside_an_open_capture_are_refused_before_the_query():
    with bytewright.Capture(SAMPLES[0]) as capture:
        for scan in (scan_packets, scan_flows):
            with pytest.raises(bytewright.ArgumentError, match="expected jobs where the capture is opened"):
                scan(capture, jobs=1)
