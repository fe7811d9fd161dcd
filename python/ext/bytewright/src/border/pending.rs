//! Exceptions that are raised when the interpreter goes on.

use std::ffi::{c_int, c_void};

use pyo3::prelude::*;

/// Has the exception raised in the main thread as soon as that runs code of Python's again: for one that a program in another
/// language stands in the way of.
pub(crate) fn raise_soon(_py: Python<'_>, error: PyErr) {
    let error = Box::into_raw(Box::new(error));
    // SAFETY: Python's lock is held. The argument is a box of the type that `raise_pending` takes over, once.
    let is_refused =
        unsafe { pyo3::ffi::Py_AddPendingCall(Some(raise_pending), error.cast()) } != 0;
    if is_refused {
        // SAFETY: a call that is refused is not made, so the box is still ours.
        drop(unsafe { Box::from_raw(error) });
    }
}

/// Raises the exception in a box.
extern "C" fn raise_pending(error: *mut c_void) -> c_int {
    // SAFETY: `raise_soon` made the box for this one call, which the interpreter makes with its lock held.
    let (py, error) = unsafe { (Python::assume_attached(), Box::from_raw(error.cast::<PyErr>())) };
    error.restore(py);
    -1
}
