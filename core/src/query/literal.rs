//! Values as people write them, read as the type of the field that they are compared with.

use std::net::IpAddr;

use super::lexer::TokenKind;
use crate::batch::{DataType, Value};

/// A value that a field is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    Integer(i128),
    Real(f64),
    Bool(bool),
    Text(String),
    /// Addresses that have the first bits in common; all of them, for one address.
    Network {
        first: u128,
        bits: u32,
    },
}

/// Nanoseconds of each unit of time.
const UNITS: [(&str, f64); 7] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 6e10), ("h", 3.6e12)];

/// Integers up to here are exact in a double.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

impl Literal {
    /// Reads a word as a value of a type; nothing where it is not one.
    pub(super) fn read(word: &TokenKind, data_type: DataType) -> Option<Literal> {
        let text = match word {
            TokenKind::Word(text) | TokenKind::Quoted(text) => text.as_str(),
            TokenKind::Sign(_) => return None,
        };
        match data_type {
            DataType::Enumeration(names) if names.is_closed => {
                names.number(text).map(|_| Literal::Text(text.to_owned()))
            }
            DataType::Enumeration(names) => names
                .number(text)
                .map(|number| Literal::Integer(number.into()))
                .or_else(|| number(text)),
            DataType::Address => network(text),
            DataType::Bool => text.parse().ok().map(Literal::Bool),
            DataType::TimeNs => time(text).map(|ns| Literal::Integer(ns.into())),
            DataType::TimeUs => time(text).map(|ns| Literal::Integer((ns / 1000).into())),
            DataType::DurationUs => duration_ns(text)
                .map_or_else(|| number(text), |nanoseconds| Some(of_double(nanoseconds / 1e3))),
            DataType::Text | DataType::Json | DataType::Bytes | DataType::Uuid => {
                Some(Literal::Text(text.to_owned()))
            }
            _ => number(text),
        }
    }

    /// What a word of that type looks like.
    pub(super) fn expected(data_type: DataType) -> String {
        match data_type {
            DataType::Address => "an address or a network, such as 10.0.0.0/8".to_owned(),
            DataType::TimeNs | DataType::TimeUs => {
                "a time, such as 2026-11-21T10:00Z, or nanoseconds since 1970".to_owned()
            }
            DataType::DurationUs => "a duration, such as 50ms or 5s".to_owned(),
            DataType::Bool => "true or false".to_owned(),
            DataType::Enumeration(names) => {
                let names: Vec<_> = names.names.iter().map(|(_, name)| *name).collect();
                format!("a number or a name ({})", names.join(", "))
            }
            DataType::TcpFlags => "a number, such as 0x12".to_owned(),
            _ => "a number, such as 443 or 1e6".to_owned(),
        }
    }
}

/// How a value stands to a literal; nothing where there is no value, or they are of different kinds.
pub(super) fn compare(value: &Value<'_>, literal: &Literal) -> Option<std::cmp::Ordering> {
    match (value, literal) {
        (Value::Null, _) => None,
        (Value::Bool(value), Literal::Bool(wanted)) => Some(value.cmp(wanted)),
        (Value::Double(value), Literal::Integer(wanted)) => value.partial_cmp(&(*wanted as f64)),
        (Value::Double(value), Literal::Real(wanted)) => value.partial_cmp(wanted),
        (Value::Address(address), Literal::Network { first, bits: 128 }) => {
            Some(address_bits(*address).cmp(first))
        }
        (_, Literal::Integer(wanted)) => integer(value).map(|value| value.cmp(wanted)),
        (_, Literal::Real(wanted)) => {
            integer(value).and_then(|value| (value as f64).partial_cmp(wanted))
        }
        (Value::Bytes(bytes), Literal::Text(wanted)) => Some((*bytes).cmp(wanted.as_bytes())),
        (Value::Json(text), Literal::Text(wanted)) => Some((*text).cmp(wanted)),
        (Value::Uuid(_), Literal::Text(wanted)) => Some(value.to_string().cmp(wanted)),
        (_, Literal::Text(wanted)) => value.text().map(|text| text.cmp(wanted)),
        _ => None,
    }
}

/// Whether a value is a literal, or in the network that it is.
pub(super) fn is_in(value: &Value<'_>, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Address(address), Literal::Network { first, bits }) => {
            let shift = 128 - bits;
            let differing = address_bits(*address) ^ first;
            shift == 128 || differing >> shift == 0
        }
        _ => compare(value, literal) == Some(std::cmp::Ordering::Equal),
    }
}

fn integer(value: &Value<'_>) -> Option<i128> {
    Some(match value {
        Value::Unsigned(number) | Value::Duration(number) => (*number).into(),
        Value::Signed(number) | Value::Time(number) => (*number).into(),
        _ => return None,
    })
}

/// An address in 128 bits; IPv4 as `::ffff:a.b.c.d`.
fn address_bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_ipv6_mapped()),
        IpAddr::V6(address) => u128::from(address),
    }
}

/// An address, or a network as `10.0.0.0/8`.
fn network(text: &str) -> Option<Literal> {
    let (address, len) = match text.split_once('/') {
        Some((address, len)) => (address, Some(len.parse::<u32>().ok()?)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let width = if address.is_ipv4() { 32 } else { 128 };
    let len = len.unwrap_or(width);
    (len <= width)
        .then(|| Literal::Network { first: address_bits(address), bits: 128 - width + len })
}

/// A number in decimal, hexadecimal (`0x12`) or with an exponent (`1e6`).
fn number(text: &str) -> Option<Literal> {
    if let Some(digits) = text.strip_prefix("0x") {
        return i128::from_str_radix(digits, 16).ok().map(Literal::Integer);
    }
    if let Ok(number) = text.parse() {
        return Some(Literal::Integer(number));
    }
    text.parse().ok().filter(|number: &f64| number.is_finite()).map(of_double)
}

/// An integer where that is exact.
fn of_double(number: f64) -> Literal {
    if number.fract() == 0.0 && number.abs() < EXACT_MAX {
        Literal::Integer(number as i128)
    } else {
        Literal::Real(number)
    }
}

/// Nanoseconds of a number with a unit.
fn duration_ns(text: &str) -> Option<f64> {
    let digits = text.find(|character: char| character.is_alphabetic() && character != 'e')?;
    let (number, unit) = (text.get(..digits)?, text.get(digits..)?);
    let (_, nanoseconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let number: f64 = number.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * nanoseconds)
}

/// Nanoseconds of an interval such as `500ms`, `1m` or `60` (seconds); nothing for other text, or for less than a
/// microsecond.
pub fn interval(text: &str) -> Option<i64> {
    let nanoseconds = match duration_ns(text) {
        Some(nanoseconds) => nanoseconds,
        None => text.parse::<f64>().ok()? * 1e9,
    };
    (1e3..9e18).contains(&nanoseconds).then_some(nanoseconds as i64)
}

/// Nanoseconds since 1970 of a time in RFC 3339, whose end may be left out, or of a plain number; nothing for other text.
pub fn time(text: &str) -> Option<i64> {
    if let Ok(nanoseconds) = text.parse() {
        return Some(nanoseconds);
    }
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
    //! Goal: what people write is the value they mean, and what is none is nothing.

    use super::*;

    #[test]
    fn times_may_leave_out_seconds_and_have_a_zone() {
        let day = 1_795_219_200_000_000_000; // date -d 2026-11-21T00:00Z +%s
        let hour = 3_600_000_000_000;
        assert_eq!(time("2026-11-21"), Some(day));
        assert_eq!(time("2026-11-21T10:00Z"), Some(day + 10 * hour));
        assert_eq!(time("2026-11-21T10:00"), Some(day + 10 * hour));
        assert_eq!(time("2026-11-21T10:00:00.5+02:00"), Some(day + 8 * hour + 500_000_000));
        assert_eq!(time("1970-01-01T00:00Z"), Some(0));
        assert_eq!(time("1969-12-31T23:59:59Z"), Some(-1_000_000_000));
        assert_eq!(time("2000-02-29"), Some(951_782_400_000_000_000));
        assert_eq!(time("17"), Some(17));
        for wrong in
            ["2026-02-29", "2026-13-01", "2026-11-21T24:00", "2026-11-21T10", "26-1-1", "10:00", ""]
        {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_durations_and_networks_are_read_as_their_field_needs_them() {
        let read =
            |text: &str, data_type| Literal::read(&TokenKind::Word(text.to_owned()), data_type);
        assert_eq!(read("1e6", DataType::U64), Some(Literal::Integer(1_000_000)));
        assert_eq!(read("0x12", DataType::TcpFlags), Some(Literal::Integer(18)));
        assert_eq!(read("1.5ms", DataType::DurationUs), Some(Literal::Integer(1500)));
        assert_eq!(read("500ns", DataType::DurationUs), Some(Literal::Real(0.5)));
        assert_eq!(read("7", DataType::DurationUs), Some(Literal::Integer(7)));
        let ten = Literal::Network { first: 0xffff_0a00_0000, bits: 104 };
        assert_eq!(read("10.0.0.0/8", DataType::Address), Some(ten));
        for (wrong, data_type) in [
            ("10.0.0.0/33", DataType::Address),
            ("x", DataType::U16),
            ("5 s", DataType::DurationUs),
            ("1e999", DataType::U64),
            ("yes", DataType::Bool),
            ("1970", DataType::Address),
        ] {
            assert_eq!(read(wrong, data_type), None, "{wrong}");
        }
        assert_eq!(
            (interval("1m"), interval("0.5"), interval("0"), interval("x")),
            (Some(60_000_000_000), Some(500_000_000), None, None)
        );
    }
}
