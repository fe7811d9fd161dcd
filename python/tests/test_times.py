"""Goal: a time is the same nanosecond in whatever way a program has it, where packets are written and where they are chosen.

Method: a packet with that time and one a nanosecond earlier, written and chosen by it.
"""

import datetime
import fractions

import pytest

import bytewright
from bytewright import Capture

NOON = 1_795_262_400_000_000_000  # date -d 2026-11-21T12:00Z +%s
DAY, HOUR = 86_400 * 10**9, 3_600 * 10**9


class Summer(datetime.tzinfo):
    """A zone whose clocks are put forward in April, and back at three o'clock of the 25th of October."""

    def utcoffset(self, time):
        autumn = datetime.datetime(2026, 10, 25, 3 - time.fold)
        return datetime.timedelta(hours=2 if datetime.datetime(2026, 4, 1) <= time.replace(tzinfo=None) < autumn else 1)

    def dst(self, time):
        return self.utcoffset(time) - datetime.timedelta(hours=1)

    def tzname(self, time):
        return "summer"


class Index:
    """An integer of a library's."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number

    def __repr__(self):
        return str(self.number)


def of(kind, *arguments):
    """A time that pandas or numpy makes."""
    library, name = kind.split(".")
    return lambda: getattr(pytest.importorskip(library), name)(*arguments)


@pytest.mark.parametrize("time,expected", [
    (datetime.datetime(2026, 11, 21, 13, 0, 0, 123456, tzinfo=Summer()), NOON + 123_456_000),
    (datetime.datetime(2026, 7, 21, 14, 0, tzinfo=Summer()), NOON - 123 * DAY),
    # The hour that comes twice.
    (datetime.datetime(2026, 10, 25, 2, 30, tzinfo=Summer()), NOON - 27 * DAY - 23 * HOUR // 2),
    (datetime.datetime(2026, 10, 25, 2, 30, tzinfo=Summer(), fold=1), NOON - 27 * DAY - 21 * HOUR // 2),
    (datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.timezone.utc), NOON),
    (1_795_262_400.25, NOON + 250_000_000),
    (fractions.Fraction(NOON + 1, 10**9), NOON + 1),
    (NOON + 1, NOON + 1),
    (Index(NOON + 1), NOON + 1),
    (of("numpy.float64", 1_795_262_400.25), NOON + 250_000_000),
    (of("numpy.int64", NOON + 1), NOON + 1),
    (of("pandas.Timestamp", "2026-11-21T13:00:00.123456789+01:00"), NOON + 123_456_789),
])  # fmt: skip
def test_each_kind_of_time_is_written_and_compared_to_the_nanosecond(tmp_path, time, expected):
    time, path = time() if callable(time) else time, tmp_path / "times.pcapng"
    with bytewright.CaptureWriter(path) as writer:
        writer.write(b"before", time=expected - 1)
        writer.write(b"then", time=time)
    assert [packet.ts for packet in Capture(path)] == [expected - 1, expected]
    Capture(path).write_to(tmp_path / "from.pcapng", from_time=time)
    Capture(path).write_to(tmp_path / "to.pcapng", to_time=time)
    assert [packet.captured for packet in Capture(tmp_path / "from.pcapng")] == [b"then"]
    assert [packet.captured for packet in Capture(tmp_path / "to.pcapng")] == [b"before"]


@pytest.mark.parametrize("bound,count", [
    (1_795_262_400, 2), (1_795_262_401, 1), (Index(1_795_262_401), 1), ("1795262400.5", 1), (1_795_262_400_001, 1), (NOON + 1, 1),
    (datetime.date(2026, 11, 21), 2), (datetime.date(2026, 11, 22), 0),
])  # fmt: skip
def test_numbers_and_days_choose_as_in_a_condition(tmp_path, bound, count):
    path = tmp_path / "times.pcapng"
    with bytewright.CaptureWriter(path) as writer:
        writer.write(b"", time=NOON)
        writer.write(b"", time=NOON + 10**9)
    assert Capture(path).write_to(tmp_path / "from.pcapng", from_time=bound)["packets"] == count
    assert len(list(bytewright.packets(path, "ts", where=f"ts >= {bound}"))) == count


@pytest.mark.parametrize("time", [datetime.datetime(2026, 11, 21), float("nan"), float("inf"), datetime.date(2026, 11, 21), "noon", []])
def test_what_is_no_time_is_refused(tmp_path, time):
    with bytewright.CaptureWriter(tmp_path / "none.pcapng") as writer, pytest.raises(TypeError, match="expected a datetime with a time zone"):
        writer.write(b"", time=time)
