//! The bytes of keys and values as Python's objects: `str`, or `bytes`.

use std::borrow::Cow;

use pyo3::exceptions::{PyTypeError, PyUnicodeDecodeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyString};

use crate::error::or_worded;
use crate::shown::{class_name, shown};

/// Form in which a table's bytes are shown to Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strings {
    /// `str`, kept as UTF-8.
    Text,
    /// `bytes`.
    Bytes,
}

/// Bytes of a table that are not UTF-8, though its strings are text.
#[derive(Debug)]
pub(crate) struct NotText(Vec<u8>);

impl Strings {
    pub(crate) fn of(text: bool) -> Strings {
        if text { Strings::Text } else { Strings::Bytes }
    }

    pub(crate) fn is_text(self) -> bool {
        self == Strings::Text
    }

    /// The bytes of a key or a value ("key", "value").
    #[inline]
    pub(crate) fn bytes<'a>(
        self,
        given: &'a Bound<'_, PyAny>,
        what: &str,
    ) -> PyResult<Cow<'a, [u8]>> {
        match self {
            Strings::Text => match given.cast::<PyString>() {
                Ok(text) => Ok(Cow::Borrowed(text.to_str()?.as_bytes())),
                Err(_) => Err(self.refusal(given, what)),
            },
            Strings::Bytes => match given.cast::<PyBytes>() {
                Ok(bytes) => Ok(Cow::Borrowed(bytes.as_bytes())),
                Err(_) => self.copied(given, what).map(Cow::Owned),
            },
        }
    }

    /// The bytes of a key that is looked for; nothing for an object that no table of these strings has as a key.
    ///
    /// # Errors
    ///
    /// `TypeError` for an object that has no hash, as of a dict.
    #[inline]
    pub(crate) fn key_sought<'a>(
        self,
        given: &'a Bound<'_, PyAny>,
    ) -> PyResult<Option<Cow<'a, [u8]>>> {
        match self.bytes(given, "key") {
            Ok(key) => Ok(Some(key)),
            Err(error) if error.is_instance_of::<PyTypeError>(given.py()) => {
                given.hash()?;
                Ok(None)
            }
            // A surrogate without its other half, which is no text.
            Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(given.py()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A copy of what has the buffer protocol: a bytearray, a memoryview, an array.
    #[cold]
    fn copied(self, given: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<u8>> {
        let view = PyMemoryView::from(given).map_err(|error| {
            or_worded::<PyTypeError>(given.py(), error, || self.refusal(given, what))
        })?;
        let bytes = view.call_method0("tobytes")?;
        Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
    }

    #[cold]
    fn refusal(self, given: &Bound<'_, PyAny>, what: &str) -> PyErr {
        let class = class_name(given);
        let shown = match shown(given) {
            Ok(shown) => shown,
            Err(error) => return error,
        };
        let message = match self {
            Strings::Text => format!(
                "a table of text keeps str: {what} is {class} {shown}; use str(), or open the table with text=False \
                 to keep bytes"
            ),
            Strings::Bytes => {
                format!(
                    "a table of bytes keeps bytes: {what} is {class} {shown}; use bytes, or encode it"
                )
            }
        };
        PyTypeError::new_err(message)
    }

    /// The object for bytes of a table. It allocates, and runs no Python code: the table may be borrowed.
    #[inline]
    pub(crate) fn object(self, py: Python<'_>, bytes: &[u8]) -> Result<Py<PyAny>, NotText> {
        match self {
            Strings::Text => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(PyString::new(py, text).into_any().unbind()),
                Err(_) => Err(NotText(bytes.to_vec())),
            },
            Strings::Bytes => Ok(PyBytes::new(py, bytes).into_any().unbind()),
        }
    }
}

impl NotText {
    /// The `UnicodeDecodeError`.
    #[cold]
    pub(crate) fn raised(&self, py: Python<'_>) -> PyErr {
        let place = std::str::from_utf8(&self.0).map_or_else(|error| error.valid_up_to(), |_| 0);
        let reason = c"a table of text keeps UTF-8; open it with text=False to get bytes";
        match PyUnicodeDecodeError::new(py, c"utf-8", &self.0, place..place + 1, reason) {
            Ok(error) => PyErr::from_value(error.into_any()),
            Err(failure) => failure,
        }
    }
}
