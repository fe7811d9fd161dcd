//! Tables in memory and in files, and the files under them. Each module has its goal. The hashed table in a file has an
//! executable of its own (`table_file_hash`), because its tests fork.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[path = "../folder/mod.rs"]
mod folder;
#[path = "../generate/mod.rs"]
mod generate;
#[path = "../simulated_disk/mod.rs"]
mod simulated_disk;

mod backup;
mod cache;
mod convert;
mod disks;
mod dump;
mod file_tree;
mod memory_tree;
mod planted_files;
mod tokyo_cabinet;
mod traits;
mod values;
