//! The text of a file, and how its errors show the place: file, line, column, the line itself and a
//! caret below what is meant.

use super::SourceText;
use crate::terminal::is_harmful;
use crate::{Error, ErrorKind};

/// Characters of a long line that an error shows before the place and from it on.
const SHOWN_BEFORE: usize = 60;
const SHOWN_AFTER: usize = 40;

/// Bytes between places of a text whose line is known.
const BLOCK_LEN: usize = 4096;

/// Characters of a token that an error quotes.
const QUOTED_MAX: usize = 40;

/// Range of a text, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TextSpan {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A text with the name that people know it by.
#[derive(Debug)]
pub(super) struct IdlText {
    pub(super) path: String,
    bytes: Vec<u8>,
    /// Line breaks before each block of [`BLOCK_LEN`] bytes, and before the end: finding the line of every name must not
    /// read the text again for each.
    breaks_before: Vec<u32>,
}

impl IdlText {
    pub(super) fn new(source: SourceText) -> Self {
        let SourceText { path, mut bytes } = source;
        // Some editors put this mark before UTF-8. It is no part of the first line.
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        let mut breaks_before = vec![0];
        for block in bytes.chunks(BLOCK_LEN) {
            let before = breaks_before.last().copied().unwrap_or_default();
            breaks_before.push(before + break_count(block));
        }
        IdlText { path, bytes, breaks_before }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of the line that `span` begins in, from 1.
    pub(super) fn line(&self, span: TextSpan) -> u32 {
        let block = span.start / BLOCK_LEN;
        let before = self.breaks_before.get(block).copied().unwrap_or_default();
        let rest = self.bytes.get(block * BLOCK_LEN..span.start).unwrap_or_default();
        1 + before + break_count(rest)
    }

    /// A text that the language does not allow: what it wants at `span`, and what stands there.
    pub(super) fn expected(
        &self,
        span: TextSpan,
        expected: impl std::fmt::Display,
        found: impl std::fmt::Display,
    ) -> Error {
        self.error(ErrorKind::Format, span, &format!("expected {expected}, found {found}"))
    }

    /// More of `what` at `span` than the bound for it, `limit`.
    pub(super) fn above(
        &self,
        span: TextSpan,
        what: impl std::fmt::Display,
        limit: usize,
    ) -> Error {
        let message = format!("expected {what} of at most {limit}, found more");
        self.error(ErrorKind::Limit, span, &message)
    }

    /// Another error, at the place that led to it. Where the system refused a file, that file stays the error's: it is not
    /// this one that is missing.
    pub(super) fn because(&self, span: TextSpan, error: &Error) -> Error {
        match (error.kind(), error.file()) {
            (ErrorKind::Io(_), Some(file)) => {
                let (column, excerpt) = self.excerpt(span.start);
                let (refusal, line, path) = (error.message(), self.line(span), &self.path);
                let place = format!("line {line}, column {column} of {path} includes it");
                Error::new(error.kind(), format!("{refusal}; {place}\n{excerpt}")).in_file(file)
            }
            (kind, _) => self.error(kind, span, &error.to_string()),
        }
    }

    /// Returns the text at `span`, in quotes, for the second half of an error.
    pub(super) fn quoted(&self, span: TextSpan) -> String {
        if span.start >= self.bytes.len() {
            return "the end of the file".to_owned();
        }
        let token = self.bytes.get(span.start..span.end).unwrap_or_default();
        let token = String::from_utf8_lossy(token);
        let mut quoted: String = token.chars().take(QUOTED_MAX).map(printable).collect();
        if token.chars().nth(QUOTED_MAX).is_some() {
            quoted.push_str("...");
        }
        format!("`{quoted}`")
    }

    fn error(&self, kind: ErrorKind, span: TextSpan, message: &str) -> Error {
        let line_number = self.line(span);
        let (column, excerpt) = self.excerpt(span.start);
        let message = format!("line {line_number}, column {column}: {message}\n{excerpt}");
        Error::new(kind, message).in_file(&self.path)
    }

    /// The number of the character in its line, from 1, and the line with a caret below.
    fn excerpt(&self, at: usize) -> (usize, String) {
        let (before, after) = self.bytes.split_at(at.min(self.bytes.len()));
        let is_break = |&byte: &u8| byte == b'\n';
        let before = before.rsplit(is_break).next().unwrap_or_default();
        let after = after.split(is_break).next().unwrap_or_default();
        // Spaces at its end, and what Windows ends lines with, are not worth showing.
        let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
        let column = before.chars().count();
        let first = column.saturating_sub(SHOWN_BEFORE);
        let before: String = before.chars().skip(first).map(printable).collect();
        let after: String = after.trim_end().chars().take(SHOWN_AFTER).map(printable).collect();
        // A tab stays one, so that the caret stands right however wide the terminal shows it.
        let indent: String = before.chars().map(|c| if c == '\t' { c } else { ' ' }).collect();
        let line = format!("{before}{after}");
        (column + 1, format!("    {}\n    {indent}^", line.trim_end()))
    }
}

/// Line breaks in so few bytes that their number fits.
fn break_count(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| u32::from(*byte == b'\n')).sum()
}

/// The character, or one that does no harm to a terminal in its place.
fn printable(c: char) -> char {
    if is_harmful(c) && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }
}
