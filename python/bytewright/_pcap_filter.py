"""Conditions on packets in libpcap's language: a filter that leaves out no packet which a condition is true of, for frames that
filter what comes in any case.

What a condition says is told for packets of each version of IP alone: None where that is not known, False where none of them can
be meant."""

import ipaddress

#: Fields as libpcap calls them.
_PORTS = {"src_port": "src", "dst_port": "dst"}
_ADDRESSES = {"src_ip": "src", "dst_ip": "dst"}

#: Protocols that libpcap is asked for in IPv6: their headers follow at once, or behind an extension header, which is left to
#: the caller.
_DIRECT = (6, 17, 58, 132)

#: The most values of a list that libpcap is asked for.
_VALUES_MAX = 64


def of_versions(four, six):
    """The filter for what is known of packets of IPv4 and of IPv6; None where nothing is."""
    if four is None and six is None:
        return None
    # libpcap sees IP headers where they follow the link; all else is left to the caller, and so is what is behind an AH or an
    # extension header.
    direct = " or ".join(f"ip6[6] = {number}" for number in _DIRECT)
    return f"(not ip and not ip6) or {_of_version('ip', 'ip proto 51', four)} or {_of_version('ip6', f'not ({direct})', six)}"


def _of_version(name, unknown, part):
    """The packets of one version of IP that are `unknown` to libpcap, or that a part of a filter is true of."""
    if part is None:
        return name
    return f"({name} and ({unknown}))" if part is False else f"({name} and ({unknown} or {part}))"


def both(one, two, is_and):
    """Two conditions together."""
    if is_and:
        if one is False or two is False:
            return False
        return (one or two) if one is None or two is None else f"({one} and {two})"
    if one is None or two is None:
        return None
    return (one or two) if one is False or two is False else f"({one} or {two})"


def any_of(column, values, version):
    """What it says of packets of `version` that `column` has one of the values."""
    if values is None or not 0 < len(values) <= _VALUES_MAX or any(type(value) not in (int, str) for value in values):
        return None
    parts = [comparison(column, "Eq", value, version) for value in values]
    found = parts[0]
    for part in parts[1:]:
        found = both(found, part, False)
    return found


def comparison(column, operator, value, version):
    """What `column operator value` says of packets of `version`; operators have the names of polars."""
    if column in _PORTS and type(value) is int:
        bounds = {"Eq": (value, value), "Lt": (0, value - 1), "LtEq": (0, value), "Gt": (value + 1, 65_535), "GtEq": (value, 65_535)}
        low, high = bounds.get(operator, (0, -1))
        low, high = max(low, 0), min(high, 65_535)
        return f"({_PORTS[column]} portrange {low}-{high})" if low <= high else None
    if column == "proto" and operator == "Eq" and type(value) is int and 0 <= value <= 255:
        if version == 4:
            return f"(ip proto {value})"
        return f"(ip6[6] = {value})" if value in _DIRECT else False
    if column in _ADDRESSES and operator == "Eq" and type(value) is str:
        return _host(_ADDRESSES[column], value, version)
    return None


def _host(direction, text, version):
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if address.version == version:
        return f"({'ip' if version == 4 else 'ip6'} {direction} host {address})"
    # An address that is IPv4's is told as such, wherever it stands.
    return f"(ip6 {direction} host ::ffff:{address})" if version == 6 else False
