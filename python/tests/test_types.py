"""Goal: type checkers agree with the guides and the examples, and know which class an object is of.

Method: mypy and pyright check each program in examples/python, the examples of each document as one module, and a module with the
types that are expected.
"""

import json
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
#: Documents whose examples use other libraries alone, or need Spark.
ELSEWHERE = [ROOT / "docs/guides/columns.md", ROOT / "docs/guides/spark.md"]
DOCUMENTS = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if path not in ELSEWHERE and "```python" in path.read_text()
]
EXPECTED = """
from typing import assert_type

import bytewright

with bytewright.Capture("x.pcap") as capture:
    assert_type(capture, bytewright.Capture)
    for packet in capture:
        assert_type(packet, bytewright.Packet)
    assert_type(capture.flows(into="conn.log", format="zeek", where="dst_port == 80", force=True), int)
    assert_type(capture.flows("src_ip", idle_timeout=60), bytewright.Rows[bytewright.Flow])
with bytewright.Capture.live("eth0") as live:
    assert_type(live, bytewright.Capture)
with bytewright.CaptureWriter("x.pcap") as writer:
    assert_type(writer, bytewright.CaptureWriter)
    writer.write(b"", time=1.5, comment="x")
with bytewright.FlowStore("x.bwt") as store:
    assert_type(store, bytewright.FlowStore)
    for flow in store:
        assert_type(flow, bytewright.Flow)
with bytewright.Reader("x") as reader, bytewright.Writer("y") as output, bytewright.Writer.replace("z") as other:
    assert_type(reader, bytewright.Reader)
    assert_type(output, bytewright.Writer)
    assert_type(other, bytewright.Writer)
table = bytewright.TreeTable({"a": "1"})
assert_type(table, bytewright.TreeTable[str, str])
assert_type(table | {"b": "2"}, bytewright.TreeTable[str, str])
table |= [("c", "3")]
with table.snapshot() as snapshot:
    assert_type(snapshot, bytewright.TreeSnapshot[str, str])
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """A folder with all that is checked."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "expected.py").write_text(EXPECTED)
    for path in (ROOT / "examples/python").glob("*.py"):
        (folder / f"example_{path.name}").write_text(path.read_text())
    for path in DOCUMENTS:
        examples = re.findall(r"^```python\n(.*?)^```", path.read_text(), re.M | re.S)
        (folder / f"{path.parent.name}_{path.stem}.py".replace("-", "_")).write_text("\n".join(examples))
    return folder


def checked(modules, *command):
    """Returns what a checker writes of the modules."""
    run = subprocess.run([sys.executable, "-m", *command], cwd=modules, capture_output=True, text=True)
    assert run.stdout, run.stderr
    return run.stdout


def test_mypy_agrees(modules):
    # Some libraries of the examples have no types.
    told = checked(modules, "mypy", "--disable-error-code=import-untyped", "--cache-dir", str(modules / ".mypy"), ".")
    assert told.startswith("Success"), told


def test_pyright_agrees(modules):
    (modules / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard"}))
    told = json.loads(checked(modules, "basedpyright", "--outputjson", "--pythonpath", sys.executable, "."))
    assert told["summary"]["filesAnalyzed"] == len(list(modules.glob("*.py")))
    assert [one for one in told["generalDiagnostics"] if one["severity"] == "error"] == []
