//! The `bytewright` command, as the wheel ships it.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command without Python's lock and answers its exit code.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| bytewright_cli::run(arguments))
}
