"""Conditions of the core that leave out no packet which a comparison is true of, for frames that filter what comes in any case.

A condition is text in the core's language (docs/conditions.md), or conditions joined by "and" or "or"; None where nothing is known, which
is true of all packets. A comparison with a field that has no value is true of nothing, here as in polars and Spark.
"""

import ipaddress

from ._bytewright import schema_of

#: Operators of polars in the core's language.
_SIGNS = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}

#: Comparisons that are true when another is false.
NEGATED = {"Eq": "NotEq", "NotEq": "Eq", "Lt": "GtEq", "LtEq": "Gt", "Gt": "LtEq", "GtEq": "Lt"}

#: `a < b` is `b > a`.
TURNED = {"Eq": "Eq", "NotEq": "NotEq", "Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}

#: The types of the fields of packets by their names.
_KINDS = {name: kind for name, kind, *_ in schema_of("packets")}

#: The least and the most that the core compares a field with: times are nanoseconds in 64 bits, and no number has more.
_TIMES, _NUMBERS = (-(2**63), 2**63 - 1), (-(2**64), 2**64)

#: The most values of a list, comparisons in all, and conditions in each other.
_VALUES_MAX, _COMPARISONS_MAX, _DEPTH_MAX = 4_096, 256, 32


def joined(operator, conditions):
    """Conditions that are all true ("and"), or of which one is ("or")."""
    known = [condition for condition in conditions if condition is not None]
    if not known or operator == "or" and len(known) < len(conditions):
        return None
    if len(known) == 1:
        return known[0]
    parts = []
    for condition in known:
        is_same = isinstance(condition, tuple) and condition[0] == operator
        parts += condition[1] if is_same else [condition]
    return operator, parts


def compared(column, operator, literal):
    """`column operator literal`; operators have the names of polars. A literal is a text, or the least and the most that a number can
    be which is not known exactly (a time is nanoseconds since 1970); None for any other."""
    kind, sign = _KINDS.get(column), _SIGNS.get(operator)
    if kind is None or sign is None or literal is None:
        return None
    if isinstance(literal, tuple):
        return None if kind in ("address", "text", "bool") else _compared_number(column, operator, literal, kind)
    if kind == "address":
        address = _address(literal, operator)
        return address and f"{column} {sign} {address}"
    quoted = _quoted(literal)
    return f"{column} {sign} {quoted}" if kind == "text" and quoted else None


def is_one_of(column, literals, is_negated=False):
    """`column` is one of the literals, or has a value that is none of them."""
    operator = "NotEq" if is_negated else "Eq"
    if not 0 < len(literals) <= _VALUES_MAX:
        return None
    parts = [compared(column, operator, literal) for literal in literals]
    beginning = f"{column} {_SIGNS[operator]} "
    if not all(isinstance(part, str) and part.startswith(beginning) for part in parts):
        return joined("and" if is_negated else "or", parts)
    condition = f"{column} in ({', '.join(part.removeprefix(beginning) for part in parts)})"
    return f"not {condition}" if is_negated else condition


def is_other(column, literal):
    """`column` is not the literal, or has no value."""
    condition = compared(column, "NotEq", literal)
    return joined("or", [condition, is_null(column)])


def is_null(column, is_negated=False):
    """`column` has no value, or has one."""
    return f"{column} is {'not ' * is_negated}null" if column in _KINDS else None


def text(condition):
    """The condition as text for the core; None where it leaves out no packet, or is longer than is worth while."""
    if condition is None or _depth(condition) > _DEPTH_MAX or _comparisons(condition) > _COMPARISONS_MAX:
        return None
    return _text(condition)


def _text(condition):
    if isinstance(condition, str):
        return condition
    operator, parts = condition
    return f" {operator} ".join(part if isinstance(part, str) else f"({_text(part)})" for part in parts)


def _depth(condition):
    return 0 if isinstance(condition, str) else 1 + max(map(_depth, condition[1]))


def _comparisons(condition):
    return 1 if isinstance(condition, str) else sum(map(_comparisons, condition[1]))


def _compared_number(column, operator, literal, kind):
    (least, most), unit = (_TIMES, "ns") if kind == "time_ns" else (_NUMBERS, "")
    low, high = (min(max(number, least), most) for number in literal)
    if (low, low) == literal:
        return f"{column} {_SIGNS[operator]} {low}{unit}"
    # It is somewhere between them, or where no field's value is.
    if operator == "NotEq":
        return None
    above, below = f"{column} >= {low}{unit}", f"{column} <= {high}{unit}"
    return joined("and", [above] * (operator not in ("Lt", "LtEq")) + [below] * (operator not in ("Gt", "GtEq")))


def _address(literal, operator):
    """An address as the core reads it. Frames compare its text, and the core what it stands for: that is the same where no other text
    stands for it, and otherwise true of more."""
    try:
        address = ipaddress.ip_address(literal)
    except ValueError:
        return None
    if operator == "Eq":
        return None if getattr(address, "scope_id", None) else str(address)
    is_only_text = str(address) == literal and (address.version == 4 or int(address) >> 48)
    return literal if operator == "NotEq" and is_only_text else None


def _quoted(literal):
    """A text in quotes; None where it has both kinds of them."""
    return next((f"{quote}{literal}{quote}" for quote in "'\"" if quote not in literal), None)
