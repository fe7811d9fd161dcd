//! Objects and names of a program as errors repeat them: in part, where they are long.

use bytewright::error::excerpt;
use bytewright::terminal::Harmless;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

/// The name of an object's class.
#[cold]
pub(crate) fn class_name(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    excerpt(&name).into_owned()
}

/// Returns the `repr` of an object in part, if it is long, with nothing that harms a terminal.
///
/// # Errors
/// Returns what the object's own code raises, or the handler of a signal that came meanwhile.
#[cold]
pub(crate) fn shown(object: &Bound<'_, PyAny>) -> PyResult<String> {
    match object.repr() {
        Ok(text) => Ok(Harmless::line(&excerpt(&text.to_string_lossy())).to_string()),
        // Of more digits than Python writes.
        Err(error)
            if object.is_instance_of::<PyInt>()
                && error.is_instance_of::<PyValueError>(object.py()) =>
        {
            Ok("a larger one".to_owned())
        }
        Err(error) => Err(error),
    }
}

/// A text in part, where it is long, for the modules in Python.
#[pyfunction(name = "excerpt", signature = (text, /))]
pub(crate) fn excerpt_of(text: &Bound<'_, PyString>) -> String {
    excerpt(&text.to_string_lossy()).into_owned()
}
