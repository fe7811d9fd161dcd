//! Types of values of a table: bytes as they were given, integers, or what something outside of this library makes of
//! objects, which has a name here and no meaning.

use std::fmt;

use super::{Table, in_turn};
use crate::error::{Error, ErrorKind, Result, excerpt, excerpt_of_bytes};

/// Type of the values of a table. A file remembers it in its header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ValueType {
    /// The name and zeros behind it; nothing but zeros for bytes.
    name: [u8; ValueType::NAME_LEN_MAX],
}

impl ValueType {
    /// Bytes of the longest name.
    pub const NAME_LEN_MAX: usize = 12;

    /// Bytes that mean what the caller says.
    pub const BYTES: ValueType = ValueType { name: [0; ValueType::NAME_LEN_MAX] };

    /// Integers of 64 bits with a sign: 8 bytes, little-endian.
    pub const INTEGER: ValueType = ValueType { name: *b"integer\0\0\0\0\0" };

    /// Entries of a [cache](super::cache), which may be gone at any time: the log of such a table gives its beginning back.
    pub(super) const CACHE: ValueType = ValueType { name: *b"cache\0\0\0\0\0\0\0" };

    /// Name of bytes.
    const STRING: &'static str = "string";

    /// The values of that name: "string", "integer", or whatever a face knows to make of objects.
    /// [`ErrorKind::Argument`] where it is empty, longer than [`ValueType::NAME_LEN_MAX`] or not printable ASCII.
    pub fn by_name(name: &str) -> Result<ValueType> {
        if name == Self::STRING {
            return Ok(ValueType::BYTES);
        }
        let is_printable = name.bytes().all(|byte| byte.is_ascii_graphic());
        if name.is_empty() || name.len() > Self::NAME_LEN_MAX || !is_printable {
            let name = excerpt(name);
            let message = format!(
                "expected a name of 1 to {} letters of ASCII for what the values are, found {name:?}; give them \
                 a shorter name",
                Self::NAME_LEN_MAX
            );
            return Err(Error::new(ErrorKind::Argument, message));
        }
        let mut values = ValueType::BYTES;
        values.name[..name.len()].copy_from_slice(name.as_bytes());
        Ok(values)
    }

    /// Returns the name of the type.
    pub fn name(&self) -> &str {
        let len = self.name.iter().position(|byte| *byte == 0).unwrap_or(self.name.len());
        match std::str::from_utf8(&self.name[..len]) {
            Ok("") | Err(_) => Self::STRING,
            Ok(name) => name,
        }
    }

    /// As a file's header has them.
    pub(super) fn to_bytes(self) -> [u8; ValueType::NAME_LEN_MAX] {
        self.name
    }

    /// Reads what a file's header has; nothing where no version wrote that.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<ValueType> {
        let name = *bytes.first_chunk()?;
        let len = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        let is_name = name[..len].iter().all(u8::is_ascii_graphic);
        (is_name && name[len..].iter().all(|byte| *byte == 0)).then_some(ValueType { name })
    }

    /// Reads them from `bytes` at `offset` of a file's header.
    pub(super) fn from_header(bytes: &[u8], offset: u64) -> Result<ValueType> {
        let other = || Error::format("a name for the values", "other bytes").at(offset);
        Self::from_bytes(bytes).ok_or_else(other)
    }

    /// As [`Table::append`] in a table with these values. [`ErrorKind::Argument`] where they are not bytes.
    pub fn append(self, table: &mut dyn Table, key: &[u8], bytes: &[u8]) -> Result<()> {
        match self {
            ValueType::BYTES => table.append(key, bytes),
            _ => Err(self.unfit("to append bytes to values")),
        }
    }

    /// As [`Table::increment`], or [`add_integer`] where the values are integers. [`ErrorKind::Argument`] where they are
    /// neither these nor bytes.
    pub fn increment(self, table: &mut dyn Table, key: &[u8], by: i64) -> Result<i64> {
        match self {
            ValueType::INTEGER => add_integer(table, key, by),
            ValueType::BYTES => table.increment(key, by),
            _ => Err(self.unfit("to increment values")),
        }
    }

    fn unfit(self, purpose: &str) -> Error {
        let message = format!("expected another type of values {purpose}, found values: {self}");
        Error::new(ErrorKind::Argument, message)
    }

    /// [`ErrorKind::Format`] where a table with these values is opened for others.
    pub fn check(self, wanted: Option<ValueType>) -> Result<()> {
        match wanted {
            Some(wanted) if wanted != self => Err(Error::format(
                format_args!("a table whose values are {wanted}"),
                format_args!("one with values: {self}; open it with values: {self}"),
            )),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Values({self})")
    }
}

/// The integer that a value of [`ValueType::INTEGER`] is. [`ErrorKind::Corrupt`] where it is not one.
#[inline]
pub fn integer_of(value: &[u8]) -> Result<i64> {
    match value.try_into() {
        Ok(bytes) => Ok(i64::from_le_bytes(bytes)),
        Err(_) => Err(no_integer(value.len())),
    }
}

#[cold]
fn no_integer(len: usize) -> Error {
    let message = format!("expected the 8 bytes of an integer as a value, found {len} bytes");
    Error::new(ErrorKind::Corrupt, message)
}

/// The value of [`ValueType::INTEGER`] that an integer is.
pub fn integer_value(integer: i64) -> [u8; 8] {
    integer.to_le_bytes()
}

/// Adds `by` to the integer of `key` in a table of integers, which is 0 where there is none, and gives the sum.
/// [`ErrorKind::Argument`] where that is beyond 64 bits.
pub fn add_integer(table: &mut dyn Table, key: &[u8], by: i64) -> Result<i64> {
    in_turn(table, |table| {
        let mut found = Ok(0);
        table.get_with(key, &mut |value| found = integer_of(value))?;
        let sum = add(found?, by)?;
        table.put(key, &integer_value(sum))?;
        Ok(sum)
    })
}

/// Adds two numbers. [`ErrorKind::Argument`] if the sum needs more than 64 bits.
pub(super) fn add(number: i64, by: i64) -> Result<i64> {
    number.checked_add(by).ok_or_else(|| {
        let message = format!("expected a sum of 64 bits, found {number} + {by}");
        Error::new(ErrorKind::Argument, message)
    })
}

/// Reads a number in decimal digits. [`ErrorKind::Argument`] if `value` is none.
pub(super) fn number_in_digits(value: &[u8]) -> Result<i64> {
    let number = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| {
        let found = excerpt_of_bytes(value);
        let message = format!("expected a whole number to increment, found {found:?}");
        Error::new(ErrorKind::Argument, message)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_header_gives_the_values_that_it_was_given() {
        for name in ["string", "integer", "json", "x", "a name of 12".replace(' ', "_").as_str()] {
            let values = ValueType::by_name(name).unwrap();
            assert_eq!(values.name(), name);
            assert_eq!(ValueType::from_bytes(&values.to_bytes()), Some(values));
        }
        assert_eq!(ValueType::by_name("integer").unwrap(), ValueType::INTEGER);
        for bytes in [*b"a\0b\0\0\0\0\0\0\0\0\0", *b"\xff\0\0\0\0\0\0\0\0\0\0\0"] {
            assert_eq!(ValueType::from_bytes(&bytes), None);
        }
    }

    #[test]
    fn a_name_that_a_header_has_no_room_for_is_refused() {
        for name in ["", "thirteen_long", "two words", "é"] {
            assert_eq!(ValueType::by_name(name).unwrap_err().kind(), ErrorKind::Argument, "{name}");
        }
    }
}
