//! JSON objects that are no rows of a schema.

use bytewright::Error;
use bytewright::batch::{Value, damage, json};

/// Writes one object, member by member.
pub(crate) struct Object<'a> {
    into: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> Object<'a> {
    pub(crate) fn new(into: &'a mut Vec<u8>) -> Self {
        into.push(b'{');
        Object { into, is_empty: true }
    }

    /// The rest of an object whose first member is written.
    pub(crate) fn within(into: &'a mut Vec<u8>) -> Self {
        Object { into, is_empty: true }
    }

    pub(crate) fn value<'v>(&mut self, key: &str, value: impl Into<Value<'v>>) {
        if !std::mem::take(&mut self.is_empty) {
            self.into.push(b',');
        }
        json::text(self.into, key);
        self.into.push(b':');
        json::value(self.into, value.into());
    }

    pub(crate) fn text(&mut self, key: &str, text: &str) {
        self.value(key, text);
    }

    /// Writes the place and the kind of a file's damage, or null.
    pub(crate) fn damage(&mut self, key: &str, damage: Option<&Error>) {
        let damage = damage::as_json(damage);
        self.value(key, damage.as_deref().map_or(Value::Null, Value::Json));
    }

    /// Ends the object and its line.
    pub(crate) fn end_line(self) {
        self.into.extend_from_slice(b"}\n");
    }
}
