//! One value of a field of what packets are summed up to: of a flow, of a call. Packets have their own, which is copied
//! and has no text.

use std::fmt;
use std::net::IpAddr;

/// One value of a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FieldValue {
    /// There is no such field.
    Null,
    /// A number that is never negative.
    Unsigned(u64),
    /// A number that may be negative.
    Signed(i64),
    /// An IP address.
    Address(IpAddr),
    /// Text in ASCII.
    Text(String),
}

impl fmt::Display for FieldValue {
    /// The value as text; nothing where it is null.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldValue::Null => Ok(()),
            FieldValue::Unsigned(number) => number.fmt(f),
            FieldValue::Signed(number) => number.fmt(f),
            FieldValue::Address(address) => address.fmt(f),
            FieldValue::Text(text) => f.write_str(text),
        }
    }
}
