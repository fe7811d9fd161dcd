//! A copy of a table in a file of its own, made while the table is in use.
//!
//! The copy holds the entries of one moment: a snapshot is taken at once, and written to the file while
//! others go on to change the table.

use std::path::Path;

use super::file::TableKind;
use super::new_file::{Existing, NewFile};
use super::{Scan, Table, ValueType};
use crate::error::{Error, ErrorKind, Result};

// Bound (Tables): backup while it is written = a transaction of 16,384 entries of the new file.
/// Bounds the time of a step, too.
const STEP_LEN: u64 = 16_384;

/// Options of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupOptions {
    /// Replace a table file that has the name already. Without it, such a file is an error.
    pub replace: bool,
}

/// The entries of a table at one moment, which are still to be written.
pub struct Backup {
    entries: Box<dyn Scan>,
    kind: TableKind,
    values: ValueType,
    len: u64,
}

impl Backup {
    /// Takes a snapshot of `table`, which is of `kind`. [`ErrorKind::Argument`] in a transaction, whose
    /// changes may still be taken back.
    pub fn of(table: &dyn Table, kind: TableKind) -> Result<Backup> {
        if table.depth() > 0 {
            let message = "expected no open transaction while a backup is taken, found one";
            return Err(Error::new(ErrorKind::Argument, message));
        }
        let snapshot = table.snapshot()?;
        let values = table.values();
        Ok(Backup { entries: snapshot.scan()?, kind, values, len: snapshot.len()? })
    }

    /// Says what the values of a table in memory are, which does not know it.
    #[must_use]
    pub fn with_values(self, values: ValueType) -> Backup {
        Backup { values, ..self }
    }

    /// Begins to write the file at `to`, a table of the same kind whatever its name.
    /// [`ErrorKind::Argument`] where there is a file of that name that is not to be replaced,
    /// [`ErrorKind::Lock`] where somebody writes to it, and [`ErrorKind::Format`] where it is no table.
    pub fn begin(self, to: &Path, options: BackupOptions) -> Result<BackupFile> {
        let existing = if options.replace { Existing::Replace } else { Existing::Refuse };
        let file = NewFile::create(to, self.kind, self.values, existing)?;
        Ok(BackupFile { file, backup: self, written: 0 })
    }

    /// Writes the whole file at `to`, and gives the number of its entries.
    pub fn write(self, to: &Path, options: BackupOptions) -> Result<u64> {
        let mut file = self.begin(to, options)?;
        while file.step()? {}
        file.finish()
    }
}

/// A backup that is being written. The file has its name after [`BackupFile::finish`]; without it,
/// nothing of the file is left.
pub struct BackupFile {
    file: NewFile,
    backup: Backup,
    written: u64,
}

impl BackupFile {
    /// Writes some more entries, which takes a fraction of a second, and says whether there may be more.
    pub fn step(&mut self) -> Result<bool> {
        let table = self.file.table_mut().as_table_mut();
        table.begin()?;
        let mut has_more = true;
        for _ in 0..STEP_LEN {
            let Some((key, value)) = self.backup.entries.advance()? else {
                has_more = false;
                break;
            };
            table.put(key, value)?;
            self.written += 1;
        }
        table.commit()?;
        Ok(has_more)
    }

    /// Entries so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Makes the file last and gives it its name. The answer is the number of its entries.
    pub fn finish(mut self) -> Result<u64> {
        let (expected, found) = (self.backup.len, self.file.table_mut().as_table_mut().len()?);
        if expected != found {
            let message = format!("expected a backup of {expected} entries, found {found} in it");
            return Err(Error::internal(message));
        }
        self.file.finish()?;
        Ok(found)
    }
}
