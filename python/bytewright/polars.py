"""Captures as lazy frames of polars, which read what a query needs of them: `scan_packets` and `scan_flows`.

    import bytewright.polars

    packets = bytewright.polars.scan_packets("monday/*.pcap.gz")
    packets.filter(polars.col("dst_port") == 443).group_by("src_ip").agg(polars.col("length").sum()).collect()

Only the columns of the query are decoded. Of its filter on packets, what compares ports, the protocol and addresses, also
with the values of a list, is given to libpcap, where it is on this machine, so that most other packets are not decoded at
all; polars filters what comes in any case, and the result is the same. A query may read a capture more than once, so a file
object, which can be read once, is better read with `bytewright.packets`.
"""

import io
import json
import struct

import polars
from polars.io.plugins import register_io_source

from ._errors import ArgumentError, MissingLibraryError
from ._pcap_filter import any_of, both, comparison, of_versions
from .captures import flows, packets

#: A capture without packets, of which columns and their types are known.
_EMPTY = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)

#: Rows of a batch, unless polars asks for fewer.
_ROWS = 65_536

#: `a < b` is `b > a`.
_TURNED = {"Eq": "Eq", "Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}


def scan_packets(source, *, filter=None, inner=False, inflate="auto", jobs=None):
    """The packets of a capture, or of several, as a `polars.LazyFrame` with all fields. Arguments are those of
    `bytewright.packets`."""
    options = {"inner": inner, "inflate": inflate, "jobs": jobs}

    def read(fields, rows, pushed):
        # What is inside of tunnels, libpcap does not see.
        filters = [f"({part})" for part in (filter, None if inner else pushed) if part is not None]
        return packets(source, *fields, rows=rows, filter=" and ".join(filters) or None, **options)

    return _scan(packets(io.BytesIO(_EMPTY), *_all_fields("packets")), read)


def scan_flows(*sources, idle_timeout=None, active_timeout=None, max_flows=1_000_000, filter=None, inner=False, inflate="auto", jobs=None):
    """The flows of captures, which are read in this order as one run, as a `polars.LazyFrame`. Arguments are those of
    `bytewright.flows`."""
    limits = {"idle_timeout": idle_timeout, "active_timeout": active_timeout, "max_flows": max_flows}
    options = {"filter": filter, "inner": inner, "inflate": inflate, "jobs": jobs}

    def read(fields, _rows, _pushed):
        # A packet that a filter leaves out could end a flow, or be its first.
        return flows(*sources, fields=fields, **limits, **options)

    return _scan(flows(io.BytesIO(_EMPTY)), read)


def _all_fields(name):
    from ._bytewright import schema_of

    return [field[0] for field in schema_of(name)]


def _scan(empty, read):
    """A lazy frame of what `read(fields, rows, pushed)` gives, with the columns of `empty`."""
    schema = polars.DataFrame(empty).schema

    def source(columns, predicate, row_count, batch_size):
        wanted = list(schema) if columns is None else columns
        needed = [] if predicate is None else predicate.meta.root_names()
        fields = list(dict.fromkeys([*wanted, *needed])) or list(schema)[:1]
        rows = max(1, min(batch_size or _ROWS, _ROWS))
        # The rows to count are those before the filter.
        pushed = _pushed(predicate) if predicate is not None and row_count is None else None
        left = row_count
        for batch in _batches(read, fields, rows, pushed):
            frame = polars.DataFrame(batch)
            if left is not None:
                frame = frame.head(left)
                left -= len(frame)
            if predicate is not None:
                frame = frame.filter(predicate)
            yield frame.select(wanted)
            if left == 0:
                return

    return register_io_source(source, schema=schema, is_pure=True)


def _batches(read, fields, rows, pushed):
    if pushed is None:
        yield from read(fields, rows, None).batches()
        return
    batches = read(fields, rows, pushed).batches()
    try:
        first = next(batches, None)
    except (MissingLibraryError, ArgumentError):
        # Without libpcap, or of a link that it does not know, polars does it alone; a filter of the caller's is refused again.
        yield from read(fields, rows, None).batches()
        return
    if first is not None:
        yield first
        yield from batches


def _pushed(predicate):
    """A filter of libpcap that leaves out no packet which the predicate is true of; None where nothing is known."""
    try:
        node = json.loads(predicate.meta.serialize(format="json"))
        four, six = (_part(node, version) for version in (4, 6))
    except Exception:
        # How polars writes an expression is its own affair; it filters without us as well.
        return None
    return of_versions(four, six)


def _part(node, version):
    """What a node of an expression says of packets of a version of IP: False where none of them can be meant, None where that
    is not known."""
    ((kind, content),) = node.items()
    if kind == "BinaryExpr":
        left, operator, right = content["left"], content["op"], content["right"]
        if operator in ("And", "LogicalAnd", "Or", "LogicalOr"):
            return both(_part(left, version), _part(right, version), operator.endswith("And"))
        if "Column" in left:
            return comparison(left["Column"], operator, _literal(right), version)
        if "Column" in right and operator in _TURNED:
            return comparison(right["Column"], _TURNED[operator], _literal(left), version)
    if kind == "Function" and isinstance(content["function"].get("Boolean"), dict):
        ((name, options),) = content["function"]["Boolean"].items()
        column, *values = content["input"]
        if name == "IsBetween" and options["closed"] == "Both":
            low, high = map(_literal, values)
            return both(*(comparison(column["Column"], *bound, version) for bound in (("GtEq", low), ("LtEq", high))), True)
        if name == "IsIn" and not options["nulls_equal"]:
            return any_of(column["Column"], _literals(*values), version)
    return None


def _literal(node):
    """A number or a text; None for anything else."""
    ((_, value),) = node["Literal"].items()
    while isinstance(value, dict):
        ((_, value),) = value.items()
    return value if type(value) in (int, str) else None


def _literals(node):
    """The values of a list, which polars alone can read."""
    if "Literal" not in node:
        return None
    expression = polars.Expr.deserialize(io.BytesIO(json.dumps(node).encode()), format="json")
    return polars.select(expression).to_series()[0].to_list()
