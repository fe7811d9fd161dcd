"""What Spark's conditions on packets say in libpcap's language."""

from pyspark.sql.datasource import EqualTo, GreaterThan, GreaterThanOrEqual, In, LessThan, LessThanOrEqual

from .._pcap_filter import any_of, both, comparison, of_versions

_OPERATORS = {EqualTo: "Eq", GreaterThan: "Gt", GreaterThanOrEqual: "GtEq", LessThan: "Lt", LessThanOrEqual: "LtEq"}


def pushed(filters):
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
