//! The redb file below a table: opening it beside other processes, one commit of it, and changes
//! that become one.

use std::io;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use redb::{
    Builder, ConcurrencyMode, OwnedAccessGuard, OwnedRange, ReadOnlyDatabase, ReadOnlyTable,
    ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition,
    TableError, TableStats, WriteTransaction,
};

use super::changes::ChangedEntries;
use super::checked_pages::{self, CheckedPages};
use super::fork_guard::ForkGuard;
use super::log_mark::LogMarkPlace;
use super::overlay::Overlay;
use super::redb_backend::{Backend, failed_io, guarded, locked_by};
use super::redo_log::Position;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{MemoryStorage, Storage, lock_holder};
use crate::table::file::random::random_number;
use crate::table::foreign::described;
use crate::table::{KeyRange, ValueType};

pub(super) type Guard = OwnedAccessGuard<&'static [u8]>;
/// A transaction of redb. Over a damaged file it can panic when it is dropped, too, which this catches.
pub(super) type Writing = ForkGuard<WriteTransaction>;
type Entries = ReadOnlyTable<&'static [u8], &'static [u8]>;
pub(super) type Range = OwnedRange<&'static [u8], &'static [u8]>;

/// The redb table of a file with its entries. A change of what it holds is a change of its number.
pub(super) const TABLE: TableDefinition<'static, &'static [u8], &'static [u8]> =
    TableDefinition::new(NAME);
const NAME: &str = "bytewright.tree.1";

/// The redb table with the [`Position`] of the newest commit, under the empty key.
const POSITION: TableDefinition<'static, &'static [u8], &'static [u8]> =
    TableDefinition::new(POSITION_NAME);
const POSITION_NAME: &str = "bytewright.position.1";

/// Memory that redb may use for pages, read and not yet written.
pub(super) const CACHE_LEN: usize = 8 << 20;

/// Time to wait between two tries to open a file that another process has.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Least time that a reader waits for a writer that is opening the file, or repairing it.
const READER_PATIENCE: Duration = Duration::from_secs(1);

/// Number of tries to verify a file that others change meanwhile.
const VERIFY_COUNT_MAX: u32 = 5;

/// Bytes of redb's header, which every commit changes.
const HEADER_LEN: usize = 320;

/// Bytes that tell whether a file is a table, or what else it is.
const DESCRIBED_LEN: u64 = 32;

/// An open file.
pub(super) struct TreeDatabase {
    redb: Redb,
    storage: Arc<dyn Storage>,
    failure: Arc<OnceLock<Error>>,
    values: ValueType,
}

enum Redb {
    /// The one writer of the file.
    Writer(redb::Database),
    /// A reader that follows the commits of a writer, where there is one.
    Follower(ReadOnlyDatabase),
}

/// Makes a storage for another try.
pub(super) type Reopen<'a> = dyn FnMut() -> Result<Arc<dyn Storage>> + 'a;

fn builder() -> Builder {
    let mut builder = redb::Database::builder();
    builder.set_cache_size(CACHE_LEN);
    builder
}

/// The bytes of a table without entries, whose values are to be these, or bytes.
pub(super) fn new_table(values: Option<ValueType>) -> Result<Vec<u8>> {
    let memory = MemoryStorage::default();
    let storage: Arc<dyn Storage> = Arc::new(memory.clone());
    let values = values.unwrap_or(ValueType::BYTES);
    let pages = CheckedPages::create(&storage, random_number(), values);
    let pages = pages.map_err(|error| Error::io("create the table", &error))?;
    let backend = Backend::new(Arc::new(pages))?;
    let failure = backend.failure();
    let redb = guarded("", || builder().create_with_backend(backend))?;
    let database = TreeDatabase { redb: Redb::Writer(redb), storage, failure, values };
    commit(database.begin_write("")?, Position::first(), "")?;
    drop(database);
    Ok(memory.bytes())
}

impl TreeDatabase {
    /// Opens the file to write, and waits up to `timeout` for another writer to go.
    pub(super) fn open_writer(
        reopen: &mut Reopen<'_>,
        name: &str,
        verify: bool,
        timeout: Duration,
    ) -> Result<TreeDatabase> {
        let opened = retried(timeout, || {
            let storage = reopen()?;
            check_not_empty(&*storage)?;
            let pages = Arc::new(CheckedPages::open(&storage, true)?);
            let backend = Backend::new(pages.clone())?;
            let failure = backend.failure();
            // redb verifies all that it uses then, and goes back to an older commit if it has to.
            pages.trust(verify);
            let opened = guarded(name, || {
                builder()
                    .set_concurrency_mode(ConcurrencyMode::SingleWriter)
                    .set_check_integrity_on_open(verify)
                    .create_with_backend(backend)
            });
            pages.trust(false);
            opened
                .map(|database| {
                    let values = pages.values();
                    TreeDatabase { redb: Redb::Writer(database), storage, failure, values }
                })
                .map_err(|error| explained(error, reopen))
        });
        opened.map_err(|error| with_holder(error, reopen, name))
    }

    /// Opens the file to read, beside a writer where there is one. It keeps no writer out.
    pub(super) fn open_reader(
        reopen: &mut Reopen<'_>,
        name: &str,
        verify: bool,
        timeout: Duration,
    ) -> Result<TreeDatabase> {
        retried(timeout.max(READER_PATIENCE), || {
            let storage = reopen()?;
            check_not_empty(&*storage)?;
            let pages = CheckedPages::open(&storage, false)?;
            let values = pages.values();
            let below: Arc<dyn Storage> = Arc::new(pages);
            if verify {
                verify_unlocked(&below, name).map_err(|error| explained(error, reopen))?;
            }
            let backend = Backend::new(below)?.for_reader();
            let failure = backend.failure();
            let opened = guarded(name, || {
                let mut builder = builder();
                builder.set_concurrency_mode(ConcurrencyMode::SingleWriter);
                builder.open_read_only_with_backend(backend)
            });
            match opened {
                Ok(database) => {
                    let redb = Redb::Follower(database);
                    Ok(TreeDatabase { redb, storage, failure, values })
                }
                Err(error) => Err(explained(error, reopen)),
            }
        })
    }

    /// Returns the type of the table's values.
    pub(super) fn values(&self) -> ValueType {
        self.values
    }

    fn begin_read(&self) -> Result<ReadTransaction, redb::Error> {
        Ok(match &self.redb {
            Redb::Writer(database) => database.begin_read()?,
            Redb::Follower(database) => database.begin_read()?,
        })
    }

    /// Returns true if the commit that is read now can be kept as the newest. A follower that kept it would miss the
    /// writer's commits, and the writer could not use the pages that it frees.
    pub(super) fn keeps_readings(&self) -> bool {
        !matches!(self.redb, Redb::Follower(_))
    }

    /// The newest commit; the file stays open as long as that is read.
    pub(super) fn read(
        database: &Arc<ForkGuard<TreeDatabase>>,
        name: &str,
    ) -> Result<Arc<CommitReading>> {
        let table = ForkGuard::new(database.checked()?.open_newest(name)?);
        Ok(Arc::new(CommitReading { table, name: name.to_owned(), _database: database.clone() }))
    }

    /// The entries of the newest commit; `None` before the first change of a new file.
    fn open_newest(&self, name: &str) -> Result<Option<Entries>> {
        guarded(name, || match self.begin_read()?.open_table(TABLE) {
            Ok(table) => Ok(Some(table)),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(redb::Error::from(error)),
        })
    }

    /// The position of the newest commit. [`ErrorKind::Corrupt`] where there is none, which no table is made without.
    pub(super) fn position(&self, name: &str) -> Result<Position> {
        let position = guarded(name, || {
            let table = match self.begin_read()?.open_table(POSITION) {
                Ok(table) => table,
                Err(TableError::TableDoesNotExist(_)) => return Ok(None),
                Err(error) => return Err(redb::Error::from(error)),
            };
            Ok(table.get(&[][..])?.and_then(|bytes| Position::from_bytes(bytes.value())))
        })?;
        position.ok_or_else(|| {
            let message = "expected the position of the table's newest commit, found none";
            Error::new(ErrorKind::Corrupt, message).in_file(name)
        })
    }

    fn writer(&self) -> Result<&redb::Database> {
        match &self.redb {
            Redb::Writer(database) => Ok(database),
            _ => Err(Error::internal("a table opened to read is to be written")),
        }
    }

    /// Begins a transaction of redb; there must be no other.
    pub(super) fn begin_write(&self, name: &str) -> Result<Writing> {
        let database = self.writer()?;
        let writing = guarded(name, || {
            let mut writing = database.begin_write()?;
            // With what is free written down in each commit, opening after a crash need not read the
            // whole file.
            writing.set_quick_repair(true);
            Ok::<_, redb::Error>(writing)
        })?;
        Ok(ForkGuard::new(writing))
    }

    /// Gives back the pages that nothing uses.
    pub(super) fn compact(&mut self, name: &str) -> Result<()> {
        match &mut self.redb {
            Redb::Writer(database) => guarded(name, || database.compact()).map(|_| ()),
            _ => self.writer().map(|_| ()),
        }
    }

    /// Returns the error after which redb does nothing more, if there was one.
    pub(super) fn failure(&self) -> Option<&Error> {
        self.failure.get()
    }

    /// The file, without the layer that checks its pages.
    pub(super) fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// The place of the log's mark.
    pub(super) fn log_mark(&self) -> LogMarkPlace {
        LogMarkPlace::new(&self.storage)
    }

    pub(super) fn file_len(&self, name: &str) -> Result<u64> {
        self.storage.len().map_err(|error| Error::io("read", &error).in_file(name))
    }
}

/// Has redb verify a file with all that refers to each other in it. What it would repair is kept in
/// memory, and nobody is locked out: where a commit came meanwhile, it is done again.
fn verify_unlocked(below: &Arc<dyn Storage>, name: &str) -> Result<()> {
    let failed = |error: io::Error| failed_io(&error);
    for _ in 0..VERIFY_COUNT_MAX {
        let (mut before, mut after) = ([0; HEADER_LEN], [0; HEADER_LEN]);
        below.read_at(0, &mut before).map_err(failed)?;
        let overlay = Overlay::new(below.clone()).map_err(failed)?;
        let backend = Backend::without_locks(Arc::new(overlay));
        let verified = guarded(name, || {
            builder().set_check_integrity_on_open(true).create_with_backend(backend).map(drop)
        });
        below.read_at(0, &mut after).map_err(failed)?;
        if before == after {
            return verified;
        }
    }
    Err(Error::new(
        ErrorKind::Lock,
        "expected a table that nobody is writing, found one that changed while it was verified; \
         open it again",
    ))
}

/// Tries again while another process has the file, up to `timeout`.
fn retried<T>(timeout: Duration, mut open: impl FnMut() -> Result<T>) -> Result<T> {
    let began = Instant::now();
    loop {
        let opened = open();
        let left = timeout.saturating_sub(began.elapsed());
        match opened {
            Err(error) if error.kind() == ErrorKind::Lock && !left.is_zero() => {
                thread::sleep(left.min(LOCK_PAUSE));
            }
            opened => return opened,
        }
    }
}

/// Replaces the error of a lock with one that names the process that writes the table.
fn with_holder(error: Error, reopen: &mut Reopen<'_>, name: &str) -> Error {
    if error.kind() != ErrorKind::Lock {
        return error;
    }
    let holder = lock_holder(reopen().ok().and_then(|storage| storage.id().ok().flatten()));
    locked_by(&holder).in_file(name)
}

fn check_not_empty(storage: &dyn Storage) -> Result<()> {
    match storage.len() {
        Ok(0) => Err(Error::format("a table file of Bytewright", "an empty file")),
        Ok(_) => Ok(()),
        Err(error) => Err(Error::io("read", &error)),
    }
}

/// Says in our words what redb said of a file that is not its own.
fn explained(error: Error, reopen: &mut Reopen<'_>) -> Error {
    match error.kind() {
        ErrorKind::Format | ErrorKind::Corrupt => {
            reopen().and_then(|storage| check_beginning(&*storage)).err().unwrap_or(error)
        }
        _ => error,
    }
}

/// Returns true if a file that begins so is an ordered table.
pub(in crate::table::file) fn is_beginning(beginning: &[u8]) -> bool {
    beginning.starts_with(checked_pages::MAGIC)
}

fn check_beginning(storage: &dyn Storage) -> Result<()> {
    let read = || -> io::Result<Vec<u8>> {
        let mut beginning = vec![0; storage.len()?.min(DESCRIBED_LEN) as usize];
        storage.read_at(0, &mut beginning)?;
        Ok(beginning)
    };
    let beginning = read().map_err(|error| Error::io("read", &error))?;
    if is_beginning(&beginning) {
        return Ok(());
    }
    let found = match beginning.iter().all(|byte| *byte == 0) {
        true => "zeros: a table whose creation was interrupted can be deleted".to_owned(),
        false => described(&beginning),
    };
    Err(Error::format("a table file of Bytewright", found).at(0))
}

/// One commit, as long as it is read. The caller knows that this is the process that began to.
pub(super) struct CommitReading {
    /// `None` before the first change of a new file.
    table: ForkGuard<Option<Entries>>,
    name: String,
    /// Closed behind the table: redb reads nothing more of a database that is closed.
    _database: Arc<ForkGuard<TreeDatabase>>,
}

impl CommitReading {
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Guard>> {
        let Some(table) = self.table.checked()? else { return Ok(None) };
        guarded(&self.name, || Ok::<_, redb::Error>(table.get_owned(key)?.inspect(look_at)))
    }

    pub(super) fn range(&self, range: &KeyRange) -> Result<Option<Range>> {
        let Some(table) = self.table.checked()? else { return Ok(None) };
        guarded(&self.name, || table.range_owned::<&[u8]>(bounds(range))).map(Some)
    }

    pub(super) fn len(&self) -> Result<u64> {
        let Some(table) = self.table.checked()? else { return Ok(0) };
        guarded(&self.name, || table.len())
    }

    /// Returns counts of what the pages hold; takes as long as reading all of them.
    pub(super) fn stats(&self) -> Result<Option<TableStats>> {
        let Some(table) = self.table.checked()? else { return Ok(None) };
        guarded(&self.name, || table.stats()).map(Some)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// Looks at what a guard shows, where a panic is caught: of a damaged page it may be more than there is.
/// After this it shows the same again.
pub(super) fn look_at(guard: &Guard) {
    let _ = guard.value();
}

/// The bounds of a range as redb takes them.
pub(super) fn bounds(range: &KeyRange) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (range.from.as_ref().map(Vec::as_slice), range.to.as_ref().map(Vec::as_slice))
}

/// Ends a transaction, and keeps its changes: the table is at `position` then.
pub(super) fn commit(mut writing: Writing, position: Position, name: &str) -> Result<()> {
    let writing = writing.take()?;
    guarded(name, || {
        writing.open_table(POSITION)?.insert(&[][..], position.to_bytes().as_slice())?;
        Ok::<_, redb::Error>(writing.commit()?)
    })
}

/// Ends a transaction, and takes its changes back.
pub(super) fn abort(mut writing: Writing, name: &str) -> Result<()> {
    let writing = writing.take()?;
    guarded(name, || writing.abort())
}

/// Does `changes` within a transaction, in the order of the keys: neighbours share pages.
pub(super) fn apply(
    writing: &WriteTransaction,
    changes: &ChangedEntries,
    name: &str,
) -> Result<()> {
    guarded(name, || {
        let mut table = writing.open_table(TABLE)?;
        for (key, value) in changes.iter() {
            match value {
                Some(value) => table.insert(key, value).map(drop)?,
                None => table.remove(key).map(drop)?,
            }
        }
        Ok::<_, redb::Error>(())
    })
}

/// Takes all entries out within a transaction.
pub(super) fn clear(writing: &WriteTransaction, name: &str) -> Result<()> {
    guarded(name, || {
        writing.delete_table(TABLE)?;
        writing.open_table(TABLE).map(drop)?;
        Ok::<_, redb::Error>(())
    })
}

/// A few of the entries in `range` within a transaction, from where it begins.
pub(super) fn some_entries(
    writing: &WriteTransaction,
    range: &KeyRange,
    count: usize,
    name: &str,
) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    guarded(name, || {
        let table = writing.open_table(TABLE)?;
        let mut entries = table.range::<&[u8]>(bounds(range))?;
        let mut some = Vec::new();
        while some.len() < count {
            let entry = if range.reverse { entries.next_back() } else { entries.next() };
            let Some(entry) = entry else { break };
            let (key, value) = entry?;
            some.push((key.value().to_vec(), value.value().to_vec()));
        }
        Ok::<_, redb::Error>(some)
    })
}
