//! Python as the core's sessions see it: how it waits, is interrupted, and brings bytes of a file object.

use bytewright::Error;
use bytewright::host::Host;
use pyo3::exceptions::{PyBlockingIOError, PyOSError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyMemoryView};

use crate::error::{or_worded, to_python};
use crate::shown::{class_name, shown};

/// A thread of Python that waits for a pass, and where that has its bytes from.
pub(crate) struct PythonHost<'a> {
    /// A file object, where the capture is none of the system's files.
    pub(crate) object: Option<&'a Py<PyAny>>,
}

impl PythonHost<'static> {
    /// A thread that waits for what a file of the system gives.
    pub(crate) const OF_FILE: Self = PythonHost { object: None };
}

impl Host for PythonHost<'_> {
    type Error = PyErr;

    fn error(&self, error: Error) -> PyErr {
        Python::attach(|py| to_python(py, &error))
    }

    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        _wake: &(dyn Fn() + Sync),
    ) -> PyResult<Option<T>> {
        // Nobody wakes it: the session looks for interrupts by itself, ten times a second.
        Ok(Some(Python::attach(|py| py.detach(work))))
    }

    fn check_interrupts(&self) -> PyResult<()> {
        Python::attach(|py| py.check_signals())
    }

    fn read(&self, count_max: usize) -> PyResult<Vec<u8>> {
        Python::attach(|py| match self.object {
            Some(object) => read(object.bind(py), count_max),
            None => Ok(Vec::new()),
        })
    }
}

fn read(object: &Bound<'_, PyAny>, count_max: usize) -> PyResult<Vec<u8>> {
    let Some(read) = object.getattr_opt("read")? else { return read_into(object, count_max) };
    Ok(bytes_given(read.call1((count_max,))?)?.as_bytes().to_vec())
}

/// Reads into a buffer what an object without `read` writes there.
pub(crate) fn read_into(object: &Bound<'_, PyAny>, count_max: usize) -> PyResult<Vec<u8>> {
    let buffer = PyByteArray::new(object.py(), &[]);
    buffer.resize(count_max)?;
    let count = object.call_method1("readinto", (&buffer,))?;
    if count.is_none() {
        return bytes_given(count).map(|_| Vec::new());
    }
    let count = count_given(&count, "readinto", count_max)?;
    let mut bytes = buffer.to_vec();
    bytes.truncate(count);
    Ok(bytes)
}

/// Returns how many bytes an object says that it read or wrote. True is no count: it says that something was done.
///
/// # Errors
///
/// `OSError`, as Python's own buffers raise it, for what is no count up to `count_max`.
pub(crate) fn count_given(
    found: &Bound<'_, PyAny>,
    method: &str,
    count_max: usize,
) -> PyResult<usize> {
    let count = match found.extract::<usize>() {
        _ if found.is_instance_of::<PyBool>() => None,
        Ok(count) => Some(count),
        Err(error) if is_no_count(found.py(), &error) => None,
        Err(error) => return Err(error),
    };
    match count.filter(|count| *count <= count_max) {
        Some(count) => Ok(count),
        None => Err(PyOSError::new_err(format!(
            "{method}() returned {} (should have been between 0 and {count_max})",
            shown(found)?
        ))),
    }
}

/// Tells that an object is no Integer, or none that a count may be, from what its own code raises.
fn is_no_count(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyOverflowError>(py)
}

/// Returns the bytes that a file object gave; none at its end.
pub(crate) fn bytes_given(found: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyBytes>> {
    let found = match found.cast_into::<PyBytes>() {
        Ok(bytes) => return Ok(bytes),
        Err(error) => error.into_inner(),
    };
    if found.is_none() {
        let message = "expected input, found none there: an object that is read has to wait for it";
        return Err(PyBlockingIOError::new_err(message));
    }
    let view = PyMemoryView::from(&found).map_err(|error| {
        or_worded::<PyTypeError>(found.py(), error, || {
            let class = class_name(&found);
            PyTypeError::new_err(format!(
                "expected bytes from read, found {class}; open the file in binary mode"
            ))
        })
    })?;
    Ok(view.call_method0("tobytes")?.cast_into()?)
}
