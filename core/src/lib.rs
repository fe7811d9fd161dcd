//! Reads, decodes and keeps bulk binary data at native speed, for any host language.
//!
//! Data travels one road: bytes come in through [`io`], decoders without I/O turn them into rows
//! and columns ([`capture`], [`packet`]), [`flow`] sums them up, [`table`] keeps them, and [`scan`]
//! drives whole files. [`tcp`] puts the segments of connections in order. [`marshal`] handles streams in which Ruby keeps objects, as bytes, [`pstore`] the
//! files that hold one, and [`thrift`] messages by their schema; [`rpc`]
//! finds these in connections. [`panics`] keeps a panic that becomes an error quiet. The layers are drawn in
//! `ARCHITECTURE.md` and checked by `tests/layers.rs`.

pub mod capture;
mod counted;
pub mod error;
pub mod flow;
pub mod heap;
pub mod io;
pub mod marshal;
pub mod packet;
pub mod panics;
pub mod pstore;
pub mod rpc;
pub mod scan;
pub mod table;
pub mod tcp;
pub mod terminal;
pub mod thrift;
mod value;
pub mod wire;

pub use error::{Error, ErrorKind, Result};
