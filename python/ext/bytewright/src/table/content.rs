//! A table of the core, of whichever kind.

use bytewright::table::file::TableKind;
use bytewright::table::{OrderedTable, Table, memory};
use bytewright::{Error, ErrorKind, Result};

/// A table of any kind.
#[expect(clippy::large_enum_variant, reason = "a box would be one more step to each entry")]
pub(super) enum Content {
    Hash(memory::HashTable),
    Tree(memory::TreeTable),
    HashFile(Box<dyn Table>),
    TreeFile(Box<dyn OrderedTable>),
    /// A thread works on it without Python's lock, and has it.
    Away,
    Closed,
}

impl Content {
    pub(super) fn in_memory(kind: TableKind) -> Content {
        match kind {
            TableKind::Hashed => Content::Hash(memory::HashTable::new()),
            TableKind::Ordered => Content::Tree(memory::TreeTable::new()),
        }
    }

    pub(super) fn table(&self) -> Result<&dyn Table> {
        match self {
            Content::Hash(table) => Ok(table),
            Content::Tree(table) => Ok(table),
            Content::HashFile(table) => Ok(table.as_ref()),
            Content::TreeFile(table) => Ok(table.as_ref()),
            Content::Away | Content::Closed => Err(self.refusal()),
        }
    }

    pub(super) fn table_mut(&mut self) -> Result<&mut dyn Table> {
        match self {
            Content::Hash(table) => Ok(table),
            Content::Tree(table) => Ok(table),
            Content::HashFile(table) => Ok(table.as_mut()),
            Content::TreeFile(table) => Ok(table.as_mut()),
            Content::Away | Content::Closed => Err(self.refusal()),
        }
    }

    pub(super) fn ordered(&self) -> Result<&dyn OrderedTable> {
        match self {
            Content::Tree(table) => Ok(table),
            Content::TreeFile(table) => Ok(table.as_ref()),
            Content::Hash(_) | Content::HashFile(_) => {
                Err(bytewright::table::Selection::needs_order())
            }
            Content::Away | Content::Closed => Err(self.refusal()),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Content::Closed)
    }

    #[cold]
    fn refusal(&self) -> Error {
        match self {
            Content::Away => Error::new(
                ErrorKind::Closed,
                "expected a table that nobody was changing when the process was forked, found one that a thread of \
                 the parent was changing; open it again",
            ),
            _ => Error::new(ErrorKind::Closed, "expected an open table, found it closed"),
        }
    }
}
