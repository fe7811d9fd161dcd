//! Some entries of an ordered table: those of a range of keys, at most so many.

use super::{KeyRange, OrderedSnapshot, OrderedTable, Scan};
use crate::error::{Error, ErrorKind, Result};

/// Range of entries, and how many of them at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The keys, and which of them comes first.
    pub range: KeyRange,
    /// Number of entries at most.
    pub limit: Option<u64>,
}

impl Selection {
    /// The selected entries of `table`.
    pub fn scan(&self, table: &dyn OrderedSnapshot) -> Result<Box<dyn Scan>> {
        let entries = table.scan_range(&self.range)?;
        Ok(match self.limit {
            Some(left) => Box::new(Limited { entries, left }),
            None => entries,
        })
    }

    /// Deletes the selected entries of `table`, as [`OrderedTable::delete_range`] does, and returns how many there were.
    pub fn delete(&self, table: &mut dyn OrderedTable) -> Result<u64> {
        match self.limit {
            Some(limit) => match self.last_key(table, limit)? {
                Some(last) => table.delete_range(&self.range_up_to(&last)),
                None => Ok(0),
            },
            None => table.delete_range(&self.range),
        }
    }

    /// The key of the last entry that is selected.
    fn last_key(&self, table: &dyn OrderedTable, limit: u64) -> Result<Option<Vec<u8>>> {
        let mut entries = table.ordered_snapshot()?.scan_range(&self.range)?;
        let mut last = None;
        for _ in 0..limit {
            let Some((key, _)) = entries.advance()? else { break };
            let last = last.get_or_insert_with(Vec::new);
            last.clear();
            last.extend_from_slice(key);
        }
        Ok(last)
    }

    /// The keys of the range from the end that comes first to `key`.
    fn range_up_to(&self, key: &[u8]) -> KeyRange {
        match self.range.reverse {
            true => self.range.clone().starting_at(key),
            false => self.range.clone().ending_with(key),
        }
    }

    /// The error for a selection from a hashed table.
    pub fn needs_order() -> Error {
        let message = "expected an ordered table to take a range of keys or a limit from, found a \
                       hashed one; use a TreeTable, or convert the file to .bwt";
        Error::new(ErrorKind::Argument, message)
    }
}

/// The first entries of a scan.
struct Limited {
    entries: Box<dyn Scan>,
    left: u64,
}

impl Scan for Limited {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                self.entries.advance()
            }
            None => Ok(None),
        }
    }
}
