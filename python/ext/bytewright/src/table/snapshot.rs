//! A table as it was.

use std::sync::{Arc, Mutex, PoisonError};

use bytewright::table::{self, OrderedSnapshot, Selection};
use bytewright::{Error, ErrorKind, Result};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::scan::{Part, Scan};
use super::selection::{range, selection};
use super::values::ValueForm;
use super::{bulk, pair};
use crate::error::{guarded, raised};
use crate::strings::Strings;

/// A snapshot of either kind of table.
pub(super) enum Content {
    Hashed(Box<dyn table::Snapshot>),
    Ordered(Box<dyn OrderedSnapshot>),
    Closed,
}

impl Content {
    fn snapshot(&self) -> Result<&dyn table::Snapshot> {
        match self {
            Content::Hashed(snapshot) => Ok(snapshot.as_ref()),
            Content::Ordered(snapshot) => Ok(snapshot.as_ref()),
            Content::Closed => Err(is_closed()),
        }
    }

    fn ordered(&self) -> Result<&dyn OrderedSnapshot> {
        match self {
            Content::Ordered(snapshot) => Ok(snapshot.as_ref()),
            Content::Hashed(_) => Err(Selection::needs_order()),
            Content::Closed => Err(is_closed()),
        }
    }
}

fn is_closed() -> Error {
    Error::new(ErrorKind::Closed, "expected an open snapshot, found it closed")
}

/// What `bytewright.Snapshot` is made of.
#[pyclass(frozen, subclass, mapping, module = "bytewright._bytewright")]
pub(crate) struct Snapshot {
    content: Mutex<Content>,
    strings: Strings,
    values: Arc<ValueForm>,
}

impl Snapshot {
    pub(super) fn new(content: Content, strings: Strings, values: Arc<ValueForm>) -> Snapshot {
        Snapshot { content: Mutex::new(content), strings, values }
    }

    /// Reads it. No Python code may run meanwhile.
    fn read<R>(&self, py: Python<'_>, work: impl FnOnce(&Content) -> Result<R>) -> PyResult<R> {
        let content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = guarded(|| work(&content));
        drop(content);
        raised(py, outcome)
    }

    fn find(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let key = self.strings.bytes(key, "key")?;
        let mut found = None;
        self.read(py, |content| {
            content
                .snapshot()?
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
        let mut content = other.content.lock().unwrap_or_else(PoisonError::into_inner);
        let content = std::mem::replace(&mut *content, Content::Closed);
        let values = Arc::clone(&other.values);
        Snapshot { content: Mutex::new(content), strings: other.strings, values }
    }

    /// Whether keys and values are `str`; otherwise they are `bytes`.
    #[getter]
    fn text(&self) -> bool {
        self.strings.is_text()
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.read(py, |content| Ok(matches!(content, Content::Closed)))
    }

    /// Gives what it holds of the table back.
    fn close(&self) {
        *self.content.lock().unwrap_or_else(PoisonError::into_inner) = Content::Closed;
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |content| Ok(content.snapshot()?.len()? as usize))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self.strings.key_sought(key)? {
            Some(key) => self.read(py, |content| content.snapshot()?.get_with(&key, &mut |_| ())),
            None => self.read(py, |content| content.snapshot().map(|_| false)),
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
                content.snapshot()?.get_many(slices, &mut |_, value| {
                    found.push(value.map(|value| self.values.object(py, value)));
                })
            })
        })?;
        Ok(bulk::or_default(py, found, default))
    }

    #[pyo3(name = "_scan", signature = (part, first = None, last = None, prefix = None, reverse = false, limit = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn scan(
        &self,
        py: Python<'_>,
        part: Part,
        first: Option<&Bound<'_, PyAny>>,
        last: Option<&Bound<'_, PyAny>>,
        prefix: Option<&Bound<'_, PyAny>>,
        reverse: bool,
        limit: Option<u64>,
    ) -> PyResult<Scan> {
        let selection = selection(self.strings, first, last, prefix, reverse, limit)?;
        let scan = self.read(py, |content| match &selection {
            Some(selection) => selection.scan(content.ordered()?),
            None => content.snapshot()?.scan(),
        })?;
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
        let mut found = None;
        self.read(py, |content| {
            let mut scan = content.ordered()?.scan_range(&range)?;
            if let Some((key, value)) = scan.advance()? {
                found = Some((self.strings.object(py, key), self.values.object(py, value)));
            }
            Ok(())
        })?;
        found.map(|entry| pair(py, &self.values, entry)).transpose()
    }
}
