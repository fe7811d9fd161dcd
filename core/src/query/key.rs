//! The values that a group is told by, as bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::batch::Value;

/// The first byte of a value.
mod tag {
    pub(super) const NULL: u8 = 0;
    pub(super) const UNSIGNED: u8 = 1;
    pub(super) const SIGNED: u8 = 2;
    pub(super) const DOUBLE: u8 = 3;
    pub(super) const FALSE: u8 = 4;
    pub(super) const TRUE: u8 = 5;
    pub(super) const TIME: u8 = 6;
    pub(super) const DURATION: u8 = 7;
    pub(super) const V4: u8 = 8;
    pub(super) const V6: u8 = 9;
    pub(super) const TEXT: u8 = 10;
    pub(super) const JSON: u8 = 11;
    pub(super) const BYTES: u8 = 12;
    pub(super) const UUID: u8 = 13;
}

/// Appends a value: the same bytes for equal values.
pub(super) fn push(key: &mut Vec<u8>, value: &Value<'_>) {
    let mut fixed = |tag: u8, bytes: &[u8]| {
        key.push(tag);
        key.extend_from_slice(bytes);
    };
    match value {
        Value::Null => fixed(tag::NULL, &[]),
        Value::Unsigned(number) => fixed(tag::UNSIGNED, &number.to_le_bytes()),
        Value::Signed(number) => fixed(tag::SIGNED, &number.to_le_bytes()),
        Value::Double(number) => fixed(tag::DOUBLE, &number.to_bits().to_le_bytes()),
        Value::Bool(false) => fixed(tag::FALSE, &[]),
        Value::Bool(true) => fixed(tag::TRUE, &[]),
        Value::Time(time) => fixed(tag::TIME, &time.to_le_bytes()),
        Value::Duration(duration) => fixed(tag::DURATION, &duration.to_le_bytes()),
        Value::Address(IpAddr::V4(address)) => fixed(tag::V4, &address.octets()),
        Value::Address(IpAddr::V6(address)) => fixed(tag::V6, &address.octets()),
        Value::Uuid(bytes) => fixed(tag::UUID, bytes),
        Value::Text(text) => variable(key, tag::TEXT, text.as_bytes()),
        Value::ShortText(text) => variable(key, tag::TEXT, text.as_str().as_bytes()),
        Value::Json(text) => variable(key, tag::JSON, text.as_bytes()),
        Value::Bytes(bytes) => variable(key, tag::BYTES, bytes),
        Value::Nested(_) => variable(key, tag::JSON, value.to_string().as_bytes()),
    }
}

fn variable(key: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    key.push(tag);
    key.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    key.extend_from_slice(bytes);
}

/// Takes the next value off; null where there is none.
pub(super) fn take<'k>(key: &mut &'k [u8]) -> Value<'k> {
    let Some((tag, rest)) = key.split_first() else { return Value::Null };
    *key = rest;
    match *tag {
        tag::UNSIGNED => Value::Unsigned(u64::from_le_bytes(fixed(key))),
        tag::SIGNED => Value::Signed(i64::from_le_bytes(fixed(key))),
        tag::DOUBLE => Value::Double(f64::from_bits(u64::from_le_bytes(fixed(key)))),
        tag::FALSE => Value::Bool(false),
        tag::TRUE => Value::Bool(true),
        tag::TIME => Value::Time(i64::from_le_bytes(fixed(key))),
        tag::DURATION => Value::Duration(u64::from_le_bytes(fixed(key))),
        tag::V4 => Value::Address(Ipv4Addr::from(fixed::<4>(key)).into()),
        tag::V6 => Value::Address(Ipv6Addr::from(fixed::<16>(key)).into()),
        tag::UUID => Value::Uuid(fixed(key)),
        tag::TEXT => Value::Text(str::from_utf8(bytes(key)).unwrap_or_default()),
        tag::JSON => Value::Json(str::from_utf8(bytes(key)).unwrap_or_default()),
        tag::BYTES => Value::Bytes(bytes(key)),
        _ => Value::Null,
    }
}

fn fixed<const N: usize>(key: &mut &[u8]) -> [u8; N] {
    let (first, rest) = key.split_first_chunk().unwrap_or((&[0; N], &[]));
    *key = rest;
    *first
}

fn bytes<'k>(key: &mut &'k [u8]) -> &'k [u8] {
    let len = u64::from_le_bytes(fixed(key)) as usize;
    let (first, rest) = key.split_at_checked(len).unwrap_or((&[], &[]));
    *key = rest;
    first
}
