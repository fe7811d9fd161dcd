//! Times, durations and intervals as people and programs write them, for all faces.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::excerpt;
use crate::options::duration_ns;
use crate::{Error, ErrorKind, Result};

/// Nanoseconds of an interval such as `500ms`, `1m` or `60` (seconds); nothing for other text, or for less than a
/// microsecond.
pub fn interval(text: &str) -> Option<i64> {
    let nanoseconds = match duration_ns(text) {
        Some(nanoseconds) => nanoseconds,
        None => text.parse::<f64>().ok()? * 1e9,
    };
    (1e3..9e18).contains(&nanoseconds).then_some(nanoseconds as i64)
}

/// Nanoseconds that are added to times: an interval such as `1h` or `0.5` (seconds), with a sign where it is taken off.
///
/// # Errors
/// `Argument` for other text.
pub fn shift(text: &str) -> Result<i64> {
    let (sign, number) = match text.strip_prefix(['-', '+']) {
        Some(number) => (if text.starts_with('-') { -1.0 } else { 1.0 }, number),
        None => (1.0, text),
    };
    let nanoseconds = duration_ns(number).or_else(|| Some(number.parse::<f64>().ok()? * 1e9));
    match nanoseconds.filter(|nanoseconds| (0.0..9e18).contains(nanoseconds)) {
        Some(nanoseconds) => Ok((sign * nanoseconds) as i64),
        None => {
            let message = format!(
                "expected a time to add, such as 1h, -90s or 0.5 (seconds), found {}",
                excerpt(text)
            );
            Err(Error::new(ErrorKind::Argument, message))
        }
    }
}

/// A time as errors describe it.
pub(super) const TIME_EXPECTED: &str = "a time, such as 2026-11-21T10:00Z, 1795255200 (seconds since 1970) or -10m (before now: s, m, h, d)";

/// Nanoseconds since 1970 of a time in RFC 3339, whose end may be left out, or of a number: seconds since 1970, with or
/// without a fraction, and from 10^11 on milliseconds, from 10^14 on microseconds, from 10^17 on nanoseconds; or of the
/// unit behind it. `-10m` is ten minutes before now: a number with `s`, `m`, `h` or `d`.
///
/// # Errors
/// `Argument` for other text.
pub fn time(text: &str) -> Result<i64> {
    time_ns(text).ok_or_else(|| {
        let message = format!("expected {TIME_EXPECTED}, found {}", excerpt(text));
        Error::new(ErrorKind::Argument, message)
    })
}

/// Parses a time like [`time`]; returns None for other text.
pub(super) fn time_ns(text: &str) -> Option<i64> {
    if let Some(nanoseconds) = before_now(text) {
        return now().checked_sub(nanoseconds);
    }
    if let Some(nanoseconds) = since_1970(text) {
        return Some(nanoseconds);
    }
    // Row (conditions, times): `ts >= 2026-11-21T10:00Z` | times of RFC 3339; seconds and zone (UTC) are optional
    let (date, clock) = match text.split_once(['T', 't', ' ']) {
        Some((date, clock)) => (date, clock),
        None => (text, "00:00Z"),
    };
    let mut parts = date.split('-');
    let year: i64 = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
    let (month, day) = (two_digits(parts.next()?, 1, 12)?, two_digits(parts.next()?, 1, 31)?);
    if parts.next().is_some() || day > days_of(year, month) {
        return None;
    }
    let (clock, zone_minutes) = zone(clock)?;
    let seconds = days_since_1970(year, month, day) * 86_400 - zone_minutes * 60;
    seconds.checked_mul(1_000_000_000)?.checked_add(clock_ns(clock)?)
}

// Row (conditions, times): `ts >= -10m`, `ts < -1.5h` | so long before the command began: `s`, `m`, `h`, `d`
/// Nanoseconds of `-10m`, ten minutes before now. Other units than these are behind numbers since 1970, which may be negative,
/// too, as a program writes them.
fn before_now(text: &str) -> Option<i64> {
    let before = text.strip_prefix('-')?;
    let is_relative = before.ends_with(['m', 'h', 'd'])
        || (before.ends_with('s') && before.bytes().rev().nth(1)?.is_ascii_digit());
    let nanoseconds = duration_ns(before).filter(|_| is_relative)?;
    (nanoseconds < 9e18).then_some(nanoseconds as i64)
}

/// Now, in nanoseconds since 1970.
pub fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

// Row (conditions, times): `ts >= 1795255200`, `ts < 1795255200.25` | seconds since 1970, as `date +%s` and `tcpdump
// -tt` print them
/// Nanoseconds of a number of seconds since 1970, with or without a fraction, as `date +%s` and `tcpdump -tt` print it. One
/// of another unit says so behind it (`ms`, `us`, `ns`), or by its size: from 10^11 on milliseconds, from 10^14 on
/// microseconds, from 10^17 on nanoseconds. As seconds, 10^11 is in the year 5138; in each other unit, the bound is in 1973.
fn since_1970(text: &str) -> Option<i64> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    // Row (conditions, times): `ts >= 1795255200000000000`, `ts >= 5ns` | numbers from 10^11 on are milliseconds, from
    // 10^14 on microseconds, from 10^17 on nanoseconds; or a unit: `s`, `ms`, `us`, `ns`
    let end = text.find(char::is_alphabetic).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let (whole, fraction_digits) = (digits(whole)?, fraction.len() as u32);
    // Digits behind the point.
    let digits_max: u32 = match unit {
        "" => match whole {
            ..100_000_000_000 => 9,
            100_000_000_000..100_000_000_000_000 => 6,
            100_000_000_000_000..100_000_000_000_000_000 => 3,
            _ => 0,
        },
        "s" => 9,
        "ms" => 6,
        "us" | "µs" => 3,
        "ns" => 0,
        _ => return None,
    };
    let of_fraction = match number.contains('.') {
        true => {
            digits(fraction)?.checked_mul(10_i128.pow(digits_max.checked_sub(fraction_digits)?))?
        }
        false => 0,
    };
    i64::try_from(sign * (whole.checked_mul(10_i128.pow(digits_max))? + of_fraction)).ok()
}

/// A number that consists of at most 19 digits.
fn digits(text: &str) -> Option<i128> {
    let is_number =
        (1..=19).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Takes the zone off the end of a time of day; its minutes east of UTC.
fn zone(clock: &str) -> Option<(&str, i64)> {
    if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = clock.find(['+', '-']) else { return Some((clock, 0)) };
    let (clock, zone) = clock.split_at_checked(at)?;
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let minutes = two_digits(hours, 0, 23)? * 60 + two_digits(minutes, 0, 59)?;
    Some((clock, if zone.starts_with('-') { -minutes } else { minutes }))
}

/// Nanoseconds since midnight of `10:00`, `10:00:30` or `10:00:30.25`.
fn clock_ns(clock: &str) -> Option<i64> {
    let mut parts = clock.splitn(3, ':');
    let (hours, minutes) = (two_digits(parts.next()?, 0, 23)?, two_digits(parts.next()?, 0, 59)?);
    let (seconds, fraction) =
        match parts.next().map(|rest| rest.split_once('.').unwrap_or((rest, "0"))) {
            Some((seconds, fraction)) => (two_digits(seconds, 0, 59)?, fraction),
            None => (0, "0"),
        };
    let is_fraction =
        (1..=9).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let nanoseconds: i64 = is_fraction.then(|| format!("{fraction:0<9}"))?.parse().ok()?;
    Some(((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + nanoseconds)
}

fn two_digits(text: &str, min: i64, max: i64) -> Option<i64> {
    let number = (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())??;
    (min..=max).contains(&number).then_some(number)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March, so that the leap day is the
/// last of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    //! Goal: what people write is the time they mean, and what is none is nothing.

    use super::*;

    #[test]
    fn times_may_leave_out_seconds_and_have_a_zone() {
        let day = 1_795_219_200_000_000_000; // date -d 2026-11-21T00:00Z +%s
        let hour = 3_600_000_000_000;
        assert_eq!(time_ns("2026-11-21"), Some(day));
        assert_eq!(time_ns("2026-11-21T10:00Z"), Some(day + 10 * hour));
        assert_eq!(time_ns("2026-11-21T10:00"), Some(day + 10 * hour));
        assert_eq!(time_ns("2026-11-21T10:00:00.5+02:00"), Some(day + 8 * hour + 500_000_000));
        assert_eq!(time_ns("1970-01-01T00:00Z"), Some(0));
        assert_eq!(time_ns("1969-12-31T23:59:59Z"), Some(-1_000_000_000));
        assert_eq!(time_ns("2000-02-29"), Some(951_782_400_000_000_000));
        for wrong in
            ["2026-02-29", "2026-13-01", "2026-11-21T24:00", "2026-11-21T10", "26-1-1", "10:00", ""]
        {
            assert_eq!(time_ns(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_are_seconds_unless_their_size_or_a_unit_says_otherwise() {
        let noon = 1_795_262_400_000_000_000; // date -d 2026-11-21T12:00Z +%s
        let cases = [
            ("1795262400", noon),
            ("1795262400.25", noon + 250_000_000),
            ("1795262400.123456789", noon + 123_456_789),
            ("1795262400000", noon),
            ("1795262400000.5", noon + 500_000),
            ("1795262400000000", noon),
            ("1795262400000000.5", noon + 500),
            ("1795262400000000000", noon),
            ("1795262400s", noon),
            ("1795262400000ms", noon),
            ("1795262400000000us", noon),
            ("1795262400000000µs", noon),
            ("1795262400000000001ns", noon + 1),
            ("17", 17_000_000_000),
            ("17ns", 17),
            ("-17ns", -17),
            ("-1.5", -1_500_000_000),
            ("0", 0),
            ("99999999999ns", 99_999_999_999),
            ("9223372036.854775807", i64::MAX),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
        ];
        for (text, expected) in cases {
            assert_eq!(time_ns(text), Some(expected), "{text}");
        }
        let wrong = [
            "99999999999",
            "9223372036854775808ns",
            "1.",
            ".5",
            "-",
            "s",
            "ns",
            "1.0000000001",
            "1.5ns",
            "1e9",
            "--1",
            "1795262400 s",
            "1m",
            "1.2.3",
        ];
        for text in wrong {
            assert_eq!(time_ns(text), None, "{text}");
        }
    }

    #[test]
    fn times_before_now_have_a_sign_and_a_unit() {
        let seconds = |count: i64| Some(count * 1_000_000_000);
        let cases = [
            ("-10s", seconds(10)),
            ("-10m", seconds(600)),
            ("-1.5h", seconds(5400)),
            ("-2d", seconds(172_800)),
            ("-0s", Some(0)),
        ];
        for (text, expected) in cases {
            assert_eq!(before_now(text), expected, "{text}");
            let (early, found) = (now(), time_ns(text).unwrap_or_default());
            let late = now();
            let expected = expected.unwrap_or_default();
            assert!((early - expected..=late - expected).contains(&found), "{text}");
        }
        for text in ["10m", "-10", "-10ms", "-10ns", "--10m", "-m", "-s", "-1e300d", "-10 m", "-5w"]
        {
            assert_eq!(before_now(text), None, "{text}");
        }
    }

    #[test]
    fn intervals_are_seconds_unless_they_have_a_unit() {
        assert_eq!(
            (interval("1m"), interval("0.5"), interval("0"), interval("x")),
            (Some(60_000_000_000), Some(500_000_000), None, None)
        );
    }
}
