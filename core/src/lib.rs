//! Reads, decodes and keeps bulk binary data at native speed, for any host language.
//!
//! Data flows in one direction. [`bytes`] brings in bytes and decompresses them. Decoders without I/O turn bytes into rows:
//! [`capture`] into records, [`packet`] into header fields, [`tcp`] into the bytes of connections, [`thrift`] into messages, and
//! [`rpc`] into calls. [`flow`] sums packets up by conversation. [`batch`] describes all these rows and holds them as columns;
//! [`query`] filters and groups them, and [`export`] writes them to files. [`report`] makes a page of captures.
//!
//! [`table`] stores byte strings by key, and [`sums`] the sums of many captures in a table. [`marshal`] handles the streams in
//! which Ruby dumps objects, as bytes, and [`pstore`] the files that contain one. They access their files through [`files`].
//!
//! [`labels`] reads names of networks. [`input`] reads captures, [`ask`] answers questions about them, and [`host`] does so for a host language. `ARCHITECTURE.md`
//! shows the layers, and `tests/layers.rs` checks them.
//!
//! For WebAssembly, where there are no threads, no libraries and no files that are kept, the modules above these are left out.

// Items that only those modules use stay, so that all systems compile one source; so do those of libraries that a program does not
// load.
#![cfg_attr(
    any(target_family = "wasm", target_feature = "crt-static"),
    allow(dead_code, unused_imports)
)]

pub mod ask;
pub mod batch;
pub mod bytes;
pub mod capture;
pub mod error;
pub mod export;
#[cfg_attr(target_family = "wasm", path = "files/no_files.rs")]
pub mod files;
pub mod flow;
#[doc(hidden)]
pub mod forks;
#[cfg(not(target_family = "wasm"))]
pub mod heap;
#[cfg(not(target_family = "wasm"))]
pub mod host;
pub mod input;
pub mod labels;
pub mod marshal;
pub mod options;
pub mod packet;
pub mod panics;
#[cfg(not(target_family = "wasm"))]
pub mod pstore;
pub mod query;
pub mod report;
pub mod rpc;
mod spelling;
#[cfg(not(target_family = "wasm"))]
pub mod sums;
#[cfg(not(target_family = "wasm"))]
pub mod table;
pub mod tcp;
pub mod terminal;
#[cfg_attr(target_family = "wasm", path = "threads/no_threads.rs")]
pub mod threads;
pub mod thrift;
pub mod wire;
mod workers;

pub use error::{Error, ErrorKind, Result};
