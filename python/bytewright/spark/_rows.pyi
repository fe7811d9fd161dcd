from collections.abc import Iterator
from typing import Any

from ._options import Options

DAMAGES: Any
CAPTURE_KEY: bytes

def schema(options: Options) -> Any: ...
def batches(
    options: Options, place: int, path: str, target: Any, part: Any = None, where: str | None = None
) -> Iterator[Any]: ...
