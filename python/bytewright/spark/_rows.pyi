from collections.abc import Iterator
from typing import Any

from ._capture import Capture
from ._options import Options

ROWS: int
DAMAGES: Any
CAPTURE_KEY: bytes

def schema(options: Options) -> Any: ...
def batches(
    options: Options, capture: Capture, target: Any, where: str | None = None, jobs: int = 1
) -> Iterator[Any]: ...
