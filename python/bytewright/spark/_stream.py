"""Captures that come into a folder, as a stream of Spark's: each is read once, and none before it is whole.

Spark keeps an offset for each batch in its checkpoint, and gives it back when it starts again. An offset says which captures
were read by then, not which ones the folder had: a folder that is not mounted for a while, or a capture that is away, is
nothing new. It has 20 bytes for each capture, and forgets those that are too old to be taken for new ones.
"""

import base64
import hashlib
import json
import struct
import time

from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles

from .._errors import ArgumentError, Error, file_name
from ._capture import Capture
from ._listing import present
from ._paths import size_of
from ._tasks import packed, rows

#: The version of what an offset holds.
_VERSION = "2"

#: A capture that was read: the hash of its path, its size, the second of its last change.
_READ = struct.Struct(">8sQI")
_NO_TIME = 2**32 - 1


class StreamReader(DataSourceStreamReader):
    """Reads the captures that come into folders, each once."""

    def __init__(self, options, schema):
        self.options = options
        self.schema = schema

    def initialOffset(self):
        return Offset().to_dict()

    def getDefaultReadLimit(self):
        return ReadAllAvailable() if self.options.max_files is None else ReadMaxFiles(self.options.max_files)

    def latestOffset(self, start, limit):
        before = Offset.from_dict(start)
        selection = self.options.selection_of_stream
        # A capture that was read and changes is told of, however young it is.
        found = present(self.options.paths, selection._replace(min_age=None))
        new = before.new_among(found, time.time() - selection.min_age if selection.min_age else None)
        if isinstance(limit, ReadMaxFiles):
            new = new[: limit.max_files]
        return before.after(new, self.options.max_file_age).to_dict() if new else start

    def partitions(self, start, end):
        before = Offset.from_dict(start).read
        new = [(path, size) for path, size in Offset.from_dict(end).new if _hash(path) not in before]
        return packed(self.options, [Capture(place, path, size) for place, (path, size) in enumerate(new)])

    def read(self, partition):
        return rows(self.options, partition, to_arrow_schema(self.schema, timezone="UTC"), check=self._check)

    def _check(self, capture):
        _require_size(capture.path, capture.size, size_of(capture.path, self.options.settings.storage))


class Offset:
    """Captures that were read by the end of a batch."""

    def __init__(self, read=None, new=(), horizon=0):
        #: By the hash of the path, the size and the second of the last change.
        self.read = read or {}
        #: Paths and sizes of the captures of this batch, in the order in which they are read.
        self.new = list(new)
        #: Captures that changed before this second were read, or are too old.
        self.horizon = horizon

    @classmethod
    def from_dict(cls, offset):
        if offset.get("version") != _VERSION:
            raise ArgumentError("expected a checkpoint of this version of Bytewright, found one of another; start the query with a new one")
        read = {path: (size, second) for path, size, second in _READ.iter_unpack(base64.b64decode(offset["read"]))}
        return cls(read, map(tuple, json.loads(offset["new"])), offset["horizon"])

    def to_dict(self):
        # As text, because an offset has no lists.
        read = b"".join(_READ.pack(path, *facts) for path, facts in self.read.items())
        return {"version": _VERSION, "read": base64.b64encode(read).decode(), "new": json.dumps(self.new), "horizon": self.horizon}

    def new_among(self, found, latest):
        """The captures that were not read, the oldest first, of those that did not change after the time `latest`."""
        new = []
        for capture in found:
            facts = self.read.get(_hash(capture.path))
            if facts is None:
                is_whole = latest is None or capture.time is None or capture.time <= latest
                if is_whole and _second(capture) >= self.horizon:
                    new.append(capture)
            else:
                _require_size(capture.path, facts[0], capture.size)
        return sorted(new, key=lambda capture: (_second(capture), capture.path))

    def after(self, new, age):
        """The offset once these captures are read, too, and those are forgotten that are so many seconds older than the newest."""
        read = {**self.read, **{_hash(capture.path): (capture.size, _second(capture)) for capture in new}}
        newest = max((second for _, second in read.values() if second != _NO_TIME), default=0)
        horizon = max(self.horizon, int(newest - age))
        kept = {path: facts for path, facts in read.items() if facts[1] >= horizon}
        return Offset(kept, [(capture.path, capture.size) for capture in new], horizon)


def _hash(path):
    return hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).digest()


def _second(capture):
    return _NO_TIME if capture.time is None else min(max(int(capture.time), 0), _NO_TIME - 1)


def _require_size(path, expected, found):
    if found != expected:
        raise Error(
            f"{file_name(path)}: expected a capture that stays as it was listed, with {expected} bytes, found {found} bytes; "
            "move captures into the folder when they are whole, or set min_age to more seconds"
        )
