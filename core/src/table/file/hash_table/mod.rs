//! A hashed table of byte strings in one file: an append-only log of checked frames
//! (`docs/hash-table-file.md`), and an index of it that can always be made again.
//!
//! `engine.rs` appends commits to the log and looks keys up, `opening.rs` opens the table and follows a writer, and `replay.rs`
//! takes in new commits for both. A record never changes, so its place in the log is all that the index has of a key. The index
//! is mapped from a file without a name, which nobody else can cut; without room or right for such a file it is in memory.
//!
//! A kept index is only a checkpoint (`checkpoint.rs`). It names the place of the log up to which it goes and the hash of the
//! frame there, which no other history of the table has. A clean close writes it, and each process copies it. So after a crash
//! only the log since the checkpoint is read, and readers need no agreement with the writer.

mod checkpoint;
mod compaction;
mod compactor;
mod copying;
mod engine;
mod extent;
mod generation;
mod header;
mod log_index;
mod opening;
mod repair;
mod replay;
mod snapshot;
mod table_files;
mod transaction;
mod view;

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use super::options::OpenOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{Directory, FileDirectory, Storage, name_beside};
use crate::table::{Snapshot, Stat, Table, ValueType, check_entry};
use engine::{Engine, TableAccess, shorten};
use table_files::HashTableFiles;

pub(super) use header::MAGIC;
pub use repair::Check;

/// The name of the index of the table `name`.
pub(in crate::table) fn index_name(name: &OsStr) -> OsString {
    name_beside(name, ".idx")
}

/// Gives `index` its name beside `table`, the file `name`; where there is none, an older one is taken away. It is a
/// cache, so that something else which has the name stays.
pub(in crate::table) fn publish_index(
    directory: &FileDirectory,
    name: &OsStr,
    table: &dyn Storage,
    index: Option<&dyn Storage>,
) {
    let files = HashTableFiles { directory: Arc::new(directory.clone()), name: name.to_owned() };
    match index {
        // Without an index, opening reads the whole log.
        Some(index) => drop(files.keep_checkpoint(index, table)),
        None => files.discard_checkpoint(table),
    }
}

/// A hashed table in a file.
///
/// One process writes at a time; a second writer gets [`crate::ErrorKind::Lock`], at once or after
/// [`OpenOptions::timeout`]. Any number of tables opened with [`OpenOptions::read_only`], in this
/// process or others, read beside it, and see each commit as a whole, as of their last call.
///
/// Each commit is in the file (`write(2)`) when the call that makes it returns, so the death of the
/// process loses none, in any [`SyncMode`](super::SyncMode). What a power cut loses is for the mode
/// to say; what it leaves is always all commits up to some moment, and no part of a later one.
///
/// A write or sync that fails takes the open transaction back and closes the table for writing;
/// what was committed before can still be read.
///
/// In a forked child it can be read only, and follows the parent.
#[derive(Debug)]
pub struct HashTable {
    engine: RefCell<Engine>,
    /// Buffer that look-ups read into. It is away while a caller looks at it, who may look something up.
    buffer: RefCell<Vec<u8>>,
    name: Arc<str>,
    read_only: bool,
}

impl HashTable {
    /// Opens the table in the file at `path`. Beside it is, at times, a file whose name goes on with
    /// `.idx`, which can be made again, and is not used where it belongs to somebody else.
    pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<HashTable> {
        let path = path.as_ref();
        let shown = path.to_string_lossy();
        let (directory, name) =
            FileDirectory::find(path).map_err(|error| Error::io("open", &error).in_file(&shown))?;
        let files = HashTableFiles { directory: Arc::new(directory), name };
        Self::open_at(files, &shown, options)
    }

    /// Opens the table in the file `name` of `directory`.
    pub fn open_in(
        directory: Arc<dyn Directory>,
        name: &str,
        options: OpenOptions,
    ) -> Result<HashTable> {
        Self::open_at(HashTableFiles { directory, name: name.into() }, name, options)
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

    /// Makes everything last, keeps the index for the next time, and lets others write. An open
    /// transaction is taken back. Nothing can be done with it afterwards; to close it again is fine.
    pub fn close(&mut self) -> Result<()> {
        let engine = self.engine.get_mut();
        match engine.process.is_here() {
            true => engine.close(),
            false => {
                engine.access = TableAccess::Closed;
                Ok(())
            }
        }
    }

    /// The engine, to change something.
    fn changed(&mut self) -> Result<&mut Engine> {
        let engine = self.engine.get_mut();
        if !engine.process.is_here() {
            engine.follow()?;
        }
        Ok(engine)
    }

    /// Returns true if another process may commit between two calls.
    fn follows_a_writer(&self) -> bool {
        let engine = self.engine.borrow();
        !engine.process.is_here()
            || matches!(engine.access, TableAccess::Read | TableAccess::Forked)
    }

    /// Copies the values of all keys in one look, and then calls `found`, which may ask the table for more.
    fn get_many_at_once(
        &self,
        keys: &[&[u8]],
        found: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        let mut buffer = self.buffer.take();
        let (mut bytes, mut places) = (Vec::new(), Vec::with_capacity(keys.len()));
        let looked = self.look(|engine| {
            bytes.clear();
            places.clear();
            for key in keys {
                let begin = bytes.len();
                let entry = engine.find(key, &mut buffer)?;
                places.push(entry.map(|entry| {
                    bytes.extend_from_slice(&buffer[entry.value]);
                    begin..bytes.len()
                }));
            }
            Ok(())
        });
        shorten(&mut buffer);
        self.buffer.replace(buffer);
        looked?;
        for (key, place) in places.into_iter().enumerate() {
            found(key, place.map(|place| &bytes[place]));
        }
        Ok(())
    }

    /// Looks at the table as it is now.
    fn look<T>(&self, mut look: impl FnMut(&Engine) -> Result<T>) -> Result<T> {
        let mut engine = self.engine.borrow_mut();
        engine.check_readable()?;
        engine.follow()?;
        match look(&engine) {
            Err(error) if error.kind() == ErrorKind::Corrupt && engine.follows_anew() => {
                look(&engine)
            }
            looked => looked,
        }
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
        self.look(|engine| Ok(engine.extent.records))
    }

    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let mut buffer = self.buffer.take();
        let entry = self.look(|engine| engine.find(key, &mut buffer));
        if let Ok(Some(entry)) = &entry {
            found(&buffer[entry.value.clone()]);
        }
        shorten(&mut buffer);
        self.buffer.replace(buffer);
        Ok(entry?.is_some())
    }

    fn get_many(&self, keys: &[&[u8]], found: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<()> {
        if self.follows_a_writer() {
            return self.get_many_at_once(keys, found);
        }
        for (place, key) in keys.iter().enumerate() {
            if !self.get_with(key, &mut |value| found(place, Some(value)))? {
                found(place, None);
            }
        }
        Ok(())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_entry(key, value).map_err(|error| error.in_file(&self.name))?;
        self.changed()?.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        self.changed()?.delete(key)
    }

    fn shift(&mut self, taken: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        let engine = self.changed()?;
        engine.check_writable()?;
        let Some(key) = engine.first(taken)? else { return Ok(false) };
        engine.delete(&key)
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
        self.changed()?.commit()
    }

    fn abort(&mut self) -> Result<()> {
        self.changed()?.abort()
    }

    fn depth(&self) -> usize {
        let engine = self.engine.borrow();
        // What the parent of a forked process has begun is the parent's.
        if engine.process.is_here() { engine.transaction.depth() } else { 0 }
    }

    fn sync(&mut self) -> Result<()> {
        let engine = self.changed()?;
        match engine.access {
            TableAccess::Read | TableAccess::Forked => Ok(()),
            _ => engine.check_writable().and_then(|()| engine.sync_log()),
        }
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

    fn values(&self) -> ValueType {
        self.engine.borrow().view.log.header.values
    }

    fn stat(&self) -> Result<Stat> {
        self.look(Engine::stat)
    }
}
