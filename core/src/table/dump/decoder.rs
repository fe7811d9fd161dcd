//! Entries out of the text of a dump, whatever its form, which comes in pieces.

use super::db_text::DbText;
use super::sql_text::SqlText;
use crate::error::{Error, ErrorKind, Result, excerpt_of_bytes};
use crate::table::foreign::described;
use crate::table::{KEY_LEN_MAX, PackedEntries, VALUE_LEN_MAX, ValueType, integer_of, kept_format};

/// Takes the text of a dump in pieces of any length, and gives its entries. It holds one entry.
#[derive(Debug)]
pub struct DumpDecoder {
    text: DumpText,
    place: TextPlace,
    entry: EntryInText,
}

#[derive(Debug)]
enum DumpText {
    /// Nothing was read yet that would tell.
    Unknown,
    Db(DbText),
    Sql(SqlText),
}

impl DumpDecoder {
    /// A decoder of a dump whose values are to be `values`.
    pub fn new(values: ValueType) -> Self {
        DumpDecoder {
            text: DumpText::Unknown,
            place: TextPlace { offset: 0, line: 1 },
            entry: EntryInText::of(values),
        }
    }

    /// Takes the next bytes, and puts the entries that are whole with them behind `entries`. [`ErrorKind::Format`] where it
    /// is no such text, and [`ErrorKind::Limit`] for an entry that no table takes, with the line. It takes nothing more then.
    pub fn push(&mut self, bytes: &[u8], entries: &mut PackedEntries) -> Result<()> {
        if let (DumpText::Unknown, Some(first)) = (&self.text, bytes.first()) {
            self.text = match first {
                b'V' => DumpText::Db(DbText::default()),
                b'-' | b'/' | b'A'..=b'Z' | b'a'..=b'z' | b'\n' | b' ' => {
                    DumpText::Sql(SqlText::default())
                }
                _ => {
                    let found = kept_format(bytes).map_or_else(|| described(bytes), str::to_owned);
                    let expected = "a dump of db_dump, mdb_dump or sqlite3";
                    return Err(Error::format(expected, found).at(0));
                }
            };
        }
        for byte in bytes {
            match &mut self.text {
                DumpText::Db(text) => text.push(*byte, &mut self.entry, self.place),
                DumpText::Sql(text) => text.push(*byte, &mut self.entry, self.place),
                DumpText::Unknown => Ok(()),
            }?;
            if self.entry.is_whole {
                self.entry.give(entries, self.place)?;
            }
            self.place.pass(*byte);
        }
        Ok(())
    }

    /// Takes the end of the text. [`ErrorKind::Truncated`] where it is not whole.
    pub fn finish(&self) -> Result<()> {
        let expected = match &self.text {
            DumpText::Unknown => Some("a dump of db_dump, mdb_dump or sqlite3"),
            DumpText::Db(text) => text.expected_at_end(),
            DumpText::Sql(text) => text.expected_at_end(),
        };
        let Some(expected) = expected else { return Ok(()) };
        let TextPlace { offset, line } = self.place;
        let message = format!("expected {expected}, found the end of the input in line {line}");
        Err(Error::new(ErrorKind::Truncated { needed: 1, available: 0 }, message).at(offset))
    }

    /// Returns the number of entries so far.
    pub fn count(&self) -> u64 {
        self.entry.count
    }
}

/// Place in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPlace {
    offset: u64,
    line: u64,
}

impl TextPlace {
    fn pass(&mut self, byte: u8) {
        self.offset += 1;
        self.line += u64::from(byte == b'\n');
    }

    /// The error for a byte that cannot be here.
    #[cold]
    pub(super) fn wrong_byte(self, expected: &str, byte: u8) -> Error {
        match byte {
            b'\n' => self.wrong(expected, "the end of the line"),
            _ => self.wrong(expected, &format!("{:?}", excerpt_of_bytes(&[byte]))),
        }
    }

    /// The error for something else than what is expected here.
    #[cold]
    pub(super) fn wrong(self, expected: &str, found: &str) -> Error {
        let line = self.line;
        Error::format(expected, format_args!("{found} in line {line}")).at(self.offset)
    }

    /// The error for something that is longer than it may be.
    #[cold]
    pub(super) fn too_long(self, what: &str, limit: usize) -> Error {
        let line = self.line;
        let message =
            format!("expected {what} of at most {limit} bytes, found more in line {line}");
        Error::new(ErrorKind::Limit, message).at(self.offset)
    }
}

/// Part of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum EntryPart {
    #[default]
    Key,
    Value,
}

/// The entry that the text is at.
#[derive(Debug)]
pub(super) struct EntryInText {
    key: Vec<u8>,
    value: Vec<u8>,
    /// Key of the entry before.
    last_key: Option<Vec<u8>>,
    is_whole: bool,
    values: ValueType,
    count: u64,
}

/// Bytes of a buffer above which it is not kept for the next entry.
const KEPT_MAX: usize = 1 << 20;

impl EntryInText {
    fn of(values: ValueType) -> Self {
        let (key, value) = (Vec::new(), Vec::new());
        EntryInText { key, value, last_key: None, is_whole: false, values, count: 0 }
    }

    /// Appends a byte to a part of it.
    #[inline]
    pub(super) fn add(&mut self, part: EntryPart, byte: u8, place: TextPlace) -> Result<()> {
        let (bytes, limit, what) = match part {
            EntryPart::Key => (&mut self.key, KEY_LEN_MAX, "a key"),
            EntryPart::Value => (&mut self.value, VALUE_LEN_MAX, "a value"),
        };
        if bytes.len() == limit {
            return Err(place.too_long(what, limit));
        }
        bytes.push(byte);
        Ok(())
    }

    /// Notes that both parts are there.
    pub(super) fn end(&mut self) {
        self.is_whole = true;
    }

    /// Puts it behind `entries`, and begins the next one. The keys of a table differ: two of the same follow each other
    /// where a database keeps several values for a key.
    fn give(&mut self, entries: &mut PackedEntries, place: TextPlace) -> Result<()> {
        if self.last_key.as_deref() == Some(&self.key) {
            let found = format!("several for {:?}", excerpt_of_bytes(&self.key));
            return Err(place.wrong("one value for each key", &found));
        }
        if self.values == ValueType::INTEGER && integer_of(&self.value).is_err() {
            let found = format!("one of {} bytes", self.value.len());
            return Err(place.wrong("a value of 8 bytes for a table of integers", &found));
        }
        entries.push(&self.key, &self.value);
        self.is_whole = false;
        self.count += 1;
        let last = self.last_key.get_or_insert_default();
        std::mem::swap(last, &mut self.key);
        for bytes in [&mut self.key, &mut self.value] {
            bytes.clear();
            bytes.shrink_to(KEPT_MAX);
        }
        Ok(())
    }
}

/// Digits of a byte, of which the first one may have come before the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct HexDigits(Option<u8>);

impl HexDigits {
    /// Takes a digit; returns the byte that it makes whole. None of them for anything else.
    #[inline]
    pub(super) fn push(&mut self, digit: u8) -> Option<Option<u8>> {
        let value = char::from(digit).to_digit(16)? as u8;
        Some(match self.0.take() {
            Some(high) => Some(high << 4 | value),
            None => {
                self.0 = Some(value);
                None
            }
        })
    }

    /// Returns true between two bytes.
    pub(super) fn is_empty(self) -> bool {
        self.0.is_none()
    }
}
