//! A file to take entries out of: a table of ours, or one of Tokyo Cabinet.

use std::path::Path;

use super::file::{self, FileTable, OpenOptions};
use super::tokyo_cabinet::{self, Database};
use super::{ChangePosition, Changes, KeyRange, Scan, ValueType};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{FileStorage, Storage, StorageMode};

/// A file of entries that is open for reading. Its content tells what it is.
pub enum Origin {
    /// A table of ours.
    Table(FileTable),
    /// A hash or a tree of Tokyo Cabinet.
    TokyoCabinet(Database),
}

impl Origin {
    /// Opens the file at `path`; of a table of ours all is checked first where `verify` says so.
    pub fn open(path: impl AsRef<Path>, verify: bool) -> Result<Origin> {
        let path = path.as_ref();
        if is_of_tokyo_cabinet(path)? {
            return Ok(Origin::TokyoCabinet(Database::open(path)?));
        }
        let options =
            OpenOptions { read_only: true, verify, values: None, ..OpenOptions::default() };
        Ok(Origin::Table(file::open(path, None, options)?))
    }

    /// Returns the name of its kind, for people.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Origin::Table(FileTable::Hashed(_)) => "hashed",
            Origin::Table(FileTable::Ordered(_)) => "ordered",
            Origin::TokyoCabinet(database) => match database.kind() {
                tokyo_cabinet::DatabaseKind::Hash => "Tokyo Cabinet hash",
                tokyo_cabinet::DatabaseKind::Tree => "Tokyo Cabinet tree",
            },
        }
    }

    /// Returns the type of the values.
    pub fn values(&self) -> ValueType {
        match self {
            Origin::Table(table) => table.as_table().values(),
            Origin::TokyoCabinet(_) => ValueType::BYTES,
        }
    }

    /// Number of entries, as the file has it.
    pub fn len(&self) -> Result<u64> {
        match self {
            Origin::Table(table) => table.as_table().len(),
            Origin::TokyoCabinet(database) => Ok(database.record_count()),
        }
    }

    /// Returns true if there is no entry.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Returns true if its writer did not come to close it, so that some of its entries may be missing. Tables of ours
    /// are whole all the same.
    pub fn is_left_open(&self) -> bool {
        match self {
            Origin::Table(_) => false,
            Origin::TokyoCabinet(database) => database.is_left_open(),
        }
    }

    /// Returns the changes behind `since`, as [`crate::table::Table::changes_since`].
    pub fn changes_since(&self, since: Option<&ChangePosition>) -> Result<Box<dyn Changes>> {
        match self {
            Origin::Table(table) => table.as_table().changes_since(since),
            Origin::TokyoCabinet(_) => Err(ChangePosition::needs_log()),
        }
    }

    /// Shows `found` the value of `key`, and says whether there is one.
    pub fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        match self {
            Origin::Table(table) => table.as_table().get_with(key, found),
            Origin::TokyoCabinet(database) => database.get_with(key, found),
        }
    }

    /// Shows `found` the value of each key with its index in `keys`, or nothing without one; of a table of ours those of one
    /// commit.
    pub fn get_many(
        &self,
        keys: &[&[u8]],
        found: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        if let Origin::Table(table) = self {
            return table.as_table().get_many(keys, found);
        }
        for (place, key) in keys.iter().enumerate() {
            if !self.get_with(key, &mut |value| found(place, Some(value)))? {
                found(place, None);
            }
        }
        Ok(())
    }

    /// The entries whose keys are in `range`: of an ordered table in the order of its keys, of others
    /// in their own order, where all are looked at. [`ErrorKind::Argument`] where those are to come
    /// in reverse.
    pub fn scan(&self, range: &KeyRange) -> Result<Box<dyn Scan>> {
        let entries = match self {
            Origin::Table(FileTable::Ordered(table)) => {
                return table.ordered_snapshot()?.scan_range(range);
            }
            _ if range.reverse => {
                return Err(Error::new(
                    ErrorKind::Argument,
                    "expected an ordered table to read in reverse (convert it to .bwt), found one \
                     of another kind",
                ));
            }
            Origin::Table(table) => table.as_table().snapshot()?.scan()?,
            Origin::TokyoCabinet(database) => database.scan()?,
        };
        Ok(match *range == KeyRange::ALL {
            true => entries,
            false => Box::new(Chosen {
                entries,
                range: range.clone(),
                key: Vec::new(),
                value: Vec::new(),
            }),
        })
    }
}

fn is_of_tokyo_cabinet(path: &Path) -> Result<bool> {
    let file = FileStorage::open_unlocked(path, StorageMode::Follow)?;
    let read = || {
        let mut beginning = [0; 32];
        let there = file.len()?.min(beginning.len() as u64) as usize;
        file.read_at(0, &mut beginning[..there])?;
        Ok(Database::is_beginning(&beginning[..there]))
    };
    read().map_err(|error| Error::io("read", &error).in_file(&path.to_string_lossy()))
}

/// Those entries whose keys are in a range.
struct Chosen {
    entries: Box<dyn Scan>,
    range: KeyRange,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Scan for Chosen {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        while let Some((key, value)) = self.entries.advance()? {
            // What was looked at in a loop cannot be lent out of it.
            if self.range.contains(key) {
                self.key.clear();
                self.key.extend_from_slice(key);
                self.value.clear();
                self.value.extend_from_slice(value);
                return Ok(Some((&self.key, &self.value)));
            }
        }
        Ok(None)
    }
}
