//! Headers that stand before the definitions.
//!
//! ```text
//! header   include literal | cpp_include literal
//!          namespace scope name annotations | namespace * name
//! ```

use super::super::document::Namespace;
use super::super::syntax::FileSyntax;
use super::IdlParser;
use crate::Result;

impl IdlParser<'_> {
    /// All headers, into `file`.
    pub(super) fn headers(&mut self, file: &mut FileSyntax) -> Result<()> {
        loop {
            if self.take_keyword("include")? {
                file.includes.push(self.literal("a file name in quotes")?);
            } else if self.take_keyword("cpp_include")? {
                file.cpp_includes.push(self.literal("a file name in quotes")?.text);
            } else if self.take_keyword("namespace")? {
                let namespace = self.namespace()?;
                // A later one for the same scope takes the place of the earlier.
                let same = file.namespaces.iter().position(|old| old.scope == namespace.scope);
                same.map(|at| file.namespaces.remove(at));
                file.namespaces.push(namespace);
            } else {
                return Ok(());
            }
        }
    }

    fn namespace(&mut self) -> Result<Namespace> {
        let is_for_all = self.take_symbol(b'*')?;
        let scope = match is_for_all {
            true => "*".to_owned(),
            false => self.dotted_name("a language or `*`")?.text,
        };
        let name = self.dotted_name("the name of a namespace")?;
        let (name, line) = (name.text, self.text.line(name.span));
        let annotations = if is_for_all { Vec::new() } else { self.annotations()? };
        Ok(Namespace { scope, name, line, annotations })
    }
}
