//! Goal: the bytes of a connection come out in order, whatever order its segments come in, with what is missing
//! told as gaps, in bounded memory, and the same on every run.
//!
//! Method: examples of what captures have; and random segments of known streams (late, twice, overlapping with
//! other content, lost, around 2^32) against a twin that keeps every byte by itself.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod conversation;
mod examples;
#[path = "../generate/mod.rs"]
mod generate;
mod memory;
mod twin;
