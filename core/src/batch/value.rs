//! One value of a row.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;

use super::{NestedValue, json, notation};

/// One value of a row, borrowed from where it is kept.
///
/// Values are equal where they say the same: doubles by their bits, so that a value can be a key, and text
/// wherever it is kept. Null comes before all others.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// There is none.
    Null,
    /// A number that is never negative.
    Unsigned(u64),
    /// A number that may be negative.
    Signed(i64),
    /// A floating-point number.
    Double(f64),
    /// True or false.
    Bool(bool),
    /// Nanoseconds since 1970-01-01 00:00 UTC.
    Time(i64),
    /// Microseconds.
    Duration(u64),
    /// An IP address.
    Address(IpAddr),
    /// Text.
    Text(&'a str),
    /// Text that is made on request and not stored.
    ShortText(ShortText),
    /// Text that is one value in JSON.
    Json(&'a str),
    /// Bytes; also text that is not UTF-8.
    Bytes(&'a [u8]),
    /// A UUID, in the order in which it is written.
    Uuid([u8; 16]),
    /// A list, a struct or a map.
    Nested(NestedValue<'a>),
}

impl Value<'_> {
    /// Returns true if there is no value.
    pub const fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The text that it is.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            Value::ShortText(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Returns the value if it borrows nothing.
    pub fn to_static(&self) -> Option<Value<'static>> {
        Some(match *self {
            Value::Null => Value::Null,
            Value::Unsigned(number) => Value::Unsigned(number),
            Value::Signed(number) => Value::Signed(number),
            Value::Double(number) => Value::Double(number),
            Value::Bool(value) => Value::Bool(value),
            Value::Time(nanoseconds) => Value::Time(nanoseconds),
            Value::Duration(microseconds) => Value::Duration(microseconds),
            Value::Address(address) => Value::Address(address),
            Value::ShortText(text) => Value::ShortText(text),
            Value::Uuid(bytes) => Value::Uuid(bytes),
            Value::Text(_) | Value::Json(_) | Value::Bytes(_) | Value::Nested(_) => return None,
        })
    }

    fn key(&self) -> ComparisonKey<'_> {
        match self {
            Value::Null => ComparisonKey::Null,
            Value::Unsigned(number) => ComparisonKey::Unsigned(*number),
            Value::Signed(number) => ComparisonKey::Signed(*number),
            Value::Double(number) => ComparisonKey::Double(ordered_bits(*number)),
            Value::Bool(value) => ComparisonKey::Bool(*value),
            Value::Time(nanoseconds) => ComparisonKey::Time(*nanoseconds),
            Value::Duration(microseconds) => ComparisonKey::Duration(*microseconds),
            Value::Address(address) => ComparisonKey::Address(*address),
            Value::Text(text) => ComparisonKey::Text(text),
            Value::ShortText(text) => ComparisonKey::Text(text.as_str()),
            Value::Json(text) => ComparisonKey::Json(text),
            Value::Bytes(bytes) => ComparisonKey::Bytes(bytes),
            Value::Uuid(bytes) => ComparisonKey::Uuid(*bytes),
            Value::Nested(nested) => ComparisonKey::Nested(*nested),
        }
    }
}

/// Key that values are compared by.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum ComparisonKey<'a> {
    Null,
    Unsigned(u64),
    Signed(i64),
    Double(i64),
    Bool(bool),
    Time(i64),
    Duration(u64),
    Address(IpAddr),
    Text(&'a str),
    Json(&'a str),
    Bytes(&'a [u8]),
    Uuid([u8; 16]),
    Nested(NestedValue<'a>),
}

/// A number for each double, in the order of [`f64::total_cmp`].
fn ordered_bits(number: f64) -> i64 {
    let bits = number.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Value<'_> {}

impl PartialOrd for Value<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Value<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Display for Value<'_> {
    /// The value as text, without its unit; nothing where it is null. Bytes that are not UTF-8 are replaced. Lists, structs
    /// and maps are JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => Ok(()),
            Value::Unsigned(number) | Value::Duration(number) => number.fmt(f),
            Value::Signed(number) | Value::Time(number) => number.fmt(f),
            Value::Double(number) => write!(f, "{number:?}"),
            Value::Bool(value) => value.fmt(f),
            Value::Address(address) => address.fmt(f),
            Value::Text(text) | Value::Json(text) => f.write_str(text),
            Value::ShortText(text) => f.write_str(text.as_str()),
            Value::Bytes(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
            Value::Uuid(bytes) => {
                let mut text = Vec::new();
                notation::uuid(&mut text, bytes);
                f.write_str(&String::from_utf8_lossy(&text))
            }
            Value::Nested(_) => {
                let mut text = Vec::new();
                json::value(&mut text, *self);
                f.write_str(&String::from_utf8_lossy(&text))
            }
        }
    }
}

macro_rules! from_numbers {
    ($($type:ty => $variant:ident;)*) => {
        $(impl From<$type> for Value<'_> {
            fn from(number: $type) -> Self {
                Value::$variant(number.into())
            }
        })*
    };
}

from_numbers! {
    u8 => Unsigned;
    u16 => Unsigned;
    u32 => Unsigned;
    u64 => Unsigned;
    i8 => Signed;
    i16 => Signed;
    i32 => Signed;
    i64 => Signed;
    f64 => Double;
    bool => Bool;
    IpAddr => Address;
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// Text of at most [`ShortText::LEN_MAX`] bytes, in place: so that a [`Value`] can be copied and never has to be
/// freed.
#[derive(Clone, Copy)]
pub struct ShortText {
    len: u8,
    bytes: [u8; ShortText::LEN_MAX],
}

impl ShortText {
    /// Bytes that it can have: those of a Community ID.
    pub const LEN_MAX: usize = 30;

    /// The text, where it is short enough.
    pub fn new(text: &str) -> Option<Self> {
        let mut bytes = [0; ShortText::LEN_MAX];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(ShortText { len: text.len() as u8, bytes })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl fmt::Debug for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_equal_where_they_say_the_same() {
        let short = ShortText::new("1:abc").map(Value::ShortText);
        assert_eq!(short, Some(Value::Text("1:abc")));
        assert_eq!(Value::Double(f64::NAN), Value::Double(f64::NAN));
        assert_ne!(Value::Double(0.0), Value::Double(-0.0));
        assert_ne!(Value::Unsigned(1), Value::Signed(1));
        assert!(ShortText::new(&"x".repeat(ShortText::LEN_MAX)).is_some());
        assert!(ShortText::new(&"x".repeat(ShortText::LEN_MAX + 1)).is_none());
    }

    #[test]
    fn doubles_are_ordered_as_the_standard_library_orders_them() {
        let numbers =
            [f64::NEG_INFINITY, -1.5, -0.0, 0.0, f64::MIN_POSITIVE, 2.0, f64::INFINITY, f64::NAN];
        for one in numbers {
            for other in numbers {
                assert_eq!(Value::Double(one).cmp(&Value::Double(other)), one.total_cmp(&other));
            }
        }
    }

    #[test]
    fn values_are_text_as_people_write_them() {
        let uuid: [u8; 16] = std::array::from_fn(|place| place as u8);
        let texts = [
            (Value::Null, ""),
            (Value::Time(-5), "-5"),
            (Value::Double(1.0), "1.0"),
            (Value::Bool(true), "true"),
            (Value::Address(IpAddr::from([10, 0, 0, 1])), "10.0.0.1"),
            (Value::Bytes(b"a\xff"), "a\u{fffd}"),
            (Value::Uuid(uuid), "00010203-0405-0607-0809-0a0b0c0d0e0f"),
        ];
        for (value, text) in texts {
            assert_eq!(value.to_string(), text);
        }
    }

    #[test]
    fn a_value_takes_no_more_than_32_bytes() {
        assert!(size_of::<Value<'_>>() <= 32);
    }
}
