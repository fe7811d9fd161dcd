//! Place of `libpcap.rs` where no libraries are loaded: on systems without any, and in programs that are linked statically, which
//! have a C library of their own beside that of the system. There is no filter of libpcap there.

use std::convert::Infallible;

use crate::{Error, ErrorKind, Result};

/// True if filters and interfaces are there wherever the system has libpcap, which is not so here.
pub const LOADS_LIBPCAP: bool = false;

/// The reason, as errors tell it.
const FOUND: &str = if cfg!(target_family = "wasm") {
    "a system that loads no libraries"
} else {
    "a program that is linked statically and loads no libraries; take a build that is not, such as the package bytewright"
};

/// Returns none.
pub fn version() -> Option<String> {
    None
}

/// Returns the error of what needs libpcap.
pub(super) fn missing(what: &str) -> Error {
    let message = format!("expected libpcap, which {what} need, found {FOUND}");
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
