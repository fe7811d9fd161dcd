from pyspark.sql.datasource import InputPartition  # type: ignore[import-not-found,unused-ignore]

class Capture(InputPartition):  # type: ignore[misc,unused-ignore]
    path: str
    part: tuple[int, int | None, int] | None
    size: int | None
    def __init__(
        self, place: int, path: str, part: tuple[int, int | None, int] | None = None, size: int | None = None
    ) -> None: ...
