//! Tables that live in one file.

mod claim;
mod flusher;
mod hash_table;
mod open;
mod options;
mod random;
mod removal;
mod repair;
mod sharing;
mod tree_table;

pub use claim::Claim;
pub use hash_table::{Check, HashTable};
pub(super) use open::kind_of_file;
pub use open::{FileTable, TableKind, holds_something, open};
pub use options::{OpenOptions, SyncMode};
pub use removal::remove_untouched;
pub use repair::{Repaired, repair};
pub use tree_table::TreeTable;
