from types import TracebackType
from typing import Any

from ._bytewright import Transaction

async def enter(transaction: Transaction) -> Any: ...
async def leave(transaction: Transaction, class_: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> bool: ...
