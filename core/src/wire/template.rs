//! Records of one length, by a template in the letters that Perl and its heirs have for packing: one
//! letter for each value, with a count or with the order of its bytes behind it.
//!
//! | letter | value |
//! |---|---|
//! | `C` `S` `L` `Q` | unsigned, of 1, 2, 4, 8 bytes; `c` `s` `l` `q` signed; in the order of this machine, or as `<` or `>` behind it says |
//! | `J` `j` | of the size of a pointer |
//! | `n` `N` | unsigned, 2 and 4 bytes, most significant first |
//! | `v` `V` | unsigned, 2 and 4 bytes, least significant first |
//! | `e` `E` | a float of 4 and 8 bytes, least significant first; `g` `G` most significant first; `F` `f` and `D` `d` in the order of this machine |
//! | `a` `A` `Z` | so many bytes as the count says; `A` without spaces and zeros at the end, `Z` up to the first zero |
//! | `x` | a byte, or as many as the count says, that are no value |

use super::Endian;
use crate::error::excerpt;
use crate::error::{Error, ErrorKind, Result};

/// Layout of a record of a fixed length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordTemplate {
    fields: Vec<TemplateField>,
    len: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TemplateField {
    kind: ScalarKind,
    offset: usize,
    len: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScalarKind {
    Unsigned(Endian),
    Signed(Endian),
    Float(Endian),
    /// Bytes, all of them.
    Bytes,
    /// Bytes without spaces and zeros at the end.
    Trimmed,
    /// Bytes up to a zero.
    UntilZero,
    Nothing,
}

/// A value of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RecordValue<'a> {
    /// A number that is never negative.
    Unsigned(u64),
    /// A number.
    Signed(i64),
    /// A float, of 4 bytes or of 8.
    Float(f64),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// Type of a value, for all records of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordType {
    /// A number that is never negative, of so many bytes.
    Unsigned(usize),
    /// A number, of so many bytes.
    Signed(usize),
    /// A float.
    Float,
    /// Bytes.
    Bytes,
}

const NATIVE: Endian = if cfg!(target_endian = "big") { Endian::Big } else { Endian::Little };

// Bound (Streams): record by a template = 1 MiB.
/// The most values in a record, too.
const RECORD_LEN_MAX: usize = 1 << 20;

impl RecordTemplate {
    /// Reads a template: `Argument` for one that has no fixed length, `Limit` where a record would be
    /// longer than 1 MiB.
    pub fn parse(text: &str) -> Result<RecordTemplate> {
        let mut template = RecordTemplate { fields: Vec::new(), len: 0 };
        let mut rest = text.as_bytes();
        while let [letter, after @ ..] = rest {
            rest = after;
            if letter.is_ascii_whitespace() || *letter == 0 {
                continue;
            }
            let order = take_order(&mut rest);
            let count = take_count(text, &mut rest)?;
            let (kind, len) = kind(*letter, order).ok_or_else(|| unknown(text, *letter))?;
            template.add(kind, len, count.unwrap_or(1))?;
        }
        if template.len == 0 {
            return Err(argument(text, "a template of at least a byte"));
        }
        Ok(template)
    }

    /// Bytes of a record.
    pub fn record_len(&self) -> usize {
        self.len
    }

    /// Returns the number of values of a record.
    pub fn value_count(&self) -> usize {
        self.fields.len()
    }

    /// Returns the types of the values of a record.
    pub fn types(&self) -> impl Iterator<Item = RecordType> {
        self.fields.iter().map(|field| match field.kind {
            ScalarKind::Unsigned(_) => RecordType::Unsigned(field.len),
            ScalarKind::Signed(_) => RecordType::Signed(field.len),
            ScalarKind::Float(_) => RecordType::Float,
            ScalarKind::Bytes
            | ScalarKind::Trimmed
            | ScalarKind::UntilZero
            | ScalarKind::Nothing => RecordType::Bytes,
        })
    }

    /// One value of a record by its place; none where there is no such place, or `record` is too short.
    #[inline]
    pub fn value<'a>(&self, place: usize, record: &'a [u8]) -> Option<RecordValue<'a>> {
        let field = self.fields.get(place)?;
        Some(field.value(record.get(field.offset..)?.get(..field.len)?))
    }

    /// Returns the offset and the byte order of the value at a place of a record, if it is a whole number.
    pub fn number_at(&self, place: usize) -> Option<(usize, Endian)> {
        let field = self.fields.get(place)?;
        match field.kind {
            ScalarKind::Unsigned(endian) | ScalarKind::Signed(endian) => {
                Some((field.offset, endian))
            }
            _ => None,
        }
    }

    /// The values of a record. Where `record` is too short, the last ones are missing.
    #[inline]
    pub fn values<'a>(&self, record: &'a [u8]) -> impl Iterator<Item = RecordValue<'a>> {
        self.fields.iter().map_while(move |field| {
            let bytes = record.get(field.offset..)?.get(..field.len)?;
            Some(field.value(bytes))
        })
    }

    fn add(&mut self, kind: ScalarKind, len: usize, count: usize) -> Result<()> {
        let is_bytes = matches!(
            kind,
            ScalarKind::Bytes | ScalarKind::Trimmed | ScalarKind::UntilZero | ScalarKind::Nothing
        );
        let total = len.saturating_mul(count);
        if total > RECORD_LEN_MAX || self.len + total > RECORD_LEN_MAX {
            let found = (self.len as u64).saturating_add(total as u64);
            return Err(Error::limit("a record", RECORD_LEN_MAX as u64, found));
        }
        let (len, count) = if is_bytes { (total, 1) } else { (len, count) };
        for _ in 0..count {
            if kind != ScalarKind::Nothing {
                self.fields.push(TemplateField { kind, offset: self.len, len });
            }
            self.len += len;
        }
        Ok(())
    }
}

impl TemplateField {
    #[inline]
    fn value<'a>(&self, bytes: &'a [u8]) -> RecordValue<'a> {
        match self.kind {
            ScalarKind::Unsigned(endian) => RecordValue::Unsigned(unsigned(bytes, endian)),
            ScalarKind::Signed(endian) => {
                let unused = 64 - 8 * bytes.len() as u32;
                let number = unsigned(bytes, endian) << (unused & 63);
                RecordValue::Signed(number as i64 >> (unused & 63))
            }
            ScalarKind::Float(endian) if bytes.len() == 4 => {
                RecordValue::Float(f32::from_bits(unsigned(bytes, endian) as u32).into())
            }
            ScalarKind::Float(endian) => {
                RecordValue::Float(f64::from_bits(unsigned(bytes, endian)))
            }
            ScalarKind::Bytes | ScalarKind::Nothing => RecordValue::Bytes(bytes),
            ScalarKind::Trimmed => {
                let end = bytes.iter().rposition(|byte| !matches!(byte, b' ' | 0));
                RecordValue::Bytes(bytes.get(..end.map_or(0, |end| end + 1)).unwrap_or_default())
            }
            ScalarKind::UntilZero => {
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                RecordValue::Bytes(bytes.get(..end).unwrap_or_default())
            }
        }
    }
}

/// A number of up to 8 bytes.
#[inline]
fn unsigned(bytes: &[u8], endian: Endian) -> u64 {
    match (bytes, endian) {
        ([a], _) => u64::from(*a),
        ([a, b], Endian::Little) => u64::from(u16::from_le_bytes([*a, *b])),
        ([a, b], Endian::Big) => u64::from(u16::from_be_bytes([*a, *b])),
        ([a, b, c, d], Endian::Little) => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
        ([a, b, c, d], Endian::Big) => u64::from(u32::from_be_bytes([*a, *b, *c, *d])),
        (bytes, Endian::Little) => {
            bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
        }
        (bytes, Endian::Big) => bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)),
    }
}

/// Returns the kind and the length of a letter; `None` for a letter that has no fixed length or takes no order.
fn kind(letter: u8, order: Option<Endian>) -> Option<(ScalarKind, usize)> {
    let given = order.unwrap_or(NATIVE);
    let ordered = match letter {
        // Row (template-letters): `C c S s L l Q q J j n N v V` | integers
        b'S' => (ScalarKind::Unsigned(given), 2),
        b'L' | b'I' => (ScalarKind::Unsigned(given), 4),
        b'Q' => (ScalarKind::Unsigned(given), 8),
        b'J' => (ScalarKind::Unsigned(given), size_of::<usize>()),
        b's' => (ScalarKind::Signed(given), 2),
        b'l' | b'i' => (ScalarKind::Signed(given), 4),
        b'q' => (ScalarKind::Signed(given), 8),
        b'j' => (ScalarKind::Signed(given), size_of::<usize>()),
        _ if order.is_some() => return None,
        b'C' => (ScalarKind::Unsigned(NATIVE), 1),
        b'c' => (ScalarKind::Signed(NATIVE), 1),
        b'n' => (ScalarKind::Unsigned(Endian::Big), 2),
        b'N' => (ScalarKind::Unsigned(Endian::Big), 4),
        b'v' => (ScalarKind::Unsigned(Endian::Little), 2),
        b'V' => (ScalarKind::Unsigned(Endian::Little), 4),
        // Row (template-letters): `e E g G f F d D` | floats
        b'e' => (ScalarKind::Float(Endian::Little), 4),
        b'E' => (ScalarKind::Float(Endian::Little), 8),
        b'g' => (ScalarKind::Float(Endian::Big), 4),
        b'G' => (ScalarKind::Float(Endian::Big), 8),
        b'f' | b'F' => (ScalarKind::Float(NATIVE), 4),
        b'd' | b'D' => (ScalarKind::Float(NATIVE), 8),
        // Row (template-letters): `a A Z` | bytes
        b'a' => (ScalarKind::Bytes, 1),
        b'A' => (ScalarKind::Trimmed, 1),
        b'Z' => (ScalarKind::UntilZero, 1),
        // Row (template-letters): `x` | skipped bytes
        b'x' => (ScalarKind::Nothing, 1),
        _ => return None,
    };
    Some(ordered)
}

fn take_order(rest: &mut &[u8]) -> Option<Endian> {
    let order = match rest.first() {
        Some(b'<') => Endian::Little,
        Some(b'>') => Endian::Big,
        _ => return None,
    };
    *rest = rest.get(1..).unwrap_or_default();
    Some(order)
}

fn take_count(text: &str, rest: &mut &[u8]) -> Result<Option<usize>> {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (count, after) = rest.split_at(digits);
    *rest = after;
    match after.first() {
        Some(b'*') => Err(argument(text, "a template of a fixed length, without *")),
        _ if count.is_empty() => Ok(None),
        _ => {
            let number = count.iter().fold(0_usize, |number, digit| {
                number.saturating_mul(10).saturating_add(usize::from(digit - b'0'))
            });
            Ok(Some(number))
        }
    }
}

fn unknown(text: &str, letter: u8) -> Error {
    let shown = letter.escape_ascii();
    argument(text, &format!("letters of values with a fixed length, not `{shown}`"))
}

fn argument(text: &str, expected: &str) -> Error {
    Error::new(ErrorKind::Argument, format!("expected {expected}, found {:?}", excerpt(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<'a>(template: &str, record: &'a [u8]) -> Vec<RecordValue<'a>> {
        let parsed = RecordTemplate::parse(template);
        assert!(parsed.is_ok(), "{template}");
        let Ok(template) = parsed else { return Vec::new() };
        assert_eq!(template.record_len(), record.len());
        template.values(record).collect()
    }

    #[test]
    fn each_letter_reads_its_bytes_in_its_order() {
        use RecordValue::{Bytes, Float, Signed, Unsigned};
        assert_eq!(
            values("Nnv2", &[0, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
            [Unsigned(258), Unsigned(0x304), Unsigned(0x605), Unsigned(0x807)]
        );
        assert_eq!(
            values("c s> l<", &[0xff, 0xff, 0xfe, 0xfd, 0xff, 0xff, 0xff]),
            [Signed(-1), Signed(-2), Signed(-3)]
        );
        let eight = [0x80, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(values("Q>", &eight), [Unsigned(1 << 63 | 1)]);
        assert_eq!(values("q>", &eight), [Signed(i64::MIN + 1)]);
        assert_eq!(values("g", &[0x3f, 0x80, 0, 0]), [Float(1.0)]);
        assert_eq!(values("E", &1.5_f64.to_le_bytes()), [Float(1.5)]);
        assert_eq!(
            values("a4A4Z4xC", b"a \0 a \0 a\0bc.\x07"),
            [Bytes(b"a \0 "), Bytes(b"a"), Bytes(b"a"), Unsigned(7)]
        );
    }

    #[test]
    fn what_has_no_fixed_length_is_refused_and_so_is_what_is_too_long() {
        for text in ["a*", "U", "w", "n<", "", "x0", "@4", "N>", "é"] {
            let kind = RecordTemplate::parse(text).err().map(|error| error.kind());
            assert_eq!(kind, Some(ErrorKind::Argument), "{text}");
        }
        for text in ["a99999999999999999999999", "N262145", "a1048576C"] {
            let kind = RecordTemplate::parse(text).err().map(|error| error.kind());
            assert_eq!(kind, Some(ErrorKind::Limit), "{text}");
        }
    }
}
