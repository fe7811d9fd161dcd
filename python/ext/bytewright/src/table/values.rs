//! Values of a table for Python: strings, integers, or what a codec makes of objects.

use std::borrow::Cow;

use bytewright::Error;
use bytewright::table::{ValueType, integer_of, integer_value};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};

use crate::error::to_python;
use crate::shown::{class_name, shown};
use crate::strings::{NotText, Strings};

/// An object for bytes of a table, or why there is none.
pub(super) type Object = std::result::Result<Py<PyAny>, Unshown>;

/// Reason for which bytes of a table are no object.
#[derive(Debug)]
pub(super) enum Unshown {
    NotText(NotText),
    Damaged(Error),
}

impl From<NotText> for Unshown {
    fn from(bytes: NotText) -> Self {
        Unshown::NotText(bytes)
    }
}

impl Unshown {
    #[cold]
    pub(super) fn raised(&self, py: Python<'_>) -> PyErr {
        match self {
            Unshown::NotText(bytes) => bytes.raised(py),
            Unshown::Damaged(error) => to_python(py, error),
        }
    }
}

/// Form of the values of a table.
pub(super) enum ValueForm {
    Strings(Strings),
    Integers,
    Objects(Codec),
}

/// Codec that makes bytes of objects, and objects of bytes.
pub(super) struct Codec {
    values: ValueType,
    dumps: Py<PyAny>,
    loads: Py<PyAny>,
    /// Object that Python was given for it.
    given: Py<PyAny>,
}

impl ValueForm {
    /// Of the name that a file remembers, and what Python was given: for most names a codec.
    pub(super) fn new(
        strings: Strings,
        values: ValueType,
        codec: Option<(Py<PyAny>, Py<PyAny>, Py<PyAny>)>,
    ) -> ValueForm {
        match codec {
            Some((given, dumps, loads)) => {
                ValueForm::Objects(Codec { values, dumps, loads, given })
            }
            None if values == ValueType::INTEGER => ValueForm::Integers,
            None => ValueForm::Strings(strings),
        }
    }

    /// Returns true if no Python code makes the bytes of values.
    pub(super) fn runs_no_python(&self) -> bool {
        !matches!(self, ValueForm::Objects(_))
    }

    /// Returns the form that a file remembers.
    pub(super) fn values(&self) -> ValueType {
        match self {
            ValueForm::Strings(_) => ValueType::BYTES,
            ValueForm::Integers => ValueType::INTEGER,
            ValueForm::Objects(codec) => codec.values,
        }
    }

    /// Returns the object that Python was given for it.
    pub(super) fn given<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match self {
            ValueForm::Objects(codec) => codec.given.bind(py).clone(),
            other => PyString::new(py, other.values().name()).into_any(),
        }
    }

    /// The bytes of a value.
    #[inline]
    pub(super) fn bytes<'a>(&self, given: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
        match self {
            ValueForm::Strings(strings) => strings.bytes(given, "value"),
            ValueForm::Integers => integer(given).map(|integer| Cow::Owned(integer.to_vec())),
            ValueForm::Objects(codec) => codec.dumped(given).map(Cow::Owned),
        }
    }

    /// The object for a value's bytes, which [`ValueForm::loaded`] makes ready. It allocates, and runs no Python code: the
    /// table may be borrowed.
    #[inline]
    pub(super) fn object(&self, py: Python<'_>, bytes: &[u8]) -> Object {
        match self {
            ValueForm::Strings(strings) => Ok(strings.object(py, bytes)?),
            ValueForm::Integers => match integer_of(bytes) {
                Ok(integer) => Ok(PyInt::new(py, integer).into_any().unbind()),
                Err(error) => Err(Unshown::Damaged(error)),
            },
            ValueForm::Objects(_) => Ok(PyBytes::new(py, bytes).into_any().unbind()),
        }
    }

    /// The value itself, once the table is free.
    #[inline]
    pub(super) fn loaded(&self, py: Python<'_>, object: Object) -> PyResult<Py<PyAny>> {
        let object = object.map_err(|bytes| bytes.raised(py))?;
        match self {
            ValueForm::Objects(codec) => codec.loads.call1(py, (object,)),
            _ => Ok(object),
        }
    }
}

impl Codec {
    fn dumped(&self, given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let dumped = self.dumps.bind(given.py()).call1((given,))?;
        if let Ok(text) = dumped.cast::<PyString>() {
            return Ok(text.to_str()?.as_bytes().to_vec());
        }
        Strings::Bytes.bytes(&dumped, "what dumps returned").map(Cow::into_owned)
    }
}

fn integer(given: &Bound<'_, PyAny>) -> PyResult<[u8; 8]> {
    // Integers of numpy, too, and of all else that is an index.
    if !given.is_instance_of::<PyInt>() && !given.hasattr("__index__")? {
        let class = class_name(given);
        let message = format!("a table of integers keeps int: value is {class}; use int()");
        return Err(PyTypeError::new_err(message));
    }
    match given.extract::<i64>() {
        Ok(number) => Ok(integer_value(number)),
        Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
            let found = shown(given)?;
            let message =
                format!("expected an integer of 64 bits with a sign as a value, found {found}");
            Err(PyOverflowError::new_err(message))
        }
        Err(error) => Err(error),
    }
}
