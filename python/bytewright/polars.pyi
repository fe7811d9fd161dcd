import polars
from typing_extensions import Unpack

from .captures import _FlowsOfCapturesOptions, _Sources
from .options import _CaptureOptions

def scan_packets(source: _Sources, **options: Unpack[_CaptureOptions]) -> polars.LazyFrame: ...
def scan_flows(*sources: _Sources, **options: Unpack[_FlowsOfCapturesOptions]) -> polars.LazyFrame: ...
