from typing import Any

from ..thrift import Columns
from ._options import Options

def columns(options: Options, source: Any, rows: int) -> Columns: ...
