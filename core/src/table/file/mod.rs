//! Tables that live in one file.

mod options;
mod overlay;
mod redb_backend;
mod tree_table;

pub use options::{OpenOptions, SyncMode};
pub use tree_table::{Entries, Entry, Scan, Transaction, TreeTable};
