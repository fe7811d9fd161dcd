//! Values of constants and defaults, as they are written.
//!
//! ```text
//! value  integer | double | literal | name | [ {value separator} ] | { {value : value separator} }
//! ```

use std::cmp::Ordering;

use super::super::VALUE_DEPTH_MAX;
use super::super::lexer::IdlToken;
use super::super::syntax::{ValueForm, ValueSyntax};
use super::IdlParser;
use crate::Result;

impl IdlParser<'_> {
    /// A value.
    pub(super) fn value(&mut self) -> Result<ValueSyntax> {
        self.value_in(0)
    }

    /// A value in so many lists and maps.
    fn value_in(&mut self, depth: usize) -> Result<ValueSyntax> {
        self.bound_depth(depth, VALUE_DEPTH_MAX, "a depth of nested values")?;
        let span = self.span;
        let form = match &self.token {
            IdlToken::Symbol(b'[') => self.list(depth + 1)?,
            IdlToken::Symbol(b'{') => self.map_value(depth + 1)?,
            IdlToken::Word(_) => ValueForm::Named(self.dotted_name("a value")?.text),
            IdlToken::Symbol(_) | IdlToken::End => return Err(self.expected("a value")),
            IdlToken::Integer(_) | IdlToken::Double(_) | IdlToken::Literal(_) => {
                match self.advance()? {
                    IdlToken::Integer(number) => ValueForm::Integer(number),
                    IdlToken::Double(number) => ValueForm::Double(number),
                    IdlToken::Literal(content) => ValueForm::Literal(content),
                    IdlToken::Word(_) | IdlToken::Symbol(_) | IdlToken::End => {
                        return Err(self.expected("a value"));
                    }
                }
            }
        };
        Ok(ValueSyntax { form, span })
    }

    fn list(&mut self, depth: usize) -> Result<ValueForm> {
        self.advance()?;
        let mut elements = Vec::new();
        while !self.take_symbol(b']')? {
            elements.push(self.value_in(depth)?);
            self.take_separator()?;
        }
        Ok(ValueForm::List(elements))
    }

    fn map_value(&mut self, depth: usize) -> Result<ValueForm> {
        self.advance()?;
        let mut entries = Vec::new();
        while !self.take_symbol(b'}')? {
            let key = self.value_in(depth)?;
            self.symbol(b':', "between a key and its value")?;
            let value = self.value_in(depth)?;
            self.take_separator()?;
            entries.push((key, value));
        }
        Ok(ValueForm::Map(sorted(entries)))
    }
}

/// The entries as the compiler keeps them: sorted by their keys as written, with the last value where
/// a key is there more than once.
fn sorted(mut entries: Vec<(ValueSyntax, ValueSyntax)>) -> Vec<(ValueSyntax, ValueSyntax)> {
    entries.sort_by(|(a, _), (b, _)| compare(a, b));
    entries.dedup_by(|later, kept| {
        let is_same = compare(&later.0, &kept.0) == Ordering::Equal;
        if is_same {
            std::mem::swap(&mut later.1, &mut kept.1);
        }
        is_same
    });
    entries
}

fn compare(a: &ValueSyntax, b: &ValueSyntax) -> Ordering {
    match (&a.form, &b.form) {
        (ValueForm::Integer(a), ValueForm::Integer(b)) => a.cmp(b),
        // None is NaN, which cannot be written.
        (ValueForm::Double(a), ValueForm::Double(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (ValueForm::Literal(a), ValueForm::Literal(b))
        | (ValueForm::Named(a), ValueForm::Named(b)) => a.cmp(b),
        (ValueForm::Map(a), ValueForm::Map(b)) => {
            let entries = a.iter().zip(b);
            let mut compared =
                entries.map(|(a, b)| compare(&a.0, &b.0).then_with(|| compare(&a.1, &b.1)));
            let differs = compared.find(|order| order.is_ne());
            differs.unwrap_or(a.len().cmp(&b.len()))
        }
        (ValueForm::List(a), ValueForm::List(b)) => {
            let mut compared = a.iter().zip(b).map(|(a, b)| compare(a, b));
            let differs = compared.find(|order| order.is_ne());
            differs.unwrap_or(a.len().cmp(&b.len()))
        }
        (a, b) => rank(a).cmp(&rank(b)),
    }
}

fn rank(form: &ValueForm) -> u8 {
    match form {
        ValueForm::Integer(_) => 0,
        ValueForm::Double(_) => 1,
        ValueForm::Literal(_) => 2,
        ValueForm::Map(_) => 3,
        ValueForm::List(_) => 4,
        ValueForm::Named(_) => 5,
    }
}
