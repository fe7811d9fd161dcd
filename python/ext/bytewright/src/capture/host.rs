//! Python as the host of a stream of columns that another program reads.

use std::thread::{self, ThreadId};

use bytewright::host::Host;
use bytewright::{Error, ErrorKind};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::border::{raise_soon, run_soon};
use crate::error::warn_of_all;
use crate::host::PythonHost;

/// The host for a program in another language, which reads a stream of batches: it gets the error's text. It may read in a
/// thread of its own while one of Python's waits for it with Python's lock held. So only the thread that has made the
/// stream looks for interrupts, which would not be told to any other.
pub(crate) struct StreamHost<'a> {
    python: PythonHost<'a>,
    is_owner: bool,
}

impl<'a> StreamHost<'a> {
    pub(crate) fn new(object: Option<&'a Py<PyAny>>, owner: ThreadId) -> Self {
        StreamHost { python: PythonHost { object }, is_owner: thread::current().id() == owner }
    }
}

impl StreamHost<'_> {
    /// Warns of damage, of which the thread that made the stream is told here, and otherwise the main thread when that goes on.
    ///
    /// # Errors
    /// The warning, where the program makes errors of such ones.
    pub(crate) fn warn_of_all(&self, damage: Vec<Error>) -> bytewright::Result<()> {
        if damage.is_empty() {
            return Ok(());
        }
        if self.is_owner {
            return Python::attach(|py| warn_of_all(py, &damage)).map_err(to_core_error);
        }
        run_soon(move |py| warn_of_all(py, &damage));
        Ok(())
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
        if self.is_owner {
            self.python.wait(work, wake).map_err(to_core_error)
        } else {
            Ok(Some(work()))
        }
    }

    fn check_interrupts(&self) -> bytewright::Result<()> {
        if !self.is_owner {
            return Ok(());
        }
        self.python.check_interrupts().map_err(|error| Python::attach(|py| interruption(py, error)))
    }

    fn read(&self, count_max: usize) -> bytewright::Result<Vec<u8>> {
        self.python.read(count_max).map_err(to_core_error)
    }
}

/// Turns an exception into an error of the core.
fn to_core_error(error: PyErr) -> Error {
    Python::attach(|py| match error.is_instance_of::<PyException>(py) {
        true => Error::new(ErrorKind::Io(None), error.to_string()),
        // An interrupt, in code that the object runs.
        false => interruption(py, error),
    })
}

/// The error of what the handler of a signal raised. It is raised itself, too, where the other program returns to
/// Python: that program makes an error of its own of this one.
fn interruption(py: Python<'_>, error: PyErr) -> Error {
    let text = format!("interrupted: {error}");
    raise_soon(py, error);
    Error::new(ErrorKind::Io(None), text)
}
