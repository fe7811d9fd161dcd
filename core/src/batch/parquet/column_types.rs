//! Types of columns in Parquet (<https://parquet.apache.org/docs/file-format/types/>). Lists and maps are groups of three levels
//! (<https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#nested-types>).

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type};
use parquet::schema::types::Type as SchemaType;

use super::failed;
use crate::batch::{DataType, Field};
use crate::error::excerpt;
use crate::{Error, ErrorKind, Result};

/// Returns the type of a field in Parquet.
pub(super) fn column_type(field: &Field) -> Result<SchemaType> {
    let repetition = if field.is_nullable() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    match (field.data_type(), field.children()) {
        (DataType::Struct, []) => Err(no_fields(field)),
        (DataType::Struct, fields) => group(field.name(), fields, repetition, None),
        (DataType::List, [item]) => {
            let item = item.clone().named("element");
            let items = group("list", &[item], Repetition::REPEATED, None)?;
            group_of(field.name(), vec![items], repetition, Some(LogicalType::List))
        }
        (DataType::Map, [entries]) => {
            let entries = group("key_value", entries.children(), Repetition::REPEATED, None)?;
            group_of(field.name(), vec![entries], repetition, Some(LogicalType::Map))
        }
        _ => leaf_type(field, repetition),
    }
}

fn group(
    name: &str,
    fields: &[Field],
    repetition: Repetition,
    logical: Option<LogicalType>,
) -> Result<SchemaType> {
    let types = fields.iter().map(column_type).collect::<Result<Vec<_>>>()?;
    group_of(name, types, repetition, logical)
}

fn group_of(
    name: &str,
    types: Vec<SchemaType>,
    repetition: Repetition,
    logical: Option<LogicalType>,
) -> Result<SchemaType> {
    SchemaType::group_type_builder(name)
        .with_fields(types.into_iter().map(Arc::new).collect())
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
        .map_err(failed)
}

fn no_fields(field: &Field) -> Error {
    let name = excerpt(field.name());
    let message = format!(
        "expected a struct with fields for Parquet, found none in {name}; write JSON or Arrow"
    );
    Error::new(ErrorKind::Argument, message)
}

/// Returns the type of a field that is not nested.
fn leaf_type(field: &Field, repetition: Repetition) -> Result<SchemaType> {
    let time = |unit| Some(LogicalType::timestamp(true, unit));
    let number = |bits, is_signed| Some(LogicalType::integer(bits, is_signed));
    let (physical, logical) = match field.data_type() {
        DataType::TimeNs => (Type::INT64, time(TimeUnit::NANOS)),
        DataType::TimeUs => (Type::INT64, time(TimeUnit::MICROS)),
        DataType::DurationUs | DataType::I64 => (Type::INT64, None),
        DataType::I32 => (Type::INT32, None),
        DataType::U8 | DataType::Enumeration(_) => (Type::INT32, number(8, false)),
        DataType::U16 | DataType::TcpFlags => (Type::INT32, number(16, false)),
        DataType::U32 => (Type::INT32, number(32, false)),
        DataType::U64 => (Type::INT64, number(64, false)),
        DataType::I8 => (Type::INT32, number(8, true)),
        DataType::I16 => (Type::INT32, number(16, true)),
        DataType::Double => (Type::DOUBLE, None),
        DataType::Bool => (Type::BOOLEAN, None),
        DataType::Text => (Type::BYTE_ARRAY, Some(LogicalType::String)),
        DataType::Json => (Type::BYTE_ARRAY, Some(LogicalType::Json)),
        DataType::Bytes => (Type::BYTE_ARRAY, None),
        DataType::Uuid => (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)),
        DataType::Address => (Type::FIXED_LEN_BYTE_ARRAY, None),
        DataType::List | DataType::Struct | DataType::Map => return Err(no_fields(field)),
    };
    let column = SchemaType::primitive_type_builder(field.name(), physical)
        .with_repetition(repetition)
        .with_logical_type(logical);
    let is_fixed = physical == Type::FIXED_LEN_BYTE_ARRAY;
    let column = match field.data_type().width() {
        Some(width) if is_fixed => column.with_length(width as i32),
        _ => column,
    };
    column.build().map_err(failed)
}
