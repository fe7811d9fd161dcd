//! A place in an ordered table that moves both ways.

use std::sync::{Arc, Mutex, PoisonError};

use bytewright::Result;
use bytewright::table;
use pyo3::prelude::*;

use super::values::ValueForm;
use crate::error::no_pickle;
use crate::error::{guarded, raised};
use crate::strings::Strings;

/// A place in an ordered table as it was: at an entry, before the first or after the last. It begins before the first.
///
/// Moves return whether it is at an entry then.
#[pyclass(frozen, module = "bytewright")]
pub(crate) struct Cursor {
    cursor: Mutex<table::Cursor>,
    strings: Strings,
    values: Arc<ValueForm>,
}

impl Cursor {
    pub(super) fn new(cursor: table::Cursor, strings: Strings, values: Arc<ValueForm>) -> Cursor {
        Cursor { cursor: Mutex::new(cursor), strings, values }
    }

    /// Uses the cursor. No Python code may run meanwhile.
    fn with<R>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut table::Cursor) -> Result<R>,
    ) -> PyResult<R> {
        let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = guarded(|| work(&mut cursor));
        drop(cursor);
        raised(py, outcome)
    }
}

#[pymethods]
impl Cursor {
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(no_pickle("Cursor", "it is a place in a table; pickle its key"))
    }

    /// Moves to the entry with the lowest key.
    fn first(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |cursor| cursor.first())
    }

    /// Moves to the entry with the highest key.
    fn last(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |cursor| cursor.last())
    }

    /// Moves to the entry with the lowest key that is not below this one.
    fn seek(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.strings.bytes(key, "key")?;
        self.with(py, |cursor| cursor.seek(&key))
    }

    /// Moves to the next entry, or after the last.
    fn next(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, table::Cursor::next)
    }

    /// Moves to the entry before, or before the first.
    fn prev(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, table::Cursor::prev)
    }

    /// The key of the entry that it is at, or None.
    #[getter]
    fn key(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let key = self
            .with(py, |cursor| Ok(cursor.entry().map(|(key, _)| self.strings.object(py, key))))?;
        key.transpose().map_err(|bytes| bytes.raised(py))
    }

    /// The value of the entry that it is at, or None.
    #[getter]
    fn value(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let value = self.with(py, |cursor| {
            Ok(cursor.entry().map(|(_, value)| self.values.object(py, value)))
        })?;
        value.map(|value| self.values.loaded(py, value)).transpose()
    }
}
