# Generated from the core's table of questions by `make generate`. Do not edit.
"""Questions to captures that are asked by their name."""

from ._bytewright import Rows

__all__ = ["endpoints", "services", "index"]


class Questions:
    """Captures that are asked."""

    __slots__ = ()

    def endpoints(self, **options):
        """Packets and bytes by IP address, sent and received, the addresses with the most bytes first. A packet counts
        for both of its addresses, and one without addresses for none.

        The answer is `Rows` with the columns address, packets, bytes, sent_packets, sent_bytes, received_packets,
        received_bytes, groups.

        `options` are those of `bytewright.options.ENDPOINTS`: `every`, `top`, `where`.
        """
        return Rows._summary("endpoints", [self], True, **options)

    def services(self, **options):
        """Packets and bytes by service, the protocol and the lower of a packet's two ports, sent and received by that
        port, the services with the most bytes first. A packet without ports counts for none.

        The answer is `Rows` with the columns proto, port, packets, bytes, sent_packets, sent_bytes, received_packets,
        received_bytes, groups.

        `options` are those of `bytewright.options.SERVICES`: `every`, `top`, `where`.
        """
        return Rows._summary("services", [self], True, **options)

    def index(self, **options):
        """Make the indexes of captures, files with which questions about a time and packets by their numbers need not
        read a whole capture. An index lies beside its capture, as FILE.bwi, or in the folder that index_dir names; one
        that fits is left as it is, and that of a capture that has grown is made longer.

        The answer is `Rows` with the columns file, index, state, packets, parts, bytes, first_ts, last_ts.

        `options` are those of `bytewright.options.INDEX`: `anew`.
        """
        return Rows._summary("index", [self], True, **options)


def endpoints(*sources, **options):
    """Packets and bytes by IP address, sent and received, the addresses with the most bytes first. A packet counts for
    both of its addresses, and one without addresses for none.

    The answer is `Rows` with the columns address, packets, bytes, sent_packets, sent_bytes, received_packets,
    received_bytes, groups.

    The captures are read in this order as one run. Options are those of `bytewright.options.ENDPOINTS`, `every`, `top`,
    `where`, and of `Capture`.
    """
    return _run("endpoints", sources, options)


def services(*sources, **options):
    """Packets and bytes by service, the protocol and the lower of a packet's two ports, sent and received by that port,
    the services with the most bytes first. A packet without ports counts for none.

    The answer is `Rows` with the columns proto, port, packets, bytes, sent_packets, sent_bytes, received_packets,
    received_bytes, groups.

    The captures are read in this order as one run. Options are those of `bytewright.options.SERVICES`, `every`, `top`,
    `where`, and of `Capture`.
    """
    return _run("services", sources, options)


def index(*sources, **options):
    """Make the indexes of captures, files with which questions about a time and packets by their numbers need not read
    a whole capture. An index lies beside its capture, as FILE.bwi, or in the folder that index_dir names; one that fits
    is left as it is, and that of a capture that has grown is made longer.

    The answer is `Rows` with the columns file, index, state, packets, parts, bytes, first_ts, last_ts.

    The captures are read in this order as one run. Options are those of `bytewright.options.INDEX`, `anew`, and of
    `Capture`.
    """
    return _run("index", sources, options)


def _run(name, sources, options):
    # Here, because captures are made of this module.
    from .captures import _sources

    return Rows._summary(name, _sources(sources, options), False, **options)
