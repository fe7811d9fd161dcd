//! The tests that run once more under the address sanitizer (`make test-unsafe`): records in memory that never moves, and columns
//! that other languages free. Each module has its goal.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[path = "../data_types/mod.rs"]
mod data_types;
#[path = "../generate/mod.rs"]
mod generate;

mod batch;
mod hash_table;
mod heap_records;
