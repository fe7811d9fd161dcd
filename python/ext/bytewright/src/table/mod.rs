//! Tables: the object with its methods, in memory or in a file. `shared.rs` says whose turn it is.

mod bulk;
mod content;
mod cursor;
mod open;
mod scan;
mod selection;
mod shared;
mod snapshot;
mod transaction;
mod values;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytewright::table::file::{SyncMode, TableKind};
use bytewright::table::{Backup, BackupOptions, Stat, StatField, Values, add_integer};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use content::Content;
pub(crate) use cursor::Cursor;
use scan::Part;
pub(crate) use scan::Scan;
use shared::{Access, Shared};
pub(crate) use snapshot::Snapshot;
pub(crate) use transaction::Transaction;

use crate::error::{argument, raised};
use crate::strings::{NotText, Strings};
use crate::values as objects;
use values::{Object, ValueForm};

/// Entries from which on some work is done without Python's lock: less takes a few milliseconds.
const MANY_ENTRIES: u64 = 50_000;

/// What `HashTable` and `TreeTable` are made of.
#[pyclass(frozen, subclass, mapping, weakref, module = "bytewright._bytewright")]
pub(crate) struct Table {
    kind: TableKind,
    strings: Strings,
    values: Arc<ValueForm>,
    path: Option<PathBuf>,
    sync: SyncMode,
    shared: Shared,
}

impl Table {
    #[inline]
    fn find(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let key = self.strings.bytes(key, "key")?;
        let mut found = None;
        self.shared.read(py, |content| {
            content
                .table()?
                .get_with(&key, &mut |value| found = Some(self.values.object(py, value)))
        })?;
        found.map(|value| self.values.loaded(py, value)).transpose()
    }

    /// The value of an entry that was taken out, which is put back where no object can be made of it.
    fn shown_or_put_back(&self, py: Python<'_>, key: &[u8], value: &[u8]) -> PyResult<Py<PyAny>> {
        let shown = self.values.loaded(py, self.values.object(py, value));
        if shown.is_err() {
            self.shared.change(py, |table| table.create(key, value).map(drop))?;
        }
        shown
    }

    #[cold]
    fn unfit(&self, py: Python<'_>, purpose: &str) -> PyErr {
        let values = self.values.values();
        let message = format!("expected another type of values {purpose}, found values: {values}");
        argument(py, message)
    }

    /// Whether a change of that many entries is short.
    fn is_small(&self, py: Python<'_>) -> PyResult<bool> {
        let is_in_file = self.path.is_some();
        self.shared.read(py, |content| Ok(!is_in_file && content.table()?.len()? < MANY_ENTRIES))
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
        let values = raised(py, Values::by_name(values))?;
        let kind = if is_ordered { TableKind::Ordered } else { TableKind::Hashed };
        let (content, sync) = match &path {
            Some(path) => open::open(py, path, kind, values, options)?,
            None => (Content::in_memory(kind), SyncMode::Never),
        };
        let strings = Strings::of(text);
        let values = Arc::new(ValueForm::new(strings, values, codec));
        Ok(Table { kind, strings, values, path, sync, shared: Shared::new(content) })
    }

    /// The file, or None for a table in memory.
    #[getter]
    fn path(&self) -> Option<&OsStr> {
        self.path.as_deref().map(Path::as_os_str)
    }

    /// Whether keys and values are `str`; otherwise they are `bytes`.
    #[getter]
    fn text(&self) -> bool {
        self.strings.is_text()
    }

    /// What the values are, as it was given.
    #[getter(_values)]
    fn values_given<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.values.given(py)
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.shared.briefly(py, Access::Read, |content| Ok(content.is_closed()))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.shared.read(py, |content| Ok(content.table()?.len()? as usize))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self.strings.key_sought(key)? {
            Some(key) => self.shared.read(py, |content| content.table()?.contains(&key)),
            None => self.shared.read(py, |content| content.table().map(|_| false)),
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
        self.shared.change(py, |table| table.put(&key, &value))
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
        self.shared.change(py, |table| table.delete(&key))
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
        let taken = self.shared.change(py, |table| {
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
        let taken = self.shared.change(py, |table| {
            let mut taken = None;
            table.shift(&mut |key, value| taken = Some((key.to_vec(), value.to_vec())))?;
            Ok(taken)
        })?;
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
        self.shared.change(py, |table| table.create(&key, &value))
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
        let there = self.shared.change(py, |table| match table.get(&key)? {
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
        self.shared.change(py, |table| table.append(&key, &end))
    }

    /// Adds to the value of a key, a whole number in decimal digits that is 0 where there is none, and returns the sum.
    ///
    /// Raises `ArgumentError` where the value is no such number, the sum is beyond 64 bits, or the values are other objects.
    #[pyo3(signature = (key, by = 1))]
    fn increment(&self, py: Python<'_>, key: &Bound<'_, PyAny>, by: i64) -> PyResult<i64> {
        let key = self.strings.bytes(key, "key")?;
        match &*self.values {
            ValueForm::Strings(_) => self.shared.change(py, |table| table.increment(&key, by)),
            ValueForm::Integers => self.shared.change(py, |table| add_integer(table, &key, by)),
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

    /// Takes all entries out.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        match self.is_small(py)? {
            true => self.shared.change(py, |table| table.clear()),
            false => {
                self.shared.at_length(py, Access::Change, |content| content.table_mut()?.clear())
            }
        }
    }

    #[pyo3(name = "_scan", signature = (part, first = None, last = None, prefix = None, reverse = false, limit = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn scan(
        &self,
        py: Python<'_>,
        part: Part,
        first: Option<&Bound<'_, PyAny>>,
        last: Option<&Bound<'_, PyAny>>,
        prefix: Option<&Bound<'_, PyAny>>,
        reverse: bool,
        limit: Option<u64>,
    ) -> PyResult<Scan> {
        let selection = selection::selection(self.strings, first, last, prefix, reverse, limit)?;
        let scan = self.shared.read(py, |content| match &selection {
            Some(selection) => selection.scan(&*content.ordered()?.ordered_snapshot()?),
            None => content.table()?.snapshot()?.scan(),
        })?;
        Ok(Scan::new(scan, self.strings, Arc::clone(&self.values), part))
    }

    #[pyo3(name = "_snapshot")]
    fn snapshot_native(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let content = match self.kind {
            TableKind::Hashed => snapshot::Content::Hashed(
                self.shared.read(py, |content| content.table()?.snapshot())?,
            ),
            TableKind::Ordered => snapshot::Content::Ordered(
                self.shared.read(py, |content| content.ordered()?.ordered_snapshot())?,
            ),
        };
        Ok(Snapshot::new(content, self.strings, Arc::clone(&self.values)))
    }

    /// A place in the table as it is now that moves both ways, before its first entry.
    fn cursor(&self, py: Python<'_>) -> PyResult<Cursor> {
        let snapshot = self.shared.read(py, |content| content.ordered()?.ordered_snapshot())?;
        Ok(Cursor::new(snapshot, self.strings, Arc::clone(&self.values)))
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

    /// Whether a transaction of this thread, or of this task, is open.
    #[getter]
    fn in_transaction(&self, py: Python<'_>) -> PyResult<bool> {
        self.shared.is_in_transaction(py)
    }

    /// Returns when everything changed so far will survive a power cut. A table in memory has nothing to do.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.at_length(py, Access::Change, |content| content.table_mut()?.sync())
    }

    /// Gives back the space of entries that are gone: memory, or a part of the file.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.at_length(py, Access::Change, |content| content.table_mut()?.compact())
    }

    /// Closes it; what was changed in a file will survive a power cut then.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.at_length(py, Access::Change, |content| {
            match std::mem::replace(content, Content::Closed) {
                Content::Closed => Ok(()),
                mut open => open.table_mut()?.close(),
            }
        })
    }

    /// Writes the entries as they are now to a file of their own, and returns their number. Threads may use the table
    /// meanwhile. The file is there when it is whole.
    ///
    /// Raises `ArgumentError` where there is such a file that is not to be replaced, or in a transaction.
    #[pyo3(signature = (path, *, replace = false))]
    fn backup(&self, py: Python<'_>, path: PathBuf, replace: bool) -> PyResult<u64> {
        let backup = self.shared.read(py, |content| Backup::of(content.table()?, self.kind))?;
        let backup = backup.with_values(self.values.values());
        let begun = py.detach(|| backup.begin(&path, BackupOptions { replace }));
        let mut file = raised(py, begun)?;
        while raised(py, py.detach(|| file.step()))? {
            py.check_signals()?;
        }
        raised(py, py.detach(|| file.finish()))
    }

    /// Counts and sizes: `records`, `live_bytes`, `dead_bytes`, `pinned_bytes`, `index_bytes`, `memory_bytes`, `file_bytes`.
    fn stat<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stat = match self.is_small(py)? {
            true => self.shared.read(py, |content| content.table()?.stat())?,
            false => self.shared.at_length(py, Access::Read, |content| content.table()?.stat())?,
        };
        let dict = PyDict::new(py);
        for field in StatField::ALL {
            dict.set_item(field.name(), objects::object(py, stat.value(*field))?)?;
        }
        Ok(dict)
    }

    fn __sizeof__(&self, py: Python<'_>) -> PyResult<usize> {
        let stat = self.shared.read(py, |content| match content {
            Content::Hash(_) | Content::Tree(_) => content.table()?.stat(),
            // A file's table would have to read much of the file to say it.
            _ => Ok(Stat::default()),
        })?;
        Ok(size_of::<Self>() + stat.memory_bytes as usize)
    }

    #[pyo3(name = "_has_same_entries")]
    fn has_same_entries(&self, py: Python<'_>, other: &Table) -> PyResult<bool> {
        let snapshot = |table: &Table| table.shared.read(py, |content| content.table()?.snapshot());
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
        let mut found = None;
        self.shared.read(py, |content| {
            content.ordered()?.first_with(&range, &mut |key, value| {
                found = Some((self.strings.object(py, key), self.values.object(py, value)));
            })
        })?;
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

/// Whether the end of a transaction waits for a disk.
fn commits_wait(table: &Table) -> bool {
    table.sync == SyncMode::Commit
}
