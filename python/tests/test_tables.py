"""Goal: a table is a dict of strings, in memory or in a file, that threads and transactions may share.

Method: small cases by name; and random operations on a table and on a dict that does the same, with the seed shown.
"""

import contextlib
import copy
import errno
import gc
import os
import pickle
import random
import re
import resource
import signal
import sqlite3
import sys
import threading
import time
import tracemalloc
from array import array
from collections.abc import Mapping, MutableMapping

import pytest

import bytewright
from bytewright import HashTable, TreeTable

KINDS = [HashTable, TreeTable]
ENDINGS = {HashTable: "bwh", TreeTable: "bwt"}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(params=["memory", "file"])
def make(request, kind, tmp_path):
    """Makes a table of each kind in memory and in a file."""
    made = []

    def new(**options):
        if request.param == "memory":
            table = kind(**options)
        else:
            table = kind.open(tmp_path / f"{len(made)}.{ENDINGS[kind]}", **options)
        made.append(table)
        return table

    yield new
    for table in made:
        table.close()


def test_a_table_is_a_mutable_mapping(make):
    table = make()
    assert isinstance(table, MutableMapping)
    table["b"] = "2"
    table["a"] = "1"
    assert table["b"] == "2"
    assert table.get("b") == "2" and table.get("x") is None and table.get("x", 7) == 7
    assert "a" in table and "x" not in table
    assert len(table) == 2 and bool(table)
    assert dict(table) == {"a": "1", "b": "2"} == dict(table.items())
    assert sorted(table) == sorted(table.keys()) == ["a", "b"]
    assert sorted(table.values()) == ["1", "2"] and "2" in table.values()
    assert table.keys() & {"a", "z"} == {"a"} and ("a", "1") in table.items()
    assert table.setdefault("a", "9") == "1" and table.setdefault("c", "3") == "3"
    assert table.pop("c") == "3" and table.pop("c", None) is None
    del table["a"]
    assert not table.delete("a")
    assert table.popitem() == ("b", "2") and not table


def test_a_missing_key_is_a_key_error_with_the_key(make):
    table = make()
    for missing in (lambda: table["x"], lambda: table.__delitem__("x"), lambda: table.pop("x")):
        with pytest.raises(KeyError) as raised:
            missing()
        assert raised.value.args == ("x",)
    with pytest.raises(KeyError):
        table.popitem()


def test_keys_and_values_are_text_unless_bytes_are_asked_for(make):
    text, raw = make(), make(text=False)
    text["ключ"] = "😀\0"
    assert text["ключ"] == "😀\0"
    raw[b"\xff"] = b"\0\xfe"
    raw[bytearray(b"k")] = memoryview(b"abc")[1:]
    raw[array("B", [1, 2])] = b""
    assert dict(raw) == {b"\xff": b"\0\xfe", b"k": b"bc", b"\1\2": b""}
    with pytest.raises(TypeError, match=r"a table of text keeps str: key is bytes b'a'; .*text=False"):
        text[b"a"] = "x"
    with pytest.raises(TypeError, match="a table of text keeps str: value is int 1"):
        text["a"] = 1
    with pytest.raises(TypeError, match="a table of bytes keeps bytes: key is str 'a'"):
        raw["a"]
    with pytest.raises(TypeError, match="a table of bytes keeps bytes: value is list"):
        raw[b"a"] = [1]
    with pytest.raises(UnicodeEncodeError):
        text["\udcff"] = "x"
    assert "a" not in text and len(raw) == 3


def test_bytes_that_are_no_text_are_an_error_that_says_what_to_do(tmp_path):
    path = tmp_path / "raw.bwh"
    with HashTable.open(path, text=False) as raw:
        raw[b"k"] = b"ab\xff"
    with HashTable.open(path) as text, pytest.raises(UnicodeDecodeError, match="text=False") as raised:
        text["k"]
    assert raised.value.start == 2 and raised.value.object == b"ab\xff"


def test_update_takes_mappings_pairs_and_keywords(make):
    table = make()
    table.update({"a": "1"})
    table.update([("b", "2"), ["c", "3"]])
    table.update((f"k{number}", str(number)) for number in range(3))
    table.update(HashTable({"d": "4"}), e="5")
    expected = {"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "k0": "0", "k1": "1", "k2": "2"}
    assert table == expected
    with pytest.raises(bytewright.ArgumentError, match="expected pairs of a key and a value, found one of 3"):
        table.update([("f", "6"), ("g", "7", "8")])
    assert table == expected


def test_an_update_that_fails_leaves_nothing_behind_however_far_it_got(make):
    table = make()

    def entries():
        for number in range(3000):
            yield f"key {number}", "x" * 1000
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        table.update(entries())
    assert len(table) == 0 and not table.in_transaction
    table.update((f"key {number}", "x" * 1000) for number in range(3000))
    assert len(table) == 3000


@pytest.mark.parametrize("length, count", [(1, 100_000), (1000, 3000), (1, 3000)])
def test_an_update_of_a_dict_is_the_same_however_long_it_is(make, length, count):
    table = make()
    given = {f"key {number}": "x" * length for number in range(count)}
    table.update(given)
    assert len(table) == count and dict(table) == given
    with pytest.raises(TypeError, match="a table of text keeps str: value is int 5"):
        table.update({**dict.fromkeys(given, "y"), "last": 5})
    assert table["key 0"] == "x" * length and "last" not in table and not table.in_transaction


def test_get_many_increment_append_and_create(make):
    table = make()
    table.update({"a": "1", "b": "2"})
    assert table.get_many(["b", "x", "a"]) == ["2", None, "1"]
    assert table.get_many(iter("bx"), default=0) == ["2", 0]
    assert table.increment("a") == 2 and table.increment("new", -5) == -5 and table["new"] == "-5"
    with pytest.raises(bytewright.ArgumentError, match="a whole number to increment"):
        table["word"] = "x"
        table.increment("word")
    with pytest.raises(OverflowError):
        table.increment("a", 1 << 63)
    table.append("b", "34")
    assert table["b"] == "234"
    assert not table.create("b", "0") and table.create("c", "0")


def test_tables_are_equal_where_their_entries_are(kind):
    table = kind({"a": "1", "b": "2"})
    assert table == {"b": "2", "a": "1"} and {"a": "1", "b": "2"} == table
    assert table == kind([("b", "2"), ("a", "1")]) and table == table.copy() and table == copy.copy(table)
    assert table != {"a": "1"} and table != {"a": "1", "b": "3"} and table != {"a": "1", b"b": b"2"}
    assert table != [("a", "1")] and kind() == kind(text=False)
    assert table != kind([(b"a", b"1"), (b"b", b"2")], text=False)
    with pytest.raises(TypeError, match="unhashable"):
        hash(table)


def test_an_iteration_walks_the_table_as_it_was(make):
    table = make()
    table.update({str(number): "x" for number in range(100)})
    seen = []
    for key in table:
        seen.append(key)
        del table[key]
        table[key + "'"] = "y"
    assert sorted(seen, key=int) == [str(number) for number in range(100)]
    assert len(table) == 100


def test_a_hash_table_gives_the_order_of_the_last_write():
    table = HashTable({"a": "1", "b": "2", "c": "3"})
    table["a"] = "4"
    assert list(table.items()) == [("b", "2"), ("c", "3"), ("a", "4")]


def test_an_ordered_table_selects_ranges(tmp_path):
    with TreeTable.open(tmp_path / "t.bwt") as table:
        table.update({f"k{number:02}": str(number) for number in range(20)})
        for entries in (table, table.snapshot()):
            assert list(entries.range("k03", "k05")) == [("k03", "3"), ("k04", "4"), ("k05", "5")]
            assert list(entries.range(prefix="k1", reverse=True, limit=2).keys()) == ["k19", "k18"]
            assert list(entries.range(first="k18").values()) == ["18", "19"]
            assert list(entries.range(first="k05", last="k04")) == []
            assert list(reversed(entries))[:2] == ["k19", "k18"]
            assert list(reversed(entries.items()))[0] == ("k19", "19")
            assert entries.first() == ("k00", "0") and entries.last() == ("k19", "19")
            assert entries.floor("k055") == ("k05", "5") and entries.floor("a") is None
            assert entries.ceiling("k055") == ("k06", "6") and entries.ceiling("z") is None
    assert repr(TreeTable().range("a", prefix="b")) == "<TreeTable.range(first='a', prefix='b')>"


@pytest.mark.parametrize("form", ["db", "lmdb", "sql"])
def test_a_dump_is_loaded_again(make, form, tmp_path):
    entries = {"": "empty", "a": "", "b\0\n'": "\\", "k": "x" * 300_000}
    table = make()
    table.update(entries)
    assert table.dump(tmp_path / "d", format=form) == 4
    for kind in (HashTable, TreeTable):
        other = kind({"a": "old"})
        assert other.load(str(tmp_path / "d")) == 4
        assert dict(other) == entries


def test_sqlite_reads_a_dump_and_writes_one(tmp_path):
    TreeTable({"a": "1", "b": "2"}).dump(tmp_path / "d", format="sql")
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.executescript((tmp_path / "d").read_text())
        assert database.execute("SELECT key, value FROM entries ORDER BY key").fetchall() == [(b"a", b"1"), (b"b", b"2")]
        database.execute("INSERT INTO entries VALUES('it''s', 'text')")
        database.commit()
        (tmp_path / "theirs").write_text("\n".join(database.iterdump()))
    table = HashTable()
    assert table.load(tmp_path / "theirs") == 3
    assert dict(table) == {"a": "1", "b": "2", "it's": "text"}


def test_what_is_no_dump_changes_nothing(make, tmp_path):
    table = make()
    table["a"] = "1"
    header = "VERSION=3\nformat=print\ntype=btree\nHEADER=END\n"
    for text, error, message in (
        (header + " a\n 2\n", bytewright.TruncatedError, "found the end of the input in line 7"),
        (header + " a\n 2\n a\n 3\nDATA=END\n", bytewright.FormatError, 'several for "a" in line 8'),
        ("{}", bytewright.FormatError, "expected a dump of db_dump, mdb_dump or sqlite3"),
    ):
        (tmp_path / "wrong").write_text(text)
        with pytest.raises(error, match=re.escape(message)):
            table.load(tmp_path / "wrong")
        assert dict(table) == {"a": "1"}
    with pytest.raises(FileNotFoundError):
        table.load(tmp_path / "missing")
    with pytest.raises(bytewright.ArgumentError, match="expected the format of a dump to be db, lmdb or sql"):
        table.dump(tmp_path / "new", format="csv")
    with pytest.raises(bytewright.ArgumentError), table.transaction():
        table.dump(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with HashTable.open(tmp_path / "other.bwh") as other:
        other["a"] = "1"
        with pytest.raises(bytewright.ArgumentError):
            other.dump(tmp_path / "other.bwh", force=True)
    with pytest.raises(bytewright.ArgumentError):
        table.dump(tmp_path / "other.bwh")
    assert table.dump(tmp_path / "other.bwh", force=True) == 1


def test_an_ordered_table_deletes_ranges(tmp_path):
    with TreeTable.open(tmp_path / "t.bwt") as table:
        table.update({f"k{number:02}": str(number) for number in range(20)})
        with pytest.raises(ZeroDivisionError), table.transaction():
            assert table.delete_range(prefix="k") == 20
            assert not table
            raise ZeroDivisionError
        assert table.delete_range("k03", "k05") == 3
        assert table.delete_range(prefix="k1", reverse=True, limit=2) == 2
        assert list(table.keys()) == ["k00", "k01", "k02", "k06", "k07", "k08", "k09"] + [f"k{number}" for number in range(10, 18)]
        assert table.delete_range(last="k09", limit=2) == 2
        assert table.delete_range(prefix="x") == table.delete_range("k05", "k04") == table.delete_range(limit=0) == 0
        assert table.delete_range(first="k10") == 8
        assert table.delete_range() == 5 and not table
        with pytest.raises(TypeError):
            table.delete_range(1)
        with pytest.raises(TypeError):
            table.delete_range(range="k")
    with pytest.raises(bytewright.ClosedError):
        table.delete_range(prefix="k")


def test_a_hashed_table_refuses_ranges():
    table = HashTable({"a": "1"})
    with pytest.raises(bytewright.ArgumentError, match="expected an ordered table"):
        reversed(table.keys())
    with pytest.raises(bytewright.ArgumentError, match="expected an ordered table"):
        table.cursor()
    with pytest.raises(bytewright.ArgumentError, match="expected an ordered table"):
        table.delete_range(prefix="a")
    assert not hasattr(table, "range")


def test_a_cursor_moves_both_ways():
    cursor = TreeTable({"a": "1", "b": "2", "c": "3"}).cursor()
    assert cursor.key is None and cursor.next() and (cursor.key, cursor.value) == ("a", "1")
    assert cursor.seek("bb") and cursor.key == "c" and not cursor.next() and cursor.value is None
    assert cursor.prev() and cursor.key == "c" and cursor.prev() and cursor.key == "b"
    assert cursor.first() and not cursor.prev() and cursor.last() and cursor.key == "c"


def test_a_snapshot_stays_as_it_was(make):
    table = make()
    table.update({"a": "1", "b": "2"})
    with table.snapshot() as snapshot:
        table["a"] = "9"
        table.clear()
        assert isinstance(snapshot, Mapping) and not isinstance(snapshot, MutableMapping)
        assert snapshot == {"a": "1", "b": "2"} and len(snapshot) == 2 and snapshot["a"] == "1"
        assert snapshot.get("x", "-") == "-" and "b" in snapshot
        with pytest.raises(KeyError):
            snapshot["x"]
    with pytest.raises(bytewright.ClosedError, match="expected an open snapshot, found it closed"):
        len(snapshot)


def test_a_transaction_keeps_all_changes_or_none(make):
    table = make()
    with table.transaction() as same:
        assert same is table and table.in_transaction
        table["a"] = "1"
        table["b"] = "2"
    with pytest.raises(ZeroDivisionError), table.transaction():
        table["a"] = "9"
        del table["b"]
        raise ZeroDivisionError
    with table.transaction():
        with pytest.raises(KeyError), table.transaction():
            table["inner"] = "x"
            raise KeyError
        table["c"] = "3"
    assert table == {"a": "1", "b": "2", "c": "3"} and not table.in_transaction


def test_a_transaction_object_is_used_for_one_block_at_a_time(kind):
    table = kind()
    transaction = table.transaction()
    with transaction:
        with pytest.raises(RuntimeError, match="found it open"):
            transaction.__enter__()
    with pytest.raises(RuntimeError, match="found none"):
        transaction.__exit__(None, None, None)
    with transaction:
        table["a"] = "1"
    assert table == {"a": "1"}


def test_other_threads_wait_for_the_end_of_a_transaction(make):
    table, seen = make(), []
    table["a"] = "0"
    thread = threading.Thread(target=lambda: seen.append(table["a"]))
    with table.transaction():
        table["a"] = "1"
        thread.start()
        time.sleep(0.05)
        assert seen == []
        table["a"] = "2"
    thread.join()
    assert seen == ["2"]


def test_threads_share_a_table(make):
    table = make()
    failures = []

    def work(name):
        try:
            for number in range(300):
                table.increment("sum")
                with table.transaction():
                    table.increment("in transactions", 2)
                table[f"{name} {number}"] = "x"
                list(table.snapshot().items())[:1]
        except BaseException as error:  # noqa: BLE001, whatever it is, the test has to fail
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert table["sum"] == "1200" and table["in transactions"] == "2400" and len(table) == 1202


def in_child(body):
    """Runs `body` in a forked child; its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            body()
            code = 0
        except BaseException as error:  # noqa: BLE001
            print(repr(error), file=sys.stderr)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# CPython 3.12 and later warn of every fork beside threads, which is what is tested.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_a_copy_of_a_table_in_memory(kind):
    table = kind({"a": "1"})
    begun, ended = threading.Event(), threading.Event()

    def transaction():
        with table.transaction():
            table["a"] = "of a thread that the child has not got"
            begun.set()
            ended.wait()

    thread = threading.Thread(target=transaction)
    thread.start()
    begun.wait()

    def child():
        assert table == {"a": "1"}
        table["b"] = "2"
        with table.transaction():
            table["c"] = "3"
        assert len(table) == 3

    assert in_child(child) == 0
    ended.set()
    thread.join()
    assert table["a"].startswith("of a thread") and len(table) == 1


def test_a_forked_child_only_reads_a_file_that_its_parent_has_for_itself(kind, tmp_path):
    path = tmp_path / f"t.{ENDINGS[kind]}"
    with kind.open(path, exclusive=True) as table:
        table["a"] = "1"
        table.sync()

        def child():
            assert table["a"] == "1"
            with pytest.raises(bytewright.ClosedError, match="forked|process"):
                table["a"] = "2"
            with kind.open(path, read_only=True) as again:
                assert again["a"] == "1"

        assert in_child(child) == 0
        table["b"] = "2"
        assert table == {"a": "1", "b": "2"}


def test_a_file_keeps_what_was_committed(kind, tmp_path):
    path = tmp_path / f"t.{ENDINGS[kind]}"
    with kind.open(str(path), sync="commit") as table:
        assert table.path == str(path)
        table["a"] = "1"
        assert repr(table) == f"<{kind.__name__} {str(path)!r} {{'a': '1'}}>"
    assert table.closed and repr(table) == f"<{kind.__name__} {str(path)!r} (closed)>"
    table.close()
    for use in (lambda: table["a"], lambda: table.update(b="2"), lambda: len(table), lambda: iter(table)):
        with pytest.raises(bytewright.ClosedError, match="expected an open table, found it closed"):
            use()
    with kind.open(path, create=False, verify=True) as table:
        assert table == {"a": "1"}


def test_an_error_names_the_file_that_was_asked_for(kind, tmp_path):
    path = tmp_path / "none" / f"table.{ENDINGS[kind]}"
    for use in (lambda: kind.open(path), lambda: kind().backup(path)):
        with pytest.raises(FileNotFoundError) as raised:
            use()
        assert raised.value.filename == str(path)


def test_what_the_system_refuses_is_an_os_error(kind, tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        kind.open(tmp_path / "none" / "t.bwh")
    assert raised.value.filename == str(tmp_path / "none" / "t.bwh")
    with pytest.raises(FileNotFoundError):
        kind.open(tmp_path / "t.bwh", create=False)
    assert not isinstance(raised.value, bytewright.Error)


def test_errors_are_pythons_own_where_one_fits(tmp_path):
    path = tmp_path / "t.bwh"
    with HashTable.open(path, exclusive=True):
        with pytest.raises(bytewright.LockError) as raised:
            HashTable.open(path, timeout=0)
        assert isinstance(raised.value, BlockingIOError) and isinstance(raised.value, bytewright.Error)
        begun = time.monotonic()
        with pytest.raises(bytewright.LockError):
            HashTable.open(path, timeout=0.2)
        assert time.monotonic() - begun >= 0.2
    with pytest.raises(bytewright.FormatError, match="expected an ordered table, found a hashed table") as raised:
        TreeTable.open(path)
    assert isinstance(raised.value, ValueError) and raised.value.file == str(path)
    with pytest.raises(ValueError, match="sync"):
        HashTable.open(path, sync="sometimes")
    with pytest.raises(ValueError, match="timeout of 0 seconds or more"):
        HashTable.open(path, timeout=-1)


def test_tables_refuse_pickling_and_say_what_to_do(kind):
    for table in (kind(), kind().snapshot()):
        with pytest.raises(TypeError, match="cannot pickle a .*; pickle dict"):
            pickle.dumps(table)
        with pytest.raises(TypeError, match="cannot pickle"):
            copy.deepcopy(table)


def test_stat_backup_compact_and_size(make, kind, tmp_path):
    table = make()
    table.update({str(number): "x" * 100 for number in range(1000)})
    assert table.stat()["records"] == 1000
    table.compact()
    table.sync()
    backup = tmp_path / f"backup.{ENDINGS[kind]}"
    assert table.backup(backup) == 1000
    with pytest.raises(bytewright.ArgumentError):
        table.backup(backup)
    table.clear()
    assert table.backup(backup, replace=True) == 0
    assert sys.getsizeof(kind({str(number): "x" * 100 for number in range(1000)})) > 100_000


def test_repr_shows_some_entries(kind):
    assert repr(kind({"a": "1"})) == f"{kind.__name__}({{'a': '1'}})"
    many = repr(kind({str(number): "x" for number in range(1000)}))
    assert many.endswith(", ... 1000 in all})") and len(many) < 300


def test_a_table_does_what_a_dict_does(make):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    table, twin = make(text=False), {}
    for _ in range(3000):
        key = bytes([chance.randrange(97, 103)]) * chance.randrange(4)
        value = chance.randbytes(chance.randrange(40))
        step = chance.randrange(12)
        if step < 4:
            table[key] = twin[key] = value
        elif step == 4:
            assert table.pop(key, None) == twin.pop(key, None)
        elif step == 5:
            assert table.delete(key) == (twin.pop(key, None) is not None)
        elif step == 6:
            assert table.setdefault(key, value) == twin.setdefault(key, value)
        elif step == 7:
            more = {key + bytes([number]): value for number in range(chance.randrange(5))}
            table.update(more)
            twin.update(more)
        elif step == 8:
            table.append(key, value)
            twin[key] = twin.get(key, b"") + value
        elif step == 9:
            with pytest.raises(InterruptedError), table.transaction():
                table.clear()
                table[key] = value
                raise InterruptedError
        elif step == 10 and chance.randrange(20) == 0:
            table.clear()
            twin.clear()
        else:
            assert table.get(key) == twin.get(key) and (key in table) == (key in twin)
            keys = [key, b"", b"zz"]
            assert table.get_many(keys) == [twin.get(one) for one in keys]
        assert len(table) == len(twin)
    assert table == twin
    if isinstance(table, TreeTable):
        assert list(table) == sorted(twin)


def test_errors_leave_nothing_behind():
    table = HashTable({"a": "1"})

    def provoke():
        for use in (lambda: table["x"], lambda: table[b"x"], lambda: table.increment("a", 1 << 70), lambda: table.cursor()):
            with pytest.raises((KeyError, TypeError, OverflowError, ValueError)):
                use()

    for _ in range(50):
        provoke()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(1000):
        provoke()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000, grown


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("sync", ["commit", "interval"])
@pytest.mark.parametrize("block", ["table", "transaction"])
def test_a_full_disk_is_the_error_of_the_system_that_leaves_each_block(kind, tmp_path, sync, block):
    path = tmp_path / f"t.{ENDINGS[kind]}"
    kind.open(path).close()

    def child():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = path.stat().st_size + 200_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with pytest.raises(OSError) as raised, kind.open(path, sync=sync) as table:
            with table.transaction() if block == "transaction" else contextlib.nullcontext():
                for number in range(300):
                    table[str(number)] = "x" * 10_000
        assert raised.value.errno == errno.EFBIG and not isinstance(raised.value, bytewright.Error)
        assert table.closed

    assert in_child(child) == 0
    with kind.open(path) as table:
        count = len(table)
        assert sorted(table, key=int) == [str(number) for number in range(count)]
        assert count == 0 or block == "table"


def test_a_snapshot_gives_many_values_as_its_table_does(make):
    table = make()
    table.update({"a": "1", "b": "2"})
    with table.snapshot() as snapshot:
        table.update({"a": "new", "c": "3"})
        assert snapshot.get_many(["b", "c", "a", "b"]) == ["2", None, "1", "2"]
        assert snapshot.get_many((key for key in "ac"), "none") == ["1", "none"]
        assert snapshot.get_many([]) == []
        with pytest.raises(TypeError):
            snapshot.get_many([1])
    with pytest.raises(bytewright.ClosedError):
        snapshot.get_many(["a"])


def test_a_snapshot_loads_the_values_that_it_gives_many_of():
    table = TreeTable({"a": {"n": 1}}, values="json")
    assert table.snapshot().get_many(["a", "b"], 0) == [{"n": 1}, 0]


class _Between(Mapping):
    """A dict that calls something whenever it was asked for a value."""

    def __init__(self, entries, call):
        self.entries, self.call = entries, call

    def __getitem__(self, key):
        try:
            return self.entries[key]
        finally:
            self.call()

    def __iter__(self):
        for key in self.entries:
            yield key
            self.call()

    def __len__(self):
        return len(self.entries)


def test_comparisons_and_operations_of_views_see_one_commit_of_another_handle(kind, tmp_path):
    path = tmp_path / f"moment.{ENDINGS[kind]}"
    before = {"a": "1", "b": "1"}
    with kind.open(path, sync="commit") as writer, kind.open(path, read_only=True) as reader:

        def back():
            with writer.transaction():
                writer.clear()
                writer.update(before)

        def change():
            with writer.transaction():
                writer.clear()
                writer["c"] = "2"

        other = _Between(before, change)
        for same in (
            lambda: reader == other,
            lambda: (reader.keys() & other.keys()) == {"a", "b"},
            lambda: (other.keys() - reader.keys()) == set(),
            lambda: (reader.keys() ^ other) == set(),
            lambda: reader.keys() >= other.keys(),
            lambda: not reader.items().isdisjoint(other.items()),
        ):
            back()
            assert same()
        assert list(reader) == ["c"]


def test_a_file_that_is_overwritten_entry_by_entry_compacts_itself(tmp_path):
    path = tmp_path / "x.bwh"
    with HashTable.open(path) as table:
        for number in range(30_000):
            table[str(number % 500)] = "x" * 200
        assert len(table) == 500
    assert path.stat().st_size <= 3 * 500 * 203 + (1 << 20)
