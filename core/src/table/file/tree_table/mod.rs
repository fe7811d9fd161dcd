//! An ordered table of byte strings in one file: a tree of pages that are never overwritten while anybody reads them.
//!
//! A transaction copies the pages that it changes, and its commit publishes another root. Readers go from a root to the
//! pages, and wait for nobody. `header.rs`, `node.rs` and `pointer.rs` say what stands in the file.
//!
//! A power cut can take the last commits, whole ones always, by [`SyncMode`]:
//!
//! | | |
//! |---|---|
//! | [`SyncMode::Commit`] | nothing; each is synced |
//! | [`SyncMode::Interval`] | those of the last second |
//! | [`SyncMode::Never`] | those since 64 MiB of pages, and four times the file, were written |
//!
//! `search.rs` finds keys, `edit.rs` changes trees, `transaction.rs` has the pages of a change until it is committed,
//! `durable.rs` syncs, `allocator.rs`, `freed_queue.rs` and `marking.rs` know which pages are free.

mod allocator;
mod check;
mod checked_pages;
mod compact;
mod durable;
mod edit;
mod following;
mod freed_queue;
mod header;
mod marking;
mod new_tree;
mod node;
mod node_edit;
mod opening;
mod pointer;
mod roots;
mod search;
mod shared_tree;
mod state;
mod table_files;
mod transaction;
mod tree_file;
mod view;
mod write_turn;

use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, OnceLock};
use std::time::Duration;

pub(super) use header::is_beginning;
use new_tree::NewTree;
use opening::OpeningMode;
use pointer::TreeRoot;
use shared_tree::SharedTree;
use state::TreeState;
use table_files::TreeTableFiles;
use transaction::TreeTransaction;
use tree_file::TreeFile;
use view::TreeView;

use super::flusher::Flusher;
use super::options::{OpenOptions, SyncMode};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{Directory, ProcessMark, Storage, StorageMode};
use crate::table::{
    KeyRange, OrderedSnapshot, OrderedTable, Scan, Snapshot, Stat, Table, ValueType, check_entry,
};

/// An ordered table in a file.
///
/// Any number of processes write the file by turns, a transaction or a single change each, and read it meanwhile: each
/// operation sees the newest commit, whole, and a snapshot stays what it is. A reader waits for nobody.
///
/// After a fork, the child's copy opens the file anew when it is used, beside its parent. The transactions, views and scans that
/// were there before the fork are the parent's alone. A table that its parent has for itself
/// ([`OpenOptions::exclusive`]) the child can only read.
#[derive(Debug)]
pub struct TreeTable {
    shared: Arc<SharedTree>,
    file: Arc<TreeFile>,
    name: String,
    /// Path at which a child of this process finds the file.
    path: Option<PathBuf>,
    values: ValueType,
    options: OpenOptions,
    opener: ProcessMark,
    /// Syncs what has waited long enough, where somebody has to.
    flusher: Option<Flusher>,
    /// The table as a child of this process opened it.
    in_child: OnceLock<Box<TreeTable>>,
}

impl TreeTable {
    /// Opens the table in the file at `path`. [`ErrorKind::Lock`] if another process or handle has it for itself,
    /// [`ErrorKind::Format`] where it holds something else, and [`ErrorKind::Corrupt`] where it is damaged.
    pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<TreeTable> {
        let path = path.as_ref();
        let shown = path.to_string_lossy();
        let open = || {
            options.check()?;
            let files = TreeTableFiles::find(path)?;
            files.create_if(options)?;
            let path = files.path.clone();
            let mut table = Self::open_at(&files, &shown, options)?;
            table.path = path;
            Ok(table)
        };
        open().map_err(|error: Error| error.in_file(&shown))
    }

    /// Makes the table in the file at `path` whole again: it goes back to the last synced commit that can be read whole.
    /// It waits up to `timeout` for another writer to go, and fails as [`TreeTable::open`] does.
    pub fn repair(path: impl AsRef<Path>, timeout: Duration) -> Result<()> {
        let path = path.as_ref();
        let shown = path.to_string_lossy();
        let options = OpenOptions { verify: true, timeout, values: None, ..OpenOptions::default() };
        let repaired = TreeTableFiles::find(path).and_then(|files| {
            let storage = files.open(StorageMode::Write, timeout)?;
            Self::open_with(storage, &shown, options, true)
        });
        repaired.map(drop).map_err(|error| error.in_file(&shown))
    }

    /// Opens the table in the file `name` of `directory`. Where these are no files of the operating system, nothing keeps
    /// two tables from using it at once.
    pub fn open_in(
        directory: Arc<dyn Directory>,
        name: &str,
        options: OpenOptions,
    ) -> Result<TreeTable> {
        let files = TreeTableFiles { directory, name: name.into(), path: None };
        files.create_if(options).map_err(|error| error.in_file(name))?;
        Self::open_at(&files, name, options)
    }

    fn open_at(files: &TreeTableFiles, name: &str, options: OpenOptions) -> Result<TreeTable> {
        let storage = match options.read_only {
            true => files.open_to_read(),
            false => files.open(options.storage_mode(), options.timeout),
        };
        let storage = storage.map_err(|error| error.in_file(name))?;
        Self::open_with(storage, name, options, false)
    }

    /// Opens the table in `storage`, which errors call `name`. Where it is no file of the operating system, nothing keeps
    /// two tables from using it at once, and the death of the process loses what a power cut loses.
    pub fn open_storage(
        storage: Box<dyn Storage>,
        name: &str,
        options: OpenOptions,
    ) -> Result<TreeTable> {
        let storage: Arc<dyn Storage> = Arc::from(storage);
        if options.create && !options.read_only && storage.len().is_ok_and(|len| len == 0) {
            let made = NewTree::new(options.values).write_in_place(&*storage);
            made.map_err(|error| Error::io("create the table", &error).in_file(name))?;
        }
        Self::open_with(storage, name, options, false)
    }

    fn open_with(
        storage: Arc<dyn Storage>,
        name: &str,
        options: OpenOptions,
        repairs: bool,
    ) -> Result<TreeTable> {
        let OpenOptions { read_only, verify, timeout, sync, .. } = options;
        let mode = OpeningMode { reads: read_only, verifies: verify, repairs };
        let file = opening::open(storage, mode, name).map_err(|error| error.in_file(name))?;
        let values = file.header.values;
        values.check(options.values).map_err(|error| error.in_file(name))?;
        let state = TreeState::new(file.clone(), sync, timeout);
        let mut table = TreeTable {
            shared: Arc::new(SharedTree::new(file.clone(), state)),
            file,
            name: name.to_owned(),
            path: None,
            values,
            options,
            opener: ProcessMark::new(),
            flusher: None,
            in_child: OnceLock::new(),
        };
        if sync == SyncMode::Interval && !read_only {
            let flusher = table.shared.start_flusher();
            let flusher = flusher.map_err(|e| Error::io("start a thread", &e).in_file(name))?;
            table.flusher = Some(flusher);
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
        let table = Box::new(TreeTable::open(path, self.options.in_child())?);
        Ok(self.in_child.get_or_init(|| table))
    }

    /// The table as this process has it, to be changed.
    fn here_to_write(&mut self) -> Result<&mut TreeTable> {
        if self.opener.is_here() {
            return self.check_writable().map(|()| self);
        }
        self.here()?;
        self.check_writable()?;
        match self.in_child.get_mut() {
            Some(table) => table.here_to_write(),
            None => Err(Error::internal("a table that a child has not opened")),
        }
    }

    /// [`ErrorKind::Argument`] if it was opened to be read only, and [`ErrorKind::Closed`] if it is one that the process before
    /// a fork has for itself.
    fn check_writable(&self) -> Result<()> {
        if self.options.read_only {
            let message = "expected a table opened for writing, found one opened with read_only";
            return Err(Error::new(ErrorKind::Argument, message).in_file(&self.name));
        }
        if self.options.exclusive && !self.opener.is_here() {
            let message = "expected to write in the process that opened the table with exclusive, found one forked from \
                           it, which can only read it";
            return Err(Error::new(ErrorKind::Closed, message).in_file(&self.name));
        }
        Ok(())
    }

    fn state(&self) -> Result<MutexGuard<'_, TreeState>> {
        Ok(self.here()?.shared.lock())
    }

    /// Does `change`, and tells the thread that syncs it.
    fn change<T>(&mut self, change: impl FnOnce(&mut TreeState) -> Result<T>) -> Result<T> {
        let table = self.here_to_write()?;
        let mut state = table.shared.lock();
        state.check()?;
        let outcome = change(&mut state);
        let is_unsynced = state.is_unsynced();
        drop(state);
        if let Some(flusher) = table.flusher.as_ref().filter(|_| is_unsynced) {
            flusher.note_waiting();
        }
        outcome
    }

    fn view(&self) -> Result<TreeView> {
        self.state()?.view()
    }

    /// The root of an open transaction, which this table's reads see.
    fn uncommitted_root(&self) -> Result<Option<TreeRoot>> {
        Ok(self.state()?.uncommitted_root())
    }
}

impl Table for TreeTable {
    fn len(&self) -> Result<u64> {
        self.state()?.len()
    }

    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let file = &self.here()?.file;
        // No lock is held when `found` is called, which may ask the table for more.
        match self.uncommitted_root()? {
            Some(root) => file.get(root.page, key, found),
            None => file.get_newest(key, found),
        }
    }

    /// Looks all keys up in one tree: that of one commit.
    fn get_many(&self, keys: &[&[u8]], found: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<()> {
        let file = &self.here()?.file;
        match self.uncommitted_root()? {
            Some(root) => file.get_many(root.page, keys, found),
            None => file.get_many_newest(keys, found),
        }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_entry(key, value).map_err(|error| error.in_file(&self.name))?;
        self.change(|state| state.change(|transaction| transaction.put(key, value)))
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        self.change(|state| state.change(|transaction| transaction.delete(key)))
    }

    fn clear(&mut self) -> Result<()> {
        self.change(|state| state.change(TreeTransaction::clear))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(self.view()?))
    }

    fn begin(&mut self) -> Result<()> {
        self.change(TreeState::begin)
    }

    fn commit(&mut self) -> Result<()> {
        self.change(TreeState::commit)
    }

    fn abort(&mut self) -> Result<()> {
        // What a failure has taken back need not be taken back again.
        self.here_to_write()?.shared.lock().abort()
    }

    fn depth(&self) -> usize {
        self.here().map_or(0, |table| table.shared.lock().depth())
    }

    /// Returns when what was committed will survive a power cut. What an open transaction changed is not part of it.
    fn sync(&mut self) -> Result<()> {
        let table = self.here_to_write()?;
        table.shared.lock().check()?;
        table.shared.sync(table.options.timeout)
    }

    fn take_turn(&mut self, timeout: Option<Duration>) -> Result<()> {
        self.here_to_write()?.shared.lock().take_turn(timeout)
    }

    fn give_turn_back(&mut self) {
        if let Ok(table) = self.here_to_write() {
            table.shared.lock().give_turn_back();
        }
    }

    fn turn_waiter(&self) -> Option<Box<dyn Fn(Duration) + Send + Sync>> {
        let waiter = self.here().ok()?.file.sharing.turn_waiter()?;
        Some(Box::new(move |timeout| waiter.wait(timeout)))
    }

    fn set_timeout(&mut self, timeout: Duration) {
        self.options.timeout = timeout;
        if self.opener.is_here() {
            self.shared.lock().set_timeout(timeout);
        }
    }

    fn close(&mut self) -> Result<()> {
        // Who only reads has nothing to write.
        if self.options.read_only {
            return Ok(());
        }
        if !self.opener.is_here() {
            return self.in_child.get_mut().map_or(Ok(()), |table| table.close());
        }
        {
            let mut state = self.shared.lock();
            state.give_up();
            if state.has_told_failure() {
                return Ok(());
            }
            state.check()?;
        }
        self.shared.sync(self.options.timeout)
    }

    fn waits_for_disk(&self) -> bool {
        // A change of who only reads is refused at once.
        !self.options.read_only
            && self.here().is_ok_and(|table| table.shared.asked(TreeState::syncs_next_change))
    }

    fn is_busy(&self) -> bool {
        self.here().is_ok_and(|table| table.shared.asked(|_| false))
    }

    /// Moves entries to the beginning of the file and cuts its end off. Pages that a snapshot or scan has stay until it has
    /// ended. [`ErrorKind::Argument`] in a transaction.
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
        let is_found = entry.is_some();
        if let Some((key, value)) = entry {
            found(key, value);
        }
        scan.check_shown()?;
        Ok(is_found)
    }
}

impl Drop for TreeTable {
    /// Syncs what was committed; [`Table::sync`] tells whether that works.
    fn drop(&mut self) {
        // In a child there is nothing to write, and the lock may be held by a thread that is not here.
        if !self.opener.is_here() {
            return;
        }
        self.flusher = None;
        if !self.options.read_only {
            self.shared.lock().close();
        }
    }
}

/// [`ErrorKind::Closed`] where `process` is not this one.
fn check_process(process: ProcessMark) -> Result<()> {
    if process.is_here() {
        return Ok(());
    }
    let message = "expected the process that opened the table, found one forked from it: open the \
                   table again here";
    Err(Error::new(ErrorKind::Closed, message))
}
