//! The text of `db_dump` and `mdb_dump`, byte by byte.

use super::decoder::{EntryInText, EntryPart, HexDigits, TextPlace};
use crate::error::{Result, excerpt_of_bytes};

// Bound (Tables): line of the header of a dump that is loaded = 4,096 bytes.
const HEADER_LINE_MAX: usize = 4096;

/// The line behind the last entry.
const DATA_END: &[u8] = b"DATA=END";

/// Place in the text of a database, and what its header said.
#[derive(Debug, Default)]
pub(super) struct DbText {
    state: DbState,
    part: EntryPart,
    form: Option<DbForm>,
    has_type: bool,
    digits: HexDigits,
    /// The line of the header, or of the end.
    line: Vec<u8>,
    line_count: u32,
}

/// Form of the bytes of keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DbForm {
    Digits,
    Print,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum DbState {
    #[default]
    Header,
    /// At the first byte of a line of an entry.
    LineStart,
    /// In a key or a value.
    Entry,
    /// Behind a backslash in one.
    Escape,
    /// In the line behind the last entry.
    Trailer,
    Ended,
}

impl DbText {
    #[inline]
    pub(super) fn push(
        &mut self,
        byte: u8,
        entry: &mut EntryInText,
        place: TextPlace,
    ) -> Result<()> {
        match (self.state, byte) {
            (DbState::Entry, b'\n') => self.end_line(entry, place),
            (DbState::Entry, b'\\') if self.form == Some(DbForm::Print) => {
                self.state = DbState::Escape;
                Ok(())
            }
            (DbState::Entry, _) if self.form == Some(DbForm::Print) => {
                entry.add(self.part, byte, place)
            }
            (DbState::Escape, b'\\') if self.digits.is_empty() => {
                self.state = DbState::Entry;
                entry.add(self.part, byte, place)
            }
            (DbState::Entry | DbState::Escape, _) => self.digit(byte, entry, place),
            _ => self.push_outside(byte, place),
        }
    }

    /// Takes a byte that is in no entry.
    fn push_outside(&mut self, byte: u8, place: TextPlace) -> Result<()> {
        match (self.state, byte) {
            (DbState::Header, b'\n') => self.end_header_line(place),
            (DbState::Header | DbState::Trailer, _) if byte != b'\n' => {
                if self.line.len() == HEADER_LINE_MAX {
                    return Err(place.too_long("a line of the header", HEADER_LINE_MAX));
                }
                self.line.push(byte);
                Ok(())
            }
            (DbState::LineStart, b' ') => {
                self.state = DbState::Entry;
                Ok(())
            }
            (DbState::LineStart, b'D') if self.part == EntryPart::Key => {
                self.line.push(byte);
                self.state = DbState::Trailer;
                Ok(())
            }
            (DbState::LineStart, _) => Err(place.wrong_byte(self.expected_line(), byte)),
            (DbState::Trailer, _) if self.line == DATA_END => {
                self.state = DbState::Ended;
                Ok(())
            }
            (DbState::Trailer, _) => Err(place.wrong(self.expected_line(), &self.shown_line())),
            (_, b'\n' | b'\r' | b' ') => Ok(()),
            _ => {
                let expected = "one database, whose DATA=END ends the dump (-s of db_dump and mdb_dump chooses one)";
                Err(place.wrong(expected, "more"))
            }
        }
    }

    fn digit(&mut self, byte: u8, entry: &mut EntryInText, place: TextPlace) -> Result<()> {
        let expected = "two hexadecimal digits for each byte";
        let digit = self.digits.push(byte).ok_or_else(|| place.wrong_byte(expected, byte))?;
        let Some(byte) = digit else { return Ok(()) };
        self.state = DbState::Entry;
        entry.add(self.part, byte, place)
    }

    fn end_line(&mut self, entry: &mut EntryInText, place: TextPlace) -> Result<()> {
        if !self.digits.is_empty() {
            return Err(place.wrong_byte("two hexadecimal digits for each byte", b'\n'));
        }
        self.state = DbState::LineStart;
        self.part = match self.part {
            EntryPart::Key => EntryPart::Value,
            EntryPart::Value => {
                entry.end();
                EntryPart::Key
            }
        };
        Ok(())
    }

    fn end_header_line(&mut self, place: TextPlace) -> Result<()> {
        let line = std::mem::take(&mut self.line);
        let wrong =
            |expected: &str| Err(place.wrong(expected, &format!("{:?}", excerpt_of_bytes(&line))));
        self.line_count += 1;
        match line.as_slice() {
            b"VERSION=3" if self.line_count == 1 => {}
            _ if self.line_count == 1 => return wrong("VERSION=3"),
            b"format=bytevalue" => self.form = Some(DbForm::Digits),
            b"format=print" => self.form = Some(DbForm::Print),
            b"type=btree" | b"type=hash" => self.has_type = true,
            b"HEADER=END" if self.form.is_none() => return wrong("format= before the end"),
            b"HEADER=END" if !self.has_type => return wrong("type= before the end"),
            b"HEADER=END" => self.state = DbState::LineStart,
            b"keys=0" => return wrong("entries with keys"),
            _ if line.starts_with(b"format=") => return wrong("format=bytevalue or format=print"),
            _ if line.starts_with(b"type=") => return wrong("type=btree or type=hash"),
            _ if line.contains(&b'=') => {}
            _ => return wrong("NAME=VALUE in the header"),
        }
        Ok(())
    }

    fn expected_line(&self) -> &'static str {
        match self.part {
            EntryPart::Key => "a space before a key, or DATA=END",
            EntryPart::Value => "a space before a value",
        }
    }

    fn shown_line(&self) -> String {
        format!("{:?}", excerpt_of_bytes(&self.line))
    }

    /// Returns what is missing where the text ends here; None where it may.
    pub(super) fn expected_at_end(&self) -> Option<&'static str> {
        match self.state {
            DbState::Ended => None,
            DbState::Trailer if self.line == DATA_END => None,
            DbState::Header => Some("HEADER=END"),
            _ => Some("DATA=END"),
        }
    }
}
