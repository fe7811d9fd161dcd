from collections.abc import Iterable
from typing import NamedTuple

from pyspark.sql.datasource import InputPartition  # type: ignore[import-not-found,unused-ignore]

class Capture(NamedTuple):
    place: int
    path: str
    size: int = 0
    part: tuple[int, int | None, int] | None = None
    numbers: str | None = None

class Task(InputPartition):  # type: ignore[misc,unused-ignore]
    captures: list[Capture]
    jobs: int
    def __init__(self, captures: Iterable[Capture] = (), jobs: int = 1) -> None: ...

def captures_of(partition: InputPartition) -> list[Capture]: ...
