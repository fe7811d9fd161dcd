"""Goal: a packet, a flow, a call and a batch come back whole from a pickle and from another process.

Method: those of the samples, by each protocol, compared with the original in all that they show.
"""

import copy
import pathlib
import pickle
import subprocess
import sys

import pyarrow
import pytest

import bytewright
from bytewright import Capture, FlowStore, Reader

SAMPLES = pathlib.Path(__file__).parents[2] / "samples"
CAPTURES = sorted(path for path in SAMPLES.iterdir() if ".pcap" in path.name)
PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def records():
    for path in CAPTURES:
        for make in (Capture, lambda path: Capture(path, inner=True)):
            yield from list(make(path))[::97]
            yield from list(make(path).flows())[::31]
        yield from list(bytewright.calls(path))[::7]


RECORDS = list(records())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_record_is_what_it_was(protocol):
    found = pickle.loads(pickle.dumps(RECORDS, protocol))
    assert {type(record) for record in found} == {bytewright.Packet, bytewright.Flow, bytewright.Call}
    for record, other in zip(RECORDS, found, strict=True):
        assert type(other) is type(record) and other is not record
        assert other == record and record == other and hash(other) == hash(record) and repr(other) == repr(record)
        assert other.to_dict() == record.to_dict()
        if isinstance(record, bytewright.Packet):
            assert (other.captured, other.payload) == (record.captured, record.payload)
        assert pickle.loads(pickle.dumps(other, protocol)) == record
    assert [one == two for one, two in zip(found, found[1:])] == [one == two for one, two in zip(RECORDS, RECORDS[1:])]


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy])
def test_a_copy_is_equal(way):
    for record in RECORDS[:5]:
        assert way(record) == record and way([record]) == [record]
    batch = next(bytewright.packets(CAPTURES[0], "length").batches())
    assert way(batch).to_dict() == batch.to_dict()


def batches(folder):
    for path in CAPTURES:
        yield next(bytewright.packets(path, *[field[0] for field in bytewright._bytewright.schema_of("packets")], rows=200).batches())
        yield next(bytewright.flows(path).batches(), None)
        yield next(bytewright.calls(path).batches(), None)
        yield Capture(path).sum("length", by=["proto", "src_ip"], every=1, top=3)
        yield next(bytewright.packets(path, "ts", "src_ip", "number", rows=9).converted(timestamps="us", signed=True, addresses="binary").batches())
    yield Reader(bytes(range(64))).unpack_records("C n l< q> E a3", columns=["a", "b", "c", "d", "e", "f"], count=2)
    idl = "struct S { 1: bool a, 2: binary b, 3: string c, 4: uuid d, 5: double e, 6: i8 f }"
    made = bytewright.thrift.load(idl)
    import uuid

    message = bytewright.thrift.encode(made.S(a=True, b=b"\xff", c="x", d=uuid.uuid4(), e=1.5, f=-3))
    yield next(bytewright.thrift.columns(made.S, len(message).to_bytes(4, "big") + message, *"abcdef").batches())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_batch_is_what_it_was(protocol, tmp_path):
    for batch in batches(tmp_path):
        if batch is None:
            continue
        other = pickle.loads(pickle.dumps(batch, protocol))
        assert other.to_dict() == batch.to_dict() and other.columns == batch.columns and repr(other) == repr(batch)
        assert pyarrow.record_batch(other).equals(pyarrow.record_batch(batch), check_metadata=True)


def test_another_process_gives_records(tmp_path):
    code = "import bytewright, pickle, sys; pickle.dump(list(bytewright.Capture(sys.argv[1])), sys.stdout.buffer)"
    run = subprocess.run([sys.executable, "-c", code, CAPTURES[0]], capture_output=True, check=True)
    assert pickle.loads(run.stdout) == list(Capture(CAPTURES[0]))


def test_a_flow_of_a_store_is_pickled(tmp_path):
    bytewright.flows(CAPTURES[0], into=tmp_path / "f.bwt")
    with FlowStore(tmp_path / "f.bwt", read_only=True) as store:
        flows = list(store)
        assert flows and pickle.loads(pickle.dumps(flows)) == flows


def test_a_pickle_of_nonsense_is_an_error():
    packet = RECORDS[0]
    function, (names, values, captured, payload) = packet.__reduce__()
    assert function(names, values, captured, (5, 10**9)).payload is None
    assert function(("later", *names), (1, *values), captured, payload) == packet
    for wrong in (("x",), (2**70,), ({},)):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            function(("ts",), wrong, captured, payload)
    with pytest.raises(bytewright.ArgumentError, match="expected an IP address, found no address"):
        function(("src_ip",), ("no address",), captured, payload)
