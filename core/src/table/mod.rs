//! Tables of byte strings: keys to values.
//!
//! A table in a file survives the process, and each of its transactions happens as a whole or not at
//! all. What keys and values mean is the caller's business.

pub mod file;
