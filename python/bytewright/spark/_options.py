"""Question to captures, or to files of messages, from the options of a reader of Spark's."""

import datetime
import json
import os
import zoneinfo

from .._bytewright import excerpt, parse_options, unknown_option
from .._errors import ArgumentError
from .._options import split
from ..options import CAPTURE, FLOWS
from ._globs import NameFilter
from ._listing import Selection
from ._session import Settings, bytes_of

_ROWS = ("packets", "flows", "calls", "messages", "damage", "entries")
_PROTOCOLS = ("binary", "compact", "header", "json")
_MODES = ("permissive", "failfast")
#: Options of the core that a reader takes: the mode says what becomes of damage; Spark has filters of its own.
_CAPTURE = set(CAPTURE) - {"damage"}
_FLOWS = set(FLOWS) - {"where"}
_OWN = {"path", "paths", "rows", "columns", "mode", "pushdown", "split_bytes", "min_age", "max_file_age", "max_files"}
_MESSAGES = {"idl", "type", "protocol", "framed"}
#: Options that Spark's own file sources have, by their names there.
_OF_FILES = {
    "pathGlobFilter", "recursiveFileLookup", "modifiedAfter", "modifiedBefore", "timeZone", "ignoreCorruptFiles", "ignoreMissingFiles",
    "maxFilesPerTrigger",
}  # fmt: skip
_TOLD = sorted(_OWN | _MESSAGES | _OF_FILES | _CAPTURE | _FLOWS, key=str.lower)
#: Spark tells names in small letters.
_KNOWN = {name.lower() for name in _TOLD}

#: Options that Spark adds for a table of its catalog (org.apache.spark.sql.connector.catalog.TableCatalog); each comes
#: a second time with this before its name.
_OF_A_TABLE = {"location", "external", "provider", "owner", "comment", "collation", "is_managed_location"}
_OPTION_OF_A_TABLE = "option."

#: Plain pcap files that are larger are read in parts of this size, and no part is smaller than the least.
_SPLIT_BYTES, _SPLIT_BYTES_MIN = 256 << 20, 64 << 10

#: The variable that names the folder of indexes.
_INDEX_FOLDER = "BYTEWRIGHT_INDEX_DIR"

#: Seconds that a capture of a folder did not change before a stream reads it.
_MIN_AGE = 30.0


class Options:
    """Checked options: what rows, of which captures, read how; and the settings of the session."""

    def __init__(self, given, settings=None):
        given = {name.lower(): value for name, value in dict(given).items()}
        given = {name: value for name, value in given.items() if not name.startswith(_OPTION_OF_A_TABLE)}
        unknown = sorted(set(given) - _KNOWN - _OF_A_TABLE)
        if unknown:
            raise unknown_option(unknown[0], _TOLD)
        self.settings = settings or Settings()
        #: The options of a table that the catalog makes of them; None where it makes none.
        self.of_table = {name: given[name] for name in _KNOWN & set(given)} if "provider" in given else None
        self.paths = json.loads(given["paths"]) if "paths" in given else [given["path"]] if "path" in given else []
        self.rows = _one_of("rows", given.get("rows", "packets"), _ROWS)
        self.columns = [name.strip() for name in given.get("columns", "").split(",") if name.strip()]
        self.is_failfast = _is_failfast(given)
        self.pushdown = _flag(given, "pushdown")
        self.idl, self.type = given.get("idl"), given.get("type")
        self.protocol = _one_of("protocol", given.get("protocol", "binary"), _PROTOCOLS)
        self.framed = _flag(given, "framed", "true")
        self._check_messages(_MESSAGES & set(given))
        self._take_files(given)
        self._take_core({name: given[name] for name in (_CAPTURE | _FLOWS) & set(given)})

    def _take_files(self, given):
        """Takes the options about files."""
        self.asked_bytes = max(_number(given, "split_bytes", bytes_of), _SPLIT_BYTES_MIN) if "split_bytes" in given else None
        self.split_bytes = self.asked_bytes or _SPLIT_BYTES
        self.ignores_missing = _flag(given, "ignoreMissingFiles")
        self.max_file_age = _number(given, "max_file_age", float, 604_800.0)
        self.max_files = _number(given, "maxFilesPerTrigger", int, _number(given, "max_files", int))
        zone = given.get("timezone", self.settings.time_zone)
        self.selection = Selection(
            names=NameFilter(given["pathglobfilter"]) if "pathglobfilter" in given else None,
            is_recursive=_flag(given, "recursiveFileLookup"),
            after=_time(given, "modifiedAfter", zone),
            before=_time(given, "modifiedBefore", zone),
            min_age=_number(given, "min_age", float),
            storage=self.settings.storage,
        )

    def _take_core(self, given):
        """Takes the options of the core."""
        parsed = parse_options(given)
        #: Threads that decode a capture; None where nobody says.
        self.jobs = parsed.get("jobs")
        self.makes_index = parsed.get("index", False)
        folder = os.environ.get(_INDEX_FOLDER)
        # A worker has not the variables of the driver.
        of_driver = {"index_dir": folder} if folder else {}
        self.capture, self.limits = split({"jobs": 1, **of_driver, **parsed}, CAPTURE)

    @property
    def selection_of_stream(self):
        """The conditions on files of a stream, which are read when they are whole."""
        return self.selection if self.selection.min_age is not None else self.selection._replace(min_age=_MIN_AGE)

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
    return _one_of(name, given.get(name.lower(), default).lower(), ("true", "false")) == "true"


def _is_failfast(given):
    """Returns True if damage is an error: by the mode, or by the name that Spark's file sources have for that."""
    mode = _one_of("mode", given.get("mode", "permissive").lower(), _MODES)
    if "ignorecorruptfiles" not in given:
        return mode == "failfast"
    is_failfast = not _flag(given, "ignoreCorruptFiles")
    if "mode" in given and is_failfast != (mode == "failfast"):
        raise ArgumentError(f"expected mode or ignoreCorruptFiles, found mode={mode} beside an ignoreCorruptFiles that says the opposite")
    return is_failfast


def _number(given, name, kind, default=None):
    if name.lower() not in given:
        return default
    text = given[name.lower()]
    try:
        return kind(text)
    except ValueError:
        raise ArgumentError(f"expected {name} to be a number, found {excerpt(text)}") from None


def _time(given, name, zone):
    """The time that an option says, in seconds since 1970; one without an offset is of the zone."""
    if name.lower() not in given:
        return None
    text = given[name.lower()]
    try:
        # Python 3.10 has no Z.
        time = datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    except ValueError:
        raise ArgumentError(f'expected {name} to be a time, such as "2026-11-28T10:00:00", found {excerpt(text)}') from None
    return (time if time.tzinfo else time.replace(tzinfo=_zone(zone))).timestamp()


def _zone(name):
    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, zoneinfo.ZoneInfoNotFoundError):
        message = f"expected timeZone to be a zone of this system, such as Europe/Berlin, found {excerpt(name)}; or write times with an offset"
        raise ArgumentError(message) from None
