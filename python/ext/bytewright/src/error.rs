//! The core's errors as Python exceptions: one class per kind, made in this one place.

use std::ffi::CString;

pub(crate) use bytewright::host::guard as guarded;
use bytewright::packet::NetworkLabels;
use bytewright::panics;
use bytewright::terminal::Harmless;
use bytewright::{Error, ErrorKind};
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyOSError, PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The module that has the exception classes.
const CLASSES: &str = "bytewright._errors";

/// The exception for an error of the core. What the system refused becomes the class that Python itself would raise,
/// such as `FileNotFoundError`.
///
/// It imports, so other threads may run meanwhile: nothing of ours may be locked.
pub(crate) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    build(py, error).unwrap_or_else(|failure| failure)
}

fn build(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let name = match error.kind() {
        ErrorKind::Io(Some(errno)) => return system_error(py, error, errno),
        ErrorKind::Io(None) => return Ok(PyOSError::new_err(error.to_string())),
        ErrorKind::Format => "FormatError",
        ErrorKind::Truncated { .. } => "TruncatedError",
        ErrorKind::Limit => "LimitError",
        ErrorKind::Lock => "LockError",
        ErrorKind::Closed => "ClosedError",
        ErrorKind::Corrupt => "CorruptError",
        ErrorKind::MissingLibrary => "MissingLibraryError",
        ErrorKind::Argument => "ArgumentError",
        _ => "InternalError",
    };
    let place = PyDict::new(py);
    place.set_item("offset", error.offset())?;
    place.set_item("file", error.file())?;
    if let ErrorKind::Truncated { needed, available } = error.kind() {
        place.set_item("needed", needed)?;
        place.set_item("available", available)?;
    }
    let class = py.import(CLASSES)?.getattr(name)?;
    Ok(PyErr::from_value(class.call((error.to_string(),), Some(&place))?))
}

/// Python chooses the class by the number, and puts the words and the file together. The words are the system's own, unless
/// there is no file, or the message shows a place in another one. Without a file there is no `filename`: a program opens or
/// tells what it finds there.
fn system_error(py: Python<'_>, error: &Error, errno: i32) -> PyResult<PyErr> {
    let message = error.message();
    let Some(file) = error.file() else {
        return Ok(PyOSError::new_err((errno, Harmless::lines(message).to_string())));
    };
    let told = match message.split_once('\n') {
        Some((first_line, _)) => Harmless::line(first_line).to_string(),
        None => py.import("os")?.call_method1("strerror", (errno,))?.extract::<String>()?,
    };
    Ok(PyOSError::new_err((errno, told, file.to_owned())))
}

/// Warns of damage that ended captures early, whose rows are kept.
///
/// # Errors
/// The warning, where the program makes errors of such ones.
pub(crate) fn warn_of_all(py: Python<'_>, damage: &[Error]) -> PyResult<()> {
    damage.iter().try_for_each(|error| warn_of(py, error))
}

fn warn_of(py: Python<'_>, error: &Error) -> PyResult<()> {
    let class = py.import(CLASSES)?.getattr("DamageWarning")?;
    let text = CString::new(format!("{error}; what is before it was read"))?;
    PyErr::warn(py, &class, &text, 1)
}

/// Warns of networks that a file gives two labels.
///
/// # Errors
/// The warning, where the program makes errors of such ones.
pub(crate) fn warn_of_replaced(py: Python<'_>, labels: &NetworkLabels) -> PyResult<()> {
    let Some(replaced) = labels.replaced() else { return Ok(()) };
    let text = CString::new(Harmless::line(&replaced.to_string()).to_string())?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}

/// Warns of damage for which a cache was cleared.
///
/// # Errors
/// The warning, where the program makes errors of such ones.
#[cold]
pub(crate) fn told_of_clearing(py: Python<'_>, error: &Error) -> PyResult<()> {
    py.import(CLASSES)?.call_method1("warn_of_clearing", (error.to_string(),)).map(drop)
}

/// A `bytewright.ArgumentError`.
pub(crate) fn argument(py: Python<'_>, message: impl Into<String>) -> PyErr {
    to_python(py, &Error::new(ErrorKind::Argument, message))
}

/// Reason for which an iterator is not pickled, and what to pickle instead.
pub(crate) const BEING_READ: &str = "it is being read; pickle a list of what it gives";

/// The error of pickling, or copying, an object for which something else can be pickled. It says what.
#[cold]
pub(crate) fn no_pickle(name: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!("cannot pickle a {name}: {instead}"))
}

/// The error in `worded` for one of class `E`, with which Python says that an object cannot do what it is asked to. Any other one
/// stays: the object's own code raises it, or the handler of a signal that came meanwhile.
pub(crate) fn or_worded<E: PyTypeInfo>(
    py: Python<'_>,
    error: PyErr,
    worded: impl FnOnce() -> PyErr,
) -> PyErr {
    if error.is_instance_of::<E>(py) { worded() } else { error }
}

/// The error of work whose end, which had to come nevertheless, may have failed, too. That one is raised with the first as its
/// context, as from a `finally`.
pub(crate) fn after<T>(py: Python<'_>, work: PyResult<T>, end: PyResult<()>) -> PyResult<T> {
    match (work, end) {
        (work, Ok(())) => work,
        (Ok(_), Err(error)) => Err(error),
        (Err(first), Err(error)) => {
            error.value(py).setattr("__context__", first.into_value(py))?;
            Err(error)
        }
    }
}

/// Turns the core's result into Python's.
pub(crate) fn raised<T>(py: Python<'_>, result: bytewright::Result<T>) -> PyResult<T> {
    result.map_err(|error| to_python(py, &error))
}

/// Does work that raises errors of Python; a panic in it becomes `bytewright.InternalError`, which a program can catch:
/// PyO3's own is no `Exception`.
pub(crate) fn guarded_python<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    panics::catch(work).unwrap_or_else(|panic| Err(to_python(py, &Error::internal(&panic))))
}

/// The `count`th work of the core from now on panics in place of being done; none for 0. For the tests of this package alone:
/// there should be no other way to a panic. Answers what was left of an earlier count.
#[pyfunction]
pub(crate) fn panic_in_nth(count: usize) -> usize {
    panics::panic_in_nth(count)
}
