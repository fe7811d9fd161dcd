//! Changes that are made together or not at all.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::shared::Open;
use super::{Table, commits_wait};
use crate::error::{argument, no_pickle};

/// Module with what `async with` runs.
const ASYNC_BLOCK: &str = "bytewright._async_transaction";

/// The `with` block of `table.transaction()`. Where its object goes while it is open, it is taken back: whoever could end
/// it is gone.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct Transaction {
    table: Py<Table>,
    open: Mutex<Option<Open>>,
}

impl Transaction {
    pub(super) fn new(table: Bound<'_, Table>) -> Transaction {
        Transaction { table: table.unbind(), open: Mutex::new(None) }
    }

    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_not_open(&self) -> PyResult<()> {
        match *self.open() {
            Some(_) => Err(PyRuntimeError::new_err(
                "expected a transaction that is not open, found it open",
            )),
            None => Ok(()),
        }
    }
}

#[pymethods]
impl Transaction {
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(no_pickle("Transaction", "it ends in this process"))
    }

    fn __enter__(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        self.check_not_open()?;
        let open = self.table.get().shared.begin_block(py)?;
        *self.open() = Some(open);
        Ok(self.table.clone_ref(py))
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        class: &Bound<'_, PyAny>,
        error: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let open = *self.open();
        let Some(open) = open else {
            return Err(PyRuntimeError::new_err("expected an open transaction, found none"));
        };
        let (table, is_kept) = (self.table.get(), class.is_none());
        let is_open = table.shared.check_end(py, open, is_kept)?;
        *self.open() = None;
        match is_open {
            true => {
                let ended = table.shared.end(py, open, is_kept, commits_wait(table));
                // The error that leaves the block comes first: often it is the cause, such as a full disk.
                ended.or_else(
                    |failure| if is_kept { Err(failure) } else { note(error, &failure) },
                )?;
            }
            false if is_kept => return Err(ended_with_outer(py)),
            false => (),
        }
        Ok(false)
    }

    fn __aenter__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import(ASYNC_BLOCK)?.call_method1("enter", (this,))
    }

    fn __aexit__<'py>(
        this: &Bound<'py, Self>,
        class: &Bound<'py, PyAny>,
        error: &Bound<'py, PyAny>,
        traceback: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.py().import(ASYNC_BLOCK)?.call_method1("leave", (this, class, error, traceback))
    }

    /// The table, where the transaction could begin without waiting; otherwise `wake` is called when that may be tried
    /// again.
    #[pyo3(name = "_enter_or_queue")]
    fn enter_or_queue(
        &self,
        py: Python<'_>,
        wake: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Py<Table>>> {
        self.check_not_open()?;
        let Some(open) = self.table.get().shared.begin_or_queue(py, wake)? else {
            return Ok(None);
        };
        *self.open() = Some(open);
        Ok(Some(self.table.clone_ref(py)))
    }

    /// Calls `wake` no more.
    #[pyo3(name = "_leave_queue")]
    fn leave_queue(&self, wake: &Bound<'_, PyAny>) {
        self.table.get().shared.leave_queue(wake);
    }

    /// Wakes another task in place of one that was woken and does not go on.
    #[pyo3(name = "_wake_next")]
    fn wake_next(&self, py: Python<'_>) {
        self.table.get().shared.wake_next(py);
    }
}

/// Notes beside the error that leaves a block that the block could not be ended as it was to.
fn note(error: &Bound<'_, PyAny>, failure: &PyErr) -> PyResult<()> {
    if error.hasattr("add_note")? {
        error.call_method1("add_note", (format!("taking back failed, too: {failure}"),))?;
    }
    Ok(())
}

/// The error where changes that were to be kept are gone.
#[cold]
pub(super) fn ended_with_outer(py: Python<'_>) -> PyErr {
    let message = "expected the innermost transaction of the table, found one that ended with the one around it";
    argument(py, message)
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(open) = open else { return };
        Python::try_attach(|py| {
            // Objects go while an exception is on its way, too.
            let raised = PyErr::take(py);
            self.table.get().shared.abandon(py, open);
            if let Some(raised) = raised {
                raised.restore(py);
            }
        });
    }
}
