//! The grammar, by recursive descent: one token of a text is in view, and each rule is a function.
//!
//! Spelled as in the rules of the files beside this one: `[x]` may be there, `{x}` any number of
//! times; a *separator* is `,` or `;` and may always be left out.

mod annotations;
mod definitions;
mod fields;
mod header;
mod types;
mod values;

use super::lexer::{IdlToken, Lexer};
use super::syntax::{FileSyntax, Name};
use super::text::{IdlText, TextSpan};
use super::{IdlOptions, keywords};
use crate::{Error, Result};

/// Takes a text apart.
pub(super) fn parse(text: &IdlText, options: IdlOptions) -> Result<FileSyntax> {
    let mut parser = IdlParser::new(text, options)?;
    let mut file = FileSyntax::default();
    parser.headers(&mut file)?;
    while let Some(definition) = parser.definition()? {
        file.definitions.push(definition);
    }
    Ok(file)
}

struct IdlParser<'t> {
    text: &'t IdlText,
    lexer: Lexer<'t>,
    token: IdlToken<'t>,
    span: TextSpan,
    options: IdlOptions,
    /// Id of the next field without an id.
    next_id: i32,
    /// Lists of fields in each other.
    field_depth: usize,
}

impl<'t> IdlParser<'t> {
    fn new(text: &'t IdlText, options: IdlOptions) -> Result<Self> {
        let mut parser = IdlParser {
            text,
            lexer: Lexer::new(text),
            token: IdlToken::End,
            span: TextSpan::default(),
            options,
            next_id: -1,
            field_depth: 0,
        };
        parser.advance()?;
        Ok(parser)
    }

    /// Brings the next token in view, and gives the one that was.
    fn advance(&mut self) -> Result<IdlToken<'t>> {
        let (token, span) = self.lexer.next()?;
        if let IdlToken::Word(word) = token
            && let Some(now) = keywords::replaced_by(word)
        {
            let found = format!("`{word}`, an older form that is no longer supported");
            return Err(self.text.expected(span, format!("`{now}`"), found));
        }
        self.span = span;
        Ok(std::mem::replace(&mut self.token, token))
    }

    /// An error that says that `what` should be in view.
    fn expected(&self, what: impl std::fmt::Display) -> Error {
        self.text.expected(self.span, what, self.text.quoted(self.span))
    }

    fn sees_symbol(&self, symbol: u8) -> bool {
        self.token == IdlToken::Symbol(symbol)
    }

    /// Goes past a symbol if it is in view.
    fn take_symbol(&mut self, symbol: u8) -> Result<bool> {
        let is_there = self.sees_symbol(symbol);
        if is_there {
            self.advance()?;
        }
        Ok(is_there)
    }

    /// Goes past a symbol that must be in view; `why` tells a reader what it is for.
    fn symbol(&mut self, symbol: u8, why: &str) -> Result<()> {
        if self.take_symbol(symbol)? {
            return Ok(());
        }
        Err(self.expected(format_args!("`{}` {why}", char::from(symbol))))
    }

    fn take_separator(&mut self) -> Result<()> {
        let _ = self.take_symbol(b',')? || self.take_symbol(b';')?;
        Ok(())
    }

    /// The word in view, name or keyword.
    fn word(&self) -> Option<&'t str> {
        if let IdlToken::Word(word) = self.token { Some(word) } else { None }
    }

    /// Goes past a keyword if it is in view.
    fn take_keyword(&mut self, keyword: &str) -> Result<bool> {
        let is_there = self.word() == Some(keyword);
        if is_there {
            self.advance()?;
        }
        Ok(is_there)
    }

    /// A name that may have dots in it.
    fn dotted_name(&mut self, what: &str) -> Result<Name> {
        let span = self.span;
        match self.word() {
            Some(word) if keywords::is_keyword(word) => {
                let found = format!("`{word}`, which is a word of the language");
                Err(self.text.expected(span, what, found))
            }
            Some(word) => {
                self.advance()?;
                Ok(Name { text: word.to_owned(), span })
            }
            None => Err(self.expected(what)),
        }
    }

    /// A name for something that is defined here.
    fn new_name(&mut self, what: &str) -> Result<Name> {
        let name = self.dotted_name(what)?;
        self.without_dot(name, what)
    }

    fn without_dot(&self, name: Name, what: &str) -> Result<Name> {
        if !name.text.contains('.') {
            return Ok(name);
        }
        let expected = format!("{what} without a dot");
        Err(self.text.expected(name.span, expected, self.text.quoted(name.span)))
    }

    fn literal(&mut self, what: &str) -> Result<Name> {
        let span = self.span;
        let IdlToken::Literal(content) = &mut self.token else { return Err(self.expected(what)) };
        let text = std::mem::take(content);
        self.advance()?;
        Ok(Name { text, span })
    }

    /// Fails where a list that input makes longer is nested too deep.
    fn bound_depth(&self, depth: usize, bound: usize, what: &str) -> Result<()> {
        if depth <= bound { Ok(()) } else { Err(self.text.above(self.span, what, bound)) }
    }
}
