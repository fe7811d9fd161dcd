//! Values as Ruby inspects them, on one line.

use bytewright::Result;
use bytewright::marshal::{Form, SymbolId, Value, ValueId, Values};
use bytewright::terminal::push_visible;

use super::{Writer, float_text, integer};
use crate::notation;

/// Appends a value as people read it.
pub(in crate::store) fn text(into: &mut Vec<u8>, values: &Values, id: ValueId) -> Result<()> {
    Writer::new(values, into).text(id)
}

impl Writer<'_> {
    fn text(&mut self, id: ValueId) -> Result<()> {
        self.enter(id, Self::text_value, |writer, value, _| match &value.form {
            Form::Array(_) => writer.put("[...]"),
            Form::Hash { .. } => writer.put("{...}"),
            _ => {
                writer.put("#<");
                writer.class(value);
                writer.put(" ...>");
            }
        })
    }

    fn text_value(&mut self, value: &Value) -> Result<()> {
        let values = self.values;
        match &value.form {
            Form::Nil => self.put("nil"),
            Form::Boolean(value) => self.put(if *value { "true" } else { "false" }),
            Form::Integer(number) => notation::signed(self.into, i64::from(*number)),
            Form::LargeInteger { is_negative, digits } => {
                self.put(&integer::text(*is_negative, values.bytes(digits)));
            }
            Form::Float(text) => self.put(&float_text(values.bytes(text))),
            Form::Symbol(symbol) => self.text_symbol(values.symbol(*symbol)),
            Form::String { text, .. } => notation::quoted(self.into, values.bytes(text)),
            Form::Regexp { source, options } => {
                self.put("/");
                push_visible(self.into, values.bytes(source));
                self.put("/");
                for (bit, letter) in [(4, "m"), (1, "i"), (2, "x")] {
                    self.put(if options & bit == 0 { "" } else { letter });
                }
            }
            Form::Class(name) | Form::Module(name) => {
                push_visible(self.into, values.bytes(name));
            }
            Form::Array(elements) => {
                self.put("[");
                self.list(elements, b", ", |writer, &element| writer.text(element))?;
                self.put("]");
            }
            Form::Hash { entries, .. } => {
                self.put("{");
                self.list(entries, b", ", |writer, &(key, value)| {
                    writer.text(key)?;
                    writer.put("=>");
                    writer.text(value)
                })?;
                self.put("}");
            }
            Form::Struct { members, .. } => return self.people_object("#<struct ", value, members),
            Form::Object { variables, .. } => return self.people_object("#<", value, variables),
            Form::OwnBytes { bytes, .. } => {
                self.put("#<");
                self.class(value);
                self.put(&format!(" dumped in {} bytes>", bytes.len()));
            }
            Form::OwnValue { value: dumped, .. } => {
                self.put("#<");
                self.class(value);
                self.put(" dumped as ");
                self.text(*dumped)?;
                self.put(">");
            }
        }
        Ok(())
    }

    fn text_symbol(&mut self, text: &[u8]) {
        let is_word = |text: &[u8]| {
            let rest = text.strip_suffix(b"?").or(text.strip_suffix(b"!")).unwrap_or(text);
            !rest.is_empty()
                && !rest[0].is_ascii_digit()
                && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        };
        self.put(":");
        match is_word(text) {
            true => push_visible(self.into, text),
            false => notation::quoted(self.into, text),
        }
    }

    fn class(&mut self, value: &Value) {
        push_visible(self.into, self.values.class_name(value));
    }

    fn people_object(
        &mut self,
        opening: &str,
        value: &Value,
        fields: &[(SymbolId, ValueId)],
    ) -> Result<()> {
        self.put(opening);
        self.class(value);
        self.put(if fields.is_empty() { "" } else { " " });
        self.list(fields, b", ", |writer, &(name, value)| {
            push_visible(writer.into, writer.values.symbol(name));
            writer.put("=");
            writer.text(value)
        })?;
        self.put(">");
        Ok(())
    }
}
