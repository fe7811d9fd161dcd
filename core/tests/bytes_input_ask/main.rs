//! Bytes from outside, and whole captures: sources, compression, parts, jobs, merges, flow tables. Each module has its goal.

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[path = "../bytes_cases/mod.rs"]
mod bytes_cases;
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

mod ask_cut;
mod ask_cut_changes;
mod ask_cut_rotated;
mod ask_endpoints;
mod ask_flow_intervals;
mod ask_merge_flows;
mod bytes_damage;
mod bytes_members;
mod bytes_pieces;
mod bytes_pipes;
mod bytes_seek_points;
mod bytes_without_waiting;
mod frozen_formats;
mod input_frames;
mod input_index;
mod input_index_jobs;
mod input_jobs;
mod labels;
mod sums_flow_store;
