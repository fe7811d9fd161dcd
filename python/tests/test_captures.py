"""Goal: what a capture holds is the same as objects, as columns and as the command prints it, from wherever its bytes come.

Method: the samples are read in every way and compared, with the command's JSON lines above all.
"""

import ast
import datetime
import gzip
import hashlib
import io
import itertools
import json
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings

import pyarrow
import pytest
from pyarrow import parquet

import bytewright
from bytewright import Call, Capture, Flow, FlowStore, Packet, _bytewright

SAMPLES = pathlib.Path(__file__).parents[2] / "samples"
WEB = SAMPLES / "web.pcap.gz"
WAREHOUSE = SAMPLES / "warehouse.pcap.zst"
CAPTURES = sorted(path for path in SAMPLES.iterdir() if ".pcap" in path.name)
KINDS = {"packets": Packet, "flows": Flow, "calls": Call}


def command(*arguments):
    told = subprocess.run([sys.executable, "-m", "bytewright", *map(str, arguments)], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return [json.loads(line) for line in told.stdout.splitlines()]


def names_of(kind):
    return [name for name, *_ in _bytewright.schema_of(kind)]


def test_labels_of_networks_come_from_a_file(tmp_path):
    sites = tmp_path / "sites.csv"
    sites.write_text('fd00:20:1::/48,"clients, six"\n10.20.1.4,one\n')

    def label(address):
        return {True: "clients, six"}.get(address.startswith("fd00:20:1:"), "one" if address == "10.20.1.4" else None)

    with Capture(WEB, label=sites) as capture:
        rows = list(capture.packets("src_ip", "src_label", "dst_ip", "dst_label", where="src_ip is not null"))
        assert [(row[1], row[3]) for row in rows] == [(label(row[0]), label(row[2])) for row in rows]
        packet = next(packet for packet in capture if packet.src_label == "one")
        assert pickle.loads(pickle.dumps(packet)).src_label == "one"
    flows = list(bytewright.flows(WEB, label=sites))
    assert [(flow.src_label, flow.dst_label) for flow in flows] == [(label(flow.src_ip), label(flow.dst_ip)) for flow in flows]
    assert pickle.loads(pickle.dumps(flows)) == flows
    sites.write_text("nonsense")
    with pytest.raises(bytewright.FormatError, match="line 1: expected a network"):
        list(bytewright.flows(WEB, label=sites))


def test_a_network_with_two_labels_is_warned_of_and_the_program_may_make_an_error_of_that(tmp_path):
    sites = tmp_path / "sites.csv"
    sites.write_text("10.0.0.0/8,a\n10.0.0.0/8,b\n")
    for opened in (lambda: bytewright.flows(WEB, label=sites), lambda: Capture(WEB, label=sites)):
        with pytest.warns(UserWarning, match=f"^{sites}: 10.0.0.0/8 has two labels, and the later one counts: b, not a$") as told:
            opened()
        assert len(told) == 1
        with warnings.catch_warnings(), pytest.raises(UserWarning):
            warnings.simplefilter("error")
            opened()
    sites.write_text("10.0.0.0/8,a\n10.0.0.0/9,b\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(bytewright.flows(WEB, label=sites))) > 0


def without_clock(text):
    return [line for line in text.splitlines() if not line.startswith(("#open", "#close"))]


def test_flows_are_written_as_other_programs_have_them(tmp_path):
    path, sources = tmp_path / "flows", (WEB, SAMPLES / "vlan.pcapng")
    count = len(list(bytewright.flows(*sources)))
    for form in ("zeek", "zeek-json", "ecs"):
        assert bytewright.flows(*sources, into=path, format=form) == count
        printed = subprocess.run([sys.executable, "-m", "bytewright", "flows", *sources, "--as", form], check=True, stdout=subprocess.PIPE, text=True)
        assert without_clock(path.read_text()) == without_clock(printed.stdout)
    assert bytewright.flows(list(sources), into=str(path), format="ipfix") == count and path.read_bytes()[:2] == b"\0\n"
    with Capture(WEB, filter="tcp") as capture:
        written = bytewright.flows(capture, into=path, format="ecs", where="dst_port == 80")
        assert written == len(list(capture.flows(where="dst_port == 80"))) == len(path.read_text().splitlines())
    with path.open("rb") as older:
        assert bytewright.flows(io.BytesIO(WEB.read_bytes()), into=path, format="zeek") > written
        assert older.read(1) == b"{"


def test_a_file_of_flows_has_the_flows_before_damage_that_is_kept_only(tmp_path):
    path, damaged = tmp_path / "flows", tmp_path / "damaged.pcap.gz"
    damaged.write_bytes(WEB.read_bytes()[:-2000])
    path.write_text("older")
    with pytest.raises(bytewright.TruncatedError):
        bytewright.flows(WEB, damaged, into=path, format="ecs")
    assert path.read_text() == "older" and sorted(os.listdir(tmp_path)) == ["damaged.pcap.gz", "flows"]
    with pytest.warns(bytewright.DamageWarning, match="what is before it was read"):
        count = bytewright.flows(WEB, damaged, into=path, format="ecs", damage="keep")
    assert count == len(path.read_text().splitlines())


def test_a_file_of_flows_is_asked_for_with_a_path_and_a_format_that_there_is(tmp_path):
    def told(**options):
        with pytest.raises(bytewright.ArgumentError) as error:
            bytewright.flows(WEB, **options)
        return str(error.value)

    path = tmp_path / "flows"
    assert told(into=path, format="zek").endswith("did you mean zeek?")
    assert told(format="zeek") == "expected a path as into, to write flows with format='zeek', found none"
    assert told(into=path, format="zeek", fields=["bytes"]).startswith("expected no fields with format='zeek'")
    with FlowStore(tmp_path / "store") as store:
        assert told(into=store, format="zeek").endswith("found a FlowStore")
    with pytest.raises(TypeError, match="expected an option"):
        bytewright.flows(WEB, into=path, format="zeek", forced=True)
    assert not path.exists()


def test_flows_of_an_open_capture_are_written_as_those_of_a_path(tmp_path):
    path, other = tmp_path / "flows", tmp_path / "other"
    with Capture(WEB, filter="tcp") as capture:
        for form in ("zeek", "ecs"):
            count = bytewright.flows(WEB, into=other, format=form, filter="tcp", idle_timeout=1)
            assert capture.flows(into=path, format=form, idle_timeout=1) == count
            assert without_clock(path.read_text()) == without_clock(other.read_text())
        assert capture.flows(into=str(path), format="ipfix", where="dst_port == 80") == len(list(capture.flows(where="dst_port == 80")))
    assert Capture(io.BytesIO(WEB.read_bytes())).flows(into=path, format="ecs") == 926


def test_a_file_of_flows_of_an_open_capture_is_asked_for_with_what_it_needs(tmp_path):
    path, capture = tmp_path / "flows", Capture(WEB)

    def told(*fields, **options):
        with pytest.raises(bytewright.ArgumentError) as error:
            capture.flows(*fields, **options)
        return str(error.value)

    assert told(into=path).startswith("expected format beside into, found none")
    assert told(format="zeek") == "expected a path as into, to write flows with format='zeek', found none"
    assert told("bytes", into=path, format="zeek").startswith("expected no fields with format='zeek'")
    assert told(into=path, format="zek").endswith("did you mean zeek?")
    assert told(into=path, format="zeek", filter="tcp").startswith("expected filter where the capture is opened")
    with pytest.raises(TypeError, match="did you mean force"):
        capture.flows(into=path, format="zeek", forced=True)
    capture.close()
    with pytest.raises(bytewright.ClosedError):
        capture.flows(into=path, format="zeek")
    assert not path.exists()


def test_an_option_of_opening_is_refused_by_an_open_capture():
    with Capture(WEB) as capture:
        for ask in (capture.flows, capture.packets, capture.batches, capture.calls):
            with pytest.raises(bytewright.ArgumentError, match="expected filter where the capture is opened"):
                ask(filter="tcp")


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_packets_are_what_the_command_prints(path):
    names = names_of("packets")
    printed = command("packets", "--json", "--fields", ",".join(names), path)
    with Capture(path) as capture:
        packets = list(capture)
        assert [packet.to_dict() for packet in packets] == printed
        assert [tuple(row.values()) for row in printed] == list(capture.packets(*names))
        batches = list(capture.batches(*names, rows=100))
    assert [len(batch) for batch in batches[:-1]] == [100] * (len(batches) - 1)
    for name in names:
        assert [value for batch in batches for value in batch[name]] == [row[name] for row in printed]
    assert [len(packet.captured) for packet in packets] == [packet.caplen for packet in packets]


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_flows_and_counts_are_what_the_command_prints(path):
    printed = command("flows", "--json", path)
    flows = bytewright.flows(path)
    assert [flow.to_dict() for flow in flows] == printed
    assert pyarrow.table(flows).drop("ts").to_pylist()[0].keys() == printed[0].keys() - {"ts"} if printed else True
    assert bytewright.info(path)["packets"] == sum(bytewright.count_by(path, "proto").values())
    assert {**bytewright.info(path), "damage": None} == {**command("info", "--json", path)[0], "damage": None}


def test_calls_are_what_the_command_prints():
    path = SAMPLES / "warehouse.pcap.zst"
    names = names_of("calls")
    printed = [{name: row[name] for name in names} for row in command("rpc", "--calls", "--json", path)]
    calls = list(bytewright.calls(path))
    assert [call.to_dict() for call in calls] == printed and len(calls) > 0
    only = list(bytewright.calls(path, idl=SAMPLES / "warehouse.thrift", service="Store"))
    assert 0 < len(only) <= len(calls) and {call.method for call in only} <= {call.method for call in calls}
    with pytest.raises(bytewright.ArgumentError, match="expected idl with service or include"):
        bytewright.calls(path, service="Warehouse")


def test_columns_of_arrow_are_the_values_of_the_rows():
    names = names_of("packets")
    table = pyarrow.table(bytewright.packets(WEB, *names))
    assert table.column_names == names
    rows = list(Capture(WEB).packets(*names))
    for place, name in enumerate(names):
        column = table.column(name)
        if pyarrow.types.is_timestamp(column.type):
            assert str(column.type) == "timestamp[ns, tz=UTC]"
            column = column.cast(pyarrow.int64())
        assert column.to_pylist() == [row[place] for row in rows], name
    table.validate(full=True)


def test_a_schema_says_what_its_fields_mean():
    schema = pyarrow.schema(bytewright.flows(WEB))
    assert schema.names == list(next(iter(bytewright.flows(WEB))).to_dict())
    schema = pyarrow.schema(bytewright.flows(WEB, features="all"))
    assert schema.names == names_of("flows")
    for name, _, is_nullable, meaning in _bytewright.schema_of("flows"):
        field = schema.field(name)
        assert field.nullable == is_nullable and field.metadata[b"meaning"].decode() == meaning
    assert schema.metadata[b"bytewright.sources"].decode() == str(WEB)


def test_a_parquet_file_has_the_rows(tmp_path):
    names = ("ts", "src_ip", "dst_port")
    path = tmp_path / "packets.parquet"
    packets = bytewright.packets(WEB, *names)
    assert packets.to_parquet(path) == 8760
    assert parquet.read_table(path).cast(pyarrow.schema(packets)).equals(pyarrow.table(packets))
    assert packets.to_parquet(path, timestamps="us", signed=True, addresses="binary") == 8760
    schema = parquet.read_schema(path)
    assert schema.names == ["ts", "ts_nanos", "src_ip", "dst_port"]
    assert [str(schema.field(name).type) for name in ("ts", "src_ip", "dst_port")] == [
        "timestamp[us, tz=UTC]",
        "fixed_size_binary[16]",
        "int32",
    ]
    before = path.read_bytes()
    with pytest.raises(bytewright.FormatError):
        bytewright.packets(__file__).to_parquet(path)
    with pytest.raises(FileNotFoundError):
        packets.to_parquet(tmp_path / "none" / "packets.parquet")
    with pytest.raises(bytewright.ArgumentError, match="expected timestamps to be ns or us"):
        packets.to_parquet(path, timestamps="ms")
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["packets.parquet"]


def test_flows_are_merged_into_a_file_once(tmp_path):
    path = tmp_path / "week.bwt"
    paths = [WEB, SAMPLES / "vlan.pcapng"]
    first = bytewright.flows(*paths, into=path)
    assert [merge["file"] for merge in first] == [str(one) for one in paths]
    assert all(merge["added"] and merge["flows"] >= merge["new_flows"] > 0 for merge in first)
    assert first[0]["flows"] == first[0]["new_flows"] == len(list(bytewright.flows(WEB)))
    again = bytewright.flows(WEB, into=path)[0]
    assert not again["added"] and again["counted_as"] == str(WEB) and again["content_id"] == first[0]["content_id"]
    with bytewright.TreeTable.open(path, text=False, read_only=True) as table:
        kept = sum(1 for key in table if key[0] in (4, 6))
    assert kept == first[0]["new_flows"] + first[1]["new_flows"]
    missing = tmp_path / "none.bwt"
    with pytest.raises(bytewright.FormatError):
        bytewright.flows(__file__, into=missing)
    assert not missing.exists()


def test_stores_merge_and_a_capture_counts_once(tmp_path):
    vlan = SAMPLES / "vlan.pcapng"
    bytewright.flows(WEB, into=tmp_path / "web.bwt")
    bytewright.flows(vlan, into=tmp_path / "vlan.bwt")
    with bytewright.FlowStore(tmp_path / "once.bwt") as store:
        bytewright.flows(WEB, vlan, into=store)
        once = list(store)
    with bytewright.FlowStore(tmp_path / "sum.bwt") as store:
        assert len(store) == 0 and store.merge() == [] and store.captures() == []
        merges = store.merge(tmp_path / "web.bwt", str(tmp_path / "vlan.bwt"), tmp_path / "web.bwt")
        names = ("added", "captures", "flows", "new_flows", "counted_as")
        told = [tuple(merge[name] for name in names) for merge in merges]
        assert told == [(True, 1, 926, 926, None), (True, 1, 71, 64, None), (False, 1, 0, 0, str(WEB))]
        assert list(store) == once and len(store) == 990
        assert {(capture["name"], capture["packets"]) for capture in store.captures()} == {(str(WEB), 8760), (str(vlan), 316)}
        assert repr(store) == f"<FlowStore '{tmp_path / 'sum.bwt'}'>"
        with pytest.raises(bytewright.LockError):
            bytewright.FlowStore(tmp_path / "sum.bwt")
    with pytest.raises(bytewright.ClosedError):
        store.merge(tmp_path / "web.bwt")
    with bytewright.FlowStore(tmp_path / "web.bwt") as store:
        with pytest.raises(bytewright.ArgumentError, match="found 1 of 2 counted"):
            store.merge(tmp_path / "sum.bwt")
        assert len(store) == 926
    with bytewright.FlowStore(tmp_path / "web.bwt", read_only=True) as store, pytest.raises(bytewright.Error):
        store.merge(tmp_path / "vlan.bwt")


def test_a_batch_can_be_taken_as_often_as_wanted():
    batch = next(Capture(WEB).batches("ts", "dst_port", rows=10))
    one, two = pyarrow.record_batch(batch), pyarrow.record_batch(batch)
    assert one.equals(two) and one.num_rows == len(batch) == 10
    assert batch.to_dict()["dst_port"] == one.column("dst_port").to_pylist()
    assert repr(batch) == "<Batch of 10 packets: ts, dst_port>" and batch.columns == ("ts", "dst_port")


def test_streams_that_nobody_reads_are_released():
    rows = bytewright.packets(WEB)
    for _ in range(50):
        rows.__arrow_c_stream__()
        pyarrow.RecordBatchReader.from_stream(rows).read_next_batch()
        next(iter(rows))
    time.sleep(0.2)
    assert threading.active_count() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_stubs_say_of_fields_what_the_core_says(kind):
    stub = pathlib.Path(_bytewright.__file__).with_name("_bytewright.pyi")
    [cls] = [one for one in ast.parse(stub.read_text()).body if getattr(one, "name", "") == KINDS[kind].__name__]
    told = {}
    for method in cls.body:
        if isinstance(method, ast.FunctionDef) and ast.get_docstring(method):
            told[method.name] = (ast.unparse(method.returns), ast.get_docstring(method))
    assert KINDS[kind].__match_args__ == tuple(names_of(kind))
    closed = {"protocol", "outcome"}
    for name, data_type, is_nullable, meaning in _bytewright.schema_of(kind):
        is_text = data_type in ("address", "text") or name in closed
        number = {"double": "float", "bool": "bool"}.get(data_type, "int")
        expected = ("str" if is_text else number) + (" | None" if is_nullable else "")
        assert told.pop(name) == (expected, meaning)
    assert set(told) <= {"captured", "payload"}


def test_packets_are_objects_of_their_own():
    packets = list(Capture(WEB))
    first, again = packets[0], next(iter(Capture(WEB)))
    assert first == again and hash(first) == hash(again) and first != packets[1] and first != 1
    assert len({*packets, *Capture(WEB)}) == len(set(packets))
    assert repr(first).startswith(f"Packet(ts={first.ts}, src_ip='::', dst_ip='ff02::16', proto=58, length=270")
    match first:
        case Packet(src_ip="::", proto=58, length=length):
            assert length == 270
        case _:
            pytest.fail("no match")
    http = next(packet for packet in packets if packet.dst_port == 80 and packet.payload)
    assert http.captured.endswith(http.payload) and http.payload.startswith(b"GET ")
    with pytest.raises(AttributeError):
        first.length = 1


def test_a_capture_comes_from_a_path_or_a_file_object():
    expected = bytewright.count_by(WEB, "dst_port")
    content = gzip.decompress(WEB.read_bytes())

    class Trickle:
        def __init__(self):
            self.file = io.BytesIO(content)

        def read(self, count):
            return bytearray(self.file.read(min(count, 1000)))

    class OnlyReadInto:
        def __init__(self):
            self.readinto = io.BytesIO(content).readinto

    class NotThere:
        def readinto(self, buffer):
            return None

    with open(WEB, "rb") as file, gzip.open(WEB) as unpacked:
        for source in (str(WEB), WEB, file, io.BytesIO(content), unpacked, Trickle(), OnlyReadInto()):
            with Capture(source) as capture:
                assert capture.count_by("dst_port") == expected
    with Capture(io.BytesIO(content)) as capture:
        assert len(pyarrow.table(capture.packets())) == 8760
        with pytest.raises(bytewright.ClosedError, match="which can be read once"):
            next(iter(capture))
    with pytest.raises(TypeError, match="expected a path or an object with read or readinto, found int"):
        Capture(7)
    with pytest.raises(BlockingIOError, match="expected input, found none there"):
        list(Capture(NotThere()))
    with pytest.raises(TypeError, match="expected bytes from read, found str; open the file in binary mode"):
        list(Capture(io.StringIO("text")))


def test_what_an_object_raises_comes_through():
    class Broken:
        def read(self, count):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(Capture(Broken()))
    with pytest.raises(Exception, match="ZeroDivisionError"):
        pyarrow.table(Capture(Broken()).packets())


def test_several_captures_patterns_and_jobs_are_read_as_one(tmp_path):
    paths = [SAMPLES / "vlan.pcapng", SAMPLES / "tunnels.pcap", WEB]
    expected = [row for path in paths for row in bytewright.packets(path)]
    flows, calls = ([list(asked(*paths, jobs=1)) for asked in (bytewright.flows, bytewright.calls)])
    for jobs in (1, 2, 5):
        assert list(bytewright.packets(paths, jobs=jobs)) == expected
        assert pyarrow.table(bytewright.packets(paths, "length", jobs=jobs)).num_rows == len(expected)
        assert list(bytewright.flows(*paths, jobs=jobs)) == flows
        assert list(bytewright.calls(*paths, jobs=jobs)) == calls
    with open(paths[1], "rb") as file:
        assert list(bytewright.packets([Capture(paths[0]), file, paths[2]])) == expected
    for number, path in enumerate(paths):
        (tmp_path / f"{number}.pcap").symlink_to(path)
    assert list(bytewright.packets(f"{tmp_path}/*.pcap")) == expected
    assert sum(bytewright.count_by(paths, "dst_port").values()) == len(expected)
    assert list(bytewright.flows(*paths))[0] == next(iter(bytewright.flows(paths)))
    with pytest.raises(FileNotFoundError, match="no file matches"):
        bytewright.packets(f"{tmp_path}/*.none")


def test_damage_gives_what_is_before_it_and_then_the_error(tmp_path):
    content = gzip.decompress(WEB.read_bytes())
    path = tmp_path / "cut.pcap"
    path.write_bytes(content[:100_000])
    good = []
    with pytest.raises(bytewright.TruncatedError) as raised:
        for packet in Capture(path):
            good.append(packet)
    assert isinstance(raised.value, EOFError)
    assert raised.value.file == str(path) and raised.value.offset == 99_948
    assert (raised.value.needed, raised.value.available) == (92, 52)
    assert good == list(Capture(WEB))[: len(good)] and len(good) > 100
    reader = pyarrow.RecordBatchReader.from_stream(bytewright.packets(path, "length"))
    assert reader.read_next_batch().num_rows == len(good)
    with pytest.raises(pyarrow.ArrowInvalid, match="byte 99948: expected a packet record"):
        reader.read_next_batch()
    assert isinstance(bytewright.info(path)["damage"], bytewright.TruncatedError)
    path.write_bytes(b"no capture")
    with pytest.raises(bytewright.FormatError, match="expected a .*capture"):
        list(Capture(path))


@pytest.mark.parametrize("number", [float("nan"), float("-inf"), -1, -1e300, -0.0, 0, 1e-300])
def test_intervals_that_are_none_are_refused(number):
    with pytest.raises(bytewright.ArgumentError, match="expected (an interval of a nanosecond|every of 0 seconds) or more, found (NaN|-|0|1e-300)"):
        Capture(WEB).sum(every=number)


@pytest.mark.parametrize("number", [float("inf"), 1e300])
def test_intervals_longer_than_all_times_are_one(number):
    assert len(Capture(WEB).sum(every=number)) == 1


def test_a_timeout_that_is_no_number_is_refused(tmp_path):
    with pytest.raises(bytewright.ArgumentError, match="expected timeout of 0 seconds or more, found NaN"):
        bytewright.HashTable.open(tmp_path / "table.bwt", timeout=float("nan"))


def test_mutated_captures_raise_errors_and_nothing_else(tmp_path):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    content = (SAMPLES / "interfaces.pcapng").read_bytes()
    for _ in range(200):
        changed = bytearray(content)
        for _ in range(chance.randrange(1, 5)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        try:
            list(Capture(io.BytesIO(changed)))
            list(Capture(io.BytesIO(changed)).flows())
        except (bytewright.FormatError, bytewright.TruncatedError, bytewright.LimitError):
            pass


def test_wrong_arguments_are_refused_before_anything_is_read():
    with pytest.raises(bytewright.ArgumentError, match="found dst_prot; did you mean dst_port"):
        bytewright.packets("missing.pcap", "dst_prot")
    with pytest.raises(bytewright.ArgumentError, match="expected rows of 1 or more, found 0"):
        Capture(WEB).batches(rows=0)
    with pytest.raises(bytewright.ArgumentError, match="timeout of 0 seconds or more, found -1"):
        Capture(WEB).flows(idle_timeout=-1)
    with pytest.raises(bytewright.ArgumentError, match="expected a capture, found none"):
        bytewright.flows()
    with pytest.raises(TypeError, match=r"expected an option \(rows, where, numbers, filter, .*, damage\), found filtr; did you mean filter\?"):
        bytewright.packets(WEB, filtr="tcp")
    with pytest.raises(TypeError, match="expected idle_timeout to be a number of seconds, found str"):
        bytewright.flows(WEB, idle_timeout="60")
    with pytest.raises(bytewright.ArgumentError, match="expected damage to be raise or keep, found \"kept\"; did you mean keep?"):
        Capture(WEB, damage="kept")


def test_none_is_an_option_that_is_not_given():
    plain = bytewright.packets(WEB)
    assert list(bytewright.packets(WEB, rows=None, where=None, filter=None, inner=None, jobs=None, damage=None)) == list(plain)


@pytest.mark.parametrize("features", ["none", "tcp", "lengths", "all"])
def test_pickled_flows_keep_their_features(features):
    for flow in itertools.islice(bytewright.flows(WEB, features=features), 50):
        again = pickle.loads(pickle.dumps(flow))
        assert again == flow and again.to_dict() == flow.to_dict()


def test_options_are_told_with_their_defaults():
    assert bytewright.options.FLOWS == {"idle_timeout": None, "active_timeout": None, "max_flows": 1_000_000, "features": "none", "where": None}
    assert "`max_flows`: Flows that are open at one time" in bytewright.options.__doc__
    with pytest.raises(FileNotFoundError):
        Capture("missing.pcap")
    with pytest.raises(TypeError, match="cannot pickle a Capture"):
        pickle.dumps(Capture(WEB))


def test_a_filter_leaves_packets_out():
    expected = [packet for packet in Capture(WEB) if packet.proto == 6 and 80 in (packet.src_port, packet.dst_port)]
    found = list(Capture(WEB, filter="tcp port 80"))
    assert found == expected and len(found) > 0
    with pytest.raises(bytewright.ArgumentError):
        Capture(WEB, filter="no such thing")


def test_a_closed_capture_says_so_and_ends_what_reads_it():
    capture = Capture(WEB)
    packets = iter(capture)
    next(packets)
    capture.close()
    assert capture.closed and repr(capture).endswith("(closed)>")
    for use in (lambda: capture.count_by("proto"), lambda: next(iter(capture)), lambda: pyarrow.table(capture.packets())):
        with pytest.raises(Exception, match="expected an open capture, found it closed"):
            use()
    with pytest.raises(bytewright.ClosedError):
        list(packets)


class Breaking(io.RawIOBase):
    """A source that raises behind some bytes."""

    def __init__(self, content, error):
        self.content, self.error = io.BytesIO(content), error

    def read(self, count=-1):
        if found := self.content.read(count):
            return found
        raise self.error


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("part", [0, 24, 1 / 2])
def test_flows_of_a_source_that_raises_leave_no_file_and_no_lock(tmp_path, error, part):
    content, path = gzip.decompress(WEB.read_bytes()), tmp_path / "week.bwt"
    content = content[: int(part * len(content)) if part < 1 else part]
    with pytest.raises(error):
        bytewright.flows(Breaking(content, error), into=path)
    assert os.listdir(tmp_path) == []
    assert bytewright.flows(WEB, into=path)[0]["added"]
    # Flows that were counted before stay.
    with pytest.raises(error):
        bytewright.flows(Breaking(content, error), into=path)
    with FlowStore(path) as store:
        assert len(store.captures()) == 1 and len(store) == 926


def test_an_interrupt_while_a_source_is_asked_for_its_descriptor_is_raised():
    class Source(io.BytesIO):
        def fileno(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Capture(Source(b""))


def test_a_store_that_is_closed_while_it_is_walked_is_named_as_one(tmp_path):
    bytewright.flows(WEB, into=tmp_path / "week.bwt")
    store = FlowStore(tmp_path / "week.bwt")
    with pytest.raises(bytewright.ClosedError, match="expected an open flow store, found it closed while it was read"):
        for _ in store:
            store.close()
    FlowStore(tmp_path / "week.bwt").close()


def endless():
    """A capture that never ends, as a pipe has it: the file to read from."""
    header = gzip.decompress(WEB.read_bytes())[:24]
    record = bytes(16)
    read, write = os.pipe()
    os.write(write, header + record)
    return read, write


@pytest.mark.parametrize("use", ["next(iter(capture))", "capture.count_by('proto')", "pyarrow.table(capture.packets())"])
def test_ctrl_c_ends_reading(use):
    read, write = endless()
    code = f"""
import bytewright, pyarrow, sys
# pyarrow imports more with its first table. An interrupt at that time was lost, once in some hundred times.
pyarrow.table(bytewright.packets({str(WEB)!r}, "ts"))
capture = bytewright.Capture("/dev/fd/{read}")
print("begun", flush=True)
try:
    while True:
        {use}
except KeyboardInterrupt:
    print("interrupted")
"""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    child = subprocess.Popen([sys.executable, "-c", code], pass_fds=[read], text=True, **pipes)
    assert child.stdout.readline() == "begun\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    told, _ = child.communicate(timeout=20)
    os.close(read)
    os.close(write)
    # A program that reads a stream may raise its own error first, which has the text.
    assert "interrupted" in told or ("arrow" in use and "KeyboardInterrupt" in told), told


def test_threads_read_side_by_side():
    capture, found, failures = Capture(WEB), [], []

    def work():
        try:
            found.append(sum(packet.length for packet in capture))
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and len(set(found)) == 1


def test_errors_leave_nothing_behind(tmp_path):
    content = gzip.decompress(WEB.read_bytes())[:1000]
    path = tmp_path / "cut.pcap"
    path.write_bytes(content)

    def provoke():
        with pytest.raises(bytewright.TruncatedError):
            list(Capture(path))
        with pytest.raises(bytewright.ArgumentError):
            bytewright.count_by(path, "no_field")

    for _ in range(20):
        provoke()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(300):
        provoke()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000, grown


def test_sums_are_what_adding_up_by_hand_gives():
    expected = {}
    for packet in Capture(WEB):
        if packet.length > 100:
            packets, length = expected.get(packet.dst_port, (0, 0))
            expected[packet.dst_port] = packets + 1, length + packet.length
    sums = Capture(WEB).sum("length", by="dst_port", where="length > 100")
    found = dict(zip(sums["dst_port"], zip(sums["packets"], sums["length"], strict=True), strict=True))
    assert found == expected
    assert pyarrow.record_batch(sums).num_rows == len(expected)
    assert len(Capture(WEB).sum("length", by=["dst_port"], top=2)) == 2
    assert Capture(WEB).sum(every=0.5).columns == ("ts", "packets", "groups")
    for fields, options in ((["src_ip"], {}), (["length"], {"where": "lenght > 1"})):
        with pytest.raises(bytewright.ArgumentError):
            Capture(WEB).sum(*fields, **options)


def test_packets_that_hold_a_condition_are_those_of_all_that_do(tmp_path):
    packets = list(Capture(WEB))
    first, last = packets[len(packets) // 4].ts, packets[len(packets) // 2].ts
    expected = [(packet.ts, packet.length) for packet in packets if first <= packet.ts <= last and packet.length > 100]
    where = f"ts >= {first} and ts <= {last} and length > 100"
    assert 0 < len(expected) < len(packets)
    assert list(Capture(WEB).packets("ts", "length", where=where)) == expected
    assert list(bytewright.packets([WEB, WEB], "ts", "length", where=where, jobs=2)) == expected * 2
    with open(WEB, "rb") as file:
        assert sum(len(batch) for batch in Capture(file).batches("ts", rows=7, where=where)) == len(expected)
    assert bytewright.packets(WEB, "ts", where=where).to_parquet(tmp_path / "x.parquet") == len(expected)
    assert list(Capture(WEB).packets("ts", where="length < 0")) == []
    for wrong in ("lenght > 1", "ts >= noon"):
        with pytest.raises(bytewright.ArgumentError):
            Capture(WEB).packets("ts", where=wrong)


def test_one_flow_is_read_by_its_ends_or_its_community_id():
    flow = max(Capture(WEB).flows(), key=lambda flow: flow.packets)
    assert len(list(Capture(WEB, flow=flow.community_id))) == flow.packets + flow.rev_packets
    with pytest.raises(bytewright.ArgumentError, match="expected a flow"):
        Capture(WEB, flow="10.0.0.1")


def test_packets_are_written_to_a_new_capture(tmp_path):
    path = tmp_path / "long.pcapng.zst"
    expected = [packet for packet in Capture(WEB) if packet.length > 1000]
    written = Capture(WEB).write_to(path, where="length > 1000", snaplen=80)
    assert [(packet.ts, packet.length, packet.captured) for packet in Capture(path)] == [
        (packet.ts, packet.length, packet.captured[:80]) for packet in expected
    ]
    assert written == {
        "packets": len(expected),
        "bytes": sum(packet.length for packet in expected),
        "late": 0,
        "duplicates": 0,
        "opaque": 0,
        "files": 1,
        "damage": None,
    }
    Capture(WEB).write_to(path, where="length > 1000", to_time=expected[10].ts, force=True)
    assert len(list(Capture(path))) == 10
    for name, options in (("out.pcap", {"from_time": "soon"}), ("out.txt", {})):
        with pytest.raises(bytewright.ArgumentError):
            Capture(WEB).write_to(tmp_path / name, **options)
    assert os.listdir(tmp_path) == ["long.pcapng.zst"]


def packets_in(path):
    return [(packet.captured, packet.ts, packet.length, packet.link_type) for packet in Capture(path)]


@pytest.mark.parametrize("form", [".pcap", ".pcapng", ".pcap.gz", ".pcapng.zst"])
def test_packets_that_are_written_are_read_back_equal(tmp_path, form):
    expected, path = packets_in(WEB), tmp_path / f"copy{form}"
    with bytewright.CaptureWriter(path) as writer:
        for data, ts, length, link_type in expected:
            writer.write(data, time=ts, length=length, link_type=link_type)
    assert packets_in(path) == expected and writer.closed


def test_an_anonymous_capture_has_the_same_flows_between_other_hosts(tmp_path):
    path = tmp_path / "anonymous.pcapng"
    written = Capture(WEB).write_to(path, anonymize="a key", shift="1h")
    assert (written["packets"], written["opaque"]) == (8760, 0)

    def flows(source, moved=0):
        return [(flow.ts + moved, flow.src_port, flow.dst_port, flow.packets, flow.bytes) for flow in Capture(source).flows()]

    assert sorted(flows(path), key=repr) == sorted(flows(WEB, 3600 * 10**9), key=repr)
    hosts = [{str(packet.src_ip) for packet in Capture(source) if packet.src_port} for source in (WEB, path)]
    assert len(hosts[0]) == len(hosts[1]) and not hosts[0] & hosts[1]
    with pytest.raises(ValueError, match="expected anonymize beside payload"):
        Capture(WEB).write_to(path, payload="cut", force=True)


def test_a_rotated_capture_is_in_files_that_have_all_packets(tmp_path):
    written = Capture(WEB).write_to(tmp_path / "%n.pcap.zst", rotate="3000p", keep=2)
    assert (written["files"], written["packets"]) == (3, 8760)
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == ["00002.pcap.zst", "00003.pcap.zst"]
    lengths = [packet.length for path in files for packet in Capture(path)]
    assert lengths == [packet.length for packet in Capture(WEB)][3000:]
    with pytest.raises(ValueError, match="expected rotate beside keep"):
        Capture(WEB).write_to(tmp_path / "a.pcap", keep=3)


def test_interfaces_comments_and_times_are_kept(tmp_path):
    path = tmp_path / "kept.pcapng"
    with bytewright.CaptureWriter(path) as writer:
        late = datetime.datetime(2026, 11, 21, 10, 0, 0, 123456, tzinfo=datetime.timezone.utc)
        writer.write(bytearray(b"a"), time=late, interface="eth0", comment="here ✓")
        writer.write(memoryview(b"b"), time=5, interface="eth1", length=9)
        with pytest.raises(TypeError, match="with a time zone"):
            writer.write(b"c", time=datetime.datetime(2026, 11, 21))
    assert packets_in(path) == [(b"a", 1795255200123456000, 1, 1), (b"b", 5, 9, 1)]
    assert all(path.read_bytes().count(text.encode()) == 1 for text in ("here ✓", "eth0", "eth1"))


def test_a_capture_that_is_not_finished_leaves_the_old_one(tmp_path):
    path = tmp_path / "old.pcap"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), bytewright.CaptureWriter(path) as writer:
        writer.write(bytes(100_000), time=1)
        1 / 0
    writer = bytewright.CaptureWriter(path)
    writer.discard()
    with pytest.raises(bytewright.ClosedError, match="found it closed"):
        writer.write(b"x")
    bytewright.CaptureWriter(path)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["old.pcap"]


def test_what_a_capture_cannot_hold_is_refused_and_loses_nothing(tmp_path):
    path = tmp_path / "good.pcap"
    with bytewright.CaptureWriter(path) as writer:
        writer.write(b"first", time=1)
        refused = [{"link_type": 101}, {"comment": "c"}, {"interface": "eth0"}, {"length": 3}, {"time": 2**63 - 1}]
        for options in refused:
            with pytest.raises(bytewright.ArgumentError):
                writer.write(b"more", **{"time": 2, **options})
        for options, message in [({"link_type": 70_000}, "at most 65535, found 70000"), ({"length": -1}, "0 or more, found -1")]:
            with pytest.raises(bytewright.ArgumentError, match=message):
                writer.write(b"more", **options)
        with pytest.raises(TypeError, match="found lenght; did you mean length\\?"):
            writer.write(b"more", lenght=3)
        with pytest.raises(bytewright.LimitError):
            writer.write(bytes(300_000), time=2)
        with pytest.raises(TypeError):
            writer.write("text", time=2)
        writer.write(b"last", time=3)
    assert [packet[0] for packet in packets_in(path)] == [b"first", b"last"]
    with pytest.raises(bytewright.ArgumentError, match="ends in .pcap or .pcapng"):
        bytewright.CaptureWriter(tmp_path / "a.txt")
    with pytest.raises(TypeError, match="found froce; did you mean force\\?"):
        bytewright.CaptureWriter(path, froce=True)


def test_a_column_that_a_batch_does_not_have_is_a_key_error():
    batch = next(bytewright.packets(WEB, "length", "src_ip").batches())
    with pytest.raises(KeyError, match=r"expected a field, found lenght; did you mean length\?"):
        batch["lenght"]
    with pytest.raises(TypeError):
        batch[0]


def test_conditions_leave_out_what_a_filter_afterwards_would():
    flows = list(bytewright.flows(WEB))
    some = [flow for flow in flows if flow.dst_port == 80 and flow.packets > 3]
    assert 0 < len(some) < len(flows)
    where = "dst_port == 80 and packets > 3"
    assert list(bytewright.flows(WEB, where=where)) == list(Capture(WEB).flows(where=where)) == some
    assert pyarrow.table(bytewright.flows(WEB, where=where)).num_rows == len(some)
    calls = list(bytewright.calls(WAREHOUSE))
    some = [call for call in calls if call.outcome != "returned"]
    assert 0 < len(some) < len(calls)
    assert list(bytewright.calls(WAREHOUSE, where='outcome != "returned"')) == some
    lengths = [length for port, length in bytewright.packets(WEB, "dst_port", "length") if port == 80]
    counts = bytewright.count_by(WEB, "length", where="dst_port == 80")
    assert counts == Capture(WEB).count_by("length", where="dst_port == 80")
    assert sum(counts.values()) == len(lengths) and set(counts) == set(lengths)


def test_flows_that_are_merged_take_no_condition(tmp_path):
    with pytest.raises(TypeError, match="expected an option .*, found where"):
        bytewright.flows(WEB, into=tmp_path / "flows.bwt", where="packets > 3")


def test_info_tells_the_hash_of_the_file_where_it_is_asked_for():
    for path in (WEB, SAMPLES / "vlan.pcapng", SAMPLES / "loopback.pcap.zst"):
        expected = hashlib.sha256(path.read_bytes()).hexdigest()
        assert bytewright.info(path, hash=True)["sha256"] == expected
        assert bytewright.info(io.BytesIO(path.read_bytes()), hash=True)["sha256"] == expected
        with bytewright.Capture(path, hash=True, jobs=4) as capture:
            next(iter(capture))
            assert [capture.info()["sha256"] for _ in range(2)] == [expected] * 2
        assert bytewright.info(path)["sha256"] is None
