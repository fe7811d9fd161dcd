//! Rows as other programs take them: the choices that they have, and the columns that are converted for them.
//!
//! Rows leave as Arrow or Parquet in a batch whose types those formats have. Columns that need no conversion are
//! handed through without copying.

use std::borrow::Cow;

use super::column::MICROSECOND;
use super::{Batch, Column, DataType, Field, Schema, Value, notation};
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::{Error, Result};

/// Suffix of the name of the column with the nanoseconds that a time in microseconds lacks.
const REST_ENDING: &str = "_nanos";

/// Options for the form of values in other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExportOptions {
    /// The unit of times.
    pub timestamps: TimeUnit,
    /// Converts unsigned numbers to signed ones of the next width, for programs without unsigned numbers. Those
    /// of 64 bits stay as wide, and one above 2^63 - 1 is an error.
    pub signed: bool,
    /// The form of IP addresses.
    pub addresses: AddressForm,
}

impl NamedOptions for ExportOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "timestamps",
            kind: OptionKind::Choice(TimeUnit::NAMES),
            default: "ns",
            summary: "Unit of times; \"us\" for programs that refuse nanoseconds, such as Spark: a column behind, with \
                      _nanos added to its name, has those that are left",
        },
        OptionSpec {
            name: "signed",
            kind: OptionKind::Flag,
            default: "false",
            summary: "Make unsigned numbers signed ones of the next larger width, for Spark and other JVM programs",
        },
        OptionSpec {
            name: "addresses",
            kind: OptionKind::Choice(AddressForm::NAMES),
            default: "text",
            summary: "Form of addresses; \"binary\" is 16 bytes, IPv4 as ::ffff:a.b.c.d",
        },
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "timestamps" => {
                let is_us = setting.text()? == TimeUnit::Microseconds.name();
                self.timestamps =
                    if is_us { TimeUnit::Microseconds } else { TimeUnit::Nanoseconds };
            }
            "signed" => self.signed = setting.flag()?,
            "addresses" => {
                let is_binary = setting.text()? == AddressForm::Binary.name();
                self.addresses = if is_binary { AddressForm::Binary } else { AddressForm::Text };
            }
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}

/// The unit of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeUnit {
    /// Nanoseconds.
    #[default]
    Nanoseconds,
    /// Microseconds, for programs that refuse nanoseconds. The column behind, with `_nanos` added to its name, has
    /// the nanoseconds that are left, 0 to 999.
    Microseconds,
}

impl TimeUnit {
    const NAMES: &'static [&'static str] = &["ns", "us"];

    /// Its name as an option.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The form of IP addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AddressForm {
    /// As people write them.
    #[default]
    Text,
    /// 16 bytes, IPv4 as `::ffff:a.b.c.d`.
    Binary,
}

impl AddressForm {
    const NAMES: &'static [&'static str] = &["text", "binary"];

    /// Its name as an option.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Inputs and filter that rows were made of, for those who find them later.
#[derive(Debug, Clone, Default)]
pub struct RowOrigin {
    /// The names of the inputs.
    pub sources: Vec<String>,
    /// Expression that selected the packets; `None` if all of them were taken.
    pub filter: Option<String>,
}

impl RowOrigin {
    /// Keys and values for Arrow and Parquet: who made rows of `schema`, and of what.
    pub fn metadata(&self, schema: &Schema) -> Vec<(String, String)> {
        let pair = |key: &str, value: &str| (format!("bytewright.{key}"), value.to_owned());
        let mut pairs = vec![
            pair("version", env!("CARGO_PKG_VERSION")),
            pair("schema", schema.name()),
            pair("sources", &self.sources.join("\n")),
        ];
        pairs.extend(self.filter.as_ref().map(|filter| pair("filter", filter)));
        pairs
    }
}

/// Conversion of batches of one schema to what other programs take.
#[derive(Debug, Clone)]
pub struct Export {
    schema: Schema,
    /// One for each field of the batches.
    conversions: Vec<Conversion>,
}

/// Conversion of one column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conversion {
    pub(super) options: ExportOptions,
    /// Converts text to bytes, which need not be UTF-8.
    pub(super) text_as_bytes: bool,
}

impl Export {
    /// For batches of `schema`, whose columns are all converted with `options`.
    pub fn new(schema: &Schema, options: ExportOptions) -> Self {
        Export::by_field(schema, |_| Conversion { options, text_as_bytes: false })
    }

    /// For batches of `schema`, whose columns are converted as `conversion` says of each field.
    pub(super) fn by_field(schema: &Schema, conversion: impl Fn(&Field) -> Conversion) -> Self {
        let conversions: Vec<Conversion> = schema.fields().iter().map(conversion).collect();
        let mut fields = Vec::with_capacity(schema.fields().len());
        for (field, conversion) in schema.fields().iter().zip(&conversions) {
            fields.push(match field.data_type().is_nested() {
                true => conversion.options.nested_field(field),
                false => field.with_type(conversion.type_of(field.data_type())),
            });
            if conversion.options.has_rest(field.data_type()) {
                fields.push(Field::new(
                    format!("{}{REST_ENDING}", field.name()),
                    DataType::I16,
                    field.is_nullable(),
                    format!("Nanoseconds to be added to {}, 0 to 999.", field.name()),
                ));
            }
        }
        Export { schema: Schema::new(schema.name().to_owned(), fields), conversions }
    }

    /// Returns the schema of the converted batches.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The rows of `batch`, converted.
    ///
    /// # Errors
    /// `Format` for text that is not UTF-8, and `Limit` for a number that the type does not hold.
    pub fn convert(&self, batch: Batch) -> Result<Batch> {
        let Batch { schema, row_count, columns } = batch;
        let columns = self.columns(&schema, columns.into_iter().map(Cow::Owned))?;
        let columns = columns.into_iter().map(Cow::into_owned).collect();
        Ok(Batch { schema: self.schema.clone(), row_count, columns })
    }

    /// The columns of the converted rows of `batch`, which keeps its own; those that stay as they are, are borrowed of it.
    pub(super) fn convert_shared<'b>(&self, batch: &'b Batch) -> Result<Vec<Cow<'b, Column>>> {
        self.columns(&batch.schema, batch.columns.iter().map(Cow::Borrowed))
    }

    fn columns<'b>(
        &self,
        schema: &Schema,
        columns: impl Iterator<Item = Cow<'b, Column>>,
    ) -> Result<Vec<Cow<'b, Column>>> {
        let mut converted = Vec::with_capacity(self.schema.fields().len());
        let fields = schema.fields().iter().zip(&self.conversions);
        for ((field, conversion), column) in fields.zip(columns) {
            let rest = conversion.options.has_rest(field.data_type()).then(|| nanoseconds(&column));
            converted.push(match column {
                Cow::Owned(column) => Cow::Owned(conversion.convert(column, field.name())?),
                Cow::Borrowed(column) => conversion.convert_shared(column, field.name())?,
            });
            converted.extend(rest.map(Cow::Owned));
        }
        Ok(converted)
    }
}

impl Conversion {
    /// The type that a column gets.
    fn type_of(self, data_type: DataType) -> DataType {
        match data_type {
            DataType::Text | DataType::Json if self.text_as_bytes => DataType::Bytes,
            _ => self.options.type_of(data_type),
        }
    }

    /// The column with the type that it gets, borrowed if that is its own.
    fn convert_shared<'c>(self, column: &'c Column, name: &str) -> Result<Cow<'c, Column>> {
        if self.type_of(column.data_type()) == column.data_type() && self.options.keeps(column) {
            self.options.check(column, name)?;
            return Ok(Cow::Borrowed(column));
        }
        self.convert(column.clone(), name).map(Cow::Owned)
    }

    /// The column with the type that it gets. `name` is what errors call it.
    fn convert(self, column: Column, name: &str) -> Result<Column> {
        match column.data_type() {
            DataType::Text | DataType::Json if self.text_as_bytes => {
                Ok(column.with_type(DataType::Bytes))
            }
            data_type if data_type.is_nested() => self.options.convert_nested(column, name),
            _ => self.options.convert(column, name),
        }
    }
}

impl ExportOptions {
    /// The type that a column gets.
    fn type_of(self, data_type: DataType) -> DataType {
        match data_type {
            DataType::TimeNs if self.timestamps == TimeUnit::Microseconds => DataType::TimeUs,
            DataType::Address if self.addresses == AddressForm::Text => DataType::Text,
            DataType::Enumeration(names) if names.is_closed => DataType::Text,
            DataType::DurationUs => DataType::DurationUs,
            _ if self.signed => match data_type.storage() {
                DataType::U8 => DataType::I16,
                DataType::U16 => DataType::I32,
                DataType::U32 | DataType::U64 => DataType::I64,
                _ => data_type,
            },
            _ => data_type,
        }
    }

    /// Returns the field that a field inside of a nested one becomes, or a nested one itself. Times stay as they are there: a
    /// column behind them would be one of its own in each list.
    fn nested_field(self, field: &Field) -> Field {
        match field.data_type() {
            DataType::TimeNs => field.clone(),
            data_type if data_type.is_nested() => {
                let children = field.children().iter();
                field.with_children(children.map(|child| self.nested_field(child)).collect())
            }
            data_type => field.with_type(self.type_of(data_type)),
        }
    }

    /// The column of [`Self::nested_field`].
    fn convert_nested(self, column: Column, name: &str) -> Result<Column> {
        match column.data_type() {
            DataType::TimeNs => Ok(column),
            data_type if data_type.is_nested() => column.with_children(|field, child| {
                let converted = self.nested_field(field);
                let child = self.convert_nested(child, &format!("{name}.{}", field.name()))?;
                Ok((converted, child))
            }),
            _ => self.convert(column, name),
        }
    }

    /// Returns true if a column gets another one behind it.
    fn has_rest(self, data_type: DataType) -> bool {
        data_type == DataType::TimeNs && self.timestamps == TimeUnit::Microseconds
    }

    /// Returns true if a column, or each that a nested one consists of, keeps its type and so its memory.
    fn keeps(self, column: &Column) -> bool {
        match column.data_type() {
            data_type if data_type.is_nested() => {
                column.children().iter().all(|child| self.keeps_inside(child))
            }
            data_type => self.type_of(data_type) == data_type,
        }
    }

    /// Returns true if a column inside of a nested one keeps its type: times stay as they are there.
    fn keeps_inside(self, column: &Column) -> bool {
        column.data_type() == DataType::TimeNs || self.keeps(column)
    }

    /// Fails if a column has values that its type does not have in other programs. `name` is what errors call it.
    fn check(self, column: &Column, name: &str) -> Result<()> {
        match (column.data_type(), self.type_of(column.data_type())) {
            (DataType::DurationUs, _) | (DataType::U64, DataType::I64) => {
                within_signed(column, name)
            }
            (DataType::Text | DataType::Json, _) => match column.invalid_text_row() {
                Some(_) => Err(Error::format(format!("UTF-8 in the column {name}"), "other bytes")),
                None => Ok(()),
            },
            (data_type, _) if data_type.is_nested() => {
                let mut children = column.child_fields().iter().zip(column.children());
                children.try_for_each(|(field, child)| {
                    self.check(child, &format!("{name}.{}", field.name()))
                })
            }
            _ => Ok(()),
        }
    }

    /// The column with the type that it gets. `name` is what errors call it.
    fn convert(self, column: Column, name: &str) -> Result<Column> {
        self.check(&column, name)?;
        let to = self.type_of(column.data_type());
        match (column.data_type(), to) {
            (DataType::TimeNs, DataType::TimeUs) => Ok(microseconds(&column)),
            (DataType::DurationUs, _) | (DataType::U64, DataType::I64) => Ok(column.with_type(to)),
            (DataType::Address | DataType::Enumeration(_), DataType::Text) => Ok(spelled(&column)),
            (from, to) if from.width() != to.width() => Ok(widened(&column, to)),
            _ => Ok(column),
        }
    }
}

/// Times in microseconds, rounded down.
fn microseconds(column: &Column) -> Column {
    let (times, _) = column.values().as_chunks();
    let values = times
        .iter()
        .flat_map(|time| i64::from_le_bytes(*time).div_euclid(MICROSECOND).to_le_bytes());
    column.with_values(DataType::TimeUs, values.collect(), Vec::new())
}

/// The nanoseconds that times in microseconds lack.
fn nanoseconds(column: &Column) -> Column {
    let (times, _) = column.values().as_chunks();
    let values = times
        .iter()
        .flat_map(|time| (i64::from_le_bytes(*time).rem_euclid(MICROSECOND) as i16).to_le_bytes());
    column.with_values(DataType::I16, values.collect(), Vec::new())
}

/// Fails if an unsigned value does not fit 64 signed bits.
fn within_signed(column: &Column, name: &str) -> Result<()> {
    let (numbers, _) = column.values().as_chunks();
    for (row, number) in numbers.iter().enumerate() {
        let number = u64::from_le_bytes(*number);
        if i64::try_from(number).is_err() && column.is_valid(row) {
            let what = format!("a number in the column {name}");
            return Err(Error::limit(what, i64::MAX.unsigned_abs(), number));
        }
    }
    Ok(())
}

/// The unsigned numbers of a column as numbers of a larger width.
fn widened(column: &Column, to: DataType) -> Column {
    let (Some(from_width), Some(to_width)) = (column.data_type().width(), to.width()) else {
        return column.clone();
    };
    let mut values = vec![0; column.len() * to_width];
    let slots = values.chunks_exact_mut(to_width);
    for (slot, number) in slots.zip(column.values().chunks_exact(from_width)) {
        slot[..from_width].copy_from_slice(number);
    }
    column.with_values(to, values, Vec::new())
}

/// Addresses and names as text.
fn spelled(column: &Column) -> Column {
    let mut text = Vec::with_capacity(column.len() * 16);
    let mut offsets = Vec::with_capacity(column.len() + 1);
    offsets.push(0);
    for row in 0..column.len() {
        match column.value(row) {
            Value::Text(name) => text.extend_from_slice(name.as_bytes()),
            Value::Address(address) => notation::address(&mut text, address),
            _ => {}
        }
        offsets.push(text.len() as i64);
    }
    column.with_values(DataType::Text, text, offsets)
}
