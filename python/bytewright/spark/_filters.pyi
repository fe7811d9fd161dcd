from collections.abc import Iterable
from typing import Any

def condition(filters: Iterable[Any]) -> str | None: ...
