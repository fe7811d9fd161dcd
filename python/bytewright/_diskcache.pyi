from collections.abc import Iterator
from typing import Any

def entries(folder: str, pickled: bool) -> Iterator[tuple[Any, Any, float | None, Any]]: ...
