from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyspark.sql.datasource import InputPartition  # type: ignore[import-not-found,unused-ignore]

from ._capture import Capture, Task
from ._listing import Found
from ._options import Options

def planned(options: Options, found: Iterable[Found]) -> list[Task]: ...
def packed(options: Options, captures: Iterable[Capture], most: int | None = None) -> list[Task]: ...
def rows(
    options: Options,
    partition: InputPartition,
    target: Any,
    where: str | None = None,
    check: Callable[[Capture], None] | None = None,
) -> Iterator[Any]: ...
