"""Question to captures, or to files of messages, from the options of a reader of Spark's."""

import json

from .._bytewright import excerpt, parse_options
from .._errors import ArgumentError
from .._options import split
from ..options import CAPTURE, FLOWS

_ROWS = ("packets", "flows", "calls", "messages", "damage", "entries")
_PROTOCOLS = ("binary", "compact")
_MODES = ("permissive", "failfast")
#: Options of the core that a reader takes: the mode says what becomes of damage; Spark has filters of its own.
_CAPTURE = set(CAPTURE) - {"damage"}
_FLOWS = set(FLOWS) - {"where"}
_OWN = {"path", "paths", "rows", "columns", "mode", "pushdown", "split_bytes", "min_age", "max_file_age", "max_files"}
_MESSAGES = {"idl", "type", "protocol", "framed"}
_KNOWN = _OWN | _CAPTURE | _FLOWS | _MESSAGES

#: Options that Spark adds for a table of its catalog (org.apache.spark.sql.connector.catalog.TableCatalog); each comes
#: a second time with this before its name.
_OF_A_TABLE = {"location", "external", "provider", "owner", "comment", "collation", "is_managed_location"}
_OPTION_OF_A_TABLE = "option."

#: Plain captures that are larger are read in parts of this size, and no part is smaller than the least.
_SPLIT_BYTES, _SPLIT_BYTES_MIN = 256 << 20, 64 << 10


class Options:
    """Checked options: what rows, of which captures, read how."""

    def __init__(self, given):
        given = {name.lower(): value for name, value in dict(given).items()}
        given = {name: value for name, value in given.items() if not name.startswith(_OPTION_OF_A_TABLE)}
        unknown = sorted(set(given) - _KNOWN - _OF_A_TABLE)
        if unknown:
            raise ArgumentError(f"expected an option ({', '.join(sorted(_KNOWN))}), found {excerpt(unknown[0])}")
        #: The options of a table that the catalog makes of them; None where it makes none.
        self.of_table = {name: given[name] for name in _KNOWN & set(given)} if "provider" in given else None
        self.paths = json.loads(given["paths"]) if "paths" in given else [given["path"]] if "path" in given else []
        self.rows = _one_of("rows", given.get("rows", "packets"), _ROWS)
        self.columns = [name.strip() for name in given.get("columns", "").split(",") if name.strip()]
        self.is_failfast = _one_of("mode", given.get("mode", "permissive").lower(), _MODES) == "failfast"
        self.pushdown = _flag(given, "pushdown")
        self.idl, self.type = given.get("idl"), given.get("type")
        self.protocol = _one_of("protocol", given.get("protocol", "binary"), _PROTOCOLS)
        self.framed = _flag(given, "framed", "true")
        self._check_messages(_MESSAGES & set(given))
        self.split_bytes = max(_number(given, "split_bytes", int, _SPLIT_BYTES), _SPLIT_BYTES_MIN)
        self.min_age = _number(given, "min_age", float, 30.0)
        self.max_file_age = _number(given, "max_file_age", float, 604_800.0)
        self.max_files = _number(given, "max_files", int, None)
        parsed = parse_options({name: given[name] for name in (_CAPTURE | _FLOWS) & set(given)})
        self.capture, self.limits = split({"jobs": 1, **parsed}, CAPTURE)

    def _check_messages(self, given):
        if self.rows != "messages" and given:
            raise ArgumentError(f"expected {min(given)} beside rows=messages, found it beside rows={self.rows}")
        missing = [name for name in ("idl", "type") if self.rows == "messages" and getattr(self, name) is None]
        if missing:
            raise ArgumentError(f"expected the option {missing[0]} beside rows=messages: an IDL, and the struct of it that messages are")


def _one_of(name, value, values):
    if value not in values:
        raise ArgumentError(f"expected {name} to be {', '.join(values[:-1])} or {values[-1]}, found {excerpt(value)}")
    return value


def _flag(given, name, default="false"):
    return _one_of(name, given.get(name, default).lower(), ("true", "false")) == "true"


def _number(given, name, kind, default):
    if name not in given:
        return default
    try:
        return kind(given[name])
    except ValueError:
        raise ArgumentError(f"expected {name} to be a number, found {excerpt(given[name])}") from None
