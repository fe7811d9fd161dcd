//! Python as the host of the core's tables: whose turn it is, by thread and by task.

use bytewright::host::{Host, TurnHost};
use bytewright::{Error, ErrorKind};
use pyo3::prelude::*;

use crate::error::{guarded, raised};
use crate::host::PythonHost;
use crate::turn::{Strand, TurnLock};

/// A thread of Python, or a task of one, that uses a table.
///
/// Another task of a thread cannot wait for its turn, because the first one would not go on meanwhile. A transaction that
/// no task began is of all tasks that its thread runs inside of it.
pub(super) struct TableHost<'a> {
    pub(super) lock: &'a TurnLock,
}

impl Host for TableHost<'_> {
    type Error = PyErr;

    fn error(&self, error: Error) -> PyErr {
        PythonHost::OF_FILE.error(error)
    }

    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        _wake: &(dyn Fn() + Sync),
    ) -> PyResult<Option<T>> {
        // Nobody wakes it: what waits for long is done in steps, between which interrupts are looked for.
        Python::attach(|py| raised(py, py.detach(|| guarded(|| Ok(work())))).map(Some))
    }

    fn check_interrupts(&self) -> PyResult<()> {
        PythonHost::OF_FILE.check_interrupts()
    }
}

impl TurnHost for TableHost<'_> {
    type Caller = Strand;

    fn caller(&self) -> PyResult<Strand> {
        Python::attach(Strand::running)
    }

    fn is_running(&self, holder: &Strand) -> PyResult<bool> {
        Python::attach(|py| holder.is_running(py))
    }

    fn is_of_this_thread(&self, holder: &Strand) -> bool {
        holder.is_of_this_thread()
    }

    fn lock_turn(&self) -> PyResult<()> {
        Python::attach(|py| self.lock.take(py))
    }

    fn try_lock_turn(&self) -> PyResult<bool> {
        Python::attach(|py| self.lock.try_take(py))
    }

    fn unlock_turn(&self) -> PyResult<()> {
        Python::attach(|py| self.lock.give_back(py))
    }

    fn refusal(&self) -> Error {
        let message = "expected a table that no other task of this thread is changing, found a transaction of such a \
                       task; let it end first, or wait for it with: async with table.transaction()";
        Error::new(ErrorKind::Lock, message)
    }
}
