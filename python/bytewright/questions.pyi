# Generated from the core's table of questions by `make generate`. Do not edit.
from typing import Any

from typing_extensions import Unpack

from ._bytewright import Rows
from .captures import _Sources
from .options import _CaptureOptions, _EndpointsOptions, _ServicesOptions

__all__ = ["endpoints", "services"]

class _EndpointsOfCapturesOptions(_EndpointsOptions, _CaptureOptions, total=False): ...
class _ServicesOfCapturesOptions(_ServicesOptions, _CaptureOptions, total=False): ...

class Questions:
    def endpoints(self, **options: Unpack[_EndpointsOptions]) -> Rows[tuple[Any, ...]]: ...
    def services(self, **options: Unpack[_ServicesOptions]) -> Rows[tuple[Any, ...]]: ...

def endpoints(*sources: _Sources, **options: Unpack[_EndpointsOfCapturesOptions]) -> Rows[tuple[Any, ...]]: ...
def services(*sources: _Sources, **options: Unpack[_ServicesOfCapturesOptions]) -> Rows[tuple[Any, ...]]: ...
