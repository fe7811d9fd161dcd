"""Part of a predicate of polars that the core can be given, so that it leaves packets out that polars would.

Nothing here may leave out a packet that the predicate is true of; what is not known leaves out none.
"""

import io
import json
import math

import polars

from . import _pushed

#: Nanoseconds of polars' units of time.
_UNITS = {"Nanoseconds": 1, "Microseconds": 1_000, "Milliseconds": 1_000_000}

#: Bounds of `is_between`, by what is in it.
_BOUNDS = {"Both": ("GtEq", "LtEq"), "Left": ("GtEq", "Lt"), "Right": ("Gt", "LtEq"), "None": ("Gt", "Lt")}

#: Beginnings of the names of polars' types of numbers.
_NUMBERS = ("Int", "UInt", "Float")

#: Integers up to here are exact in a double.
_EXACT_MAX = 2**53


def condition(predicate):
    """A condition of the core on packets that is true of every packet for which the predicate is true; None where nothing is known."""
    try:
        return _pushed.text(_part(json.loads(predicate.meta.serialize(format="json")), False))
    except Exception:
        # The form in which polars writes an expression is its own affair; it filters without us as well.
        return None


def _part(node, is_negated):
    """A condition that is true of every packet for which a node of an expression is true; or false, where it is negated. Of a packet
    without the field, a comparison is neither."""
    ((kind, content),) = node.items()
    if kind == "BinaryExpr":
        return _binary(content["left"], content["op"], content["right"], is_negated)
    if kind == "Function" and "Boolean" in content["function"]:
        return _function(content["function"]["Boolean"], content["input"], is_negated)
    return None


def _binary(left, operator, right, is_negated):
    if operator in ("And", "LogicalAnd", "Or", "LogicalOr"):
        return _joined([left, right], operator.endswith("And"), is_negated)
    if "Literal" in left and operator in _pushed.TURNED:
        left, operator, right = right, _pushed.TURNED[operator], left
    column = _column(left)
    if operator in ("EqValidity", "NotEqValidity") and column is not None:
        # Of these, null is another value.
        is_equal = (operator == "EqValidity") != is_negated
        return _pushed.compared(column, "Eq", _literal(right)) if is_equal else _pushed.is_other(column, _literal(right))
    return _compared(column, operator, right, is_negated)


def _function(function, inputs, is_negated):
    if function == "Not":
        return _part(inputs[0], not is_negated)
    if function in ("AllHorizontal", "AnyHorizontal"):
        return _joined(inputs, function == "AllHorizontal", is_negated)
    column, *values = inputs
    column = _column(column)
    if function in ("IsNull", "IsNotNull"):
        return _pushed.is_null(column, (function == "IsNotNull") != is_negated)
    ((name, options),) = function.items()
    if name == "IsBetween":
        bounds = [_compared(column, bound, value, is_negated) for bound, value in zip(_BOUNDS[options["closed"]], values)]
        return _pushed.joined("or" if is_negated else "and", bounds)
    if name == "IsIn" and not options["nulls_equal"]:
        return _pushed.is_one_of(column, _literals(*values), is_negated)
    return None


def _joined(nodes, is_and, is_negated):
    return _pushed.joined("and" if is_and != is_negated else "or", [_part(node, is_negated) for node in nodes])


def _compared(column, operator, literal, is_negated):
    operator = _pushed.NEGATED.get(operator) if is_negated else operator
    return _pushed.compared(column, operator, _literal(literal))


def _column(node):
    """The field that a node is, also as the double that polars compares with doubles."""
    if "Cast" in node and node["Cast"]["dtype"] == {"Literal": "Float64"}:
        node = node["Cast"]["expr"]
    return node.get("Column")


def _literal(node):
    """A text, or the least and the most that a number can be; of times, nanoseconds. None for anything else."""
    ((kind, value),) = node.get("Literal", {"Other": None}).items()
    if kind in ("Dyn", "Scalar"):
        ((kind, value),) = value.items()
    if kind == "Datetime":
        return _time(*value)
    return _of_value(value) if kind == "String" or kind.startswith(_NUMBERS) else None


def _time(count, unit, zone):
    if zone is None:
        return None
    # Of a coarser unit, it is not said how polars rounds.
    nanoseconds = _UNITS[unit]
    return count * nanoseconds - (nanoseconds - 1), count * nanoseconds + (nanoseconds - 1)


def _of_value(value):
    if type(value) is float:
        return (math.floor(value), math.ceil(value)) if abs(value) < _EXACT_MAX else None
    if type(value) is int:
        return value, value
    return value if type(value) is str else None


def _literals(node):
    """The values of a list, which polars alone can read, but for null, which nothing is. None of a list that is computed."""
    if "Literal" not in node:
        return []
    expression = polars.Expr.deserialize(io.BytesIO(json.dumps(node).encode()), format="json")
    return [_of_value(value) for value in polars.select(expression).to_series()[0].to_list() if value is not None]
