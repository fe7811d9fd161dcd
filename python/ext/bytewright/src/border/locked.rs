//! Values that Python's lock guards.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// A value for threads that have Python's lock. Sessions of the core are of this kind: made for hosts with one lock.
pub(crate) struct Locked<T>(T);

// SAFETY: `get` is the only way to the value, and asks for proof of Python's lock, which one thread at a time has. Who
// gives the lock up (`Python::detach`) takes nothing along that is not `Send`, and `&T` is not where `T` is not `Sync`:
// so while one thread uses the value, no other one does. `check` refuses an interpreter without that lock, before there
// is any such value.
unsafe impl<T: Send> Sync for Locked<T> {}

impl<T> Locked<T> {
    pub(crate) fn new(value: T) -> Self {
        Locked(value)
    }

    #[inline]
    pub(crate) fn get<'a>(&'a self, _py: Python<'a>) -> &'a T {
        &self.0
    }
}

/// Refuses an interpreter whose threads run without a lock.
pub(crate) fn check(py: Python<'_>) -> PyResult<()> {
    match py.import("sys")?.getattr("_is_gil_enabled") {
        Ok(is_enabled) if !is_enabled.call0()?.is_truthy()? => {
            let message =
                "expected an interpreter with a global lock, found one without; set PYTHON_GIL=1";
            Err(PyImportError::new_err(message))
        }
        _ => Ok(()),
    }
}
