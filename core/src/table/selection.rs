//! Some entries of an ordered table: those of a range of keys, at most so many.

use super::{KeyRange, OrderedSnapshot, Scan};
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
