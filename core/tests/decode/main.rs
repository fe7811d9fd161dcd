//! Decoders and what is made of decoded packets: captures, headers, connections, flows, calls, conditions. Each module has its goal.
//!
//! One executable, because linking a program takes longer than compiling a module of it.

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
#[path = "../generate/mod.rs"]
mod generate;

mod captures;
mod corpus;
mod differential;
mod error_lengths;
mod flow_community_id;
mod flow_features;
mod flow_formats;
mod flow_fragments;
mod flow_table;
mod packets;
mod query;
mod rpc_calls;
mod tcp_streams;
