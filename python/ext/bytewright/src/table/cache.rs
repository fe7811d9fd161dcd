//! Caches: a table that is used by the rules of a cache, with objects of Python's as keys and values.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytewright::host::table::Cost;
use bytewright::options::NamedOptions;
use bytewright::table;
use bytewright::table::cache::{Cache, CacheEntry, CacheOptions};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyTuple};

use super::Table;
use super::cache_data::{FoundObject, ObjectForms};
use crate::error::raised;
use crate::options::settings;

/// Base of `Cache`.
#[pyclass(frozen, subclass, weakref, module = "bytewright._bytewright")]
pub(crate) struct CacheTable {
    table: Py<Table>,
    cache: Cache,
    forms: ObjectForms,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl CacheTable {
    /// Changes the table; `len` bytes are put.
    #[inline]
    fn change<R: Send>(
        &self,
        py: Python<'_>,
        len: usize,
        mut work: impl FnMut(&Cache, &mut dyn table::Table) -> bytewright::Result<R> + Send,
    ) -> PyResult<R> {
        let cache = self.cache;
        self.table.get().run(py, |handle, host| {
            handle.change_by_cost(host, Cost::of_bytes(len), |table| work(&cache, table))
        })
    }

    /// Finds the entry of a key.
    #[inline]
    fn find(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<FoundObject>> {
        let (key, now, mut found) =
            (self.forms.bytes(key, "key")?.data().to_key(), Cache::now(), None);
        self.table.get().read(py, |content| {
            let note = &mut |entry: CacheEntry<'_>| found = Some(FoundObject::of(py, &entry));
            self.cache.get(content.table()?, &key, now, note)
        })?;
        let counted = if found.is_some() { &self.hits } else { &self.misses };
        counted.fetch_add(1, Relaxed);
        found.transpose()
    }

    /// Makes what a look-up gives: the value, or with `expire_time` and `tag` a tuple of it and these.
    fn given_back(
        &self,
        py: Python<'_>,
        found: Option<FoundObject>,
        default: Option<Py<PyAny>>,
        (expire_time, tag): (bool, bool),
    ) -> PyResult<Py<PyAny>> {
        let (mut value, mut expires_at, mut found_tag) =
            (default.unwrap_or_else(|| py.None()), py.None(), py.None());
        if let Some(found) = found {
            value = self.forms.object(py, found.kind, found.object)?;
            if let Some(at) = found.expires_at {
                expires_at = PyFloat::new(py, at as f64 / 1000.0).into_any().unbind();
            }
            if let Some(tag_key) = found.tag {
                found_tag = self.forms.object_of_key(py, &tag_key)?;
            }
        }
        let parts = match (expire_time, tag) {
            (false, false) => return Ok(value),
            (true, false) => vec![value, expires_at],
            (false, true) => vec![value, found_tag],
            (true, true) => vec![value, expires_at, found_tag],
        };
        Ok(PyTuple::new(py, parts)?.into_any().unbind())
    }

    /// Sets an entry, or only adds it if there is none; returns true if it did.
    #[inline]
    fn put(
        &self,
        py: Python<'_>,
        (key, value): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
        (expire, tag): (Option<f64>, Option<&Bound<'_, PyAny>>),
        only_new: bool,
    ) -> PyResult<bool> {
        let key = self.forms.bytes(key, "key")?.data().to_key();
        let value = self.forms.bytes(value, "value")?;
        let tag = tag.map(|tag| self.forms.bytes(tag, "tag")).transpose()?;
        let (value, tag, now) = (value.data(), tag.as_ref().map(|tag| tag.data()), Cache::now());
        let entry = CacheEntry { value, expires_at: expires_at(py, now, expire)?, tag };
        self.change(py, value.bytes.len(), |cache, table| match only_new {
            true => cache.add(table, &key, entry, now),
            false => cache.set(table, &key, entry, now).map(|()| true),
        })
    }
}

#[pymethods]
impl CacheTable {
    #[new]
    #[pyo3(signature = (sealed, path = None, **options))]
    fn new(
        py: Python<'_>,
        sealed: Option<(Py<PyAny>, Py<PyAny>)>,
        path: Option<PathBuf>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CacheTable> {
        let mut found = CacheOptions::default();
        raised(py, settings(py, &[CacheOptions::OPTIONS], options)?.fill(&mut found))?;
        let cache = raised(py, Cache::new(found.limits))?;
        let table = Py::new(py, Table::of_cache(path, found.opening)?)?;
        let forms = ObjectForms { sealed };
        let (hits, misses) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(CacheTable { table, cache, forms, hits, misses })
    }

    /// The table that has the entries.
    #[getter(_table)]
    fn table(&self, py: Python<'_>) -> Py<Table> {
        self.table.clone_ref(py)
    }

    /// Bytes that its file, or its memory, may take.
    #[getter]
    fn size_limit(&self) -> u64 {
        self.cache.limits().bytes
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.table.get().read(py, |content| Ok(content.table()?.len()? as usize))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (key, now) = (self.forms.bytes(key, "key")?.data().to_key(), Cache::now());
        self.table.get().read(py, |content| self.cache.contains(content.table()?, &key, now))
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        match self.find(py, key)? {
            Some(found) => self.forms.object(py, found.kind, found.object),
            None => Err(PyKeyError::new_err((key.clone().unbind(),))),
        }
    }

    fn __setitem__(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.put(py, (key, value), (None, None), false).map(drop)
    }

    fn __delitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.delete(py, key)? {
            true => Ok(()),
            false => Err(PyKeyError::new_err((key.clone().unbind(),))),
        }
    }

    /// Returns the value of a key, or `default`; with `expire_time` and `tag`, a tuple of it, the time at which it expires in
    /// seconds since 1970, and its tag, each None without one.
    #[pyo3(signature = (key, default = None, expire_time = false, tag = false))]
    fn get(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
        expire_time: bool,
        tag: bool,
    ) -> PyResult<Py<PyAny>> {
        let found = self.find(py, key)?;
        self.given_back(py, found, default, (expire_time, tag))
    }

    /// Sets the value of a key, which is gone after `expire` seconds, and with all others of `tag` when these are evicted.
    /// Returns True.
    ///
    /// Raises `TypeError` for a key or value that a cache does not keep, and `LimitError` for one that takes a quarter of the
    /// limit.
    #[pyo3(signature = (key, value, expire = None, tag = None))]
    fn set(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        expire: Option<f64>,
        tag: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        self.put(py, (key, value), (expire, tag), false)
    }

    /// Sets the value of a key that has none, as `set` does, and returns True if it had none.
    #[pyo3(signature = (key, value, expire = None, tag = None))]
    fn add(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        expire: Option<f64>,
        tag: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        self.put(py, (key, value), (expire, tag), true)
    }

    /// Lets the value of a key expire after `expire` seconds from now, or never, and returns True if there is one.
    #[pyo3(signature = (key, expire = None))]
    fn touch(&self, py: Python<'_>, key: &Bound<'_, PyAny>, expire: Option<f64>) -> PyResult<bool> {
        let (key, now) = (self.forms.bytes(key, "key")?.data().to_key(), Cache::now());
        let expires_at = expires_at(py, now, expire)?;
        self.change(py, 0, |cache, table| cache.touch(table, &key, expires_at, now))
    }

    /// Adds `delta` to the integer of a key, which begins with `default`, and returns the sum.
    ///
    /// Raises `KeyError` for a key without a value if `default` is None, and `ArgumentError` for a value that is no `int`, and a
    /// sum beyond 64 bits.
    #[pyo3(signature = (key, delta = 1, default = Some(0)), text_signature = "($self, key, delta=1, default=0)")]
    fn incr(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        delta: i64,
        default: Option<i64>,
    ) -> PyResult<i64> {
        let (bytes, now) = (self.forms.bytes(key, "key")?.data().to_key(), Cache::now());
        let sum =
            self.change(py, 0, |cache, table| cache.increment(table, &bytes, delta, default, now))?;
        sum.ok_or_else(|| PyKeyError::new_err((key.clone().unbind(),)))
    }

    /// Takes the entry of a key out and returns what `get` would.
    #[pyo3(signature = (key, default = None, expire_time = false, tag = false))]
    fn pop(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
        expire_time: bool,
        tag: bool,
    ) -> PyResult<Py<PyAny>> {
        let (key, now) = (self.forms.bytes(key, "key")?.data().to_key(), Cache::now());
        let taken = self.change(py, 0, |cache, table| {
            let mut taken = None;
            cache.take(table, &key, now, &mut |entry| taken = Some(entry.to_value()))?;
            Ok(taken)
        })?;
        let found = match &taken {
            Some(value) => Some(FoundObject::of(py, &raised(py, CacheEntry::of_value(value))?)?),
            None => None,
        };
        self.given_back(py, found, default, (expire_time, tag))
    }

    /// Takes the entry of a key out, and returns True if there was one.
    fn delete(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (key, now) = (self.forms.bytes(key, "key")?.data().to_key(), Cache::now());
        self.change(py, 0, |cache, table| cache.take(table, &key, now, &mut |_| ()))
    }

    /// Takes all entries out that have expired, and returns their number.
    fn expire(&self, py: Python<'_>) -> PyResult<u64> {
        let now = Cache::now();
        self.change(py, usize::MAX, |cache, table| cache.expire(table, now))
    }

    /// Takes all entries with `tag` out, and returns their number.
    fn evict(&self, py: Python<'_>, tag: &Bound<'_, PyAny>) -> PyResult<u64> {
        let tag = self.forms.bytes(tag, "tag")?;
        let tag = tag.data();
        self.change(py, usize::MAX, |cache, table| cache.evict_tag(table, tag))
    }

    /// Takes out what has expired, and what is over the limits, and returns the number of entries.
    fn cull(&self, py: Python<'_>) -> PyResult<u64> {
        let now = Cache::now();
        self.change(py, usize::MAX, |cache, table| cache.cull(table, now))
    }

    /// Takes all entries out, and returns their number.
    fn clear(&self, py: Python<'_>) -> PyResult<u64> {
        self.change(py, usize::MAX, |cache, table| cache.clear(table))
    }

    /// Returns the number of look-ups that this object has found an entry for, and of the others; with `reset` both are 0
    /// afterwards.
    #[pyo3(signature = (reset = false))]
    fn stats(&self, reset: bool) -> (u64, u64) {
        let counts = [&self.hits, &self.misses];
        match reset {
            true => counts.map(|count| count.swap(0, Relaxed)).into(),
            false => counts.map(|count| count.load(Relaxed)).into(),
        }
    }

    /// The bytes that its file, or its memory, takes.
    fn volume(&self, py: Python<'_>) -> PyResult<u64> {
        self.table.get().read(py, |content| content.table()?.used_bytes())
    }

    /// The object of a key of the table, or `default` if its value of the table has expired.
    #[pyo3(name = "_key")]
    fn key(
        &self,
        py: Python<'_>,
        key: &[u8],
        value: &[u8],
        default: Py<PyAny>,
    ) -> PyResult<Py<PyAny>> {
        match raised(py, CacheEntry::of_value(value))?.counts(Cache::now()) {
            true => self.forms.object_of_key(py, key),
            false => Ok(default),
        }
    }
}

/// The time at which what is set now expires, after so many seconds.
#[inline]
fn expires_at(py: Python<'_>, now: u64, seconds: Option<f64>) -> PyResult<Option<u64>> {
    seconds.map(|seconds| raised(py, Cache::expiry(now, seconds))).transpose()
}
