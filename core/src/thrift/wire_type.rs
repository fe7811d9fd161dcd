//! The types that bytes tell apart: fewer than a schema has, as a message has strings and binary
//! alike, enums as numbers and unions as structs. They are numbered as Binary does
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-binary-protocol.md>).

use std::fmt;

use super::schema::{StructId, Type};

/// The number that tells binary from strings, which are alike in messages.
const BINARY: u8 = 111;

/// The type of a value in a message. One that came from a message may be any byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireType(pub(super) u8);

impl WireType {
    /// No value: the end of a struct.
    pub const STOP: Self = WireType(0);
    /// True or false.
    pub const BOOL: Self = WireType(2);
    /// A number of 8 bits.
    pub const BYTE: Self = WireType(3);
    /// A floating-point number of 64 bits.
    pub const DOUBLE: Self = WireType(4);
    /// A number of 16 bits.
    pub const I16: Self = WireType(6);
    /// A number of 32 bits.
    pub const I32: Self = WireType(8);
    /// A number of 64 bits.
    pub const I64: Self = WireType(10);
    /// Bytes with their length.
    pub const STRING: Self = WireType(11);
    /// Fields up to a stop.
    pub const STRUCT: Self = WireType(12);
    /// Keys and values.
    pub const MAP: Self = WireType(13);
    /// Values that differ.
    pub const SET: Self = WireType(14);
    /// Values in an order.
    pub const LIST: Self = WireType(15);
    /// 16 bytes.
    pub const UUID: Self = WireType(16);

    /// Returns the type that values of `value_type` have in a message.
    pub fn of(value_type: &Type) -> Self {
        match value_type {
            Type::Bool => Self::BOOL,
            Type::Byte => Self::BYTE,
            Type::I16 => Self::I16,
            Type::I32 | Type::Enum(_) => Self::I32,
            Type::I64 => Self::I64,
            Type::Double => Self::DOUBLE,
            Type::String | Type::Binary => Self::STRING,
            Type::Uuid => Self::UUID,
            Type::Struct(_) => Self::STRUCT,
            Type::List(_) => Self::LIST,
            Type::Set(_) => Self::SET,
            Type::Map(..) => Self::MAP,
        }
    }

    /// Its number, as Binary writes it.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl Type {
    /// The number by which it is described: that of the wire, and of binary one of its own.
    pub(super) fn number(&self) -> u8 {
        match self {
            Type::Binary => BINARY,
            other => WireType::of(other).0,
        }
    }

    /// The type of such a number; `None` where no type has it. `inside` answers the first or second type in a container, `id` the
    /// number of a struct. An enum is a number of 32 bits.
    ///
    /// # Errors
    ///
    /// Those of `inside` and `id`.
    pub fn numbered<E>(
        number: u8,
        inside: impl Fn(u8) -> Result<Type, E>,
        id: impl FnOnce() -> Result<u32, E>,
    ) -> Result<Option<Type>, E> {
        Ok(Some(match WireType(number) {
            WireType::BOOL => Type::Bool,
            WireType::BYTE => Type::Byte,
            WireType::DOUBLE => Type::Double,
            WireType::I16 => Type::I16,
            WireType::I32 => Type::I32,
            WireType::I64 => Type::I64,
            WireType::STRING => Type::String,
            WireType(BINARY) => Type::Binary,
            WireType::UUID => Type::Uuid,
            WireType::STRUCT => Type::Struct(StructId(id()?)),
            WireType::MAP => Type::map(inside(1)?, inside(2)?),
            WireType::SET => Type::set(inside(1)?),
            WireType::LIST => Type::list(inside(1)?),
            _ => return Ok(None),
        }))
    }
}

/// Its name in IDL, or what a message has where a type belongs.
impl fmt::Display for WireType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::STOP => "the end of a struct",
            Self::BOOL => "bool",
            Self::BYTE => "byte",
            Self::DOUBLE => "double",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::STRING => "string",
            Self::STRUCT => "struct",
            Self::MAP => "map",
            Self::SET => "set",
            Self::LIST => "list",
            Self::UUID => "uuid",
            WireType(number) => return write!(f, "type {number}"),
        })
    }
}
