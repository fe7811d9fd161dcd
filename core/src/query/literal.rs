//! Values as people write them, read as the type of the field that they are compared with.

use std::cmp::Ordering;
use std::net::IpAddr;

use super::intervals::{Intervals, joined};
use super::lexer::TokenKind;
use super::text_test::bytes_of;
use super::time::{TIME_EXPECTED, time_ns};
use crate::batch::{DataType, TCP_FLAGS, Value, tcp_flags_of};
use crate::options::duration_ns;

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
    /// Numbers from the first to the last.
    Range(Box<(Literal, Literal)>),
}

// Row (conditions, values): `dst_port == 443`, also `=`, `!=`, `<`, `<=`, `>`, `>=` | the field has that value.
// Numbers: `443`, `0x1bb`, `1e6`, `10M`; `k`, `M` and `G` are powers of 1000. Protocols by name, in any letters: `tcp`,
// `TCP`
/// Units of numbers: powers of 1000, as in our output.
const MULTIPLES: [(char, i128); 4] =
    [('k', 1000), ('K', 1000), ('M', 1_000_000), ('G', 1_000_000_000)];

/// Integers up to here are exact in a double.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

impl Literal {
    /// Reads a word as a value of a type; nothing where it is not one.
    pub(super) fn read(word: &TokenKind, data_type: DataType) -> Option<Literal> {
        let text = match word {
            TokenKind::Word(text) | TokenKind::Quoted(text) => text.as_str(),
            TokenKind::Expression(_) | TokenKind::Sign(_) => return None,
        };
        match data_type {
            DataType::Enumeration(names) if names.is_closed => {
                let name = names.number(text).and_then(|number| names.name(number));
                name.map(|name| Literal::Text(name.to_owned()))
            }
            DataType::Enumeration(names) => names
                .number(text)
                .map(|number| Literal::Integer(number.into()))
                .or_else(|| number(text)),
            DataType::Address => network(text),
            DataType::Bool => text.parse().ok().map(Literal::Bool),
            DataType::TimeNs => time_ns(text).map(|ns| Literal::Integer(ns.into())),
            DataType::TimeUs => time_ns(text).map(|ns| Literal::Integer((ns / 1000).into())),
            // Row (conditions, values): `duration > 5s`, `latency >= 50ms` | durations: `ns`, `us`, `ms`, `s`, `m`,
            // `h`, `d`; without a unit, microseconds
            DataType::DurationUs => duration_ns(text)
                .map_or_else(|| number(text), |nanoseconds| Some(of_double(nanoseconds / 1e3))),
            DataType::Text | DataType::Json | DataType::Bytes | DataType::Uuid => {
                Some(Literal::Text(text.to_owned()))
            }
            DataType::TcpFlags => tcp_flags_of(text)
                .map(|bits| Literal::Integer(bits.into()))
                .or_else(|| number(text)),
            _ => multiple(text).or_else(|| number(text)),
        }
    }

    /// Reads a word as a value of a type, or as a range of numbers, such as `53-80`.
    pub(super) fn read_or_range(word: &TokenKind, data_type: DataType) -> Option<Literal> {
        let range = || match word {
            TokenKind::Word(text) if has_ranges(data_type) => range(text, data_type),
            _ => None,
        };
        Literal::read(word, data_type).or_else(range)
    }

    /// Describes a word of that type, or a range.
    pub(super) fn expected_or_range(data_type: DataType) -> String {
        let expected = Literal::expected(data_type);
        match has_ranges(data_type) {
            true => format!("{expected}, or a range, such as 53-80"),
            false => expected,
        }
    }

    /// Describes a word of that type.
    pub(super) fn expected(data_type: DataType) -> String {
        match data_type {
            DataType::Address => "an address or a network, such as 10.0.0.0/8".to_owned(),
            DataType::TimeNs | DataType::TimeUs => TIME_EXPECTED.to_owned(),
            DataType::DurationUs => "a duration, such as 50ms or 5s".to_owned(),
            DataType::Bool => "true or false".to_owned(),
            DataType::Enumeration(names) => {
                let names: Vec<_> = names.names.iter().map(|(_, name)| *name).collect();
                format!("a number or a name ({})", names.join(", "))
            }
            DataType::TcpFlags => {
                let names = TCP_FLAGS.map(|flag| flag.name).join(", ");
                format!("a number, such as 0x12, or flags ({names}), such as SYN+ACK")
            }
            _ => "a number, such as 443, 1e6 or 10M".to_owned(),
        }
    }
}

/// Compares a value to a literal; returns None if there is no value, or they are of different kinds.
pub(super) fn compare(value: &Value<'_>, literal: &Literal) -> Option<Ordering> {
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

/// Compares the values of two fields; returns None if one has no value, or they are of different kinds.
pub(super) fn compare_values(one: &Value<'_>, other: &Value<'_>) -> Option<Ordering> {
    match (one, other) {
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        (Value::Uuid(one), Value::Uuid(other)) => Some(one.cmp(other)),
        (Value::Address(one), Value::Address(other)) => {
            Some(address_bits(*one).cmp(&address_bits(*other)))
        }
        (Value::Double(one), Value::Double(other)) => one.partial_cmp(other),
        (Value::Double(one), other) => one.partial_cmp(&(integer(other)? as f64)),
        (one, Value::Double(other)) => (integer(one)? as f64).partial_cmp(other),
        _ => match (integer(one), integer(other)) {
            (Some(one), Some(other)) => Some(one.cmp(&other)),
            _ => Some(bytes_of(one)?.cmp(bytes_of(other)?)),
        },
    }
}

/// Returns true if the values of fields of two types can be compared.
pub(super) fn are_comparable(one: DataType, other: DataType) -> bool {
    let is_number = |data_type: DataType| data_type.is_integer() || data_type == DataType::Double;
    let is_text = |data_type| matches!(data_type, DataType::Text | DataType::Json);
    (one == other && !one.is_nested())
        || (is_number(one) && is_number(other))
        || (is_text(one) && is_text(other))
}

/// Returns true if a value is a literal, or in the network that it is.
fn is_in(value: &Value<'_>, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Address(address), Literal::Network { first, bits }) => {
            let shift = 128 - bits;
            let differing = address_bits(*address) ^ first;
            shift == 128 || differing >> shift == 0
        }
        (value, Literal::Range(range)) => {
            compare(value, &range.0).is_some_and(Ordering::is_ge)
                && compare(value, &range.1).is_some_and(Ordering::is_le)
        }
        _ => compare(value, literal) == Some(Ordering::Equal),
    }
}

/// Literals of which a value may be one.
#[derive(Debug, Clone)]
pub(super) enum Literals {
    /// All are integers, or ranges of them; in their order, so that a long list takes no longer.
    Integers(Vec<(i128, i128)>),
    Others(Vec<Literal>),
}

impl Literals {
    pub(super) fn new(literals: Vec<Literal>) -> Self {
        let integer = |literal: &Literal| match literal {
            Literal::Integer(number) => Some((*number, *number)),
            Literal::Range(range) => match **range {
                (Literal::Integer(first), Literal::Integer(last)) => Some((first, last)),
                _ => None,
            },
            _ => None,
        };
        match literals.iter().map(integer).collect::<Option<Vec<_>>>() {
            Some(integers) => Literals::Integers(joined(integers)),
            None => Literals::Others(literals),
        }
    }

    /// The integers that are among them; all where some are no integers.
    pub(super) fn intervals(&self) -> Intervals {
        match self {
            Literals::Integers(integers) => Intervals::of(integers.clone()),
            Literals::Others(_) => Intervals::all(),
        }
    }

    /// Returns true if a value is one of them, or in a network that is.
    pub(super) fn have(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Literals::Integers(integers), Value::Double(value)) => {
                integers.iter().any(|(first, last)| (*first as f64..=*last as f64).contains(value))
            }
            (Literals::Integers(integers), value) => integer(value).is_some_and(|value| {
                let next = integers.partition_point(|(_, last)| *last < value);
                integers.get(next).is_some_and(|(first, _)| *first <= value)
            }),
            (Literals::Others(literals), value) => {
                literals.iter().any(|literal| is_in(value, literal))
            }
        }
    }
}

/// The whole number that a value is.
pub(super) fn integer(value: &Value<'_>) -> Option<i128> {
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

/// A number with a unit: `10M`, `1.5k`.
fn multiple(text: &str) -> Option<Literal> {
    let (of_unit, times) =
        MULTIPLES.iter().find_map(|(unit, times)| Some((text.strip_suffix(*unit)?, *times)))?;
    match number(of_unit)? {
        Literal::Integer(number) => number.checked_mul(times).map(Literal::Integer),
        Literal::Real(number) => Some(of_double(number * times as f64)),
        _ => None,
    }
}

/// True for the types of numbers of which ranges are read.
fn has_ranges(data_type: DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::DurationUs | DataType::Double)
}

/// A range, whose first number is not above the last one.
fn range(text: &str, data_type: DataType) -> Option<Literal> {
    let value = |text: &str| Literal::read(&TokenKind::Word(text.to_owned()), data_type);
    // Of `-1e-3--1e-3`, the third one is between the numbers.
    let mut places = text.match_indices('-').map(|(at, _)| at).filter(|at| *at > 0).take(2);
    let (first, last) =
        places.find_map(|at| Some((value(text.get(..at)?)?, value(text.get(at + 1..)?)?)))?;
    let is_in_order = match (&first, &last) {
        (Literal::Integer(first), Literal::Integer(last)) => first <= last,
        (first, last) => double(first)? <= double(last)?,
    };
    is_in_order.then(|| Literal::Range(Box::new((first, last))))
}

/// The number that a literal is.
fn double(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Integer(number) => Some(*number as f64),
        Literal::Real(number) => Some(*number),
        _ => None,
    }
}

/// An integer where that is exact.
fn of_double(number: f64) -> Literal {
    if number.fract() == 0.0 && number.abs() < EXACT_MAX {
        Literal::Integer(number as i128)
    } else {
        Literal::Real(number)
    }
}

#[cfg(test)]
mod tests {
    //! Goal: what people write is the value they mean, and what is none is nothing.

    use super::*;

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
    }
}
