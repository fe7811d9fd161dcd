//! Descriptors that Python has open.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

/// The number of "bad file descriptor", which all systems agree on.
const EBADF: i32 = 9;

/// A descriptor of our own for what a descriptor of Python's stands for.
pub(crate) fn duplicate(_py: Python<'_>, number: RawFd) -> io::Result<OwnedFd> {
    if number < 0 {
        return Err(io::Error::from_raw_os_error(EBADF));
    }
    // SAFETY: it is not negative, and borrowed for one call of the system, which refuses a number that is not open. It belongs
    // to an object that the caller keeps open, or is a number of the program's, as that of `os.dup` is.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    borrowed.try_clone_to_owned()
}

/// The descriptor that an object reads from, where it has one.
pub(crate) fn descriptor_of(object: &Bound<'_, PyAny>) -> PyResult<Option<i32>> {
    match object.call_method0("fileno").and_then(|number| number.extract()) {
        Ok(number) => Ok(Some(number)),
        // Objects say in many ways that they have none; an interrupt meanwhile is another matter.
        Err(error) if error.is_instance_of::<PyException>(object.py()) => Ok(None),
        Err(error) => Err(error),
    }
}
