//! Values as people read them: nested, with what is long cut.

use bytewright::thrift::{Collection, Cursor, Schema, StructId, Type, Value};

use crate::notation;

/// Bytes of a string that are shown.
const STRING_MAX: usize = 200;

/// Elements of a list or a set, and entries of a map, that are shown.
const ELEMENTS_MAX: usize = 50;

/// Bytes of text that a message takes before all that follows is left out.
const TEXT_MAX: usize = 64 << 10;

/// Spaces for each level.
const INDENT: usize = 2;

/// Appends a value, which `cursor` is behind of, over as many lines as it needs.
pub(in crate::thrift) fn text<'t>(
    into: &mut Vec<u8>,
    schema: &Schema,
    cursor: &mut Cursor<'t>,
    value: Value<'t>,
    value_type: &Type,
) {
    Writer::new(into, schema, Some(0)).value(cursor, value, value_type);
}

/// Writes the value on one line.
pub(in crate::thrift) fn line<'t>(
    into: &mut Vec<u8>,
    schema: &Schema,
    cursor: &mut Cursor<'t>,
    value: Value<'t>,
    value_type: &Type,
) {
    Writer::new(into, schema, None).value(cursor, value, value_type);
}

struct Writer<'a> {
    into: &'a mut Vec<u8>,
    schema: &'a Schema,
    /// Spaces before a line; none where all is to be on one.
    indent: Option<usize>,
    len_max: usize,
}

impl<'a> Writer<'a> {
    fn new(into: &'a mut Vec<u8>, schema: &'a Schema, indent: Option<usize>) -> Self {
        let len_max = into.len().saturating_add(TEXT_MAX);
        Writer { into, schema, indent, len_max }
    }

    fn value<'t>(&mut self, cursor: &mut Cursor<'t>, value: Value<'t>, of: &Type) {
        match value {
            Value::Null => self.put("null"),
            Value::Empty(Collection::List) => self.put("[]"),
            Value::Empty(Collection::Set) => self.put("{}"),
            Value::Bool(truth) => self.truth(truth),
            Value::Int(number) => self.number(number, of),
            Value::Double(number) => self.put(&notation::double_text(number)),
            Value::String(text) => self.bytes(text),
            Value::Binary(bytes) => self.bytes(bytes),
            Value::Uuid(bytes) => notation::uuid(self.into, bytes),
            Value::Struct(id) | Value::Union { id, .. } => self.structure(cursor, id),
            Value::List(count) => self.elements(["[", "]"], cursor, count, of.element()),
            Value::Set(count) => self.elements(["{", "}"], cursor, count, of.element()),
            Value::Map(count) => self.map(cursor, count, of),
            Value::Ints(kind, numbers) => {
                self.flat(kind, numbers.iter(), |writer, &number| {
                    writer.number(number, of.element());
                });
            }
            Value::Doubles(kind, numbers) => {
                self.flat(kind, numbers.iter(), |writer, number| {
                    writer.put(&notation::double_text(number));
                });
            }
            Value::Bools(kind, truths) => {
                self.flat(kind, truths.iter(), |writer, &truth| writer.truth(truth == 1));
            }
        }
    }

    fn structure(&mut self, cursor: &mut Cursor<'_>, id: StructId) {
        let own = self.schema.get(id);
        let fields = own.map(|own| own.fields.as_slice()).unwrap_or_default();
        self.put(own.map_or("", |own| own.name.as_str()));
        let mut block = self.begin(" {", true);
        while let Some((number, value)) = cursor.field() {
            let Some(field) = fields.get(number) else {
                cursor.skip(value);
                continue;
            };
            if self.into.len() > self.len_max {
                cursor.skip(value);
                self.leave_out(&mut block);
                continue;
            }
            self.next(&mut block);
            self.put(&field.name);
            self.put(": ");
            self.value(cursor, value, &field.value_type);
        }
        self.end(block, "}");
    }

    /// Elements that are not numbers.
    fn elements(
        &mut self,
        [open, close]: [&str; 2],
        cursor: &mut Cursor<'_>,
        count: usize,
        of: &Type,
    ) {
        let mut block = self.begin(open, is_nested(of));
        for nth in 0..count {
            let value = cursor.value();
            if !self.shows(&mut block, nth, count) {
                cursor.skip(value);
                continue;
            }
            self.value(cursor, value, of);
        }
        self.end(block, close);
    }

    fn map(&mut self, cursor: &mut Cursor<'_>, count: usize, of: &Type) {
        let (key_type, value_type) = of.entry();
        let mut block = self.begin("{", is_nested(key_type) || is_nested(value_type));
        for nth in 0..count {
            let shows = self.shows(&mut block, nth, count);
            for (colon, of) in [("", key_type), (": ", value_type)] {
                let value = cursor.value();
                if !shows {
                    cursor.skip(value);
                    continue;
                }
                self.put(colon);
                self.value(cursor, value, of);
            }
        }
        self.end(block, "}");
    }

    /// Numbers, which stand on one line.
    fn flat<T>(
        &mut self,
        kind: Collection,
        numbers: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        let [open, close] = match kind {
            Collection::List => ["[", "]"],
            Collection::Set => ["{", "}"],
        };
        let count = numbers.len();
        let mut block = self.begin(open, false);
        for (nth, number) in numbers.enumerate().take(ELEMENTS_MAX + 1) {
            if self.shows(&mut block, nth, count) {
                write(self, number);
            }
        }
        self.end(block, close);
    }

    /// Begins an element if it is to be shown, or says how many are not.
    fn shows(&mut self, block: &mut Block, nth: usize, count: usize) -> bool {
        let is_shown = nth < ELEMENTS_MAX && self.into.len() <= self.len_max;
        if is_shown {
            self.next(block);
        } else if !block.is_cut {
            block.is_cut = true;
            self.next(block);
            self.put(&format!("... {} more", count - nth));
        }
        is_shown
    }

    fn leave_out(&mut self, block: &mut Block) {
        if !block.is_cut {
            block.is_cut = true;
            self.next(block);
            self.put("...");
        }
    }

    fn begin(&mut self, open: &str, is_nested: bool) -> Block {
        self.put(open);
        let outer = self.indent;
        if is_nested {
            self.indent = outer.map(|indent| indent + INDENT);
        }
        let lines = is_nested && outer.is_some();
        Block { outer, lines, is_empty: true, is_cut: false }
    }

    /// Writes the text before an item.
    fn next(&mut self, block: &mut Block) {
        let is_first = std::mem::take(&mut block.is_empty);
        match (block.lines, is_first) {
            (true, _) => self.new_line(),
            (false, true) => {}
            (false, false) => self.put(", "),
        }
    }

    fn end(&mut self, block: Block, close: &str) {
        self.indent = block.outer;
        if block.lines && !block.is_empty {
            self.new_line();
        }
        self.put(close);
    }

    fn new_line(&mut self) {
        self.into.push(b'\n');
        let spaces = self.indent.unwrap_or_default();
        self.into.resize(self.into.len() + spaces, b' ');
    }

    fn number(&mut self, number: i64, of: &Type) {
        match self.schema.enum_name(of, number) {
            Some(name) => self.put(name),
            None => notation::signed(self.into, number),
        }
    }

    fn truth(&mut self, truth: bool) {
        self.put(if truth { "true" } else { "false" });
    }

    /// Bytes in quotes; of many, the first, and how many there are.
    fn bytes(&mut self, bytes: &[u8]) {
        let shown = match bytes.get(..STRING_MAX) {
            // Not in the middle of a character.
            Some(first) => match std::str::from_utf8(first) {
                Err(error) if error.error_len().is_none() => {
                    first.get(..error.valid_up_to()).unwrap_or_default()
                }
                _ => first,
            },
            None => bytes,
        };
        notation::quoted(self.into, shown);
        if shown.len() < bytes.len() {
            self.put(&format!("... {} bytes", bytes.len()));
        }
    }

    fn put(&mut self, text: &str) {
        self.into.extend_from_slice(text.as_bytes());
    }
}

/// Block of items in brackets.
struct Block {
    /// The indent around it.
    outer: Option<usize>,
    /// True if each item has a line of its own.
    lines: bool,
    is_empty: bool,
    /// True if the rest is left out.
    is_cut: bool,
}

/// Returns true if values of a type hold others.
fn is_nested(of: &Type) -> bool {
    matches!(of, Type::Struct(_) | Type::List(_) | Type::Set(_) | Type::Map(..))
}
