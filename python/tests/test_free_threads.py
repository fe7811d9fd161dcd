"""Goal: threads that run at the same time can share every object: what they do is done once, and a close in the middle is told.

Method: eight threads and more begin at once and use one object, at random; what must come out is exact. It is meant for a
free-threaded interpreter, where they run on several cores, and holds in every one. BYTEWRIGHT_STRESS=20 does so many times as much.
"""

import contextlib
import io
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import sysconfig
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import bytewright
from bytewright import Cache, Capture, ClosedError, HashTable, LockError, Reader, TreeTable, TruncatedError, Writer, pstore, thrift

WEB = pathlib.Path(__file__).parents[2] / "samples" / "web.pcap.gz"
THREADS = 8
TIMES = int(os.environ.get("BYTEWRIGHT_STRESS", "1"))

TABLES = {
    "hashed in memory": lambda folder: HashTable(),
    "ordered in memory": lambda folder: TreeTable(),
    "hashed in a file": lambda folder: HashTable.open(folder / "x.bwh", sync="never"),
    "ordered in a file": lambda folder: TreeTable.open(folder / "x.bwt", sync="never"),
}


class Back(Exception):
    """Leaves a transaction, which is taken back."""


@pytest.fixture(params=TABLES)
def table(request, tmp_path):
    table = TABLES[request.param](tmp_path)
    yield table
    table.close()


@pytest.fixture
def seed():
    seed = random.randrange(1 << 32)
    print("seed", seed)
    return seed


@pytest.fixture(autouse=True)
def often():
    """Threads of an interpreter with a lock take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*works, count=THREADS):
    """The results of `count` threads that begin at once, each with its number; of several works, each has such a share of them."""
    barrier = threading.Barrier(count)

    def begin(number):
        barrier.wait(60)
        return works[number % len(works)](number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def each_once(iterator):
    """All that threads together take of an iterator, which refuses a thread while another one uses it."""

    def take(_):
        taken = []
        while True:
            try:
                taken.append(next(iterator))
            except StopIteration:
                return taken
            except LockError:
                time.sleep(0)

    return [one for taken in together(take) for one in taken]


def until_closed(work):
    """Does the work again and again until what it uses is closed, and returns how often it was done."""
    count = 0
    with contextlib.suppress(ClosedError):
        while True:
            work()
            count += 1
    return count


def closed_in_the_middle(opened, *works):
    """Threads use an object, each in one of these ways, while one of them closes it; each ends with `ClosedError`."""

    def close(_):
        time.sleep(0.05)
        opened.close()

    shares = [lambda _, work=work: until_closed(lambda: work(opened)) for work in works]
    together(close, *shares, count=max(THREADS, len(works) + 1) // (len(works) + 1) * (len(works) + 1))
    assert opened.closed


# The interpreter.


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a global lock")
def test_the_import_leaves_the_interpreter_without_its_lock():
    code = "import sys, bytewright.thrift; sys.exit(sys._is_gil_enabled())"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], env=environment).returncode == 0


# Tables.


def test_entries_of_each_thread_are_all_there(table, seed):
    def work(number):
        chance, mine = random.Random(seed + number), {}
        for _ in range(400 * TIMES):
            key = f"{number}-{chance.randrange(50)}"
            match chance.randrange(6):
                case 0 | 1:
                    table[key] = mine[key] = str(chance.random())
                case 2:
                    assert table.delete(key) == (mine.pop(key, None) is not None)
                case 3:
                    assert table.pop(key, None) == mine.pop(key, None)
                case 4:
                    assert table.setdefault(key, "0") == mine.setdefault(key, "0")
                case _:
                    assert table.get(key) == mine.get(key)
        assert dict(zip(mine, table.get_many(mine))) == mine
        return mine

    model = {key: value for mine in together(work) for key, value in mine.items()}
    assert dict(table) == model and len(table) == len(model)


def test_sums_are_exact_and_a_key_is_made_by_one_thread(table):
    rounds = 200 * TIMES

    def work(number):
        won = 0
        for place in range(rounds):
            table.increment("all")
            won += table.create(f"key {place}", str(number))
            if place % 10 == 0:
                with table.transaction():
                    table["read"] = str(int(table.get("read", "0")) + 1)
        return won

    assert sum(together(work)) == rounds
    assert (table["all"], table["read"]) == (str(THREADS * rounds), str(THREADS * len(range(0, rounds, 10))))


def test_entries_are_taken_by_one_thread_each(table):
    count = 500 * TIMES
    table.update({f"{place:06}": str(place) for place in range(count)})

    def shift(_):
        taken = []
        with contextlib.suppress(KeyError):
            while True:
                taken.append(table.popitem())
        return taken

    taken = [one for taken in together(shift) for one in taken]
    assert sorted(taken) == [(f"{place:06}", str(place)) for place in range(count)] and len(table) == 0


def test_readers_see_whole_transactions(table, seed):
    names = [f"account {place}" for place in range(10)]
    table.update(dict.fromkeys(names, "100"))
    is_over = threading.Event()

    def move(number):
        chance = random.Random(seed + number)
        for _ in range(40 * TIMES):
            one, other = chance.sample(names, 2)
            with contextlib.suppress(Back), table.transaction():
                table.increment(one, -7)
                if chance.randrange(3) == 0:
                    raise Back
                table.increment(other, 7)
        is_over.set()

    def read(number):
        count = 0
        while not is_over.is_set() or count == 0:
            seen = [dict(table.items()), dict(table.snapshot()), dict(zip(names, table.get_many(names)))]
            assert [sum(map(int, each.values())) for each in seen] == [1000] * 3
            count += 1

    together(move, read)
    assert sum(map(int, table.values())) == 1000


def test_threads_share_one_iteration(table):
    entries = {f"{place:05}": str(place) for place in range(1000 * TIMES)}
    table.update(entries)
    assert dict(each_once(iter(table.items()))) == entries


def test_a_table_is_closed_while_threads_use_it(table):
    table.update({str(place): "x" for place in range(100)})

    def put(table):
        with table.transaction():
            table["a"] = table["b"] = str(random.random())

    def read(table):
        snapshot = table.snapshot()
        assert snapshot.get("a") == snapshot.get("b")

    closed_in_the_middle(
        table, put, read, lambda table: list(table), lambda table: table.update({"c": "1", "d": "2"}), lambda table: table.stat()
    )
    if table.path:
        with type(table).open(table.path) as again:
            assert len(again) >= 100 and again.get("a") == again.get("b")


def test_a_dict_that_is_changed_while_it_is_put_is_put_whole_or_refused(table):
    source, rounds = {f"{place:03}": "x" for place in range(300)}, 40 * TIMES
    is_over = threading.Event()

    def change(number):
        place = 0
        while not is_over.is_set():
            source[f"more {place % 50}"] = "y"
            source.pop(f"more {place % 50}", None)
            place += 1

    def put(number):
        try:
            for _ in range(rounds):
                with contextlib.suppress(RuntimeError):
                    table.update(source)
        finally:
            is_over.set()

    together(change, put)
    assert all(value == ("y" if key.startswith("more") else "x") for key, value in table.items())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", [HashTable, TreeTable])
def test_a_forked_child_goes_on_while_its_parent_had_threads(kind):
    def opened():
        return kind({"a": "1"}), Cache(), Reader(io.BytesIO(bytes(1 << 20)))

    is_over = threading.Event()
    table, cache, _ = shared = opened()

    def use(number):
        # Python itself lets a child wait for good for a dict that two threads wanted, where it has no global lock.
        table, cache, reader = opened() if sysconfig.get_config_var("Py_GIL_DISABLED") else shared
        while not is_over.is_set():
            table.increment(f"n{number}")
            cache.set(number, [number])
            reader.seek(0)
            reader.u32le()

    def fork(number):
        try:
            for _ in range(5 * TIMES):
                child = os.fork()
                if child == 0:
                    signal.alarm(30)
                    is_right = False
                    try:
                        is_right = table["a"] == "1" and table.increment("child") > 0 and cache.get("none") is None
                    finally:
                        os._exit(not is_right)
                assert os.waitpid(child, 0)[1] == 0
        finally:
            is_over.set()

    together(*[use] * (THREADS - 1), fork)


# Caches.


@pytest.mark.parametrize("name", [None, "x.bwc"])
def test_threads_share_a_cache(tmp_path, seed, name):
    rounds = 200 * TIMES

    def work(number):
        chance, added, looked = random.Random(seed + number), 0, 0
        for place in range(rounds):
            cache.incr("all")
            added += cache.add(("key", place), number)
            value = [number, {"place": place}, (1.5, None)]
            cache.set((number, place % 20), value, expire=60, tag=chance.choice(["one", "two"]))
            found = cache.get((number, place % 20))
            looked += 1
            assert found == value
            if chance.randrange(4) == 0:
                assert cache.pop((number, place % 20)) == value
        return added, looked

    with Cache(tmp_path / name if name else None) as cache:
        results = together(work)
        assert sum(added for added, _ in results) == rounds
        assert cache.get("all") == THREADS * rounds
        hits, misses = cache.stats()
        assert hits + misses == sum(looked for _, looked in results) + 1
        closed_in_the_middle(cache, lambda cache: cache.set("a", "b"), lambda cache: cache.get("a"), list, len)


def test_values_that_are_changed_while_they_are_put_are_whole_or_refused():
    values, mapping, keys = [0] * 50, dict.fromkeys(range(50), 0), set(range(50))
    is_over, rounds = threading.Event(), 100 * TIMES
    told = cache_of_calls(Cache())

    def change(number):
        while not is_over.is_set():
            values.append(0)
            values.pop()
            mapping[50 + number] = 0
            del mapping[50 + number]
            keys.add(50 + number)
            keys.discard(50 + number)

    def put(number):
        try:
            for _ in range(rounds):
                for given in (values, mapping, keys):
                    with contextlib.suppress(RuntimeError):
                        cache.set(number, given)
                        found = cache.get(number)
                        assert type(found) is type(given) and 50 <= len(found) <= 50 + THREADS
                    with contextlib.suppress(RuntimeError):
                        told(given)
        finally:
            is_over.set()

    with Cache() as cache:
        together(change, put)


def cache_of_calls(cache):
    @cache.memoize()
    def told(given):
        return len(given)

    return told


# Captures.


def test_threads_ask_one_capture():
    with Capture(WEB) as capture:
        counts, packets = capture.count_by("dst_port"), list(capture.packets("number", "src_ip"))
        flows, info = [flow.to_dict() for flow in capture.flows()], capture.info()
        asks = [
            lambda _: capture.count_by("dst_port") == counts,
            lambda _: list(capture.packets("number", "src_ip")) == packets,
            lambda _: [flow.to_dict() for flow in capture.flows()] == flows,
            lambda _: capture.info() == info,
        ]
        for _ in range(2 * TIMES):
            assert all(together(*asks))
        assert len(each_once(iter(capture))) == len(packets)
        assert sorted(each_once(iter(capture.packets("number", "src_ip")))) == sorted(packets)
        rows = sum(len(batch) for batch in each_once(capture.packets("number", rows=10).batches()))
        assert rows == len(packets)


def test_threads_look_at_one_packet():
    with Capture(WEB) as capture:
        packet = next(iter(capture))
    shown = packet.to_dict(), repr(packet), hash(packet), packet.captured

    def look(_):
        for _ in range(50 * TIMES):
            assert (packet.to_dict(), repr(packet), hash(packet), packet.captured) == shown

    together(look)


def test_a_capture_is_closed_while_threads_ask_it():
    for _ in range(3 * TIMES):
        closed_in_the_middle(
            Capture(WEB),
            lambda capture: capture.count_by("dst_port"),
            lambda capture: list(capture.packets("number")),
            lambda capture: list(capture.flows()),
            lambda capture: list(capture),
        )


# Streams.


def opened_readers(folder, data):
    """Readers of the data in a file, in a compressed one, and of an object."""
    import gzip

    (folder / "plain").write_bytes(data)
    (folder / "packed").write_bytes(gzip.compress(data, 1))
    return [Reader(folder / "plain"), Reader(folder / "packed"), Reader(io.BytesIO(data))]


def test_each_value_is_read_by_one_thread(tmp_path):
    count = 4000 * TIMES
    ways = [
        lambda reader: [reader.u32le()],
        lambda reader: list(reader.unpack("L<")),
        lambda reader: list(struct.unpack("<4I", reader.read(16))),
        lambda reader: [value for (value,) in reader.unpack_records("L<", 8)] or end(),
        lambda reader: list(filled(reader, 12)),
    ]

    def end():
        raise TruncatedError("the end")

    def filled(reader, size):
        buffer = bytearray(size)
        length = reader.readinto(buffer)
        return struct.unpack(f"<{length // 4}I", buffer[:length]) if length else end()

    def take(number):
        taken = []
        with contextlib.suppress(TruncatedError, struct.error):
            while True:
                taken += ways[number % len(ways)](reader)
        return taken

    data = struct.pack(f"<{count}I", *range(count))
    for reader in opened_readers(tmp_path, data):
        with reader:
            taken = sorted(value for taken in together(take, count=10) for value in taken)
            # The end, where it is shorter than `read` asks for, is lost to this test, and nothing else.
            assert len(set(taken)) == len(taken) and count - len(taken) < 10 * 4, (count, len(taken))


def test_records_of_one_iterator_are_given_once(tmp_path):
    count = 2000 * TIMES
    data = struct.pack(f"<{count}I", *range(count))
    for reader in opened_readers(tmp_path, data):
        with reader:
            assert sorted(each_once(reader.iter_unpack("L<"))) == [(value,) for value in range(count)]


def test_a_reader_is_closed_while_threads_read(tmp_path):
    for reader in opened_readers(tmp_path, bytes(1 << 16)):

        def again(reader):
            reader.seek(0)
            reader.read(10_000)

        closed_in_the_middle(reader, again, lambda reader: reader.tell(), lambda reader: reader.find(b"x"), lambda reader: reader.size())


def test_a_buffer_that_others_write_to_is_filled(tmp_path):
    (tmp_path / "x").write_bytes(b"x" * 100_000)
    buffer, is_over = bytearray(100_000), threading.Event()

    def write(number):
        while not is_over.is_set():
            buffer[:10] = b"y" * 10
            bytes(buffer)

    def read(number):
        try:
            for _ in range(20 * TIMES):
                with Reader(tmp_path / "x") as reader:
                    assert reader.readinto(buffer) == len(buffer)
        finally:
            is_over.set()

    together(write, read)
    assert set(buffer) <= set(b"xy") and buffer[10:] == b"x" * 99_990


@pytest.mark.parametrize("target", ["path", "object"])
def test_each_value_is_written_once(tmp_path, target):
    count, file = 3000 * TIMES, io.BytesIO()
    with Writer(tmp_path / "x" if target == "path" else file) as writer:

        def write(number):
            for place in range(count):
                if number % 2:
                    writer.u64le(number << 32 | place)
                else:
                    writer.write(struct.pack("<Q", number << 32 | place))
                if place % 500 == 0:
                    writer.flush()
                    assert writer.tell() % 8 == 0

        together(write)
    data = (tmp_path / "x").read_bytes() if target == "path" else file.getvalue()
    found = [value for (value,) in struct.iter_unpack("<Q", data)]
    assert sorted(found) == [number << 32 | place for number in range(THREADS) for place in range(count)]
    for number in range(THREADS):
        mine = [value for value in found if value >> 32 == number]
        assert mine == sorted(mine)


def test_a_writer_is_closed_while_threads_write(tmp_path):
    writer = Writer(tmp_path / "x")
    closed_in_the_middle(writer, lambda writer: writer.u64le(1), lambda writer: writer.flush(), lambda writer: writer.tell())
    assert set(struct.iter_unpack("<Q", (tmp_path / "x").read_bytes())) <= {(1,)}


# Thrift.

IDL = """
enum Kind { ONE = 1, TWO = 2 }
struct Inner { 1: i32 id, 2: string name }
struct Outer {
  1: Kind kind, 2: list<Inner> inners, 3: map<string, i64> counts, 4: set<string> names, 5: map<i32, Inner> by_id, 6: string text
}
"""


def outer(module, chance):
    def inner():
        return module.Inner(id=chance.randrange(1000), name=f"name {chance.randrange(300)}")

    return module.Outer(
        kind=module.Kind(chance.randrange(1, 3)),
        inners=[inner() for _ in range(5)],
        counts={f"count {chance.randrange(600)}": chance.randrange(1 << 40) for _ in range(20)},
        names={f"name {chance.randrange(600)}" for _ in range(20)},
        by_id={place: inner() for place in range(5)},
        text="x" * chance.randrange(50),
    )


def test_threads_share_a_codec_that_the_first_of_them_makes(seed):
    for _ in range(5 * TIMES):
        module = thrift.load(IDL)

        class Derived(module.Outer):
            pass

        def work(number):
            chance = random.Random(seed + number)
            for place in range(60):
                cls = Derived if place % 2 else module.Outer
                given = outer(module, chance)
                protocol = chance.choice(["binary", "compact"])
                data = thrift.encode(given, protocol)
                found = thrift.decode(cls, data, protocol)
                assert type(found) is cls
                assert thrift.decode(module.Outer, thrift.encode(found)) == given
                (counts,) = thrift.pluck(cls, data, "text", protocol=protocol)
                assert counts == given.text

        together(work)


def test_an_object_that_is_changed_while_it_is_encoded_is_one_of_its_states(seed):
    module = thrift.load(IDL)
    shared, is_over = outer(module, random.Random(seed)), threading.Event()

    def change(number):
        place = 0
        while not is_over.is_set():
            place += 1
            shared.text = f"text {number} {place}" * 3
            shared.inners = [module.Inner(id=place, name=f"{number}")]
            shared.kind = module.Kind(place % 2 + 1)

    def encode(number):
        try:
            for _ in range(300 * TIMES):
                found = thrift.decode(module.Outer, thrift.encode(shared))
                assert found.counts == shared.counts and found.names == shared.names and found.by_id == shared.by_id
                assert found.text[: len(found.text) // 3] * 3 == found.text or found.text[:1] == "x" or not found.text
        finally:
            is_over.set()

    together(change, encode)


def test_containers_that_are_changed_while_they_are_encoded_are_whole_or_refused(seed):
    module = thrift.load(IDL)
    shared, is_over = outer(module, random.Random(seed)), threading.Event()
    fixed = dict(shared.counts), set(shared.names), len(shared.inners)

    def change(number):
        key = f"changed {number}"
        while not is_over.is_set():
            shared.counts[key] = 1
            del shared.counts[key]
            shared.names.add(key)
            shared.names.discard(key)
            shared.inners.append(module.Inner(id=1, name=key))
            shared.inners.pop()

    def encode(number):
        refused = 0
        try:
            for _ in range(200 * TIMES):
                try:
                    found = thrift.decode(module.Outer, thrift.encode(shared))
                except (RuntimeError, bytewright.ArgumentError):
                    refused += 1
                    continue
                counts, names, count = fixed
                others = {**counts, **{f"changed {number}": 1 for number in range(THREADS)}}
                assert found.counts.items() <= others.items() and len(found.counts) >= len(counts) - THREADS
                assert all(name in names or name.startswith("changed") for name in found.names)
                assert count - THREADS <= len(found.inners) <= count + THREADS
        finally:
            is_over.set()
        return refused

    together(change, encode)


def test_objects_that_make_themselves_known_are_read_while_they_are_made():
    known, is_over = [], threading.Event()

    class Made:
        __slots__ = ("id", "name")
        thrift_spec = (None, (1, 8, "id", None, None), (2, 11, "name", "UTF8", None))

        def __new__(cls, id=None, name=None):
            made = super().__new__(cls)
            known.append(made)
            del known[:-4]
            return made

        def __init__(self, id=None, name=None):
            self.id, self.name = id, name

    data = thrift.encode(Made(7, "seven" * 4))

    def change(number):
        while not is_over.is_set():
            for made in list(known):
                made.name = "changed" * number
                getattr(made, "name", None)

    def decode(number):
        try:
            for _ in range(500 * TIMES):
                assert thrift.decode(Made, data).id == 7
        finally:
            is_over.set()

    together(change, decode)


def test_messages_of_one_iterator_are_given_once(seed):
    module, chance = thrift.load(IDL), random.Random(seed)
    given = [thrift.encode(module.Inner(id=place, name=str(chance.random()))) for place in range(500 * TIMES)]
    stream = b"".join(struct.pack(">I", len(one)) + one for one in given)
    for source in (stream, io.BytesIO(stream)):
        found = each_once(thrift.decode_many(module.Inner, source))
        assert sorted(one.id for one in found) == list(range(len(given)))
    batches = thrift.columns(module.Inner, stream, "id", rows=10).batches()
    assert sorted(value for batch in each_once(batches) for value in batch["id"]) == list(range(len(given)))


# Stores.


def test_threads_share_a_store(tmp_path):
    # The roots "a0" to "a99", of Marshal 4.8: a Hash of Symbols and small Integers' Arrays.
    def symbol(name):
        return b":" + bytes([len(name) + 5]) + name

    roots = b"".join(symbol(f"a{place}".encode()) + b"[\x07i" + bytes([place + 6]) + b"i\x06" for place in range(100))
    path = tmp_path / "x.pstore"
    path.write_bytes(b"\x04\x08{" + bytes([100 + 5]) + roots)
    expected = {f"a{place}": [place + 1, 1] for place in range(100)}
    store = pstore.open(path)

    def read(number):
        for _ in range(3 * TIMES):
            found = dict(store)
            assert found == expected

    try:
        together(read)

        def close(_):
            time.sleep(0.01)
            while not store.closed:
                with contextlib.suppress(LockError):
                    store.close()

        together(close, lambda _: until_closed(lambda: store["a1"]), lambda _: until_closed(lambda: dict(store)))
    finally:
        store.close()
    assert store.closed
