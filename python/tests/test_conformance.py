"""Goal: Python does what every face must do alike.

Method: the cases of `conformance/`, which its README explains. What this runner does not know fails.
"""

import asyncio
import contextlib
import hashlib
import io
import itertools
import json
import pathlib
import tempfile

import pytest

import bytewright
from bytewright import thrift

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "conformance"
FILES = {path.stem: json.loads(path.read_text()).get("cases") for path in sorted(FOLDER.glob("*.json"))}
ERRORS = {kind: getattr(bytewright, f"{kind}Error") for kind in ("Format", "Truncated", "Limit", "Argument", "Lock")}


def cases(stem):
    return pytest.mark.parametrize("case", FILES[stem], ids=[case["name"] for case in FILES[stem]])


def check_keys(case, *known):
    assert not set(case) - set(known), "a key that the runner does not know"


def test_every_file_has_a_runner():
    # test_troubles.py runs the last one, and there are no methods of Tokyo Cabinet.
    assert set(FILES) == {"adb", "captures", "records", "tables", "thrift", "troubles"}


# Tables.


@cases("tables")
@pytest.mark.parametrize("place", ["memory", "file"])
def test_tables(case, place, tmp_path):
    check_keys(case, "name", "kinds", "steps")
    for kind in case["kinds"]:
        cls, extension = {"hash": (bytewright.HashTable, "bwh"), "tree": (bytewright.TreeTable, "bwt")}[kind]
        with cls() if place == "memory" else cls.open(tmp_path / f"table.{extension}") as table:
            for step in case["steps"]:
                run_step(table, step)


class TakenBack(Exception):
    pass


def run_step(table, step):
    check_keys(step, "do", "key", "value", "by", "from", "to", "prefix", "text", "steps", "gives", "raises", "outer", "beside", "inner", "end")
    if step["do"] == "overlap":
        asyncio.run(overlap_tasks(table, step))
        overlap_objects(table, step)
        return
    if "raises" in step:
        with pytest.raises(ERRORS[step["raises"]]):
            done(table, step)
        return
    found = done(table, step)
    if "gives" in step:
        assert json.loads(json.dumps(found)) == step["gives"], step


def done(table, step):
    match step["do"]:
        case "get":
            return table.get(step["key"])
        case "put":
            table[step["key"]] = step["value"]
        case "delete":
            del table[step["key"]]
        case "size":
            return len(table)
        case "entries":
            return list(table.range(prefix=step["prefix"]) if "prefix" in step else table.items())
        case "delete range":
            return table.delete_range(step.get("from"), step.get("to"), prefix=step.get("prefix"))
        case "load":
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "dump")
                path.write_text(step["text"])
                return table.load(path)
        case "floor":
            return table.floor(step["key"])
        case "ceiling":
            return table.ceiling(step["key"])
        case "increment":
            return table.increment(step["key"], step["by"])
        case "keep":
            with table.transaction():
                for inner in step["steps"]:
                    run_step(table, inner)
        case "take back":
            with pytest.raises(TakenBack):
                with table.transaction():
                    for inner in step["steps"]:
                        run_step(table, inner)
                    raise TakenBack
        case other:
            raise AssertionError(f"an operation that the runner does not know: {other}")


def run_steps(table, steps):
    for step in steps:
        run_step(table, step)


async def overlap_tasks(table, step):
    begun, ends = asyncio.Event(), asyncio.Event()

    async def outer():
        with table.transaction():
            run_steps(table, step["outer"])
            begun.set()
            await ends.wait()
            if step["end"] == "take back":
                raise TakenBack

    task = asyncio.create_task(outer())
    await begun.wait()
    run_steps(table, step["beside"])
    with refused(step):
        with table.transaction():
            run_steps(table, step["inner"])
    ends.set()
    assert type((await asyncio.gather(task, return_exceptions=True))[0]) is (TakenBack if step["end"] == "take back" else type(None))


def overlap_objects(table, step):
    outer, inner = table.transaction(), table.transaction()
    outer.__enter__()
    run_steps(table, step["outer"])
    run_steps(table, step["beside"])
    inner.__enter__()
    run_steps(table, step["inner"])
    with refused(step):
        outer.__exit__(None, None, None)
    inner.__exit__(TakenBack, TakenBack(), None)
    outer.__exit__(*((TakenBack, TakenBack(), None) if step["end"] == "take back" else (None, None, None)))


def refused(step):
    return pytest.raises(tuple(ERRORS[kind] for kind in step["raises"]))


# Captures.


@cases("captures")
def test_captures(case, tmp_path):
    known = "name capture cut indexed do fields field number rows count counts by every question options raises format sha256"
    check_keys(case, *known.split())
    path = ROOT / "samples" / case["capture"]
    if case["do"] == "write flows":
        compare_written(path, case, tmp_path / "flows")
        return
    content = path.read_bytes()[: -case["cut"]] if "cut" in case else path.read_bytes()
    source = io.BytesIO(content) if "cut" in case else path
    if "indexed" in case:
        source = tmp_path / "indexed"
        source.write_bytes(content)
        with contextlib.suppress(bytewright.Error):
            list(bytewright.Capture(source).index())
        assert (tmp_path / "indexed.bwi").exists()
    capture = bytewright.Capture(source)
    if case["do"] == "count_by":
        counts = capture.count_by(case["field"])
        assert [[value, count] for value, count in counts.items()][: len(case["counts"])] == case["counts"]
        return
    if case["do"] == "sum":
        sums = capture.sum(*case["fields"], by=case["by"], every=case.get("every"))
        rows = [list(row) for row in zip(*sums.to_dict().values(), strict=True)]
        assert rows[: len(case["rows"])] == case["rows"] and len(rows) == case["count"]
        return
    asks = {
        "packets": lambda: capture.packets(*case["fields"]),
        "flows": lambda: capture.flows(**case.get("options", {})),
        "calls": lambda: capture.calls(**case.get("options", {})),
        "frame": lambda: framed(capture, case["number"]),
        "ask": lambda: getattr(capture, case["question"])(**case["options"]),
    }
    asked = asks[case["do"]]()
    rows = []
    try:
        for each in asked:
            rows.append(list(each) if isinstance(each, tuple) else [getattr(each, name) for name in case["fields"]])
    except bytewright.Error as error:
        assert type(error) is ERRORS[case["raises"]]
    else:
        assert "raises" not in case
    assert rows[: len(case["rows"])] == case["rows"] and len(rows) == case["count"]


def compare_written(path, case, into):
    """The same file from an open capture and from a path."""
    content = path.read_bytes()[: -case["cut"]] if "cut" in case else None
    source = (lambda: io.BytesIO(content)) if content else lambda: path
    options = {"into": into, "format": case["format"], **case.get("options", {})}
    for write in (lambda: bytewright.flows(source(), **options), lambda: bytewright.Capture(source()).flows(**options)):
        if "raises" in case:
            with pytest.raises(ERRORS[case["raises"]]):
                write()
            assert not into.exists()
        else:
            assert write() == case["count"]
            assert hashlib.sha256(settled(into.read_bytes(), case["format"])).hexdigest() == case["sha256"]


def settled(content, form):
    """The bytes of a file of flows without the times at which it was written."""
    if form != "ipfix":
        return b"".join(line for line in content.splitlines(keepends=True) if not line.startswith((b"#open", b"#close")))
    content, place = bytearray(content), 0
    while place < len(content):
        content[place + 4 : place + 8] = bytes(4)
        place += int.from_bytes(content[place + 2 : place + 4], "big")
    return content


def framed(capture, number):
    try:
        return [capture[number]]
    except IndexError:
        return []


# Records.


@cases("records")
@pytest.mark.parametrize("form", ["tuples", "iterator", "columns"])
def test_records(case, form):
    check_keys(case, "name", "template", "bytes", "count", "gives", "raises", "offset")
    reader = bytewright.Reader(bytes.fromhex(case["bytes"]))
    if "raises" in case:
        with pytest.raises(ERRORS[case["raises"]]) as raised:
            records(reader, case, form)
        assert type(raised.value) is ERRORS[case["raises"]] and case.get("offset", raised.value.offset) == raised.value.offset
        return
    found = [[{"hex": value.hex()} if isinstance(value, bytes) else value for value in row] for row in records(reader, case, form)]
    assert found == case["gives"]


def records(reader, case, form):
    match form:
        case "tuples":
            return reader.unpack_records(case["template"], case.get("count"))
        case "iterator":
            return list(itertools.islice(reader.iter_unpack(case["template"]), case.get("count")))
        case "columns":
            columns = reader.unpack_records(case["template"], case.get("count"), columns=True)
            return list(zip(*columns.to_dict().values(), strict=True))


# Thrift.


@pytest.fixture(scope="module")
def messages():
    return thrift.load(FOLDER / "messages.thrift")


@cases("thrift")
def test_thrift(case, messages):
    check_keys(case, "name", "type", "protocol", "message", "gives", "encodes", "raises", "offset", "columns", "plucks")
    cls, message = getattr(messages, case["type"]), bytes.fromhex(case["message"])
    if "columns" in case:
        rows = thrift.columns(cls, message, *case["columns"], protocol=case["protocol"], framed=False)
        assert [[plain(each) for each in row] for row in rows] == case["gives"]
        return
    if "plucks" in case:
        plucked = thrift.pluck(cls, message, *case["plucks"], protocol=case["protocol"])
        assert [plain(each) for each in plucked] == case["gives"]
        return
    if "raises" in case:
        with pytest.raises(ERRORS[case["raises"]]) as raised:
            thrift.decode(cls, message, case["protocol"])
        assert type(raised.value) is ERRORS[case["raises"]] and raised.value.offset == case["offset"]
        return
    found = thrift.decode(cls, message, case["protocol"])
    assert plain(found) == case["gives"]
    if case.get("encodes", True):
        assert thrift.encode(found, case["protocol"]) == message


def plain(value):
    if isinstance(value, thrift.Struct):
        pairs = ((name, getattr(value, name)) for name in value.__match_args__)
        return {name: plain(each) for name, each in pairs if each is not None}
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, set):
        return sorted(value)
    if isinstance(value, dict):
        return [[key, plain(value[key])] for key in sorted(value)]
    return value
