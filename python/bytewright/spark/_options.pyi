from collections.abc import Mapping
from typing import Any, Literal

class Options:
    of_table: dict[str, str] | None
    paths: list[str]
    rows: str
    columns: list[str]
    is_failfast: bool
    pushdown: bool
    idl: str | None
    type: str | None
    protocol: Literal["binary", "compact"]
    framed: bool
    split_bytes: int
    min_age: float
    max_file_age: float
    max_files: int | None
    capture: dict[str, Any]
    limits: dict[str, Any]
    def __init__(self, given: Mapping[str, str]) -> None: ...
