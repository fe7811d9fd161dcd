//! Values and rows as JSON: an object and a line for each row (NDJSON).

use base64::prelude::{BASE64_STANDARD, Engine as _};

use super::notation::{address, double_text, hex_digit, signed, unsigned, uuid};
use super::{Batch, DataType, NestedValue, Schema, Value};
use crate::terminal::is_harmful;

/// Writes rows of one schema.
#[derive(Debug, Clone)]
pub struct RowWriter {
    /// Bytes that stand before each value.
    prefixes: Vec<Vec<u8>>,
}

impl RowWriter {
    /// A writer of objects whose keys are the names of the fields.
    pub fn new(schema: &Schema) -> Self {
        let prefix = |(place, field): (usize, &super::Field)| {
            let mut prefix = vec![if place == 0 { b'{' } else { b',' }];
            text(&mut prefix, field.name());
            prefix.push(b':');
            prefix
        };
        RowWriter { prefixes: schema.fields().iter().enumerate().map(prefix).collect() }
    }

    /// Appends a row and a newline; `value` gives the value of the field at a place.
    #[inline]
    pub fn push<'v>(&self, into: &mut Vec<u8>, value: impl Fn(usize) -> Value<'v>) {
        self.object(into, value);
        into.push(b'\n');
    }

    /// Appends all rows of a batch, a line each.
    pub fn push_batch(&self, into: &mut Vec<u8>, batch: &Batch) {
        (0..batch.len()).for_each(|row| self.push(into, |place| batch.value(row, place)));
    }

    #[inline]
    fn object<'v>(&self, into: &mut Vec<u8>, value: impl Fn(usize) -> Value<'v>) {
        for (place, prefix) in self.prefixes.iter().enumerate() {
            into.extend_from_slice(prefix);
            self::value(into, value(place));
        }
        into.extend_from_slice(if self.prefixes.is_empty() { b"{}" } else { b"}" });
    }
}

/// Appends the rows of a batch as one array of objects.
pub fn array(into: &mut Vec<u8>, batch: &Batch) {
    let writer = RowWriter::new(batch.schema());
    into.push(b'[');
    for row in 0..batch.len() {
        into.extend_from_slice(if row > 0 { b"," } else { b"" });
        writer.object(into, |place| batch.value(row, place));
    }
    into.push(b']');
}

/// A row of a batch as an object; nothing where there is no such row.
pub fn object(batch: &Batch, row: usize) -> Option<String> {
    let mut text = Vec::new();
    RowWriter::new(batch.schema()).object(&mut text, |place| batch.value(row, place));
    if row < batch.len() { String::from_utf8(text).ok() } else { None }
}

/// Appends a value. Times are nanoseconds, durations microseconds; bytes are `{"base64":"..."}`. A list is an array, a struct an
/// object of all of its fields, and a map an object if all keys can be names, else `{"entries":[[key,value],...]}`.
#[inline]
pub fn value(into: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Null => into.extend_from_slice(b"null"),
        Value::Unsigned(number) | Value::Duration(number) => unsigned(into, number),
        Value::Signed(number) | Value::Time(number) => signed(into, number),
        Value::Address(known) => {
            into.push(b'"');
            address(into, known);
            into.push(b'"');
        }
        Value::Text(known) => text(into, known),
        Value::ShortText(known) => text(into, known.as_str()),
        Value::Json(json) => into.extend_from_slice(json.as_bytes()),
        Value::Bool(known) => into.extend_from_slice(if known { b"true" } else { b"false" }),
        Value::Double(number) => double(into, number),
        Value::Bytes(known) => base64(into, known),
        Value::Uuid(known) => {
            into.push(b'"');
            uuid(into, &known);
            into.push(b'"');
        }
        Value::Nested(known) => nested(into, known),
    }
}

fn nested(into: &mut Vec<u8>, known: NestedValue<'_>) {
    match known.data_type() {
        DataType::Struct => {
            let mut opening = b'{';
            for (field, inside) in known.fields() {
                into.push(std::mem::replace(&mut opening, b','));
                text(into, field.name());
                into.push(b':');
                value(into, inside);
            }
            into.extend_from_slice(if opening == b'{' { b"{}" } else { b"}" });
        }
        DataType::Map if known.entries().all(|(key, _)| is_name(key)) => {
            into.push(b'{');
            for (place, (key, inside)) in known.entries().enumerate() {
                into.extend_from_slice(if place > 0 { b"," } else { b"" });
                name(into, key);
                into.push(b':');
                value(into, inside);
            }
            into.push(b'}');
        }
        DataType::Map => {
            into.extend_from_slice(b"{\"entries\":");
            list(into, known.entries(), |into, (key, inside)| {
                list(into, [key, inside].into_iter(), value);
            });
            into.push(b'}');
        }
        _ => list(into, known.elements(), value),
    }
}

fn list<T>(
    into: &mut Vec<u8>,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    into.push(b'[');
    for (place, item) in items.enumerate() {
        into.extend_from_slice(if place > 0 { b"," } else { b"" });
        write(into, item);
    }
    into.push(b']');
}

/// Returns true if a key of a map can be a name in an object.
fn is_name(key: Value<'_>) -> bool {
    !matches!(key, Value::Null | Value::Bytes(_) | Value::Json(_) | Value::Nested(_))
}

/// Appends a key as a name.
fn name(into: &mut Vec<u8>, key: Value<'_>) {
    let start = into.len();
    value(into, key);
    if into.get(start) != Some(&b'"') {
        into.insert(start, b'"');
        into.push(b'"');
    }
}

/// Appends `text` as a JSON string.
pub fn text(into: &mut Vec<u8>, text: &str) {
    into.push(b'"');
    for character in text.chars() {
        match character {
            '"' | '\\' => into.extend_from_slice(&[b'\\', character as u8]),
            '\n' => into.extend_from_slice(b"\\n"),
            '\t' => into.extend_from_slice(b"\\t"),
            ' '..='~' => into.push(character as u8),
            // All of them are in the basic plane: one escape each.
            _ if is_harmful(character) => {
                let digits =
                    [12, 8, 4, 0].map(|shift| hex_digit((character as u32 >> shift) as u8));
                into.extend_from_slice(b"\\u");
                into.extend_from_slice(&digits);
            }
            _ => into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    into.push(b'"');
}

/// Appends bytes to JSON: a string where they are UTF-8, and `{"base64":"..."}` where they are not.
pub fn bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return self::text(into, text);
    }
    base64(into, bytes);
}

/// Appends bytes to JSON that are no text by their type: `{"base64":"..."}`.
pub fn base64(into: &mut Vec<u8>, bytes: &[u8]) {
    into.extend_from_slice(b"{\"base64\":");
    base64_text(into, bytes);
    into.push(b'}');
}

/// Appends bytes as a JSON string in base64 (RFC 4648, section 4).
pub fn base64_text(into: &mut Vec<u8>, bytes: &[u8]) {
    into.push(b'"');
    into.extend_from_slice(BASE64_STANDARD.encode(bytes).as_bytes());
    into.push(b'"');
}

/// Appends a floating-point number to JSON: a string where JSON has no number for it.
pub fn double(into: &mut Vec<u8>, number: f64) {
    let text = double_text(number);
    match number.is_finite() {
        true => into.extend_from_slice(text.as_bytes()),
        false => self::text(into, &text),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn texts_are_escaped() {
        let odd = "a \"b\",\\\n\u{1}é";
        assert_eq!(written(|into| text(into, odd)), "\"a \\\"b\\\",\\\\\\n\\u0001é\"");
    }

    #[test]
    fn bytes_that_are_no_text_are_written_in_base64() {
        assert_eq!(written(|into| bytes(into, "é\n".as_bytes())), "\"é\\n\"");
        assert_eq!(written(|into| bytes(into, b"\xff\x00a")), "{\"base64\":\"/wBh\"}");
    }
}
