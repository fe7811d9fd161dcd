//! A struct of a message as JSON, by its schema: fields by their names, enums by the names of their numbers, bytes
//! that are no text in base64. A map whose keys are neither text nor numbers is an array of pairs.

use bytewright::thrift::{Cursor, Schema, StructId, Tape, Type, Value};

use crate::notation;

/// What a tape says of the message that it was read from.
pub(super) fn json(schema: &Schema, tape: &Tape, message: &[u8]) -> Vec<u8> {
    let mut cursor = tape.cursor(message);
    let mut writer = Writer { schema, into: Vec::new() };
    let value = cursor.value();
    writer.value(&mut cursor, value, None);
    writer.into
}

struct Writer<'s> {
    schema: &'s Schema,
    into: Vec<u8>,
}

impl Writer<'_> {
    /// A value of a type, where that is known, and what comes next because of it.
    fn value(&mut self, cursor: &mut Cursor<'_>, value: Value<'_>, of: Option<&Type>) {
        match value {
            Value::Null => self.into.extend_from_slice(b"null"),
            Value::Bool(truth) => self.bool(truth),
            Value::Int(number) => self.int(number, of),
            Value::Double(number) => self.double(number),
            Value::String(bytes) | Value::Binary(bytes) => {
                notation::json_bytes(&mut self.into, bytes);
            }
            Value::Uuid(bytes) => self.uuid(bytes),
            Value::Struct(id) | Value::Union { id, .. } => self.structure(cursor, id),
            Value::List(count) | Value::Set(count) => {
                let element = element(of);
                self.array(0..count, |writer, _| {
                    let value = cursor.value();
                    writer.value(cursor, value, element);
                });
            }
            Value::Map(count) => self.map(cursor, count, of),
            Value::Ints(_, numbers) => {
                self.array(numbers, |writer, number| writer.int(*number, element(of)));
            }
            Value::Doubles(_, numbers) => self.array(numbers.iter(), Self::double),
            Value::Bools(_, truths) => {
                self.array(truths, |writer, truth| writer.bool(*truth != 0));
            }
        }
    }

    fn bool(&mut self, truth: bool) {
        self.into.extend_from_slice(if truth { b"true" } else { b"false" });
    }

    fn int(&mut self, number: i64, of: Option<&Type>) {
        match self.enum_name(number, of) {
            Some(name) => notation::json_text(&mut self.into, &name),
            None => notation::signed(&mut self.into, number),
        }
    }

    /// The name of a number of an enum, where it has one.
    fn enum_name(&self, number: i64, of: Option<&Type>) -> Option<String> {
        let Some(Type::Enum(id)) = of else { return None };
        let number = i32::try_from(number).ok()?;
        self.schema.get_enum(*id)?.name_of(number).map(str::to_owned)
    }

    /// JSON has no infinity, and no number that is none.
    fn double(&mut self, number: f64) {
        match number.is_finite() {
            true => self.into.extend_from_slice(format!("{number:?}").as_bytes()),
            false => self.into.extend_from_slice(b"null"),
        }
    }

    fn uuid(&mut self, bytes: &[u8]) {
        let mut text = String::new();
        for (at, byte) in bytes.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            text += &format!("{byte:02x}");
        }
        notation::json_text(&mut self.into, &text);
    }

    fn structure(&mut self, cursor: &mut Cursor<'_>, id: StructId) {
        let fields = self.schema.get(id).map_or(&[][..], |known| known.fields.as_slice());
        self.into.push(b'{');
        let mut is_first = true;
        while let Some((number, value)) = cursor.field() {
            let Some(field) = fields.get(number) else {
                cursor.skip(value);
                continue;
            };
            if !std::mem::take(&mut is_first) {
                self.into.push(b',');
            }
            notation::json_text(&mut self.into, &field.name);
            self.into.push(b':');
            // The schema outlives the writer's borrow of itself.
            let of = field.value_type.clone();
            self.value(cursor, value, Some(&of));
        }
        self.into.push(b'}');
    }

    fn map(&mut self, cursor: &mut Cursor<'_>, count: usize, of: Option<&Type>) {
        let (key, value) = match of {
            Some(Type::Map(key, value)) => (Some(&**key), Some(&**value)),
            _ => (None, None),
        };
        let is_object = key.is_some_and(is_name);
        self.into.push(if is_object { b'{' } else { b'[' });
        for at in 0..count {
            if at > 0 {
                self.into.push(b',');
            }
            let (name, open) = (cursor.value(), self.into.len());
            if is_object {
                self.value(cursor, name, key);
                self.quote(open);
                self.into.push(b':');
            } else {
                self.into.push(b'[');
                self.value(cursor, name, key);
                self.into.push(b',');
            }
            let held = cursor.value();
            self.value(cursor, held, value);
            if !is_object {
                self.into.push(b']');
            }
        }
        self.into.push(if is_object { b'}' } else { b']' });
    }

    /// Makes what was written from `start` on the name of a member.
    fn quote(&mut self, start: usize) {
        if self.into.get(start) == Some(&b'"') {
            return;
        }
        let written = self.into.split_off(start);
        notation::json_text(&mut self.into, &String::from_utf8_lossy(&written));
    }

    fn array<T>(&mut self, items: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        self.into.push(b'[');
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.into.push(b',');
            }
            each(self, item);
        }
        self.into.push(b']');
    }
}

/// The type of the elements of a list or a set.
fn element(of: Option<&Type>) -> Option<&Type> {
    match of {
        Some(Type::List(element) | Type::Set(element)) => Some(element),
        _ => None,
    }
}

/// Whether keys of a type can name the members of an object.
fn is_name(key: &Type) -> bool {
    matches!(
        key,
        Type::String | Type::Byte | Type::I16 | Type::I32 | Type::I64 | Type::Enum(_) | Type::Uuid
    )
}
