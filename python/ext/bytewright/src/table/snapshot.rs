//! A table as it was.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytewright::host::table::AnySnapshot;
use bytewright::{Error, ErrorKind, Result};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::scan::{Part, Scan};
use super::selection::{range, selection};
use super::values::ValueForm;
use super::{bulk, pair};
use crate::error::{guarded, raised};
use crate::strings::Strings;

/// Base of `bytewright.Snapshot`.
#[pyclass(frozen, subclass, mapping, module = "bytewright._bytewright")]
pub(crate) struct Snapshot {
    /// Nothing once it is closed.
    content: Mutex<Option<AnySnapshot>>,
    strings: Strings,
    values: Arc<ValueForm>,
}

impl Snapshot {
    pub(super) fn new(content: AnySnapshot, strings: Strings, values: Arc<ValueForm>) -> Snapshot {
        Snapshot { content: Mutex::new(Some(content)), strings, values }
    }

    /// Reads it. No Python code may run meanwhile.
    fn read<R>(&self, py: Python<'_>, work: impl FnOnce(&AnySnapshot) -> Result<R>) -> PyResult<R> {
        let content = self.content();
        let outcome = guarded(|| work(content.as_ref().ok_or_else(is_closed)?));
        drop(content);
        raised(py, outcome)
    }

    fn content(&self) -> MutexGuard<'_, Option<AnySnapshot>> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let key = self.strings.bytes(key, "key")?;
        let mut found = None;
        self.read(py, |content| {
            content
                .as_snapshot()
                .get_with(&key, &mut |value| found = Some(self.values.object(py, value)))
        })?;
        found.map(|value| self.values.loaded(py, value)).transpose()
    }
}

#[pymethods]
impl Snapshot {
    /// Takes the place of another one, which is closed: a class of Python's makes its objects this way.
    #[new]
    fn new_of(other: &Snapshot) -> Snapshot {
        let content = other.content().take();
        let values = Arc::clone(&other.values);
        Snapshot { content: Mutex::new(content), strings: other.strings, values }
    }

    /// True if keys and values are `str`; otherwise they are `bytes`.
    #[getter]
    fn text(&self) -> bool {
        self.strings.is_text()
    }

    /// True after it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.content().is_none()
    }

    /// Gives what it holds of the table back.
    fn close(&self) {
        let closed = self.content().take();
        drop(closed);
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |content| Ok(content.as_snapshot().len()? as usize))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self.strings.key_sought(key)? {
            Some(key) => self.read(py, |content| content.as_snapshot().get_with(&key, &mut |_| ())),
            None => self.read(py, |_| Ok(false)),
        }
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.find(py, key)?.ok_or_else(|| PyKeyError::new_err((key.clone().unbind(),)))
    }

    /// The value of a key, or `default` without one.
    #[pyo3(signature = (key, default = None, /))]
    fn get(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Option<Py<PyAny>>> {
        Ok(self.find(py, key)?.or(default))
    }

    /// The value of each key, or `default`, as a list: faster than one after another.
    #[pyo3(signature = (keys, default = None))]
    fn get_many(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Option<Py<PyAny>>>> {
        let found = bulk::values_of(py, self.strings, &self.values, keys, |slices, found| {
            self.read(py, |content| {
                content.as_snapshot().get_many(slices, &mut |_, value| {
                    found.push(value.map(|value| self.values.object(py, value)));
                })
            })
        })?;
        Ok(bulk::or_default(py, found, default))
    }

    #[pyo3(name = "_scan", signature = (part, **range))]
    fn scan(
        &self,
        py: Python<'_>,
        part: Part,
        range: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Scan> {
        let selection = selection(self.strings, range)?;
        let scan = self.read(py, |content| content.scan(selection.as_ref()))?;
        Ok(Scan::new(scan, self.strings, Arc::clone(&self.values), part))
    }

    /// The first entry from `first` on, or with `reverse` from `last` down.
    #[pyo3(name = "_first", signature = (first = None, last = None, reverse = false))]
    fn first_of<'py>(
        &self,
        py: Python<'py>,
        first: Option<&Bound<'py, PyAny>>,
        last: Option<&Bound<'py, PyAny>>,
        reverse: bool,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let range = range(self.strings, first, last, None, reverse)?;
        let found = self
            .read(py, |content| content.first_in(range))?
            .map(|(key, value)| (self.strings.object(py, &key), self.values.object(py, &value)));
        found.map(|entry| pair(py, &self.values, entry)).transpose()
    }
}

#[cold]
fn is_closed() -> Error {
    Error::new(ErrorKind::Closed, "expected an open snapshot, found it closed")
}
