from collections.abc import Mapping
from typing import Any, Literal

from ._listing import Selection
from ._session import Settings

class Options:
    settings: Settings
    of_table: dict[str, str] | None
    paths: list[str]
    rows: str
    columns: list[str]
    is_failfast: bool
    pushdown: bool
    idl: str | None
    type: str | None
    protocol: Literal["binary", "compact", "header", "json"]
    framed: bool
    asked_bytes: int | None
    split_bytes: int
    ignores_missing: bool
    max_file_age: float
    max_files: int | None
    selection: Selection
    jobs: int | None
    makes_index: bool
    capture: dict[str, Any]
    limits: dict[str, Any]
    def __init__(self, given: Mapping[str, str], settings: Settings | None = None) -> None: ...
    @property
    def selection_of_stream(self) -> Selection: ...
