//! Keys, tags and values of a cache as objects of Python, and their bytes.

use std::borrow::Cow;

use bytewright::table::cache::{CacheData, CacheEntry, CacheKind};
use bytewright::wire::Reader;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyString};

use super::nested::{put_object, take_object};
use crate::error::{argument, raised};

/// Functions that make bytes of objects which a cache does not keep by itself, and objects of these bytes.
#[derive(Debug)]
pub(super) struct ObjectForms {
    /// Of objects that are pickled, if the program wants that.
    pub(super) sealed: Option<(Py<PyAny>, Py<PyAny>)>,
}

/// Bytes of an object.
pub(super) struct ObjectBytes<'a> {
    kind: CacheKind,
    bytes: Cow<'a, [u8]>,
}

impl ObjectBytes<'_> {
    #[inline]
    pub(super) fn data(&self) -> CacheData<'_> {
        CacheData::new(self.kind, &self.bytes)
    }
}

/// Object of an entry, which [`ObjectForms::object`] makes ready: nested objects, and what is sealed, are bytes until then.
pub(super) struct FoundObject {
    pub(super) kind: CacheKind,
    pub(super) object: Py<PyAny>,
    pub(super) expires_at: Option<u64>,
    pub(super) tag: Option<Vec<u8>>,
}

impl FoundObject {
    /// Takes an entry over. It runs no Python code.
    #[inline]
    pub(super) fn of(py: Python<'_>, entry: &CacheEntry<'_>) -> PyResult<FoundObject> {
        let CacheEntry { value, expires_at, tag } = *entry;
        let object = plain_object(py, value)?;
        Ok(FoundObject { kind: value.kind, object, expires_at, tag: tag.map(|tag| tag.to_key()) })
    }
}

impl ObjectForms {
    /// Makes the bytes of an object, which errors call `what`.
    #[inline]
    pub(super) fn bytes<'a>(
        &self,
        given: &'a Bound<'_, PyAny>,
        what: &str,
    ) -> PyResult<ObjectBytes<'a>> {
        match plain_bytes(given)? {
            Some(plain) => Ok(plain),
            None => self.made_bytes(given, what),
        }
    }

    #[cold]
    fn made_bytes<'a>(&self, given: &Bound<'_, PyAny>, what: &str) -> PyResult<ObjectBytes<'a>> {
        let mut bytes = Vec::new();
        let unfit = match put_object(given, &mut bytes, 0)? {
            Ok(()) => return Ok(ObjectBytes { kind: CacheKind::Nested, bytes: Cow::Owned(bytes) }),
            Err(unfit) => unfit,
        };
        let Some((dumps, _)) = &self.sealed else { return Err(unfit.raised(what)) };
        let sealed = dumps.bind(given.py()).call1((given,))?;
        let bytes = sealed.cast::<PyBytes>()?.as_bytes().to_vec();
        Ok(ObjectBytes { kind: CacheKind::Sealed, bytes: Cow::Owned(bytes) })
    }

    /// Makes an object ready.
    #[inline]
    pub(super) fn object(
        &self,
        py: Python<'_>,
        kind: CacheKind,
        object: Py<PyAny>,
    ) -> PyResult<Py<PyAny>> {
        match (kind, &self.sealed) {
            (CacheKind::Nested, _) => {
                nested_object(py, object.bind(py).cast::<PyBytes>()?.as_bytes())
            }
            (CacheKind::Sealed, Some((_, loads))) => loads.call1(py, (object,)),
            (CacheKind::Sealed, None) => Err(argument(
                py,
                "expected a value that is not pickled, found one that is; open the cache with pickle_key to read it, if you \
                 trust all who have that key",
            )),
            _ => Ok(object),
        }
    }

    /// Makes the object that a key of the table stands for.
    pub(super) fn object_of_key(&self, py: Python<'_>, key: &[u8]) -> PyResult<Py<PyAny>> {
        let data = raised(py, CacheData::of_key(key))?;
        self.object(py, data.kind, plain_object(py, data)?)
    }
}

/// Makes the bytes of an object that has a kind of its own; `None` for others.
#[inline]
fn plain_bytes<'a>(given: &'a Bound<'_, PyAny>) -> PyResult<Option<ObjectBytes<'a>>> {
    let of = |kind, bytes| Ok(Some(ObjectBytes { kind, bytes }));
    if let Ok(text) = given.cast_exact::<PyString>() {
        return of(CacheKind::Text, Cow::Borrowed(text.to_str()?.as_bytes()));
    }
    if let Ok(bytes) = given.cast_exact::<PyBytes>() {
        return of(CacheKind::Bytes, Cow::Borrowed(bytes.as_bytes()));
    }
    if let Ok(number) = given.cast_exact::<PyFloat>() {
        return of(CacheKind::Float, Cow::Owned(number.value().to_le_bytes().to_vec()));
    }
    if given.is_exact_instance_of::<PyInt>()
        && let Ok(integer) = given.extract::<i64>()
    {
        return of(CacheKind::Integer, Cow::Owned(integer.to_le_bytes().to_vec()));
    }
    Ok(None)
}

/// Makes the object of data, or the bytes that [`ObjectForms::object`] makes it of. It runs no Python code.
#[inline]
fn plain_object(py: Python<'_>, data: CacheData<'_>) -> PyResult<Py<PyAny>> {
    let other =
        || PyValueError::new_err("expected bytes as their kind has them in a cache, found others");
    let eight = || data.bytes.try_into().map_err(|_| other());
    Ok(match data.kind {
        CacheKind::Text => {
            let text = std::str::from_utf8(data.bytes).map_err(|_| other())?;
            PyString::new(py, text).into_any().unbind()
        }
        CacheKind::Integer => PyInt::new(py, i64::from_le_bytes(eight()?)).into_any().unbind(),
        CacheKind::Float => PyFloat::new(py, f64::from_le_bytes(eight()?)).into_any().unbind(),
        // To make objects that the collector knows may run its finalizers.
        CacheKind::Bytes | CacheKind::Nested | CacheKind::Sealed => {
            PyBytes::new(py, data.bytes).into_any().unbind()
        }
    })
}

fn nested_object(py: Python<'_>, bytes: &[u8]) -> PyResult<Py<PyAny>> {
    let mut reader = Reader::new(bytes);
    match take_object(py, &mut reader, 0)? {
        Some(object) if reader.remaining() == 0 => Ok(object.unbind()),
        _ => Err(PyValueError::new_err("expected nested objects of a cache, found other bytes")),
    }
}
