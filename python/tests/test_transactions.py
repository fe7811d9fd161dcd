"""Goal: transactions that overlap lose nothing in silence, whoever runs them: tasks, generators, threads.

Method: each way to overlap by name, in tables of both kinds in memory and in files; what must be refused, what waits, and
what the table holds afterwards.
"""

import asyncio
import gc
import os
import threading
from contextlib import ExitStack

import pytest

from bytewright import ArgumentError, HashTable, LockError, TreeTable

#: No test waits so long but where it fails.
SECONDS_MAX = 60


@pytest.fixture(params=[HashTable, TreeTable])
def kind(request):
    return request.param


@pytest.fixture(params=["memory", "interval", "commit"])
def table(request, kind, tmp_path):
    with kind() if request.param == "memory" else kind.open(tmp_path / "table", sync=request.param) as table:
        yield table


def run(*tasks):
    """Runs coroutines as tasks, and answers what each returned or raised."""

    async def all_of_them():
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), SECONDS_MAX)

    return asyncio.run(all_of_them())


def in_thread(work):
    """Runs `work` in another thread; returns what it returns or raises."""
    answers = []

    def run():
        try:
            answers.append(work())
        except Exception as error:  # noqa: BLE001
            answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(SECONDS_MAX)
    assert not thread.is_alive()
    return answers[0]


def check_usable(table):
    """Nobody has a transaction open, and a change reaches every thread."""
    assert not table.in_transaction
    assert in_thread(lambda: table.__setitem__("last", "x")) is None
    assert table.pop("last") == "x"


def test_of_two_tasks_one_keeps_its_transaction_and_the_other_is_refused(table):
    async def one(name):
        with table.transaction():
            await asyncio.sleep(0)
            table[name] = "1"
            await asyncio.sleep(0)

    first, second = run(one("a"), one("b"))
    assert first is None and type(second) is LockError and "another" not in table
    assert "no other task of this thread" in str(second) and "async with" in str(second)
    assert dict(table) == {"a": "1"}
    check_usable(table)


def test_another_task_reads_what_a_transaction_changed_and_changes_nothing(table):
    table.update({"a": "0", "z": "0"})
    changes = [
        lambda: table.__setitem__("b", "1"),
        lambda: table.__delitem__("z"),
        lambda: table.delete("z"),
        lambda: table.pop("z"),
        lambda: table.popitem(),
        lambda: table.create("b", "1"),
        lambda: table.setdefault("b", "1"),
        lambda: table.append("z", "1"),
        lambda: table.increment("n"),
        lambda: table.update(b="1"),
        lambda: table.update((str(number), "x" * 1000) for number in range(3000)),
        lambda: table.clear(),
        lambda: table.sync(),
        lambda: table.compact(),
        lambda: table.close(),
    ]
    begun, looked = asyncio.Event(), asyncio.Event()

    async def owner():
        with table.transaction():
            table["a"] = "1"
            begun.set()
            await looked.wait()
            assert table.in_transaction
            table["c"] = "1"
            raise ZeroDivisionError

    async def other():
        await begun.wait()
        assert table["a"] == table.get("a") == "1" and len(table) == 2 and "a" in table and not table.in_transaction
        assert table.get_many(["a", "b"]) == ["1", None] and dict(table) == {"a": "1", "z": "0"} and table == {"a": "1", "z": "0"}
        assert dict(table.snapshot()) == {"a": "1", "z": "0"} and table.stat()["records"] == 2
        for change in changes:
            with pytest.raises(LockError):
                change()
        looked.set()

    failed, looked_at = run(owner(), other())
    assert type(failed) is ZeroDivisionError and looked_at is None
    assert dict(table) == {"a": "0", "z": "0"}
    check_usable(table)


def test_async_with_waits_for_other_tasks_in_their_order(table):
    order = []

    async def count(name):
        async with table.transaction() as same:
            assert same is table
            number = int(table.get("n", "0"))
            await asyncio.sleep(0)
            table["n"] = str(number + 1)
            async with table.transaction():
                await asyncio.sleep(0)
                table[f"of {name}"] = "x"
            order.append(name)

    assert run(*(count(name) for name in range(20))) == [None] * 20
    assert table["n"] == "20" and len(table) == 21 and order == list(range(20))
    check_usable(table)


def test_async_with_waits_for_threads_while_the_loop_runs_on(table):
    begun, ends = threading.Event(), threading.Event()

    def of_thread():
        with table.transaction():
            table["a"] = "thread"
            begun.set()
            assert ends.wait(SECONDS_MAX)

    async def waits():
        async with table.transaction():
            return table["a"]

    async def goes_on():
        for _ in range(10):
            await asyncio.sleep(0)
        ends.set()

    thread = threading.Thread(target=of_thread)
    thread.start()
    begun.wait(SECONDS_MAX)
    assert run(waits(), goes_on()) == ["thread", None]
    thread.join()
    check_usable(table)


def test_loops_of_several_threads_share_a_table(table):
    async def count():
        for _ in range(20):
            async with table.transaction():
                number = int(table.get("n", "0"))
                await asyncio.sleep(0)
                table["n"] = str(number + 1)

    answers = []
    threads = [threading.Thread(target=lambda: answers.extend(run(count(), count()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS_MAX)
    assert answers == [None] * 6 and table["n"] == "120"
    check_usable(table)


@pytest.mark.parametrize("moment", ["waits", "is woken"])
def test_a_task_that_is_cancelled_while_it_waits_lets_the_next_one_in(table, moment):
    ends = asyncio.Event()

    async def owner():
        async with table.transaction():
            await ends.wait()
            table["owner"] = "x"

    async def next_one(name):
        async with table.transaction():
            table[name] = "x"

    async def main():
        first = asyncio.create_task(owner())
        await asyncio.sleep(0)
        others = [asyncio.create_task(next_one(name)) for name in ("a", "b", "c")]
        await asyncio.sleep(0)
        if moment == "waits":
            others[0].cancel()
        ends.set()
        while not first.done():
            await asyncio.sleep(0)
        if moment == "is woken":
            others[0].cancel()
        done = asyncio.gather(first, *others, return_exceptions=True)
        return await asyncio.wait_for(done, SECONDS_MAX)

    answers = asyncio.run(main())
    assert [type(answer) for answer in answers] == [type(None), asyncio.CancelledError, type(None), type(None)]
    assert sorted(table) == ["b", "c", "owner"]
    check_usable(table)


def test_a_transaction_around_a_loop_has_the_changes_of_its_tasks_and_refuses_transactions_of_them(table):
    async def task():
        table["a"] = "1"
        with pytest.raises(LockError):
            with table.transaction():
                pass
        async with table.transaction():
            pass

    with table.transaction():
        assert type(run(task())[0]) is LockError
    assert dict(table) == {"a": "1"}
    with pytest.raises(ZeroDivisionError), table.transaction():
        run(task())
        table["b"] = "2"
        raise ZeroDivisionError
    assert dict(table) == {"a": "1"}
    check_usable(table)


def test_a_loop_that_ends_with_a_task_in_a_transaction_takes_it_back(table):
    async def task():
        with table.transaction():
            table["a"] = "1"
            await asyncio.Event().wait()

    async def main():
        task_of_nobody = asyncio.create_task(task())
        await asyncio.sleep(0)
        assert table["a"] == "1" and not task_of_nobody.done()

    asyncio.run(main())
    assert dict(table) == {}
    check_usable(table)


def in_transaction(table, key):
    with table.transaction():
        table[key] = "x"
        yield key


def test_a_generator_does_not_end_its_transaction_while_one_is_inside(table):
    generator = in_transaction(table, "outer")
    next(generator)
    with pytest.raises(ArgumentError, match="found one that ended with the one around it"), table.transaction():
        table["inner"] = "x"
        # It cannot go on: with its frame goes its transaction, and what is inside of that.
        with pytest.raises(ArgumentError, match="found one that has others inside"):
            next(generator)
        assert dict(table) == {}
    assert dict(table) == {}
    check_usable(table)


def test_a_block_does_not_end_while_a_generator_in_it_has_a_transaction_open(table):
    with table.transaction():
        table["outer"] = "x"
        with pytest.raises(ArgumentError, match="found one that has others inside"), table.transaction():
            table["middle"] = "x"
            generator = in_transaction(table, "inner")
            next(generator)
        # The outer one is as it was.
        assert dict(table) == {"outer": "x"} and table.in_transaction
        with pytest.raises(ArgumentError, match="found one that ended with the one around it"):
            next(generator)
    assert dict(table) == {"outer": "x"}
    check_usable(table)


def test_an_end_that_was_refused_can_be_made_later(table):
    outer, inner = table.transaction(), table.transaction()
    outer.__enter__()
    table["outer"] = "x"
    inner.__enter__()
    table["inner"] = "x"
    with pytest.raises(ArgumentError, match="found one that has others inside"):
        outer.__exit__(None, None, None)
    assert len(table) == 2
    inner.__exit__(None, None, None)
    outer.__exit__(None, None, None)
    assert sorted(table) == ["inner", "outer"]
    check_usable(table)


def test_an_error_takes_back_what_is_inside_and_is_the_error_that_is_raised(table):
    generator = in_transaction(table, "inner")
    with pytest.raises(ZeroDivisionError), table.transaction():
        next(generator)
        raise ZeroDivisionError
    assert dict(table) == {}
    generator.close()
    check_usable(table)


def test_a_generator_that_is_dropped_takes_its_transaction_back(table):
    generator = in_transaction(table, "a")
    next(generator)
    del generator
    gc.collect()
    assert dict(table) == {}
    check_usable(table)


def test_a_transaction_whose_object_is_dropped_is_taken_back(table):
    transaction = table.transaction()
    transaction.__enter__()
    table["a"] = "1"
    del transaction
    assert dict(table) == {}
    with ExitStack() as stack:
        stack.enter_context(table.transaction())
        table["b"] = "2"
        inner = table.transaction()
        inner.__enter__()
        table["c"] = "3"
        del inner
    assert dict(table) == {"b": "2"}
    check_usable(table)


def test_a_dropped_transaction_lets_go_of_its_table_in_another_thread(table):
    def begin():
        transaction = table.transaction()
        transaction.__enter__()
        table["a"] = "1"
        return transaction

    transaction = in_thread(begin)
    with pytest.raises(LockError, match="expected the thread or task that began the transaction to end it"):
        transaction.__exit__(None, None, None)
    del transaction
    assert dict(table) == {}
    check_usable(table)


def test_a_task_does_not_end_the_transaction_of_another_one(table):
    transaction = table.transaction()

    async def begins():
        transaction.__enter__()
        table["a"] = "1"
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        transaction.__exit__(None, None, None)

    async def ends():
        transaction.__exit__(None, None, None)

    begun, ended = run(begins(), ends())
    assert begun is None and type(ended) is LockError
    assert dict(table) == {"a": "1"}
    check_usable(table)


def test_an_update_whose_pairs_leave_a_transaction_open_is_taken_back(table):
    generator = in_transaction(table, "inner")

    def pairs():
        for number in range(3000):
            yield str(number), "x" * 1000
        next(generator)

    with table.transaction():
        table["a"] = "1"
        with pytest.raises(ArgumentError, match="found one that has others inside"):
            table.update(pairs())
        assert dict(table) == {"a": "1"}
    assert dict(table) == {"a": "1"}
    check_usable(table)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_no_transaction_of_a_task_of_another_thread(kind):
    table = kind({"a": "1"})
    begun, ends = threading.Event(), threading.Event()

    async def of_task():
        async with table.transaction():
            table["a"] = "2"
            begun.set()
            while not ends.is_set():
                await asyncio.sleep(0)

    thread = threading.Thread(target=lambda: run(of_task()))
    thread.start()
    begun.wait(SECONDS_MAX)
    child = os.fork()
    if child == 0:

        async def in_child():
            async with table.transaction():
                table["b"] = "3"

        os._exit(0 if run(in_child()) == [None] and dict(table) == {"a": "1", "b": "3"} else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    ends.set()
    thread.join()
    assert dict(table) == {"a": "2"}


def test_greenlets_are_tasks(table):
    greenlet = pytest.importorskip("greenlet")
    main = greenlet.getcurrent()

    def one(key):
        with table.transaction():
            table[key] = "1"
            main.switch()

    first = greenlet.greenlet(one)
    first.switch("a")
    with pytest.raises(LockError):
        greenlet.greenlet(one).switch("b")
    with pytest.raises(LockError):
        table["c"] = "1"
    assert table["a"] == "1"
    first.switch()
    assert dict(table) == {"a": "1"}
    check_usable(table)


def test_tasks_of_trio_are_tasks_and_wait_for_each_other(table):
    trio = pytest.importorskip("trio")
    inside = []

    async def one(key):
        async with table.transaction():
            inside.append(key)
            assert len(inside) == 1
            table[key] = "1"
            await trio.sleep(0)
            await trio.sleep(0)
            inside.remove(key)

    async def main():
        async with trio.open_nursery() as nursery:
            for key in "abcdefgh":
                nursery.start_soon(one, key)
            async with table.transaction():
                # A task is told from another that has the same thread.
                for other in [key for key in table if key in "abcdefgh"]:
                    assert table[other] == "1"

    trio.run(main)
    assert set("abcdefgh") <= set(table)
    check_usable(table)


def test_a_task_of_trio_that_is_cancelled_while_it_waits_lets_the_next_one_begin(table):
    trio = pytest.importorskip("trio")

    async def waits(scope, began):
        with scope:
            began.set()
            async with table.transaction():
                table["cancelled"] = "1"

    async def follows(done):
        async with table.transaction():
            table["next"] = "1"
        done.set()

    async def main(cancelled_first):
        scope, began, done = trio.CancelScope(), trio.Event(), trio.Event()
        async with trio.open_nursery() as nursery:
            async with table.transaction():
                nursery.start_soon(waits, scope, began)
                await began.wait()
                await trio.sleep(0)
                nursery.start_soon(follows, done)
                await trio.sleep(0)
                if cancelled_first:
                    scope.cancel()
                    await trio.sleep(0)
            # Woken, or about to be.
            scope.cancel()
            with trio.fail_after(SECONDS_MAX):
                await done.wait()

    for cancelled_first in (True, False):
        trio.run(main, cancelled_first)
        assert table.pop("next") == "1" and "cancelled" not in table
        check_usable(table)


def test_a_task_of_trio_waits_for_a_thread(table):
    trio = pytest.importorskip("trio")
    begun, ends = threading.Event(), threading.Event()

    def of_thread():
        with table.transaction():
            begun.set()
            ends.wait(SECONDS_MAX)
            table["thread"] = "1"

    async def main():
        began_to_wait = trio.Event()

        async def end():
            await began_to_wait.wait()
            await trio.sleep(0)
            ends.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(end)
            began_to_wait.set()
            async with table.transaction():
                assert table["thread"] == "1"

    thread = threading.Thread(target=of_thread)
    thread.start()
    begun.wait(SECONDS_MAX)
    trio.run(main)
    thread.join()
    check_usable(table)
