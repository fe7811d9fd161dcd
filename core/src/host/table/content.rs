//! A table of any kind, and a snapshot of one.

use crate::error::{Error, ErrorKind, Result};
use crate::table::file::{FileTable, TableKind};
use crate::table::{
    KeyRange, OrderedSnapshot, OrderedTable, Scan, Selection, Snapshot, Table, memory,
};

/// A table of any kind, or what is left of one that was closed.
#[expect(clippy::large_enum_variant, reason = "a box would be one more step to each entry")]
pub enum TableContent {
    /// Hashed, in memory.
    Hash(memory::HashTable),
    /// Ordered, in memory.
    Tree(memory::TreeTable),
    /// In a file.
    File(FileTable),
    /// Nothing.
    Closed,
}

impl TableContent {
    /// An empty table in memory.
    pub fn in_memory(kind: TableKind) -> TableContent {
        match kind {
            TableKind::Hashed => TableContent::Hash(memory::HashTable::new()),
            TableKind::Ordered => TableContent::Tree(memory::TreeTable::new()),
        }
    }

    /// Returns it as a [`Table`]. [`ErrorKind::Closed`] if it was closed.
    pub fn table(&self) -> Result<&dyn Table> {
        match self {
            TableContent::Hash(table) => Ok(table),
            TableContent::Tree(table) => Ok(table),
            TableContent::File(table) => Ok(table.as_table()),
            TableContent::Closed => Err(is_closed()),
        }
    }

    /// Returns it as a [`Table`] that can be changed. [`ErrorKind::Closed`] if it was closed.
    pub fn table_mut(&mut self) -> Result<&mut dyn Table> {
        match self {
            TableContent::Hash(table) => Ok(table),
            TableContent::Tree(table) => Ok(table),
            TableContent::File(table) => Ok(table.as_table_mut()),
            TableContent::Closed => Err(is_closed()),
        }
    }

    /// Returns it as an [`OrderedTable`]. [`ErrorKind::Argument`] for a hashed one.
    pub fn ordered(&self) -> Result<&dyn OrderedTable> {
        match self {
            TableContent::Tree(table) => Ok(table),
            TableContent::File(FileTable::Ordered(table)) => Ok(table.as_ref()),
            TableContent::Closed => Err(is_closed()),
            TableContent::Hash(_) | TableContent::File(FileTable::Hashed(_)) => {
                let message = "expected an ordered table, found a hashed one";
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }

    /// Deletes the selected entries, all or none, and returns how many there were. [`ErrorKind::Argument`] for a hashed table.
    pub fn delete_range(&mut self, selection: &Selection) -> Result<u64> {
        match self {
            TableContent::Hash(_) => Err(Selection::needs_order()),
            TableContent::Tree(table) => selection.delete(table),
            TableContent::File(table) => table.delete_range(selection),
            TableContent::Closed => Err(is_closed()),
        }
    }

    /// The table as it is now.
    pub fn snapshot(&self) -> Result<AnySnapshot> {
        match self.ordered() {
            Ok(table) => table.ordered_snapshot().map(AnySnapshot::Ordered),
            Err(_) => self.table()?.snapshot().map(AnySnapshot::Hashed),
        }
    }

    /// Bytes of memory that it takes. A file's table would have to read much of the file to say it.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            TableContent::Hash(_) | TableContent::Tree(_) => {
                self.table().and_then(Table::stat).map_or(0, |stat| stat.memory_bytes as usize)
            }
            TableContent::File(_) | TableContent::Closed => 0,
        }
    }
}

fn is_closed() -> Error {
    Error::new(ErrorKind::Closed, "expected an open table, found it closed")
}

/// A snapshot of a table of either kind.
pub enum AnySnapshot {
    /// Of a hashed table.
    Hashed(Box<dyn Snapshot>),
    /// Of an ordered table.
    Ordered(Box<dyn OrderedSnapshot>),
}

impl AnySnapshot {
    /// Returns it as a [`Snapshot`].
    pub fn as_snapshot(&self) -> &dyn Snapshot {
        match self {
            AnySnapshot::Hashed(snapshot) => snapshot.as_ref(),
            AnySnapshot::Ordered(snapshot) => snapshot.as_ref(),
        }
    }

    /// The selected entries, or all. [`ErrorKind::Argument`] for a selection from a hashed table.
    pub fn scan(&self, selection: Option<&Selection>) -> Result<Box<dyn Scan>> {
        match (self, selection) {
            (AnySnapshot::Ordered(snapshot), Some(selection)) => selection.scan(snapshot.as_ref()),
            (AnySnapshot::Hashed(_), Some(_)) => Err(Selection::needs_order()),
            (_, None) => self.as_snapshot().scan(),
        }
    }

    /// A copy of the value of `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = None;
        self.as_snapshot().get_with(key, &mut |found| value = Some(found.to_vec()))?;
        Ok(value)
    }

    /// Copies of the first key of `range` and its value.
    pub fn first_in(&self, range: KeyRange) -> Result<Option<Entry>> {
        let mut scan = self.scan(Some(&Selection { range, limit: None }))?;
        Ok(scan.advance()?.map(|(key, value)| (key.to_vec(), value.to_vec())))
    }
}

/// A copy of a key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);
