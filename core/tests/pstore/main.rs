//! Goal: a store keeps one table in a file as programs expect that rewrite it as a whole, and no crash,
//! failure or other program makes it lose or mix anything.
//!
//! An executable of its own, because its tests fork: a child has whatever other tests of the process have open.

#![allow(
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

mod basics;
mod crashes;
mod failures;
mod frozen_format;
mod model;
mod processes;
mod simulated;
mod strangers;

/// Returns the number of rounds of a random test: `count`, with which all together take a few seconds,
/// times `BYTEWRIGHT_ROUNDS`.
fn rounds(count: u64) -> u64 {
    count * std::env::var("BYTEWRIGHT_ROUNDS").map_or(1, |times| times.parse::<u64>().unwrap())
}
