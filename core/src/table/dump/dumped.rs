//! The entries of a table at one moment, as text that is written in pieces.

use super::DumpFormat;
use super::encoder::{DumpEncoder, DumpSize, TakeText};
use crate::error::{Error, ErrorKind, Result, excerpt_of_bytes};
use crate::table::file::{FileTable, TableKind};
use crate::table::tokyo_cabinet::DatabaseKind;
use crate::table::{KeyRange, Origin, Scan, Table};

// Bound (Tables): entries of a dump between two interrupts = 4,096.
/// A step takes a fraction of a second.
const STEP_LEN: usize = 4096;

/// The entries of a table at one moment, which are written as text.
///
/// ```
/// use bytewright::table::{Dump, DumpFormat, Table, memory};
/// use bytewright::table::file::TableKind;
/// # fn main() -> bytewright::Result<()> {
/// let mut table = memory::TreeTable::new();
/// table.put(b"key", b"value")?;
/// let mut dump = Dump::of(&table, TableKind::Ordered, DumpFormat::Sql)?;
/// let mut text = Vec::new();
/// while dump.step(&mut |piece| Ok(text.append(piece)))? {}
/// let text = String::from_utf8_lossy(&text);
/// assert!(text.contains("INSERT INTO entries VALUES(X'6b6579',X'76616c7565');"));
/// # Ok(())
/// # }
/// ```
pub struct Dump {
    /// Another scan over them, which is counted first where the header tells their size.
    counted: Option<Box<dyn Scan>>,
    entries: Box<dyn Scan>,
    encoder: DumpEncoder,
    size: DumpSize,
    is_begun: bool,
    written: u64,
    /// Key of the entry before, where a key may come again.
    last_key: Option<Vec<u8>>,
}

impl Dump {
    /// Takes a snapshot of `table`, which is of `kind`. [`ErrorKind::Argument`] in a transaction, whose changes may still be
    /// taken back.
    pub fn of(table: &dyn Table, kind: TableKind, format: DumpFormat) -> Result<Dump> {
        if table.depth() > 0 {
            let message = "expected no open transaction while a table is dumped, found one";
            return Err(Error::new(ErrorKind::Argument, message));
        }
        let snapshot = table.snapshot()?;
        Dump::of_scans(&mut || snapshot.scan(), kind, format)
    }

    /// Takes the entries of a file, also of one of Tokyo Cabinet's.
    pub fn of_origin(origin: &Origin, format: DumpFormat) -> Result<Dump> {
        let kind = match origin {
            Origin::Table(FileTable::Hashed(_)) => TableKind::Hashed,
            Origin::Table(FileTable::Ordered(_)) => TableKind::Ordered,
            Origin::TokyoCabinet(database) => match database.kind() {
                DatabaseKind::Hash => TableKind::Hashed,
                DatabaseKind::Tree => TableKind::Ordered,
            },
        };
        match origin {
            Origin::Table(table) => Dump::of(table.as_table(), kind, format),
            Origin::TokyoCabinet(_) => {
                let dump = Dump::of_scans(&mut || origin.scan(&KeyRange::ALL), kind, format)?;
                Ok(Dump { last_key: Some(Vec::new()), ..dump })
            }
        }
    }

    fn of_scans(
        scan: &mut dyn FnMut() -> Result<Box<dyn Scan>>,
        kind: TableKind,
        format: DumpFormat,
    ) -> Result<Dump> {
        let counted = (format == DumpFormat::Lmdb).then(&mut *scan).transpose()?;
        Ok(Dump {
            counted,
            entries: scan()?,
            encoder: DumpEncoder::new(format, kind),
            size: DumpSize::default(),
            is_begun: false,
            written: 0,
            last_key: None,
        })
    }

    /// Hands the text of some more entries to `take`, which takes all of it out of the vector, and returns true if there is
    /// more to do. After an error it is of no use.
    pub fn step(&mut self, take: &mut dyn FnMut(&mut Vec<u8>) -> Result<()>) -> Result<bool> {
        match &mut self.counted {
            Some(entries) => {
                if !self.size.add_some(entries.as_mut())? {
                    self.counted = None;
                }
                Ok(true)
            }
            None => self.write_some(take),
        }
    }

    fn write_some(&mut self, take: TakeText<'_>) -> Result<bool> {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.encoder.begin(self.size);
        }
        for _ in 0..STEP_LEN {
            let Some((key, value)) = self.entries.advance()? else {
                self.encoder.end(take)?;
                return Ok(false);
            };
            if let Some(last) = &mut self.last_key {
                if self.written > 0 && last == key {
                    return Err(several_values(key));
                }
                last.clear();
                last.extend_from_slice(key);
            }
            self.encoder.entry(key, value, take)?;
            self.written += 1;
        }
        Ok(true)
    }

    /// Entries so far.
    pub fn written(&self) -> u64 {
        self.written
    }
}

/// The error for a key of a tree of Tokyo Cabinet that no table can have so.
#[cold]
fn several_values(key: &[u8]) -> Error {
    let found = excerpt_of_bytes(key);
    Error::format(
        "one value for each key (convert the file with --duplicates first or last, and dump the new one)",
        format_args!("several for {found:?}"),
    )
}

impl DumpSize {
    /// Adds some more entries, and returns true if there may be others.
    fn add_some(&mut self, entries: &mut dyn Scan) -> Result<bool> {
        for _ in 0..STEP_LEN {
            let Some((key, value)) = entries.advance()? else { return Ok(false) };
            self.bytes += (key.len() + value.len()) as u64;
            self.entries += 1;
        }
        Ok(true)
    }
}
