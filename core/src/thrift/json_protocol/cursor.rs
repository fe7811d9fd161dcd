//! The tokens of a text in JSON, one by one.

use std::fmt;
use std::str::FromStr;

use super::super::error::{ProtocolError, ProtocolErrorKind, ProtocolResult};
use super::super::limits::Limits;
use crate::Error;
use crate::error::excerpt_of_bytes;
use crate::wire::Reader;

/// Cursor over a text.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct JsonCursor<'a> {
    text: &'a [u8],
    rest: Reader<'a>,
    limits: Limits,
}

impl<'a> JsonCursor<'a> {
    /// A cursor at the first byte of a text.
    pub(in super::super) fn new(text: &'a [u8], limits: Limits) -> Self {
        JsonCursor { text, rest: Reader::new(text), limits }
    }

    /// Returns the number of bytes that were read.
    pub(in super::super) fn position(&self) -> usize {
        self.text.len() - self.rest.remaining()
    }

    /// The bounds of the message.
    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// The first byte of the next token, of which nothing is read.
    #[inline]
    pub(super) fn peek(&mut self, what: &str) -> ProtocolResult<u8> {
        while let Some(byte) = self.rest.rest().first() {
            if !is_space(*byte) {
                return Ok(*byte);
            }
            self.rest.take(1);
        }
        Err(self.truncated(what))
    }

    /// Reads the next token if it is `token`; answers whether it was.
    #[inline]
    pub(super) fn takes(&mut self, token: u8, what: &str) -> ProtocolResult<bool> {
        let is_it = self.peek(what)? == token;
        if is_it {
            self.rest.take(1);
        }
        Ok(is_it)
    }

    /// Reads the next token, which has to be `token`.
    #[inline]
    pub(super) fn require(&mut self, token: u8, what: &str) -> ProtocolResult<()> {
        match self.takes(token, what)? {
            true => Ok(()),
            false => Err(self.unexpected(what)),
        }
    }

    /// The bytes of a number, which ends before another token.
    #[inline]
    pub(super) fn number(&mut self, what: &str) -> ProtocolResult<&'a [u8]> {
        self.peek(what)?;
        let rest = self.rest.rest();
        let is_of_number =
            |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let Some(len) = rest.iter().position(|byte| !is_of_number(byte)) else {
            self.rest.take(rest.len());
            return Err(self.truncated(what));
        };
        match self.rest.take(len) {
            Some(number) if len > 0 => Ok(number),
            _ => Err(self.unexpected(what)),
        }
    }

    /// A number without a fraction.
    #[inline]
    pub(super) fn integer<T: FromStr>(&mut self, what: &str) -> ProtocolResult<T> {
        let before = *self;
        let number = self.number(what)?;
        parsed(number).ok_or_else(|| before.invalid(what, excerpt_of_bytes(number)))
    }

    /// The text of a string without escapes.
    pub(in super::super) fn plain_string(&mut self, what: &str) -> ProtocolResult<&'a [u8]> {
        self.require(b'"', what)?;
        let rest = self.rest.rest();
        let string_max = self.limits.string_max as usize;
        let within = rest.get(..string_max.saturating_add(1)).unwrap_or(rest);
        let end = within.iter().position(|byte| matches!(byte, b'"' | b'\\'));
        match end.and_then(|len| Some((len, *rest.get(len)?))) {
            Some((len, b'"')) => {
                let string = rest.get(..len).unwrap_or_default();
                self.rest.take(len + 1);
                Ok(string)
            }
            Some((len, _)) => {
                self.rest.take(len);
                Err(self.invalid(format_args!("{what} without escapes"), "a backslash"))
            }
            None if rest.len() > string_max => {
                Err(self.too_long(format_args!("the size of {what}"), string_max, within.len()))
            }
            None => {
                self.rest.take(rest.len());
                Err(self.truncated(what))
            }
        }
    }

    /// Appends the bytes of a string without its escapes to `into`.
    pub(super) fn string(&mut self, what: &str, into: &mut Vec<u8>) -> ProtocolResult<()> {
        let before = (*self, into.len());
        self.require(b'"', what)?;
        loop {
            let rest = self.rest.rest();
            let len = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
            let plain = len.and_then(|len| rest.get(..len)).unwrap_or(rest);
            into.extend_from_slice(plain);
            self.rest.take(plain.len());
            match self.rest.u8() {
                None => return Err(self.truncated(what)),
                Some(b'"') => break,
                Some(_) => self.escape(what, into)?,
            }
        }
        let (len, string_max) = (into.len() - before.1, self.limits.string_max as usize);
        if len > string_max {
            return Err(before.0.too_long("the size of a string", string_max, len));
        }
        Ok(())
    }

    /// Appends the character of an escape whose backslash was read.
    #[cold]
    #[inline(never)]
    fn escape(&mut self, what: &str, into: &mut Vec<u8>) -> ProtocolResult<()> {
        let before = *self;
        let Some(letter) = self.rest.u8() else { return Err(self.truncated(what)) };
        into.push(match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.code_point(before, into),
            other => {
                let found = shown(other);
                return Err(before.invalid("an escape of JSON behind a backslash", found));
            }
        });
        Ok(())
    }

    /// Appends the character of an escape whose `\u` was read; `start` is behind the backslash.
    fn code_point(&mut self, start: Self, into: &mut Vec<u8>) -> ProtocolResult<()> {
        let first = self.code_unit()?;
        let number = match first {
            0xd800..0xdc00 => {
                let pair = self.rest;
                let second = match self.rest.array() {
                    Some([b'\\', b'u']) => self.code_unit()?,
                    Some(_) => 0,
                    None if pair.rest().first().is_none_or(|byte| *byte == b'\\') => {
                        return Err(self.truncated("an escape of JSON"));
                    }
                    None => 0,
                };
                match second {
                    0xdc00..0xe000 => 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                    _ => {
                        return Err(
                            start.invalid("both halves of a pair", "a half of a surrogate pair")
                        );
                    }
                }
            }
            other => other,
        };
        let Some(character) = char::from_u32(number) else {
            return Err(start.invalid("both halves of a pair", "a half of a surrogate pair"));
        };
        into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    /// The four hexadecimal digits of an escape.
    fn code_unit(&mut self) -> ProtocolResult<u32> {
        let before = *self;
        let Some(digits) = self.rest.array::<4>() else {
            self.rest.take(self.rest.remaining());
            return Err(self.truncated("an escape of JSON"));
        };
        let mut number = 0;
        for digit in digits {
            let Some(value) = char::from(digit).to_digit(16) else {
                let found = excerpt_of_bytes(&digits);
                return Err(before.invalid("four hexadecimal digits", found));
            };
            number = number << 4 | value;
        }
        Ok(number)
    }

    /// An error in the text: it ends inside of `what`.
    #[cold]
    pub(super) fn truncated(&self, what: &str) -> ProtocolError {
        let error = Error::truncated(format_args!("{what} and more, at least"), 1, 0);
        ProtocolError::new(ProtocolErrorKind::Truncated, error.at(self.position() as u64))
    }

    /// An error at the next byte, which is not of `what`.
    #[cold]
    pub(super) fn unexpected(&self, what: &str) -> ProtocolError {
        match self.rest.rest().first() {
            Some(byte) => self.invalid(what, shown(*byte)),
            None => self.truncated(what),
        }
    }

    /// An error here for what means nothing.
    #[cold]
    pub(super) fn invalid(
        &self,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> ProtocolError {
        self.failed(ProtocolErrorKind::InvalidData, expected, found)
    }

    /// An error here for a size above its bound.
    #[cold]
    pub(super) fn too_long(
        &self,
        what: impl fmt::Display,
        limit: usize,
        found: usize,
    ) -> ProtocolError {
        let error = Error::limit(what, limit as u64, found as u64);
        ProtocolError::new(ProtocolErrorKind::SizeLimit, error.at(self.position() as u64))
    }

    /// An error of that kind, here.
    #[cold]
    pub(super) fn failed(
        &self,
        kind: ProtocolErrorKind,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> ProtocolError {
        ProtocolError::new(kind, Error::format(expected, found).at(self.position() as u64))
    }
}

/// The number that a text is; JSON has none with a plus before it.
pub(super) fn parsed<T: FromStr>(text: &[u8]) -> Option<T> {
    let text = std::str::from_utf8(text).ok().filter(|text| !text.starts_with('+'))?;
    text.parse().ok()
}

/// Returns true for a byte that may stand between tokens.
pub(in super::super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// A byte of a text, for people.
pub(super) fn shown(byte: u8) -> String {
    match byte {
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("byte {byte:02x}"),
    }
}
