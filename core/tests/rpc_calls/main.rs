//! Goal: the Thrift calls of a capture are found, each once and with its answer, however their bytes are cut into
//! segments and whatever of them is lost; what is no Thrift gives none; memory is bounded.
//!
//! Method: messages are written by the core's writers, so that a test knows the calls that are in its segments;
//! samples and other people's captures stand beside them.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod batches;
mod bounds;
mod captures;
#[path = "../files/mod.rs"]
mod files;
#[path = "../generate/mod.rs"]
mod generate;
mod matching;
mod nothing;
mod random;
mod talk;
