"""Goal: whoever makes the changes since a position to a copy of a table has the table as it is now, whoever changed it."""

import multiprocessing
import pickle

import pytest

import bytewright
from bytewright import HashTable, TreeTable


def follow(table, copy, position):
    changes = table.changes_since(position)
    for change, key, value in changes:
        match change:
            case "clear":
                copy.clear()
            case "put":
                copy[key] = value
            case "delete":
                copy.pop(key, None)
    return changes.position


def test_changes_begin_with_all_entries_and_go_on_from_a_position(tmp_path):
    with HashTable.open(tmp_path / "t.bwh") as table:
        table.update(a="1", b="2")
        first = table.changes_since()
        assert list(first) == [("clear", None, None), ("put", "a", "1"), ("put", "b", "2")]
        assert list(first) == list(table.changes_since(first.position)) == []
        del table["a"]
        table["c"] = "3"
        assert list(table.changes_since(first.position)) == [("delete", "a", None), ("put", "c", "3")]


def change(path, number):
    with HashTable.open(path, values="json") as table:
        table[f"other {number % 3}"] = [number]
        table.pop(f"other {(number + 1) % 3}", None)


def test_a_copy_follows_what_other_handles_and_processes_do(tmp_path):
    path, copy, position = tmp_path / "t.bwh", {}, None
    with HashTable.open(path, values="json") as table:
        for number in range(8):
            table["own"] = {"number": number}
            change(path, number)
            process = multiprocessing.get_context("spawn").Process(target=change, args=(path, number + 1))
            process.start()
            process.join()
            assert process.exitcode == 0
            if number == 4:
                table.compact()
            if number == 6:
                table.clear()
            position = follow(table, copy, position)
            assert copy == dict(table)


def test_a_transaction_is_a_change_when_it_has_ended(tmp_path):
    with HashTable.open(tmp_path / "t.bwh", text=False) as table:
        position = table.changes_since().position
        with table.transaction():
            table[b"a"] = b"1"
            assert list(table.changes_since(position)) == []
        assert list(table.changes_since(position)) == [("put", b"a", b"1")]


def test_tables_without_a_log_and_positions_of_others_are_refused(tmp_path):
    with HashTable.open(tmp_path / "other.bwh") as other, HashTable.open(tmp_path / "t.bwh") as table:
        with pytest.raises(bytewright.ArgumentError, match="expected a position of this table, found one of another"):
            table.changes_since(other.changes_since().position)
        with pytest.raises(bytewright.ArgumentError, match='expected a position .*found x'):
            table.changes_since("x")
        with pytest.raises(TypeError):
            table.changes_since(7)
    with TreeTable.open(tmp_path / "t.bwt") as table, pytest.raises(bytewright.ArgumentError):
        table.changes_since()
    with pytest.raises(bytewright.ArgumentError, match="a HashTable in a file"):
        HashTable().changes_since()


def test_changes_outlive_the_table(tmp_path):
    table = HashTable.open(tmp_path / "t.bwh")
    table.update(a="1", b="2")
    changes = table.changes_since()
    assert [table.close() for _ in changes] == [None] * 3
    with pytest.raises(bytewright.ClosedError):
        table.changes_since()
    with pytest.raises(TypeError, match="pickle its position"):
        pickle.dumps(changes)
