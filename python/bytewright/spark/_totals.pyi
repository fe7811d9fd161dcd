from collections.abc import Callable, Iterable
from os import PathLike

from pyspark.sql import DataFrame, SparkSession  # type: ignore[import-not-found,unused-ignore]

class _Flows(DataFrame):  # type: ignore[misc,unused-ignore]
    entries: DataFrame
    captures: DataFrame

def flows(
    spark: SparkSession,
    paths: str | Iterable[str | PathLike[str]],
    *,
    mode: str | None = None,
    filter: str | None = None,
    flow: str | None = None,
    inner: bool | None = None,
    jobs: int | None = None,
    idle_timeout: float | None = None,
    active_timeout: float | None = None,
    max_flows: int | None = None,
    split_bytes: int | str | None = None,
    index_dir: str | None = None,
    min_age: float | None = None,
    pathGlobFilter: str | None = None,
    recursiveFileLookup: bool | None = None,
    modifiedAfter: str | None = None,
    modifiedBefore: str | None = None,
    timeZone: str | None = None,
    ignoreCorruptFiles: bool | None = None,
    ignoreMissingFiles: bool | None = None,
) -> _Flows: ...
def merged(entries: DataFrame, tasks: int | None = None) -> _Flows: ...
def write_table(flows: DataFrame, path: str | PathLike[str]) -> int: ...
def count_into(path: str | PathLike[str]) -> Callable[[DataFrame, int], None]: ...
