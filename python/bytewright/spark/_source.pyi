from typing import Any

from pyspark.sql import SparkSession  # type: ignore[import-not-found,unused-ignore]
from pyspark.sql.datasource import (  # type: ignore[import-not-found,unused-ignore]
    DataSource,
    DataSourceReader,
    Filter,
)
from pyspark.sql.types import StructType  # type: ignore[import-not-found,unused-ignore]

from ._capture import Capture
from ._options import Options
from ._stream import StreamReader

class CaptureSource(DataSource):  # type: ignore[misc,unused-ignore]
    @classmethod
    def name(cls) -> str: ...
    def schema(self) -> StructType: ...
    def reader(self, schema: StructType) -> Reader: ...
    def streamReader(self, schema: StructType) -> StreamReader: ...

def register(spark: SparkSession, pushdown: bool = False) -> None: ...

class Reader(DataSourceReader):  # type: ignore[misc,unused-ignore]
    where: str | None
    options: Options
    schema: StructType
    def __init__(self, options: Options, schema: StructType) -> None: ...
    def partitions(self) -> list[Capture]: ...
    def read(self, partition: Capture) -> Any: ...

class PushingReader(Reader):
    def pushFilters(self, filters: list[Filter]) -> list[Filter]: ...
