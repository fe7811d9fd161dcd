//! Values as people read them: nested, with what is long cut.

use bytewright::thrift::{
    Collection, Elements, StructId, TapeCursor, TapeValue, ThriftSchema, Type,
};

use crate::notation;

/// Bytes of a string that are shown.
const STRING_MAX: usize = 200;

/// Elements of a list or a set, and entries of a map, that are shown.
const ELEMENTS_MAX: usize = 50;

// Bound (Thrift): text for people of a Thrift message that the command prints = 64 KiB.
/// All that follows is left out.
const TEXT_MAX: usize = 64 << 10;

/// Spaces for each level.
const INDENT: usize = 2;

/// Appends a value, which `cursor` is behind of, over as many lines as it needs.
pub(in crate::thrift) fn text<'t>(
    into: &mut Vec<u8>,
    schema: &ThriftSchema,
    cursor: &mut TapeCursor<'t>,
    value: TapeValue<'t>,
    value_type: &Type,
) {
    Writer::new(into, schema, Some(0)).value(cursor, value, value_type);
}

/// Writes the value on one line.
pub(in crate::thrift) fn line<'t>(
    into: &mut Vec<u8>,
    schema: &ThriftSchema,
    cursor: &mut TapeCursor<'t>,
    value: TapeValue<'t>,
    value_type: &Type,
) {
    Writer::new(into, schema, None).value(cursor, value, value_type);
}

struct Writer<'a> {
    into: &'a mut Vec<u8>,
    schema: &'a ThriftSchema,
    /// Spaces before a line; none where all is to be on one.
    indent: Option<usize>,
    len_max: usize,
}

impl<'a> Writer<'a> {
    fn new(into: &'a mut Vec<u8>, schema: &'a ThriftSchema, indent: Option<usize>) -> Self {
        let len_max = into.len().saturating_add(TEXT_MAX);
        Writer { into, schema, indent, len_max }
    }

    fn value<'t>(&mut self, cursor: &mut TapeCursor<'t>, value: TapeValue<'t>, of: &Type) {
        match value {
            TapeValue::Null => self.put("null"),
            TapeValue::Bool(truth) => self.put(if truth { "true" } else { "false" }),
            TapeValue::Int(number) => self.number(number, of),
            TapeValue::Double(number) => self.put(&notation::double_text(number)),
            TapeValue::String(text) => self.bytes(text),
            TapeValue::Binary(bytes) => self.bytes(bytes),
            TapeValue::Uuid(bytes) => notation::uuid(self.into, bytes),
            TapeValue::Struct(id) | TapeValue::Union { id, .. } => self.structure(cursor, id),
            TapeValue::Map(count) => self.map(cursor, count, of),
            container => self.elements(cursor, container.elements(), of.element()),
        }
    }

    fn structure(&mut self, cursor: &mut TapeCursor<'_>, id: StructId) {
        self.put(self.schema.get(id).map_or("", |own| own.name.as_str()));
        let mut block = self.begin(" {", true);
        while let Some((_, field, value)) = cursor.field_in(self.schema.fields(id)) {
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

    fn elements<'t>(&mut self, cursor: &mut TapeCursor<'t>, mut elements: Elements<'t>, of: &Type) {
        let [open, close] = match elements.kind() {
            Collection::List => ["[", "]"],
            Collection::Set => ["{", "}"],
        };
        let mut block = self.begin(open, is_nested(of));
        for nth in 0..elements.count() {
            let value = elements.next(cursor);
            match self.shows(&mut block, nth, elements.count()) {
                true => self.value(cursor, value, of),
                false => cursor.skip(value),
            }
        }
        self.end(block, close);
    }

    fn map(&mut self, cursor: &mut TapeCursor<'_>, count: usize, of: &Type) {
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
