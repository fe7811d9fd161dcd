//! Reads, decodes and keeps bulk binary data at native speed, for any host language.
//!
//! Data travels one road: bytes come in through [`stream`], decoders without I/O turn them into rows
//! and columns ([`capture`], [`packet`]), [`flow`] sums them up, [`sums`] keeps the sums of many captures
//! in a [`table`], [`scan`] drives whole files, and [`session`] does so for a host language. [`tcp`] puts the segments of connections in order,
//! [`thrift`] reads messages by their schema, and [`rpc`] finds these in connections. [`batch`] says what all their
//! rows consist of, and holds them as columns. [`report`] makes a page of captures that people look at. [`marshal`] handles
//! streams in which Ruby keeps objects, as bytes, and [`pstore`] the files that hold one. [`files`] is the
//! door to files that are kept. [`panics`] keeps a panic that becomes an error quiet. The layers are drawn
//! in `ARCHITECTURE.md` and checked by `tests/layers.rs`.

pub mod batch;
pub mod capture;
pub mod error;
pub mod export;
pub mod files;
pub mod flow;
pub mod heap;
pub mod marshal;
pub mod packet;
pub mod panics;
pub mod pstore;
pub mod query;
pub mod report;
pub mod rpc;
pub mod scan;
pub mod session;
pub mod stream;
pub mod sums;
pub mod table;
pub mod tcp;
pub mod terminal;
pub mod thrift;
pub mod wire;
mod workers;

pub use error::{Error, ErrorKind, Result};
