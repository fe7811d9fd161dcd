"""What conditions on `ts` say together: the first and the last time, in nanoseconds since 1970, of packets that they can be true
of, for frames that filter what comes in any case. None where nothing is known."""

#: The first and the last time that a column has.
_FIRST, _LAST = -(2**63), 2**63 - 1


def compared(operator, first, last):
    """The times that compare so with one between `first` and `last`; one that is also equal is in them. Operators have the
    names of polars."""
    return (_FIRST if operator in ("Lt", "LtEq") else first, _LAST if operator in ("Gt", "GtEq") else last)


def common(one, two):
    """The times of packets for which both conditions are true."""
    if one is None or two is None:
        return one or two
    return max(one[0], two[0]), min(one[1], two[1])


def joined(one, two):
    """The times of packets for which one of the conditions is true, or both."""
    if one is None or two is None:
        return None
    return min(one[0], two[0]), max(one[1], two[1])


def condition(times):
    """A condition in the core's language that is true of packets of these times; None where none is left out."""
    if times is None:
        return None
    # No packet is outside of the column's times, which are fewer than those that a program can compare with.
    first, last = min(times[0], _LAST), max(times[1], _FIRST)
    bounds = [f"ts >= {first}"] * (first > _FIRST) + [f"ts <= {last}"] * (last < _LAST)
    return " and ".join(bounds) or None
