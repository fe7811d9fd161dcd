//! Stores that keep each root by itself, in a table's file: to read, for callers without Ruby. A key of the table is
//! the key of a root as Ruby dumps it, the value the root's.

use std::path::Path;

use crate::error::{Error, Result};
use crate::marshal::Separate;
use crate::table::Snapshot;
use crate::table::file::{self, FileTable, OpenOptions, TableKind};

/// Layout of the roots in a store's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreFormat {
    /// All in one Hash, as Ruby's own PStore does: [`Store`](super::Store).
    Stream,
    /// Each by itself: [`SeparateRoots`].
    Separate,
}

impl StoreFormat {
    /// The format of the store at `path`. One that is missing or empty is to be a stream.
    ///
    /// # Errors
    /// `Io` where the file cannot be read.
    pub fn of(path: &Path) -> Result<StoreFormat> {
        Ok(match TableKind::of_file(path)? {
            Some(_) => StoreFormat::Separate,
            None => StoreFormat::Stream,
        })
    }
}

/// The roots of a store that keeps each by itself, as they are when it is opened.
pub struct SeparateRoots {
    // Bound (Marshal): keys of a store that has each root by itself, read without Ruby = all of them.
    /// The keys as the table has them, in its order.
    keys: Vec<Box<[u8]>>,
    values: Box<dyn Snapshot>,
    /// Keeps the file open.
    _table: FileTable,
}

impl std::fmt::Debug for SeparateRoots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeparateRoots").field("keys", &self.keys.len()).finish_non_exhaustive()
    }
}

impl SeparateRoots {
    /// Opens the store at `path`, beside others that read it and one that writes it.
    ///
    /// # Errors
    /// Those of opening a table and of reading its keys.
    pub fn open(path: &Path) -> Result<SeparateRoots> {
        let options = OpenOptions { read_only: true, ..OpenOptions::default() };
        let table = file::open(path, None, options)?;
        let values = table.as_table().snapshot()?;
        let (mut keys, mut entries) = (Vec::new(), values.scan()?);
        while let Some((key, _)) = entries.advance()? {
            keys.push(key.into());
        }
        drop(entries);
        Ok(SeparateRoots { keys, values, _table: table })
    }
}

impl Separate for SeparateRoots {
    fn count(&self) -> usize {
        self.keys.len()
    }

    fn key(&self, root: usize) -> Option<&[u8]> {
        self.keys.get(root).map(|key| &**key)
    }

    fn value(&self, root: usize) -> Result<Option<Vec<u8>>, Error> {
        let Some(key) = self.key(root) else { return Ok(None) };
        let mut value = None;
        self.values.get_with(key, &mut |bytes| value = Some(bytes.to_vec()))?;
        Ok(value)
    }
}
