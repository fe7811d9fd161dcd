//! Place of `libpcap.rs` on systems that load no libraries: there is no filter of libpcap there.

use std::convert::Infallible;

use crate::{Error, ErrorKind, Result};

/// Returns none.
pub fn version() -> Option<String> {
    None
}

/// Returns the error of what needs libpcap.
pub(super) fn missing(what: &str) -> Error {
    let message =
        format!("expected libpcap, which {what} need, found a system that loads no libraries");
    Error::new(ErrorKind::MissingLibrary, message)
}

/// Amount of work on an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    Check,
    Optimize,
}

/// Filter program that there is none of.
pub(super) struct FilterProgram(Infallible);

impl FilterProgram {
    /// Refuses every expression.
    pub(super) fn compile(_: &str, _: u16, _: Effort) -> Result<FilterProgram> {
        Err(missing("filters"))
    }

    /// Returns true if a frame matches.
    pub(super) fn matches(&self, _: &[u8], _: u32) -> bool {
        match self.0 {}
    }
}
