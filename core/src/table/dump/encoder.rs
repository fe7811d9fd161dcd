//! The text of a dump: what comes before the entries, each of them, and what comes behind.

use super::DumpFormat;
use crate::error::Result;
use crate::table::file::TableKind;

// Bound (Tables): text of a dump while it is written = 256 KiB.
const GATHERED_MAX: usize = 256 << 10;

/// Takes text that was gathered, all of it.
pub(super) type TakeText<'a> = &'a mut dyn FnMut(&mut Vec<u8>) -> Result<()>;

/// Bytes of all keys and values, and how many entries there are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DumpSize {
    pub(super) bytes: u64,
    pub(super) entries: u64,
}

impl DumpSize {
    /// The map of LMDB in which they have room, whatever the order in which they come: pages are half full at least, and a
    /// value that is too long for one has pages of its own.
    fn map_size(self) -> u64 {
        let taken = self.bytes.saturating_mul(4).saturating_add(self.entries.saturating_mul(128));
        taken.saturating_add(16 << 20).next_multiple_of(1 << 20)
    }
}

/// Writes the text of a dump.
#[derive(Debug)]
pub(super) struct DumpEncoder {
    format: DumpFormat,
    kind: TableKind,
    gathered: Vec<u8>,
}

impl DumpEncoder {
    pub(super) fn new(format: DumpFormat, kind: TableKind) -> Self {
        DumpEncoder { format, kind, gathered: Vec::new() }
    }

    pub(super) fn begin(&mut self, size: DumpSize) {
        let kind = match (self.format, self.kind) {
            (DumpFormat::Db, TableKind::Hashed) => "hash",
            // All that LMDB has.
            _ => "btree",
        };
        let header = match self.format {
            DumpFormat::Db => {
                format!("VERSION=3\nformat=bytevalue\ntype={kind}\nHEADER=END\n")
            }
            DumpFormat::Lmdb => {
                let map_size = size.map_size();
                format!("VERSION=3\nformat=bytevalue\ntype={kind}\nmapsize={map_size}\nHEADER=END\n")
            }
            DumpFormat::Sql => {
                "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE entries(key BLOB PRIMARY KEY, value BLOB);\n"
                    .to_owned()
            }
        };
        self.gathered.extend_from_slice(header.as_bytes());
    }

    pub(super) fn entry(&mut self, key: &[u8], value: &[u8], take: TakeText<'_>) -> Result<()> {
        let (before, between, behind): (&[u8], &[u8], &[u8]) = match self.format {
            DumpFormat::Db | DumpFormat::Lmdb => (b" ", b"\n ", b"\n"),
            DumpFormat::Sql => (b"INSERT INTO entries VALUES(X'", b"',X'", b"');\n"),
        };
        self.gathered.extend_from_slice(before);
        self.hex(key, take)?;
        self.gathered.extend_from_slice(between);
        self.hex(value, take)?;
        self.gathered.extend_from_slice(behind);
        Ok(())
    }

    pub(super) fn end(&mut self, take: TakeText<'_>) -> Result<()> {
        self.gathered.extend_from_slice(match self.format {
            DumpFormat::Db | DumpFormat::Lmdb => b"DATA=END\n",
            DumpFormat::Sql => b"COMMIT;\n",
        });
        take(&mut self.gathered)
    }

    /// Writes bytes as digits. What is long goes on in pieces.
    fn hex(&mut self, bytes: &[u8], take: TakeText<'_>) -> Result<()> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for piece in bytes.chunks(GATHERED_MAX / 2) {
            let digits =
                |byte: &u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
            self.gathered.extend(piece.iter().flat_map(digits));
            if self.gathered.len() >= GATHERED_MAX {
                take(&mut self.gathered)?;
            }
        }
        Ok(())
    }
}
