//! An ordered table of byte strings in one file, kept by redb: every commit is on disk when it
//! returns, and memory stays small whatever the file's size.

use std::ops::Bound;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

use redb::{
    Database, ReadOnlyTable, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    TableDefinition, TableHandle, WriteTransaction,
};

use super::options::OpenOptions;
use super::overlay::Overlay;
use super::redb_backend::{Backend, failed};
use crate::error::{Error, ErrorKind, Result};
use crate::io::{FileStorage, Storage, StorageMode};

/// The one redb table of a file. A change of what it holds is a change of its number.
const TABLE: TableDefinition<'static, &'static [u8], &'static [u8]> = TableDefinition::new(NAME);
const NAME: &str = "bytewright.tree.1";
const NAME_OF_ANY_VERSION: &str = "bytewright.tree.";

/// How a file of redb begins.
const MAGIC: &[u8; 9] = b"redb\x1a\x0a\xa9\x0d\x0a";

/// Memory that redb may use for pages, read and not yet written.
const CACHE_LEN: usize = 8 << 20;

/// A key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// An ordered table in a file.
#[derive(Debug)]
pub struct TreeTable {
    database: Database,
    name: String,
    read_only: bool,
    /// The thread whose transaction is open; for it to wait for another would be for ever.
    writer: Mutex<Option<ThreadId>>,
}

impl TreeTable {
    /// Opens the table in the file at `path`. It is locked until the table is dropped.
    pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<TreeTable> {
        let path = path.as_ref();
        let mode = match (options.read_only, options.create) {
            (true, _) => StorageMode::Read,
            (false, false) => StorageMode::Write,
            (false, true) => StorageMode::Create,
        };
        let storage = FileStorage::open(path, mode)?;
        Self::open_storage(Box::new(storage), &path.to_string_lossy(), options)
    }

    /// Opens the table in `storage`, which errors call `name`.
    pub fn open_storage(
        storage: Box<dyn Storage>,
        name: &str,
        options: OpenOptions,
    ) -> Result<TreeTable> {
        check_beginning(&*storage, options.create && !options.read_only)
            .map_err(|error| error.in_file(name))?;
        let storage: Box<dyn Storage> = match options.read_only {
            true => {
                Box::new(Overlay::new(storage).map_err(|e| Error::io("read", &e).in_file(name))?)
            }
            false => storage,
        };
        let table = TreeTable {
            database: Database::builder()
                .set_cache_size(CACHE_LEN)
                .set_check_integrity_on_open(options.verify)
                .create_with_backend(Backend(storage))
                .map_err(|error| failed(name, error))?,
            name: name.to_owned(),
            read_only: options.read_only,
            writer: Mutex::new(None),
        };
        table.check_content()?;
        Ok(table)
    }

    /// Makes sure that the file holds a table of ours, or nothing yet.
    fn check_content(&self) -> Result<()> {
        let failed = |error: redb::Error| failed(&self.name, error);
        let reading = self.database.begin_read().map_err(|error| failed(error.into()))?;
        let tables: Vec<String> = reading
            .list_tables()
            .map_err(|error| failed(error.into()))?
            .map(|table| table.name().to_owned())
            .collect();
        drop(reading);
        match tables.as_slice() {
            [name] if name == NAME => self.read().map(|_| ()),
            [] => {
                let writing = self.database.begin_write().map_err(|error| failed(error.into()))?;
                writing.open_table(TABLE).map_err(|error| failed(error.into()))?;
                writing.commit().map_err(|error| failed(error.into()))
            }
            [name] if name.starts_with(NAME_OF_ANY_VERSION) => Err(Error::format(
                format_args!("the table format {NAME}"),
                format_args!("{name}, which a newer Bytewright wrote"),
            )
            .in_file(&self.name)),
            names => Err(Error::format(
                "a table file of Bytewright",
                format_args!("another program's redb file with the tables {}", names.join(", ")),
            )
            .in_file(&self.name)),
        }
    }

    /// The name that errors give the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it was opened to be read only.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn read(&self) -> Result<ReadOnlyTable<&'static [u8], &'static [u8]>> {
        let reading = self.database.begin_read().map_err(|error| failed(&self.name, error))?;
        reading.open_table(TABLE).map_err(|error| failed(&self.name, error))
    }

    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let value = self.read()?.get(key).map_err(|error| failed(&self.name, error))?;
        Ok(value.map(|value| value.value().to_vec()))
    }

    /// Number of entries.
    pub fn len(&self) -> Result<u64> {
        self.read()?.len().map_err(|error| failed(&self.name, error))
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The entries from key `from` on, up to but not including `to`, in the order of their keys, as
    /// they were when the scan began.
    pub fn range(&self, from: &[u8], to: Bound<&[u8]>) -> Result<Scan> {
        let entries = self
            .read()?
            .range::<&[u8]>((Bound::Included(from), to))
            .map_err(|error| failed(&self.name, error))?;
        Ok(Scan { entries, name: self.name.clone() })
    }

    /// All entries in the order of their keys, as they were when the scan began.
    pub fn scan(&self) -> Result<Scan> {
        self.range(&[], Bound::Unbounded)
    }

    /// Sets the value of `key`; on disk at return.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        self.transaction(|entries| entries.put(key, value))
    }

    /// Takes `key` out; says whether it was there. On disk at return.
    pub fn delete(&self, key: &[u8]) -> Result<bool> {
        self.transaction(|entries| entries.delete(key))
    }

    /// Does what `change` does, all of it, on disk at return; or nothing, where it gives an error.
    pub fn transaction<T>(&self, change: impl FnOnce(&mut Entries<'_>) -> Result<T>) -> Result<T> {
        let transaction = self.begin()?;
        let outcome = change(&mut transaction.entries()?)?;
        transaction.commit()?;
        Ok(outcome)
    }

    /// Begins a transaction that outlives one call. It waits for that of another thread to end.
    pub fn begin(&self) -> Result<Transaction<'_>> {
        if self.read_only {
            return Err(Error::new(
                ErrorKind::Argument,
                "expected a table opened for writing, found one opened with read_only",
            )
            .in_file(&self.name));
        }
        let this_thread = std::thread::current().id();
        if *self.writer.lock().unwrap_or_else(PoisonError::into_inner) == Some(this_thread) {
            return Err(Error::new(
                ErrorKind::Lock,
                "expected no open transaction, found one that this thread began",
            )
            .in_file(&self.name));
        }
        let writing = self.database.begin_write().map_err(|error| failed(&self.name, error))?;
        *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(this_thread);
        Ok(Transaction { table: self, owner: this_thread, writing: Some(writing) })
    }
}

/// Says in our words what redb would say of a file that is not its own.
fn check_beginning(storage: &dyn Storage, create: bool) -> Result<()> {
    let len = storage.len().map_err(|error| Error::io("read", &error))?;
    if len == 0 {
        return match create {
            true => Ok(()),
            false => Err(Error::format("a table file of Bytewright", "an empty file")),
        };
    }
    let mut beginning = [0; MAGIC.len()];
    let there = beginning.len().min(len as usize);
    storage.read_at(0, &mut beginning[..there]).map_err(|error| Error::io("read", &error))?;
    if &beginning == MAGIC {
        return Ok(());
    }
    let found = match beginning.iter().all(|byte| *byte == 0) {
        true => "zeros: if this was to become a table, making it was interrupted, and it can be \
                 deleted"
            .to_owned(),
        false => format!("bytes that begin with {:02x?}", &beginning[..there]),
    };
    Err(Error::format("a table file of Bytewright", found).at(0))
}

/// Changes that happen as a whole at [`Transaction::commit`], or, when it is dropped, not at all.
pub struct Transaction<'table> {
    table: &'table TreeTable,
    owner: ThreadId,
    /// There until the end.
    writing: Option<WriteTransaction>,
}

impl Transaction<'_> {
    /// The table's entries, changes so far included.
    pub fn entries(&self) -> Result<Entries<'_>> {
        let name = &self.table.name;
        let closed = || Error::new(ErrorKind::Closed, "the transaction has ended");
        let writing = self.writing.as_ref().ok_or_else(closed)?;
        let entries = writing.open_table(TABLE).map_err(|error| failed(name, error))?;
        Ok(Entries { entries, name })
    }

    /// Makes the changes last: they are on disk when it returns.
    pub fn commit(mut self) -> Result<()> {
        match self.writing.take() {
            Some(writing) => writing.commit().map_err(|error| failed(&self.table.name, error)),
            None => Ok(()),
        }
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // Without a commit, redb lets another thread's transaction begin after this, when `writing`
        // is dropped. After a commit it may have begun: then the mark is that thread's.
        let mut writer = self.table.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if *writer == Some(self.owner) {
            *writer = None;
        }
    }
}

/// The entries of a table within a transaction.
pub struct Entries<'transaction> {
    entries: redb::Table<'transaction, &'static [u8], &'static [u8]>,
    name: &'transaction str,
}

impl Entries<'_> {
    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let value = self.entries.get(key).map_err(|error| failed(self.name, error))?;
        Ok(value.map(|value| value.value().to_vec()))
    }

    /// Sets the value of `key`.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.entries.insert(key, value).map(|_| ()).map_err(|error| failed(self.name, error))
    }

    /// Takes `key` out; says whether it was there.
    pub fn delete(&mut self, key: &[u8]) -> Result<bool> {
        let removed = self.entries.remove(key).map_err(|error| failed(self.name, error))?;
        Ok(removed.is_some())
    }

    /// Number of entries.
    pub fn len(&self) -> Result<u64> {
        self.entries.len().map_err(|error| failed(self.name, error))
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// Entries in the order of their keys.
pub struct Scan {
    entries: redb::Range<'static, &'static [u8], &'static [u8]>,
    name: String,
}

impl Iterator for Scan {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.entries.next()?;
        Some(match entry {
            Ok((key, value)) => Ok((key.value().to_vec(), value.value().to_vec())),
            Err(error) => Err(failed(&self.name, error)),
        })
    }
}
