"""`async with table.transaction()`: waits for the transactions of other tasks and threads while its loop runs on."""

import asyncio
import sys
import time
from functools import partial

#: Seconds between two looks whether another process has ended its transaction.
_PAUSE = 0.005


async def enter(transaction):
    """Begins it when nobody else has a transaction of the table open."""
    new_waiter = _waiters()
    if new_waiter is None:
        # Of another library, whose loop must not be blocked either: LockError where there is something to wait for.
        return transaction.__enter__()
    begun = time.monotonic()
    while True:
        waiter = new_waiter(transaction)
        table = transaction._enter_or_queue(waiter.wake, time.monotonic() - begun)
        if table is not None and table is not False:
            return table
        try:
            if table is None:
                await waiter.wait()
                # The time with another process begins when this one has the table.
                begun = time.monotonic()
            else:
                await waiter.pause(_PAUSE)
        except BaseException:
            waiter.is_gone = True
            if waiter.is_woken:
                transaction._wake_next()
            else:
                # If it is not in the queue any more, `woken` is yet to come, and finds this.
                transaction._leave_queue(waiter.wake)
            raise


def _waiters():
    """Makes waiters for the task that runs now: one of asyncio counts before one of trio, which may run the loop."""
    loop = asyncio._get_running_loop()
    trio = sys.modules.get("trio")
    if trio is not None and (loop is None or asyncio.current_task(loop) is None):
        try:
            return partial(_TrioWaiter, trio, trio.lowlevel.current_trio_token())
        except RuntimeError:
            # It runs nothing in this thread.
            pass
    return loop and partial(_AsyncioWaiter, loop)


class _Waiter:
    """A task that waits in the queue of a table."""

    def __init__(self, transaction, run_soon):
        self.transaction = transaction
        self.is_woken = self.is_gone = False
        # Called from any thread, and compared by the queue.
        self.wake = partial(run_soon, self.woken)

    def woken(self):
        """Lets the task go on, or another one in place of one that has gone."""
        if self.is_gone:
            self.transaction._wake_next()
        else:
            self.is_woken = True
            self.go_on()


class _AsyncioWaiter(_Waiter):
    def __init__(self, loop, transaction):
        super().__init__(transaction, loop.call_soon_threadsafe)
        self.future = loop.create_future()

    def go_on(self):
        # It is done where the task was cancelled, and has not run since.
        if self.future.done():
            self.is_woken = False
            self.is_gone = True
            self.transaction._wake_next()
        else:
            self.future.set_result(None)

    async def wait(self):
        await self.future

    async def pause(self, seconds):
        await asyncio.sleep(seconds)


class _TrioWaiter(_Waiter):
    def __init__(self, trio, token, transaction):
        super().__init__(transaction, token.run_sync_soon)
        self.event = trio.Event()
        self.go_on, self.wait, self.pause = self.event.set, self.event.wait, trio.sleep


async def leave(transaction, class_, error, traceback):
    """Ends it."""
    return transaction.__exit__(class_, error, traceback)
