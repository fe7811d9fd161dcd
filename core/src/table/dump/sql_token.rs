//! Tokens of SQL, byte by byte.

use super::decoder::{HexDigits, TextPlace};
use crate::error::Result;

// Bound (Tables): name in a dump of SQL that is loaded = 256 bytes.
/// Words, too.
const WORD_MAX: usize = 256;

/// Token, or part of one, that a byte brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SqlToken {
    /// A word or a name, which [`SqlTokens::word`] has.
    Word { is_quoted: bool },
    /// A literal of bytes or text begins.
    Literal,
    /// A byte of it.
    Byte(u8),
    /// It ends.
    LiteralEnd,
    /// Any other byte.
    Symbol(u8),
}

/// Place in the tokens of a text.
#[derive(Debug, Default)]
pub(super) struct SqlTokens {
    state: TokenState,
    word: Vec<u8>,
    digits: HexDigits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TokenState {
    #[default]
    Between,
    Word,
    /// In a name that ends with this byte.
    Name(u8),
    /// In X'...'.
    Blob,
    Text,
    /// Behind a quote in text, which ends it or is one of it.
    Quote,
    /// Behind the first byte of --.
    Dash,
    Comment,
}

impl SqlTokens {
    /// Takes a byte, and gives `found` the tokens that are whole with it.
    #[inline]
    pub(super) fn push(
        &mut self,
        byte: u8,
        place: TextPlace,
        found: &mut dyn FnMut(SqlToken, &[u8]) -> Result<()>,
    ) -> Result<()> {
        match self.state {
            TokenState::Blob => match byte {
                b'\'' if self.digits.is_empty() => self.become_between(SqlToken::LiteralEnd, found),
                _ => match self.digits.push(byte) {
                    Some(Some(byte)) => found(SqlToken::Byte(byte), &[]),
                    Some(None) => Ok(()),
                    None => {
                        Err(place.wrong_byte("two hexadecimal digits for each byte in X'..'", byte))
                    }
                },
            },
            TokenState::Text if byte == b'\'' => {
                self.state = TokenState::Quote;
                Ok(())
            }
            TokenState::Text => found(SqlToken::Byte(byte), &[]),
            TokenState::Quote if byte == b'\'' => {
                self.state = TokenState::Text;
                found(SqlToken::Byte(byte), &[])
            }
            TokenState::Quote => {
                self.become_between(SqlToken::LiteralEnd, found)?;
                self.begin(byte, place, found)
            }
            _ => self.push_outside(byte, place, found),
        }
    }

    /// Takes a byte that is in no literal.
    fn push_outside(
        &mut self,
        byte: u8,
        place: TextPlace,
        found: &mut dyn FnMut(SqlToken, &[u8]) -> Result<()>,
    ) -> Result<()> {
        match self.state {
            TokenState::Word if is_of_word(byte) => self.keep(byte, place),
            TokenState::Word if byte == b'\'' && self.word.eq_ignore_ascii_case(b"x") => {
                self.word.clear();
                self.state = TokenState::Blob;
                found(SqlToken::Literal, &[])
            }
            TokenState::Word => {
                self.end_word(false, found)?;
                self.begin(byte, place, found)
            }
            TokenState::Name(end) if byte == end => self.end_word(true, found),
            TokenState::Name(_) => self.keep(byte, place),
            TokenState::Dash if byte == b'-' => {
                self.state = TokenState::Comment;
                Ok(())
            }
            TokenState::Dash => Err(place.wrong_byte("-- before a comment", byte)),
            TokenState::Comment => {
                if byte == b'\n' {
                    self.state = TokenState::Between;
                }
                Ok(())
            }
            _ => self.begin(byte, place, found),
        }
    }

    /// Takes the first byte of a token.
    fn begin(
        &mut self,
        byte: u8,
        place: TextPlace,
        found: &mut dyn FnMut(SqlToken, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.state = match byte {
            b' ' | b'\t' | b'\r' | b'\n' => TokenState::Between,
            b'-' => TokenState::Dash,
            b'"' | b'`' => TokenState::Name(byte),
            b'[' => TokenState::Name(b']'),
            b'\'' => {
                self.state = TokenState::Text;
                return found(SqlToken::Literal, &[]);
            }
            _ if is_of_word(byte) => {
                self.state = TokenState::Word;
                return self.keep(byte, place);
            }
            _ => return found(SqlToken::Symbol(byte), &[]),
        };
        Ok(())
    }

    fn keep(&mut self, byte: u8, place: TextPlace) -> Result<()> {
        if self.word.len() == WORD_MAX {
            return Err(place.too_long("a name", WORD_MAX));
        }
        self.word.push(byte);
        Ok(())
    }

    fn end_word(
        &mut self,
        is_quoted: bool,
        found: &mut dyn FnMut(SqlToken, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.state = TokenState::Between;
        let told = found(SqlToken::Word { is_quoted }, &self.word);
        self.word.clear();
        told
    }

    fn become_between(
        &mut self,
        token: SqlToken,
        found: &mut dyn FnMut(SqlToken, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.state = TokenState::Between;
        found(token, &[])
    }

    /// Returns true where the text may end: between two tokens, or in a comment.
    pub(super) fn may_end(&self) -> bool {
        matches!(self.state, TokenState::Between | TokenState::Comment)
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$') || !byte.is_ascii()
}
