//! All entries of one file put into a new table: of Tokyo Cabinet's into ours, or of one kind of ours
//! into the other.

use std::path::Path;

use super::file::{FileTable, TableKind};
use super::new_file::{Existing, NewFile};
use super::{KeyRange, Origin, Table};
use crate::error::excerpt_of_bytes;
use crate::error::{Error, ErrorKind, Result};

/// Choice for a key that comes again, as in trees of Tokyo Cabinet it may: a table has one value for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Duplicates {
    /// End with an error.
    #[default]
    Refuse,
    /// Keep the first value, which is the one that Tokyo Cabinet gets.
    First,
    /// Keep the last value.
    Last,
}

/// Options of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConvertOptions {
    /// Choice for a key that comes again.
    pub duplicates: Duplicates,
    /// Keep what could be read of a file that is damaged.
    pub salvage: bool,
}

/// Result of converting a file.
#[derive(Debug)]
pub struct Converted {
    /// Entries in the new table.
    pub records: u64,
    /// Entries whose key had another value that was kept.
    pub left_out: u64,
    /// The damage that the file ended with, where what came before it was to be kept.
    pub damage: Option<Error>,
}

/// Entries of one transaction with a hashed table, which keeps in memory how to take each back, and
/// entries between two calls of the progress.
const BATCH_LEN: u64 = 16_384;

/// Puts all entries of `origin` into a new table in the file at `to`, whose kind its name tells, and
/// calls `progress` with the number of entries so far now and then.
///
/// The new file has its name when it is whole, counted and safe from a power cut; where something
/// fails, there is none. [`ErrorKind::Argument`] where a file of that name is there already.
pub fn convert(
    origin: &Origin,
    to: &Path,
    options: ConvertOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<Converted> {
    let kind = TableKind::of_name(to)?;
    let mut new = NewFile::create(to, kind, origin.values(), Existing::Refuse)?;
    let converted = fill(new.table_mut(), origin, options, progress)?;
    new.finish()?;
    Ok(converted)
}

fn fill(
    table: &mut FileTable,
    origin: &Origin,
    options: ConvertOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<Converted> {
    let is_ordered = matches!(table, FileTable::Ordered(_));
    let table = table.as_table_mut();
    // The keys of a table of ours are different ones.
    let duplicates = matches!(origin, Origin::TokyoCabinet(_)).then_some(options.duplicates);
    let mut filling = Filling { table, is_ordered, duplicates, given: 0, kept: 0 };
    let damage = filling.take_all(origin, progress)?;
    let Filling { given, kept, .. } = filling;
    let records = table.len()?;
    match damage {
        Some(damage) if !options.salvage => Err(damage),
        _ if records != kept => {
            let message = format!("expected a new table of {kept} entries, found {records} in it");
            Err(Error::internal(message))
        }
        damage => Ok(Converted { records, left_out: given - kept, damage }),
    }
}

/// A table that is being filled.
struct Filling<'table> {
    table: &'table mut dyn Table,
    /// An ordered table takes everything in one transaction: a commit in the middle of unordered keys
    /// would write most of its pages again, and leave a file several times as large.
    is_ordered: bool,
    /// Choice for a key that comes again, if one can.
    duplicates: Option<Duplicates>,
    /// Entries so far.
    given: u64,
    /// Those with a key of their own.
    kept: u64,
}

impl Filling<'_> {
    /// Puts everything in; answers the damage that the file ends with.
    fn take_all(
        &mut self,
        origin: &Origin,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<Error>> {
        let mut scan = origin.scan(&KeyRange::ALL)?;
        self.table.begin()?;
        let damage = loop {
            match scan.advance() {
                Ok(Some((key, value))) => self.take(key, value)?,
                Ok(None) => break None,
                Err(error) if matches!(error.kind(), ErrorKind::Io(_)) => return Err(error),
                Err(error) => break Some(error),
            }
            if self.given.is_multiple_of(BATCH_LEN) {
                progress(self.given);
                if !self.is_ordered {
                    self.table.commit()?;
                    self.table.begin()?;
                }
            }
        };
        self.table.commit()?;
        progress(self.given);
        Ok(damage)
    }

    fn take(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.given += 1;
        let Some(duplicates) = self.duplicates else {
            self.kept += 1;
            return self.table.put(key, value);
        };
        if self.table.create(key, value)? {
            self.kept += 1;
            return Ok(());
        }
        match duplicates {
            Duplicates::First => Ok(()),
            Duplicates::Last => self.table.put(key, value),
            Duplicates::Refuse => Err(Error::format(
                "one value for each key, or --duplicates first or last",
                format_args!("several for {:?}", excerpt_of_bytes(key)),
            )),
        }
    }
}
