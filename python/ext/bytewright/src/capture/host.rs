//! Python as the host of a pass: how it waits, is interrupted, and brings bytes of a file object.

use std::thread::{self, ThreadId};

use bytewright::session::Host;
use bytewright::{Error, ErrorKind};
use pyo3::exceptions::{PyBlockingIOError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::error::to_python;

/// A thread of Python that waits for a pass, and where that has its bytes from.
pub(super) struct PythonHost<'a> {
    /// A file object, where the capture is none of the system's files.
    pub(super) object: Option<&'a Py<PyAny>>,
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
    let found = object.call_method1("read", (count_max,))?;
    if let Ok(bytes) = found.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if found.is_none() {
        let message =
            "expected input, found none there: a capture is read from an object that waits for it";
        return Err(PyBlockingIOError::new_err(message));
    }
    let view = PyMemoryView::from(&found).map_err(|_| {
        let class = found.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!(
            "expected bytes from read, found {class}; open the file in binary mode"
        ))
    })?;
    Ok(view.call_method0("tobytes")?.cast::<PyBytes>()?.as_bytes().to_vec())
}

/// The same for a program in another language, which reads a stream of batches: it gets the error's text. It may read in a
/// thread of its own while one of Python's waits for it with Python's lock held. So only the thread that has made the
/// stream looks for interrupts, which would not be told to any other.
pub(super) struct StreamHost<'a> {
    python: PythonHost<'a>,
    is_owner: bool,
}

impl<'a> StreamHost<'a> {
    pub(super) fn new(object: Option<&'a Py<PyAny>>, owner: ThreadId) -> Self {
        StreamHost { python: PythonHost { object }, is_owner: thread::current().id() == owner }
    }
}

impl Host for StreamHost<'_> {
    type Error = Error;

    fn error(&self, error: Error) -> Error {
        error
    }

    fn wait<T: Send>(
        &self,
        work: &(dyn Fn() -> T + Sync),
        wake: &(dyn Fn() + Sync),
    ) -> bytewright::Result<Option<T>> {
        if self.is_owner { self.python.wait(work, wake).map_err(told) } else { Ok(Some(work())) }
    }

    fn check_interrupts(&self) -> bytewright::Result<()> {
        if !self.is_owner {
            return Ok(());
        }
        self.python.check_interrupts().map_err(|error| {
            // To handle it has used it up; it is to be raised where the other program returns to Python.
            let again =
                |py: Python<'_>| py.import("_thread")?.call_method0("interrupt_main").map(drop);
            told(Python::attach(again).err().unwrap_or(error))
        })
    }

    fn read(&self, count_max: usize) -> bytewright::Result<Vec<u8>> {
        self.python.read(count_max).map_err(told)
    }
}

/// An exception as an error of the core.
fn told(error: PyErr) -> Error {
    Error::new(ErrorKind::Io(None), error.to_string())
}
