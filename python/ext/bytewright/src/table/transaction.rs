//! Changes that are made together or not at all.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::{Table, commits_wait};

/// The `with` block of `table.transaction()`.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct Transaction {
    table: Py<Table>,
    /// How many transactions are open inside of each other with this one; 0 when it is not.
    depth: AtomicUsize,
}

impl Transaction {
    pub(super) fn new(table: Bound<'_, Table>) -> Transaction {
        Transaction { table: table.unbind(), depth: AtomicUsize::new(0) }
    }
}

#[pymethods]
impl Transaction {
    fn __enter__(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        if self.depth.load(Relaxed) > 0 {
            return Err(PyRuntimeError::new_err(
                "expected a transaction that is not open, found it open",
            ));
        }
        let table = self.table.get();
        let is_outermost = table.shared.take_turn(py)?;
        let begun = table.shared.change(py, |table| table.begin().map(|()| table.depth()));
        if begun.is_err() && is_outermost {
            table.shared.give_turn_back(py)?;
        }
        self.depth.store(begun?, Relaxed);
        Ok(self.table.clone_ref(py))
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        class: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let depth = self.depth.swap(0, Relaxed);
        if depth == 0 {
            return Err(PyRuntimeError::new_err("expected an open transaction, found none"));
        }
        end(py, self.table.get(), depth, class.is_none())?;
        Ok(false)
    }
}

/// Ends the transactions from `depth` on, and gives the turn back with the outermost.
pub(super) fn end(py: Python<'_>, table: &Table, depth: usize, is_kept: bool) -> PyResult<()> {
    let finish = |table: &mut dyn bytewright::table::Table| {
        // Whoever left those inside open did not end them.
        while table.depth() > depth {
            table.abort()?;
        }
        match table.depth() {
            open if open < depth => Ok(()),
            _ if is_kept => table.commit(),
            _ => table.abort(),
        }
    };
    let ended = match commits_wait(table) {
        true => table.shared.at_length(py, |content| finish(content.table_mut()?)),
        false => table.shared.change(py, finish),
    };
    if depth == 1 {
        table.shared.give_turn_back(py)?;
    }
    ended
}
