//! A hashed table of byte strings in one file: an append-only log of checked frames, and an index of it that can always be
//! made again (`docs/hash-table-file.md`).
//!
//! Many processes map the file. They write by turns; readers wait for nobody and make no system call. A commit is appended to
//! the log (`log_writer.rs`), then its entries are stored in the index (`index_writer.rs`), then its state is published
//! (`state.rs`). A record never changes, and knows the one that it replaced, so the end of the log is a snapshot of the table
//! (`hash_file.rs`, `snapshot.rs`). The index is rooms in the log: a directory (`index.rs`) that leads to segments
//! (`segment.rs`).
//!
//! `opening.rs` finds the index where it was, takes in what a process that died had committed (`replay.rs`), or makes the
//! index anew. Who may not write the file has an index in memory, and follows the log (`following.rs`).

mod anew;
mod closing;
mod compaction;
mod compactor;
mod copying;
mod engine;
mod eviction;
mod extent;
mod far_versions;
mod feed;
mod flushing;
mod following;
mod generation;
mod hash_file;
mod header;
mod index;
mod index_writer;
mod log_walk;
mod log_writer;
mod opening;
mod repair;
mod replay;
mod segment;
mod snapshot;
mod state;
mod table_files;
mod transaction;
mod trimming;
mod uses;

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::options::OpenOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{Directory, FileDirectory};
use crate::table::{
    ChangePosition, Changes, Eviction, EvictionJudge, Snapshot, Stat, Table, ValueType, check_entry,
};
use engine::Engine;
use feed::ChangeFeed;
use log_writer::shorten;
use table_files::HashTableFiles;

pub(super) use header::MAGIC;
pub use repair::Check;

/// Keys whose entries the processor brings at the same time.
const KEYS_AHEAD: usize = 32;

/// A hashed table in a file.
///
/// Any number of processes and handles use it at once. Those that write take turns: a change, or a transaction, waits for
/// another one's up to [`OpenOptions::timeout`], and is [`crate::ErrorKind::Lock`] then. Reads wait for nobody, and see each
/// commit as a whole, as of their last call.
///
/// Each commit is in the file (`write(2)`) when the call that makes it returns, so the death of the
/// process loses none, in any [`SyncMode`](super::SyncMode). What a power cut loses is for the mode
/// to say; what it leaves is always all commits up to some moment, and no part of a later one.
///
/// A write or sync that fails takes the open transaction back and closes the table for writing;
/// what was committed before can still be read.
///
/// A forked child opens the file anew at its first use. What its parent had begun is the parent's. A table that its parent has
/// for itself ([`OpenOptions::exclusive`]) the child can only read.
#[derive(Debug)]
pub struct HashTable {
    engine: RefCell<Engine>,
    /// Buffer that look-ups read into. It is away while a caller looks at it, who may look something up.
    buffer: RefCell<Vec<u8>>,
    name: Arc<str>,
    read_only: bool,
}

impl HashTable {
    /// Opens the table in the file at `path`.
    pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<HashTable> {
        let path = path.as_ref();
        let shown = path.to_string_lossy();
        options.check().map_err(|error| error.in_file(&shown))?;
        let (directory, name) =
            FileDirectory::find(path).map_err(|error| Error::io("open", &error).in_file(&shown))?;
        let is_exclusive = options.exclusive;
        let files = HashTableFiles { directory: Arc::new(directory), name, is_exclusive };
        Self::open_at(files, &shown, options)
    }

    /// Opens the table in the file `name` of `directory`. Where these are no files of the operating system, nothing keeps two
    /// tables from writing at once.
    pub fn open_in(
        directory: Arc<dyn Directory>,
        name: &str,
        options: OpenOptions,
    ) -> Result<HashTable> {
        let is_exclusive = options.exclusive;
        Self::open_at(HashTableFiles { directory, name: name.into(), is_exclusive }, name, options)
    }

    fn open_at(files: HashTableFiles, name: &str, options: OpenOptions) -> Result<HashTable> {
        let engine = Engine::open(files, name, options)?;
        let name = engine.name.clone();
        let read_only = options.read_only;
        Ok(HashTable { engine: RefCell::new(engine), buffer: RefCell::default(), name, read_only })
    }

    /// The name that errors give the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if it was opened to be read only.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Makes everything last, and leaves the file to others. An open
    /// transaction is taken back. Nothing can be done with it afterwards; to close it again is fine.
    pub fn close(&mut self) -> Result<()> {
        let engine = self.engine.get_mut();
        match engine.process.is_here() {
            true => engine.close(),
            false => {
                engine.opened = None;
                Ok(())
            }
        }
    }

    /// The engine, to change something.
    fn changed(&mut self) -> Result<&mut Engine> {
        let engine = self.engine.get_mut();
        if engine.opened.is_some() {
            engine.refresh()?;
            engine.check_flusher()?;
        }
        Ok(engine)
    }

    /// Does a change of its own, again if it has found the index damaged, which is made anew then.
    fn change<T>(&mut self, mut change: impl FnMut(&mut Engine) -> Result<T>) -> Result<T> {
        let engine = self.changed()?;
        match change(engine) {
            Err(error) if error.kind() == ErrorKind::Corrupt && engine.follows_anew() => {
                change(engine)
            }
            changed => changed,
        }
    }

    /// Looks at the table as it is now.
    #[inline]
    fn look<T>(&self, mut look: impl FnMut(&Engine) -> Result<T>) -> Result<T> {
        // Who looks something up in a look goes on with the file that the first one has found.
        if let Ok(mut engine) = self.engine.try_borrow_mut() {
            engine.file()?;
            engine.refresh()?;
        }
        let looked = look(&self.engine.borrow());
        match looked {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                let engine = self.engine.try_borrow_mut();
                match engine.is_ok_and(|mut engine| engine.follows_anew()) {
                    true => look(&self.engine.borrow()),
                    false => Err(error),
                }
            }
            looked => looked,
        }
    }

    /// Looks with a buffer.
    #[inline]
    fn look_into<T>(&self, mut look: impl FnMut(&Engine, &mut Vec<u8>) -> Result<T>) -> Result<T> {
        let mut buffer = self.buffer.take();
        let looked = self.look(|engine| look(engine, &mut buffer));
        shorten(&mut buffer);
        self.buffer.replace(buffer);
        looked
    }
}

impl Drop for HashTable {
    fn drop(&mut self) {
        // Who wants to know closes it.
        let _ = self.close();
    }
}

impl Table for HashTable {
    fn len(&self) -> Result<u64> {
        self.look(|engine| Ok(engine.extent()?.records))
    }

    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.look_into(|engine, buffer| {
            let writer = engine.writer()?;
            match writer.transaction.depth() {
                0 => writer.file.get(key, buffer, found),
                _ => writer.get(key, buffer, found),
            }
        })
    }

    /// Looks all keys up in one state, and copies their values before the first is shown: `found` may ask for more.
    fn get_many(&self, keys: &[&[u8]], found: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<()> {
        let (mut bytes, mut places) = (Vec::new(), Vec::with_capacity(keys.len()));
        self.look_into(|engine, buffer| {
            bytes.clear();
            places.clear();
            let writer = engine.writer()?;
            let snapshot = match writer.transaction.depth() {
                0 => Some(engine.snapshot()?),
                _ => None,
            };
            for keys in keys.chunks(KEYS_AHEAD) {
                let file = &writer.file;
                keys.iter().for_each(|key| file.prefetch(file.hash(key)));
                keys.iter().for_each(|key| file.prefetch_record(file.hash(key)));
                for key in keys {
                    let begin = bytes.len();
                    let mut copy = |value: &[u8]| bytes.extend_from_slice(value);
                    let is_there = match &snapshot {
                        Some(snapshot) => snapshot.get_with(key, &mut copy)?,
                        None => writer.get(key, buffer, &mut copy)?,
                    };
                    places.push(is_there.then_some(begin..bytes.len()));
                }
            }
            Ok(())
        })?;
        for (key, place) in places.into_iter().enumerate() {
            found(key, place.map(|place| &bytes[place]));
        }
        Ok(())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_entry(key, value).map_err(|error| error.in_file(&self.name))?;
        self.change(|engine| engine.put(key, value))
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        self.change(|engine| engine.delete(key))
    }

    fn shift(&mut self, taken: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        self.change(|engine| engine.shift(taken))
    }

    fn clear(&mut self) -> Result<()> {
        self.changed()?.clear()
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.look(|engine| Ok(Box::new(engine.snapshot()?) as Box<dyn Snapshot>))
    }

    fn begin(&mut self) -> Result<()> {
        self.changed()?.begin()
    }

    fn commit(&mut self) -> Result<()> {
        self.changed()?.commit_begun()
    }

    fn abort(&mut self) -> Result<()> {
        self.changed()?.abort()
    }

    fn depth(&self) -> usize {
        let engine = self.engine.borrow();
        // What the parent of a forked process has begun is the parent's.
        if engine.process.is_here() { engine.depth() } else { 0 }
    }

    fn sync(&mut self) -> Result<()> {
        let read_only = self.read_only;
        let engine = self.changed()?;
        match read_only {
            true => Ok(()),
            false => engine.check_writable().and_then(|()| engine.sync()),
        }
    }

    fn take_turn(&mut self, timeout: Option<Duration>) -> Result<()> {
        self.changed()?.keep_turn(timeout)
    }

    fn give_turn_back(&mut self) {
        let engine = self.engine.get_mut();
        if engine.process.is_here() && engine.kept_turns.pop().is_some() {
            // The commits in the turn could not. If another file took the place of this one, the next call finds it.
            let _ = engine.compact_beside();
        }
    }

    fn turn_waiter(&self) -> Option<Box<dyn Fn(Duration) + Send + Sync>> {
        let waiter = self.engine.borrow().file().ok()?.sharing.turn_waiter()?;
        Some(Box::new(move |timeout| waiter.wait(timeout)))
    }

    fn set_timeout(&mut self, timeout: Duration) {
        self.engine.get_mut().options.timeout = timeout;
    }

    fn close(&mut self) -> Result<()> {
        HashTable::close(self)
    }

    fn waits_for_disk(&self) -> bool {
        let engine = self.engine.borrow();
        engine.process.is_here() && engine.next_commit_is_synced()
    }

    /// Writes the entries to a new file, which takes the place of the old one, and returns when it is
    /// done. The same is done by itself, in steps, when half of the file is dead.
    fn compact(&mut self) -> Result<()> {
        self.changed()?.compact()
    }

    fn start_anew(&mut self, even_whole: bool) -> Result<bool> {
        let engine = self.engine.get_mut();
        match engine.process.is_here() {
            true => engine.start_anew(even_whole),
            // It opens the file anew, or finds damage there.
            false => engine.refresh().and_then(|()| engine.start_anew(even_whole)),
        }
    }

    fn values(&self) -> ValueType {
        self.engine.borrow().values
    }

    fn stat(&self) -> Result<Stat> {
        self.look(Engine::stat)
    }

    fn evict(&mut self, bytes: u64, keeps: &mut EvictionJudge<'_>) -> Result<Eviction> {
        self.change(|engine| engine.evict(bytes, keeps))
    }

    fn count_uses(&mut self, bytes: u64) -> Result<()> {
        self.changed()?.count_uses(bytes)
    }

    fn used_bytes(&self) -> Result<u64> {
        self.look(Engine::used_bytes)
    }

    fn changes_since(&self, since: Option<&ChangePosition>) -> Result<Box<dyn Changes>> {
        self.look(|engine| {
            let feed = ChangeFeed::begin(engine.committed_snapshot()?, since)?;
            Ok(Box::new(feed) as Box<dyn Changes>)
        })
    }
}
