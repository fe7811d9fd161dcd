//! Tables in memory.

mod hash_index;
mod hash_table;

pub use hash_table::{HashScan, HashSnapshot, HashTable};
