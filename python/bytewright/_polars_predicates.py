"""What of a predicate of polars libpcap and the core can be given, so that they leave packets out that polars would.

Nothing here may leave out a packet that the predicate is true of; what is not known leaves out none.
"""

import io
import json

import polars

from . import _time_range
from ._pcap_filter import any_of, both, comparison, of_versions

#: `a < b` is `b > a`.
_TURNED = {"Eq": "Eq", "Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}

#: Nanoseconds of polars' units of time.
_UNITS = {"Nanoseconds": 1, "Microseconds": 1_000, "Milliseconds": 1_000_000}


def libpcap_filter(predicate):
    """A filter of libpcap that leaves out no packet which the predicate is true of; None where nothing is known."""
    try:
        node = _tree(predicate)
        four, six = (_part(node, version) for version in (4, 6))
    except Exception:
        # How polars writes an expression is its own affair; it filters without us as well.
        return None
    return of_versions(four, six)


def time_condition(predicate):
    """A condition on `ts` that is true of every packet for which the predicate is true; None where nothing is known."""
    try:
        return _time_range.condition(_times(_tree(predicate)))
    except Exception:
        # As above.
        return None


def _tree(predicate):
    return json.loads(predicate.meta.serialize(format="json"))


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


def _times(node):
    """The first and the last time of packets that a node of an expression is true of; None where that is not known."""
    ((kind, content),) = node.items()
    if kind == "BinaryExpr":
        left, operator, right = content["left"], content["op"], content["right"]
        if operator in ("And", "LogicalAnd"):
            return _time_range.common(_times(left), _times(right))
        if operator in ("Or", "LogicalOr"):
            return _time_range.joined(_times(left), _times(right))
        if operator in _TURNED and "Column" in left:
            return _compared(left, operator, right)
        if operator in _TURNED and "Column" in right:
            return _compared(right, _TURNED[operator], left)
    if kind == "Function" and isinstance(content["function"].get("Boolean"), dict) and "IsBetween" in content["function"]["Boolean"]:
        column, low, high = content["input"]
        return _time_range.common(_compared(column, "GtEq", low), _compared(column, "LtEq", high))
    return None


def _compared(column, operator, literal):
    """The times of packets whose time compares so with a literal."""
    if column != {"Column": "ts"}:
        return None
    count, unit, zone = literal["Literal"]["Scalar"]["Datetime"]
    if zone is None:
        return None
    # Of a coarser unit, it is not said how polars rounds.
    nanoseconds = _UNITS[unit]
    return _time_range.compared(operator, count * nanoseconds - (nanoseconds - 1), count * nanoseconds + (nanoseconds - 1))


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
