from collections.abc import Iterable
from typing import Any

def pushed(filters: Iterable[Any]) -> str | None: ...
