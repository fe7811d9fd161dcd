"""Goal: arguments and results of the calls of a method are columns of structs, and say what the command prints of the same calls.

Method: the calls of the sample, which are in four protocols, as columns of Arrow, and as JSON that the command prints.
"""

import json
import pathlib
import subprocess
import sys

import bytewright.thrift
import pyarrow
import pytest
from bytewright import ArgumentError

SAMPLES = pathlib.Path(__file__).parents[2] / "samples"
CAPTURE = SAMPLES / "warehouse.pcap.zst"
IDL = {"idl": SAMPLES / "warehouse.thrift", "service": "NextStore"}
UNITS = {"PIECE": 1, "KILOGRAM": 2, "LITRE": 3}


def table(method, *fields, **options):
    rows = bytewright.calls(CAPTURE, fields=fields, **IDL, method=method, arguments=True, **options)
    found = pyarrow.table(rows)
    found.validate(full=True)
    return found


@pytest.fixture(scope="module")
def printed():
    """What the command prints of the calls, by their methods."""
    command = [sys.executable, "-m", "bytewright", "rpc", CAPTURE, "--calls", "--json", "--idl", IDL["idl"], "--service", IDL["service"]]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    by_method = {}
    for line in lines:
        call = json.loads(line)
        by_method.setdefault(call["method"], []).append(call)
    return by_method


def plain(value):
    """A value of a column as the command prints it: without what is missing."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        if value and isinstance(value[0], tuple):
            return dict(value)
        return [plain(each) for each in value]
    return value


def told(value):
    """A value that the command prints as a column has it: numbers of enums, binary as bytes in base64."""
    if isinstance(value, dict):
        return {name: UNITS[each] if name == "unit" else told(each) for name, each in value.items()}
    return [told(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("method", ["find", "search", "reserve", "weigh", "log", "audit", "ping"])
def test_columns_of_a_method_say_what_the_command_prints(printed, method):
    found = table(method, "method", "sequence_id", "outcome").to_pylist()
    assert len(found) == len(printed[method]) > 0
    for row, expected in zip(found, printed[method], strict=True):
        assert (row["method"], row["sequence_id"], row["outcome"]) == (method, expected["sequence_id"], expected["outcome"])
        assert plain(row["arguments"]) == told(expected["arguments"])
        result = told(expected["result"]) if expected["outcome"] != "failure" else None
        assert plain(row["result"]) == result


def test_the_columns_have_the_types_of_the_idl_and_stand_behind_those_that_are_named():
    found = table("reserve", "latency", "outcome")
    assert found.column_names == ["latency", "outcome", "arguments", "result"]
    messages = pyarrow.table(bytewright.thrift.columns(bytewright.thrift.load("struct S { 1: string name, 2: i32 count }").S, b""))
    assert found.schema.field("arguments").type == pyarrow.struct(list(messages.schema))
    assert [field.name for field in found.schema.field("result").type] == ["success", "out_of_stock", "not_found"]
    declared = [row for row in found.to_pylist() if row["outcome"] == "exception"]
    assert declared and all(row["result"]["out_of_stock"] or row["result"]["not_found"] for row in declared)
    assert table("log").column("result").null_count == table("log").num_rows


def test_a_condition_and_a_method_choose_calls():
    all_of = bytewright.calls(CAPTURE, **IDL)
    assert {call.method for call in bytewright.calls(CAPTURE, method="find")} == {"find"}
    assert pyarrow.table(bytewright.calls(CAPTURE, method="find")).num_rows == sum(call.method == "find" for call in all_of)
    exceptions = table("reserve", where="outcome == exception")
    assert 0 < exceptions.num_rows < table("reserve").num_rows
    assert set(exceptions.column("outcome").to_pylist()) == {"exception"}
    with bytewright.Capture(CAPTURE) as capture:
        assert pyarrow.table(capture.calls("ts", **IDL, method="find", arguments=True)).column_names == ["ts", "arguments", "result"]


def test_what_is_missing_for_the_columns_is_named():
    for options, words in [
        ({"arguments": True}, "expected idl with arguments"),
        ({"arguments": True, "method": "find"}, "expected idl with arguments"),
        ({**IDL, "arguments": True}, "expected method with arguments"),
        ({**IDL, "arguments": True, "method": "fnd"}, r"expected a method of the service \(audit, find, log, .*\), found fnd"),
    ]:
        with pytest.raises(ArgumentError, match=words):
            bytewright.calls(CAPTURE, **options)


def test_polars_and_pandas_read_the_columns():
    polars = pytest.importorskip("polars")
    pytest.importorskip("pandas")
    found = table("reserve")
    frame = polars.DataFrame(bytewright.calls(CAPTURE, **IDL, method="reserve", arguments=True))
    assert frame["arguments"].struct.field("count").to_list() == [row["count"] for row in found.column("arguments").to_pylist()]
    assert found.to_pandas()["arguments"][0] == found.column("arguments")[0].as_py()
