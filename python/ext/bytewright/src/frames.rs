//! Programs that want an array of what is columns.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The error of `pandas.DataFrame(columns)`, which would number the columns, and of numpy's arrays, which have no columns.
#[cold]
pub(crate) fn no_array(name: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "expected a program that reads Arrow's columns, found one that wants an array; use {name}.to_pandas() or \
         pandas.DataFrame.from_arrow({name})"
    ))
}
