//! `annotations  [( {name [= literal] separator} )]`

use super::super::document::Annotation;
use super::IdlParser;
use crate::Result;

impl IdlParser<'_> {
    /// The annotations here, if there are any.
    pub(super) fn annotations(&mut self) -> Result<Vec<Annotation>> {
        let mut annotations = Vec::new();
        if !self.take_symbol(b'(')? {
            return Ok(annotations);
        }
        while !self.take_symbol(b')')? {
            let key = self.dotted_name("the name of an annotation or `)`")?.text;
            let value = if self.take_symbol(b'=')? {
                self.literal("a string as the value of the annotation")?.text
            } else {
                "1".to_owned()
            };
            self.take_separator()?;
            annotations.push(Annotation { key, value });
        }
        Ok(annotations)
    }
}
