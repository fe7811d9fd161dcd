"""Thrift messages, Binary and Compact, as objects and back: of classes made from IDL, or of generated ones.

>>> import bytewright.thrift
>>> logs = bytewright.thrift.load("struct Entry { 1: required i64 time, 2: string host = 'local' }")
>>> entry = logs.Entry(time=7)
>>> message = bytewright.thrift.encode(entry)
>>> bytewright.thrift.decode(logs.Entry, message)
Entry(time=7, host='local')
>>> bytewright.thrift.pluck(logs.Entry, message, "time")
(7,)

No compiler is needed, and no library: `load` makes classes of IDL. Classes that apache's compiler generates for the package
`thrift`, and those that thriftpy2 makes, are read and written natively, too, by their `thrift_spec`; their objects are what
their library would make, without its protocols and transports.

Bytes may claim no more than there is: counts and lengths are compared with the bytes left before memory is taken for them.
Structs may be nested 64 deep. Fields that a class does not have are passed; of a field that comes twice, the last counts.
"""

from . import _bytewright
from ._bytewright import thrift_decode as decode
from ._bytewright import thrift_decode_many as decode_many
from ._bytewright import thrift_encode as encode
from ._bytewright import thrift_pluck as pluck
from ._frames import to_pandas, to_polars
from ._thrift_classes import FrozenDict, Struct, load

__all__ = ["Columns", "FrozenDict", "Struct", "columns", "decode", "decode_many", "encode", "load", "pluck"]


class Columns(_bytewright.ThriftColumns):
    """Some fields of messages that follow each other, as columns: made by `columns`.

    It has Arrow's PyCapsule interface (`__arrow_c_stream__`), so that pyarrow, pandas, polars and DuckDB take it as it is.
    Iterating gives a tuple for each message. A path or bytes are read anew by each; a file object can be read once.
    """

    __slots__ = ()

    to_pandas = to_pandas
    to_polars = to_polars

    def __iter__(self):
        for batch in self.batches():
            yield from zip(*(batch[name] for name in self.columns), strict=True)


def columns(cls, source, *paths, protocol="binary", framed=True, rows=65_536):
    """Fields of messages that follow each other as `Columns`, with no object for a message.

    `source`, `protocol` and `framed` are as for `decode_many`, `paths` as for `pluck`; without any, all fields are columns. A
    message without a field has null there. A struct, a list, a set or a map is a column of Arrow's structs, lists and maps, and a
    path through a list has a list: "rows.columns.size". With `[]` behind a list or a set, and `{}` behind a map, there is a row for
    each element or entry, with the columns of its parents repeated beside it: "rows[].columns[].size", "tags{}.key". All of
    one call are in each other; a message whose list is empty has no row. Enums are numbers. `rows` is how many rows a batch has,
    or those of one message that has more.
    """
    return Columns(cls, source, list(paths), protocol, framed, rows)
