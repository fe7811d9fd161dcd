//! Words, numbers, strings and symbols of a text; spaces and the three kinds of comments between them.
//!
//! ```text
//! word      a letter or _, then letters, digits, _, and dots that one of those follows
//! integer   [+-] digits, or [+-] 0x and hexadecimal digits; true is 1, false is 0
//! double    [+-] digits, . and digits, e and [+-] digits: any of the parts, but not digits alone
//! literal   between ' or " on one line, with \n \r \t \\ \' \"
//! comment   // or # to the end of the line, /* to */
//! ```

use super::text::{IdlText, TextSpan};
use crate::Result;

/// Maximum length of a word, in bytes.
const WORD_LEN_MAX: usize = 1024;

/// A piece of text that means something.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum IdlToken<'t> {
    /// A name or a keyword: which of the two, the place decides.
    Word(&'t str),
    Integer(i64),
    Double(f64),
    Literal(String),
    Symbol(u8),
    End,
}

/// Goes through a text token by token.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t IdlText,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t IdlText) -> Self {
        Lexer { text, at: 0 }
    }

    /// The next token and where it stands; `End` again and again at the end.
    pub(super) fn next(&mut self) -> Result<(IdlToken<'t>, TextSpan)> {
        self.skip_space()?;
        let start = self.at;
        let rest = self.rest();
        let (token, len) = match rest.first() {
            None => (IdlToken::End, 0),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => self.word()?,
            Some(b'"' | b'\'') => self.literal()?,
            Some(b'0'..=b'9' | b'+' | b'-') => self.number()?,
            Some(b'.') if rest.get(1).is_some_and(u8::is_ascii_digit) => self.number()?,
            Some(&symbol) if b":;,{}()=<>[]*&".contains(&symbol) => (IdlToken::Symbol(symbol), 1),
            Some(_) => {
                let found = self.text.quoted(self.span_of_character());
                return Err(self.text.expected(self.span(1), "a name or a symbol", found));
            }
        };
        self.at = start + len;
        Ok((token, TextSpan { start, end: self.at }))
    }

    fn rest(&self) -> &'t [u8] {
        self.text.bytes().get(self.at..).unwrap_or_default()
    }

    fn span(&self, len: usize) -> TextSpan {
        TextSpan { start: self.at, end: self.at + len }
    }

    /// All bytes of the character that begins here, for texts that are not ASCII.
    fn span_of_character(&self) -> TextSpan {
        let is_continuation = |byte: &&u8| (0x80..0xc0).contains(*byte);
        let more = self.rest().iter().skip(1).take_while(is_continuation).count();
        self.span(1 + more.min(3))
    }

    fn skip_space(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            let spaces = rest.iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
            self.at += spaces;
            let rest = self.rest();
            if rest.starts_with(b"#") || rest.starts_with(b"//") {
                self.at += rest.iter().take_while(|&&byte| byte != b'\n').count();
            } else if let Some(inside) = rest.strip_prefix(b"/*") {
                let Some(len) = inside.windows(2).position(|two| two == b"*/") else {
                    let found = "the end of the file";
                    return Err(self.text.expected(self.span(2), "*/ after this /*", found));
                };
                self.at += len + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn word(&self) -> Result<(IdlToken<'t>, usize)> {
        let rest = self.rest();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let mut len = 0;
        loop {
            len += rest.iter().skip(len).take_while(|byte| is_part(byte)).count();
            let dot = rest.get(len) == Some(&b'.');
            if !(dot && rest.get(len + 1).is_some_and(is_part)) {
                break;
            }
            len += 1;
        }
        if len > WORD_LEN_MAX {
            return Err(self.text.above(self.span(len), "a name", WORD_LEN_MAX));
        }
        let word = rest.get(..len).and_then(|word| std::str::from_utf8(word).ok());
        let token = match word.unwrap_or_default() {
            "true" => IdlToken::Integer(1),
            "false" => IdlToken::Integer(0),
            word => IdlToken::Word(word),
        };
        Ok((token, len))
    }

    fn number(&self) -> Result<(IdlToken<'t>, usize)> {
        let rest = self.rest();
        let digits_at = |at: usize| -> usize {
            rest.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count()
        };
        let is_sign = |at: usize| matches!(rest.get(at), Some(b'+' | b'-'));
        let sign = usize::from(is_sign(0));
        if let Some(hex) = rest.get(sign..).and_then(|rest| rest.strip_prefix(b"0x")) {
            let digits = hex.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            if digits > 0 {
                return self.hexadecimal(sign, digits);
            }
        }
        let whole = sign + digits_at(sign);
        let mut len = whole;
        if rest.get(len) == Some(&b'.') && digits_at(len + 1) > 0 {
            len += 1 + digits_at(len + 1);
        }
        if len == sign {
            let found = self.text.quoted(self.span(1));
            return Err(self.text.expected(self.span(1), "a digit after the sign", found));
        }
        if matches!(rest.get(len), Some(b'e' | b'E')) {
            let exponent = len + 1 + usize::from(is_sign(len + 1));
            if digits_at(exponent) > 0 {
                len = exponent + digits_at(exponent);
            }
        }
        let digits = rest.get(..len).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.unwrap_or_default();
        let token = if len == whole {
            digits.parse().ok().map(IdlToken::Integer)
        } else {
            digits.parse().ok().map(IdlToken::Double)
        };
        token.map(|token| (token, len)).ok_or_else(|| self.too_big(len))
    }

    fn hexadecimal(&self, sign: usize, digit_count: usize) -> Result<(IdlToken<'t>, usize)> {
        let len = sign + 2 + digit_count;
        let digits = self.rest().get(sign + 2..len);
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let number = i64::from_str_radix(digits.unwrap_or_default(), 16);
        let number = number.map_err(|_| self.too_big(len))?;
        let is_negative = self.rest().starts_with(b"-");
        Ok((IdlToken::Integer(if is_negative { -number } else { number }), len))
    }

    fn too_big(&self, len: usize) -> crate::Error {
        let found = self.text.quoted(self.span(len));
        self.text.expected(self.span(len), "a number of 64 bits with a sign", found)
    }

    fn literal(&self) -> Result<(IdlToken<'t>, usize)> {
        let rest = self.rest();
        let mark = rest.first().copied().unwrap_or(b'"');
        let mut content = Vec::new();
        let mut at = 1;
        loop {
            match rest.get(at) {
                None | Some(b'\n') => {
                    let expected = format!("{} at the end of this string", char::from(mark));
                    let found =
                        if at < rest.len() { "the end of the line" } else { "the end of the file" };
                    return Err(self.text.expected(self.span(1), expected, found));
                }
                Some(&byte) if byte == mark => break,
                Some(b'\\') => {
                    content.push(self.escape(at)?);
                    at += 2;
                }
                Some(&byte) => {
                    content.push(byte);
                    at += 1;
                }
            }
        }
        let content = String::from_utf8(content).map_err(|error| {
            let bytes = error.as_bytes().escape_ascii().to_string();
            self.text.expected(self.span(1), "UTF-8 in a string", bytes)
        })?;
        Ok((IdlToken::Literal(content), at + 1))
    }

    /// The byte that the escape stands for whose backslash is `at` bytes from here.
    fn escape(&self, at: usize) -> Result<u8> {
        match self.rest().get(at + 1) {
            Some(b'n') => Ok(b'\n'),
            Some(b'r') => Ok(b'\r'),
            Some(b't') => Ok(b'\t'),
            Some(&byte @ (b'\\' | b'"' | b'\'')) => Ok(byte),
            _ => {
                let start = self.at + at;
                let span = TextSpan { start, end: start + 2 };
                let found = self.text.quoted(span);
                Err(self.text.expected(span, r#"one of \n \r \t \\ \" \'"#, found))
            }
        }
    }
}
