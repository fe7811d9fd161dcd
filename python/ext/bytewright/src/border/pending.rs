//! Work that is done when the interpreter goes on.

use std::ffi::{c_int, c_void};

use pyo3::prelude::*;

/// Work for the main thread; what it fails with is raised there.
type Pending = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

/// Has the exception raised in the main thread as soon as that runs code of Python's again: for one that a program in another
/// language stands in the way of.
pub(crate) fn raise_soon(_py: Python<'_>, error: PyErr) {
    run_soon(|_| Err(error));
}

/// Has the main thread do the work as soon as it runs code of Python's again: for a thread that must not wait for Python.
/// It is not done where too much waits already.
pub(crate) fn run_soon(work: impl FnOnce(Python<'_>) -> PyResult<()> + Send + 'static) {
    let pending: Pending = Box::new(work);
    let pending = Box::into_raw(Box::new(pending)).cast::<c_void>();
    // SAFETY: any thread may call it, attached to Python or not. The argument is a box of the type that `run_pending` takes
    // over, once.
    let is_refused = unsafe { pyo3::ffi::Py_AddPendingCall(Some(run_pending), pending) } != 0;
    if is_refused {
        // SAFETY: a call that is refused is not made, so the box is still ours.
        drop(unsafe { Box::from_raw(pending.cast::<Pending>()) });
    }
}

/// Does the work in a box.
extern "C" fn run_pending(pending: *mut c_void) -> c_int {
    // SAFETY: `run_soon` made the box for this one call, which the interpreter makes in a thread that is attached.
    let (py, work) =
        unsafe { (Python::assume_attached(), Box::from_raw(pending.cast::<Pending>())) };
    match work(py) {
        Ok(()) => 0,
        Err(error) => {
            error.restore(py);
            -1
        }
    }
}
