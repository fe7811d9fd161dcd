"""Goal: handles, threads, tasks and processes write one table file by turns, and who waits for its turn can be called off.

Method: two handles of one file, of which one has a transaction open; alarms; forked children, and `multiprocessing` with both ways to
start; each counts up what it has read.
"""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import threading
import time

import pytest

from bytewright import ArgumentError, HashTable, LockError, TreeTable

KINDS = [HashTable, TreeTable]
CHANGES = {
    "put": lambda table: table.__setitem__("a", "2"),
    "delete": lambda table: table.delete("a"),
    "pop": lambda table: table.pop("a"),
    "popitem": lambda table: table.popitem(),
    "setdefault": lambda table: table.setdefault("c", "1"),
    "create": lambda table: table.create("c", "1"),
    "append": lambda table: table.append("a", "2"),
    "increment": lambda table: table.increment("n"),
    "update": lambda table: table.update({"a": "2"}),
    "clear": lambda table: table.clear(),
    "compact": lambda table: table.compact(),
}


def begin(table):
    with table.transaction():
        table["a"] = "2"


CHANGES["transaction"] = begin


class Alarm(Exception):
    pass


@contextlib.contextmanager
def alarm_after(seconds):
    def on_alarm(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def path(kind, tmp_path):
    return tmp_path / ("table.bwt" if kind is TreeTable else "table.bwh")


def test_handles_see_each_others_changes_at_once(kind, path):
    with kind.open(path) as one, kind.open(path) as other:
        one["a"] = "1"
        assert other.pop("a") == "1" and "a" not in one
        with other.transaction():
            other["b"] = "2"
        assert dict(one) == dict(other) == {"b": "2"}
        assert (one.increment("n"), other.increment("n", 2)) == (1, 3)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_cannot_be_made_in_time_changes_nothing_and_says_who_writes(kind, path, name):
    with kind.open(path) as one, kind.open(path, timeout=0.02) as other:
        one["a"] = "1"
        with one.transaction():
            one["a"] = "held"
            with pytest.raises(LockError, match="another object of this process has it.*timeout") as raised:
                CHANGES[name](other)
            assert os.fspath(path) in str(raised.value)
            assert dict(other) == {"a": "1"}
        one["a"] = "1"
        CHANGES[name](other)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_waits_can_be_called_off(kind, path, name):
    with kind.open(path) as one, kind.open(path, timeout=60) as other:
        one["a"] = "1"
        with one.transaction():
            one["a"] = "held"
            with pytest.raises(Alarm), alarm_after(0.1):
                CHANGES[name](other)
            one["b"] = "2"
        assert dict(other) == {"a": "held", "b": "2"}
        other["a"] = "1"
        CHANGES[name](other)


def test_a_change_waits_while_other_threads_run(kind, path):
    with kind.open(path) as one, kind.open(path, timeout=60) as other:
        transaction = one.transaction()
        transaction.__enter__()
        one["a"] = "1"
        waiting = threading.Thread(target=other.update, args=({"a": "2"},))
        waiting.start()
        waiting.join(0.1)
        assert waiting.is_alive() and "a" not in other
        transaction.__exit__(None, None, None)
        waiting.join(60)
        assert one["a"] == "2"


def test_tasks_with_a_handle_each_write_by_turns(kind, path):
    async def add(table):
        for _ in range(20):
            with table.transaction():
                table["n"] = str(int(table.get("n", 0)) + 1)
            await asyncio.sleep(0)

    async def add_with_each(tables):
        await asyncio.gather(*map(add, tables))

    with kind.open(path) as one, kind.open(path) as other:
        asyncio.run(add_with_each([one, other]))
        assert one["n"] == "40"


def test_async_with_waits_for_another_handle_while_its_loop_runs_on(kind, path):
    async def add(table):
        async with table.transaction():
            table["a"] = table["a"] + "2"

    async def run(one, other):
        transaction = one.transaction()
        with transaction:
            one["a"] = "1"
            waiting = asyncio.create_task(add(other))
            for _ in range(20):
                await asyncio.sleep(0.001)
            assert not waiting.done()
        await waiting

    async def cancel(one, other):
        with one.transaction():
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(add(other), 0.05)
        await add(other)

    async def refuse(one, other):
        with one.transaction(), pytest.raises(LockError, match="another object of this process"):
            await add(other)

    with kind.open(path) as one, kind.open(path, timeout=60) as other, kind.open(path, timeout=0.02) as hasty:
        asyncio.run(run(one, other))
        asyncio.run(cancel(one, other))
        asyncio.run(refuse(one, hasty))
        assert one["a"] == "122"


def test_a_table_that_is_opened_exclusively_is_written_by_nobody_else(kind, path):
    with kind.open(path, exclusive=True) as one:
        with pytest.raises(LockError):
            kind.open(path, timeout=0.02)
        one["a"] = "1"
        with kind.open(path, read_only=True) as reader:
            assert reader["a"] == "1"
        with pytest.raises(ArgumentError, match="exclusive or read_only"):
            kind.open(path, read_only=True, exclusive=True)
    with kind.open(path) as other, pytest.raises(LockError):
        other["a"] = "2"
        kind.open(path, exclusive=True, timeout=0)


def count_up(kind, path, times):
    with kind.open(path) as table:
        for _ in range(times):
            table.increment("single")
            with table.transaction():
                table["read"] = str(int(table.get("read", 0)) + 1)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_processes_lose_no_change_of_each_other(kind, path, method):
    context = multiprocessing.get_context(method)
    children = [context.Process(target=count_up, args=(kind, path, 100)) for _ in range(3)]
    for child in children:
        child.start()
    count_up(kind, path, 100)
    for child in children:
        child.join(120)
        assert child.exitcode == 0
    with kind.open(path, read_only=True) as table:
        assert (table["single"], table["read"]) == ("400", "400")


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_and_its_parent_write_by_turns_through_one_handle(kind, path):
    with kind.open(path) as table:
        table["n"] = "0"
        told, tells = os.pipe()
        with table.transaction():
            table["n"] = "100"
            child = os.fork()
            if child == 0:
                try:
                    if table["n"] == "0":
                        os.write(tells, b"0")
                        for _ in range(50):
                            table.increment("n")
                        os._exit(0)
                finally:
                    os._exit(1)
            os.close(tells)
            assert os.read(told, 1) == b"0"
            os.close(told)
            # The child most probably waits by now.
            time.sleep(0.05)
        for _ in range(50):
            table.increment("n")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert table["n"] == "200"
