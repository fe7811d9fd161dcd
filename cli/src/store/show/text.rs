//! Values as Ruby inspects them, on one line.

use bytewright::Result;
use bytewright::marshal::{MarshalForm, MarshalValue, SymbolId, ValueId, Values};
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
            MarshalForm::Array(_) => writer.put("[...]"),
            MarshalForm::Hash { .. } => writer.put("{...}"),
            _ => {
                writer.put("#<");
                writer.class(value);
                writer.put(" ...>");
            }
        })
    }

    fn text_value(&mut self, value: &MarshalValue) -> Result<()> {
        let values = self.values;
        match &value.form {
            MarshalForm::Nil => self.put("nil"),
            MarshalForm::Boolean(value) => self.put(if *value { "true" } else { "false" }),
            MarshalForm::Integer(number) => notation::signed(self.into, i64::from(*number)),
            MarshalForm::LargeInteger { is_negative, digits } => {
                self.put(&integer::text(*is_negative, values.bytes(digits)));
            }
            MarshalForm::Float(text) => self.put(&float_text(values.bytes(text))),
            MarshalForm::Symbol(symbol) => self.text_symbol(values.symbol(*symbol)),
            MarshalForm::String { text, .. } => notation::quoted(self.into, values.bytes(text)),
            MarshalForm::Regexp { source, options } => {
                self.put("/");
                push_visible(self.into, values.bytes(source));
                self.put("/");
                for (bit, letter) in [(4, "m"), (1, "i"), (2, "x")] {
                    self.put(if options & bit == 0 { "" } else { letter });
                }
            }
            MarshalForm::Class(name) | MarshalForm::Module(name) => {
                push_visible(self.into, values.bytes(name));
            }
            MarshalForm::Array(elements) => {
                self.put("[");
                self.list(elements, b", ", |writer, &element| writer.text(element))?;
                self.put("]");
            }
            MarshalForm::Hash { entries, .. } => {
                self.put("{");
                self.list(entries, b", ", |writer, &(key, value)| {
                    writer.text(key)?;
                    writer.put("=>");
                    writer.text(value)
                })?;
                self.put("}");
            }
            MarshalForm::Struct { members, .. } => {
                return self.people_object("#<struct ", value, members);
            }
            MarshalForm::Object { variables, .. } => {
                return self.people_object("#<", value, variables);
            }
            MarshalForm::OwnBytes { bytes, .. } => {
                self.put("#<");
                self.class(value);
                self.put(&format!(" dumped in {} bytes>", bytes.len()));
            }
            MarshalForm::OwnValue { value: dumped, .. } => {
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

    fn class(&mut self, value: &MarshalValue) {
        push_visible(self.into, self.values.class_name(value));
    }

    fn people_object(
        &mut self,
        opening: &str,
        value: &MarshalValue,
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
