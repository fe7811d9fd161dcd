//! JSON objects whose members are not the columns of a row.

use bytewright::Error;

use crate::notation;

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

    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.is_empty) {
            self.into.push(b',');
        }
        notation::json_text(self.into, key);
        self.into.push(b':');
    }

    fn null(&mut self, key: &str) {
        self.key(key);
        self.into.extend_from_slice(b"null");
    }

    pub(crate) fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        notation::json_text(self.into, text);
    }

    pub(crate) fn text_or_null(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.null(key),
        }
    }

    pub(crate) fn boolean(&mut self, key: &str, value: bool) {
        self.key(key);
        self.into.extend_from_slice(if value { b"true" } else { b"false" });
    }

    pub(crate) fn unsigned(&mut self, key: &str, number: u64) {
        self.key(key);
        notation::unsigned(self.into, number);
    }

    pub(crate) fn unsigned_or_null(&mut self, key: &str, number: Option<u64>) {
        match number {
            Some(number) => self.unsigned(key, number),
            None => self.null(key),
        }
    }

    pub(crate) fn signed_or_null(&mut self, key: &str, number: Option<i64>) {
        match number {
            Some(number) => {
                self.key(key);
                notation::signed(self.into, number);
            }
            None => self.null(key),
        }
    }

    /// Where a capture is damaged and how, or null.
    pub(crate) fn damage(&mut self, key: &str, damage: Option<&Error>) {
        let Some(damage) = damage else { return self.null(key) };
        self.key(key);
        self.nested(|object| {
            object.unsigned_or_null("offset", damage.offset());
            object.text("message", damage.message());
        });
    }

    /// An array with an object for each item.
    pub(crate) fn objects<T>(
        &mut self,
        key: &str,
        items: &[T],
        fill: impl Fn(&T, &mut Object<'_>),
    ) {
        self.key(key);
        self.into.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.into.push(b',');
            }
            self.nested(|object| fill(item, object));
        }
        self.into.push(b']');
    }

    fn nested(&mut self, fill: impl FnOnce(&mut Object<'_>)) {
        let mut object = Object::new(self.into);
        fill(&mut object);
        object.end();
    }

    fn end(self) {
        self.into.push(b'}');
    }

    /// Ends the object and its line.
    pub(crate) fn end_line(self) {
        self.into.extend_from_slice(b"}\n");
    }
}
