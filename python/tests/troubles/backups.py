"""Operations that copy a table: backups and dumps."""

import pytest

import bytewright
from bytewright import HashTable, LockError, TreeTable
from troubles.operation import ENTRIES
from troubles.tables import Tables


class BackATableUp(Tables):
    files = (*Tables.files, "b")

    def run_one(self, table):
        path = self.path(f"b{id(table)}")
        table.backup(path, replace=True)
        with type(table).open(path, read_only=True) as copy:
            return {key: value for key, value in copy.items() if key in ENTRIES}

    def grow(self):
        table = HashTable({str(number): "x" * 10_000 for number in range(300)})
        try:
            table.backup(self.folder / "b")
        finally:
            assert not (self.folder / "b").exists()

    def itself(self):
        for table in self.tables[2:]:
            with pytest.raises((LockError, bytewright.ArgumentError, OSError)):
                table.backup(table.path, replace=True)
        self.check()
        super().itself()


class DumpATable(Tables):
    files = (*Tables.files, "d")

    def run_one(self, table):
        path = self.path(f"d{id(table)}")
        found = []
        for form in ("db", "lmdb", "sql"):
            table.dump(path, format=form)
            copy = TreeTable()
            copy.load(path)
            found.append({key: value for key, value in copy.items() if key in ENTRIES})
        return found

    def grow(self):
        table = HashTable({str(number): "x" * 10_000 for number in range(300)})
        try:
            table.dump(self.folder / "d")
        finally:
            assert not (self.folder / "d").exists()

    def itself(self):
        for table in self.tables[2:]:
            with pytest.raises(bytewright.ArgumentError):
                table.dump(table.path, force=True)
        self.check()
        super().itself()


class LoadADump(Tables):
    files = (*Tables.files, "d")

    def run_one(self, table):
        path = self.path(f"d{id(table)}")
        TreeTable(ENTRIES).dump(path)
        return table.load(path), {key: value for key, value in table.items() if key in ENTRIES}

    def grow_one(self, table, number):
        path = self.folder / "d"
        if not path.exists():
            TreeTable({f"more {place}": "x" * 10_000 for place in range(3)}).dump(path)
        with TreeTable() as other:
            other.load(path)
        table.load(path)
        table.update({f"more {number} {place}": "x" * 10_000 for place in range(3)})

    def itself(self):
        for table in self.tables[2:]:
            with pytest.raises(bytewright.FormatError):
                table.load(table.path)
        self.check()
        super().itself()


OPERATIONS = {
    "back a table up": BackATableUp,
    "dump a table": DumpATable,
    "load a dump": LoadADump,
}
