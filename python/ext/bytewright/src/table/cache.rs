//! Caches: a table that is used by the rules of a cache, with objects of Python's as keys and values.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use bytewright::host::table::{Cost, OnDamage, TableContent};
use bytewright::options::NamedOptions;
use bytewright::table;
use bytewright::table::cache::{Cache, CacheData, CacheEntry, CacheKind, CacheOptions};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyFrozenSet, PyTuple};

use super::Table;
use super::cache_data::{FoundObject, ObjectForms};
use super::call_key::CallForm;
use crate::error::{raised, told_of_clearing};
use crate::options::settings;
use crate::shown::class_name;

/// Base of `Cache`.
#[pyclass(frozen, subclass, weakref, module = "bytewright._bytewright")]
pub(crate) struct CacheTable {
    table: Py<Table>,
    cache: Cache,
    forms: ObjectForms,
    on_damage: OnDamage,
    counts: AtomicBool,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// Parts of an entry that a look-up gives beside its value.
#[derive(Clone, Copy)]
struct WantedParts {
    read: bool,
    expire_time: bool,
    tag: bool,
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
        self.table.get().run_attached(py, |py, handle, host| {
            let told = |error: &bytewright::Error| told_of_clearing(py, error);
            handle.mending(host, self.on_damage, told, || {
                handle.change_by_cost(host, Cost::of_bytes(len), |table| work(&cache, table))
            })
        })
    }

    /// Asks the table something brief. No Python code may run in `work`.
    #[inline]
    fn look<'py, R>(
        &self,
        py: Python<'py>,
        mut work: impl FnMut(Python<'py>, &TableContent) -> bytewright::Result<R> + Send,
    ) -> PyResult<R> {
        self.table.get().run_attached(py, |py, handle, host| {
            let told = |error: &bytewright::Error| told_of_clearing(py, error);
            handle.mending(host, self.on_damage, told, || {
                handle.read(host, |content| work(py, content))
            })
        })
    }

    /// Finds the entry of a key.
    #[inline]
    fn find(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<FoundObject>> {
        self.find_key(py, &self.forms.bytes(key, "key")?.data().to_key())
    }

    /// Finds the entry of a key of the table.
    #[inline]
    fn find_key(&self, py: Python<'_>, key: &[u8]) -> PyResult<Option<FoundObject>> {
        let (now, mut found) = (Cache::now(), None);
        self.look(py, |py, content| {
            let note = &mut |entry: CacheEntry<'_>| found = Some(FoundObject::of(py, &entry));
            self.cache.get(content.table()?, key, now, note)
        })?;
        if self.counts.load(Relaxed) {
            let counted = if found.is_some() { &self.hits } else { &self.misses };
            counted.fetch_add(1, Relaxed);
        }
        found.transpose()
    }

    /// Makes what a look-up gives: the value, bytes as a file if `read`, or with `expire_time` and `tag` a tuple of it and these.
    fn given_back(
        &self,
        py: Python<'_>,
        found: Option<FoundObject>,
        default: Option<Py<PyAny>>,
        wanted: WantedParts,
    ) -> PyResult<Py<PyAny>> {
        let (mut value, mut expires_at, mut found_tag) =
            (default.unwrap_or_else(|| py.None()), py.None(), py.None());
        if let Some(found) = found {
            let is_read = wanted.read && found.kind == CacheKind::Bytes;
            value = self.forms.object(py, found.kind, found.object)?;
            if is_read {
                value = py.import("io")?.getattr("BytesIO")?.call1((value,))?.unbind();
            }
            if let Some(at) = found.expires_at {
                expires_at = PyFloat::new(py, at as f64 / 1000.0).into_any().unbind();
            }
            if let Some(tag_key) = found.tag {
                found_tag = self.forms.object_of_key(py, &tag_key)?;
            }
        }
        let parts = match (wanted.expire_time, wanted.tag) {
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
        (read, only_new): (bool, bool),
    ) -> PyResult<bool> {
        let key = self.forms.bytes(key, "key")?.data().to_key();
        let content = if read { Some(content_of(value)?) } else { None };
        let value = self.forms.bytes(content.as_ref().unwrap_or(value), "value")?;
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
    #[pyo3(signature = (sealed, clears, path = None, **options))]
    fn new(
        py: Python<'_>,
        sealed: Option<(Py<PyAny>, Py<PyAny>)>,
        clears: bool,
        path: Option<PathBuf>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CacheTable> {
        let mut found = CacheOptions::default();
        raised(py, settings(py, &[CacheOptions::OPTIONS], options)?.fill(&mut found))?;
        let cache = raised(py, Cache::new(found.limits))?;
        let on_damage = if clears { OnDamage::Clear } else { OnDamage::Raise };
        let table = Py::new(py, Table::of_cache(py, path, found.opening, on_damage)?)?;
        let forms = ObjectForms { sealed };
        let (counts, hits, misses) = (AtomicBool::new(true), AtomicU64::new(0), AtomicU64::new(0));
        Ok(CacheTable { table, cache, forms, on_damage, counts, hits, misses })
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

    /// True if damage is to be cleared.
    #[getter(_clears)]
    fn clears(&self) -> bool {
        self.on_damage == OnDamage::Clear
    }

    /// Number of times that damage was cleared.
    #[getter(_clearings)]
    fn clearings(&self, py: Python<'_>) -> PyResult<u64> {
        self.table.get().run(py, |handle, _| Ok(handle.clearings()))
    }

    /// Clears damage that an iteration has met, unless that was done since there were `seen` clearings.
    ///
    /// Raises `CorruptError` with `message` where it is not to be cleared, or cannot be.
    fn _clear_damage(&self, py: Python<'_>, seen: u64, message: &str) -> PyResult<()> {
        let error = bytewright::Error::new(bytewright::ErrorKind::Corrupt, message);
        let table = self.table.get();
        let cleared = table.run(py, |handle, host| {
            handle.clear_damage(host, self.on_damage, (seen, false), &error)
        })?;
        if cleared { told_of_clearing(py, &error) } else { Ok(()) }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |_, content| Ok(content.table()?.len()? as usize))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (key, now) = (self.forms.bytes(key, "key")?.data().to_key(), Cache::now());
        self.look(py, |_, content| self.cache.contains(content.table()?, &key, now))
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
        self.put(py, (key, value), (None, None), (false, false)).map(drop)
    }

    fn __delitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.delete(py, key, true)? {
            true => Ok(()),
            false => Err(PyKeyError::new_err((key.clone().unbind(),))),
        }
    }

    /// Returns the value of a key, or `default`; with `expire_time` and `tag`, a tuple of it, the time at which it expires in
    /// seconds since 1970, and its tag, each None without one. With `read`, bytes come as a file to read, in memory.
    #[pyo3(signature = (key, default = None, read = false, expire_time = false, tag = false, retry = false))]
    #[expect(clippy::too_many_arguments, reason = "those of diskcache")]
    fn get(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
        read: bool,
        expire_time: bool,
        tag: bool,
        retry: bool,
    ) -> PyResult<Py<PyAny>> {
        let _ = retry;
        let found = self.find(py, key)?;
        self.given_back(py, found, default, WantedParts { read, expire_time, tag })
    }

    /// Sets the value of a key, which is gone after `expire` seconds, and with all others of `tag` when these are evicted.
    /// Returns True. With `read`, the value is what a file, open for reading bytes, still has. `retry` makes no difference: a
    /// change waits for `timeout`.
    ///
    /// Raises `TypeError` for a key or value that a cache does not keep, `LimitError` for one that takes a quarter of the
    /// limit, and `LockError` if another process writes for longer than `timeout`.
    #[pyo3(signature = (key, value, expire = None, read = false, tag = None, retry = false))]
    #[expect(clippy::too_many_arguments, reason = "those of diskcache")]
    fn set(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        expire: Option<f64>,
        read: bool,
        tag: Option<&Bound<'_, PyAny>>,
        retry: bool,
    ) -> PyResult<bool> {
        let _ = retry;
        self.put(py, (key, value), (expire, tag), (read, false))
    }

    /// Sets the value of a key that has none, as `set` does, and returns True if it had none.
    #[pyo3(signature = (key, value, expire = None, read = false, tag = None, retry = false))]
    #[expect(clippy::too_many_arguments, reason = "those of diskcache")]
    fn add(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        expire: Option<f64>,
        read: bool,
        tag: Option<&Bound<'_, PyAny>>,
        retry: bool,
    ) -> PyResult<bool> {
        let _ = retry;
        self.put(py, (key, value), (expire, tag), (read, true))
    }

    /// Lets the value of a key expire after `expire` seconds from now, or never, and returns True if there is one.
    #[pyo3(signature = (key, expire = None, retry = false))]
    fn touch(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        expire: Option<f64>,
        retry: bool,
    ) -> PyResult<bool> {
        let _ = retry;
        let (key, now) = (self.forms.bytes(key, "key")?.data().to_key(), Cache::now());
        let expires_at = expires_at(py, now, expire)?;
        self.change(py, 0, |cache, table| cache.touch(table, &key, expires_at, now))
    }

    /// Adds `delta` to the integer of a key, which begins with `default`, and returns the sum.
    ///
    /// Raises `KeyError` for a key without a value if `default` is None, and `ArgumentError` for a value that is no `int`, and a
    /// sum beyond 64 bits.
    #[pyo3(signature = (key, delta = 1, default = Some(0), retry = false))]
    #[pyo3(text_signature = "($self, key, delta=1, default=0, retry=False)")]
    fn incr(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        delta: i64,
        default: Option<i64>,
        retry: bool,
    ) -> PyResult<i64> {
        let _ = retry;
        let (bytes, now) = (self.forms.bytes(key, "key")?.data().to_key(), Cache::now());
        let sum =
            self.change(py, 0, |cache, table| cache.increment(table, &bytes, delta, default, now))?;
        sum.ok_or_else(|| PyKeyError::new_err((key.clone().unbind(),)))
    }

    /// Takes the entry of a key out and returns what `get` would.
    #[pyo3(signature = (key, default = None, expire_time = false, tag = false, retry = false))]
    fn pop(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
        expire_time: bool,
        tag: bool,
        retry: bool,
    ) -> PyResult<Py<PyAny>> {
        let _ = retry;
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
        self.given_back(py, found, default, WantedParts { read: false, expire_time, tag })
    }

    /// Takes the entry of a key out, and returns True if there was one.
    #[pyo3(signature = (key, retry = false))]
    fn delete(&self, py: Python<'_>, key: &Bound<'_, PyAny>, retry: bool) -> PyResult<bool> {
        let _ = retry;
        let (key, now) = (self.forms.bytes(key, "key")?.data().to_key(), Cache::now());
        self.change(py, 0, |cache, table| cache.take(table, &key, now, &mut |_| ()))
    }

    /// Takes all entries out that have expired, now or at another time in seconds since 1970, and returns their number.
    #[pyo3(signature = (now = None, retry = false))]
    fn expire(&self, py: Python<'_>, now: Option<f64>, retry: bool) -> PyResult<u64> {
        let _ = retry;
        let now = now.map_or_else(Cache::now, |seconds| (seconds * 1000.0) as u64);
        self.change(py, usize::MAX, |cache, table| cache.expire(table, now))
    }

    /// Takes all entries with `tag` out, and returns their number.
    #[pyo3(signature = (tag, retry = false))]
    fn evict(&self, py: Python<'_>, tag: &Bound<'_, PyAny>, retry: bool) -> PyResult<u64> {
        let _ = retry;
        let tag = self.forms.bytes(tag, "tag")?;
        let tag = tag.data();
        self.change(py, usize::MAX, |cache, table| cache.evict_tag(table, tag))
    }

    /// Takes out what has expired, and what is over the limits, and returns the number of entries.
    #[pyo3(signature = (retry = false))]
    fn cull(&self, py: Python<'_>, retry: bool) -> PyResult<u64> {
        let _ = retry;
        let now = Cache::now();
        self.change(py, usize::MAX, |cache, table| cache.cull(table, now))
    }

    /// Takes all entries out, and returns their number.
    #[pyo3(signature = (retry = false))]
    fn clear(&self, py: Python<'_>, retry: bool) -> PyResult<u64> {
        let _ = retry;
        self.change(py, usize::MAX, |cache, table| cache.clear(table))
    }

    /// Returns the number of look-ups that this object has found an entry for, and of the others; with `reset` both are 0
    /// afterwards. They are counted unless `enable` was False in the last call.
    #[pyo3(signature = (enable = true, reset = false))]
    fn stats(&self, enable: bool, reset: bool) -> (u64, u64) {
        self.counts.store(enable, Relaxed);
        let counts = [&self.hits, &self.misses];
        match reset {
            true => counts.map(|count| count.swap(0, Relaxed)).into(),
            false => counts.map(|count| count.load(Relaxed)).into(),
        }
    }

    /// The bytes that its file, or its memory, takes.
    fn volume(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, |_, content| content.table()?.used_bytes())
    }

    /// Returns the key of a call of the function `base`: text that says what each argument is, but those in `ignored`.
    ///
    /// Raises `TypeError` for an argument of a type that has none.
    #[staticmethod]
    fn _call_key(
        base: &str,
        typed: bool,
        ignored: Option<&Bound<'_, PyFrozenSet>>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        CallForm { base, typed, ignored }.key(args, kwargs)
    }

    /// Returns the result of a call of the function `base`, or `default`.
    #[expect(clippy::too_many_arguments, reason = "what a call has, and its form")]
    fn _result(
        &self,
        py: Python<'_>,
        base: &str,
        typed: bool,
        ignored: Option<&Bound<'_, PyFrozenSet>>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        default: Py<PyAny>,
    ) -> PyResult<Py<PyAny>> {
        let text = CallForm { base, typed, ignored }.key(args, kwargs)?;
        let key = CacheData::new(CacheKind::Text, text.as_bytes()).to_key();
        match self.find_key(py, &key)? {
            Some(found) => self.forms.object(py, found.kind, found.object),
            None => Ok(default),
        }
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

/// Reads what a file has.
fn content_of<'py>(file: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let content = file.call_method0("read")?;
    match content.is_exact_instance_of::<PyBytes>() {
        true => Ok(content),
        false => Err(PyTypeError::new_err(format!(
            "expected a file that is open for reading bytes, found one whose read returns {}",
            class_name(&content)
        ))),
    }
}

/// The time at which what is set now expires, after so many seconds.
#[inline]
fn expires_at(py: Python<'_>, now: u64, seconds: Option<f64>) -> PyResult<Option<u64>> {
    seconds.map(|seconds| raised(py, Cache::expiry(now, seconds))).transpose()
}
