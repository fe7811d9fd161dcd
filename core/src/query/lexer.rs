//! The words of a condition.

use crate::error::excerpt;
use crate::{Error, ErrorKind, Result};

/// A word of a condition, and the column at which it begins, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryToken {
    pub(super) column: usize,
    pub(super) kind: TokenKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name, a number, an address, a network or a time.
    Word(String),
    /// Text in quotes, without them.
    Quoted(String),
    /// A regular expression between slashes, without them.
    Expression(String),
    /// An operator, a parenthesis or a comma.
    Sign(&'static str),
}

/// Longest first, so that `<=` is not `<` and `=`.
const SIGNS: [&str; 16] =
    ["==", "!=", "<=", ">=", "&&", "||", "!~", "=", "<", ">", "!", "&", "~", "(", ")", ","];

/// Takes a condition apart into its words.
///
/// # Errors
/// `Argument` where a quote or an expression has no end, or a character begins no word.
pub(super) fn tokens(text: &str) -> Result<Vec<QueryToken>> {
    let mut tokens = Vec::new();
    let (mut at, mut counted, mut column) = (0, 0, 1);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or_default();
        // From the word before, so that a long text is not counted again for each word.
        column += text.get(counted..at).map_or(0, |between| between.chars().count());
        counted = at;
        let (kind, len) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (TokenKind::Sign(sign), sign.len())
        } else if first == '/' && tokens.last().is_some_and(QueryToken::takes_expression) {
            let Some(len) = len_of_expression(rest) else {
                return Err(wrong(column, "a / at the end of the expression", "none"));
            };
            (TokenKind::Expression(rest.get(1..=len).unwrap_or_default().to_owned()), len + 2)
        } else if first == '\'' || first == '"' {
            // Row (conditions, text): `method == 'get users'` | quotes around text with spaces or operators
            let Some(len) = rest.get(1..).and_then(|inside| inside.find(first)) else {
                return Err(wrong(column, "a quote at its end", "none"));
            };
            (TokenKind::Quoted(rest.get(1..=len).unwrap_or_default().to_owned()), len + 2)
        } else {
            let len = rest.find(|character| !is_of_word(character)).unwrap_or(rest.len());
            if len == 0 {
                return Err(wrong(column, "a field, a value or an operator", &first.to_string()));
            }
            (TokenKind::Word(rest.get(..len).unwrap_or_default().to_owned()), len)
        };
        tokens.push(QueryToken { column, kind });
        at += len;
    }
    Ok(tokens)
}

/// The bytes between a slash and the next one that no backslash is in front of.
fn len_of_expression(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'/' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

/// Returns true if a character may be part of a name, a number, an address, a network or a time.
fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || "_.:/+-%".contains(character)
}

/// The column of a byte, from 1.
pub(super) fn column_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.chars().count()) + 1
}

/// Returns the error of a condition that is wrong at `column`.
pub(super) fn wrong(column: usize, expected: &str, found: &str) -> Error {
    let message =
        format!("condition, column {column}: expected {expected}, found {}", excerpt(found));
    Error::new(ErrorKind::Argument, message)
}

impl QueryToken {
    /// Returns true if a regular expression stands behind it.
    fn takes_expression(&self) -> bool {
        match &self.kind {
            TokenKind::Sign(sign) => sign.ends_with('~'),
            TokenKind::Word(word) => word.eq_ignore_ascii_case("matches"),
            TokenKind::Quoted(_) | TokenKind::Expression(_) => false,
        }
    }
}

impl TokenKind {
    /// The word as it was written, for errors.
    pub(super) fn shown(&self) -> String {
        match self {
            TokenKind::Word(word) => word.clone(),
            TokenKind::Quoted(text) => format!("'{text}'"),
            TokenKind::Expression(text) => format!("/{text}/"),
            TokenKind::Sign(sign) => (*sign).to_owned(),
        }
    }
}
