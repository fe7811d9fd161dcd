//! Tests of `host` with hosts that interrupt and raise. Each module has its goal.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[path = "../bytes_cases/mod.rs"]
mod bytes_cases;
#[path = "../folder/mod.rs"]
mod folder;
#[path = "../generate/mod.rs"]
mod generate;

mod messages;
mod passes;
mod raised;
mod rows;
mod streams;
mod tables;

use std::path::{Path, PathBuf};

/// The path of one of the samples.
fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples").join(name)
}
