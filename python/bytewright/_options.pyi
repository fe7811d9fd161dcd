from collections.abc import Mapping
from typing import Any

def split(options: Mapping[str, Any], table: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]: ...
