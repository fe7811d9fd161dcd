//! Objects and names of a program as errors repeat them: in part, where they are long.

use bytewright::error::excerpt;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The name of an object's class.
#[cold]
pub(crate) fn class_name(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    excerpt(&name).into_owned()
}

/// The `repr` of an object, or the name of its class, where that has none: an `int` of more digits than Python writes.
#[cold]
pub(crate) fn shown(object: &Bound<'_, PyAny>) -> String {
    object
        .repr()
        .map_or_else(|_| class_name(object), |shown| excerpt(&shown.to_string_lossy()).into_owned())
}

/// A text in part, where it is long, for the modules in Python.
#[pyfunction(name = "excerpt", signature = (text, /))]
pub(crate) fn excerpt_of(text: &Bound<'_, PyString>) -> String {
    excerpt(&text.to_string_lossy()).into_owned()
}
