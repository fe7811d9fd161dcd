//! Records as columns.

use super::super::stream_host::StreamHost;
use super::operation::Operation;
use crate::batch::{Batch, Column, DataType, Field, Schema, Value};
use crate::error::excerpt;
use crate::error::{Error, ErrorKind, Result as CoreResult};
use crate::wire::{Endian, RecordTemplate, RecordType, RecordValue};

/// Records that are spread over the columns at once.
const BLOCK_RECORDS: usize = 128;

/// The columns that records of a template become. They are called `names`, or `f0`, `f1` and so on where there are none.
///
/// # Errors
/// `Argument` where there are names, but not one for each value, or one twice.
pub fn record_schema(template: &RecordTemplate, names: &[String]) -> CoreResult<Schema> {
    let (expected, found) = (template.value_count(), names.len());
    if found > 0 && found != expected {
        let message = format!("expected a name for each of {expected} values, found {found} names");
        return Err(Error::new(ErrorKind::Argument, message));
    }
    let twice = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name));
    if let Some((_, name)) = twice {
        let name = excerpt(name);
        let message = format!("expected a name for each column, found {name} twice");
        return Err(Error::new(ErrorKind::Argument, message));
    }
    let fields = template.types().enumerate().map(|(place, kind)| {
        let name = names.get(place).cloned().unwrap_or_else(|| format!("f{place}"));
        Field::new(name, data_type(kind), false, String::new())
    });
    Ok(Schema::new("records", fields.collect()))
}

fn data_type(kind: RecordType) -> DataType {
    match kind {
        RecordType::Unsigned(1) => DataType::U8,
        RecordType::Unsigned(2) => DataType::U16,
        RecordType::Unsigned(3..=4) => DataType::U32,
        RecordType::Unsigned(_) => DataType::U64,
        RecordType::Signed(1) => DataType::I8,
        RecordType::Signed(2) => DataType::I16,
        RecordType::Signed(3..=4) => DataType::I32,
        RecordType::Signed(_) => DataType::I64,
        RecordType::Float => DataType::Double,
        RecordType::Bytes => DataType::Bytes,
    }
}

fn value(value: RecordValue<'_>) -> Value<'_> {
    match value {
        RecordValue::Unsigned(number) => Value::Unsigned(number),
        RecordValue::Signed(number) => Value::Signed(number),
        RecordValue::Float(number) => Value::Double(number),
        RecordValue::Bytes(bytes) => Value::Bytes(bytes),
    }
}

impl<H: StreamHost> Operation<'_, H> {
    /// Takes up to `count` records as columns of a schema that [`record_schema`] made. Where this fails, none is taken.
    ///
    /// # Errors
    /// As for [`Operation::records`].
    pub fn columns(
        &self,
        template: &RecordTemplate,
        schema: &Schema,
        count: usize,
    ) -> Result<Batch, H::Error> {
        let mut batch = Batch::new(schema.clone());
        let len = template.record_len();
        self.records(len, count, |count| {
            self.take(count * len, count * len, |bytes| {
                // Few at a time, so that they are in the cache while one column after another is taken from them.
                for block in bytes.chunks(len * BLOCK_RECORDS) {
                    batch.extend(block.len() / len, |place, column| {
                        extend(column, template, place, block);
                    });
                }
                Ok(())
            })
        })?;
        Ok(batch)
    }
}

/// Appends the values at a place of whole records.
fn extend(column: &mut Column, template: &RecordTemplate, place: usize, records: &[u8]) {
    let len = template.record_len();
    match (template.number_at(place), column.data_type().width()) {
        (Some(number), Some(1)) => extend_numbers::<1>(column, number, records, len),
        (Some(number), Some(2)) => extend_numbers::<2>(column, number, records, len),
        (Some(number), Some(4)) => extend_numbers::<4>(column, number, records, len),
        (Some(number), Some(8)) => extend_numbers::<8>(column, number, records, len),
        _ => {
            for record in records.chunks_exact(len) {
                column.push(template.value(place, record).map_or(Value::Null, value));
            }
        }
    }
}

/// Appends numbers of `N` bytes, which begin at a byte of each record.
fn extend_numbers<const N: usize>(
    column: &mut Column,
    (offset, endian): (usize, Endian),
    records: &[u8],
    len: usize,
) {
    let number = |record: &[u8]| {
        record.get(offset..).and_then(<[u8]>::first_chunk::<N>).copied().unwrap_or([0; N])
    };
    column.extend_validity_with(true, records.len() / len);
    let records = records.chunks_exact(len);
    match endian {
        Endian::Little => column.extend_fixed(records.map(number)),
        Endian::Big => column.extend_fixed(records.map(|record| {
            let mut bytes = number(record);
            bytes.reverse();
            bytes
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::FileSource;
    use crate::host::{Blocking, HostReader, ReaderOptions};

    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

    fn schema(text: &str, names: &[&str]) -> CoreResult<(RecordTemplate, Schema)> {
        let template = RecordTemplate::parse(text)?;
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let schema = record_schema(&template, &names)?;
        Ok((template, schema))
    }

    #[test]
    fn columns_have_the_values_of_the_records_and_the_reader_stands_behind_them() -> CoreResult<()>
    {
        let (template, schema) = schema("Cc n s< N l< Q q> g E a3 x2", &[])?;
        let source = FileSource::open(std::path::Path::new(FILE))?;
        let reader = HostReader::of_file(source, FILE, ReaderOptions::default());
        let operation = reader.begin(&Blocking)?;
        let batch = operation.columns(&template, &schema, 3)?;
        assert_eq!((batch.len(), operation.position()?), (3, 3 * template.record_len() as u64));
        let bytes = std::fs::read(FILE).unwrap_or_default();
        for (row, record) in bytes.chunks(template.record_len()).take(3).enumerate() {
            for (place, expected) in template.values(record).enumerate() {
                assert_eq!(batch.value(row, place), value(expected), "row {row}, column {place}");
            }
        }
        Ok(())
    }

    #[test]
    fn columns_of_random_templates_have_the_values_of_their_records() -> CoreResult<()> {
        const LETTERS: [&str; 24] = [
            "C", "c", "S<", "S>", "s<", "s>", "L<", "L>", "l<", "l>", "Q<", "Q>", "q<", "q>", "n",
            "N", "v", "V", "e", "E", "g", "G", "a3", "x2",
        ];
        let bytes = std::fs::read(FILE).unwrap_or_default();
        for seed in 1..200_u64 {
            let mut state = seed;
            let mut random = |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as usize % below
            };
            let text: String = (0..=random(8)).map(|_| LETTERS[random(24)]).collect();
            let Ok((template, schema)) = schema(&format!("C{text}"), &[]) else { continue };
            let source = FileSource::open(std::path::Path::new(FILE))?;
            let reader = HostReader::of_file(source, FILE, ReaderOptions::default());
            let count = bytes.len() / template.record_len();
            let batch = reader.begin(&Blocking)?.columns(&template, &schema, count)?;
            assert_eq!(batch.len(), count, "seed {seed}: {text}");
            for (row, record) in bytes.chunks_exact(template.record_len()).enumerate() {
                for (place, expected) in template.values(record).enumerate() {
                    let (found, expected) = (batch.value(row, place), value(expected));
                    // Bits of a text may be a float that is no number.
                    assert_eq!(
                        format!("{found:?}"),
                        format!("{expected:?}"),
                        "seed {seed}: {text}"
                    );
                }
            }
        }
        Ok(())
    }

    #[test]
    fn names_that_are_missing_or_the_same_are_refused() {
        for names in [&["one"][..], &["one", "one"], &["one", "two", "three"]] {
            let kind = schema("CC", names).err().map(|error| error.kind());
            assert_eq!(kind, Some(ErrorKind::Argument), "{names:?}");
        }
        let names =
            schema("CC", &["one", "two"]).map(|(_, schema)| schema.fields()[1].name().to_owned());
        assert_eq!(names.ok().as_deref(), Some("two"));
    }
}
