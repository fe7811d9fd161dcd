//! Columns of rows: their names, types and meanings.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;

use bytewright::ask::{FlowMergeField, InfoField};
use bytewright::batch::{DataType, Schema};
use bytewright::error::excerpt;
use bytewright::flow::FlowField;
use bytewright::forks::ProcessValue;
use bytewright::packet::Field;
use bytewright::rpc::CallColumn;
use bytewright::table::StatField;
use bytewright::{Error, ErrorKind, Result};

use crate::buffer::given;
use crate::error::{bw_error, bw_status, guard};
use crate::text::text;

/// Type of the values of a column, and the way they are kept.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum bw_type {
    /// A time, nanoseconds since 1970-01-01 00:00 UTC, as `int64_t`.
    TimeNs = 1,
    /// A time, microseconds since 1970-01-01 00:00 UTC, as `int64_t`.
    TimeUs = 2,
    /// A duration in microseconds, as `uint64_t`.
    DurationUs = 3,
    /// An IP address in 16 bytes; IPv4 as `::ffff:a.b.c.d`.
    Address = 4,
    /// `uint8_t`.
    U8 = 5,
    /// `uint16_t`.
    U16 = 6,
    /// `uint32_t`.
    U32 = 7,
    /// `uint64_t`.
    U64 = 8,
    /// `int8_t`.
    I8 = 9,
    /// `int16_t`.
    I16 = 10,
    /// `int32_t`.
    I32 = 11,
    /// `int64_t`.
    I64 = 12,
    /// `double`.
    Double = 13,
    /// One bit, from the least significant of each byte.
    Bool = 14,
    /// Text with offsets. It should be UTF-8; text of a Thrift message may not be.
    Text = 15,
    /// Bytes with offsets.
    Bytes = 16,
    /// A UUID in 16 bytes, in the order in which it is written.
    Uuid = 17,
    /// Text with offsets that is one value in JSON.
    Json = 18,
    /// The flag bits of TCP (0x002 SYN, 0x010 ACK), as `uint16_t`.
    TcpFlags = 19,
    /// A number that stands for a name, as `uint8_t`.
    Enumeration = 20,
    /// Values of one type in an order. Lists, structs and maps leave as Arrow: `bw_batch_arrow`.
    List = 21,
    /// A value of each of several fields.
    Struct = 22,
    /// Values by keys.
    Map = 23,
}

impl From<DataType> for bw_type {
    fn from(data_type: DataType) -> bw_type {
        match data_type {
            DataType::TimeNs => bw_type::TimeNs,
            DataType::TimeUs => bw_type::TimeUs,
            DataType::DurationUs => bw_type::DurationUs,
            DataType::Address => bw_type::Address,
            DataType::U8 => bw_type::U8,
            DataType::U16 => bw_type::U16,
            DataType::U32 => bw_type::U32,
            DataType::U64 => bw_type::U64,
            DataType::I8 => bw_type::I8,
            DataType::I16 => bw_type::I16,
            DataType::I32 => bw_type::I32,
            DataType::I64 => bw_type::I64,
            DataType::Double => bw_type::Double,
            DataType::Bool => bw_type::Bool,
            DataType::Text => bw_type::Text,
            DataType::Bytes => bw_type::Bytes,
            DataType::Uuid => bw_type::Uuid,
            DataType::Json => bw_type::Json,
            DataType::TcpFlags => bw_type::TcpFlags,
            DataType::Enumeration(_) => bw_type::Enumeration,
            DataType::List => bw_type::List,
            DataType::Struct => bw_type::Struct,
            DataType::Map => bw_type::Map,
        }
    }
}

/// One column. The texts belong to the schema.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_field {
    /// The name that it has in all languages, which ends with a zero byte.
    pub name: *const c_char,
    /// Description with its unit, a sentence that ends with a zero byte; empty if there is none.
    pub meaning: *const c_char,
    /// Type of the values.
    pub value_type: bw_type,
    /// True if a row may have no value.
    pub is_nullable: bool,
}

/// The columns of rows. It belongs to the rows or the batch that it came from, and lives as long.
pub struct bw_schema {
    schema: Schema,
    texts: Vec<(CString, CString)>,
}

impl bw_schema {
    pub(crate) fn new(schema: Schema) -> bw_schema {
        let fields = schema.fields().iter();
        let texts = fields.map(|field| (c_string(field.name()), c_string(field.meaning())));
        bw_schema { texts: texts.collect(), schema }
    }

    pub(crate) fn core(&self) -> &Schema {
        &self.schema
    }
}

/// Text as C has it. Names and meanings have no byte 0: parsers of IDL refuse it.
fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// The schema of all columns that records of that name have, without a capture or a table: "packets", "flows", "calls"
/// (with those that only an IDL file gives), "captures" (`bw_capture_info`), "merges" (`bw_capture_merge_flows`), "tables"
/// (`bw_table_stat`). It lives as long as the program. `BW_STATUS_ARGUMENT` for another name.
///
/// # Safety
/// `name` is text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_schema_named(
    name: *const c_char,
    out: Option<&mut MaybeUninit<*const bw_schema>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `name`.
    let name = unsafe { text(name, "a name of records") };
    guard(error, || {
        let name = name?;
        let found = all().iter().find(|known| known.schema.name() == name);
        let found = found.ok_or_else(|| no_records(name))?;
        given(out, "a place for the schema")?.write(found);
        Ok(bw_status::Ok)
    })
}

/// The schemas that are known when the library is built.
fn all() -> &'static [bw_schema] {
    static ALL: ProcessValue<Vec<bw_schema>> = ProcessValue::new();
    ALL.get_or_init(|| {
        let schemas = [
            Field::SCHEMA,
            FlowField::SCHEMA,
            CallColumn::schema(),
            InfoField::SCHEMA,
            FlowMergeField::SCHEMA,
            StatField::SCHEMA,
        ];
        schemas.into_iter().map(bw_schema::new).collect()
    })
}

fn no_records(name: &str) -> Error {
    let known: Vec<&str> = all().iter().map(|known| known.schema.name()).collect();
    let message =
        format!("expected the name of records ({}), found {}", known.join(", "), excerpt(name));
    Error::new(ErrorKind::Argument, message)
}

/// Number of columns; 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn bw_schema_len(schema: Option<&bw_schema>) -> usize {
    schema.map_or(0, |schema| schema.texts.len())
}

/// Describes the column at `place`, counted from 0. `BW_STATUS_NONE` past the last.
#[unsafe(no_mangle)]
pub extern "C" fn bw_schema_field(
    schema: Option<&bw_schema>,
    place: usize,
    field: Option<&mut MaybeUninit<bw_field>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let bw_schema { schema, texts } = given(schema, "a schema")?;
        let out = given(field, "a place for the field")?;
        let (Some(field), Some((name, meaning))) = (schema.fields().get(place), texts.get(place))
        else {
            return Ok(bw_status::None);
        };
        out.write(bw_field {
            name: name.as_ptr(),
            meaning: meaning.as_ptr(),
            value_type: field.data_type().into(),
            is_nullable: field.is_nullable(),
        });
        Ok(bw_status::Ok)
    })
}

/// Finds the place of a column by its name. `BW_STATUS_ARGUMENT` if no column has it; the error lists the names.
///
/// # Safety
/// `name` is text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_schema_find(
    schema: Option<&bw_schema>,
    name: *const c_char,
    place: Option<&mut MaybeUninit<usize>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `name`.
    let name = unsafe { text(name, "a name") };
    guard(error, || {
        let schema = given(schema, "a schema")?;
        let name = name?;
        let found = schema.schema.place_of(name)?;
        given(place, "a place for the place")?.write(found);
        Ok(bw_status::Ok)
    })
}

/// The fields with those names, or `default` where there is none.
pub(crate) fn fields_named<F: Copy>(
    schema: &Schema,
    all: &[F],
    names: &[&str],
    default: &[F],
) -> Result<Vec<F>> {
    if names.is_empty() {
        return Ok(default.to_vec());
    }
    names.iter().map(|name| schema.place_of(name).map(|place| all[place])).collect()
}
