//! First 64 bytes of a file that is kept: its kind, its format, and fields of its owner, under one check.
//!
//! ```text
//! magic 8   format 4   0 4   fields 44   check 4: CRC32C of the 60 bytes before
//! ```
//!
//! Magic, format and check stay in place in every format, so that an older version refuses a newer file by its number.

use crate::error::{Error, Result};
use crate::wire::{Endian, Reader};

/// Bytes of a header.
pub(crate) const HEADER_LEN: usize = 64;

/// Bytes that the check covers.
const CHECKED_LEN: usize = HEADER_LEN - size_of::<u32>();

/// Kind of file that has such a header.
#[derive(Debug)]
pub(crate) struct FileKind {
    /// Name of the kind in errors, with its article.
    pub(crate) name: &'static str,
    /// First bytes. The last of them change when the file is copied as text.
    pub(crate) magic: &'static [u8; 8],
    /// The format that is read and written.
    pub(crate) format: u32,
}

impl FileKind {
    /// Makes a header of `fields` one behind the other, and zeros.
    pub(crate) fn header(&self, fields: &[&[u8]]) -> [u8; HEADER_LEN] {
        let mut header = [0; HEADER_LEN];
        header[..8].copy_from_slice(self.magic);
        header[8..12].copy_from_slice(&self.format.to_le_bytes());
        let mut rest = &mut header[16..CHECKED_LEN];
        for field in fields {
            let (place, behind) = rest.split_at_mut(field.len());
            place.copy_from_slice(field);
            rest = behind;
        }
        let check = crc32c::crc32c(&header[..CHECKED_LEN]).to_le_bytes();
        header[CHECKED_LEN..].copy_from_slice(&check);
        header
    }

    /// Finds the fields in `header`; `None` if it is not one of this kind, or does not match its check.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Format`](crate::error::ErrorKind::Format) if it is one of another format.
    pub(crate) fn fields<'h>(&self, header: &'h [u8]) -> Result<Option<Reader<'h>>> {
        let Some((checked, check)) = header.split_at_checked(CHECKED_LEN) else { return Ok(None) };
        if !checked.starts_with(self.magic) || crc32c::crc32c(checked).to_le_bytes() != *check {
            return Ok(None);
        }
        let mut fields = Reader::new(&checked[8..]);
        let format = fields.u32(Endian::Little).unwrap_or_default();
        if format != self.format {
            let expected = format_args!("{} in format {}", self.name, self.format);
            let found = match format < self.format {
                true => format!(
                    "format {format}, which an earlier draft of Bytewright wrote; dump it with that version, and load the dump"
                ),
                false => format!("format {format}, which another version of Bytewright wrote"),
            };
            return Err(Error::format(expected, found).at(8));
        }
        match fields.u32(Endian::Little) {
            Some(0) => Ok(Some(fields)),
            _ => {
                Err(Error::format("zeros in the unused bytes of the header", "other bytes").at(12))
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const KIND: FileKind = FileKind { name: "a test", magic: b"\x89BW?\r\n\x1a\n", format: 1 };

    #[test]
    fn a_header_has_its_fields_only_as_it_was_written() {
        let header = KIND.header(&[b"one", b"two"]);
        assert!(KIND.fields(&header).unwrap().unwrap().rest().starts_with(b"onetwo\0"));
        for at in 0..header.len() {
            let mut damaged = header;
            damaged[at] ^= 0x10;
            assert!(KIND.fields(&damaged).unwrap().is_none(), "byte {at}");
            assert!(KIND.fields(&header[..at]).unwrap().is_none(), "{at} bytes");
        }
    }

    #[test]
    fn a_header_of_another_format_is_refused_by_its_number() {
        let header = FileKind { format: 7, ..KIND }.header(&[]);
        let error = KIND.fields(&header).unwrap_err().to_string();
        assert!(error.contains("expected a test in format 1, found format 7"), "{error}");
    }
}
