//! Floats as text: which spelling dumping writes, and which Floats have no identity of their own.

use std::fmt::Write;

/// Role of a Float in links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Float {
    /// Equal ones are one object everywhere: most, those that fit a word beside its tag.
    Immediate,
    /// An object of its own: zero below zero, what is very large or very small, what is no number.
    Heap,
}

/// Classifies the Float that `text` spells; returns None if dumping would spell it otherwise.
pub(super) fn classify(text: &[u8]) -> Option<Float> {
    match text {
        b"0" => return Some(Float::Immediate),
        b"-0" | b"nan" | b"inf" | b"-inf" => return Some(Float::Heap),
        _ => {}
    }
    if is_plain(text) {
        return Some(Float::Immediate);
    }
    // A longer text than any spelling is none; nor are the words that only Rust takes for numbers.
    if text.len() > 26 || !text.iter().all(|c| matches!(c, b'0'..=b'9' | b'.' | b'-' | b'e')) {
        return None;
    }
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    if !number.is_finite() || number == 0.0 || spelling(number).as_bytes() != text {
        return None;
    }
    Some(if is_immediate(number) { Float::Immediate } else { Float::Heap })
}

/// Returns true if the text is a usual one, which is clear without computing the number: up to 15
/// digits tell each number from its neighbours, so if none of them is needless, there is no shorter
/// spelling; and such numbers, from 0.0001 on, are immediate.
fn is_plain(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_number = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
    let (whole, fraction) = match digits.iter().position(|&c| c == b'.') {
        Some(point) => {
            let (whole, rest) = digits.split_at_checked(point).unwrap_or((digits, b""));
            (whole, rest.get(1..).unwrap_or_default())
        }
        None => (digits, &b""[..]),
    };
    let needed = match (whole, fraction) {
        // Zeros before the first digit are few enough to be written out.
        ([b'0'], fraction) => fraction.iter().position(|&c| c != b'0').is_some_and(|at| at <= 3),
        ([b'1'..=b'9', ..], _) => true,
        _ => false,
    };
    let last = if digits.len() == whole.len() { whole.last() } else { fraction.last() };
    needed
        && matches!(last, Some(b'1'..=b'9'))
        && digits.len() <= 16
        && is_number(whole)
        && is_number(fraction)
}

/// Returns true if the bits of `number` fit a word whose low bits are a tag: the exponents around 1,
/// and one pattern less, which is taken for zero.
fn is_immediate(number: f64) -> bool {
    let bits = number.to_bits();
    matches!((bits >> 60) & 7, 3 | 4) && bits != 0x3000_0000_0000_0000
}

/// A text on the stack, long enough for each Float.
struct FloatText {
    bytes: [u8; 32],
    len: usize,
}

impl FloatText {
    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    fn push(&mut self, bytes: &[u8]) {
        if let Some(room) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            room.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }
}

impl Write for FloatText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// Spells `number`, which is finite and not zero, as dumping does: the fewest digits that tell it from
/// its neighbours, with an exponent if it would need zeros that are no digits of it.
fn spelling(number: f64) -> FloatText {
    let mut scientific = FloatText { bytes: [0; 32], len: 0 };
    // Text never fails to be written.
    let _ = write!(scientific, "{number:e}");
    let mut text = FloatText { bytes: [0; 32], len: 0 };
    let Ok(parts) = std::str::from_utf8(scientific.as_bytes()) else { return text };
    let Some((mantissa, exponent)) = parts.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let (first, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    text.push(sign.as_bytes());
    let digits = 1 + fraction.len() as i32;
    if !(-3..=digits).contains(&(exponent + 1)) {
        let point = if fraction.is_empty() { "" } else { "." };
        let _ = write!(text, "{first}{point}{fraction}e{exponent}");
    } else if exponent >= 0 {
        let (whole, rest) = fraction.split_at_checked(exponent as usize).unwrap_or((fraction, ""));
        let point = if rest.is_empty() { "" } else { "." };
        let _ = write!(text, "{first}{whole}{point}{rest}");
    } else {
        text.push(b"0.");
        for _ in exponent..-1 {
            text.push(b"0");
        }
        let _ = write!(text, "{first}{fraction}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spelling_of_dumping_is_known_and_no_other() {
        use Float::{Heap, Immediate};
        // Each from Marshal.dump.
        for (text, float) in [
            ("0", Immediate),
            ("-0", Heap),
            ("1.5", Immediate),
            ("-1.5", Immediate),
            ("1", Immediate),
            ("1e300", Heap),
            ("-1e-300", Heap),
            ("1e16", Immediate),
            ("1.2345678901234568e17", Immediate),
            ("0.0001", Immediate),
            ("0.0001234", Immediate),
            ("1.72723e-77", Heap),
            ("1.7272337110188893e-77", Immediate),
            ("1.727233711018889e-77", Heap),
            ("nan", Heap),
            ("1e2", Immediate),
            ("123", Immediate),
            ("5e-324", Heap),
            ("1.7976931348623157e308", Heap),
            ("0.30000000000000004", Immediate),
            ("1e-05", Immediate),
        ] {
            // Exponents below ten have one digit.
            let expected = if text == "1e-05" { None } else { Some(float) };
            assert_eq!(classify(text.as_bytes()), expected, "{text}");
        }
        for text in ["0.00001", "1.0", "0.10", "00.1", "1.", "1.2.3", "0", "-0.5"] {
            let number: Option<f64> = text.parse().ok();
            let is_it = number.is_some_and(|number| {
                number != 0.0 && spelling(number).as_bytes() == text.as_bytes()
            });
            assert_eq!(is_plain(text.as_bytes()), is_it, "{text}");
        }
        for text in ["1.50", "100", "1e0", "+1", "01", "1e1000", "", "-", ".5", "5.", "1E5", "NaN"]
        {
            assert_eq!(classify(text.as_bytes()), None, "{text}");
        }
    }
}
