//! The Arrow types that a program requests for columns, and columns in those types
//! (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html#schema-requests>).
//!
//! A request chooses between representations of the same values: the width of integers, the unit and zone of times, the
//! layout of text and bytes, dictionaries, the order of the columns; lists, structs and maps stay as they are. It does not select columns and computes nothing. A
//! column keeps its own type where the requested one is of the same kind but is not made here. A value that the
//! requested type cannot hold is an error; nothing is rounded.

use std::collections::HashMap;

use super::arrow::format_of;
use super::export::{Conversion, Export};
use super::{AddressForm, Column, DataType, ExportOptions, Field, Schema};
use crate::error::excerpt;
use crate::{Error, ErrorKind, Result};

/// Bytes of text that a view holds itself.
const INLINE_MAX: usize = 12;

/// A column of a requested schema.
#[derive(Debug, Clone)]
pub(super) struct RequestedColumn {
    pub(super) name: String,
    /// The type, as the C data interface writes it; of a dictionary, that of its indices.
    pub(super) format: String,
    /// The type of the values of a dictionary.
    pub(super) dictionary: Option<String>,
    pub(super) is_nullable: bool,
}

impl RequestedColumn {
    /// The type of the values.
    fn values(&self) -> &str {
        self.dictionary.as_ref().unwrap_or(&self.format)
    }
}

/// Column of the output.
#[derive(Debug, Clone)]
pub(super) struct OutputColumn {
    /// Its place among the converted columns.
    pub(super) place: usize,
    pub(super) form: ArrowForm,
    pub(super) is_nullable: bool,
}

/// The Arrow type of a column.
#[derive(Debug, Clone)]
pub(super) enum ArrowForm {
    /// The one that [`format_of`] has for its type.
    Own,
    Integer(Integer),
    /// Times or durations, as so many parts of a second, and the format that says so.
    Time(i128, String),
    Variable(Variable),
    /// Indices of values that are told once.
    Dictionary(Integer, Variable),
}

/// An integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Integer {
    format: &'static str,
    width: usize,
    min: i128,
    max: i128,
}

const fn integer(format: &'static str, width: usize, is_signed: bool) -> Integer {
    let bits = 8 * width as u32;
    let (min, max) = match is_signed {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    };
    Integer { format, width, min, max }
}

const INTEGERS: [Integer; 8] = [
    integer("c", 1, true),
    integer("C", 1, false),
    integer("s", 2, true),
    integer("S", 2, false),
    integer("i", 4, true),
    integer("I", 4, false),
    integer("l", 8, true),
    integer("L", 8, false),
];

/// Storage of times: a part of a second in 64 bits.
const TIME: Integer = integer("l", 8, true);

/// Text or bytes of any length, and where they lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Variable {
    format: &'static str,
    data_type: DataType,
    arrangement: Arrangement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrangement {
    /// One after the other, with offsets of 32 bits.
    SmallOffsets,
    /// One after the other, with offsets of 64 bits.
    LargeOffsets,
    /// Anywhere, with a view of 16 bytes for each.
    Views,
}

const fn variable(format: &'static str, data_type: DataType, arrangement: Arrangement) -> Variable {
    Variable { format, data_type, arrangement }
}

const VARIABLES: [Variable; 6] = [
    variable("u", DataType::Text, Arrangement::SmallOffsets),
    variable("U", DataType::Text, Arrangement::LargeOffsets),
    variable("vu", DataType::Text, Arrangement::Views),
    variable("z", DataType::Bytes, Arrangement::SmallOffsets),
    variable("Z", DataType::Bytes, Arrangement::LargeOffsets),
    variable("vz", DataType::Bytes, Arrangement::Views),
];

/// Kind of type; types of one kind can be requested in place of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TypeKind {
    Number,
    Boolean,
    Time,
    Duration,
    TextOrBytes,
    List,
    Struct,
    Map,
    Other,
}

impl TypeKind {
    const fn name(self) -> &'static str {
        match self {
            TypeKind::Number => "number",
            TypeKind::Boolean => "boolean",
            TypeKind::Time => "timestamp",
            TypeKind::Duration => "duration",
            TypeKind::TextOrBytes => "string or binary",
            TypeKind::List => "list",
            TypeKind::Struct => "struct",
            TypeKind::Map => "map",
            TypeKind::Other => "other",
        }
    }

    fn of_format(format: &str) -> TypeKind {
        match format.as_bytes() {
            [b'c' | b'C' | b's' | b'S' | b'i' | b'I' | b'l' | b'L' | b'e' | b'f' | b'g'] => {
                TypeKind::Number
            }
            [b'd', b':', ..] => TypeKind::Number,
            [b'b'] => TypeKind::Boolean,
            [b't', b's', ..] => TypeKind::Time,
            [b't', b'D', _] => TypeKind::Duration,
            [b'u' | b'U' | b'z' | b'Z'] | [b'v', b'u' | b'z'] | [b'w', b':', ..] => {
                TypeKind::TextOrBytes
            }
            [b'+', b's'] => TypeKind::Struct,
            [b'+', b'm'] => TypeKind::Map,
            [b'+', b'l' | b'L'] | [b'+', b'v' | b'w', ..] => TypeKind::List,
            _ => TypeKind::Other,
        }
    }
}

/// The integer type of a format.
fn integer_of(format: &str) -> Option<Integer> {
    INTEGERS.into_iter().find(|integer| integer.format == format)
}

/// The text or bytes of a format.
fn variable_of(format: &str) -> Option<Variable> {
    VARIABLES.into_iter().find(|variable| variable.format == format)
}

/// Parts of a second that the format of a time or a duration counts.
fn parts_of(format: &str) -> Option<i128> {
    match (format.as_bytes().get(2)?, format.starts_with("ts")) {
        (_, true) if format.as_bytes().get(3) != Some(&b':') => None,
        (b's', _) => Some(1),
        (b'm', _) => Some(1_000),
        (b'u', _) => Some(1_000_000),
        (b'n', _) => Some(1_000_000_000),
        _ => None,
    }
}

/// Returns the conversion of batches of `schema` with `options`, and the form of their columns for a program that
/// requested `columns`.
///
/// # Errors
/// `Argument` if the request does not have the same columns, or one of them is requested as something else.
pub(super) fn answer(
    columns: &[RequestedColumn],
    schema: &Schema,
    options: ExportOptions,
) -> Result<(Export, Vec<OutputColumn>)> {
    let named = |field: &Field| columns.iter().find(|column| column.name == field.name());
    let export = Export::by_field(schema, |field| {
        let conversion = Conversion { options, text_as_bytes: false };
        named(field).map_or(conversion, |column| column.conversion(field, conversion))
    });
    let fields = export.schema().fields();
    let mut is_taken = vec![false; fields.len()];
    let mut output = Vec::with_capacity(fields.len());
    for column in columns {
        let free = |(place, field): &(usize, &Field)| {
            field.name() == column.name && !is_taken.get(*place).is_some_and(|is_taken| *is_taken)
        };
        let Some((place, field)) = fields.iter().enumerate().find(free) else {
            return Err(other_columns(fields, columns));
        };
        let form = ArrowForm::of(column, field)?;
        let is_nullable = field.is_nullable() || column.is_nullable;
        output.push(OutputColumn { place, form, is_nullable });
        if let Some(is_taken) = is_taken.get_mut(place) {
            *is_taken = true;
        }
    }
    match output.len() == fields.len() {
        true => Ok((export, output)),
        false => Err(other_columns(fields, columns)),
    }
}

fn other_columns(fields: &[Field], requested: &[RequestedColumn]) -> Error {
    let expected: Vec<&str> = fields.iter().map(Field::name).collect();
    let found: Vec<&str> = requested.iter().map(|column| column.name.as_str()).collect();
    let (expected, found) = (expected.join(", "), found.join(", "));
    let (expected, found) = (excerpt(&expected), excerpt(&found));
    let message = format!("expected a requested schema of the columns {expected}, found {found}");
    Error::new(ErrorKind::Argument, message)
}

impl RequestedColumn {
    /// Returns the conversion by which a field can leave as the requested type.
    fn conversion(&self, field: &Field, mut conversion: Conversion) -> Conversion {
        let variable = variable_of(self.values());
        match (field.data_type(), variable) {
            (DataType::Address, None) if self.format == format_of(DataType::Address) => {
                conversion.options.addresses = AddressForm::Binary;
            }
            (DataType::Address, Some(text)) if text.data_type == DataType::Text => {
                conversion.options.addresses = AddressForm::Text;
            }
            (DataType::Text | DataType::Json, Some(bytes)) => {
                conversion.text_as_bytes = bytes.data_type == DataType::Bytes;
            }
            _ => {}
        }
        conversion
    }
}

impl ArrowForm {
    /// Returns the form in which a converted field can leave if a program requested `column`.
    fn of(column: &RequestedColumn, field: &Field) -> Result<ArrowForm> {
        let own = format_of(field.data_type());
        let (kind, requested) = (TypeKind::of_format(own), TypeKind::of_format(column.values()));
        if kind != requested {
            let message = format!(
                "expected a {} type for the column {} in the requested schema, found {}",
                kind.name(),
                column.name,
                column.values()
            );
            return Err(Error::new(ErrorKind::Argument, message));
        }
        Ok(ArrowForm::made(column, field.data_type()).unwrap_or(ArrowForm::Own))
    }

    /// The requested type, where columns of `data_type` can have it.
    fn made(column: &RequestedColumn, data_type: DataType) -> Option<ArrowForm> {
        let (own, format) = (format_of(data_type), column.format.as_str());
        if column.dictionary.is_none() && own == format {
            return None;
        }
        let variable = variable_of(column.values())
            .filter(|to| data_type.is_variable() && !is_text_of_bytes(data_type, *to));
        if column.dictionary.is_some() {
            return Some(ArrowForm::Dictionary(integer_of(format)?, variable?));
        }
        match TypeKind::of_format(own) {
            TypeKind::Number => integer_of(own).and(integer_of(format)).map(ArrowForm::Integer),
            TypeKind::Time | TypeKind::Duration => {
                parts_of(format).map(|parts| ArrowForm::Time(parts, column.format.clone()))
            }
            TypeKind::TextOrBytes => variable.map(ArrowForm::Variable),
            TypeKind::Boolean | TypeKind::Other => None,
            TypeKind::List | TypeKind::Struct | TypeKind::Map => None,
        }
    }

    /// As the C data interface writes it; of a dictionary, that of its indices.
    pub(super) fn format(&self, data_type: DataType) -> &str {
        match self {
            ArrowForm::Own => format_of(data_type),
            ArrowForm::Integer(integer) | ArrowForm::Dictionary(integer, _) => integer.format,
            ArrowForm::Time(_, format) => format,
            ArrowForm::Variable(variable) => variable.format,
        }
    }

    /// The type of the values of a dictionary.
    pub(super) fn dictionary_format(&self) -> Option<&'static str> {
        match self {
            ArrowForm::Dictionary(_, values) => Some(values.format),
            _ => None,
        }
    }

    /// The column in this type. `name` is what errors call it.
    ///
    /// # Errors
    /// `Limit` where the type cannot hold a value.
    pub(super) fn laid_out(&self, column: Column, name: &str) -> Result<LaidOut> {
        match self {
            ArrowForm::Own => Ok(LaidOut::Own(column)),
            ArrowForm::Integer(to) => {
                let values = integers(&column, *to, (1, 1), name)?;
                Ok(LaidOut::anew(&column, vec![values]))
            }
            ArrowForm::Time(parts, _) => {
                let own = parts_of(format_of(column.data_type())).unwrap_or(*parts);
                let values = integers(&column, TIME, (*parts, own), name)?;
                Ok(LaidOut::anew(&column, vec![values]))
            }
            ArrowForm::Variable(to) => to.laid_out(column, name),
            ArrowForm::Dictionary(index, values) => dictionary(&column, *index, *values, name),
        }
    }
}

/// Returns true if bytes are requested as text: nothing says that they are text.
fn is_text_of_bytes(data_type: DataType, to: Variable) -> bool {
    data_type == DataType::Bytes && to.data_type == DataType::Text
}

/// A column in memory as Arrow has it.
#[derive(Debug)]
pub(super) enum LaidOut {
    /// As columns are kept.
    Own(Column),
    Anew {
        row_count: usize,
        null_count: usize,
        validity: Vec<u8>,
        /// Those behind the validity.
        buffers: Vec<Vec<u8>>,
        dictionary: Option<Box<LaidOut>>,
    },
}

impl LaidOut {
    /// The rows of `column` with other buffers, and nulls where they are.
    fn anew(column: &Column, buffers: Vec<Vec<u8>>) -> LaidOut {
        LaidOut::Anew {
            row_count: column.len(),
            null_count: column.null_count(),
            validity: column.validity().to_vec(),
            buffers,
            dictionary: None,
        }
    }
}

/// The numbers of a column, or its times, multiplied by `scale.0` and divided by `scale.1`.
fn integers(column: &Column, to: Integer, scale: (i128, i128), name: &str) -> Result<Vec<u8>> {
    let mut values = Vec::with_capacity(column.len() * to.width);
    for row in 0..column.len() {
        let number = if column.is_valid(row) { column.integer(row) } else { 0 };
        let scaled = number * scale.0;
        let held = scaled / scale.1;
        if held < to.min || held > to.max || held * scale.1 != scaled {
            return Err(not_held(name, number));
        }
        let bytes = held.to_le_bytes();
        values.extend_from_slice(bytes.get(..to.width).unwrap_or_default());
    }
    Ok(values)
}

#[cold]
fn not_held(name: &str, number: i128) -> Error {
    let message = format!(
        "expected values of the column {name} that the requested type can hold, found {number}"
    );
    Error::new(ErrorKind::Limit, message)
}

impl Variable {
    fn laid_out(self, column: Column, name: &str) -> Result<LaidOut> {
        let data_length = column.values().len();
        if self.arrangement != Arrangement::LargeOffsets && i32::try_from(data_length).is_err() {
            let what = format!("bytes in a batch of the column {name}");
            return Err(Error::limit(what, i32::MAX.unsigned_abs().into(), data_length as u64));
        }
        match self.arrangement {
            Arrangement::LargeOffsets => Ok(LaidOut::Own(column)),
            Arrangement::SmallOffsets => {
                let offsets = column.offsets().iter();
                let offsets = offsets.flat_map(|offset| (*offset as i32).to_le_bytes()).collect();
                let values = column.values().to_vec();
                Ok(LaidOut::anew(&column, vec![offsets, values]))
            }
            Arrangement::Views => {
                let values = column.values().to_vec();
                let data_lengths = (data_length as i64).to_le_bytes().to_vec();
                Ok(LaidOut::anew(&column, vec![views(&column), values, data_lengths]))
            }
        }
    }
}

/// A view of each row: its length, and its bytes or where they are.
fn views(column: &Column) -> Vec<u8> {
    let mut views = Vec::with_capacity(column.len() * 16);
    for (row, offset) in (0..column.len()).zip(column.offsets()) {
        let bytes = column.bytes(row);
        views.extend_from_slice(&(bytes.len() as i32).to_le_bytes());
        if bytes.len() <= INLINE_MAX {
            views.extend_from_slice(bytes);
            views.resize(views.len() + INLINE_MAX - bytes.len(), 0);
        } else {
            views.extend_from_slice(bytes.get(..4).unwrap_or_default());
            views.extend_from_slice(&0_i32.to_le_bytes());
            views.extend_from_slice(&(*offset as i32).to_le_bytes());
        }
    }
    views
}

/// Each value once, and its number for each row.
fn dictionary(column: &Column, index: Integer, to: Variable, name: &str) -> Result<LaidOut> {
    let mut numbers: HashMap<&[u8], i128> = HashMap::new();
    let mut values = Column::new(to.data_type);
    let mut indices = Vec::with_capacity(column.len() * index.width);
    for row in 0..column.len() {
        let number = match column.is_valid(row) {
            true => *numbers.entry(column.bytes(row)).or_insert_with_key(|bytes| {
                values.push_bytes(bytes);
                values.len() as i128 - 1
            }),
            false => 0,
        };
        if number > index.max {
            let what = format!("different values in a batch of the column {name}");
            return Err(Error::limit(what, index.max as u64 + 1, number as u64 + 1));
        }
        indices.extend_from_slice(number.to_le_bytes().get(..index.width).unwrap_or_default());
    }
    let values = to.laid_out(values, name)?;
    Ok(match LaidOut::anew(column, vec![indices]) {
        LaidOut::Anew { row_count, null_count, validity, buffers, .. } => {
            let dictionary = Some(Box::new(values));
            LaidOut::Anew { row_count, null_count, validity, buffers, dictionary }
        }
        own => own,
    })
}
