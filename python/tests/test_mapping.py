"""Goal: a table takes what a dict takes, and answers as a dict does.

Method: small cases by name, each compared with a dict. CPython's own tests of mappings are in test_mapping_protocol.py.
"""

import email.message
import itertools
import sqlite3

import pytest

import bytewright
from bytewright import HashTable, TreeTable

KINDS = [HashTable, TreeTable]


class Keyed:
    """An object with `keys` and `[]`, and nothing else of a mapping."""

    def keys(self):
        return iter(["v", "x"])

    def __getitem__(self, key):
        return {"v": "1", "x": "y"}[key]


def row():
    """A row of a database, of which iterating gives values."""
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    found = connection.execute("select '1' as v, 'y' as x").fetchone()
    connection.close()
    return found


def message():
    """Makes an object that has `items`, and repeats a key there."""
    found = email.message.Message()
    found["v"], found["v"], found["x"] = "1", "2", "y"
    return found


@pytest.fixture(params=[False, True], ids=["memory", "file"])
def make(request, tmp_path):
    """Makes a table of a kind in memory and in a file."""
    numbers = itertools.count()
    return lambda kind, **options: kind.open(tmp_path / f"{next(numbers)}", **options) if request.param else kind(**options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entries", [Keyed, row, message, lambda: HashTable({"a": "b"}), lambda: TreeTable({"a": "b"}).snapshot()])
def test_what_has_keys_is_taken_as_a_dict_takes_it(kind, entries, make):
    expected = dict(entries())
    assert kind(entries()) == expected
    table = make(kind)
    table.update(entries(), more="z")
    assert table == expected | {"more": "z"}


@pytest.mark.parametrize("kind", KINDS)
def test_setdefault_without_a_default_is_that_of_a_dict(kind, make):
    table = make(kind)
    table["a"] = "1"
    assert table.setdefault("a") == "1"
    with pytest.raises(TypeError, match="a table of text keeps str: value is NoneType None"):
        table.setdefault("b")
    assert table == {"a": "1"}
    objects = make(kind, values="json")
    assert objects.setdefault("a") is None and objects.setdefault("a", 1) is None
    assert objects == {"a": None}


@pytest.mark.parametrize("kind", KINDS)
def test_tables_are_joined_as_dicts_are(kind, make):
    table = make(kind)
    table.update({"a": "1", "b": "2"})
    joined = table | {"b": "3", "c": "4"}
    assert type(joined) is kind and joined == {"a": "1", "b": "3", "c": "4"} and joined.path is None
    joined = {"b": "3", "c": "4"} | table
    assert type(joined) is kind and joined == {"a": "1", "b": "2", "c": "4"}
    assert table | table.snapshot() == table == {"a": "1", "b": "2"}
    one = table
    one |= {"c": "4"}
    one |= [("d", "5")]
    assert one is table and table == {"a": "1", "b": "2", "c": "4", "d": "5"}
    for wrong in (lambda: table | [("a", "1")], lambda: [("a", "1")] | table, lambda: table | 5):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_keys_has_one_value_for_all(kind):
    assert kind.fromkeys("abc", "x") == dict.fromkeys("abc", "x")
    assert kind.fromkeys(iter("ab"), values="json") == dict.fromkeys("ab")
    assert kind.fromkeys([b"a"], 7, text=False, values="integer") == {b"a": 7}
    assert kind.fromkeys([]) == {}
    with pytest.raises(TypeError, match="value is NoneType"):
        kind.fromkeys("abc")

    class Derived(kind):
        pass

    assert type(Derived.fromkeys("a", "x")) is Derived


@pytest.mark.parametrize("kind", KINDS)
def test_no_key_that_a_table_cannot_have_is_in_it(kind, make):
    table, raw = make(kind), make(kind, text=False)
    table["5"], raw[b"5"] = "x", b"x"
    with table.snapshot() as snapshot:
        for entries in (table, snapshot, raw):
            for key in (5, None, 5.0, ("5",), b"5" if entries.text else "5", "\ud800"):
                assert key not in entries and key not in entries.keys() and (key, "x") not in entries.items()
            with pytest.raises(TypeError, match="unhashable"):
                assert [] not in entries
        assert table.keys() & {5, "5"} == {"5"} and snapshot.items() & {(5, "x"), ("5", "x")} == {("5", "x")}
    assert bytearray(b"5") in raw
    snapshot.close()
    table.close()
    for closed in (table, snapshot):
        with pytest.raises(bytewright.ClosedError):
            assert 5 not in closed
