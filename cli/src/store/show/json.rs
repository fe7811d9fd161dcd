//! Values as JSON.

use bytewright::Result;
use bytewright::marshal::{MarshalForm, MarshalValue, RareParts, SymbolId, ValueId, Values};

use super::{Writer, float_text, integer};
use crate::notation;

/// Appends a value as JSON.
pub(in crate::store) fn json(into: &mut Vec<u8>, values: &Values, id: ValueId) -> Result<()> {
    Writer::new(values, into).json(id)
}

impl Writer<'_> {
    fn json(&mut self, id: ValueId) -> Result<()> {
        self.enter(id, Self::json_value, |writer, _, levels| {
            writer.put(&format!("{{\"levels_up\":{levels}}}"));
        })
    }

    fn json_value(&mut self, value: &MarshalValue) -> Result<()> {
        let values = self.values;
        match &value.rare {
            Some(rare) if !value.is_plain() => return self.json_dressed(value, rare),
            _ => {}
        }
        match &value.form {
            MarshalForm::Nil => self.put("null"),
            MarshalForm::Boolean(value) => self.put(if *value { "true" } else { "false" }),
            MarshalForm::Integer(number) => notation::signed(self.into, i64::from(*number)),
            MarshalForm::LargeInteger { is_negative, digits } => {
                self.json_large(&integer::text(*is_negative, values.bytes(digits)));
            }
            MarshalForm::Float(text) => self.json_float(values.bytes(text)),
            MarshalForm::Symbol(symbol) => notation::json_bytes(self.into, values.symbol(*symbol)),
            MarshalForm::String { text, .. } => notation::json_bytes(self.into, values.bytes(text)),
            MarshalForm::Regexp { source, options } => {
                self.json_member("{", "regexp", values.bytes(source));
                self.put(&format!(",\"options\":{options}}}"));
            }
            MarshalForm::Class(name) => self.json_name("class_named", values.bytes(name)),
            MarshalForm::Module(name) => self.json_name("module_named", values.bytes(name)),
            MarshalForm::Array(elements) => {
                self.put("[");
                self.list(elements, b",", |writer, &element| writer.json(element))?;
                self.put("]");
            }
            MarshalForm::Hash { entries, .. } => return self.json_hash(entries),
            MarshalForm::Struct { members, .. } => {
                return self.json_object(value, "members", members);
            }
            MarshalForm::Object { variables, .. } => {
                return self.json_object(value, "variables", variables);
            }
            MarshalForm::OwnBytes { class, bytes } => {
                self.json_member("{", "class", values.symbol(*class));
                self.json_member(",", "dumped", values.bytes(bytes));
                self.put("}");
            }
            MarshalForm::OwnValue { class, value } => {
                self.json_member("{", "class", values.symbol(*class));
                self.put(",\"dumped\":");
                self.json(*value)?;
                self.put("}");
            }
        }
        Ok(())
    }

    /// A number too large for the numbers of most readers of JSON is one all the same, in hexadecimal
    /// a string.
    fn json_large(&mut self, text: &str) {
        match text.contains('x') {
            true => notation::json_text(self.into, text),
            false => self.put(text),
        }
    }

    /// Writes a float; one for which JSON has no number is a string.
    fn json_float(&mut self, text: &[u8]) {
        let text = float_text(text);
        match text.ends_with(|last: char| last.is_ascii_digit()) {
            true => self.put(&text),
            false => notation::json_text(self.into, &text),
        }
    }

    fn json_member(&mut self, before: &str, name: &str, text: &[u8]) {
        self.put(before);
        notation::json_text(self.into, name);
        self.put(":");
        notation::json_bytes(self.into, text);
    }

    fn json_name(&mut self, member: &str, name: &[u8]) {
        self.json_member("{", member, name);
        self.put("}");
    }

    /// An object of JSON where all keys are text that differs, pairs otherwise.
    fn json_hash(&mut self, entries: &[(ValueId, ValueId)]) -> Result<()> {
        let mut names: Vec<&[u8]> = entries.iter().filter_map(|(key, _)| self.name(*key)).collect();
        names.sort_unstable();
        let are_names = names.len() == entries.len()
            && names.is_sorted_by(|a, b| a < b)
            && names.iter().all(|name| std::str::from_utf8(name).is_ok());
        if are_names {
            self.put("{");
            self.list(entries, b",", |writer, &(key, value)| {
                writer.json(key)?;
                writer.put(":");
                writer.json(value)
            })?;
            self.put("}");
        } else {
            self.put("{\"entries\":[");
            self.list(entries, b",", |writer, &(key, value)| {
                writer.put("[");
                writer.json(key)?;
                writer.put(",");
                writer.json(value)?;
                writer.put("]");
                Ok(())
            })?;
            self.put("]}");
        }
        Ok(())
    }

    /// The text of a String or Symbol and nothing else.
    fn name(&self, id: ValueId) -> Option<&[u8]> {
        let value = self.values.get(id)?;
        match &value.form {
            _ if !value.is_plain() => None,
            MarshalForm::String { text, .. } => Some(self.values.bytes(text)),
            MarshalForm::Symbol(symbol) => Some(self.values.symbol(*symbol)),
            _ => None,
        }
    }

    fn json_object(
        &mut self,
        value: &MarshalValue,
        member: &str,
        fields: &[(SymbolId, ValueId)],
    ) -> Result<()> {
        self.json_member("{", "class", self.values.class_name(value));
        self.json_fields(member, fields)?;
        self.put("}");
        Ok(())
    }

    fn json_fields(&mut self, member: &str, fields: &[(SymbolId, ValueId)]) -> Result<()> {
        self.put(",");
        notation::json_text(self.into, member);
        self.put(":{");
        self.list(fields, b",", |writer, &(name, value)| {
            let name = String::from_utf8_lossy(writer.values.symbol(name)).into_owned();
            notation::json_text(writer.into, &name);
            writer.put(":");
            writer.json(value)
        })?;
        self.put("}");
        Ok(())
    }

    /// A value of a class of its own, or with variables.
    fn json_dressed(&mut self, value: &MarshalValue, rare: &RareParts) -> Result<()> {
        self.json_member("{", "class", self.values.class_name(value));
        self.put(",\"value\":");
        self.json_value(&MarshalValue { rare: None, ..value.clone() })?;
        if !rare.variables.is_empty() {
            self.json_fields("variables", &rare.variables)?;
        }
        self.put("}");
        Ok(())
    }
}
