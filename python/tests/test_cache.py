"""Goal: a cache gives what was set last or nothing, keeps its limit, and reads nothing that it was not told to trust.

Method: objects of every kind there and back; random changes beside a dict, also by several processes that are killed; files of
diskcache as that package writes them, made here by its schema.
"""

import asyncio
import os
import pathlib
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

import bytewright
from bytewright import Cache, ClosedError, CorruptError, DamageWarning, FormatError, LimitError

KINDS = ["", "text", "\N{SNOWMAN}\0", b"", b"\xff\0bytes", 0, -1, 2**63 - 1, -(2**63), 2**63, 10**40, 0.0, -1.5, float("inf"), True, False, None]
NESTED = [
    [], {}, (), set(), frozenset(), [1, [2.5, None]], {"a": {"b": [True, "\N{SNOWMAN}"]}}, [2**70, -(2**70)], (1, (b"\xff", [()])),
    {1: 2, (3, "x"): {4, 5}, None: frozenset([(6,)])}, [float("inf"), -0.0], [2**63, -(2**63), 2**64, -(2**64) - 1], "x" * 100_000,
]


@pytest.fixture(params=["memory", "file"])
def cache(request, tmp_path):
    with Cache(tmp_path / "x.bwc" if request.param == "file" else None) as made:
        yield made


def test_objects_come_back_as_they_are(cache):
    for value in KINDS + NESTED:
        cache["key"] = value
        assert cache["key"] == value and type(cache["key"]) is type(value)
    for key in KINDS:
        cache.set(key, repr(key))
    assert [cache[key] for key in KINDS] == [repr(key) for key in KINDS]
    assert {(type(key), key) for key in cache} - {(str, "key")} == {(type(key), key) for key in KINDS}
    nan = float("nan")
    cache[nan] = nan
    assert cache[nan] != cache[nan]


def test_random_nests_come_back_as_they_are(cache):
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)

    def nest(depth):
        if depth == 0 or chance.random() < 0.3:
            return chance.choice([None, True, chance.randrange(-(2**66), 2**66), chance.random(), "s" * chance.randrange(40), b"b" * 9])
        elements = [nest(depth - 1) for _ in range(chance.randrange(5))]
        keys = [element for element in elements if not isinstance(element, (list, tuple, dict, set))]
        return chance.choice([elements, tuple(elements), set(keys), frozenset(keys), dict(zip(keys, elements))])

    for _ in range(300):
        value = nest(5)
        cache["key"] = value
        assert cache["key"] == value and type(cache["key"]) is type(value)


@pytest.mark.parametrize("value,place", [
    (object(), "value is object"), ([0, {"a": {3j}}], r"value\[1\]\['a'\]\[0\] is complex 3j"), ({1j: 2}, r"value\[1j\] is complex"),
    ((1, bytearray(b"a")), r"value\[1\] is bytearray"),
])  # fmt: skip
def test_what_is_not_kept_is_told_by_its_place(cache, value, place):
    cache["there"] = 1
    with pytest.raises(TypeError, match=place):
        cache["there"] = value
    assert cache["there"] == 1 and len(cache) == 1


def test_a_list_that_holds_itself_is_refused(cache):
    endless = []
    endless.append(endless)
    with pytest.raises(TypeError, match="100 objects deep"):
        cache["key"] = endless


def test_subclasses_of_what_is_kept_are_not_kept(cache):
    class Text(str):
        __slots__ = ()

    with pytest.raises(TypeError, match="value is Text"):
        cache["key"] = Text("a")


def test_nested_data_that_no_cache_wrote_is_refused_however_deep_it_is(tmp_path):
    path = tmp_path / "x.bwc"
    with Cache(path) as cache:
        cache["list"] = [1]
    nested = {
        "name": b"\xd8\x27\x63abc", "list": b"\x81" * 99 + b"\x80", "tags": b"\xd9\x01\x02" * 1_000_000 + b"\x80",
        "deep": b"\x81" * 101 + b"\x80", "cut": b"\x82\x01", "long": b"\xc2\x80", "more": b"\xf6\xf6", "unknown": b"\xd8\x63\x80",
    }
    for key, item in nested.items():
        put = [sys.executable, "-m", "bytewright", "table", "put", path, key, "-"]
        # 4 is the kind of nested values.
        subprocess.run(put, input=b"\x04" + item, check=True)
    with Cache(path) as cache:
        assert cache["name"] == "abc" and isinstance(cache["list"], list)
        for key in nested.keys() - {"name", "list"}:
            with pytest.raises(ValueError, match="nested objects of a cache, found other bytes"):
                cache[key]


def test_what_expires_is_gone_at_its_time(cache):
    cache.set("soon", 1, expire=0.05)
    cache.set("later", 2, expire=3600)
    cache.set("never", 3)
    value, expire_time, tag = cache.get("later", expire_time=True, tag=True)
    assert value == 2 and abs(expire_time - time.time() - 3600) < 60 and tag is None
    assert cache.get("never", expire_time=True) == (3, None)
    time.sleep(0.06)
    assert "soon" not in cache and cache.get("soon") is None and list(cache) == ["later", "never"]
    assert cache.get("soon", 0, expire_time=True, tag=True) == (0, None, None)
    with pytest.raises(KeyError):
        cache["soon"]
    assert cache.add("soon", 4) and not cache.add("soon", 5) and cache["soon"] == 4
    assert cache.touch("later", 0) and not cache.touch("later", 9) and cache.expire() == 1
    assert cache.set("past", 1, expire=-5) and "past" not in cache
    with pytest.raises(ValueError, match="NaN"):
        cache.set("key", 1, expire=float("nan"))


def test_tags_are_evicted_together(cache):
    for number in range(30):
        cache.set(number, number, tag=("red", 7, None)[number % 3])
    assert cache.get(0, tag=True) == (0, "red") and cache.get(1, tag=True) == (1, 7) and cache.get(2, tag=True) == (2, None)
    assert (cache.evict("red"), cache.evict(7), cache.evict("none")) == (10, 10, 0)
    assert len(cache) == 10 and cache.clear() == 10 and len(cache) == 0


def test_counters(cache):
    assert (cache.incr("n"), cache.incr("n", 4), cache.decr("n"), cache.incr("m", default=10)) == (1, 5, 4, 11)
    with pytest.raises(KeyError):
        cache.incr("none", default=None)
    cache["text"] = "a"
    with pytest.raises(bytewright.ArgumentError, match="expected an integer"):
        cache.incr("text")
    cache["most"] = 2**63 - 1
    with pytest.raises(bytewright.ArgumentError):
        cache.incr("most")
    assert cache["most"] == 2**63 - 1


def test_pop_and_peek(cache):
    cache.set("a", 1, tag="t")
    cache["b"] = 2
    assert cache.peekitem() == ("b", 2) and cache.peekitem(last=False) == ("a", 1)
    assert list(reversed(cache)) == ["b", "a"]
    assert cache.pop("a", tag=True) == (1, "t") and cache.pop("a", 5) == 5
    del cache["b"]
    with pytest.raises(KeyError):
        del cache["b"]
    with pytest.raises(KeyError):
        cache.peekitem()
    cache["c"] = 1
    cache.stats(reset=True)
    found = [cache.get("c"), cache.get("d"), cache.get("c")]
    assert found == [1, None, 1] and cache.stats() == (2, 1)


def test_a_transaction_is_kept_whole_or_not_at_all(cache):
    with pytest.raises(ZeroDivisionError), cache.transact() as same:
        assert same is cache
        cache["a"] = 1
        cache.incr("n", 1 // 0)
    assert len(cache) == 0
    with cache.transact():
        cache["a"] = 1
        cache["b"] = 2
    assert dict(zip(cache, map(cache.get, cache))) == {"a": 1, "b": 2}

    async def adds():
        for _ in range(20):
            async with cache.transact():
                found = cache.get("n", 0)
                await asyncio.sleep(0)
                cache["n"] = found + 1

    async def main():
        await asyncio.gather(adds(), adds())

    asyncio.run(main())
    assert cache["n"] == 40


def test_the_limit_is_kept_and_what_is_used_stays(tmp_path):
    for path in (None, tmp_path / "x.bwc"):
        with Cache(path, size_limit=2_000_000) as cache:
            for number in range(20_000):
                cache[number] = "x" * 500
                cache["hot"] = cache.get("hot", 0) + 1 if number % 50 == 0 else cache.get("hot", 0)
            assert cache["hot"] > 0 and 1_000 < len(cache) < 4_000 and cache.volume() <= 2_000_000
            if path:
                status = os.stat(path)
                # Else its file system gives no blocks back.
                assert status.st_blocks * 512 <= 2_000_000 or status.st_blocks * 512 > status.st_size // 2
            with pytest.raises(LimitError):
                cache["long"] = b"x" * 1_000_000
            assert "long" not in cache and cache["hot"] > 0
    with Cache(count_limit=10) as cache:
        for number in range(100):
            cache[number] = number
        assert len(cache) == 10 and cache[99] == 99
    with pytest.raises(ValueError, match="size_limit"):
        Cache(size_limit=1000)


def test_memoize_keeps_results_by_arguments(cache):
    calls = []

    @cache.memoize(ignore={"log", 0})
    def area(shape, width, height=1, log=None):
        """The area."""
        calls.append((shape, width, height, log))
        return {"area": width * height}

    for _ in range(3):
        assert area("a", 2, height=3, log=object()) == {"area": 6} and area("b", 2, height=3) == {"area": 6}
        assert area("b", 2.0, height=3.0) == {"area": 6}
    assert len(calls) == 1 and area.__doc__ == "The area." and area.__wrapped__(0, 1) == {"area": 1}
    del cache[area.__cache_key__("any", 2, height=3)]
    area("c", 2, height=3)
    assert len(calls) == 3

    @cache.memoize("named", typed=True)
    def kind(*values, **named):
        calls.append(values)
        return repr(values) + repr(named)

    different = [(1,), (1.0,), (True,), ("1",), (b"1",), (None,), ((1,),), ([1],), ({"a": 1},), ({1, 2},), (1, 2), ("1, 2",), ("a=1",), ()]
    assert len({kind(*values) for values in different}) == len({kind.__cache_key__(*values) for values in different}) == len(different)
    assert kind(a=1) != kind("a=1") and kind(a=1, b=2) == kind(b=2, a=1)
    with pytest.raises(TypeError, match="memoize takes str.*object"):
        kind(object())
    with pytest.raises(TypeError, match=r"@cache\.memoize\(\)"):
        cache.memoize(kind)
    none = cache.memoize("none")(lambda: calls.append("none"))
    assert none() is None and none() is None and calls.count("none") == 1


def test_memoize_keeps_a_result_by_the_arguments_before_the_call(cache):
    calls = []

    @cache.memoize()
    def doubled(items):
        calls.append(list(items))
        items.extend(items)
        return items

    @cache.memoize()
    async def tripled(items):
        items *= 3
        return items

    assert doubled([1]) == doubled([1]) == [1, 1] and doubled([1, 1]) == [1] * 4
    assert calls == [[1], [1, 1]]
    assert [asyncio.run(tripled([number])) for number in (1, 1)] == [[1, 1, 1]] * 2
    assert cache.get(tripled.__cache_key__([1, 1, 1])) is None


def test_memoize_keeps_the_results_of_coroutines(cache):
    calls = []

    @cache.memoize()
    async def doubled(number):
        calls.append(number)
        await asyncio.sleep(0)
        return number * 2

    async def main():
        return [await doubled(2), await doubled(2), await doubled(3)]

    assert asyncio.run(main()) == [4, 4, 6] and calls == [2, 3] and cache[doubled.__cache_key__(2)] == 4


def test_a_function_that_fails_or_expires_at_once_leaves_nothing(cache):
    with pytest.raises(ZeroDivisionError):
        cache.memoize()(lambda: 1 // 0)()
    assert cache.memoize(expire=0)(lambda: 5)() == 5 and len(cache) == 0


def test_nothing_is_unpickled_without_the_key_that_it_was_pickled_with(tmp_path):
    class Never:
        def __reduce__(self):
            return os._exit, (1,)

    path = tmp_path / "x.bwc"
    with Cache(path, pickle_key=b"0123456789abcdef") as cache:
        cache["point"] = complex(3), [range(5)]
        assert cache["point"] == (complex(3), [range(5)])
        # A program's own bytes are bytes.
        cache["bytes"] = pickle.dumps(Never())
        assert isinstance(cache["bytes"], bytes)
        cache[3j] = "by a complex"
        assert cache[3j] == "by a complex"
        cache["never"] = Never()
    with Cache(path) as cache, pytest.raises(bytewright.ArgumentError, match="pickle_key"):
        cache["never"]
    with Cache(path, pickle_key=b"another key of the same length") as cache, pytest.raises(CorruptError, match="nothing of it was read"):
        cache["never"]
    with pytest.raises(bytewright.ArgumentError, match="secrets.token_bytes"):
        Cache(pickle_key=b"short")


def test_a_damaged_file_is_an_error_or_cleared(tmp_path):
    path = tmp_path / "x.bwc"
    with Cache(path) as cache:
        for number in range(100):
            cache[number] = number
    os.truncate(path, path.stat().st_size - 3000)
    with pytest.raises(CorruptError):
        Cache(path)
    with pytest.warns(DamageWarning, match="x.bwc.*was cut"), Cache(path, on_damage="clear") as cache:
        assert len(cache) == 0
        cache["a"] = 1
    with Cache(path, on_damage="clear") as cache:
        assert cache["a"] == 1
    text = tmp_path / "text"
    text.write_text("no cache")
    with pytest.raises(FormatError):
        Cache(text, on_damage="clear")
    assert text.read_text() == "no cache"
    with bytewright.HashTable.open(tmp_path / "t.bwh") as table:
        table["a"] = "b"
    with pytest.raises(FormatError, match="values"):
        Cache(tmp_path / "t.bwh", on_damage="clear")
    with bytewright.HashTable.open(tmp_path / "t.bwh") as table:
        assert table["a"] == "b"


def test_it_is_an_open_file(tmp_path):
    path = tmp_path / "new" / "folders" / "x.bwc"
    cache = Cache(path)
    assert repr(cache) == f"<Cache '{path}' of 0 entries>" and pathlib.Path(cache.path) == path
    cache.close()
    assert cache.closed and "(closed)" in repr(cache)
    with pytest.raises(ClosedError):
        cache.get("a")


def test_processes_and_threads_share_a_file(tmp_path):
    path = tmp_path / "x.bwc"
    code = "import sys, bytewright\nc = bytewright.Cache(sys.argv[1], size_limit=1 << 20)\nfor n in range(800):\n c.incr('n'); c[n] = 'x' * 900"
    others = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(2)]
    with Cache(path, size_limit=1 << 20) as cache:
        def counts():
            for number in range(400):
                cache.incr("n")
                value = cache.get(number, "x" * 900)
                assert value == "x" * 900

        threads = [threading.Thread(target=counts) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [other.wait() for other in others] == [0, 0]
        assert cache["n"] == 2 * 800 + 2 * 400


def test_what_was_set_survives_the_death_of_processes_and_nothing_expired_is_read(tmp_path):
    path = tmp_path / "x.bwc"
    code = (
        "import sys, time, bytewright\nc = bytewright.Cache(sys.argv[1], size_limit=2 << 20)\nfor n in range(10**9):\n"
        " c.set(f'{sys.argv[2]} {n}', [n, 'x' * (n % 1500)]); c.set('brief', time.time(), expire=0.01); print(n, flush=True)"
    )
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    with Cache(path, size_limit=2 << 20) as cache:
        for round_number in range(int(os.environ.get("BYTEWRIGHT_KILLS", "12"))):
            children = [
                # With short pipes, none comes further ahead of the other than the cache has room for.
                subprocess.Popen([sys.executable, "-c", code, path, f"{round_number}-{n}"], stdout=subprocess.PIPE, text=True, pipesize=4096)
                for n in range(2)
            ]
            said = [0, 0]
            for _ in range(chance.randrange(50, 600)):
                for child in range(2):
                    said[child] = int(children[child].stdout.readline())
                begun = time.time()
                brief, expire_time = cache.get("brief", expire_time=True)
                # Times are whole milliseconds.
                assert brief is None or expire_time > begun - 0.002
            for child in children:
                child.send_signal(signal.SIGKILL)
            # Both are ahead of what was read; the last line may be a part of one.
            for child in range(2):
                lines = [line for line in children[child].communicate()[0].splitlines(keepends=True) if line.endswith("\n")]
                said[child] = int(lines[-1]) if lines else said[child]
            for child in range(2):
                # Earlier ones may be evicted.
                for number in range(max(0, said[child] - 10), said[child] + 1):
                    assert cache.get(f"{round_number}-{child} {number}") == [number, "x" * (number % 1500)]
        assert cache.check() == len(cache)


#: The table of diskcache 5.6, as far as it is read.
SCHEMA = (
    "CREATE TABLE Cache (rowid INTEGER PRIMARY KEY, key BLOB, raw INTEGER, store_time REAL, expire_time REAL, access_time REAL,"
    " access_count INTEGER DEFAULT 0, tag BLOB, size INTEGER DEFAULT 0, mode INTEGER DEFAULT 0, filename TEXT, value BLOB)"
)


def test_a_folder_of_diskcache_is_taken_over(tmp_path):
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "ab.val").write_bytes(b"\0long")
    (folder / "cd.txt").write_text("long \N{SNOWMAN}")
    (folder / "ef.val").write_bytes(pickle.dumps((1, 2)))
    soon = time.time() + 3600
    rows = [
        ("text", 1, None, "t", 1, None, "value"), (b"bytes", 1, soon, None, 1, None, b"value"), (5, 1, None, None, 1, None, 2.5),
        ("file", 1, None, None, 2, "ab.val", None), ("text file", 1, None, None, 3, "cd.txt", None), ("gone", 1, None, None, 2, "x.val", None),
        ("over", 1, time.time() - 1, None, 1, None, "value"), ("pickled", 1, None, None, 4, None, pickle.dumps({"a": [1]})),
        ("pickled file", 1, None, None, 4, "ef.val", None), (pickle.dumps(None), 0, None, None, 1, None, 1),
    ]  # fmt: skip
    database = sqlite3.connect(folder / "cache.db")
    with database:
        database.execute(SCHEMA)
        database.executemany("INSERT INTO Cache (key, raw, expire_time, tag, mode, filename, value) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    database.close()
    with Cache.from_diskcache(folder, tmp_path / "x.bwc") as cache:
        assert {key: cache[key] for key in cache} == {
            "text": "value", b"bytes": b"value", 5: 2.5, "file": b"\0long", "text file": "long \N{SNOWMAN}",
        }  # fmt: skip
        assert cache.get("text", tag=True) == ("value", "t")
        assert abs(cache.get(b"bytes", expire_time=True)[1] - soon) < 5
    with Cache.from_diskcache(folder, pickled=True, pickle_key=b"0123456789abcdef") as cache:
        assert len(cache) == 8 and cache["pickled"] == {"a": [1]} and cache["pickled file"] == (1, 2) and cache[None] == 1
    with pytest.raises(FormatError, match="cache.db"):
        Cache.from_diskcache(tmp_path)
    (tmp_path / "cache.db").write_text("none")
    with pytest.raises(FormatError, match="cache.db"):
        Cache.from_diskcache(tmp_path)


def test_a_cache_in_a_file_is_pickled_for_another_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Cache("x.bwc", count_limit=3, size_limit=2_000_000) as cache:
        cache["a"] = [1]
        pickled = pickle.dumps(cache)
        monkeypatch.chdir("/")
        with pickle.loads(pickled) as same:
            assert type(same) is Cache and same["a"] == [1] and same.size_limit == 2_000_000
            for number in range(10):
                same[number] = number
            assert len(cache) == 3
        code = "import pickle, sys\nwith pickle.load(sys.stdin.buffer) as cache: print(cache[9])"
        assert subprocess.run([sys.executable, "-c", code], input=pickled, capture_output=True, check=True).stdout == b"9\n"
    with pytest.raises(TypeError, match="in memory"), Cache() as cache:
        pickle.dumps(cache)
    with pytest.raises(TypeError, match="pickle_key would be"), Cache(tmp_path / "y.bwc", pickle_key=b"0123456789abcdef") as cache:
        pickle.dumps(cache)


def test_values_are_read_from_files_and_given_as_files(cache, tmp_path):
    path = tmp_path / "content"
    path.write_bytes(b"first\nsecond")
    with open(path, "rb") as file:
        file.readline()
        assert cache.set("rest", file, read=True) and not cache.add("rest", file, read=True) and cache.add("end", file, read=True)
    assert cache["rest"] == b"second" and cache["end"] == b""
    with cache.read("rest") as file:
        assert file.read(3) == b"sec" and file.read() == b"ond"
    cache.set("number", 5, tag="t")
    file, tag = cache.get("rest", read=True, tag=True)
    assert file.read() == b"second" and tag is None
    assert cache.get("number", read=True) == 5 and cache.get("none", 7, read=True) == 7
    with pytest.raises(KeyError):
        cache.read("none")
    with open(path) as text, pytest.raises(TypeError, match="reading bytes"):
        cache.set("rest", text, read=True)
    with pytest.raises(ZeroDivisionError):
        cache.set("rest", type("Failing", (), {"read": lambda self: 1 // 0})(), read=True)
    assert cache["rest"] == b"second"


def test_methods_take_the_arguments_of_diskcache(cache):
    soon = time.time() + 60
    cache.set("a", 1, 60, False, "t", True)
    cache.set("b", 2, retry=True)
    (key, value), expire_time, tag = cache.peekitem(False, True, True, True)
    assert (key, value, tag) == ("a", 1, "t") and abs(expire_time - soon) < 50
    assert cache.peekitem(tag=True) == (("b", 2), None) and cache.peekitem(expire_time=True) == (("b", 2), None)
    assert cache.get("a", None, False, False, True, True) == (1, "t") and cache.touch("b", 60, True) and cache.incr("b", 1, 0, True) == 3
    assert cache.decr("b", retry=True) == 2 and cache.pop("b", retry=True) == 2 and cache.delete("b", retry=True) is False
    assert cache.expire(soon - 30) == 0 and cache.expire(soon + 60, True) == 1
    with cache.transact(retry=True):
        cache["c"] = 1
    assert cache.evict("none", retry=True) == 0 and cache.cull(retry=True) == 0 and cache.clear(retry=True) == 1
    cache.stats(reset=True)
    cache.get("a")
    assert cache.stats(enable=False) == (0, 1)
    cache.get("a")
    assert cache.stats(True) == (0, 1)
    cache.get("a")
    assert cache.stats() == (0, 2)


def test_one_caller_makes_a_result_anew_before_it_expires(cache):
    calls, may_end = [], threading.Event()

    @cache.memoize_stampede(expire=60, beta=10**9, ignore={"log"}, tag="t")
    def slow(number, log=None):
        calls.append(number)
        if len(calls) == 2:
            may_end.wait()
        if len(calls) == 3:
            raise ZeroDivisionError
        time.sleep(0.01)
        return number * len(calls)

    def thread():
        return [one for one in threading.enumerate() if one.name == "bytewright-stampede"]

    assert slow(2, log=1) == 2 and calls == [2]
    # It is due at once, and made anew by one thread; all get what there is meanwhile.
    assert [slow(2, log=2) for _ in range(5)] == [2] * 5 and len(thread()) == 1
    may_end.set()
    thread()[0].join()
    result, took = cache[slow.__cache_key__(2)]
    assert result == 4 and took >= 0.01 and calls == [2, 2]
    assert cache.get(slow.__cache_key__(2), tag=True)[1] == "t" and len(cache) == 1
    # One that fails leaves what there is, and the next caller tries again.
    failed, threading.excepthook = threading.excepthook, lambda told: calls.append(told.exc_type)
    try:
        assert slow(2) == 4
        for one in thread():
            one.join()
    finally:
        threading.excepthook = failed
    assert calls == [2, 2, 2, ZeroDivisionError] and len(cache) == 1

    never = cache.memoize_stampede(60, beta=0)(lambda: calls.append("never"))
    assert [never() for _ in range(20)] == [None] * 20 and calls.count("never") == 1
    always = cache.memoize_stampede(None, "always", beta=10**9)(lambda: calls.append("always"))
    assert [always() for _ in range(20)] == [None] * 20 and calls.count("always") == 1
    with pytest.raises(TypeError, match=r"@cache\.memoize\(\)"):
        cache.memoize_stampede(60, never)


def test_a_cache_that_is_closed_while_a_result_is_made_anew_is_no_error():
    cache, may_end, calls = Cache(), threading.Event(), []

    def waits():
        calls.append(may_end.wait() if calls else 0)
        time.sleep(0.001)

    waits = cache.memoize_stampede(60, "waits", beta=10**9)(waits)
    waits()
    waits()
    (thread,) = (one for one in threading.enumerate() if one.name == "bytewright-stampede")
    cache.close()
    may_end.set()
    thread.join()


def test_a_task_makes_a_result_anew_before_it_expires(cache):
    calls = []

    @cache.memoize_stampede(expire=60, beta=10**9)
    async def slow(number):
        calls.append(number)
        await asyncio.sleep(0.05)
        return number * len(calls)

    async def main():
        first = await slow(2)
        return first, await asyncio.gather(*(slow(2) for _ in range(4)))

    first, later = asyncio.run(main())
    assert first == 2 and sorted(later) == [2, 2, 2, 4] and calls == [2, 2]


#: First byte of a file that is not of its header, and not of what processes share.
LOG_START = 69632


def spoil(path):
    """Changes bytes of all frames and records, and leaves the rest of the file as it is."""
    with open(path, "r+b") as file:
        content = bytearray(file.read())
        for at in range(LOG_START, len(content), 64):
            content[at] ^= 0xFF
        file.seek(0)
        file.write(content)


def cut(path):
    os.truncate(path, LOG_START + 5000)


#: Ways to meet damage, and what they give when the cache goes on empty.
MEETINGS = {
    "get": (lambda cache: [cache.get(number) for number in range(100)], [None] * 100),
    "in": (lambda cache: [number in cache for number in range(100)], [False] * 100),
    "set": (lambda cache: [cache.set(number, "new") for number in range(100)], [True] * 100),
    "delete": (lambda cache: [cache.delete(number) for number in range(100)], [False] * 100),
    "iteration": (list, []),
    "peekitem": (lambda cache: cache.set("last", 1) and cache.peekitem(last=False), ("last", 1)),
    "evict": (lambda cache: cache.evict("tag"), 0),
    "expire": (lambda cache: cache.expire(), 0),
    "memoize": (lambda cache: list(map(cache.memoize("f")(str), range(100))), [str(number) for number in range(100)]),
}


def filled(path, **options):
    cache = Cache(path, **options)
    for number in range(100):
        cache[number] = f"value {number}" * 20
        cache.set(f"f({number})", str(number))
    return cache


@pytest.mark.parametrize("hurt", [spoil, cut])
@pytest.mark.parametrize("meeting", MEETINGS)
def test_a_cache_whose_file_is_damaged_under_it_is_cleared_with_one_warning(tmp_path, hurt, meeting):
    path = tmp_path / "x.bwc"
    act, expected = MEETINGS[meeting]
    with filled(path, on_damage="clear") as cache, Cache(path) as other:
        hurt(path)
        with pytest.warns(DamageWarning, match=r"a damaged cache was cleared: .*x\.bwc") as warned:
            if meeting == "peekitem":
                cache.evict("tag")
            found = act(cache)
        assert len(warned) == 1 and warned[0].filename == __file__, [str(one.message) for one in warned]
        assert found == expected
        # All go on with one file.
        cache["a"] = 1
        assert other["a"] == 1 and 5 not in other or meeting == "set"
        other["b"] = 2
        assert cache["b"] == 2 and len(cache) == len(other) and os.listdir(tmp_path) == ["x.bwc"]
    with Cache(path) as cache:
        assert cache["a"] == 1 and cache["b"] == 2


@pytest.mark.parametrize("hurt", [spoil, cut])
@pytest.mark.parametrize("meeting", MEETINGS)
def test_damage_that_is_not_to_be_cleared_is_an_error_that_says_what_to_do(tmp_path, hurt, meeting):
    path = tmp_path / "x.bwc"
    cache = filled(path)
    hurt(path)
    with pytest.raises(CorruptError, match='delete the file, or open it with on_damage "clear"') as raised:
        MEETINGS[meeting][0](cache)
        # Some of it was not damaged.
        list(cache)
    assert raised.value.file == str(path)
    with pytest.warns(DamageWarning), Cache(path, on_damage="clear") as other:
        other.expire()
        other["a"] = 1
        assert cache["a"] == 1 and len(cache) == 1
    cache.close()


@pytest.mark.parametrize("hurt", [spoil, cut])
def test_damage_in_a_transaction_is_an_error_and_is_cleared_behind_it(tmp_path, hurt):
    path = tmp_path / "x.bwc"
    cache = filled(path, on_damage="clear")
    with pytest.raises(CorruptError, match="cannot be cleared: .*no open transaction"), cache.transact():
        cache["a"] = 1
        hurt(path)
        for number in range(100):
            cache.get(number)
        list(cache)
    with pytest.warns(DamageWarning) as warned:
        assert "a" not in cache and list(cache) == [] and cache.expire() == 0
    assert len(warned) == 1
    with cache.transact():
        cache["a"] = 1
    assert cache["a"] == 1 and len(cache) == 1
    hurt(path)
    with pytest.warns(DamageWarning):
        if hurt is spoil:
            list(cache)
        with cache.transact():
            cache["b"] = 1
    assert len(cache) == 1

    async def main():
        async with cache.transact():
            cache["c"] = 1

    os.truncate(path, LOG_START + 100)
    with pytest.warns(DamageWarning) as warned:
        asyncio.run(main())
    assert list(cache) == ["c"] and len(warned) == 1
    os.truncate(path, LOG_START + 100)
    with pytest.warns(DamageWarning) as warned:
        cache.sync()
    assert list(cache) == [] and len(warned) == 1
    os.truncate(path, LOG_START + 100)
    # Who opens it next clears it.
    cache.close()
    assert cache.closed


def test_a_cache_that_is_only_read_is_not_cleared(tmp_path):
    path = tmp_path / "x.bwc"
    with filled(path, on_damage="clear"), Cache(path, read_only=True, on_damage="clear") as reader:
        assert reader[5] == "value 5" * 20
        spoil(path)
        for act in (list, lambda cache: [cache.get(number) for number in range(100)]):
            with pytest.raises(CorruptError, match="cannot be cleared: .*read_only"):
                act(reader)
    closed = tmp_path / "y.bwc"
    filled(closed).close()
    cut(closed)
    with pytest.raises(CorruptError, match="on_damage"):
        Cache(closed, read_only=True, on_damage="clear")


def test_threads_that_meet_damage_together_are_warned_once_and_lose_nothing_new(tmp_path):
    path = tmp_path / "x.bwc"
    for _ in range(10):
        with filled(path, on_damage="clear") as cache:
            spoil(path)
            begin, errors = threading.Barrier(6), []

            def uses(name):
                try:
                    begin.wait()
                    for number in range(100):
                        cache.get(number)
                        list(cache)
                        cache[name, number] = number
                    assert [cache[name, number] for number in range(100)] == list(range(100))
                except BaseException as error:
                    errors.append(error)

            threads = [threading.Thread(target=uses, args=(name,)) for name in range(6)]
            with pytest.warns(DamageWarning) as warned:
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            # One may have set something, and lose it, before another one meets the damage.
            assert len(warned) == 1 and all(isinstance(error, KeyError) for error in errors), errors


def test_processes_that_meet_damage_go_on_with_one_file(tmp_path):
    path = tmp_path / "x.bwc"
    code = (
        "import sys, warnings, bytewright\nwarnings.simplefilter('ignore')\n"
        "c = bytewright.Cache(sys.argv[1], on_damage='clear')\nprint(c.get(5)[:7], flush=True)\nsys.stdin.readline()\n"
        "list(c)\nc[sys.argv[2]] = 1\nprint('set', flush=True)\nsys.stdin.readline()\nprint(sorted(k for k in c if isinstance(k, str)), flush=True)"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    for _ in range(4):
        with filled(path, on_damage="clear") as cache:
            others = [subprocess.Popen([sys.executable, "-c", code, path, name], **pipes) for name in "abc"]

            def told(word):
                for other in others:
                    assert other.stdout.readline().strip() == word

            def go_on():
                for other in others:
                    print(file=other.stdin, flush=True)

            told("value 5")
            spoil(path)
            go_on()
            told("set")
            go_on()
            told("['a', 'b', 'c']")
            assert [other.wait() for other in others] == [0, 0, 0]
            for other in others:
                other.stdin.close()
                other.stdout.close()
            assert sorted(key for key in cache) == ["a", "b", "c"]
            cache.clear()


def test_a_damaged_header_is_cleared_when_nobody_has_the_file(tmp_path):
    path = tmp_path / "x.bwc"
    filled(path).close()
    content = path.read_bytes()
    for changed in (content[:20] + b"\xff" * 108 + content[128:], content[:1000]):
        path.write_bytes(changed)
        with pytest.raises(bytewright.Error, match='on_damage "clear"'):
            Cache(path)
        with pytest.warns(DamageWarning) as warned, Cache(path, on_damage="clear") as cache:
            cache["a"] = 1
        assert len(warned) == 1 and warned[0].filename == __file__
        with Cache(path, on_damage="clear") as cache:
            assert list(cache) == ["a"]


def test_damage_that_a_forked_child_meets_is_cleared_for_its_parent(tmp_path):
    path = tmp_path / "x.bwc"
    with filled(path, on_damage="clear") as cache:
        spoil(path)
        code = 1
        child = os.fork()
        if child == 0:
            try:
                with pytest.warns(DamageWarning):
                    assert list(cache) == []
                cache["child"] = 1
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert list(cache) == ["child"]
