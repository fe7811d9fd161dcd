//! Values of a message as JSON: structs as objects with fields by name, numbers of enums as names, binary in base64, and maps
//! whose keys cannot be names as pairs.

use super::{TapeCursor, TapeValue, ThriftSchema, Type};
use crate::batch::{json as text, notation};

/// Appends a value, which `cursor` is behind of, as JSON.
pub fn json<'t>(
    into: &mut Vec<u8>,
    schema: &ThriftSchema,
    cursor: &mut TapeCursor<'t>,
    value: TapeValue<'t>,
    value_type: &Type,
) {
    JsonWriter { into, schema }.value(cursor, value, value_type);
}

struct JsonWriter<'a> {
    into: &'a mut Vec<u8>,
    schema: &'a ThriftSchema,
}

impl JsonWriter<'_> {
    fn value<'t>(&mut self, cursor: &mut TapeCursor<'t>, value: TapeValue<'t>, of: &Type) {
        match value {
            // Row (thrift-json, null): a list, set or map whose elements have another type than in the IDL | null;
            // empty where it is empty
            TapeValue::Null => self.put("null"),
            TapeValue::Bool(truth) => self.put(if truth { "true" } else { "false" }),
            // Row (thrift-json, values): enum | its name, or its number if the IDL has no name for it
            // Row (thrift-json, values): i64 | all digits; readers that use doubles (JavaScript) round above 2^53
            TapeValue::Int(number) => self.number(number, of),
            // Row (thrift-json, values): double | the shortest text that reads back as the same number; `"NaN"`,
            // `"Infinity"`, `"-Infinity"`
            TapeValue::Double(number) => text::double(self.into, number),
            // Row (thrift-json, values): string | a string; `{"base64": ...}` if it is not UTF-8
            TapeValue::String(bytes) => text::bytes(self.into, bytes),
            // Row (thrift-json, values): binary | `{"base64": ...}` always
            TapeValue::Binary(bytes) => text::base64(self.into, bytes),
            TapeValue::Uuid(bytes) => {
                self.put("\"");
                notation::uuid(self.into, bytes);
                self.put("\"");
            }
            // Row (thrift-json, values): struct, union, exception | an object of the fields that the message has, in
            // its order
            TapeValue::Struct(id) | TapeValue::Union { id, .. } => {
                let mut opening = b'{';
                while let Some((_, field, value)) = cursor.field_in(self.schema.fields(id)) {
                    self.into.push(std::mem::replace(&mut opening, b','));
                    text::text(self.into, &field.name);
                    self.put(":");
                    self.value(cursor, value, &field.value_type);
                }
                self.put(if opening == b'{' { "{}" } else { "}" });
            }
            // Row (thrift-json, values): map | an object if keys are strings, numbers, bools or enums; otherwise
            // `{"entries": [[key, value], ...]}`
            TapeValue::Map(count) => self.map(cursor, count, of),
            container => {
                let mut elements = container.elements();
                self.list(elements.count(), |writer| {
                    let value = elements.next(cursor);
                    writer.value(cursor, value, of.element());
                });
            }
        }
    }

    /// An object where keys can be names, pairs otherwise.
    fn map<'t>(&mut self, cursor: &mut TapeCursor<'t>, count: usize, of: &Type) {
        let (key_type, value_type) = of.entry();
        if !are_names(cursor, count, key_type) {
            self.put("{\"entries\":");
            self.list(count, |writer| {
                writer.put("[");
                for (comma, of) in [("", key_type), (",", value_type)] {
                    writer.put(comma);
                    let value = cursor.value();
                    writer.value(cursor, value, of);
                }
                writer.put("]");
            });
            return self.put("}");
        }
        self.put("{");
        for nth in 0..count {
            self.put(if nth > 0 { "," } else { "" });
            let start = self.into.len();
            let key = cursor.value();
            self.value(cursor, key, key_type);
            if self.into.get(start) != Some(&b'"') {
                self.into.insert(start, b'"');
                self.put("\"");
            }
            self.put(":");
            let value = cursor.value();
            self.value(cursor, value, value_type);
        }
        self.put("}");
    }

    fn number(&mut self, number: i64, of: &Type) {
        match self.schema.enum_name(of, number) {
            Some(name) => text::text(self.into, name),
            None => notation::signed(self.into, number),
        }
    }

    fn list(&mut self, count: usize, mut write_next: impl FnMut(&mut Self)) {
        self.put("[");
        for nth in 0..count {
            self.put(if nth > 0 { "," } else { "" });
            write_next(self);
        }
        self.put("]");
    }

    fn put(&mut self, words: &str) {
        self.into.extend_from_slice(words.as_bytes());
    }
}

/// Returns true if the keys of the map that comes next can be names in an object: by their type, and strings
/// if they are UTF-8.
fn are_names(cursor: &TapeCursor<'_>, count: usize, key_type: &Type) -> bool {
    match key_type {
        Type::Bool | Type::Byte | Type::I16 | Type::I32 | Type::I64 | Type::Double => true,
        Type::Enum(_) | Type::Uuid => true,
        Type::String => {
            let mut ahead = cursor.clone();
            (0..count).all(|_| {
                let key = ahead.value();
                let value = ahead.value();
                ahead.skip(value);
                matches!(key, TapeValue::String(text) if std::str::from_utf8(text).is_ok())
            })
        }
        Type::Binary | Type::Struct(_) | Type::List(_) | Type::Set(_) | Type::Map(..) => false,
    }
}
