//! Changes of a table in a file, one after another.

use std::sync::{Arc, Mutex, PoisonError};

use bytewright::table::{self, Change};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::values::{Object, ValueForm};
use crate::error::{guarded, no_pickle, raised};
use crate::strings::{NotText, Strings};

/// Changes of a table in a file, one after another: tuples of `"clear"`, `"put"` or `"delete"`, the key, and the value, each
/// None where a change has none.
#[pyclass(frozen, module = "bytewright")]
pub(crate) struct Changes {
    /// Nothing at the end, so that what it holds of the table is given back.
    changes: Mutex<Option<Box<dyn table::Changes>>>,
    strings: Strings,
    values: Arc<ValueForm>,
    position: String,
}

impl Changes {
    pub(super) fn new(
        changes: Box<dyn table::Changes>,
        strings: Strings,
        values: Arc<ValueForm>,
    ) -> Changes {
        let position = changes.position().to_string();
        Changes { changes: Mutex::new(Some(changes)), strings, values, position }
    }

    /// The parts of a change as objects. No Python code runs.
    fn parts(&self, py: Python<'_>, change: &Change<'_>) -> Parts {
        let key = change.key().map(|key| self.strings.object(py, key));
        let value = change.value().map(|value| self.values.object(py, value));
        (change.name(), key, value)
    }
}

/// Name, key and value of a change.
type Parts = (&'static str, Option<Result<Py<PyAny>, NotText>>, Option<Object>);

#[pymethods]
impl Changes {
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(no_pickle("Changes", "it is a place in a table; pickle its position"))
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = guarded(|| {
            let Some(open) = changes.as_mut() else { return Ok(None) };
            let Some(change) = open.advance()? else {
                *changes = None;
                return Ok(None);
            };
            Ok(Some(self.parts(py, &change)))
        });
        drop(changes);
        let Some((name, key, value)) = raised(py, outcome)? else { return Ok(None) };
        let key = key.transpose().map_err(|bytes| bytes.raised(py))?;
        let value = value.map(|value| self.values.loaded(py, value)).transpose()?;
        (name, key, value).into_pyobject(py).map(Some)
    }

    /// The position behind the last of the changes, whatever of them was seen: for the next `changes_since`.
    #[getter]
    fn position(&self) -> &str {
        &self.position
    }
}
