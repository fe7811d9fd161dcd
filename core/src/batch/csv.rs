//! Rows as CSV (RFC 4180): a header with the names of the fields, and a line for each row.

use super::notation::{address, double_text, signed, unsigned, uuid};
use super::{Batch, DataType, Field, Schema, Value, json};
use crate::{Error, ErrorKind, Result};

/// Writes rows of one schema.
#[derive(Debug, Clone)]
pub struct RowWriter {
    field_count: usize,
    has_formulas: bool,
}

impl RowWriter {
    /// Appends the header.
    ///
    /// # Errors
    /// `Argument` for a column of lists, structs or maps: a line of CSV has no place for them.
    pub fn new(schema: &Schema, into: &mut Vec<u8>) -> Result<Self> {
        let fields = schema.fields();
        if let Some(nested) = fields.iter().find(|field| field.data_type().is_nested()) {
            return Err(nested_column(nested));
        }
        let writer = RowWriter { field_count: fields.len(), has_formulas: true };
        writer.push(into, |place| Value::from(fields.get(place).map(Field::name)));
        Ok(writer)
    }

    /// Writes `'` before texts that a spreadsheet would take for formulas: those that begin with `=`, `+`, `-`, `@`, a tab
    /// or a carriage return (OWASP, CSV Injection). Numbers and times stay as they are.
    #[must_use]
    pub fn without_formulas(mut self) -> Self {
        self.has_formulas = false;
        self
    }

    /// Appends a row; `value` gives the value of the field at a place.
    #[inline]
    pub fn push<'v>(&self, into: &mut Vec<u8>, value: impl Fn(usize) -> Value<'v>) {
        for place in 0..self.field_count {
            if place > 0 {
                into.push(b',');
            }
            match value(place) {
                value if self.has_formulas => self::value(into, value),
                Value::Text(text) => bytes_without_formula(into, text.as_bytes()),
                Value::ShortText(text) => bytes_without_formula(into, text.as_str().as_bytes()),
                Value::Bytes(known) => bytes_without_formula(into, known),
                value => self::value(into, value),
            }
        }
        into.push(b'\n');
    }

    /// Appends all rows of a batch.
    pub fn push_batch(&self, into: &mut Vec<u8>, batch: &Batch) {
        (0..batch.len()).for_each(|row| self.push(into, |place| batch.value(row, place)));
    }
}

#[cold]
fn nested_column(field: &Field) -> Error {
    let name = field.name();
    let (kind, advice) = match field.data_type() {
        DataType::List => ("list", format!("rows of {name}[]")),
        DataType::Map => ("map", format!("rows of {name}{{}}.key and {name}{{}}.value")),
        _ => ("struct", format!("its fields, {name}.*")),
    };
    let message = format!(
        "expected columns of single values for CSV, found the {kind} {name}; ask for {advice}, or write JSON, Arrow or Parquet"
    );
    Error::new(ErrorKind::Argument, message)
}

/// Appends a value: nothing for null, times as nanoseconds, durations as microseconds, bytes as they are, lists, structs and
/// maps as JSON.
#[inline]
pub fn value(into: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Null => {}
        Value::Unsigned(number) | Value::Duration(number) => unsigned(into, number),
        Value::Signed(number) | Value::Time(number) => signed(into, number),
        Value::Address(known) => address(into, known),
        Value::Text(known) | Value::Json(known) => text(into, known),
        Value::ShortText(known) => text(into, known.as_str()),
        Value::Bool(known) => into.extend_from_slice(if known { b"true" } else { b"false" }),
        Value::Double(number) => into.extend_from_slice(double_text(number).as_bytes()),
        Value::Bytes(known) => bytes(into, known),
        Value::Uuid(known) => uuid(into, &known),
        Value::Nested(_) => {
            let mut text = Vec::new();
            json::value(&mut text, value);
            bytes(into, &text);
        }
    }
}

/// Appends `text` as a CSV field, quoted where RFC 4180 wants it.
pub fn text(into: &mut Vec<u8>, text: &str) {
    bytes(into, text.as_bytes());
}

/// Appends bytes as a CSV field, quoted if RFC 4180 wants it. They need not be text, and are not converted.
pub fn bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    if !bytes.iter().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) {
        return into.extend_from_slice(bytes);
    }
    into.push(b'"');
    for byte in bytes {
        if *byte == b'"' {
            into.push(b'"');
        }
        into.push(*byte);
    }
    into.push(b'"');
}

/// Appends `text` as a CSV field that no spreadsheet takes for a formula, see [`RowWriter::without_formulas`].
pub fn bytes_without_formula(into: &mut Vec<u8>, text: &[u8]) {
    match text.first() {
        Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r') => bytes(into, &[b"'", text].concat()),
        _ => bytes(into, text),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_a_reader_would_split_them() {
        for (given, expected) in
            [("plain", &b"plain"[..]), ("a \"b\",\n", b"\"a \"\"b\"\",\n\""), ("a\rb", b"\"a\rb\"")]
        {
            let mut line = Vec::new();
            text(&mut line, given);
            assert_eq!(line, expected);
        }
    }

    #[test]
    fn texts_that_a_spreadsheet_would_compute_begin_with_an_apostrophe_where_that_is_asked_for() {
        let fields = vec![Field::new("a".into(), DataType::Text, true, String::new())];
        let schema = Schema::new("rows", fields);
        let mut lines = Vec::new();
        let writer = RowWriter::new(&schema, &mut lines).unwrap().without_formulas();
        for text in ["=1+1", "+1", "-1", "@a", "\t=1", "a=1", "", "=\"a\""] {
            writer.push(&mut lines, |_| Value::Text(text));
        }
        writer.push(&mut lines, |_| Value::Signed(-1));
        let expected = "a\n'=1+1\n'+1\n'-1\n'@a\n'\t=1\na=1\n\n\"'=\"\"a\"\"\"\n-1\n";
        assert_eq!(String::from_utf8_lossy(&lines), expected);
    }

    #[test]
    fn columns_of_lists_structs_and_maps_are_refused_with_what_to_ask_for() {
        let number = || Field::new("a".into(), DataType::I32, true, String::new());
        let refused = |field| {
            let schema = Schema::new("rows", vec![number(), field]);
            RowWriter::new(&schema, &mut Vec::new()).unwrap_err().to_string()
        };
        let list = refused(Field::list("tags".into(), number(), true));
        let expected = "expected columns of single values for CSV, found the list tags; ask for rows of tags[], or write JSON, \
                        Arrow or Parquet";
        assert_eq!(list, expected);
        let structure = refused(Field::structure("place".into(), vec![number()], true));
        assert!(
            structure.contains("the struct place; ask for its fields, place.*,"),
            "{structure}"
        );
        let map = refused(Field::map("tags".into(), number(), number(), true));
        assert!(map.contains("ask for rows of tags{}.key and tags{}.value,"), "{map}");
    }
}
