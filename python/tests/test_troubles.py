"""Goal: each operation survives each trouble: nothing that was committed is lost, nothing is half there, and the next run is right.

Method: the table of `conformance/troubles.json`. An operation is a class with a set-up in a new folder, `run`, which answers the same each time,
and `itself`, which aims it at itself. One driver for each trouble works for all of them. Every public method of the package is of an
operation, or plain: one that does no input or output, calls nobody and waits for nothing.
"""

import errno
import io
import json
import os
import pathlib
import random
import resource
import signal
import threading
import time

import pyarrow
import pytest

import bytewright
from bytewright import Cache, Capture, CaptureWriter, ClosedError, FlowStore, HashTable, LockError, Reader, TreeTable, Writer, pstore, thrift

ROOT = pathlib.Path(__file__).parents[2]
TABLE = json.loads((ROOT / "conformance" / "troubles.json").read_text())
CAPTURE = ROOT / "samples" / "tunnels.pcap"
ENTRIES = {f"key {number:03}": f"value {number}" for number in range(200)}

#: No test waits so long but where it fails.
SECONDS_MAX = 60

#: A handler's error may come between the opening of a file, by Python or by us, and what would close it: the collector does then.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def of_thread(name):
    """A name that other threads do not use."""
    return f"{name}-{threading.get_ident()}"


# Operations.


class Operation:
    #: Parts of names that a file may be left with, of the operation's own.
    files = ()

    def __init__(self, folder):
        self.folder = folder

    def close(self):
        """Ends what is open, twice."""

    def grow(self):
        """Writes more and more, until the disk is full."""
        raise NotImplementedError

    def second(self):
        """Runs it on the same files by another object; that one may be refused."""
        try:
            other = type(self)(self.folder)
        except LockError:
            return
        assert other.run() == self.run()
        other.close()

    def path(self, name):
        return self.folder / of_thread(name)


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


class UseACache(Operation):
    """Caches in memory and in a file, of which nothing is evicted: what was set stays."""

    files = ("c.bwc",)

    def __init__(self, folder):
        super().__init__(folder)
        self.caches = [Cache(), Cache(folder / "c.bwc")]
        for cache in self.caches:
            for key, value in ENTRIES.items():
                cache.set(key, [value], tag="t")

    def run(self):
        return [self.run_one(cache) for cache in self.caches]

    def run_one(self, cache):
        key = of_thread("own")
        cache.delete(key)
        found = [cache.set(key, {"n": 1}, 60, tag=key), cache.add(key, 2), cache.get(key), cache.pop(key), key in cache]
        found += [cache.incr(key, 5), cache.decr(key, 2), cache.touch(key, 60), cache.evict(key), cache.cull(), cache.expire()]
        with cache.transact():
            cache[key] = 1
            del cache[key]
        double = cache.memoize(key, expire=60)(lambda number: number * 2)
        found += [double(4), double(4), cache.delete(double.__cache_key__(4)), cache.peekitem(last=False)]
        # Of a name of its own: who is stopped here leaves an entry.
        triple = cache.memoize_stampede(60, f"{key} triple", beta=0)(lambda number: number * 3)
        found += [triple(4), triple(4), cache.delete(triple.__cache_key__(4)), cache.read(next(iter(ENTRIES)))]
        cache.sync()
        return found, sum(known in ENTRIES for known in cache), cache.check() >= len(ENTRIES)

    def grow(self):
        for number in range(10_000):
            self.caches[1].set(f"more {number}", "x" * 10_000)

    def second(self):
        with Cache(self.folder / "c.bwc") as other:
            assert other.get("key 007") == ["value 7"]
            other.set("second", 1)
        assert self.caches[1].pop("second") == 1

    def itself(self):
        for cache in self.caches:
            closing = cache.memoize()(lambda cache=cache: cache.close())
            with pytest.raises(ClosedError):
                closing()
            with pytest.raises(ClosedError):
                self.run_one(cache)

    def close(self):
        for cache in self.caches * 2:
            cache.close()

    def check(self):
        for cache in self.caches:
            assert all(cache.get(key) == [value] for key, value in ENTRIES.items())


class RunATransactionOfAStore(Operation):
    """Python reads stores: each reading is one that writes nothing."""

    files = ("s.pstore",)
    CONTENT = b'\x04\x08{\x06I"\x06a\x06:\x06ETi\x06'

    def __init__(self, folder):
        super().__init__(folder)
        (folder / "s.pstore").write_bytes(self.CONTENT)

    def run(self):
        with pstore.open(self.folder / "s.pstore") as store:
            return dict(store), store.get("none"), store.damage

    def itself(self):
        store = pstore.open(self.folder / "s.pstore")
        os.truncate(self.folder / "s.pstore", 0)
        assert dict(store) == {"a": 1}
        store.close()
        with pytest.raises(ClosedError):
            store["a"]


class ClosingSource(io.RawIOBase):
    """A source that closes what reads it."""

    def __init__(self):
        self.content, self.reader = io.BytesIO(CAPTURE.read_bytes()), None

    def read(self, count=-1):
        if self.reader is not None:
            self.reader.close()
        return self.content.read(min(count, 64))


class Captures(Operation):
    """An operation on one capture that is open."""

    def __init__(self, folder):
        super().__init__(folder)
        self.capture = Capture(CAPTURE)

    def close(self):
        self.capture.close()
        self.capture.close()

    def itself(self):
        source = ClosingSource()
        source.reader = self.capture = Capture(source)
        with pytest.raises(ClosedError):
            self.run()


class OpenACapture(Operation):
    def run(self):
        with Capture(CAPTURE) as capture, Capture(io.BytesIO(CAPTURE.read_bytes())) as other:
            return capture.closed, len(list(other))

    def itself(self):
        path = self.folder / "cut.pcap"
        path.write_bytes(CAPTURE.read_bytes())
        with Capture(path) as capture:
            os.truncate(path, 100)
            with pytest.raises(bytewright.TruncatedError):
                list(capture)
        path.unlink()


class WalkThePacketsOfACapture(Captures):
    def run(self):
        return [packet.length for packet in self.capture], list(self.capture.packets("src_ip", "length"))

    def itself(self):
        with pytest.raises(ClosedError):
            for _ in self.capture:
                self.capture.close()
        super().itself()


class ReadACaptureAsColumns(Captures):
    def run(self):
        batches = [batch.to_dict() for batch in self.capture.batches("src_ip", "length", rows=100)]
        converted = self.capture.packets("ts").converted(timestamps="us", signed=True)
        return batches, pyarrow.table(self.capture.packets("length")).num_rows, pyarrow.table(converted).num_rows


class SumUpACapture(Captures):
    def run(self):
        counted = bytewright.count_by(CAPTURE, "proto")
        summed = self.capture.sum("length", by=["src_ip"]).to_dict(), list(self.capture.endpoints())
        return self.capture.count_by("proto"), counted, summed, self.capture.info()["packets"]


class WalkTheFlowsOrCallsOfACapture(Captures):
    def run(self):
        return [flow.packets for flow in self.capture.flows()], len(list(self.capture.calls()))


class MergeFlowsIntoAStore(Operation):
    files = ("m.bwt", "m.bwt.log")

    def __init__(self, folder):
        super().__init__(folder)
        self.store = FlowStore(folder / "m.bwt")

    def run(self):
        merge = bytewright.flows(CAPTURE, into=self.store)[0]
        return merge["packets"], [capture["name"] for capture in self.store.captures() if capture["name"] == str(CAPTURE)]

    def close(self):
        self.store.close()
        self.store.close()

    def grow(self):
        for number in range(10_000):
            path = self.folder / "grown.pcap"
            with CaptureWriter(path) as writer:
                for place in range(500):
                    ports = (number % 65_536).to_bytes(2, "big") + place.to_bytes(2, "big")
                    header = bytes.fromhex("450000200000000040110000") + bytes([10, 0, number % 256, 1, 10, 0, 0, 2])
                    writer.write(bytes(12) + b"\x08\x00" + header + ports + bytes.fromhex("000c0000") + bytes(4), time=number)
            try:
                bytewright.flows(path, into=self.store)
            finally:
                path.unlink()

    def itself(self):
        self.run()
        with pytest.raises((LockError, bytewright.ArgumentError, bytewright.FormatError)):
            bytewright.flows(self.folder / "m.bwt", into=self.folder / "m.bwt")
        try:
            assert self.store.merge(self.folder / "m.bwt")[0]["added"] is False
        except (LockError, bytewright.ArgumentError):
            pass
        assert len(self.run()[1]) == 1


class WalkAStoreOfFlows(MergeFlowsIntoAStore):
    def __init__(self, folder):
        super().__init__(folder)
        bytewright.flows(CAPTURE, into=self.store)

    def run(self):
        return [flow.packets for flow in self.store]

    def itself(self):
        with pytest.raises(ClosedError, match="flow store"):
            for _ in self.store:
                self.store.close()


class WritePacketsToACapture(Operation):
    files = ("w",)

    def run(self):
        path = self.path("w").with_suffix(".pcap")
        path.unlink(missing_ok=True)
        with CaptureWriter(path) as writer:
            for packet in Capture(CAPTURE):
                writer.write(packet.captured, time=packet.ts)
        return len(list(Capture(path)))

    def grow(self):
        with CaptureWriter(self.folder / "grown.pcap") as writer:
            for _ in range(100_000):
                writer.write(bytes(1000), time=0)

    def itself(self):
        writer = CaptureWriter(self.folder / "w.pcap")
        writer.write(b"x" * 60, time=0)
        writer.discard()
        with pytest.raises(ClosedError):
            writer.write(b"x", time=0)
        assert not (self.folder / "w.pcap").exists()


class WriteWhatWasReadToAFile(Captures):
    files = ("p", "r", "c")

    def run(self):
        paths = [self.path(name).with_suffix(".pcap") for name in "prc"]
        for path in paths:
            path.unlink(missing_ok=True)
        rows = self.capture.packets("length").to_parquet(paths[0])
        bytewright.report(CAPTURE, into=paths[1], title="t")
        log = paths[1].with_suffix(".log")
        flows = bytewright.flows(CAPTURE, into=log, format="zeek"), log.stat().st_size > 1000
        flows += self.capture.flows(into=log, format="ecs"), log.stat().st_size > 1000
        log.unlink()
        written = self.capture.write_to(paths[2])
        index = paths[2].with_suffix(".pcap.bwi")
        index.unlink(missing_ok=True)
        indexed = list(bytewright.index(paths[2]))[0][3], list(Capture(paths[2]).index())[0][3]
        index.unlink()
        return rows, flows, paths[1].stat().st_size > 1000, written["packets"], indexed, len(list(Capture(paths[2])))

    def grow(self):
        table = Capture(CAPTURE)
        path = self.folder / "grown.pcap"
        path.write_bytes(b"")
        path.unlink()
        table.write_to(path)

    def itself(self):
        copy = self.folder / "own.pcap"
        copy.write_bytes(CAPTURE.read_bytes())
        with Capture(copy) as capture, pytest.raises((bytewright.Error, OSError)):
            for write in (capture.write_to, capture.packets("length").to_parquet):
                write(copy)
        with pytest.raises(bytewright.ArgumentError):
            bytewright.flows(copy, into=copy, format="zeek", force=True)
        with Capture(copy) as capture, pytest.raises(bytewright.ArgumentError):
            capture.flows(into=copy, format="zeek", force=True)
        assert copy.read_bytes() == CAPTURE.read_bytes()
        copy.unlink()
        super().itself()


class ReadValuesFromAStream(Operation):
    CONTENT = bytes(range(256)) * 40

    def run(self):
        with Reader(io.BytesIO(self.CONTENT)) as reader, Reader(self.CONTENT) as other:
            numbers = [reader.u8(), reader.u32be(), reader.read(100), reader.varint(), reader.peek(2)]
            reader.skip(10)
            found = Reader(b"abcb").find(b"b")
            return numbers, reader.unpack("C n"), other.unpack_records("C C", 9), list(other.iter_unpack("C"))[:9], found

    def itself(self):
        source = ClosingSource()
        source.reader = reader = Reader(source)
        with pytest.raises((ClosedError, LockError)):
            for _ in range(1000):
                reader.u64be()


class WriteValuesToAStream(Operation):
    files = ("v", "grown")

    def run(self):
        path = self.path("v")
        with Writer(path) as writer:
            for number in range(1000):
                writer.u32be(number)
                writer.varint(number)
            writer.write(b"end")
            writer.flush()
        with Writer.replace(path) as writer:
            writer.write(path.read_bytes()[:100])
        return path.read_bytes()

    def grow(self):
        with Writer(self.folder / "grown") as writer:
            for _ in range(10_000):
                writer.write(bytes(1000))

    def itself(self):
        class Target(io.RawIOBase):
            writer = None

            def write(self, data):
                self.writer.close()
                return len(data)

        target = Target()
        target.writer = writer = Writer(target)
        with pytest.raises((ClosedError, LockError)):
            for _ in range(100_000):
                writer.u64be(1)


LOGS = thrift.load(ROOT / "samples" / "log.thrift")


class ReadAThriftMessage(Operation):
    files = ("messages.parquet",)
    MESSAGE = thrift.encode(LOGS.Entry(time=7, host="x" * 1000))

    def run(self):
        framed = len(self.MESSAGE).to_bytes(4, "big") + self.MESSAGE
        entries = list(thrift.decode_many(LOGS.Entry, framed * 20))
        columns = thrift.columns(LOGS.Entry, framed * 20, "time")
        whole = list(thrift.columns(LOGS.Entry, framed * 20))
        plucked = (thrift.pluck(LOGS.Entry, self.MESSAGE, "time"), whole)
        written = columns.to_parquet(self.path("messages.parquet"))
        return thrift.decode(LOGS.Entry, self.MESSAGE), entries, plucked, list(columns), [len(batch) for batch in columns.batches()], written

    def itself(self):
        class Source(io.RawIOBase):
            messages = None

            def read(self, _count=-1):
                return next(self.messages)

        source = Source()
        source.messages = messages = thrift.decode_many(LOGS.Entry, source)
        with pytest.raises(Exception):  # noqa: B017, whatever it is, it ends
            list(messages)


class WriteAThriftMessage(Operation):
    def run(self):
        return [thrift.encode(LOGS.Entry(time=number, host="x" * number), protocol) for number in range(100) for protocol in ("binary", "compact")]

    def itself(self):
        entry = LOGS.Entry(time=1)

        class Host(str):
            def encode(self, *arguments):
                entry.host = "other"
                return super().encode(*arguments)

        entry.host = Host("own")
        assert thrift.decode(LOGS.Entry, thrift.encode(entry)).time == 1


class ReadAThriftIdlFile(Operation):
    files = ("own.thrift",)

    def run(self):
        module = thrift.load(ROOT / "samples" / "log.thrift")
        return module.Entry(time=1).time, sorted(name for name in vars(module) if not name.startswith("_"))

    def itself(self):
        path = self.folder / "own.thrift"
        path.write_text('include "own.thrift"\nstruct A { 1: i32 a }')
        with pytest.raises(bytewright.Error):
            thrift.load(path)


OPERATIONS = {
    "open a table": OpenATable,
    "read an entry": ReadAnEntry,
    "change an entry": ChangeAnEntry,
    "change many entries": ChangeManyEntries,
    "walk a table": WalkATable,
    "use a snapshot": UseASnapshot,
    "run a transaction": RunATransaction,
    "sync or compact a table": SyncOrCompactATable,
    "back a table up": BackATableUp,
    "dump a table": DumpATable,
    "load a dump": LoadADump,
    "close a table": CloseATable,
    "use a cache": UseACache,
    "run a transaction of a store": RunATransactionOfAStore,
    "open a capture": OpenACapture,
    "walk the packets of a capture": WalkThePacketsOfACapture,
    "read a capture as columns": ReadACaptureAsColumns,
    "sum up a capture": SumUpACapture,
    "walk the flows or calls of a capture": WalkTheFlowsOrCallsOfACapture,
    "merge flows into a store": MergeFlowsIntoAStore,
    "walk a store of flows": WalkAStoreOfFlows,
    "write packets to a capture": WritePacketsToACapture,
    "write what was read to a file": WriteWhatWasReadToAFile,
    "read values from a stream": ReadValuesFromAStream,
    "write values to a stream": WriteValuesToAStream,
    "read a Thrift message": ReadAThriftMessage,
    "write a Thrift message": WriteAThriftMessage,
    "read a Thrift IDL file": ReadAThriftIdlFile,
}
#: Operations that Python does not offer, and why.
NOT_OFFERED = {}
#: Troubles that there are not in Python, and why: of one operation, or of all.
NO_TROUBLE = {("run a transaction of a store", "full"): "Python only reads stores"}


# Troubles.


class Raised(Exception):
    pass


def check(operation, expected):
    """All is as it was, and the next run is right."""
    if hasattr(operation, "check"):
        operation.check()
    assert operation.run() == expected
    operation.close()
    left = [name for name in os.listdir(operation.folder) if not name.startswith(operation.files or "/")]
    assert left == [] and not [name for name in os.listdir(operation.folder) if name.endswith((".new", ".part"))], os.listdir(operation.folder)


def in_signal(operation, expected):
    """With a handler that runs every millisecond."""
    calls = []
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(None))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        while len(calls) < 30:
            assert operation.run() == expected
            time.sleep(0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    check(operation, expected)


def run_until_fired(operation, fired, before):
    """Runs it again and again until the handler was called. It is a function of its own because Python 3.13.0 raises what comes as a
    `while` loop jumps back outside of the `try` that the loop is in."""
    while len(fired) <= before:
        operation.run()
        # Python looks for a signal that another thread got only where it takes its lock again.
        time.sleep(0)


def in_raise(operation, expected):
    """Left by the error of a handler, at random moments."""
    seed = random.randrange(2**32)
    print("seed", seed)
    chance, fired = random.Random(seed), []

    def raises(*_):
        fired.append(None)
        raise Raised

    before = signal.signal(signal.SIGALRM, raises)
    try:
        for round_number in range(25):
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0001, 0.004))
                    run_until_fired(operation, fired, round_number)
                except (pyarrow.ArrowException, OSError) as error:
                    # An error of a library that pulls comes first.
                    assert "interrupted: " in str(error)
                    time.sleep(0)
            except Raised:
                pass
    finally:
        signal.signal(signal.SIGALRM, before)
    check(operation, expected)


def in_child(body):
    """Runs it in a forked child, which is killed where it hangs."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS_MAX)
            body()
            code = 0
        except BaseException as error:  # noqa: BLE001
            import traceback

            traceback.print_exception(error)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def in_full(operation, expected):
    """With a bound on the length of files, a bit above what is there."""
    folder, kind = operation.folder, type(operation)
    operation.close()

    def body():
        other = kind(folder)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        lengths = [path.stat().st_size for path in folder.iterdir()]
        # Files that are shorter than the bound are filled up to it.
        resource.setrlimit(resource.RLIMIT_FSIZE, (max([2000, *lengths]) + 3000, resource.RLIM_INFINITY))
        with pytest.raises(OSError) as raised:
            other.grow()
        assert raised.value.errno == errno.EFBIG, raised.value

    in_child(body)
    again = kind(folder)
    check(again, expected)


def in_threads(operation, expected):
    """By two threads at once."""
    found, failures = [], []

    def runs():
        try:
            for _ in range(5):
                found.append(operation.run() == expected)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=runs) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS_MAX)
        assert not thread.is_alive()
    assert failures == [] and len(found) == 10
    # A walk may see what the other thread changes meanwhile.
    assert all(found)
    check(operation, expected)


def in_fork(operation, expected):
    """While a thread is in it. The child runs it, or is told that what it has is the parent's, and closes it."""
    ends, found = threading.Event(), []

    def runs():
        while not ends.is_set():
            found.append(operation.run() == expected)

    def body():
        try:
            assert operation.run() == expected
            operation.close()
        except (bytewright.Error, pyarrow.ArrowException, OSError) as error:
            print("told", error)

    thread = threading.Thread(target=runs)
    thread.start()
    try:
        for _ in range(5):
            in_child(body)
    finally:
        ends.set()
        thread.join(SECONDS_MAX)
    assert found and all(found)
    check(operation, expected)


def in_second(operation, expected):
    operation.second()
    check(operation, expected)


def in_itself(operation, expected):
    """Afterwards another object of the same files is right."""
    operation.itself()
    operation.close()
    check(type(operation)(operation.folder), expected)


DRIVERS = {
    "signal": in_signal,
    "raise": in_raise,
    "full": in_full,
    "thread": in_threads,
    "fork": in_fork,
    "second": in_second,
    "itself": in_itself,
}
CASES = [(each["name"], trouble) for each in TABLE["operations"] for trouble in each["troubles"]]


@pytest.mark.parametrize("name,trouble", [pytest.param(*case, id=": ".join(case)) for case in CASES])
def test_trouble(name, trouble, tmp_path):
    reason = NOT_OFFERED.get(name) or NO_TROUBLE.get((name, trouble))
    if reason:
        pytest.skip(reason)
    for folder in ("expected", "operation"):
        (tmp_path / folder).mkdir()
    expected = OPERATIONS[name](tmp_path / "expected")
    answer = expected.run()
    expected.close()
    DRIVERS[trouble](OPERATIONS[name](tmp_path / "operation"), answer)


# Completeness.

#: What does each operation. A name of a table stands for both kinds, and that of a snapshot, too.
METHODS = {
    "open a table": ["Table.open"],
    "read an entry": ["Table.get", "Table.get_many", "Table.first", "Table.last", "Table.floor", "Table.ceiling"],
    "change an entry": [f"Table.{name}" for name in ("append", "create", "delete", "increment", "pop", "popitem", "setdefault")],
    "change many entries": ["Table.update", "Table.clear", "Table.copy", "Table.fromkeys", "Table.delete_range"],
    "walk a table": [
        *(f"Table.{name}" for name in ("items", "keys", "values", "range", "cursor", "changes_since")),
        *(f"Cursor.{name}" for name in ("first", "last", "next", "prev", "seek")),
    ],
    "use a snapshot": [
        "Table.snapshot",
        *(f"Snapshot.{name}" for name in ("close", "get", "get_many", "items", "keys", "values", "range", "first", "last", "floor", "ceiling")),
    ],
    "run a transaction": ["Table.transaction"],
    "sync or compact a table": ["Table.sync", "Table.compact", "Table.stat"],
    "back a table up": ["Table.backup"],
    "dump a table": ["Table.dump"],
    "load a dump": ["Table.load"],
    "close a table": ["Table.close"],
    "use a cache": [
        *(f"Cache.{name}" for name in ("set", "add", "get", "pop", "delete", "touch", "incr", "decr", "evict", "cull", "expire", "clear")),
        *(f"Cache.{name}" for name in ("transact", "memoize", "memoize_stampede", "peekitem", "iterkeys", "read", "check", "sync")),
        *(f"Cache.{name}" for name in ("close", "from_diskcache")),
    ],
    "run a transaction of a store": ["pstore.open", *(f"pstore.Store.{name}" for name in ("close", "get", "items", "keys", "values"))],
    # Live capture needs rights of its own: python/tests/test_live.py interrupts it.
    "open a capture": ["Capture.close", "Capture.live", "Capture.stop"],
    "walk the packets of a capture": ["Capture.packets", "packets"],
    "read a capture as columns": ["Capture.batches", "Rows.batches", "Rows.converted", "Rows.to_pandas", "Rows.to_polars"],
    "sum up a capture": [
        *(f"Capture.{name}" for name in ("count_by", "endpoints", "info", "services", "sum")),
        *("count_by", "endpoints", "info", "services"),
    ],
    "walk the flows or calls of a capture": ["Capture.flows", "Capture.calls", "calls"],
    "merge flows into a store": ["flows", "FlowStore.merge", "FlowStore.captures", "FlowStore.close"],
    "walk a store of flows": ["FlowStore"],
    "write packets to a capture": [f"CaptureWriter.{name}" for name in ("write", "close", "discard")],
    "write what was read to a file": ["Capture.write_to", "Capture.index", "Rows.to_parquet", "index", "report"],
    "read values from a stream": [f"Reader.{name}" for name in "at_end close find iter_unpack peek read readinto records seek skip".split()]
    + ["Reader.unpack", "Reader.unpack_records", "Reader.NUMBER"],
    "write values to a stream": [f"Writer.{name}" for name in "close discard flush open replace seek write".split()] + ["Writer.NUMBER"],
    "read a Thrift message": [
        *(f"thrift.{name}" for name in ("decode", "decode_many", "pluck", "columns")),
        *(f"thrift.Columns.{name}" for name in ("batches", "to_pandas", "to_parquet", "to_polars")),
    ],
    "write a Thrift message": ["thrift.encode"],
    "read a Thrift IDL file": ["thrift.load"],
}
#: Getters and conversions of what is in memory.
PLAIN = {
    *(f"Table.{name}" for name in ("closed", "in_transaction", "path", "text")),
    *(f"Snapshot.{name}" for name in ("closed", "text")),
    *(f"Cache.{name}" for name in ("closed", "path", "size_limit", "stats", "volume")),
    *(f"Batch.{name}" for name in ("columns", "to_dict", "to_pandas", "to_polars")),
    *("Changes.position", "Cursor.key", "Cursor.value", "Rows.columns", "Rows.damage", "Call.to_dict", "Flow.to_dict"),
    *("Packet.captured", "Packet.payload", "Packet.to_dict"),
    *(f"Capture.{name}" for name in ("closed", "damage", "index_fault", "name", "live_counts")),
    *("CaptureWriter.closed", "CaptureWriter.name", "FlowStore.closed", "FlowStore.name", "Reader.closed", "Reader.compression"),
    *("Reader.name", "Reader.size", "Reader.tell", "Writer.closed", "Writer.name", "Writer.tell"),
    *(f"thrift.FrozenDict.{name}" for name in dir(dict) if not name.startswith("_")),
    *("thrift.Columns.columns", "thrift.Struct", "pstore.Store.closed", "pstore.Store.damage", "pstore.Store.path", "pstore.Object"),
}
#: Names that are in the table under another one.
CLASSES = {"HashTable": "Table", "TreeTable": "Table", "TreeSnapshot": "Snapshot"}
NUMBERS = {f"{sign}{bits}{order}" for sign in "iu" for bits in (16, 24, 32, 64) for order in ("be", "le")}
NUMBERS |= {"u8", "i8", "varint", "zigzag", "f32be", "f32le", "f64be", "f64le"}


def public_names():
    """Every public function and method, as the table has it."""
    for prefix, module, names in (
        ("", bytewright, bytewright.__all__),
        ("thrift.", thrift, thrift.__all__),
        ("pstore.", pstore, ["open", "Store", "Object"]),
    ):
        for name in names:
            found = getattr(module, name)
            if isinstance(found, type) and issubclass(found, Exception) or name in ("__version__", "pstore"):
                continue
            if not isinstance(found, type):
                yield prefix + name
                continue
            members = {member for member in dir(found) if not member.startswith("_")} - set(getattr(found, "__match_args__", ()))
            for member in members - (set(found.__slots__) if name == "Object" else set()):
                number = "NUMBER" if name in ("Reader", "Writer") and member in NUMBERS else member
                yield f"{prefix}{CLASSES.get(name, name)}.{number}"


def test_every_public_method_is_of_an_operation_or_plain():
    known = {method for methods in METHODS.values() for method in methods} | PLAIN
    missing = sorted(set(public_names()) - known)
    assert missing == [], "add each to METHODS, for the operation that it does, or to PLAIN if it does no input or output"
    gone = sorted(known - set(public_names()) - {"FlowStore", "thrift.Struct", "pstore.Object"})
    assert gone == [], "these are not there any more"


def test_every_operation_and_every_trouble_has_its_place():
    names = {each["name"] for each in TABLE["operations"]}
    assert names == set(OPERATIONS) | set(NOT_OFFERED) == set(METHODS) | set(NOT_OFFERED), "add a class to OPERATIONS, or a reason to NOT_OFFERED"
    assert set(TABLE["troubles"]) == set(DRIVERS), "add a driver for the trouble"
    for name, trouble in NO_TROUBLE:
        assert (name, trouble) in CASES
    for name, trouble in CASES:
        assert trouble != "full" or (name, trouble) in NO_TROUBLE or OPERATIONS[name].grow is not Operation.grow, name
        assert trouble != "itself" or hasattr(OPERATIONS[name], "itself"), name
