//! Entries one after another: what `iter(table)` and its views walk.

use std::sync::{Arc, Mutex, PoisonError};

use bytewright::error::excerpt;
use bytewright::table;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::pair;
use super::values::ValueForm;
use crate::error::{BEING_READ, guarded, no_pickle, raised};
use crate::strings::Strings;

/// Part of each entry that an iteration gives.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Keys,
    Values,
    Items,
}

impl FromPyObject<'_, '_> for Part {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match name.extract::<String>()?.as_str() {
            "keys" => Ok(Part::Keys),
            "values" => Ok(Part::Values),
            "items" => Ok(Part::Items),
            other => Err(PyValueError::new_err(format!(
                "expected keys, values or items, found {}",
                excerpt(other)
            ))),
        }
    }
}

/// An iterator over the entries of one moment.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct Scan {
    /// Nothing at the end, so that what it holds of the table is given back.
    entries: Mutex<Option<Box<dyn table::Scan>>>,
    strings: Strings,
    values: Arc<ValueForm>,
    part: Part,
}

impl Scan {
    pub(super) fn new(
        entries: Box<dyn table::Scan>,
        strings: Strings,
        values: Arc<ValueForm>,
        part: Part,
    ) -> Scan {
        Scan { entries: Mutex::new(Some(entries)), strings, values, part }
    }
}

#[pymethods]
impl Scan {
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(no_pickle("Scan", BEING_READ))
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut key, mut value) = (None, None);
        let outcome = guarded(|| {
            let Some(scan) = entries.as_mut() else { return Ok(()) };
            let Some((key_bytes, value_bytes)) = scan.advance()? else {
                *entries = None;
                return Ok(());
            };
            if !matches!(self.part, Part::Values) {
                key = Some(self.strings.object(py, key_bytes));
            }
            if !matches!(self.part, Part::Keys) {
                value = Some(self.values.object(py, value_bytes));
            }
            Ok(())
        });
        drop(entries);
        raised(py, outcome)?;
        match (key, value) {
            (Some(key), Some(value)) => {
                Ok(Some(pair(py, &self.values, (key, value))?.into_any().unbind()))
            }
            (None, Some(value)) => self.values.loaded(py, value).map(Some),
            (key, None) => key.transpose().map_err(|bytes| bytes.raised(py)),
        }
    }
}
