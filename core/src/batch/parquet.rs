//! Batches as a Parquet file (<https://parquet.apache.org/docs/file-format/>), as far as its bytes; where they go is
//! the caller's.
//!
//! The crate encodes column by column, so rows are kept until there are enough for a row group.

mod column_types;
mod levels;

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType as Physical, DoubleType, FixedLenByteArray,
    FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type as SchemaType};

use super::export::{Export, ExportOptions};
use super::{Batch, Column, DataType, Field, Schema};
use crate::error::excerpt;
use crate::{Error, ErrorKind, Result};
use column_types::column_type;
use levels::{LeafLevels, leaves};

// Bound (Captures): row group of a Parquet file = ends at 131,072 rows or 32 MiB.
/// It ends with the batch. A little more than what DuckDB and Spark read at once.
const GROUP_ROWS: usize = 128 << 10;
/// Bytes of columns after which it ends.
const GROUP_BYTES: usize = 32 << 20;
/// Rows of a column that are encoded at once.
const STEP_ROWS: usize = 8 << 10;
/// Bytes of different values of a row group for which a dictionary is kept. Above, a column has few repetitions, and
/// a dictionary costs time and space.
const DICTIONARY_BYTES: usize = 256 << 10;
/// Level of zstd.
const ZSTD_LEVEL: i32 = 1;

/// Encodes batches of one schema.
pub struct ParquetWriter<W: Write + Send> {
    export: Export,
    file: SerializedFileWriter<W>,
    /// Of each field, the columns that wait for the row group's end.
    waiting: Vec<Vec<Column>>,
    waiting_rows: usize,
    waiting_bytes: usize,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// For batches of `schema`, which leave with `options`; `metadata` is about all of them.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn new(
        output: W,
        schema: &Schema,
        options: ExportOptions,
        metadata: &[(String, String)],
    ) -> Result<Self> {
        let export = Export::new(schema, options);
        has_different_names(export.schema())?;
        let columns = export.schema().fields().iter().map(|field| column_type(field).map(Arc::new));
        let columns = columns.collect::<Result<_>>()?;
        let root = SchemaType::group_type_builder(schema.name()).with_fields(columns).build();
        let properties = properties(export.schema(), metadata)?;
        let root = Arc::new(root.map_err(failed)?);
        let file = SerializedFileWriter::new(output, root, properties).map_err(failed)?;
        let waiting = export.schema().fields().iter().map(|_| Vec::new()).collect();
        Ok(ParquetWriter { export, file, waiting, waiting_rows: 0, waiting_bytes: 0 })
    }

    /// Writes the rows of a batch, now or with the next ones.
    ///
    /// # Errors
    /// `Format` where text is not UTF-8, `Limit` where a number does not fit, and those of the output.
    pub fn write(&mut self, batch: Batch) -> Result<()> {
        let batch = self.export.convert(batch)?;
        self.waiting_rows += batch.len();
        self.waiting_bytes += batch.memory_bytes();
        for (waiting, column) in self.waiting.iter_mut().zip(batch.into_columns()) {
            waiting.push(column);
        }
        if self.waiting_rows >= GROUP_ROWS || self.waiting_bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes the rest of the rows and what a file ends with; answers the output.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> Result<W> {
        if self.waiting_rows > 0 {
            self.write_group()?;
        }
        self.file.into_inner().map_err(failed)
    }

    fn write_group(&mut self) -> Result<()> {
        (self.waiting_rows, self.waiting_bytes) = (0, 0);
        let mut group = self.file.next_row_group().map_err(failed)?;
        for (field, columns) in self.export.schema().fields().iter().zip(&mut self.waiting) {
            for leaf in leaves(field) {
                let Some(mut writer) = group.next_column().map_err(failed)? else { break };
                for column in columns.iter() {
                    write_leaf(&mut writer, column, field, &leaf).map_err(failed)?;
                }
                writer.close().map_err(failed)?;
            }
            columns.clear();
        }
        group.close().map(drop).map_err(failed)
    }
}

/// Appends the rows of the column that is reached from `column`, that of `field`, by the places of children.
fn write_leaf(
    writer: &mut SerializedColumnWriter<'_>,
    column: &Column,
    field: &Field,
    places: &[usize],
) -> Outcome {
    if !field.data_type().is_nested() {
        return write_column(writer, column, Levels::Flat(field.is_nullable()));
    }
    let (leaf, levels) = LeafLevels::of(column, field, places);
    write_column(writer, leaf, Levels::Nested(&levels))
}

/// Fails where two columns would have one name, which a reader could not tell apart.
fn has_different_names(schema: &Schema) -> Result<()> {
    let fields = schema.fields();
    for (place, field) in fields.iter().enumerate() {
        if fields.iter().take(place).any(|before| before.name() == field.name()) {
            let message = format!(
                "expected columns of different names, found {} twice",
                excerpt(field.name())
            );
            return Err(Error::new(ErrorKind::Argument, message));
        }
    }
    Ok(())
}

fn properties(schema: &Schema, metadata: &[(String, String)]) -> Result<WriterPropertiesPtr> {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(failed)?;
    let pairs = metadata.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("bytewright version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_key_value_metadata(Some(pairs.collect()));
    for field in schema.fields() {
        if matches!(field.data_type(), DataType::TimeNs | DataType::TimeUs) {
            // Hardly one comes twice, and most are close to the one before.
            let path = ColumnPath::new(vec![field.name().to_owned()]);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    Ok(Arc::new(properties.build()))
}

type Outcome = std::result::Result<(), ParquetError>;

/// Levels of the rows of a column.
#[derive(Clone, Copy)]
enum Levels<'a> {
    /// Those of a column of the schema: 1 for a value, 0 for a null; none unless it is nullable.
    Flat(bool),
    Nested(&'a LeafLevels),
}

/// Appends the rows of a column that is not nested.
fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    column: &Column,
    levels: Levels<'_>,
) -> Outcome {
    match column.data_type().storage() {
        DataType::U8 => fixed::<Int32Type, 1>(writer, column, levels, |[byte]| byte.into()),
        DataType::I8 => {
            fixed::<Int32Type, 1>(writer, column, levels, |bytes| i8::from_le_bytes(bytes).into())
        }
        DataType::U16 => {
            fixed::<Int32Type, 2>(writer, column, levels, |bytes| u16::from_le_bytes(bytes).into())
        }
        DataType::I16 => {
            fixed::<Int32Type, 2>(writer, column, levels, |bytes| i16::from_le_bytes(bytes).into())
        }
        DataType::U32 | DataType::I32 => {
            fixed::<Int32Type, 4>(writer, column, levels, i32::from_le_bytes)
        }
        DataType::U64 | DataType::I64 => {
            fixed::<Int64Type, 8>(writer, column, levels, i64::from_le_bytes)
        }
        DataType::Double => fixed::<DoubleType, 8>(writer, column, levels, f64::from_le_bytes),
        DataType::Bool => {
            rows(writer.typed::<BoolType>(), column, levels, |row| column.value(row) == true.into())
        }
        DataType::Address | DataType::Uuid => {
            let bytes = ByteArray::from(column.values().to_vec());
            rows(writer.typed::<FixedLenByteArrayType>(), column, levels, |row| {
                FixedLenByteArray::from(bytes.slice(row * 16, 16))
            })
        }
        _ => {
            let bytes = ByteArray::from(column.values().to_vec());
            let at = |row: usize| column.offsets().get(row).copied().unwrap_or(0) as usize;
            rows(writer.typed::<ByteArrayType>(), column, levels, |row| {
                bytes.slice(at(row), at(row + 1) - at(row))
            })
        }
    }
}

/// Appends the rows of a column whose values are `N` bytes wide.
fn fixed<P: Physical, const N: usize>(
    writer: &mut SerializedColumnWriter<'_>,
    column: &Column,
    levels: Levels<'_>,
    value: impl Fn([u8; N]) -> P::T,
) -> Outcome {
    let (values, _) = column.values().as_chunks::<N>();
    rows(writer.typed::<P>(), column, levels, |row| {
        value(values.get(row).copied().unwrap_or([0; N]))
    })
}

/// Appends the rows of a column, some at a time: of each whether it has a value, and the values that there are.
fn rows<P: Physical>(
    writer: &mut ColumnWriterImpl<'_, P>,
    column: &Column,
    levels: Levels<'_>,
    value: impl Fn(usize) -> P::T,
) -> Outcome {
    let is_nullable = match levels {
        Levels::Flat(is_nullable) => is_nullable,
        Levels::Nested(nested) => {
            let values: Vec<P::T> = nested.rows.iter().map(|row| value(*row as usize)).collect();
            let repetition = nested.is_repeated.then_some(nested.repetition.as_slice());
            return writer.write_batch(&values, Some(&nested.definition), repetition).map(drop);
        }
    };
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    for start in (0..column.len()).step_by(STEP_ROWS) {
        let step = start..column.len().min(start + STEP_ROWS);
        values.clear();
        levels.clear();
        if column.null_count() == 0 {
            levels.resize(step.len(), 1);
            values.extend(step.map(&value));
        } else {
            levels.extend(step.clone().map(|row| i16::from(column.is_valid(row))));
            values.extend(step.filter(|row| column.is_valid(*row)).map(&value));
        }
        writer.write_batch(&values, is_nullable.then_some(levels.as_slice()), None)?;
    }
    Ok(())
}

/// The error of the output that the crate came across, or one of its own, which a caller cannot cause.
fn failed(error: ParquetError) -> Error {
    let ParquetError::External(source) = error else { return Error::internal(error) };
    match source.downcast::<io::Error>() {
        Ok(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
            Some(inner) => inner.clone(),
            None => Error::io("write", &error),
        },
        Err(source) => Error::internal(source),
    }
}
