"""Part of Spark's conditions on packets that the core can be given, so that it leaves packets out that Spark would."""

import datetime

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
)

from .. import _pushed

#: Operators by the names of polars.
_OPERATORS = {EqualTo: "Eq", GreaterThan: "Gt", GreaterThanOrEqual: "GtEq", LessThan: "Lt", LessThanOrEqual: "LtEq"}

#: Spark's times have microseconds, which are what is whole of a packet's.
_MICROSECOND = 1_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def condition(filters):
    """A condition of the core on packets that is true of every packet which all conditions are true of; None where nothing is known."""
    return _pushed.text(_pushed.joined("and", [_part(each, False) for each in filters]))


def _part(condition, is_negated):
    """A condition that is true of every packet for which one of Spark's is true; or false, where it is negated."""
    if isinstance(condition, Not):
        return _part(condition.child, not is_negated)
    attribute = getattr(condition, "attribute", ())
    if len(attribute) != 1:
        return None
    (column,) = attribute
    if isinstance(condition, (IsNull, IsNotNull)):
        return _pushed.is_null(column, isinstance(condition, IsNotNull) != is_negated)
    if isinstance(condition, In):
        return _pushed.is_one_of(column, [_literal(value) for value in condition.value if value is not None], is_negated)
    literal = _literal(condition.value)
    if isinstance(condition, EqualNullSafe):
        # Here null is another value.
        return _pushed.is_other(column, literal) if is_negated else _pushed.compared(column, "Eq", literal)
    operator = _OPERATORS.get(type(condition))
    return _pushed.compared(column, _pushed.NEGATED.get(operator) if is_negated else operator, literal)


def _literal(value):
    """A text, or the least and the most that a number can be; of times, nanoseconds. None for anything else."""
    if type(value) is str:
        return value
    if type(value) is int:
        return value, value
    # Without a time zone, it is not said which one is meant.
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        first = (value - _EPOCH) // datetime.timedelta(microseconds=1) * _MICROSECOND
        return first, first + _MICROSECOND - 1
    return None
