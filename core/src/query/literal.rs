//! Values as people write them, read as the type of the field that they are compared with.

use std::net::IpAddr;

use super::lexer::TokenKind;
use super::time::time_ns;
use crate::batch::{DataType, Value};
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
}

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
            DataType::TimeNs => time_ns(text).map(|ns| Literal::Integer(ns.into())),
            DataType::TimeUs => time_ns(text).map(|ns| Literal::Integer((ns / 1000).into())),
            DataType::DurationUs => duration_ns(text)
                .map_or_else(|| number(text), |nanoseconds| Some(of_double(nanoseconds / 1e3))),
            DataType::Text | DataType::Json | DataType::Bytes | DataType::Uuid => {
                Some(Literal::Text(text.to_owned()))
            }
            _ => number(text),
        }
    }

    /// Describes a word of that type.
    pub(super) fn expected(data_type: DataType) -> String {
        match data_type {
            DataType::Address => "an address or a network, such as 10.0.0.0/8".to_owned(),
            DataType::TimeNs | DataType::TimeUs => {
                "a time, such as 2026-11-21T10:00Z or 1795255200 (seconds since 1970)".to_owned()
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

/// Compares a value to a literal; returns None if there is no value, or they are of different kinds.
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

/// Returns true if a value is a literal, or in the network that it is.
fn is_in(value: &Value<'_>, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Address(address), Literal::Network { first, bits }) => {
            let shift = 128 - bits;
            let differing = address_bits(*address) ^ first;
            shift == 128 || differing >> shift == 0
        }
        _ => compare(value, literal) == Some(std::cmp::Ordering::Equal),
    }
}

/// Literals of which a value may be one.
#[derive(Debug, Clone)]
pub(super) enum Literals {
    /// All are integers; in their order, so that a long list takes no longer.
    Integers(Vec<i128>),
    Others(Vec<Literal>),
}

impl Literals {
    pub(super) fn new(literals: Vec<Literal>) -> Self {
        let integer = |literal: &Literal| match literal {
            Literal::Integer(number) => Some(*number),
            _ => None,
        };
        match literals.iter().map(integer).collect::<Option<Vec<_>>>() {
            Some(mut integers) => {
                integers.sort_unstable();
                Literals::Integers(integers)
            }
            None => Literals::Others(literals),
        }
    }

    /// Returns true if a value is one of them, or in a network that is.
    pub(super) fn have(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Literals::Integers(integers), Value::Double(value)) => {
                integers.iter().any(|wanted| *value == *wanted as f64)
            }
            (Literals::Integers(integers), value) => {
                integer(value).is_some_and(|value| integers.binary_search(&value).is_ok())
            }
            (Literals::Others(literals), value) => {
                literals.iter().any(|literal| is_in(value, literal))
            }
        }
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
