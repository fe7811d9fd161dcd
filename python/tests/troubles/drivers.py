"""Drivers of troubles. Each takes an operation and its answer, and asserts that the operation survives."""

import errno
import os
import random
import resource
import signal
import threading
import time

import pyarrow
import pytest

import bytewright
from troubles.operation import SECONDS_MAX


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
