//! A new table file. It is written beside its place, and gets its name when it is whole and safe from
//! a power cut; where something fails before that, it is gone.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::Values;
use super::file::{self, FileTable, OpenOptions, SyncMode, TableKind};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{Directory, FileDirectory, FileStorage, StorageMode, name_beside};

/// What the name of the file ends in until it is whole.
const PART: &str = ".part";

/// What the names of files beside a table's end in.
const BESIDE: &[&str] = &[".idx", ".idx.new", ".new", ".log"];

/// What to do with a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// [`ErrorKind::Argument`].
    Refuse,
    /// Replace it, where it is a table that nobody is writing.
    Replace,
}

/// A table in a file that has not got its name yet.
pub(super) struct NewFile {
    // Closed before the file is removed.
    table: FileTable,
    part: Part,
}

impl NewFile {
    /// An empty table of `kind`, whose values are `values`, that will be the file at `to`.
    pub(super) fn create(
        to: &Path,
        kind: TableKind,
        values: Values,
        existing: Existing,
    ) -> Result<NewFile> {
        let names = Names::new(to, existing)?;
        // Fails early where finishing would.
        drop(names.claim()?);
        names.take_over()?;
        let part = Part { names };
        let options = OpenOptions {
            create: true,
            sync: SyncMode::Never,
            values: Some(values),
            ..OpenOptions::default()
        };
        let table = file::open(&part.names.part_path, Some(kind), options)
            .map_err(|error| error.renamed(PART, &part.names.shown))?;
        Ok(NewFile { table, part })
    }

    /// The table, to be filled.
    pub(super) fn table_mut(&mut self) -> &mut FileTable {
        &mut self.table
    }

    /// Makes what was committed safe from a power cut, and gives the file its name.
    pub(super) fn finish(self) -> Result<()> {
        let NewFile { mut table, part } = self;
        table.as_table_mut().close()?;
        drop(table);
        part.names.become_whole()
    }
}

/// The file under the name that it has until it is whole. It is gone with this.
struct Part {
    names: Names,
}

impl Drop for Part {
    fn drop(&mut self) {
        self.names.remove_part();
    }
}

/// Keeps writers from the file that is about to be replaced.
enum Claim {
    NoFile,
    // The hashed table is not opened: closing it would write its index beside the new file.
    Locked { _file: FileStorage },
    Ordered { _table: FileTable },
}

/// What the new file is called before and after.
struct Names {
    directory: FileDirectory,
    existing: Existing,
    part: OsString,
    part_path: PathBuf,
    whole: OsString,
    whole_path: PathBuf,
    /// What errors call the whole.
    shown: String,
}

impl Names {
    fn new(to: &Path, existing: Existing) -> Result<Names> {
        let shown = to.to_string_lossy().into_owned();
        let found = FileDirectory::find(to);
        let (directory, whole) =
            found.map_err(|error| Error::io("open", &error).in_file(&shown))?;
        let part = name_beside(&whole, PART);
        let (part_path, whole_path) = (directory.path_of(&part), directory.path_of(&whole));
        Ok(Names { directory, existing, part, part_path, whole, whole_path, shown })
    }

    fn failed(&self, action: &str, error: &io::Error) -> Error {
        Error::io(action, error).in_file(&self.shown)
    }

    /// Makes sure that the name is free, or that the file that has it may be replaced.
    fn claim(&self) -> Result<Claim> {
        let there = self.directory.id(&self.whole).map_err(|e| self.failed("look for", &e))?;
        if there.is_none() {
            return Ok(Claim::NoFile);
        }
        if self.existing == Existing::Refuse {
            return Err(Error::new(
                ErrorKind::Argument,
                "expected the name of a new file, found a file that exists; it is not overwritten",
            )
            .in_file(&self.shown));
        }
        match file::kind_of_file(&self.whole_path, false)? {
            Some(TableKind::Ordered) => {
                let _table = file::open(
                    &self.whole_path,
                    None,
                    OpenOptions { values: None, ..OpenOptions::default() },
                )?;
                Ok(Claim::Ordered { _table })
            }
            Some(TableKind::Hashed) | None => {
                let _file = FileStorage::open(&self.whole_path, StorageMode::Write)?;
                Ok(Claim::Locked { _file })
            }
        }
    }

    /// Removes what was left by a process that was killed, unless another process is writing it.
    fn take_over(&self) -> Result<()> {
        let there = self.directory.id(&self.part).map_err(|e| self.failed("look for", &e))?;
        if there.is_some() {
            match file::open(
                &self.part_path,
                None,
                OpenOptions { values: None, ..OpenOptions::default() },
            ) {
                Err(error) if error.kind() == ErrorKind::Lock => return Err(error),
                _ => self.remove_part(),
            }
        }
        Ok(())
    }

    fn remove_part(&self) {
        // Where it cannot be done, the next one who makes a file of the same name tries again.
        for name in std::iter::once(self.part.clone()).chain(beside(&self.part)) {
            let _ = self.directory.remove(&name);
        }
    }

    /// Gives the file its name.
    fn become_whole(&self) -> Result<()> {
        let _claim = self.claim()?;
        let renamed = || {
            for (part, whole) in beside(&self.part).zip(beside(&self.whole)) {
                // An index beside a file that it does not belong to is not used.
                if self.directory.id(&part)?.is_some() {
                    self.directory.rename(&part, &whole)?;
                } else if self.directory.id(&whole)?.is_some() {
                    self.directory.remove(&whole)?;
                }
            }
            match self.existing {
                Existing::Refuse => self.directory.rename_new(&self.part, &self.whole)?,
                Existing::Replace => self.directory.rename(&self.part, &self.whole)?,
            }
            self.directory.sync()
        };
        renamed().map_err(|error| self.failed("rename the new file", &error))
    }
}

/// The names of files that may lie beside a table's.
fn beside(name: &OsStr) -> impl Iterator<Item = OsString> {
    BESIDE.iter().map(move |ending| name_beside(name, ending))
}
