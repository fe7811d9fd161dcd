//! The SQL face: an extension that DuckDB loads, with a table function for each kind of rows.
//!
//! `functions.rs` asks the core, `reading.rs` hands out the rows in pieces, and `border/` is the way in and out.

mod border;
mod functions;
mod reading;
