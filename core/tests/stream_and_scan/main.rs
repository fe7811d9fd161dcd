//! Bytes from outside, and whole captures: sources, compression, parts, jobs, merges, flow tables. Each module has its goal.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[path = "../files/mod.rs"]
mod files;
#[path = "../flow_frames/mod.rs"]
mod flow_frames;
#[path = "../folder/mod.rs"]
mod folder;
#[path = "../generate/mod.rs"]
mod generate;
#[path = "../simulated_disk/mod.rs"]
mod simulated_disk;
#[path = "../stream_cases/mod.rs"]
mod stream_cases;

mod scan_cut;
mod scan_flow_intervals;
mod scan_frames;
mod scan_jobs;
mod scan_merge_flows;
mod stream_damage;
mod stream_members;
mod stream_pieces;
mod stream_pipes;
mod stream_without_waiting;
mod sums_flow_store;
