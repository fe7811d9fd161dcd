"""Packets, flows and Thrift calls of captures (pcap and pcapng, plain, gzip or zstd), as objects and as Arrow columns.

    with bytewright.Capture("trace.pcap.gz", filter="tcp port 443") as capture:
        capture.count_by("dst_port")
        for packet in capture:
            print(packet.src_ip, packet.length)

    polars.DataFrame(bytewright.packets("trace.pcap.gz", "ts", "src_ip", "length"))

What gives columns has Arrow's PyCapsule interface (`__arrow_c_stream__`): pyarrow, pandas, polars, DuckDB and others take it
as it is, without a copy. Times are nanoseconds since 1970-01-01 00:00 UTC, in columns `timestamp[ns, UTC]`; durations are
microseconds; addresses are text. A field that a packet does not have is None.

A program that reads columns may request a schema: the same columns in any order, with other types of the same kind (integers, units
of time, layouts of text, dictionaries). A value that a requested type cannot hold is a `LimitError`; other columns or kinds are
an `ArgumentError`; a column whose requested type is not made here keeps its own.

A damaged capture gives all that is before the damage, and then raises `FormatError`, `TruncatedError` or `LimitError`,
which say where. A program that reads columns has nothing then: an error ends the whole frame or table. With
`damage="keep"` the rows end before the damage instead, and a `DamageWarning` says where; `Rows.damage` and `Capture.damage`
have the errors. Python's lock is not held while captures are read; Ctrl-C ends reading.
"""

import operator
import os

from . import _bytewright
from ._bytewright import Rows
from ._errors import ArgumentError, file_name, no_match
from ._open_file import OpenFile
from ._options import split
from .options import CAPTURE
from .questions import Questions

class Capture(OpenFile, Questions, _bytewright.Capture):
    """A capture: a path, a pattern that one file matches, or any binary file object with `read` or `readinto`, which can be read once.

    Iterating gives the packets, each an object of its own. A path is read anew by each iteration.

    `options` are those of `bytewright.options.CAPTURE`: `filter`, `flow`, `inner`, `jobs`, `index`, `index_dir`, `damage`. There is by default one job
    for each core.

    Raises `FileNotFoundError` and its like where the file cannot be opened, `ArgumentError` where the filter is none, and
    `MissingLibraryError` where there is one and libpcap is not on this machine.
    """

    __slots__ = ()

    def __new__(cls, source, **options):
        return _bytewright.Capture.__new__(cls, _one_file(source), **options)

    @classmethod
    def live(cls, interface, **options):
        """Captures packets of a network interface as they come, with libpcap.

        That takes the right to capture: root, or CAP_NET_RAW. Iterating goes on until the program leaves the loop, or `stop`.
        The first iteration has the packets from here on, and each later one those from its beginning on.

            with bytewright.Capture.live("eth0", filter="udp port 53") as capture:
                for packet in capture:
                    print(packet.src_ip)

        `interface` is its name; "any" is all of them. `options` are those of `bytewright.options.LIVE` (`snaplen`, `buffer`,
        `promiscuous`) and of `Capture`. The system leaves out what the filter does not match.

        Flows of an interface end with their `idle_timeout` also while no packet comes.

        Raises `ArgumentError` where there is no such interface, with the names of those there are; `PermissionError` without
        the right to capture; `MissingLibraryError` without libpcap.
        """
        options, live = split(options, CAPTURE)
        return cls(_bytewright.Interface(interface, **live), **options)

    def __iter__(self):
        return iter(Rows._frames(self))

    def __getitem__(self, number):
        """The packet with this number, from 1: read up to there, or out of its part where the capture has an index.

        Raises `IndexError` where the capture has no such packet, or its options leave it out.
        """
        number = operator.index(number)
        packet = self._frame(number) if 0 < number < 1 << 64 else None
        if packet is None:
            raise IndexError(f"expected the number of a packet of {self.name}, found {number}")
        return packet

    def packets(self, *fields, **options):
        """The packets as `Rows` with these fields, of which iterating gives tuples; some common ones where none is named.

        `options` are those of `bytewright.options.PACKETS`: `rows`, `numbers`, and `where`, a condition on packets, as the command's
        --where: 'ts >= "2026-11-21T10:00Z" and port == 443'. Others are left out.
        """
        _refuse_options(self, options)
        return Rows._packets([self], list(fields), **options)

    def batches(self, *fields, **options):
        """Iterates over the packets in batches of columns, of at most so many rows: see `packets`."""
        return self.packets(*fields, **options).batches()

    def flows(self, *fields, into=None, format=None, **options):
        """The packets summed up by flow, both directions in one, as `Rows`. Iterating gives each `Flow` when it ends.

        `options` are those of `bytewright.options.FLOWS`: `idle_timeout` and `active_timeout` are seconds after which a flow
        has ended, without a packet and in any case; `max_flows` bounds the open flows at one time; `where` is a condition on
        flows.

        With `into` and `format`, the flows are written to that file as another program has them, and their number is returned:
        "zeek" (its conn.log), "zeek-json", "ecs" (the Elastic Common Schema) or "ipfix". The file has its name when it is whole; of
        an interface, after `stop`, and also when an exception, an interrupt or `close` ends it, with the flows so far. It replaces
        another capture, a table or a store only with `force`, and this capture never.

        Raises `ArgumentError` where an option belongs to `Capture`.
        """
        _refuse_options(self, options)
        if format is None and into is not None:
            raise ArgumentError("expected format beside into, found none; bytewright.flows(capture, into=...) adds flows up in a file")
        if format is not None:
            return _logged([self], into, format, list(fields), options)
        return Rows._flows([self], list(fields), **options)

    def calls(self, *fields, **options):
        """The Thrift calls in the TCP connections as `Rows`, on any port. Iterating gives each `Call` when its answer has come.

        `options` are those of `bytewright.options.CALLS` and `CALL_COLUMNS`. With the IDL file `idl` of the service only its methods are given;
        `service` chooses one where the file has several, and `include` names folders to look for files that it includes.
        `where` is a condition on calls, and `method` takes those of one method. With `arguments` as well, behind the columns of the calls
        are `arguments` and `result` of that method, as structs.
        """
        _refuse_options(self, options)
        return Rows._calls([self], list(fields), **options)

    def sum(self, *fields, **options):
        """Adds packets up by the values of fields, and by intervals of time, as a `Batch`.

        Each of `fields` is added up; packets are counted in any case. `options` are those of `bytewright.options.SUMS`: `by`,
        `every`, `top` and `where`. Groups come by time and then the largest first, by the first of `fields` or else by packets.
        In the column `groups` is how many groups the row stands for: beyond 262,144 the smallest are counted together.
        """
        return self._sum(list(fields), **options)

    def write_to(self, path, *, from_time=None, to_time=None, **options):
        """Writes packets to a new capture; returns a dict of totals.

        The name says the form: .pcap or .pcapng, with .gz or .zst behind it to compress it. The file has its name when it is
        whole, and replaces the one that has it: a capture, a table or a store only with `force`, and the capture itself never.
        See docs/cut.md for what is kept.

        `options` are those of `bytewright.options.CUT`. `from_time` and `to_time` are a `datetime` with a time zone, text and
        integers as in a condition, such as "2026-11-21T10:00Z" or seconds since 1970, and from 10^17 on nanoseconds, or a float
        of seconds.

        The totals are `packets`, `bytes` (on the wire), `late` (packets that are earlier than one before them), `duplicates`
        (packets that `drop_duplicates` left out), `opaque` (packets without a known header, with `anonymize`), `files`
        (that `rotate` makes of it) and `damage` (the error that ended this capture, or None).
        """
        return self._write_to(path, from_time=_time_text(from_time), to_time=_time_text(to_time), **options)


class CaptureWriter(OpenFile, _bytewright.CaptureWriter):
    """Writes packets to a new capture: .pcap or .pcapng by the name, with .gz or .zst behind it to compress it.

        with bytewright.CaptureWriter("answers.pcapng.zst") as writer:
            writer.write(frame, time=time.time_ns(), interface="eth0", comment="by hand")

    The file has its name when it is closed, and replaces the one that has it: a reader, or a power cut, finds the old one or
    the new one, whole. Where the `with` block raises there is no file, or the old one; so it is after `discard()`. With
    `force=True`, it replaces a file that is a capture, a table or a store, too.
    """

    __slots__ = ()

    def write(self, data, *, time=None, **details):
        """Appends a packet, of which `data` was captured: bytes, or what has the buffer protocol.

        - `time`: an integer of nanoseconds since 1970, a float of seconds, or a `datetime` with a time zone, also one of pandas.
          Without a time, pcap says 1970.
        - `details`: the others of `bytewright.options.WRITTEN_PACKET`.

        Raises `ArgumentError` or `LimitError` for what the format cannot hold, and appends nothing then; `ClosedError` once it
        was closed or discarded.
        """
        self._write(data, _nanoseconds(time), **details)

    def __exit__(self, error, *_more):
        if error is None:
            self.close()
        else:
            self.discard()


class FlowStore(OpenFile, _bytewright.FlowStore):
    """Flows of many captures, added up in one file. It is made where it is missing; `read_only` reads it beside others.

    Iterating gives each `Flow`, in the order of addresses; `len(store)` is how many there are. A capture that was counted
    before is recognised by its content, whatever its name and compression, and not counted again.

        with bytewright.FlowStore("week.bwt") as store:
            store.merge("monday.bwt", "tuesday.bwt")
            busiest = max(store, key=lambda flow: flow.bytes)

    Raises `LockError` where another process has it open, `FormatError` or `CorruptError` where the file is something else or
    damaged.
    """

    __slots__ = ()

    def merge(self, *paths):
        """Adds the flows of other stores up in this one, each store whole or not at all; returns a dict for each, of `file`,
        `added`, `captures`, `flows`, `new_flows` and `counted_as`.

        Captures count once: a store of which all captures were counted before adds nothing. Where only some were, their sums
        cannot be told apart: `ArgumentError`, and stores before it stay merged.
        """
        return self._merge(list(paths))


def packets(source, *fields, **options):
    """The packets of a capture, or of several, as `Rows`: see `Capture.packets`.

    `source` is a path, a pattern such as "monday/*.pcap.gz", a file object, a `Capture`, or a list of these. Options are those of
    `Capture.packets` and of `Capture`. A `Capture` has its own: beside one, they are an `ArgumentError`.
    """
    return Rows._packets(_sources([source], options), list(fields), **options)


def flows(*sources, fields=(), into=None, format=None, **options):
    """The flows of captures, which are read in this order as one run, as `Rows`: see `Capture.flows`.

    Options are those of `Capture.flows` and of `Capture`. With `into`, a path or a `FlowStore`, the flows of each capture are
    merged into a table file instead, in one transaction that is on disk when its turn ends. A capture that was counted before,
    whatever its name, is not counted again. What became of each is a dict: `file`, `added`, `packets`, `packets_without_flow`,
    `flows`, `new_flows`, `counted_as`, `content_id` and `damage`.

    With `format` as well, the flows of all captures are written to the file `into` as another program has them: "zeek" (its conn.log),
    "zeek-json", "ecs" (the Elastic Common Schema) or "ipfix". The file has its name when it is whole, and replaces a capture, a table or
    a store only with `force`. Returns the number of flows.
    """
    if format is not None:
        return _logged(_sources(sources, options), into, format, list(fields), options)
    if into is not None:
        return _merged(_sources(sources, options), into, options)
    return Rows._flows(_sources(sources, options), list(fields), **options)


def calls(*sources, fields=(), **options):
    """The Thrift calls of captures as `Rows`: see `Capture.calls`. A connection ends with its capture."""
    return Rows._calls(_sources(sources, options), list(fields), **options)


def count_by(source, field, **options):
    """Counts the packets of a capture, or of several, by the value of a field, as a dict in order of the values.

    Packets without the field are counted under None, which comes first. Options are those of `bytewright.options.COUNTS`, and
    of `Capture`.
    """
    counts = {}
    options, counted = split(options, CAPTURE)
    sources = _sources([source], options)
    for one in sources:
        for value, count in _opened(one, options).count_by(field, **counted).items():
            counts[value] = counts.get(value, 0) + count
    if len(sources) == 1:
        return counts
    return dict(sorted(counts.items(), key=lambda entry: (entry[0] is not None, entry[0])))


def info(source, **options):
    """Reads all of a capture and says what it is: see `Capture.info`."""
    if isinstance(source, Capture):
        _refuse_options(source, options)
    return _opened(source, options).info()


def _time_text(time):
    """A time as the core reads it."""
    if time is None or isinstance(time, str):
        return time
    if hasattr(time, "__index__"):
        return str(time.__index__())
    # A day is one in UTC.
    is_day = hasattr(time, "isoformat") and not hasattr(time, "tzinfo")
    return time.isoformat() if is_day else f"{_nanoseconds(time)}ns"


def _nanoseconds(time):
    """A time as nanoseconds since 1970, which integers are; other numbers are seconds."""
    if time is None or hasattr(time, "__index__"):
        return time and time.__index__()
    if hasattr(time, "tzinfo"):
        return _of_datetime(time)
    try:
        numerator, denominator = time.as_integer_ratio()
    except (AttributeError, OverflowError, ValueError):
        message = "expected a datetime with a time zone, integer nanoseconds or seconds with a fraction since 1970"
        raise TypeError(f"{message}, found {_bytewright.excerpt(repr(time))}") from None
    return numerator * 1_000_000_000 // denominator


def _of_datetime(time):
    """Nanoseconds without the rounding of `timestamp()`."""
    import datetime

    if time.tzinfo is None:
        raise TypeError("expected a datetime with a time zone, found one without")
    # Times of one zone would be told apart by its clocks, which are put forward and back.
    since = time - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    # Those of pandas have nanoseconds, too.
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000 + getattr(since, "nanoseconds", 0)


def report(*sources, into, **options):
    """Writes one page of HTML about captures, which needs no network: traffic over time, hosts, conversations, ports, Thrift
    calls, damage.

    `options` are those of `bytewright.options.REPORT` and of `Capture`. With `where`, only the packets that hold a condition, in
    the words of the command's --where, are in the report. A file that is there is replaced when the page is whole: a source
    never, and another capture, a table or a store only with `force`. The page is called `title`, or as the captures are. What
    became of each capture is a dict: `file`, `packets`, `bytes` and `damage`, the error that ended it or None. Raises
    `FormatError` or `TruncatedError` where a source is no capture, and then writes no page.
    """
    page = _bytewright.Report(into, **options)
    options, _ = split(options, CAPTURE)
    opened = (_opened(source, options) for source in _sources(sources, options))
    reported = [capture._add_to_report(page) for capture in opened]
    page.write()
    return reported


def _logged(sources, into, format, fields, options):
    if fields:
        shown = _bytewright.excerpt(repr(fields))
        raise ArgumentError(f"expected no fields with format={format!r}, which has its own, found {shown}")
    if into is None or isinstance(into, FlowStore):
        found = "none" if into is None else "a FlowStore"
        raise ArgumentError(f"expected a path as into, to write flows with format={format!r}, found {found}")
    log = _bytewright.FlowLog(into, format, **options)
    options, _ = split(options, CAPTURE)
    try:
        for source in sources:
            _opened(source, options)._add_to_flow_log(log)
        return log.finish()
    finally:
        log.discard()


def _merged(sources, into, options):
    options, limits = split(options, CAPTURE)
    if isinstance(into, FlowStore):
        return [_opened(source, options)._merge_flows(into, **limits) for source in sources]
    store = _bytewright.FlowStore._to_count(into)
    try:
        return [_opened(source, options)._merge_flows(store, **limits) for source in sources]
    finally:
        store.close()


def _opened(source, options):
    return source if isinstance(source, Capture) else Capture(source, **options)


def _sources(sources, options):
    """The captures that are meant: patterns are replaced by the files that match, in order of their names, and file objects by
    captures with these options."""
    found = []
    for source in sources:
        if isinstance(source, (list, tuple)):
            found += _sources(source, options)
        elif _is_pattern(source):
            found += _matches(source)
        elif isinstance(source, Capture):
            _refuse_options(source, options)
            found.append(source)
        elif isinstance(source, (str, os.PathLike)):
            found.append(source)
        else:
            found.append(Capture(source, **split(options, CAPTURE)[0]))
    return found


def _files(source):
    """The files that are meant, in order: patterns are replaced by those that match. Everything else stays."""
    if isinstance(source, (list, tuple)):
        return [file for one in source for file in _files(one)]
    return _matches(source) if _is_pattern(source) else [source]


def _refuse_options(capture, options):
    """A capture that is open was opened with options of its own: others beside it would be ignored."""
    given = [name for name, value in options.items() if name in CAPTURE and value not in (None, CAPTURE[name])]
    if given:
        told = ", ".join(f"{name}=..." for name in given)
        shown = _bytewright.excerpt(repr(capture))
        raise ArgumentError(f"expected {', '.join(given)} where the capture is opened, found it beside {shown}; use Capture(path, {told})")


def _is_pattern(source):
    # A file may have such a name.
    return isinstance(source, str) and bool(set(source) & set("*?[")) and not os.path.exists(source)


def _one_file(source):
    """A path, or the one that a pattern means."""
    if not _is_pattern(source):
        return source
    first, *more = _matches(source)
    if more:
        shown, one = (repr(file_name(path)) for path in (source, first))
        instead = f"Capture({one}), or packets, flows, calls and count_by, which read several"
        raise ArgumentError(f"expected a pattern that one file matches, found {1 + len(more)} for {shown}; use {instead}")
    return first


def _matches(pattern):
    # Here, because it takes longer to import than all the rest.
    import glob

    matches = sorted(glob.glob(pattern, recursive=True))
    if not matches:
        raise no_match(pattern)
    return matches
