//! Every type that a field can have, once: a test that goes through them all misses none.

use bytewright::batch::{DataType, Enumeration};

/// The types, with an enumeration that is closed and one that is not.
pub(crate) const fn data_types(
    closed: &'static Enumeration,
    open: &'static Enumeration,
) -> [DataType; 20] {
    [
        DataType::TimeNs,
        DataType::DurationUs,
        DataType::Address,
        DataType::U8,
        DataType::U16,
        DataType::U32,
        DataType::U64,
        DataType::I8,
        DataType::I16,
        DataType::I32,
        DataType::I64,
        DataType::Double,
        DataType::Bool,
        DataType::Text,
        DataType::Bytes,
        DataType::Uuid,
        DataType::Json,
        DataType::TcpFlags,
        DataType::Enumeration(closed),
        DataType::Enumeration(open),
    ]
}
