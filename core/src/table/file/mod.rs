//! Tables that live in one file.

mod overlay;
mod redb_backend;
mod tree_table;

pub use tree_table::{Entries, Entry, OpenOptions, Scan, Transaction, TreeTable};
