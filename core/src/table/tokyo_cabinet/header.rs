//! Header of a file of Tokyo Cabinet, in either byte order.
//!
//! ```text
//!   0  "ToKyO CaBiNeT\n", then the version as text, zeros up to 32
//!  32  u8   kind: 0 hash, 1 B+ tree, 2 fixed length, 3 table
//!  33  u8   flags: 1 open for writing, 2 fatal error
//!  34  u8   alignment of records, as a power of two: their offsets are kept divided by it
//!  36  u8   options: 1 offsets of 64 bits, 2 deflate, 4 bzip2, 8 TCBS, 16 the program's own codec
//!  40  u64  buckets
//!  48  u64  records
//!  56  u64  length of the file that is in use
//!  64  u64  offset of the first record
//! 152  u64  number of the first leaf, in a tree
//! 184  u64  entries, in a tree
//! 256       buckets: an offset each
//! ```
//!
//! Nothing says the byte order. In the wrong one the numbers are astronomic.

use crate::error::{Error, Result};
use crate::files::Storage;
use crate::table::foreign::described;
use crate::wire::{Endian, Reader};

/// Beginning of every file.
pub(super) const MAGIC: &[u8] = b"ToKyO CaBiNeT\n";

const HEADER_LEN: usize = 256;

/// Offset of the count of records in the header of a hash.
const RECORD_COUNT_OFFSET: u64 = 48;

/// Offset of the count of entries in the header of a tree.
const ENTRY_COUNT_OFFSET: u64 = 184;

/// Structure that a database keeps its entries in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    /// A hash, `.tch`.
    Hash,
    /// A B+ tree, `.tcb`.
    Tree,
}

/// The options of a database.
#[derive(Debug, Clone, Copy)]
pub(super) struct DatabaseOptions(u8);

impl DatabaseOptions {
    /// Returns true if offsets have 64 bits, not 32.
    pub(super) fn is_large(self) -> bool {
        self.0 & 1 != 0
    }

    /// Returns true if values are deflated.
    pub(super) fn is_deflated(self) -> bool {
        self.0 & 2 != 0
    }

    /// The compression that is not undone here.
    fn unknown_codec(self) -> Option<&'static str> {
        match self.0 {
            bits if bits & 4 != 0 => Some("bzip2"),
            bits if bits & 8 != 0 => Some("TCBS"),
            bits if bits & 16 != 0 => Some("a codec of the program that wrote it"),
            _ => None,
        }
    }
}

/// Content of the header.
#[derive(Debug, Clone)]
pub(super) struct TokyoHeader {
    pub(super) kind: DatabaseKind,
    pub(super) endian: Endian,
    pub(super) options: DatabaseOptions,
    flags: u8,
    bucket_count: u64,
    record_count: u64,
    /// Bytes of the file that are in use.
    pub(super) used_len: u64,
    /// Offset of the first record.
    pub(super) first_record: u64,
    /// The number of a tree's first leaf.
    pub(super) first_leaf: u64,
    tree_entry_count: u64,
}

impl TokyoHeader {
    /// Reads the header of a file of `len` bytes.
    pub(super) fn read(storage: &dyn Storage, len: u64) -> Result<TokyoHeader> {
        let mut bytes = [0; HEADER_LEN];
        let there = len.min(HEADER_LEN as u64) as usize;
        storage.read_at(0, &mut bytes[..there]).map_err(|error| Error::io("read", &error))?;
        if !bytes.starts_with(MAGIC) {
            return Err(Error::format("a file of Tokyo Cabinet", described(&bytes[..there])).at(0));
        }
        if there < HEADER_LEN {
            return Err(Error::truncated("a header", HEADER_LEN as u64, len).at(0));
        }
        let kind = kind_of(bytes[32])?;
        let orders =
            [Endian::Little, Endian::Big].map(|order| TokyoHeader::parse(&bytes, kind, order));
        let header = orders.into_iter().flatten().find(|header| header.is_plausible(len));
        header.ok_or_else(|| {
            let what = "a header whose first record is after the buckets and within the file";
            Error::format(what, "another place in both byte orders").at(40)
        })
    }

    fn parse(bytes: &[u8; HEADER_LEN], kind: DatabaseKind, endian: Endian) -> Option<TokyoHeader> {
        let number = |offset: usize| Reader::new(bytes.get(offset..)?).u64(endian);
        Some(TokyoHeader {
            kind,
            endian,
            options: DatabaseOptions(bytes[36]),
            flags: bytes[33],
            bucket_count: number(40)?,
            record_count: number(48)?,
            used_len: number(56)?,
            first_record: number(64)?,
            first_leaf: number(152)?,
            tree_entry_count: number(184)?,
        })
    }

    fn is_plausible(&self, len: u64) -> bool {
        let width = if self.options.is_large() { 8 } else { 4 };
        let buckets = self.bucket_count.checked_mul(width);
        let buckets_end = buckets.and_then(|buckets| buckets.checked_add(HEADER_LEN as u64));
        buckets_end.is_some_and(|end| end <= self.first_record)
            && self.first_record <= self.used_len
            && self.first_record <= len
    }

    /// Entries, and where the header says so.
    pub(super) fn entry_count(&self) -> u64 {
        match self.kind {
            DatabaseKind::Hash => self.record_count,
            DatabaseKind::Tree => self.tree_entry_count,
        }
    }

    /// Returns true if its last writer did not close the file, or gave up on it.
    pub(super) fn is_left_open(&self) -> bool {
        self.flags & 3 != 0
    }

    /// An error where values are compressed in a way that is not undone here.
    pub(super) fn check_codec(&self) -> Result<()> {
        let Some(codec) = self.options.unknown_codec() else { return Ok(()) };
        let program = match self.kind {
            DatabaseKind::Hash => "tchmgr",
            DatabaseKind::Tree => "tcbmgr",
        };
        let found = format!("{codec}; `{program} optimize -td FILE` rewrites it with deflate");
        Err(Error::format("values as they are or deflated", found).at(36))
    }

    /// An error where `count` entries are not what the header says. A tree that was left open has its
    /// count of an earlier time.
    pub(super) fn check_count(&self, count: u64) -> Result<()> {
        if count == self.entry_count() || self.is_left_open() {
            return Ok(());
        }
        let offset = match self.kind {
            DatabaseKind::Hash => RECORD_COUNT_OFFSET,
            DatabaseKind::Tree => ENTRY_COUNT_OFFSET,
        };
        let expected = format!("{} entries, as the header says", self.entry_count());
        Err(Error::format(expected, count).at(offset))
    }
}

fn kind_of(number: u8) -> Result<DatabaseKind> {
    let found = match number {
        0 => return Ok(DatabaseKind::Hash),
        1 => return Ok(DatabaseKind::Tree),
        2 => "a fixed-length database".to_owned(),
        3 => "a table database".to_owned(),
        other => format!("a database of the unknown kind {other}"),
    };
    Err(Error::format("a hash or B+ tree database", found).at(32))
}
