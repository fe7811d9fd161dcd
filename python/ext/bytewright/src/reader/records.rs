//! Records of one length: as tuples, or as bytes.

use std::sync::{Arc, Mutex, PoisonError};

use bytewright::Error;
use bytewright::host::Operation;
use bytewright::wire::{RecordTemplate, RecordValue};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyList, PyTuple};

use super::Reader;
use crate::error::{BEING_READ, no_pickle, raised, to_python};
use crate::stream_host::Sharing;

/// The template that was used last, as it is likely to be used again.
#[derive(Default)]
pub(super) struct Templates(Mutex<Option<(String, Arc<RecordTemplate>)>>);

impl Templates {
    pub(super) fn get(&self, py: Python<'_>, text: &str) -> PyResult<Arc<RecordTemplate>> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, template)) = last.as_ref().filter(|(known, _)| known == text) {
            return Ok(Arc::clone(template));
        }
        let parsed = RecordTemplate::parse(text).map(Arc::new);
        if let Ok(template) = &parsed {
            *last = Some((text.to_owned(), Arc::clone(template)));
        }
        drop(last);
        raised(py, parsed)
    }
}

fn object<'py>(py: Python<'py>, value: RecordValue<'_>) -> Bound<'py, PyAny> {
    match value {
        RecordValue::Unsigned(number) => PyInt::new(py, number).into_any(),
        RecordValue::Signed(number) => PyInt::new(py, number).into_any(),
        RecordValue::Float(number) => PyFloat::new(py, number).into_any(),
        RecordValue::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
    }
}

fn tuple<'py>(
    py: Python<'py>,
    template: &RecordTemplate,
    record: &[u8],
) -> PyResult<Bound<'py, PyTuple>> {
    let mut values = template.values(record).map(|value| object(py, value));
    // The record is whole, so there are as many.
    let places = 0..template.value_count();
    PyTuple::new(py, places.map(|_| values.next().unwrap_or_else(|| py.None().into_bound(py))))
}

/// The next record, if there is one.
fn next<'py>(
    py: Python<'py>,
    operation: &Operation<'_, Sharing<'_>>,
    template: &RecordTemplate,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let len = template.record_len();
    if !operation.want_record(len)? {
        return Ok(None);
    }
    operation.take(len, len, |record| tuple(py, template, record)).map(|made| Some(made.into_any()))
}

/// The next record of a reader.
pub(super) fn one<'py>(
    py: Python<'py>,
    operation: &Operation<'_, Sharing<'_>>,
    reader: &Reader,
    template: &RecordTemplate,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(made) = next(py, operation, template)? {
        return Ok(made);
    }
    let error = Error::truncated("a record", template.record_len() as u64, 0);
    Err(to_python(py, &error.at(operation.position()?).in_file(&reader.name(py))))
}

/// Up to `count` records. Where it fails, none is taken that can be read again.
pub(super) fn tuples<'py>(
    py: Python<'py>,
    operation: &Operation<'_, Sharing<'_>>,
    template: &RecordTemplate,
    count: Option<usize>,
) -> PyResult<Bound<'py, PyList>> {
    // To make many objects may run finalizers, and those let other threads run.
    operation.let_interrupts()?;
    let list = PyList::empty(py);
    let len = template.record_len();
    operation.records(len, count.unwrap_or(usize::MAX), |count| {
        operation.take(count * len, count * len, |records| {
            records
                .chunks_exact(len)
                .try_for_each(|record| list.append(tuple(py, template, record)?))
        })
    })?;
    Ok(list)
}

/// An iterator over the records that are left.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct RecordIterator {
    reader: Py<Reader>,
    form: Form,
}

/// Form in which an iterator gives each record.
enum Form {
    Tuples(Arc<RecordTemplate>),
    Bytes(usize),
}

impl RecordIterator {
    pub(super) fn of_tuples(reader: Py<Reader>, template: Arc<RecordTemplate>) -> RecordIterator {
        RecordIterator { reader, form: Form::Tuples(template) }
    }

    pub(super) fn of_bytes(reader: Py<Reader>, size: usize) -> RecordIterator {
        RecordIterator { reader, form: Form::Bytes(size) }
    }
}

#[pymethods]
impl RecordIterator {
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(no_pickle("RecordIterator", BEING_READ))
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.reader.get().operate(py, |py, operation| match &self.form {
            Form::Tuples(template) => next(py, operation, template),
            Form::Bytes(size) => match operation.want_record(*size)? {
                true => operation
                    .take(*size, *size, |record| Ok(PyBytes::new(py, record).into_any()))
                    .map(Some),
                false => Ok(None),
            },
        })
    }
}
