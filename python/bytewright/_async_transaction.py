"""`async with table.transaction()`: waits for the transactions of other tasks and threads while its loop runs on."""

import asyncio
from functools import partial


async def enter(transaction):
    """Begins it when nobody else has a transaction of the table open."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        # Of another library, whose loop must not be blocked either: LockError where there is something to wait for.
        return transaction.__enter__()
    while True:
        woken = loop.create_future()
        wake = partial(loop.call_soon_threadsafe, _wake, woken, transaction)
        table = transaction._enter_or_queue(wake)
        if table is not None:
            return table
        try:
            await woken
        except BaseException:
            if woken.done() and not woken.cancelled():
                transaction._wake_next()
            else:
                # If it is not in the queue any more, `_wake` is yet to come, and finds this.
                woken.cancel()
                transaction._leave_queue(wake)
            raise


def _wake(woken, transaction):
    if woken.done():
        transaction._wake_next()
    else:
        woken.set_result(None)


async def leave(transaction, class_, error, traceback):
    """Ends it."""
    return transaction.__exit__(class_, error, traceback)
