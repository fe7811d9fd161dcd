//! A new table file. It has no name before it is whole and safe from a power cut; where something fails
//! before that, it is gone.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::ValueType;
use super::file::{self, FileTable, HashTable, OpenOptions, SyncMode, TableKind, TreeTable};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{
    Directory, Displaced, FileDirectory, FileStorage, StorageMode, UnnamedDirectory,
};

/// Choice for a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// [`ErrorKind::Argument`].
    Refuse,
    /// Replace it, where it is a table that nobody is writing.
    Replace,
}

/// A table in a file that has not got its name yet.
pub(super) struct NewFile {
    table: FileTable,
    place: NewFilePlace,
    /// Directory of the table's files until they have names.
    unnamed: Arc<UnnamedDirectory>,
}

impl NewFile {
    /// An empty table of `kind`, whose values are `values`, that will be the file at `to`.
    pub(super) fn create(
        to: &Path,
        kind: TableKind,
        values: ValueType,
        existing: Existing,
    ) -> Result<NewFile> {
        let place = NewFilePlace::new(to, existing)?;
        // Fails early where finishing would.
        drop(place.claim()?);
        let unnamed = UnnamedDirectory::new(place.directory.clone(), place.name.clone());
        let unnamed = Arc::new(unnamed);
        let options = OpenOptions {
            create: true,
            sync: SyncMode::Never,
            values: Some(values),
            ..OpenOptions::default()
        };
        let (directory, shown) = (unnamed.clone(), &*place.shown);
        let table = match kind {
            TableKind::Hashed => {
                FileTable::Hashed(Box::new(HashTable::open_in(directory, shown, options)?))
            }
            TableKind::Ordered => {
                FileTable::Ordered(Box::new(TreeTable::open_in(directory, shown, options)?))
            }
        };
        Ok(NewFile { table, place, unnamed })
    }

    /// The table, to be filled.
    pub(super) fn table_mut(&mut self) -> &mut FileTable {
        &mut self.table
    }

    /// Makes what was committed safe from a power cut, and gives the file its name.
    pub(super) fn finish(self) -> Result<()> {
        let NewFile { mut table, place, unnamed } = self;
        table.as_table_mut().close()?;
        drop(table);
        let table = unnamed.take(OsStr::new(&place.shown));
        place.publish(&table.ok_or_else(|| Error::internal("a new table that is gone"))?)
    }
}

/// Keeps writers from the file that is about to be replaced.
enum OldFileClaim {
    NoFile,
    Locked { _file: FileStorage },
    Ordered { _table: FileTable },
}

/// Place of the new file.
struct NewFilePlace {
    directory: FileDirectory,
    existing: Existing,
    name: OsString,
    path: PathBuf,
    /// Name of the file in errors.
    shown: String,
}

impl NewFilePlace {
    fn new(to: &Path, existing: Existing) -> Result<NewFilePlace> {
        let shown = to.to_string_lossy().into_owned();
        let found = FileDirectory::find(to);
        let (directory, name) = found.map_err(|error| Error::io("open", &error).in_file(&shown))?;
        let path = directory.path_of(&name);
        Ok(NewFilePlace { directory, existing, name, path, shown })
    }

    fn failed(&self, action: &str, error: &io::Error) -> Error {
        Error::io(action, error).in_file(&self.shown)
    }

    /// Makes sure that the name is free, or that the file that has it may be replaced.
    fn claim(&self) -> Result<OldFileClaim> {
        let there = self.directory.id(&self.name).map_err(|e| self.failed("look for", &e))?;
        if there.is_none() {
            return Ok(OldFileClaim::NoFile);
        }
        if self.existing == Existing::Refuse {
            return Err(Error::new(
                ErrorKind::Argument,
                "expected the name of a new file, found a file that exists; it is not overwritten",
            )
            .in_file(&self.shown));
        }
        match file::kind_of_file(&self.path, false)? {
            Some(TableKind::Ordered) => {
                let _table = file::open(
                    &self.path,
                    None,
                    OpenOptions {
                        exclusive: true,
                        timeout: Duration::ZERO,
                        values: None,
                        ..OpenOptions::default()
                    },
                )?;
                Ok(OldFileClaim::Ordered { _table })
            }
            Some(TableKind::Hashed) | None => {
                let _file = FileStorage::open(&self.path, StorageMode::Write)?;
                Ok(OldFileClaim::Locked { _file })
            }
        }
    }

    /// Gives the files of a table their names.
    fn publish(&self, table: &FileStorage) -> Result<()> {
        let _claim = self.claim()?;
        let displaced = match self.existing {
            Existing::Refuse => Displaced::Nothing,
            Existing::Replace => Displaced::Any,
        };
        let published = || {
            self.directory.publish(table, &self.name, displaced)?;
            self.directory.sync()
        };
        published().map_err(|error| self.failed("name the new file", &error))
    }
}
