"""Operations on tables of both kinds."""

import pytest

from bytewright import ClosedError, HashTable, LockError, TreeTable
from troubles.operation import ENTRIES, SECONDS_MAX, Operation, of_thread


class Tables(Operation):
    """An operation on tables of both kinds, in memory and in files."""

    files = ("t.bwh", "t.bwt", "t.bwt.log")

    def __init__(self, folder):
        super().__init__(folder)
        self.tables = [HashTable(), TreeTable(), HashTable.open(folder / "t.bwh"), TreeTable.open(folder / "t.bwt")]
        for table in self.tables:
            table.update(ENTRIES)

    def run(self):
        return [self.run_one(table) for table in self.tables]

    def close(self):
        for table in self.tables * 2:
            table.close()

    def grow(self):
        """Both files are tried: the error of the first is kept, and raised behind that of the other."""
        failures = []
        for table in self.tables[2:]:
            try:
                for number in range(10_000):
                    self.grow_one(table, number)
            except OSError as error:
                failures.append(error)
        assert len(failures) == 2
        raise failures[0]

    def grow_one(self, table, number):
        table[f"more {number}"] = "x" * 10_000

    def second(self):
        for kind, name in ((HashTable, "t.bwh"), (TreeTable, "t.bwt")):
            with pytest.raises(LockError):
                kind.open(self.folder / name, exclusive=True, timeout=0)
            with kind.open(self.folder / name, read_only=True) as table:
                assert all(ENTRIES[key] == value for key, value in table.items() if key in ENTRIES)

    def itself(self):
        self.close()
        for table in self.tables:
            with pytest.raises(ClosedError):
                self.run_one(table)

    def check(self):
        for table in self.tables:
            assert {key: value for key, value in table.items() if key in ENTRIES} == ENTRIES


class Closing:
    """A codec that closes its table."""

    name = "closing"
    table = None

    def dumps(self, value):
        if self.table is not None:
            self.table.close()
        return value

    def loads(self, data):
        if self.table is not None:
            self.table.close()
        return data


class OpenATable(Operation):
    files = ("o.bwh", "o.bwt", "o.bwt.log")

    def run(self):
        found = []
        for kind, name in ((HashTable, "o.bwh"), (TreeTable, "o.bwt")):
            with kind.open(self.folder / name, timeout=SECONDS_MAX) as table:
                table["a"] = "1"
                found.append(dict(table))
        return found

    def grow(self):
        for number in range(10_000):
            with TreeTable.open(self.folder / "o.bwt") as table:
                table.update({f"more {number} {place}": "x" * 10_000 for place in range(30)})

    def itself(self):
        with HashTable.open(self.folder / "o.bwh"), TreeTable.open(self.folder / "o.bwt"):
            for kind, name in ((HashTable, "o.bwh"), (TreeTable, "o.bwt")):
                with pytest.raises(LockError):
                    kind.open(self.folder / name, exclusive=True, timeout=0)


class ReadAnEntry(Tables):
    def run_one(self, table):
        found = [table["key 007"], table.get("none"), "key 008" in table, table.get_many(["key 001", "none"])]
        if isinstance(table, TreeTable):
            found += [table.first(), table.floor("key 0075"), table.ceiling("key 0075")]
        return found

    def itself(self):
        for kind in (HashTable, TreeTable):
            codec = Closing()
            table = kind({"a": b"1"}, values=codec)
            codec.table = table
            assert table["a"] == b"1" and table.closed
        super().itself()


class ChangeAnEntry(Tables):
    def run_one(self, table):
        key = of_thread("own")
        table[key] = "1"
        table.append(key, "2")
        found = [table.increment(key, 3), table.create(key, "x"), table.setdefault(key, "x"), table.pop(key), table.delete(key)]
        table[key] = "1"
        del table[key]
        return found

    def itself(self):
        for kind in (HashTable, TreeTable):
            codec = Closing()
            table = kind({"a": b"1"}, values=codec)
            codec.table = table
            with pytest.raises(ClosedError):
                table["b"] = b"2"
        super().itself()


class ChangeManyEntries(Tables):
    def run_one(self, table):
        own = f"{of_thread('own')} "
        entries = {f"{own}{number}": "x" * 100 for number in range(300)}
        table.update(entries)
        table.update(iter(entries.items()))
        found = len(table.get_many(list(entries))) - table.get_many(list(entries)).count(None)
        with table.transaction():
            if isinstance(table, TreeTable):
                assert table.delete_range(prefix=own) == len(entries)
            else:
                for key in entries:
                    del table[key]
        other = table.copy() | type(table).fromkeys(entries, "x")
        other |= entries
        other.clear()
        return found, len(other)

    def grow_one(self, table, number):
        table.update({f"more {number} {place}": "x" * 10_000 for place in range(10)})

    def itself(self):
        for table in self.tables:
            with pytest.raises(ClosedError):
                table.update((key, table.close() or "x" * 100_000) for key in ENTRIES)


class WalkATable(Tables):
    def run_one(self, table):
        found = [dict(table.items()), list(table), list(table.values()), len(table.keys())]
        if isinstance(table, TreeTable):
            cursor = table.cursor()
            cursor.seek("key 100")
            found += [list(table.range(prefix="key 01", reverse=True)), cursor.key, list(reversed(table))]
        elif table.path is not None:
            found.append({key: value for name, key, value in table.changes_since() if name == "put"})
        return found

    def itself(self):
        for table in self.tables[:2]:
            assert len([table.close() for _ in table]) == len(ENTRIES)
        for table in self.tables[2:]:
            try:
                assert len([table.close() for _ in table]) <= len(ENTRIES)
            except ClosedError:
                pass


class UseASnapshot(Tables):
    def run_one(self, table):
        with table.snapshot() as snapshot:
            return dict(snapshot), snapshot["key 007"], snapshot.get_many(["key 008", "none"]), len(snapshot)


class RunATransaction(Tables):
    def run_one(self, table):
        key = of_thread("own")
        with table.transaction():
            table[key] = "1"
            with pytest.raises(ZeroDivisionError), table.transaction():
                table[key] = "2"
                raise ZeroDivisionError
            assert table.in_transaction
            found = table.pop(key)
        return found

    def grow_one(self, table, number):
        with table.transaction():
            for place in range(10):
                table[f"more {number} {place}"] = "x" * 10_000

    def itself(self):
        for table in self.tables:
            with pytest.raises(ClosedError), table.transaction():
                table.close()
            assert table.closed


class SyncOrCompactATable(Tables):
    def run_one(self, table):
        table.sync()
        table.compact()
        return table.stat()["records"] >= len(ENTRIES)

    def grow_one(self, table, number):
        super().grow_one(table, number)
        table.sync()


class CloseATable(Tables):
    files = (*Tables.files, "c")

    def run_one(self, table):
        name = self.path(f"c{id(table)}")
        other = type(table).open(name)
        other["a"] = "1"
        other.close()
        with type(table).open(name) as again:
            return other.closed, dict(again)

    def itself(self):
        for table in self.tables:
            with table:
                table.close()
            with pytest.raises(ClosedError):
                table["a"] = "1"

    def grow(self):
        table = TreeTable.open(self.folder / "c", sync="never")
        with table:
            for number in range(300):
                table[str(number)] = "x" * 10_000


OPERATIONS = {
    "open a table": OpenATable,
    "read an entry": ReadAnEntry,
    "change an entry": ChangeAnEntry,
    "change many entries": ChangeManyEntries,
    "walk a table": WalkATable,
    "use a snapshot": UseASnapshot,
    "run a transaction": RunATransaction,
    "sync or compact a table": SyncOrCompactATable,
    "close a table": CloseATable,
}
