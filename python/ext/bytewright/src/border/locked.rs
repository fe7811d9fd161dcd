//! Values that one thread at a time uses: the one that has Python's lock or, in an interpreter without such a lock, the one
//! that has theirs.

use pyo3::prelude::*;
#[cfg(Py_GIL_DISABLED)]
use pyo3::sync::critical_section::{with_critical_section, with_critical_section_mutex};
#[cfg(Py_GIL_DISABLED)]
use pyo3::sync::nonpoison::PyMutex;

/// A value for one thread at a time. Sessions of the core are of this kind: made for hosts with one lock.
///
/// In a free-threaded interpreter each value has a lock of its own, which is held in a critical section of Python's: it is let
/// go wherever Python's lock would be, also by a thread that waits for another lock. So nobody waits for a thread that waits
/// for him. As with each dict of Python's, a forked child finds it taken for good if a thread was waiting for it.
#[cfg(Py_GIL_DISABLED)]
pub(crate) struct Locked<T>(PyMutex<T>);

/// A value for threads that have Python's lock. Sessions of the core are of this kind: made for hosts with one lock.
#[cfg(not(Py_GIL_DISABLED))]
pub(crate) struct Locked<T>(T);

// SAFETY: `with` is the only way to the value, and asks for proof of Python's lock, which one thread at a time has. Who
// gives the lock up (`Python::detach`) takes nothing along that is not `Send`, and `&T` is not where `T` is not `Sync`:
// so while one thread uses the value, no other one does. The free-threaded interpreter loads no such build.
#[cfg(not(Py_GIL_DISABLED))]
unsafe impl<T: Send> Sync for Locked<T> {}

#[cfg(Py_GIL_DISABLED)]
impl<T> Locked<T> {
    pub(crate) fn new(value: T) -> Self {
        Locked(PyMutex::new(value))
    }

    /// Does `work` with the value, of which no reference is left behind. What `work` calls of Python's may let others have the
    /// value meanwhile.
    #[inline]
    #[expect(clippy::disallowed_methods, reason = "the work is Send")]
    pub(crate) fn with<'py, R>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(Python<'py>, &T) -> R + Send,
    ) -> R {
        with_critical_section_mutex(py, &self.0, |entered| {
            // SAFETY: the reference may be used while this thread has the mutex. The thread lets go of it where it detaches, or
            // waits for another lock, and Python takes it again before it returns to code whose innermost section this is. In
            // between, code of ours runs only in closures: of `Python::detach`, or of another `Locked` in `work`. Both
            // have to be `Send`, which `&T` is not where `T` is not `Sync`: so they do not have the reference. The other calls
            // that run closures in sections are disallowed (clippy.toml), but for `in_section`, whose uses have no such value.
            work(py, unsafe { entered.get() })
        })
    }
}

#[cfg(not(Py_GIL_DISABLED))]
impl<T> Locked<T> {
    pub(crate) fn new(value: T) -> Self {
        Locked(value)
    }

    /// Does `work` with the value, of which no reference is left behind. What `work` calls of Python's may let others have the
    /// value meanwhile.
    #[inline]
    pub(crate) fn with<'py, R>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(Python<'py>, &T) -> R + Send,
    ) -> R {
        work(py, &self.0)
    }
}

/// Does brief work on an object that no other thread changes meanwhile: it holds the lock that Python has for each object, where
/// it has no other. The work calls nothing that could let the lock go.
#[inline]
#[cfg(Py_GIL_DISABLED)]
#[expect(clippy::disallowed_methods, reason = "the border's own, without a value of a Locked")]
pub(super) fn in_section<R>(object: &Bound<'_, PyAny>, work: impl FnOnce() -> R) -> R {
    with_critical_section(object, work)
}

#[inline]
#[cfg(not(Py_GIL_DISABLED))]
pub(super) fn in_section<R>(_object: &Bound<'_, PyAny>, work: impl FnOnce() -> R) -> R {
    work()
}

/// Refuses an interpreter whose threads run without a lock, in a build for those with one.
#[cfg(not(Py_GIL_DISABLED))]
pub(crate) fn check(py: Python<'_>) -> PyResult<()> {
    match py.import("sys")?.getattr("_is_gil_enabled") {
        Ok(is_enabled) if !is_enabled.call0()?.is_truthy()? => {
            let message = "expected an interpreter with a global lock, found one without; install the wheel for free-threaded Python";
            Err(pyo3::exceptions::PyImportError::new_err(message))
        }
        _ => Ok(()),
    }
}

/// Allows any interpreter that loads a build for those without a lock.
#[cfg(Py_GIL_DISABLED)]
pub(crate) fn check(_py: Python<'_>) -> PyResult<()> {
    Ok(())
}
