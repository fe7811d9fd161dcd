//! Lists of fields: of structs, arguments and exceptions.
//!
//! ```text
//! field  [integer :] [required | optional] type [&] name [= value] [xsd_optional] [xsd_nillable]
//!        [xsd_attrs { fields }] annotations separator
//! ```

use std::collections::HashSet;

use super::super::keywords;
use super::super::lexer::IdlToken;
use super::super::syntax::{FieldSyntax, Name};
use super::IdlParser;
use crate::Result;
use crate::thrift::Requiredness;

/// Maximum depth of lists of fields in each other, which only XML attributes make.
const FIELD_DEPTH_MAX: usize = 8;

/// Maximum number of fields in one list.
const FIELDS_MAX: usize = u16::MAX as usize;

/// Purpose of fields, which decides what can be required of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldsOf {
    Struct,
    /// Nothing is optional that a caller has to say.
    Arguments,
    /// One of them at most is there.
    Throws,
}

impl IdlParser<'_> {
    /// Fields up to and with the symbol that ends them.
    pub(super) fn fields(&mut self, end: u8, of: FieldsOf) -> Result<Vec<FieldSyntax>> {
        self.field_depth += 1;
        self.bound_depth(self.field_depth, FIELD_DEPTH_MAX, "a depth of fields in fields")?;
        self.next_id = -1;
        let mut fields = Vec::new();
        let (mut ids, mut names) = (HashSet::new(), HashSet::new());
        while !self.take_symbol(end)? {
            self.bound_depth(fields.len() + 1, FIELDS_MAX, "a number of fields")?;
            let field = self.field(end, of)?;
            let span = field.name.span;
            if !ids.insert(field.id) {
                let found = format!("{} for a second one, {}", field.id, field.name.text);
                return Err(self.text.expected(span, "an id for each field", found));
            }
            if !names.insert(field.name.text.clone()) {
                let found = format!("{} for a second one, {}", field.name.text, field.id);
                return Err(self.text.expected(span, "a name for each field", found));
            }
            fields.push(field);
        }
        self.field_depth -= 1;
        Ok(fields)
    }

    fn field(&mut self, end: u8, of: FieldsOf) -> Result<FieldSyntax> {
        let (id, is_numbered) = self.field_id()?;
        let requiredness = self.requiredness(of)?;
        if !is_numbered && self.word().is_none() {
            return Err(self.expected(format_args!("a field or `{}`", char::from(end))));
        }
        let value_type = self.type_()?;
        let is_reference = self.take_symbol(b'&')?;
        let name = self.field_name()?;
        let default = if self.take_symbol(b'=')? { Some(self.value()?) } else { None };
        self.take_keyword("xsd_optional")?;
        self.take_keyword("xsd_nillable")?;
        if self.take_keyword("xsd_attrs")? {
            self.symbol(b'{', "and attributes")?;
            self.fields(b'}', of)?;
        }
        let annotations = self.annotations()?;
        self.take_separator()?;
        Ok(FieldSyntax { id, name, value_type, requiredness, is_reference, default, annotations })
    }

    /// The id of a field, and whether there is one in the text. Fields without one are numbered
    /// downwards from -1; so are those with one that is not above 0, unless the options keep it.
    fn field_id(&mut self) -> Result<(i16, bool)> {
        let span = self.span;
        let written = if let IdlToken::Integer(written) = self.token {
            self.advance()?;
            self.symbol(b':', "after the id of a field")?;
            Some(written)
        } else {
            None
        };
        let id = match written {
            Some(id) if id > 0 => id,
            Some(id) if self.options.keep_negative_ids => {
                self.next_id = i32::try_from(id.saturating_sub(1)).unwrap_or(i32::MIN);
                id
            }
            _ => {
                let id = self.next_id;
                self.next_id = id.saturating_sub(1);
                i64::from(id)
            }
        };
        match i16::try_from(id) {
            Ok(id) => Ok((id, written.is_some())),
            Err(_) => Err(self.text.expected(span, "an id between -32768 and 32767", id)),
        }
    }

    fn requiredness(&mut self, of: FieldsOf) -> Result<Requiredness> {
        if self.take_keyword("required")? {
            let is_exception = of == FieldsOf::Throws;
            return Ok(match is_exception {
                true => Requiredness::Default,
                false => Requiredness::Required,
            });
        }
        let is_said = self.take_keyword("optional")?;
        let is_optional = is_said && of == FieldsOf::Struct;
        Ok(if is_optional { Requiredness::Optional } else { Requiredness::Default })
    }

    /// A field may be called like most words of the language: nothing else can stand there.
    fn field_name(&mut self) -> Result<Name> {
        let what = "the name of a field";
        let span = self.span;
        match self.word() {
            Some(word) if keywords::names_a_field(word) => {
                self.advance()?;
                self.without_dot(Name { text: word.to_owned(), span }, what)
            }
            _ => self.new_name(what),
        }
    }
}
