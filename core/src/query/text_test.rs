//! Tests of text: what is in it, how it begins and ends, and regular expressions.

use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;

use super::lexer::wrong;
use crate::batch::Value;
use crate::{Error, Result};

// Bound (Queries): regular expression of a condition = nested 64 deep; 1 MiB compiled, and 1 MiB of states while it is
// used. The time for a text is bounded by its length times the size of the expression.
const PROGRAM_LEN_MAX: usize = 1 << 20;

/// Groups and repetitions in each other.
const NESTING_MAX: u32 = 64;

/// A test of a field that has text or bytes.
#[derive(Debug, Clone)]
pub(super) enum TextTest {
    Contains(Box<Finder<'static>>),
    StartsWith(Box<[u8]>),
    EndsWith(Box<[u8]>),
    /// On bytes, because names on the wire are bytes, and need not be UTF-8: `\w`, `\d`, `\b` and `(?i)` are those of ASCII.
    Matches(Regex),
}

impl TextTest {
    pub(super) fn contains(text: &str) -> Self {
        TextTest::Contains(Box::new(Finder::new(text).into_owned()))
    }

    pub(super) fn starts_with(text: &str) -> Self {
        TextTest::StartsWith(text.as_bytes().into())
    }

    pub(super) fn ends_with(text: &str) -> Self {
        TextTest::EndsWith(text.as_bytes().into())
    }

    /// The test of a regular expression, which begins at `column` of the condition.
    ///
    /// # Errors
    /// `Argument` with the column of what is wrong.
    pub(super) fn matches(expression: &str, column: usize) -> Result<Self> {
        // It says what is wrong, and where. What it takes, the expression's size may still forbid.
        let parsed = ParserBuilder::new()
            .unicode(false)
            .utf8(false)
            .nest_limit(NESTING_MAX)
            .build()
            .parse(expression);
        parsed.map_err(|error| refusal(expression, column, &error))?;
        RegexBuilder::new(expression)
            .unicode(false)
            .nest_limit(NESTING_MAX)
            .size_limit(PROGRAM_LEN_MAX)
            .dfa_size_limit(PROGRAM_LEN_MAX)
            .build()
            .map(TextTest::Matches)
            .map_err(|_| {
                let expected =
                    format!("a regular expression of {PROGRAM_LEN_MAX} bytes when it is compiled");
                wrong(column, &expected, &format!("a larger one: {expression}"))
            })
    }

    /// Returns true if a value has text that passes the test.
    pub(super) fn holds(&self, value: &Value<'_>) -> bool {
        let Some(text) = bytes_of(value) else { return false };
        match self {
            TextTest::Contains(part) => part.find(text).is_some(),
            TextTest::StartsWith(part) => text.starts_with(part),
            TextTest::EndsWith(part) => text.ends_with(part),
            TextTest::Matches(expression) => expression.is_match(text),
        }
    }
}

/// The bytes of a value that is text or bytes.
pub(super) fn bytes_of<'v>(value: &'v Value<'_>) -> Option<&'v [u8]> {
    match value {
        Value::Bytes(bytes) => Some(bytes),
        Value::Text(text) | Value::Json(text) => Some(text.as_bytes()),
        Value::ShortText(text) => Some(text.as_str().as_bytes()),
        _ => None,
    }
}

/// The error of an expression that begins at `column`.
fn refusal(expression: &str, column: usize, error: &regex_syntax::Error) -> Error {
    let (what, start) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.offset),
        regex_syntax::Error::Translate(error) => {
            (error.kind().to_string(), error.span().start.offset)
        }
        other => (other.to_string(), 0),
    };
    let before = expression.get(..start).unwrap_or_default().chars().count();
    wrong(column + before, "a regular expression", &format!("{expression} ({what})"))
}
