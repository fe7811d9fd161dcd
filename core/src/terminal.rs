//! Text that comes from outside, made fit to be shown: nothing in it moves a terminal's cursor, changes its colours or
//! title, or turns the direction in which a line is read. Names of files, keys, methods and values are such text.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// At most so many characters of a text, its beginning and its end, with `…` in the place of those between them.
pub fn shortened(text: &str, characters_max: usize) -> Cow<'_, str> {
    if text.len() <= characters_max || text.chars().nth(characters_max).is_none() {
        return text.into();
    }
    let kept = characters_max.saturating_sub(1);
    let place = |nth: Option<(usize, char)>| nth.map_or(text.len(), |(at, _)| at);
    let before = place(text.char_indices().nth(kept - kept / 2));
    let behind = match kept / 2 {
        0 => text.len(),
        behind => place(text.char_indices().nth_back(behind - 1)),
    };
    format!("{}…{}", &text[..before], &text[behind..]).into()
}

/// Returns true if a terminal acts on `character` instead of showing it: a control character (C0, DEL, C1), or one that
/// turns the direction of text ([UAX #9](https://www.unicode.org/reports/tr9/)) or ends a line (U+2028, U+2029).
#[inline]
pub fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Displays text with each harmful character as the escapes of its bytes (`\x1b`). The backslash stays as it is.
#[derive(Debug, Clone, Copy)]
pub struct Harmless<'a> {
    text: &'a str,
    has_lines: bool,
}

impl<'a> Harmless<'a> {
    /// Text of one line, such as a name: a newline is escaped too.
    pub fn line(text: &'a str) -> Self {
        Harmless { text, has_lines: false }
    }

    /// Text of several lines: newlines and tabs stay.
    pub fn lines(text: &'a str) -> Self {
        Harmless { text, has_lines: true }
    }
}

impl fmt::Display for Harmless<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.text.chars() {
            match character {
                '\n' | '\t' if self.has_lines => f.write_char(character)?,
                character if is_harmful(character) => {
                    let mut bytes = [0; 4];
                    for byte in character.encode_utf8(&mut bytes).bytes() {
                        write!(f, "\\x{byte:02x}")?;
                    }
                }
                character => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends bytes as one line of text: what is harmful or no text, and the backslash, as the escapes of C. So the bytes
/// can be told from what is shown.
pub fn push_visible(into: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            let mut utf8 = [0; 4];
            let utf8 = character.encode_utf8(&mut utf8).as_bytes();
            match is_harmful(character) || character == '\\' {
                true => utf8.iter().for_each(|byte| push_escape(into, *byte)),
                false => into.extend_from_slice(utf8),
            }
        }
        chunk.invalid().iter().for_each(|byte| push_escape(into, *byte));
    }
}

fn push_escape(into: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        b'\\' => b'\\',
        _ => {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            return into.extend_from_slice(&[b'\\', b'x', digits[0], digits[1]]);
        }
    };
    into.extend_from_slice(&[b'\\', letter]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_shown_by_its_beginning_and_its_end() {
        for (text, max, expected) in [
            ("abcdefg", 7, "abcdefg"),
            ("abcdefgh", 7, "abc…fgh"),
            ("abcdefgh", 6, "abc…gh"),
            ("ééééé", 5, "ééééé"),
            ("éabcdè", 4, "éa…è"),
            ("abc", 2, "a…"),
            ("abc", 1, "…"),
            ("", 0, ""),
        ] {
            assert_eq!(shortened(text, max), expected, "{text} in {max}");
        }
    }

    #[test]
    fn what_a_terminal_acts_on_is_escaped_and_all_else_stays() {
        let text = "tea\x1b[31m \u{9b}2J\u{202e}\u{7f} \u{e9}\\\n";
        assert_eq!(
            Harmless::line(text).to_string(),
            r"tea\x1b[31m \xc2\x9b2J\xe2\x80\xae\x7f é\\x0a"
        );
        assert_eq!(Harmless::lines("a\n\tb\r").to_string(), "a\n\tb\\x0d");
        let mut shown = Vec::new();
        push_visible(&mut shown, b"a\\b\n\xff\x1b\xe2\x80\xae\xc3\xa9");
        assert_eq!(String::from_utf8_lossy(&shown), "a\\\\b\\n\\xff\\x1b\\xe2\\x80\\xaeé");
    }
}
