//! Tables: the object with its methods, in memory or in a file, around a handle of the core.

mod bulk;
mod cache;
mod cache_data;
mod call_key;
mod changes;
mod cursor;
mod host;
mod nested;
mod open;
mod scan;
mod selection;
mod snapshot;
mod transaction;
mod values;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytewright::host::Outcome;
use bytewright::host::table::{Cost, OnDamage, TableContent, TableHandle};
use bytewright::table::cache::Cache;
use bytewright::table::file::{OpenOptions, TableKind};
use bytewright::table::{self, BackupOptions, DumpFormat, Selection, StatField, ValueType};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

pub(crate) use cache::CacheTable;
pub(crate) use changes::Changes;
pub(crate) use cursor::Cursor;
use host::TableHost;
use scan::Part;
pub(crate) use scan::Scan;
pub(crate) use snapshot::Snapshot;
pub(crate) use transaction::Transaction;

use crate::border::Locked;
use crate::error::{after, argument, raised};
use crate::strings::{NotText, Strings};
use crate::turn::{Strand, TurnLock};
use crate::values as objects;
use values::{Object, ValueForm};

/// Base of `HashTable` and `TreeTable`.
#[pyclass(frozen, subclass, mapping, weakref, module = "bytewright._bytewright")]
pub(crate) struct Table {
    strings: Strings,
    values: Arc<ValueForm>,
    path: Option<PathBuf>,
    handle: Locked<TableHandle<Strand>>,
    lock: TurnLock,
}

impl Table {
    /// Does an operation of the core's, and raises what goes wrong.
    #[inline]
    fn run<'a, R>(
        &'a self,
        py: Python<'_>,
        work: impl FnOnce(&TableHandle<Strand>, &TableHost<'a>) -> Outcome<R, TableHost<'a>> + Send,
    ) -> PyResult<R> {
        self.run_attached(py, |_, handle, host| work(handle, host))
    }

    /// Does an operation that makes objects.
    #[inline]
    fn run_attached<'a, 'py, R>(
        &'a self,
        py: Python<'py>,
        work: impl FnOnce(
            Python<'py>,
            &TableHandle<Strand>,
            &TableHost<'a>,
        ) -> Outcome<R, TableHost<'a>>
        + Send,
    ) -> PyResult<R> {
        let host = self.host();
        let outcome = self.handle.with(py, |py, handle| work(py, handle, &host));
        outcome.map_err(|failure| failure.into_host(&host))
    }

    /// Asks the table something brief. No Python code may run in `work`.
    #[inline]
    fn read<'py, R>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(Python<'py>, &TableContent) -> bytewright::Result<R> + Send,
    ) -> PyResult<R> {
        self.run_attached(py, |py, handle, host| handle.read(host, |content| work(py, content)))
    }

    fn host(&self) -> TableHost<'_> {
        TableHost { lock: &self.lock }
    }

    /// Changes the table, without Python's lock where that may wait for a disk.
    #[inline]
    fn change<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnMut(&mut dyn table::Table) -> bytewright::Result<R> + Send,
    ) -> PyResult<R> {
        self.run(py, |handle, host| handle.change_by_cost(host, Cost::Brief, work))
    }

    #[inline]
    fn find(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let key = self.strings.bytes(key, "key")?;
        let mut found = None;
        self.read(py, |py, content| {
            content
                .table()?
                .get_with(&key, &mut |value| found = Some(self.values.object(py, value)))
        })?;
        found.map(|value| self.values.loaded(py, value)).transpose()
    }

    /// The table of a cache, in memory or in a file.
    fn of_cache(
        py: Python<'_>,
        path: Option<PathBuf>,
        options: OpenOptions,
        on_damage: OnDamage,
    ) -> PyResult<Table> {
        let lock = TurnLock::new(py)?;
        let handle = match &path {
            Some(path) => {
                open::open_mending(py, &TableHost { lock: &lock }, path, options, on_damage)?
            }
            None => TableHandle::in_memory(TableKind::Hashed),
        };
        handle.set_values(Cache::VALUES);
        let strings = Strings::Bytes;
        let values = Arc::new(ValueForm::Strings(strings));
        Ok(Table { strings, values, path, handle: Locked::new(handle), lock })
    }

    /// The value of an entry that was taken out, which is put back where no object can be made of it.
    fn shown_or_put_back(&self, py: Python<'_>, key: &[u8], value: &[u8]) -> PyResult<Py<PyAny>> {
        let shown = self.values.loaded(py, self.values.object(py, value));
        match shown {
            Ok(shown) => Ok(shown),
            failed => {
                let put_back = self.change(py, |table| table.create(key, value).map(drop));
                after(py, failed, put_back)
            }
        }
    }

    #[cold]
    fn unfit(&self, py: Python<'_>, purpose: &str) -> PyErr {
        let values = self.values.values();
        let message = format!("expected another type of values {purpose}, found values: {values}");
        argument(py, message)
    }
}

#[pymethods]
impl Table {
    #[new]
    #[pyo3(signature = (is_ordered, text, values, path = None, codec = None, **options))]
    fn new(
        py: Python<'_>,
        is_ordered: bool,
        text: bool,
        values: &str,
        path: Option<PathBuf>,
        codec: Option<(Py<PyAny>, Py<PyAny>, Py<PyAny>)>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Table> {
        let values = raised(py, ValueType::by_name(values))?;
        let kind = if is_ordered { TableKind::Ordered } else { TableKind::Hashed };
        let lock = TurnLock::new(py)?;
        let handle = match &path {
            Some(path) => open::open(py, &TableHost { lock: &lock }, path, kind, values, options)?,
            None => TableHandle::in_memory(kind),
        };
        handle.set_values(values);
        let strings = Strings::of(text);
        let values = Arc::new(ValueForm::new(strings, values, codec));
        Ok(Table { strings, values, path, handle: Locked::new(handle), lock })
    }

    /// The file, or None for a table in memory.
    #[getter]
    fn path(&self) -> Option<&OsStr> {
        self.path.as_deref().map(Path::as_os_str)
    }

    /// True if keys and values are `str`; otherwise they are `bytes`.
    #[getter]
    fn text(&self) -> bool {
        self.strings.is_text()
    }

    /// Form of the values, as it was given.
    #[getter(_values)]
    fn values_given<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.values.given(py)
    }

    /// True after it was closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.handle.with(py, |_, handle| handle.is_closed())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |_, content| Ok(content.table()?.len()? as usize))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self.strings.key_sought(key)? {
            Some(key) => self.read(py, |_, content| content.table()?.contains(&key)),
            None => self.read(py, |_, content| content.table().map(|_| false)),
        }
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.find(py, key)?.ok_or_else(|| PyKeyError::new_err((key.clone().unbind(),)))
    }

    /// The value of a key, or `default` without one.
    #[pyo3(signature = (key, default = None, /))]
    fn get(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Option<Py<PyAny>>> {
        Ok(self.find(py, key)?.or(default))
    }

    fn __setitem__(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (key, value) = (self.strings.bytes(key, "key")?, self.values.bytes(value)?);
        self.change(py, |table| table.put(&key, &value))
    }

    fn __delitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.delete(py, key)? {
            true => Ok(()),
            false => Err(PyKeyError::new_err((key.clone().unbind(),))),
        }
    }

    /// Takes the entry of a key out; whether there was one.
    fn delete(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = self.strings.bytes(key, "key")?;
        self.change(py, |table| table.delete(&key))
    }

    /// The value of a key that is taken out, or `default` without one. What cannot be shown stays.
    #[pyo3(name = "_take")]
    fn take(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        default: Py<PyAny>,
    ) -> PyResult<Py<PyAny>> {
        let key = self.strings.bytes(key, "key")?;
        let taken = self.change(py, |table| {
            let value = table.get(&key)?;
            if value.is_some() {
                table.delete(&key)?;
            }
            Ok(value)
        })?;
        let Some(value) = taken else { return Ok(default) };
        self.shown_or_put_back(py, &key, &value)
    }

    #[pyo3(name = "_shift")]
    fn shift(&self, py: Python<'_>) -> PyResult<Option<(Py<PyAny>, Py<PyAny>)>> {
        let taken = self.run(py, TableHandle::shift)?;
        let Some((key, value)) = taken else { return Ok(None) };
        let shown = self.shown_or_put_back(py, &key, &value)?;
        Ok(Some((self.strings.object(py, &key).map_err(|bytes| bytes.raised(py))?, shown)))
    }

    /// Sets the value of a key that has none; whether it did.
    fn create(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let (key, value) = (self.strings.bytes(key, "key")?, self.values.bytes(value)?);
        self.run(py, |handle, host| handle.create(host, &key, &value))
    }

    /// The value of a key, which is set to `default` where it has none. Without a default, that is None, which tables of objects
    /// keep.
    #[pyo3(signature = (key, default = None))]
    fn setdefault(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        default: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let default = match default {
            Some(default) => default,
            // A table that cannot keep None is no matter to a key that is there.
            None => match self.find(py, key)? {
                Some(value) => return Ok(value),
                None => py.None().into_bound(py),
            },
        };
        let (key, value) = (self.strings.bytes(key, "key")?, self.values.bytes(&default)?);
        let there = self.change(py, |table| match table.get(&key)? {
            Some(there) => Ok(Some(there)),
            None => table.put(&key, &value).map(|()| None),
        })?;
        match there {
            Some(value) => self.values.loaded(py, self.values.object(py, &value)),
            None => Ok(default.unbind()),
        }
    }

    /// Puts `end` at the end of the value of a key, which is empty where there is none.
    fn append(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        end: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if !matches!(*self.values, ValueForm::Strings(_)) {
            return Err(self.unfit(py, "to append to values"));
        }
        let (key, end) = (self.strings.bytes(key, "key")?, self.strings.bytes(end, "value")?);
        self.run(py, |handle, host| handle.append(host, &key, &end))
    }

    /// Adds to the value of a key, a whole number in decimal digits that is 0 where there is none, and returns the sum.
    ///
    /// Raises `ArgumentError` where the value is no such number, the sum is beyond 64 bits, or the values are other objects.
    #[pyo3(signature = (key, by = 1))]
    fn increment(&self, py: Python<'_>, key: &Bound<'_, PyAny>, by: i64) -> PyResult<i64> {
        let key = self.strings.bytes(key, "key")?;
        match &*self.values {
            ValueForm::Strings(_) | ValueForm::Integers => {
                self.run(py, |handle, host| handle.increment(host, &key, by))
            }
            ValueForm::Objects(_) => Err(self.unfit(py, "to increment values")),
        }
    }

    /// The value of each key, or `default`, as a list: faster than one after another.
    #[pyo3(signature = (keys, default = None))]
    fn get_many(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Option<Py<PyAny>>>> {
        Ok(bulk::or_default(py, bulk::get_many(py, self, keys)?, default))
    }

    /// Puts the pairs of an iterable in, all of them or none.
    #[pyo3(name = "_put_all")]
    fn put_all(&self, py: Python<'_>, pairs: &Bound<'_, PyAny>) -> PyResult<()> {
        bulk::put_all(py, self, pairs)
    }

    /// Takes the entries out whose keys are from `first` to `last`, both included, and begin with `prefix`, all or none of them,
    /// and returns their number. With `limit` at most so many, the first ones, or with `reverse` the last ones.
    ///
    /// Raises `ArgumentError` for a `HashTable`.
    #[pyo3(signature = (first = None, last = None, *, prefix = None, reverse = false, limit = None))]
    fn delete_range(
        &self,
        py: Python<'_>,
        first: Option<&Bound<'_, PyAny>>,
        last: Option<&Bound<'_, PyAny>>,
        prefix: Option<&Bound<'_, PyAny>>,
        reverse: bool,
        limit: Option<u64>,
    ) -> PyResult<u64> {
        let range = selection::range(self.strings, first, last, prefix, reverse)?;
        let selection = Selection { range, limit };
        self.run(py, |handle, host| handle.delete_range(host, &selection))
    }

    /// Takes all entries out.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, TableHandle::clear)
    }

    #[pyo3(name = "_scan", signature = (part, **range))]
    fn scan(
        &self,
        py: Python<'_>,
        part: Part,
        range: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Scan> {
        let selection = selection::selection(self.strings, range)?;
        let snapshot = self.run(py, TableHandle::snapshot)?;
        let scan = raised(py, snapshot.scan(selection.as_ref()))?;
        Ok(Scan::new(scan, self.strings, Arc::clone(&self.values), part))
    }

    #[pyo3(name = "_snapshot")]
    fn snapshot_native(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let snapshot = self.run(py, TableHandle::snapshot)?;
        Ok(Snapshot::new(snapshot, self.strings, Arc::clone(&self.values)))
    }

    /// A place in the table as it is now that moves both ways, before its first entry.
    fn cursor(&self, py: Python<'_>) -> PyResult<Cursor> {
        let cursor = self.run(py, TableHandle::cursor)?;
        Ok(Cursor::new(cursor, self.strings, Arc::clone(&self.values)))
    }

    /// A `with` block whose changes are kept together when it ends, or not at all where an error leaves it.
    ///
    /// Inside of another one it is a part that can be taken back by itself. Other threads wait until the outermost ends. Other
    /// tasks of this thread can read; `async with` waits for them, and for threads, without blocking the loop of asyncio.
    ///
    /// Raises `LockError` where another task of this thread is in one, and where another thread or task ends it; and
    /// `ArgumentError` for an end while another one is open inside.
    fn transaction(this: Bound<'_, Self>) -> Transaction {
        Transaction::new(this)
    }

    /// True while a transaction of this thread, or of this task, is open.
    #[getter]
    fn in_transaction(&self, py: Python<'_>) -> PyResult<bool> {
        if !self.handle.with(py, |_, handle| handle.turn().is_taken()) {
            return self.read(py, |_, content| content.table().map(|_| false));
        }
        Ok(self.run(py, TableHandle::depth)? > 0)
    }

    /// Returns when everything changed so far will survive a power cut. A table in memory has nothing to do.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, TableHandle::sync)
    }

    /// Gives back the space of entries that are gone: memory, or a part of the file.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, TableHandle::compact)
    }

    /// Closes it; what was changed in a file will survive a power cut then.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, TableHandle::close)
    }

    /// Writes the entries as they are now to a file of their own, and returns their number. Threads may use the table
    /// meanwhile. The file is there when it is whole.
    ///
    /// Raises `ArgumentError` where there is such a file that is not to be replaced, or in a transaction.
    #[pyo3(signature = (path, *, replace = false))]
    fn backup(&self, py: Python<'_>, path: PathBuf, replace: bool) -> PyResult<u64> {
        self.run(py, |handle, host| handle.backup(host, &path, BackupOptions { replace }))
    }

    /// Writes the entries as they are now as text that other programs read, and returns their number: `db` is for `db_load` of
    /// Berkeley DB, `lmdb` for `mdb_load` of LMDB, and `sql` for `sqlite3`. Threads may use the table meanwhile. The file is
    /// there when it is whole. Keys and values are in it as the bytes that the table stores.
    ///
    /// Raises `ArgumentError` where the path has a capture, a table or a store that is not to be replaced with `force`, or this
    /// table's own file, and in a transaction.
    #[pyo3(signature = (path, *, format = "db", force = false))]
    fn dump(&self, py: Python<'_>, path: PathBuf, format: &str, force: bool) -> PyResult<u64> {
        let format = raised(py, DumpFormat::by_name(format))?;
        self.run(py, |handle, host| handle.dump(host, &path, format, force))
    }

    /// Puts the entries of a dump in, all or none, and returns their number: of `dump`, of `db_dump` or `mdb_dump`, or of the
    /// `.dump` of `sqlite3` of a table of two columns, compressed or not.
    ///
    /// Raises `FormatError` or `TruncatedError` where the text is something else, or ends too soon, with the line.
    fn load(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        self.run(py, |handle, host| handle.load(host, &path))
    }

    /// The changes of a `HashTable` in a file that were committed behind `position`, which `changes.position` gave, up to now.
    ///
    /// They begin with `("clear", None, None)` and have all entries without a position, and where the log does not go back so
    /// far, because the file was compacted or repaired. Whoever makes them to a copy of the table as it was at the position has
    /// the table as it is now.
    ///
    /// Raises `ArgumentError` for tables without a log, which are in memory or ordered, and for a position of another table.
    #[pyo3(signature = (position = None))]
    fn changes_since(&self, py: Python<'_>, position: Option<&str>) -> PyResult<Changes> {
        let changes = self.run(py, |handle, host| handle.changes_since(host, position))?;
        Ok(Changes::new(changes, self.strings, Arc::clone(&self.values)))
    }

    /// Counts and sizes: `records`, `live_bytes`, `dead_bytes`, `pinned_bytes`, `index_bytes`, `memory_bytes`, `file_bytes`.
    fn stat<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stat = self.run(py, TableHandle::stat)?;
        let dict = PyDict::new(py);
        for field in StatField::ALL {
            dict.set_item(field.name(), objects::object(py, stat.value(*field))?)?;
        }
        Ok(dict)
    }

    fn __sizeof__(&self, py: Python<'_>) -> usize {
        size_of::<Self>() + self.handle.with(py, |_, handle| handle.memory_bytes())
    }

    #[pyo3(name = "_has_same_entries")]
    fn has_same_entries(&self, py: Python<'_>, other: &Table) -> PyResult<bool> {
        let snapshot = |table: &Table| table.read(py, |_, content| content.table()?.snapshot());
        let (one, two) = (snapshot(self)?, snapshot(other)?);
        raised(py, py.detach(move || bytewright::table::have_same_entries(&*one, &*two)))
    }

    /// The first entry from `first` on, or with `reverse` from `last` down.
    #[pyo3(name = "_first", signature = (first = None, last = None, reverse = false))]
    fn first_of<'py>(
        &self,
        py: Python<'py>,
        first: Option<&Bound<'py, PyAny>>,
        last: Option<&Bound<'py, PyAny>>,
        reverse: bool,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let range = selection::range(self.strings, first, last, None, reverse)?;
        let found = self.run(py, |handle, host| handle.first_in(host, &range))?;
        let found = found
            .map(|(key, value)| (self.strings.object(py, &key), self.values.object(py, &value)));
        found.map(|entry| pair(py, &self.values, entry)).transpose()
    }
}

/// The tuple of a key and a value.
fn pair<'py>(
    py: Python<'py>,
    values: &ValueForm,
    (key, value): (Result<Py<PyAny>, NotText>, Object),
) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, [key.map_err(|bytes| bytes.raised(py))?, values.loaded(py, value)?])
}
