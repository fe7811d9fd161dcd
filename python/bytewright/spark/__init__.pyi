from ._source import CaptureSource as CaptureSource
from ._source import register as register
from ._totals import count_into as count_into
from ._totals import flows as flows
from ._totals import write_table as write_table

__all__ = ["CaptureSource", "count_into", "flows", "register", "write_table"]
