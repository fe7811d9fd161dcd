//! An ordered table of byte strings in one file, kept by redb.
//!
//! Changes gather in memory, as layers: the lowest holds what was committed, each one above it an open
//! transaction or a part of one. The lowest becomes a commit of redb, in the order of its keys, when it
//! is large enough or old enough, or when [`crate::table::Table::sync`] asks for it. So a change costs
//! no write of its own, and a savepoint costs nothing. A transaction that becomes too much for memory
//! goes on in one of redb's ([`Spill`]).
//!
//! A commit is written to a log beside the table before it waits in memory ([`redo_log`]), so the death
//! of the process loses none. What each [`SyncMode`] can lose to a power cut, whole commits always, the
//! last ones:
//!
//! | | |
//! |---|---|
//! | [`SyncMode::Commit`] | nothing; each is a commit of redb |
//! | [`SyncMode::Interval`] | those of the last second |
//! | [`SyncMode::Never`] | those since there were 8 MiB of changes, or 16 MiB of log |
//!
//! There is no commit of redb that is not synced, so readers in other processes see a commit when it
//! cannot be lost any more. Who opens the table to read it has those in the log by then, too.
//!
//! `state.rs` moves changes from memory to the file, and `view.rs` shows both as one. `database.rs` opens redb's file beside
//! readers, over the pages of `checked_pages.rs`.

mod changes;
mod checked_pages;
mod database;
mod flusher;
mod fork_guard;
mod log_mark;
mod overlay;
mod redb_backend;
mod redo_log;
mod state;
mod table_files;
mod uses;
mod view;

use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use database::TreeDatabase;
pub(super) use database::is_beginning;
use flusher::SharedTree;
use fork_guard::{ForkGuard, check_process};
use state::{MissingLog, TreeState};
use table_files::TreeTableFiles;
use view::TreeView;

use super::options::{OpenOptions, SyncMode};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{Directory, ProcessMark, Storage, StorageMode};
use crate::table::{
    KeyRange, OrderedSnapshot, OrderedTable, Scan, Snapshot, Stat, Table, ValueType, check_entry,
};

/// An ordered table in a file.
///
/// One process writes the file, others read it meanwhile: each of their operations sees the newest
/// commit in the file, whole, and a snapshot of theirs stays what it is.
///
/// After a fork, the child's copy reads the file anew, beside its parent, and writes nothing. Views
/// and scans that were there before the fork are the parent's alone. Until the child has ended or
/// become another program, it keeps the parent's lock as the parent does.
#[derive(Debug)]
pub struct TreeTable {
    shared: Arc<SharedTree>,
    name: String,
    /// Path at which a child of this process finds the file.
    path: Option<PathBuf>,
    values: ValueType,
    options: OpenOptions,
    opener: ProcessMark,
    /// Writes what has waited long enough, where somebody has to.
    flusher: Option<ForkGuard<JoinHandle<()>>>,
    /// The table as a child of this process opened it.
    in_child: OnceLock<Box<TreeTable>>,
}

impl TreeTable {
    /// Opens the table in the file at `path`. [`ErrorKind::Lock`] where another process or handle
    /// writes it, [`ErrorKind::Format`] where it holds something else, and [`ErrorKind::Corrupt`]
    /// where it is damaged and redb has no older commit that is whole.
    ///
    /// A file that its last writer did not close is repaired by the next one. Readers neither wait for
    /// that nor keep writers out.
    ///
    /// Beside it is, while it is written, a file whose name goes on with `.log`. It has the commits that
    /// the table's own file does not have yet; after a crash the next one to open the table takes them
    /// from there.
    pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<TreeTable> {
        let path = path.as_ref();
        let shown = path.to_string_lossy();
        let open = || {
            let files = TreeTableFiles::find(path)?;
            files.create_if(options)?;
            let path = files.path.clone();
            let mut table = Self::open_at(files, &shown, options, MissingLog::Refused)?;
            table.path = path;
            Ok(table)
        };
        open().map_err(|error: Error| error.in_file(&shown))
    }

    /// Makes the table in the file at `path` whole again: redb goes back to its last whole commit, and commits whose log is
    /// not there are given up. It waits up to `timeout` for another writer to go, and fails as [`TreeTable::open`] does.
    pub fn repair(path: impl AsRef<Path>, timeout: Duration) -> Result<()> {
        let path = path.as_ref();
        let shown = path.to_string_lossy();
        let options = OpenOptions { verify: true, timeout, values: None, ..OpenOptions::default() };
        let repaired = TreeTableFiles::find(path)
            .and_then(|files| Self::open_at(files, &shown, options, MissingLog::GivenUp));
        repaired.map(drop).map_err(|error| error.in_file(&shown))
    }

    /// Opens the table in the file `name` of `directory`. Where these are no files of the operating
    /// system, nothing keeps two tables from using it at once.
    pub fn open_in(
        directory: Arc<dyn Directory>,
        name: &str,
        options: OpenOptions,
    ) -> Result<TreeTable> {
        let files = TreeTableFiles { directory, name: name.into(), path: None };
        files.create_if(options).map_err(|error| error.in_file(name))?;
        Self::open_at(files, name, options, MissingLog::Refused)
    }

    fn open_at(
        files: TreeTableFiles,
        name: &str,
        options: OpenOptions,
        missing: MissingLog,
    ) -> Result<TreeTable> {
        let mode = match options.read_only {
            true => StorageMode::Follow,
            false => StorageMode::Write,
        };
        Self::open_with(&mut || files.open(mode), name, options, Some((&files, missing)))
    }

    /// Opens the table in `storage`, which errors call `name`. Where it is no file of the operating
    /// system, nothing keeps two tables from using it at once. It has no log, so that the death of the
    /// process loses what a power cut loses.
    pub fn open_storage(
        storage: Box<dyn Storage>,
        name: &str,
        options: OpenOptions,
    ) -> Result<TreeTable> {
        let storage: Arc<dyn Storage> = Arc::from(storage);
        if options.create && !options.read_only && storage.len().is_ok_and(|len| len == 0) {
            let made =
                table_files::write_in_place(&*storage, &database::new_table(options.values)?);
            made.map_err(|error| Error::io("create the table", &error).in_file(name))?;
        }
        Self::open_with(&mut || Ok(storage.clone()), name, options, None)
    }

    fn open_with(
        reopen: &mut database::Reopen<'_>,
        name: &str,
        options: OpenOptions,
        files: Option<(&TreeTableFiles, MissingLog)>,
    ) -> Result<TreeTable> {
        let OpenOptions { read_only, verify, timeout, sync, .. } = options;
        let database = match read_only {
            true => TreeDatabase::open_reader(reopen, name, verify, timeout),
            false => TreeDatabase::open_writer(reopen, name, verify, timeout),
        };
        let mut values = ValueType::BYTES;
        let state = database.and_then(|database| {
            values = database.values();
            values.check(options.values)?;
            match read_only {
                true => TreeState::of_reader(database, name, files.map(|(files, _)| files)),
                false => TreeState::of_writer(database, name, sync, files),
            }
        });
        let mut table = TreeTable {
            shared: Arc::new(SharedTree::new(state.map_err(|error| error.in_file(name))?)),
            name: name.to_owned(),
            path: None,
            values,
            options,
            opener: ProcessMark::new(),
            flusher: None,
            in_child: OnceLock::new(),
        };
        if sync == SyncMode::Interval && !read_only {
            let flusher = flusher::start(&table.shared);
            let flusher = flusher.map_err(|e| Error::io("start a thread", &e).in_file(name))?;
            table.flusher = Some(ForkGuard::new(flusher));
        }
        Ok(table)
    }

    /// The name that errors give the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if it was opened to be read only.
    pub fn is_read_only(&self) -> bool {
        self.options.read_only
    }

    /// The table as this process has it: after a fork, the child opens it anew.
    fn here(&self) -> Result<&TreeTable> {
        let Err(inherited) = check_process(self.opener) else { return Ok(self) };
        if let Some(table) = self.in_child.get() {
            return table.here();
        }
        let Some(path) = &self.path else { return Err(inherited.in_file(&self.name)) };
        let options = OpenOptions { read_only: true, verify: false, ..self.options };
        let table = Box::new(TreeTable::open(path, options)?);
        Ok(self.in_child.get_or_init(|| table))
    }

    fn state(&self) -> Result<MutexGuard<'_, TreeState>> {
        Ok(self.here()?.shared.lock())
    }

    /// The state, where this process may change the table.
    fn state_to_write(&mut self) -> Result<MutexGuard<'_, TreeState>> {
        if self.options.read_only {
            return Err(Error::new(
                ErrorKind::Argument,
                "expected a table opened for writing, found one opened with read_only",
            )
            .in_file(&self.name));
        }
        check_process(self.opener).map_err(|_| {
            let message = "expected to write in the process that opened the table, found one \
                           forked from it, where the table can only be read";
            Error::new(ErrorKind::Closed, message).in_file(&self.name)
        })?;
        Ok(self.shared.lock())
    }

    /// Does `change`, and tells the thread that writes it to the file.
    fn change<T>(&mut self, change: impl FnOnce(&mut TreeState) -> Result<T>) -> Result<T> {
        let mut state = self.state_to_write()?;
        state.check()?;
        let waited = state.is_waiting();
        let outcome = change(&mut state);
        let waits = state.is_waiting();
        drop(state);
        if waits && !waited {
            self.shared.ring();
        }
        outcome
    }

    fn view(&self) -> Result<TreeView> {
        self.state()?.view()
    }
}

impl Table for TreeTable {
    fn len(&self) -> Result<u64> {
        self.state()?.len()
    }

    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        // The lock is gone when `found` is called, which may ask the table for more.
        let value = self.state()?.find(key)?;
        Ok(value.show(key, found))
    }

    /// Looks all keys up in one view: a reader looks once for a newer commit, and not again for each key.
    fn get_many(&self, keys: &[&[u8]], found: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<()> {
        self.view()?.get_many(keys, found)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_entry(key, value).map_err(|error| error.in_file(&self.name))?;
        self.change(|state| state.set(key, Some(value)))
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        self.change(|state| {
            let is_there = state.find(key)?.is_there();
            if is_there {
                state.set(key, None)?;
            }
            Ok(is_there)
        })
    }

    fn clear(&mut self) -> Result<()> {
        self.change(TreeState::clear)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(self.view()?))
    }

    fn begin(&mut self) -> Result<()> {
        self.change(|state| {
            state.begin();
            Ok(())
        })
    }

    fn commit(&mut self) -> Result<()> {
        self.change(TreeState::commit)
    }

    fn abort(&mut self) -> Result<()> {
        // What a failure has taken back need not be taken back again.
        self.state_to_write()?.abort()
    }

    fn depth(&self) -> usize {
        self.here().map_or(0, |table| table.shared.lock().depth())
    }

    /// Writes what was committed to the file, and returns when it will survive a power cut. What an
    /// open transaction changed is not part of it.
    fn sync(&mut self) -> Result<()> {
        self.change(TreeState::flush)
    }

    fn close(&mut self) -> Result<()> {
        // Who only reads, as a child of the process that opened the table does, has nothing to write.
        match self.options.read_only || !self.opener.is_here() {
            true => Ok(()),
            false => self.state_to_write()?.finish(),
        }
    }

    fn waits_for_disk(&self) -> bool {
        // Elsewhere a change is refused at once, and in a child the lock may be held for ever.
        let writes = !self.options.read_only && self.opener.is_here();
        writes && self.shared.asked(TreeState::next_change_is_written)
    }

    fn is_busy(&self) -> bool {
        self.opener.is_here() && self.shared.asked(|_| false)
    }

    /// Moves entries to the beginning of the file and cuts its end off. [`ErrorKind::Lock`] while a
    /// snapshot or scan is in use, here or in another process, which the error tells;
    /// [`ErrorKind::Argument`] in a transaction.
    fn compact(&mut self) -> Result<()> {
        self.change(TreeState::compact)
    }

    fn values(&self) -> ValueType {
        self.values
    }

    /// Reads the whole table to say what it holds.
    fn stat(&self) -> Result<Stat> {
        self.state()?.stat()
    }
}

impl OrderedTable for TreeTable {
    fn ordered_snapshot(&self) -> Result<Box<dyn OrderedSnapshot>> {
        Ok(Box::new(self.view()?))
    }

    fn first_with(&self, range: &KeyRange, found: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        let mut scan = self.view()?.scan(range)?;
        let entry = scan.advance()?;
        if let Some((key, value)) = entry {
            found(key, value);
        }
        Ok(entry.is_some())
    }
}

impl Drop for TreeTable {
    /// Writes what was committed; [`Table::sync`] tells whether that works.
    fn drop(&mut self) {
        // In a child there is nothing to write, and the lock may be held by a thread that is not here.
        if !self.opener.is_here() {
            return;
        }
        self.shared.lock().begin_closing();
        self.shared.ring();
        if let Some(Ok(flusher)) = self.flusher.as_mut().map(ForkGuard::take) {
            let _ = flusher.join();
        }
        self.shared.lock().close();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const CREATE: OpenOptions = OpenOptions {
        create: true,
        read_only: false,
        verify: false,
        sync: SyncMode::Interval,
        timeout: std::time::Duration::ZERO,
        values: None,
    };

    /// A table as a process sees it that was forked from the one that opened it.
    fn inherited(mut table: TreeTable) -> TreeTable {
        table.opener = ProcessMark::elsewhere();
        table
    }

    #[test]
    fn a_forked_childs_table_reads_the_file_anew_and_writes_nothing() {
        let path = std::env::temp_dir().join(format!("bytewright-{}.bwt", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mut parent = TreeTable::open(&path, CREATE).unwrap();
        parent.put(b"in the file", b"1").unwrap();
        parent.sync().unwrap();
        parent.put(b"in memory", b"2").unwrap();
        let shared = parent.shared.clone();
        let mut child = inherited(parent);
        assert_eq!(child.get(b"in the file").unwrap().as_deref(), Some(&b"1"[..]));
        assert_eq!(child.get(b"in memory").unwrap().as_deref(), Some(&b"2"[..]), "by the log");
        let error = child.put(b"a", b"").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert!(error.to_string().contains("forked"), "{error}");
        drop(child);
        assert!(shared.lock().is_waiting(), "the child left the parent's changes alone");
        shared.lock().begin_closing();
        shared.ring();
        shared.lock().close();
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_forked_childs_table_without_a_file_says_so() {
        let storage = Box::new(crate::files::MemoryStorage::default());
        let child = inherited(TreeTable::open_storage(storage, "memory", CREATE).unwrap());
        assert_eq!(child.get(b"a").unwrap_err().kind(), ErrorKind::Closed);
        assert_eq!(child.depth(), 0);
    }
}
