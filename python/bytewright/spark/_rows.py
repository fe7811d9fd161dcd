"""Rows of one capture, or of one file of messages, as batches of Arrow, in the types that Spark has."""

import io
import os
import tempfile

import pyarrow

from .. import _bytewright
from .._errors import DAMAGE
from ..captures import Capture, calls, flows, packets
from . import _messages
from ._paths import opened

#: Rows of a batch.
ROWS = 32_768

#: Export of types that Spark lacks.
_TYPES = {"timestamps": "us", "signed": True, "addresses": "text"}

_EMPTY_PCAP = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")

DAMAGES = pyarrow.schema([("file", pyarrow.string()), ("offset", pyarrow.int64()), ("text", pyarrow.string())])

#: The first byte of the key of an entry that stands for a capture.
CAPTURE_KEY = b"\xc0"


def schema(options):
    """The columns of rows, as Arrow's schema."""
    if options.rows == "entries":
        return _entry_schema()
    if options.rows == "damage":
        return DAMAGES
    source = b"" if options.rows == "messages" else io.BytesIO(_EMPTY_PCAP)
    known = pyarrow.schema(_asked(options, source))
    fields = [_field(known, name) for field in options.columns or known.names for name in _expanded(known, field)]
    return _in_spark(fields)


def _field(known, name):
    return pyarrow.field("file", pyarrow.string()) if name == "file" and name not in known.names else known.field(name)


def _expanded(known, name):
    """The columns that a name stands for: several, where it is a path that ends in `*`."""
    if not name.endswith("*"):
        return [name]
    before = name[:-1]
    return [each for each in known.names if each.startswith(before) and "." not in each[len(before) :]]


def _entry_schema():
    """Entries of tables of flows, one capture after another: docs/flow-table.md draws key and value."""
    return _in_spark(pyarrow.schema(_bytewright.FlowStore._without_entries(0, "", None)))


def _in_spark(fields):
    return pyarrow.schema([pyarrow.field(field.name, _type(field.type)) for field in fields])


def _type(type_):
    """Spark has text and bytes of at most 2 GiB, and lists of as many elements."""
    types = pyarrow.types
    if types.is_large_string(type_):
        return pyarrow.string()
    if types.is_large_binary(type_) or types.is_fixed_size_binary(type_):
        return pyarrow.binary()
    if types.is_map(type_):
        return pyarrow.map_(_type(type_.key_type), _type(type_.item_type))
    if types.is_list(type_) or types.is_large_list(type_):
        return pyarrow.list_(_type(type_.value_type))
    if types.is_struct(type_):
        return pyarrow.struct([pyarrow.field(field.name, _type(field.type)) for field in type_])
    return type_


def batches(options, capture, target, where=None, jobs=1):
    """The rows of a capture, or of a part of its packets, as batches of the schema `target`, read on so many threads. Packets that the
    condition `where` is not true of do not come."""
    how = {**options.capture, "jobs": jobs}
    if options.rows == "entries":
        return _entries(options, capture, how)
    if options.rows == "damage":
        return _damage(options, capture.path, how)
    return _until_damage(options, capture, target, where, how)


def _asked(options, source, where=None, numbers=None, how=None):
    """The rows that options ask for, of one capture or one file of messages; `how` the capture is read."""
    how = options.capture if how is None else how
    if options.rows == "messages":
        return _messages.columns(options, source, ROWS)
    fields = list(dict.fromkeys(name.removesuffix("_nanos") for name in options.columns if name != "file"))
    if options.columns == ["file"]:
        fields = ["ts"]
    if options.rows == "packets":
        rows = packets(source, *fields, rows=ROWS, where=where, numbers=numbers, **how)
    elif options.rows == "flows":
        rows = flows(source, fields=fields, **options.limits, **how)
    else:
        rows = calls(source, fields=fields, **how)
    return rows.converted(**_TYPES)


def _until_damage(options, capture, target, where, how):
    if capture.numbers is not None:
        # A part makes no index of the whole.
        how = {name: value for name, value in how.items() if name != "index"}
    try:
        source = opened(capture.path, options.settings.storage, capture.part)
        for batch in _asked(options, source, where, capture.numbers, how).batches():
            found = pyarrow.record_batch(batch)
            columns = [_column(found, field, capture.path) for field in target]
            yield pyarrow.RecordBatch.from_arrays(columns, schema=target)
    except DAMAGE:
        if options.is_failfast:
            raise


def _column(batch, field, path):
    if field.name == "file" and "file" not in batch.schema.names:
        return pyarrow.repeat(pyarrow.scalar(path, pyarrow.string()), batch.num_rows)
    return batch.column(field.name).cast(field.type)


def _damage(options, path, how):
    try:
        # Of all packets, whichever are asked for.
        damage = Capture(opened(path, options.settings.storage), **{**how, "filter": None, "flow": None}).info()["damage"]
    except DAMAGE as error:
        damage = error
    if damage is not None:
        yield _batch(DAMAGES, [(path, damage.offset, str(damage))])


def _entries(options, capture, how):
    """The entries of a table of flows of this capture alone. A file holds the table, so that its size is bounded by no memory."""
    place, path = capture.place, capture.path
    with tempfile.TemporaryDirectory(prefix="bytewright-") as folder:
        table = os.path.join(folder, "flows.bwt")
        merge = _merged(options, path, table, how)
        damage = merge["damage"] and (merge["damage"].offset, str(merge["damage"]))
        if "content_id" not in merge:
            yield pyarrow.record_batch(_bytewright.FlowStore._without_entries(place, path, damage)).cast(_entry_schema())
            return
        store = _bytewright.FlowStore(table, read_only=True)
        try:
            for batch in store._entries(bytes.fromhex(merge["content_id"]), place, path, damage, ROWS):
                yield pyarrow.record_batch(batch).cast(_entry_schema())
        finally:
            store.close()


def _merged(options, path, table, how):
    """Merges the flows of a capture into a table; returns the outcome, or only the damage of what is no capture."""
    store = _bytewright.FlowStore._to_count(table)
    try:
        merge = Capture(opened(path, options.settings.storage), **how)._merge_flows(store, **options.limits)
    except DAMAGE as error:
        merge = {"damage": error}
    finally:
        store.close()
    if options.is_failfast and merge["damage"] is not None:
        raise merge["damage"]
    return merge


def _batch(schema, rows):
    return pyarrow.RecordBatch.from_pylist([dict(zip(schema.names, row)) for row in rows], schema=schema)
