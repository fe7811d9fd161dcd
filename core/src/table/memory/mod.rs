//! Tables in memory.

mod address_uses;
mod buffer;
mod hash_index;
mod hash_table;
mod savepoint;
mod tree_check;
mod tree_entry;
mod tree_node;
mod tree_page;
mod tree_root;
mod tree_scan;
mod tree_sizes;
mod tree_split;
mod tree_table;

pub use hash_table::{HashScan, HashSnapshot, HashTable};
pub use tree_table::TreeTable;
