//! Bytes of a frame: its header, and its records with their checks.

use crc32c::crc32c_append;

use super::record::LogRecord;
use crate::wire::{Endian, Reader};

/// Bytes with which a frame begins.
pub(super) const FRAME_MAGIC: &[u8; 3] = b"\xf5BW";

/// Bytes of a frame before its payload.
pub(crate) const FRAME_HEADER_LEN: usize = 20;

/// Bytes behind each record.
pub(crate) const CHECK_LEN: usize = 4;

// Bound (Tables): records of an open transaction of a hashed table in a file = 4 MiB and one entry.
/// The longest payload with more than one record that a log of any length should have: a reader keeps that much at hand.
pub(crate) const PAYLOAD_LEN_MAX: usize = 4 << 20;

/// Initial value of the checks of one log.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Salt(u32);

impl Salt {
    /// Makes the salt of the log that `identity` tells from all others.
    pub(crate) fn of(identity: &[u8]) -> Salt {
        Salt(crc32c::crc32c(identity))
    }

    /// Computes the check of `bytes` that stand at `offset`.
    #[inline]
    fn check(self, offset: u64, bytes: &[u8]) -> u32 {
        crc32c_append(self.0 ^ offset as u32 ^ (offset >> 32) as u32, bytes)
    }
}

/// Facts about a frame beside its records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FrameFlags {
    // Row (frame-flags): 1 | commits: the frame is the last of its transaction
    pub(crate) commits: bool,
    // Row (frame-flags): 2 | follows sync: everything before this frame was synced before the frame was written
    pub(crate) follows_sync: bool,
    // Row (frame-flags): 4 | clears: all entries before this frame are deleted
    pub(crate) clears: bool,
    // Row (frame-flags): 8 | continues: the frame is not the first of its transaction
    pub(crate) continues: bool,
    // Row (frame-flags): 16 | closes: the table was closed after everything before this frame was synced
    /// Its record deletes a random key, so that no other history of the table has the same frame.
    pub(crate) closes: bool,
    // Row (frame-flags): 32 | room: the payload is not records but room for the index, or unused; no check covers it,
    // and the number is not one of a transaction
    pub(crate) is_room: bool,
    // Row (frame-flags): 64 | trimmed, beside 32: all transactions up to the end of the frame are gone, and the number
    // is that of the next one
    pub(crate) is_trimmed: bool,
}

impl FrameFlags {
    fn to_byte(self) -> u8 {
        u8::from(self.commits)
            | u8::from(self.follows_sync) << 1
            | u8::from(self.clears) << 2
            | u8::from(self.continues) << 3
            | u8::from(self.closes) << 4
            | u8::from(self.is_room) << 5
            | u8::from(self.is_trimmed) << 6
    }

    fn from_byte(byte: u8) -> Option<FrameFlags> {
        (byte < 128).then_some(FrameFlags {
            commits: byte & 1 != 0,
            follows_sync: byte & 2 != 0,
            clears: byte & 4 != 0,
            continues: byte & 8 != 0,
            closes: byte & 16 != 0,
            is_room: byte & 32 != 0,
            is_trimmed: byte & 64 != 0,
        })
    }
}

/// Frame in a log, as its header tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommitFrame {
    /// Place of the header.
    pub(crate) offset: u64,
    pub(crate) flags: FrameFlags,
    pub(super) payload_len: u32,
    /// Number of the commit.
    pub(crate) number: u64,
}

impl CommitFrame {
    /// Writes the header out.
    pub(super) fn to_bytes(self, salt: Salt) -> [u8; FRAME_HEADER_LEN] {
        let mut bytes = [0; FRAME_HEADER_LEN];
        bytes[..3].copy_from_slice(FRAME_MAGIC);
        bytes[3] = self.flags.to_byte();
        bytes[4..8].copy_from_slice(&self.payload_len.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        let check = salt.check(self.offset, &bytes[..16]).to_le_bytes();
        bytes[16..].copy_from_slice(&check);
        bytes
    }

    /// Reads the header at `offset`; `None` if there is no whole one.
    pub(super) fn from_bytes(bytes: &[u8], salt: Salt, offset: u64) -> Option<CommitFrame> {
        let mut reader = Reader::new(bytes);
        let checked: [u8; 16] = reader.array()?;
        let check = reader.u32(Endian::Little)?;
        let mut fields = Reader::new(&checked);
        if &fields.array()? != FRAME_MAGIC || salt.check(offset, &checked) != check {
            return None;
        }
        Some(CommitFrame {
            offset,
            flags: FrameFlags::from_byte(fields.u8()?)?,
            payload_len: fields.u32(Endian::Little)?,
            number: fields.u64(Endian::Little)?,
        })
    }

    /// Returns the place of its first record.
    pub(crate) fn payload(&self) -> u64 {
        self.offset.saturating_add(FRAME_HEADER_LEN as u64)
    }

    /// Returns the place behind it.
    pub(crate) fn end(&self) -> u64 {
        self.payload().saturating_add(u64::from(self.payload_len))
    }
}

/// Appends `record` and its check to `bytes`, of which the first stands at `start` of the log, and
/// returns the place of the record.
pub(super) fn put_record(
    bytes: &mut Vec<u8>,
    start: u64,
    record: &LogRecord<'_>,
    salt: Salt,
) -> u64 {
    let before = bytes.len();
    let offset = start + before as u64;
    record.put(offset, bytes);
    let check = salt.check(offset, &bytes[before..]);
    bytes.extend_from_slice(&check.to_le_bytes());
    offset
}

/// Reads the record that `bytes`, which stand at `offset`, begin with, and returns how many bytes it and its check
/// take, too. `None` if it is not whole or its check says otherwise.
#[inline]
pub(super) fn record_at(bytes: &[u8], salt: Salt, offset: u64) -> Option<(LogRecord<'_>, usize)> {
    let mut reader = Reader::new(bytes);
    let record = LogRecord::take(offset, &mut reader)?;
    let len = bytes.len() - reader.remaining();
    let check = reader.u32(Endian::Little)?;
    (salt.check(offset, &bytes[..len]) == check).then_some((record, len + CHECK_LEN))
}

/// Returns how many bytes the record that `bytes` begin with and its check take, by its first bytes, which
/// are not checked. `None` if they are too few.
pub(super) fn record_len(bytes: &[u8]) -> Option<u64> {
    let mut reader = Reader::new(bytes);
    reader.varint()?;
    let head = reader.varint()?;
    let value_len = if head & 1 == 1 { 0 } else { reader.varint()? };
    let lens = (bytes.len() - reader.remaining()) as u64 + CHECK_LEN as u64;
    lens.checked_add(head >> 1)?.checked_add(value_len)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::heap::record::HeapRecord;

    #[test]
    fn a_frame_is_one_only_where_it_was_written_and_as_it_was() {
        let flags = FrameFlags { commits: true, clears: true, ..FrameFlags::default() };
        let frame = CommitFrame { offset: 5000, flags, payload_len: 77, number: 1 << 40 };
        let salt = Salt::of(b"one");
        let bytes = frame.to_bytes(salt);
        assert_eq!(CommitFrame::from_bytes(&bytes, salt, 5000), Some(frame));
        assert_eq!(CommitFrame::from_bytes(&bytes, salt, 5001), None);
        assert_eq!(CommitFrame::from_bytes(&bytes, Salt::of(b"other"), 5000), None);
        for at in 0..bytes.len() {
            let mut damaged = bytes;
            damaged[at] ^= 0x80;
            assert_eq!(CommitFrame::from_bytes(&damaged, salt, 5000), None, "byte {at}");
            assert_eq!(CommitFrame::from_bytes(&bytes[..at], salt, 5000), None, "{at} bytes");
        }
    }

    #[test]
    fn a_record_is_one_only_where_it_was_written_and_as_it_was() {
        let salt = Salt::of(b"one");
        let record = HeapRecord::Entry { key: b"key", value: &[9; 300] };
        let record = LogRecord { record, replaced: 700 };
        let mut bytes = vec![0; 10];
        let offset = put_record(&mut bytes, 1000, &record, salt);
        assert_eq!(offset, 1010);
        let whole = bytes.split_off(10);
        assert_eq!(record_len(&whole[..5]), Some(whole.len() as u64));
        assert_eq!(record_at(&whole, salt, 1010), Some((record, whole.len())));
        assert_eq!(record_at(&whole, salt, 1011), None);
        assert_eq!(record_at(&whole, Salt::of(b"other"), 1010), None);
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x04;
            assert_eq!(record_at(&damaged, salt, 1010), None, "byte {at}");
            assert_eq!(record_at(&whole[..at], salt, 1010), None, "{at} bytes");
        }
    }
}
