//! The C interface: what `c/include/bytewright.h` declares.
//!
//! Each function turns what C passes into what the core takes, and returns a [`Status`]. It holds no logic of its own.
//! Nothing here panics into C: [`error::guard`] turns a panic into [`Status::Internal`].
//!
//! This crate is a border and consists of `unsafe`. The rules are the same for every function, and `# Safety` names
//! only what is added to them:
//!
//! - A handle comes from the function of this library that opens it, and was not closed.
//! - A handle is used by one thread at a time. Different handles are independent.
//! - A pointer with a length points to as many bytes that can be read, or is null with the length 0.
//! - An `out` pointer is aligned and can be written.
//! - An error pointer is null, or points to a `bw_error` that was initialized with `BW_ERROR_INIT`.
#![allow(unsafe_code, reason = "the border to C")]
// Names as C knows them.
#![allow(non_camel_case_types)]

pub mod batch;
pub mod buffer;
pub mod capture;
pub mod cursor;
pub mod error;
pub mod flow_store;
pub mod frames;
pub mod host;
pub mod idl;
mod in_use;
pub mod live;
pub mod many;
pub mod options;
pub mod reader;
pub mod rows;
pub mod scan;
pub mod schema;
pub mod snapshot;
pub mod sums;
pub mod table;
pub mod text;
pub mod thrift;
pub mod transaction;
pub mod upkeep;
pub mod value;
pub mod version;
