//! Changes that are made together or not at all.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytewright::host::TurnHost;
use bytewright::host::table::{TableHandle, TransactionId, TriedBegin};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use super::Table;
use crate::error::{argument, no_pickle, to_python};
use crate::task::Task;

/// Module with what `async with` runs.
const ASYNC_BLOCK: &str = "bytewright._async_transaction";

/// The `with` block of `table.transaction()`. Where its object goes while it is open, it is taken back: whoever could end
/// it is gone.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct Transaction {
    table: Py<Table>,
    open: Mutex<Option<TransactionId>>,
}

impl Transaction {
    pub(super) fn new(table: Bound<'_, Table>) -> Transaction {
        Transaction { table: table.unbind(), open: Mutex::new(None) }
    }

    fn open(&self) -> MutexGuard<'_, Option<TransactionId>> {
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
        let open = self.table.get().begin_block(py)?;
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
        let is_open = table.check_end(py, open, is_kept)?;
        *self.open() = None;
        match is_open {
            true => {
                let ended = table.run(py, |handle, host| handle.end_one(host, open, is_kept));
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
    /// again. False if another process has the turn to write the file, for `waited` seconds so far: only trying again tells
    /// when it has not. After the timeout that is an error.
    #[pyo3(name = "_enter_or_queue")]
    fn enter_or_queue(
        &self,
        py: Python<'_>,
        wake: &Bound<'_, PyAny>,
        waited: f64,
    ) -> PyResult<Option<Py<PyAny>>> {
        self.check_not_open()?;
        match self.table.get().begin_or_queue(py, wake, waited)? {
            TriedBegin::Begun(open) => {
                *self.open() = Some(open);
                Ok(Some(self.table.clone_ref(py).into_any()))
            }
            TriedBegin::InUse => Ok(None),
            TriedBegin::Elsewhere(_) => {
                Ok(Some(PyBool::new(py, false).to_owned().into_any().unbind()))
            }
        }
    }

    /// Calls `wake` no more.
    #[pyo3(name = "_leave_queue")]
    fn leave_queue(&self, wake: &Bound<'_, PyAny>) {
        self.table.get().lock.leave_queue(wake);
    }

    /// Wakes another task in place of one that was woken and does not go on.
    #[pyo3(name = "_wake_next")]
    fn wake_next(&self, py: Python<'_>) {
        self.table.get().lock.wake_next(py);
    }
}

impl Table {
    /// Begins a transaction for a block that other tasks may run beside: inside of one that no task began, they would not
    /// end in the order in which they can.
    fn begin_block(&self, py: Python<'_>) -> PyResult<TransactionId> {
        let holder = self.handle.with(py, |_, handle| handle.turn().holder());
        if holder.is_some_and(|holder| holder.is_this_thread_without_task())
            && Task::running(py)?.is_some()
        {
            return Err(to_python(py, &self.host().refusal()));
        }
        self.run(py, TableHandle::begin)
    }

    /// Begins one as [`Self::begin_block`] does, where that need not wait; otherwise nothing, and `wake` is called when it
    /// may be tried again. After `waited` seconds another process is waited for no longer than the timeout.
    fn begin_or_queue(
        &self,
        py: Python<'_>,
        wake: &Bound<'_, PyAny>,
        waited: f64,
    ) -> PyResult<TriedBegin> {
        if self.handle.with(py, |_, handle| handle.turn().is_mine(&self.host()))? {
            return self.begin_block(py).map(TriedBegin::Begun);
        }
        // In the queue first, so that no turn that is given back meanwhile is missed.
        self.lock.join_queue(wake)?;
        let begun = self.run(py, TableHandle::try_begin);
        if !matches!(begun, Ok(TriedBegin::InUse)) {
            self.lock.leave_queue(wake);
        }
        let timeout = self.handle.with(py, |_, handle| handle.timeout());
        match begun? {
            TriedBegin::Elsewhere(error) if waited >= timeout.as_secs_f64() => {
                Err(to_python(py, &error))
            }
            tried => Ok(tried),
        }
    }

    /// Checks that a transaction can end now, and says whether it is open still.
    pub(super) fn check_end(
        &self,
        py: Python<'_>,
        one: TransactionId,
        is_kept: bool,
    ) -> PyResult<bool> {
        self.run(py, |handle, host| handle.check_end(host, one, is_kept))
    }

    /// Takes back a transaction whose object is gone.
    pub(super) fn abandon(&self, py: Python<'_>, one: TransactionId) {
        self.handle.with(py, |_, handle| handle.abandon(&self.host(), one));
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
            self.table.get().abandon(py, open);
            if let Some(raised) = raised {
                raised.restore(py);
            }
        });
    }
}
