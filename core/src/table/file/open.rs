//! The door to a table whose kind the file tells: by its beginning, or, before there is one, by its
//! name.

use std::path::Path;

use super::hash_table::{self, HashTable};
use super::options::OpenOptions;
use super::tree_table::{self, TreeTable};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{FileDirectory, FileStorage, Storage, StorageMode};
use crate::table::foreign::described;
use crate::table::tokyo_cabinet::Database;
use crate::table::{OrderedTable, Selection, Table};

/// `ENOENT`.
const NOT_FOUND: i32 = 2;

/// Bytes that are read of a file to tell its kind.
const BEGINNING_LEN: u64 = 32;

/// The kinds of tables that live in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// Finds keys by their hashes; `.bwh`.
    Hashed,
    /// Keeps keys in their order; `.bwt`.
    Ordered,
}

impl TableKind {
    /// The ending of the names of its files.
    pub const fn extension(self) -> &'static str {
        match self {
            TableKind::Hashed => "bwh",
            TableKind::Ordered => "bwt",
        }
    }

    /// The kind that a new table of that name is to be: [`ErrorKind::Argument`] where the name ends
    /// like none.
    pub fn of_name(path: &Path) -> Result<TableKind> {
        let is_ending = |kind: &TableKind| {
            path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(kind.extension()))
        };
        let kind = [TableKind::Hashed, TableKind::Ordered].into_iter().find(is_ending);
        kind.ok_or_else(|| {
            let message = "expected the name of a new table to end in .bwh (hashed) or .bwt \
                           (ordered), or its kind to be given";
            Error::new(ErrorKind::Argument, message).in_file(&path.to_string_lossy())
        })
    }

    /// The kind of the table in the file at `path`; nothing where that is missing, empty or something else.
    pub fn of_file(path: &Path) -> Result<Option<TableKind>> {
        let beginning = read_beginning(path, true);
        let beginning = beginning.map_err(|error| error.in_file(&path.to_string_lossy()))?;
        Ok(TableKind::of_beginning(&beginning))
    }

    pub(in crate::table) fn of_beginning(beginning: &[u8]) -> Option<TableKind> {
        if beginning.starts_with(hash_table::MAGIC) {
            return Some(TableKind::Hashed);
        }
        tree_table::is_beginning(beginning).then_some(TableKind::Ordered)
    }

    pub(in crate::table) const fn adjective(self) -> &'static str {
        match self {
            TableKind::Hashed => "a hashed table",
            TableKind::Ordered => "an ordered table",
        }
    }
}

/// An open table of either kind.
pub enum FileTable {
    /// One that finds keys by their hashes.
    Hashed(Box<dyn Table>),
    /// One that keeps keys in their order.
    Ordered(Box<dyn OrderedTable>),
}

impl FileTable {
    /// Returns its kind.
    pub fn kind(&self) -> TableKind {
        match self {
            FileTable::Hashed(_) => TableKind::Hashed,
            FileTable::Ordered(_) => TableKind::Ordered,
        }
    }

    /// Returns the operations that every table has.
    pub fn as_table(&self) -> &dyn Table {
        match self {
            FileTable::Hashed(table) => &**table,
            FileTable::Ordered(table) => &**table,
        }
    }

    /// Returns the operations that every table has, changes among them.
    pub fn as_table_mut(&mut self) -> &mut dyn Table {
        match self {
            FileTable::Hashed(table) => &mut **table,
            FileTable::Ordered(table) => &mut **table,
        }
    }

    /// Deletes the selected entries, all or none, and returns how many there were. [`ErrorKind::Argument`] for a hashed table.
    pub fn delete_range(&mut self, selection: &Selection) -> Result<u64> {
        match self {
            FileTable::Ordered(table) => selection.delete(&mut **table),
            FileTable::Hashed(_) => Err(Selection::needs_order()),
        }
    }

    /// The table, whatever its kind.
    pub fn into_table(self) -> Box<dyn Table> {
        match self {
            FileTable::Hashed(table) => table,
            FileTable::Ordered(table) => table,
        }
    }

    /// Returns the operations that only an ordered table has: [`ErrorKind::Argument`] for a hashed one.
    pub fn into_ordered(self) -> Result<Box<dyn OrderedTable>> {
        match self {
            FileTable::Ordered(table) => Ok(table),
            FileTable::Hashed(_) => Err(Error::new(
                ErrorKind::Argument,
                "expected an ordered table (.bwt), found a hashed one, which has no order",
            )),
        }
    }
}

/// Opens the table in the file at `path`. A file that holds something tells its kind; one to be made is
/// of `kind`, or of the kind that its name ends in.
///
/// [`ErrorKind::Format`] where the file holds something else than asked for, [`ErrorKind::Argument`]
/// where nothing tells the kind, and what opening a table of the kind fails with.
pub fn open(
    path: impl AsRef<Path>,
    kind: Option<TableKind>,
    options: OpenOptions,
) -> Result<FileTable> {
    let path = path.as_ref();
    let found = kind_of_file(path, options.create)?;
    let kind = match (found, kind) {
        (Some(found), Some(wanted)) if found != wanted => {
            return Err(Error::format(wanted.adjective(), found.adjective())
                .in_file(&path.to_string_lossy()));
        }
        (Some(kind), _) | (None, Some(kind)) => kind,
        (None, None) => TableKind::of_name(path)?,
    };
    match kind {
        TableKind::Ordered => Ok(FileTable::Ordered(Box::new(TreeTable::open(path, options)?))),
        TableKind::Hashed => Ok(FileTable::Hashed(Box::new(HashTable::open(path, options)?))),
    }
}

/// Returns true if the file at `path` holds anything. A missing or empty one is to be made, for which its folder must
/// be there: [`ErrorKind::Io`] if it is not.
pub fn holds_something(path: &Path) -> Result<bool> {
    let len = match FileStorage::open_unlocked(path, StorageMode::Follow) {
        Ok(file) => file.len().map_err(|error| Error::io("read", &error)),
        Err(error) if error.kind() == ErrorKind::Io(Some(NOT_FOUND)) => {
            let folder = FileDirectory::of(path).check_exists();
            folder.map(|()| 0).map_err(|error| Error::io("create", &error))
        }
        Err(error) => Err(error),
    };
    Ok(len.map_err(|error| error.in_file(&path.to_string_lossy()))? > 0)
}

/// Returns the kind of table that a file says it holds; `None` if the file is to be made.
pub(in crate::table) fn kind_of_file(
    path: &Path,
    may_be_missing: bool,
) -> Result<Option<TableKind>> {
    let in_file = |error: Error| error.in_file(&path.to_string_lossy());
    let beginning = read_beginning(path, may_be_missing).map_err(in_file)?;
    if beginning.is_empty() {
        return Ok(None);
    }
    let kind = TableKind::of_beginning(&beginning).ok_or_else(|| {
        let found = match Database::is_beginning(&beginning) {
            true => "one of Tokyo Cabinet, which can be read and converted only".to_owned(),
            false => described(&beginning),
        };
        in_file(Error::format("a table file of Bytewright", found).at(0))
    })?;
    Ok(Some(kind))
}

/// The first bytes of the file; none where it is to be made. Zeros are those of a file that another
/// process is making, or did not come to make: the kind's own opening tells.
fn read_beginning(path: &Path, may_be_missing: bool) -> Result<Vec<u8>> {
    let file = match FileStorage::open_unlocked(path, StorageMode::Follow) {
        Err(error) if may_be_missing && error.kind() == ErrorKind::Io(Some(NOT_FOUND)) => {
            return Ok(Vec::new());
        }
        file => file?,
    };
    let read = || {
        let mut beginning = vec![0; file.len()?.min(BEGINNING_LEN) as usize];
        file.read_at(0, &mut beginning).map(|()| beginning)
    };
    let beginning = read().map_err(|error| Error::io("read", &error))?;
    match beginning.iter().all(|byte| *byte == 0) {
        true => Ok(Vec::new()),
        false => Ok(beginning),
    }
}
