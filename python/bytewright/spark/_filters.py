"""What Spark's conditions on packets say in libpcap's language, and of their times."""

import datetime

from pyspark.sql.datasource import EqualTo, GreaterThan, GreaterThanOrEqual, In, LessThan, LessThanOrEqual

from .. import _time_range
from .._pcap_filter import any_of, both, comparison, of_versions

_OPERATORS = {EqualTo: "Eq", GreaterThan: "Gt", GreaterThanOrEqual: "GtEq", LessThan: "Lt", LessThanOrEqual: "LtEq"}


#: Spark's times have microseconds, which are what is whole of a packet's.
_MICROSECOND = 1_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def time_condition(filters):
    """A condition on `ts` that is true of every packet which all conditions are true of; None where nothing is known."""
    times = None
    for condition in filters:
        times = _time_range.common(times, _times(condition))
    return _time_range.condition(times)


def _times(condition):
    operator = _OPERATORS.get(type(condition))
    if operator is None or condition.attribute != ("ts",) or not isinstance(condition.value, datetime.datetime):
        return None
    # Without a time zone, it is not said which one is meant.
    if condition.value.tzinfo is None:
        return None
    first = (condition.value - _EPOCH) // datetime.timedelta(microseconds=1) * _MICROSECOND
    return _time_range.compared(operator, first, first + _MICROSECOND - 1)


def libpcap_filter(filters):
    """A filter of libpcap that leaves out no packet which all conditions are true of; None where nothing is known."""
    return of_versions(*(_all(filters, version) for version in (4, 6)))


def _all(filters, version):
    told = None
    for condition in filters:
        told = both(told, _part(condition, version), True)
    return told


def _part(condition, version):
    operator = _OPERATORS.get(type(condition))
    if operator is None and type(condition) is not In or len(condition.attribute) != 1:
        return None
    (column,) = condition.attribute
    if operator is None:
        return any_of(column, [value for value in condition.value if value is not None], version)
    return comparison(column, operator, condition.value, version)
