//! Types of the values of a column.

/// The type of a column's values, with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataType {
    /// A time, nanoseconds since 1970-01-01 00:00 UTC, in 64 signed bits.
    TimeNs,
    /// A time, microseconds since 1970-01-01 00:00 UTC, in 64 signed bits: what a time in nanoseconds becomes for
    /// programs that take no finer ones.
    TimeUs,
    /// A duration in microseconds, in 64 unsigned bits.
    DurationUs,
    /// An IP address in 16 bytes; IPv4 as `::ffff:a.b.c.d` (RFC 4291, section 2.5.5.2).
    Address,
    /// 8-bit unsigned number.
    U8,
    /// 16-bit unsigned number.
    U16,
    /// 32-bit unsigned number.
    U32,
    /// 64-bit unsigned number.
    U64,
    /// 8-bit signed number.
    I8,
    /// 16-bit signed number.
    I16,
    /// 32-bit signed number.
    I32,
    /// 64-bit signed number.
    I64,
    /// 64-bit floating-point number (IEEE 754).
    Double,
    /// True or false, one bit each.
    Bool,
    /// Text. It should be UTF-8, and is wherever this crate makes it; text of a Thrift message may not be,
    /// which [`Column::invalid_text_row`](super::Column::invalid_text_row) finds for readers that insist on it.
    Text,
    /// Bytes of any length.
    Bytes,
    /// A UUID in 16 bytes, in the order in which it is written.
    Uuid,
    /// Text that is one value in JSON.
    Json,
    /// The flag bits of TCP in a 16-bit unsigned number (0x002 SYN, 0x010 ACK).
    TcpFlags,
    /// An 8-bit number that stands for a name.
    Enumeration(&'static Enumeration),
    /// Values of one type in an order, any number of them. [`Field::children`](super::Field::children) has their type.
    List,
    /// A value of each of several fields, which [`Field::children`](super::Field::children) has.
    Struct,
    /// Values by keys, in an order: a list of structs with the fields `key` and `value`, which is the one of
    /// [`Field::children`](super::Field::children).
    Map,
}

/// The names that numbers stand for.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Enumeration {
    /// Each number with its name.
    pub names: &'static [(u8, &'static str)],
    /// True if there are no other numbers. The value of a closed enumeration is the name; that of an open one
    /// is the number, whose name people may be shown.
    pub is_closed: bool,
}

impl Enumeration {
    /// The name of a number.
    pub fn name(&self, number: u8) -> Option<&'static str> {
        self.names.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
    }

    /// The number that a name stands for, in capital or small letters.
    pub fn number(&self, name: &str) -> Option<u8> {
        self.names
            .iter()
            .find(|(_, known)| known.eq_ignore_ascii_case(name))
            .map(|(number, _)| *number)
    }
}

impl DataType {
    /// Its name, in small letters.
    pub const fn name(self) -> &'static str {
        match self {
            DataType::TimeNs => "time_ns",
            DataType::TimeUs => "time_us",
            DataType::DurationUs => "duration_us",
            DataType::Address => "address",
            DataType::U8 => "u8",
            DataType::U16 => "u16",
            DataType::U32 => "u32",
            DataType::U64 => "u64",
            DataType::I8 => "i8",
            DataType::I16 => "i16",
            DataType::I32 => "i32",
            DataType::I64 => "i64",
            DataType::Double => "double",
            DataType::Bool => "bool",
            DataType::Text => "text",
            DataType::Bytes => "bytes",
            DataType::Uuid => "uuid",
            DataType::Json => "json",
            DataType::TcpFlags => "tcp_flags",
            DataType::Enumeration(_) => "enumeration",
            DataType::List => "list",
            DataType::Struct => "struct",
            DataType::Map => "map",
        }
    }

    /// The type without its meaning: how the values are kept. A time is kept as [`DataType::I64`].
    #[must_use]
    pub const fn storage(self) -> DataType {
        match self {
            DataType::TimeNs | DataType::TimeUs => DataType::I64,
            DataType::DurationUs => DataType::U64,
            DataType::Json => DataType::Text,
            DataType::TcpFlags => DataType::U16,
            DataType::Enumeration(_) => DataType::U8,
            other => other,
        }
    }

    /// Bytes that a value takes in a column; `None` for what takes a bit ([`DataType::Bool`]), has no fixed
    /// length ([`DataType::is_variable`]) or consists of others ([`DataType::is_nested`]).
    pub const fn width(self) -> Option<usize> {
        match self {
            DataType::U8 | DataType::I8 | DataType::Enumeration(_) => Some(1),
            DataType::U16 | DataType::I16 | DataType::TcpFlags => Some(2),
            DataType::U32 | DataType::I32 => Some(4),
            DataType::U64
            | DataType::I64
            | DataType::TimeNs
            | DataType::TimeUs
            | DataType::DurationUs
            | DataType::Double => Some(8),
            DataType::Address | DataType::Uuid => Some(16),
            DataType::Bool | DataType::Text | DataType::Json | DataType::Bytes => None,
            DataType::List | DataType::Struct | DataType::Map => None,
        }
    }

    /// Returns true for whole numbers that are never negative.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, DataType::U8 | DataType::U16 | DataType::U32 | DataType::U64)
    }

    /// Returns true for whole numbers.
    pub const fn is_integer(self) -> bool {
        self.is_unsigned()
            || matches!(self, DataType::I8 | DataType::I16 | DataType::I32 | DataType::I64)
    }

    /// Returns true if its values are kept as bytes of any length, with offsets.
    pub const fn is_variable(self) -> bool {
        matches!(self, DataType::Text | DataType::Json | DataType::Bytes)
    }

    /// Returns true if its values consist of values of other columns.
    pub const fn is_nested(self) -> bool {
        matches!(self, DataType::List | DataType::Struct | DataType::Map)
    }
}
