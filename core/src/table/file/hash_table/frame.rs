//! How the log of a hashed table lies in its file; `docs/hash-table-file.md` draws it.
//!
//! ```text
//! file:    header, the same header again, frames
//! header:  magic 8   format 4   0 4   seed 8   generation 8   first transaction 8   closed length 8
//!          values 12   check 4
//! frame:   magic 3   flags 1   payload length 4   transaction 8   check 4   payload
//! payload: records of `heap::record`, a check of 4 bytes behind each
//! ```
//!
//! Numbers are little-endian. Each check depends on the file's seed and generation and on the place
//! where it stands, so that bytes of another file, of an earlier generation or of another place are
//! never taken for what belongs there, not even where a value holds a copy of a table.

use crc32c::crc32c_append;

use crate::error::{Error, Result};
use crate::heap::record::Record;
use crate::table::Values;
use crate::wire::{Endian, Reader};

/// The format that is read and written.
const FORMAT: u32 = 1;

/// How a file begins. The last bytes change when it is copied as text.
pub(in crate::table::file) const MAGIC: &[u8; 8] = b"\x89BWH\r\n\x1a\n";

/// Bytes of one header.
pub(super) const HEADER_LEN: usize = 64;

/// Where the frames begin: after the header and its copy.
pub(super) const LOG_START: u64 = 2 * HEADER_LEN as u64;

/// How a frame begins.
pub(super) const FRAME_MAGIC: &[u8; 3] = b"\xf5BW";

/// Bytes of a frame before its payload.
pub(super) const FRAME_HEADER_LEN: usize = 20;

/// Bytes behind each record.
pub(super) const CHECK_LEN: usize = 4;

/// The longest payload with more than one record, so that a reader needs no more memory than that
/// and what the longest record takes.
pub(super) const PAYLOAD_LEN_MAX: usize = 4 << 20;

/// The end of the longest log: what an index can point into.
pub(super) const LOG_END_MAX: u64 = 1 << 40;

/// What is the same for the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Of the hash of keys, and so of the checks.
    pub(super) seed: u64,
    /// How many times the table was written anew.
    pub(super) generation: u64,
    /// The number of the file's first transaction.
    pub(super) first_transaction: u64,
    /// The length that the file had when it was closed last: it is never shorter. 0 where it was not
    /// closed yet.
    pub(super) closed_len: u64,
    /// What the values are.
    pub(super) values: Values,
}

impl Header {
    /// The header and its copy.
    pub(super) fn to_bytes(self) -> [u8; LOG_START as usize] {
        let mut header = [0; HEADER_LEN];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        header[16..24].copy_from_slice(&self.seed.to_le_bytes());
        header[24..32].copy_from_slice(&self.generation.to_le_bytes());
        header[32..40].copy_from_slice(&self.first_transaction.to_le_bytes());
        header[40..48].copy_from_slice(&self.closed_len.to_le_bytes());
        header[48..60].copy_from_slice(&self.values.to_bytes());
        let check = crc32c::crc32c(&header[..60]).to_le_bytes();
        header[60..].copy_from_slice(&check);
        let mut bytes = [0; LOG_START as usize];
        bytes[..HEADER_LEN].copy_from_slice(&header);
        bytes[HEADER_LEN..].copy_from_slice(&header);
        bytes
    }

    /// The header in the beginning of a file: as many bytes as there are of [`LOG_START`]. Of two
    /// whole copies the later one: a crash may come between the writing of the one and the other.
    /// `None` where neither is whole.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Option<Header>> {
        let mut latest: Option<Header> = None;
        for copy in bytes.chunks_exact(HEADER_LEN) {
            let header = Self::from_copy(copy)?;
            let is_later =
                |header: &Header| latest.is_none_or(|latest| header.closed_len > latest.closed_len);
            latest = header.filter(is_later).or(latest);
        }
        Ok(latest)
    }

    fn from_copy(header: &[u8]) -> Result<Option<Header>> {
        let check = crc32c::crc32c(&header[..60]).to_le_bytes();
        if !header.starts_with(MAGIC) || header[60..] != check {
            return Ok(None);
        }
        let mut fields = Reader::new(&header[8..60]);
        let format = fields.u32(Endian::Little).unwrap_or_default();
        if format != FORMAT {
            return Err(Error::format(
                format_args!("a hashed table in format {FORMAT}"),
                format_args!("format {format}, which another version of Bytewright wrote"),
            )
            .at(8));
        }
        let zero = fields.u32(Endian::Little);
        let mut number = || fields.u64(Endian::Little).unwrap_or_default();
        let (seed, generation, first_transaction, closed_len) =
            (number(), number(), number(), number());
        let values = Values::from_bytes(fields.rest());
        let Some(values) = values.filter(|_| zero == Some(0)) else {
            return Err(
                Error::format("zeros in the unused bytes of the header", "other bytes").at(12)
            );
        };
        Ok(Some(Header { seed, generation, first_transaction, closed_len, values }))
    }

    /// What the checks of this file begin with.
    pub(super) fn salt(&self) -> Salt {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.seed.to_le_bytes());
        bytes[8..].copy_from_slice(&self.generation.to_le_bytes());
        Salt(crc32c::crc32c(&bytes))
    }
}

/// What the checks of one generation of one file begin with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Salt(u32);

impl Salt {
    /// The check of `bytes` that stand at `offset`.
    #[inline]
    pub(super) fn check(self, offset: u64, bytes: &[u8]) -> u32 {
        crc32c_append(self.0 ^ offset as u32 ^ (offset >> 32) as u32, bytes)
    }
}

/// What a frame is beside its records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// It ends its transaction. One without is followed by more of the same transaction.
    pub(super) commits: bool,
    /// All of the file before it had been made to survive a power cut when it was written.
    pub(super) follows_sync: bool,
    /// It begins with taking out all entries.
    pub(super) clears: bool,
    /// It is of the transaction of the frame before it.
    pub(super) continues: bool,
    /// It was added by closing the table. Its record deletes a random key, so that no other history
    /// of the table has the same frame.
    pub(super) closes: bool,
}

impl Flags {
    fn to_byte(self) -> u8 {
        u8::from(self.commits)
            | u8::from(self.follows_sync) << 1
            | u8::from(self.clears) << 2
            | u8::from(self.continues) << 3
            | u8::from(self.closes) << 4
    }

    fn from_byte(byte: u8) -> Option<Flags> {
        (byte < 32).then_some(Flags {
            commits: byte & 1 != 0,
            follows_sync: byte & 2 != 0,
            clears: byte & 4 != 0,
            continues: byte & 8 != 0,
            closes: byte & 16 != 0,
        })
    }
}

/// The beginning of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub(super) flags: Flags,
    pub(super) payload_len: u32,
    pub(super) transaction: u64,
}

impl FrameHeader {
    /// Its bytes at `offset`.
    pub(super) fn to_bytes(self, salt: Salt, offset: u64) -> [u8; FRAME_HEADER_LEN] {
        let mut bytes = [0; FRAME_HEADER_LEN];
        bytes[..3].copy_from_slice(FRAME_MAGIC);
        bytes[3] = self.flags.to_byte();
        bytes[4..8].copy_from_slice(&self.payload_len.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.transaction.to_le_bytes());
        let check = salt.check(offset, &bytes[..16]).to_le_bytes();
        bytes[16..].copy_from_slice(&check);
        bytes
    }

    /// What stands at `offset`; `None` where that is no whole beginning of a frame.
    pub(super) fn from_bytes(bytes: &[u8], salt: Salt, offset: u64) -> Option<FrameHeader> {
        let mut reader = Reader::new(bytes);
        let checked: [u8; 16] = reader.array()?;
        let check = reader.u32(Endian::Little)?;
        let mut fields = Reader::new(&checked);
        if &fields.array()? != FRAME_MAGIC || salt.check(offset, &checked) != check {
            return None;
        }
        Some(FrameHeader {
            flags: Flags::from_byte(fields.u8()?)?,
            payload_len: fields.u32(Endian::Little)?,
            transaction: fields.u64(Endian::Little)?,
        })
    }

    /// Where a frame that stands at `offset` ends.
    pub(super) fn end(&self, offset: u64) -> u64 {
        offset.saturating_add(FRAME_HEADER_LEN as u64).saturating_add(u64::from(self.payload_len))
    }
}

/// Appends `record` and its check to `bytes`, of which the first stands at `start` of the file, and
/// says where the record begins.
pub(super) fn put_record(bytes: &mut Vec<u8>, start: u64, record: &Record<'_>, salt: Salt) -> u64 {
    let before = bytes.len();
    let offset = start + before as u64;
    record.put(bytes);
    let check = salt.check(offset, &bytes[before..]);
    bytes.extend_from_slice(&check.to_le_bytes());
    offset
}

/// The record that `bytes`, which stand at `offset`, begin with, and how many bytes it and its check
/// take. `None` where it is not whole or its check says otherwise.
#[inline]
pub(super) fn record_at(bytes: &[u8], salt: Salt, offset: u64) -> Option<(Record<'_>, usize)> {
    let mut reader = Reader::new(bytes);
    let record = Record::take(&mut reader)?;
    let len = bytes.len() - reader.remaining();
    let check = reader.u32(Endian::Little)?;
    (salt.check(offset, &bytes[..len]) == check).then_some((record, len + CHECK_LEN))
}

/// How many bytes the record that `bytes` begin with and its check take, by its first bytes, which
/// are not checked. `None` where they are too few.
pub(super) fn record_len(bytes: &[u8]) -> Option<u64> {
    let mut reader = Reader::new(bytes);
    let head = reader.varint()?;
    let value_len = if head & 1 == 1 { 0 } else { reader.varint()? };
    let lens = (bytes.len() - reader.remaining()) as u64 + CHECK_LEN as u64;
    lens.checked_add(head >> 1)?.checked_add(value_len)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        seed: 1,
        generation: 2,
        first_transaction: 3,
        closed_len: 4,
        values: Values::INTEGER,
    };

    #[test]
    fn one_of_the_two_headers_is_enough() {
        let whole = HEADER.to_bytes();
        assert_eq!(Header::from_bytes(&whole).unwrap(), Some(HEADER));
        for at in 0..whole.len() {
            let mut bytes = whole;
            bytes[at] ^= 0x10;
            assert_eq!(Header::from_bytes(&bytes).unwrap(), Some(HEADER), "byte {at}");
        }
        let mut bytes = whole;
        (bytes[20], bytes[100]) = (bytes[20] ^ 1, bytes[100] ^ 1);
        assert_eq!(Header::from_bytes(&bytes).unwrap(), None);
        assert_eq!(Header::from_bytes(&whole[..63]).unwrap(), None);
    }

    #[test]
    fn of_two_whole_headers_the_later_one_counts() {
        let earlier = Header { closed_len: 0, ..HEADER };
        for later_first in [true, false] {
            let (first, second) = if later_first { (HEADER, earlier) } else { (earlier, HEADER) };
            let mut bytes = first.to_bytes();
            bytes[HEADER_LEN..].copy_from_slice(&second.to_bytes()[HEADER_LEN..]);
            assert_eq!(Header::from_bytes(&bytes).unwrap(), Some(HEADER));
        }
    }

    #[test]
    fn a_frame_is_one_only_where_it_was_written_and_as_it_was() {
        let flags = Flags { commits: true, clears: true, ..Flags::default() };
        let frame = FrameHeader { flags, payload_len: 77, transaction: 1 << 40 };
        let salt = HEADER.salt();
        let bytes = frame.to_bytes(salt, 5000);
        assert_eq!(FrameHeader::from_bytes(&bytes, salt, 5000), Some(frame));
        assert_eq!(FrameHeader::from_bytes(&bytes, salt, 5001), None);
        let other = Header { generation: 3, ..HEADER }.salt();
        assert_eq!(FrameHeader::from_bytes(&bytes, other, 5000), None);
        for at in 0..bytes.len() {
            let mut damaged = bytes;
            damaged[at] ^= 0x80;
            assert_eq!(FrameHeader::from_bytes(&damaged, salt, 5000), None, "byte {at}");
            assert_eq!(FrameHeader::from_bytes(&bytes[..at], salt, 5000), None, "{at} bytes");
        }
    }

    #[test]
    fn a_record_is_one_only_where_it_was_written_and_as_it_was() {
        let salt = HEADER.salt();
        let record = Record::Entry { key: b"key", value: &[9; 300] };
        let mut bytes = vec![0; 10];
        let offset = put_record(&mut bytes, 1000, &record, salt);
        assert_eq!(offset, 1010);
        let whole = bytes.split_off(10);
        assert_eq!(record_len(&whole[..3]), Some(whole.len() as u64));
        assert_eq!(record_at(&whole, salt, 1010), Some((record, whole.len())));
        assert_eq!(record_at(&whole, salt, 1011), None);
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x04;
            assert_eq!(record_at(&damaged, salt, 1010), None, "byte {at}");
            assert_eq!(record_at(&whole[..at], salt, 1010), None, "{at} bytes");
        }
    }
}
