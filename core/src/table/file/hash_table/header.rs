//! Header of a hashed table's file, whose frames are those of [`files::CommitLog`]; `docs/hash-table-file.md` draws
//! both.
//!
//! ```text
//! file:    header, the same header again, to 4096: what processes share, to 69632: frames
//! header:  magic 8   format 4   0 4   seed 8   generation 8   first transaction 8   closed length 8
//!          values 12   check 4
//! ```
//!
//! Numbers are little-endian. The salt of the frames is made of the seed and the generation.

use crate::error::Result;
use crate::files::{self, CommitLog, FileKind, HEADER_LEN, LogHeader, PAGE_LEN, Salt, Storage};
use crate::table::ValueType;
use crate::table::file::sharing::{AREA_PAGE, AREA_PAGES};
use crate::wire::Endian;

/// First bytes of a file.
pub(in crate::table::file) const MAGIC: &[u8; 8] = b"\x89BWH\r\n\x1a\n";

const KIND: FileKind = FileKind { name: "a hashed table", magic: MAGIC, format: 2 };

/// Bytes of the header and its copy.
pub(super) const HEADERS_LEN: usize = 2 * HEADER_LEN;

/// Offset of the first frame: behind the pages of the headers and of what processes share.
pub(super) const LOG_START: u64 = (AREA_PAGE + AREA_PAGES) as u64 * PAGE_LEN as u64;

// Bound (Tables): length of a hashed table's file = 1 TiB.
/// As much as an index can point into.
pub(super) const LOG_END_MAX: u64 = 1 << 40;

/// Facts about the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HashLogHeader {
    /// Of the hash of keys, and so of the checks.
    pub(super) seed: u64,
    /// Number of times that the whole table was written, from 1.
    pub(super) generation: u64,
    /// The number of the file's first transaction.
    pub(super) first_transaction: u64,
    /// The length that the file had when it was closed last: it is never shorter. 0 where it was not
    /// closed yet.
    pub(super) closed_len: u64,
    /// Type of the values.
    pub(super) values: ValueType,
}

impl HashLogHeader {
    /// The header and its copy.
    pub(super) fn to_bytes(self) -> [u8; HEADERS_LEN] {
        let header = KIND.header(&[
            &self.seed.to_le_bytes(),
            &self.generation.to_le_bytes(),
            &self.first_transaction.to_le_bytes(),
            &self.closed_len.to_le_bytes(),
            &self.values.to_bytes(),
        ]);
        let mut bytes = [0; HEADERS_LEN];
        bytes[..HEADER_LEN].copy_from_slice(&header);
        bytes[HEADER_LEN..].copy_from_slice(&header);
        bytes
    }

    /// Returns the numbers that tell the file from all others.
    #[inline]
    pub(super) fn identity(&self) -> [u64; 2] {
        [self.seed, self.generation]
    }

    /// Makes a file without frames of `storage`, which is empty. Until it is whole, it begins with zeros.
    pub(super) fn write_new(&self, storage: &dyn Storage) -> std::io::Result<()> {
        storage.set_len(LOG_START)?;
        storage.write_at(0, &self.to_bytes())
    }

    /// The header in the beginning of a file: as many bytes as there are of [`HEADERS_LEN`]. Of two
    /// whole copies the later one: a crash may come between the writing of the one and the other.
    /// `None` where neither is whole.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Option<HashLogHeader>> {
        let mut latest: Option<HashLogHeader> = None;
        for copy in bytes.chunks_exact(HEADER_LEN) {
            let header = Self::from_copy(copy)?;
            let is_later = |header: &HashLogHeader| {
                latest.is_none_or(|latest| header.closed_len > latest.closed_len)
            };
            latest = header.filter(is_later).or(latest);
        }
        Ok(latest)
    }

    fn from_copy(header: &[u8]) -> Result<Option<HashLogHeader>> {
        let Some(mut fields) = KIND.fields(header)? else { return Ok(None) };
        let mut number = || fields.u64(Endian::Little).unwrap_or_default();
        let (seed, generation, first_transaction, closed_len) =
            (number(), number(), number(), number());
        let values = ValueType::from_header(fields.rest(), 48)?;
        Ok(Some(HashLogHeader { seed, generation, first_transaction, closed_len, values }))
    }
}

impl LogHeader for HashLogHeader {
    const READ: &'static str = "read the table";

    fn salt(&self) -> Salt {
        let mut identity = [0; 16];
        identity[..8].copy_from_slice(&self.seed.to_le_bytes());
        identity[8..].copy_from_slice(&self.generation.to_le_bytes());
        Salt::of(&identity)
    }
}

/// Log of one generation of a table.
pub(super) type Log = CommitLog<HashLogHeader>;

/// Reader of such a log.
pub(super) type LogReader = files::LogReader<HashLogHeader>;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const HEADER: HashLogHeader = HashLogHeader {
        seed: 1,
        generation: 2,
        first_transaction: 3,
        closed_len: 4,
        values: ValueType::INTEGER,
    };

    #[test]
    fn one_of_the_two_headers_is_enough() {
        let whole = HEADER.to_bytes();
        assert_eq!(HashLogHeader::from_bytes(&whole).unwrap(), Some(HEADER));
        for at in 0..whole.len() {
            let mut bytes = whole;
            bytes[at] ^= 0x10;
            assert_eq!(HashLogHeader::from_bytes(&bytes).unwrap(), Some(HEADER), "byte {at}");
        }
        let mut bytes = whole;
        (bytes[20], bytes[100]) = (bytes[20] ^ 1, bytes[100] ^ 1);
        assert_eq!(HashLogHeader::from_bytes(&bytes).unwrap(), None);
        assert_eq!(HashLogHeader::from_bytes(&whole[..63]).unwrap(), None);
    }

    #[test]
    fn of_two_whole_headers_the_later_one_counts() {
        let earlier = HashLogHeader { closed_len: 0, ..HEADER };
        for later_first in [true, false] {
            let (first, second) = if later_first { (HEADER, earlier) } else { (earlier, HEADER) };
            let mut bytes = first.to_bytes();
            bytes[HEADER_LEN..].copy_from_slice(&second.to_bytes()[HEADER_LEN..]);
            assert_eq!(HashLogHeader::from_bytes(&bytes).unwrap(), Some(HEADER));
        }
    }
}
