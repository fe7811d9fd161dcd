"""Goal: no object that stands for a file, a table or a reading is copied or saved as something empty.

Method: each way of Python's to copy or save, of each kind of object. It is refused, or the copy has all that the object has. What is
pickled whole is in test_pickles.py.
"""

import copy
import dataclasses
import json
import marshal
import pathlib
import pickle

import pytest

import bytewright
from bytewright import Capture, CaptureWriter, FlowStore, HashTable, Reader, TreeTable, Writer

WEB = pathlib.Path(__file__).parents[2] / "samples" / "web.pcap.gz"
#: What the error of pickling tells to do instead.
INSTEAD = {
    "table": r"pickle dict\(table\), or its path, or write it to a file with backup",
    "table in a file": r"pickle dict\(table\), or its path, or write it to a file with backup",
    "snapshot": r"pickle dict\(snapshot\)",
    "cursor": "pickle its key",
    "capture": "pickle its path",
    "rows": r"pickle list\(rows\)",
    "writer of a capture": "pickle its path",
    "store of flows": "pickle its path",
    "reader": "pickle its path",
    "writer": "pickle its path",
}
WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "json": json.dumps,
    "marshal": marshal.dumps,
    "asdict": dataclasses.asdict,
}


def objects(folder):
    table = TreeTable({"a": "1", "b": "2"})
    capture = Capture(WEB)
    return {
        "table": table,
        "table in a file": HashTable.open(folder / "t.bwh"),
        "snapshot": table.snapshot(),
        "cursor": table.cursor(),
        "entries that are walked": iter(table),
        "transaction": table.transaction(),
        "capture": capture,
        "rows": capture.packets("length"),
        "packets that are walked": iter(capture),
        "batches that are walked": capture.packets("length").batches(),
        "writer of a capture": CaptureWriter(folder / "w.pcap"),
        "store of flows": FlowStore(folder / "f.bwt"),
        "flows of a store that are walked": iter(FlowStore(folder / "g.bwt")),
        "reader": Reader(b"abcd"),
        "records that are walked": Reader(b"abcd").iter_unpack("C"),
        "writer": Writer(folder / "w.bin"),
    }


def test_nothing_is_pickled_as_something_empty(tmp_path):
    found = objects(tmp_path)
    assert set(INSTEAD) <= set(found)
    for name, one in found.items():
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match=INSTEAD.get(name)):
                pickle.dumps(one, protocol)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_copied_as_something_empty(tmp_path, way):
    for name, one in objects(tmp_path).items():
        if way == "copy" and name.startswith("table"):
            assert copy.copy(one) == one and type(copy.copy(one)) is type(one)
        else:
            with pytest.raises((TypeError, ValueError)):
                WAYS[way](one)


def test_a_batch_is_saved_whole_or_not_at_all():
    batch = next(Capture(WEB).batches("length"))
    for way in ("copy", "deepcopy"):
        assert WAYS[way](batch).to_dict() == batch.to_dict()
    for way in ("json", "marshal", "asdict"):
        with pytest.raises((TypeError, ValueError)):
            WAYS[way](batch)


def test_the_copy_of_a_table_is_a_table_of_its_own():
    table = TreeTable({"a": "1"})
    other = copy.copy(table)
    other["b"] = "2"
    assert dict(table) == {"a": "1"} and isinstance(other, TreeTable)
    assert pickle.loads(pickle.dumps(dict(table))) == {"a": "1"} and isinstance(bytewright.HashTable(dict(table)), HashTable)
