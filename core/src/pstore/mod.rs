//! The engine of a store: one dumped table in a file that several programs write in turns. Some of them
//! read and write the whole file, so the format of the file stays the same. A transaction costs what it
//! changes.
//!
//! A [`Store`] keeps the bytes of the file and the index of its roots from one transaction to the next,
//! and no object of the host. A transaction is [`Store::try_begin`], [`Store::load`] if that says so,
//! [`Store::content`], [`Store::change`] or [`Store::replace`], [`Store::end`].
//!
//! **Changes by others.** The status of the file tells whether another program changed it: the file's
//! identity, its length and its time. `stamp.rs` says why the time can be relied on;
//! [`Options::verify`] is for file systems where it cannot.
//!
//! **Crashes.** Changes are written to a journal beside the file, `NAME.journal`
//! (docs/pstore-journal.md), before the first byte of the file, and the journal is voided after the
//! last. A process that finds a live journal finishes the writing if the file is as the dead writer
//! left it; if another program has written since, its version stays. [`Durability`] lists the
//! promises.
//!
//! The journal is read only if the file has changed. Another store may have died between writing its
//! journal and the first byte of the file. Then this store, like all others, sees the state before,
//! which is right because that transaction was not reported. If this store writes, its journal replaces
//! that one. If not, the next store finishes the transaction, as if it had come later. Once a byte of
//! the file is written, its time differs, and the journal is read.
//!
//! If no journal can be made, because the directory belongs to another user or another file has that
//! name, a change that must survive the system is refused, and any other is written without a journal,
//! as the host does. A file with two names has two journals, which do not know of each other.

mod blocks;
mod commit;
mod difference;
mod journal;
mod kept;
mod load;
mod old;
mod opened;
mod reading;
mod separate;
mod stamp;
mod writing;

use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::files::{FileSystem, FileVersion, LocalFileSystem, LockKind};
use crate::marshal::{Edit, Hooks, NotIndexable, Reason, RootStream, Scalar, Spliced};
use blocks::BlockHashes;
use difference::Difference;
use kept::{EMPTY_TABLE, KeptBytes};
use old::{Changed, OldSource};
use opened::OpenedStore;

pub use reading::roots_of;
pub use separate::{SeparateRoots, StoreFormat};

/// Options of a store.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Reads the file in each transaction and compares it with what is kept, whatever its status
    /// says. It is for file systems whose times or locks are not to be relied on.
    pub verify: bool,
    /// Classes that are assumed to dump objects just as they were loaded.
    pub hooks: Hooks,
}

/// Purpose of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To read: beside other readers.
    Read,
    /// To read and write: alone.
    Write,
}

/// Result of [`Store::try_begin`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// It has, and [`Store::content`] is what the file holds.
    Ready,
    /// It has, but [`Store::load`] is to be called first.
    Stale,
    /// It has not, because another holds the lock: [`Store::wait`], and begin again.
    Busy,
    /// It has, to read, and there is no such file: the content is empty, and nothing is locked.
    Missing,
}

/// Events that a change survives from the moment that it is reported. One that is not reported is there as
/// a whole or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The death of the process, at any moment. Nothing is synced: when the system ends, as by a power
    /// cut, the last changes may be lost, and what was being written out may be mixed.
    Process,
    /// Also the end of the system. The journal is synced before the first byte of the file is
    /// written, and the file before the change is reported, with all that was written to it before.
    /// A later change with less durability may spoil it again.
    Power,
}

/// Content of the file.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// Nothing: it is empty or missing, which stands for a table without roots.
    Empty,
    /// A table whose roots are known.
    Roots(&'a RootStream),
    /// Bytes for the host to handle as a whole.
    Whole {
        /// All of them.
        bytes: &'a [u8],
        /// Reason why the roots are not known; `None` if nobody has looked for them: after
        /// [`Store::load_whole`], and between [`Store::replace`] and the end.
        why: Option<NotIndexable>,
    },
}

/// Open transaction of a store, and its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenTransaction {
    None,
    /// One to read a file that is missing.
    Missing,
    Of(Access),
}

/// State of the file that was seen when the kept bytes were read or written.
#[derive(Debug, Clone, Copy)]
struct SeenFile {
    version: FileVersion,
    /// True if every later change will show in the version.
    is_settled: bool,
    /// True if a journal has to be finished before the file holds the kept bytes.
    is_overlaid: bool,
}

/// A file with one table, for one object of the host. Several may be on one file, in one process or
/// many.
#[derive(Debug)]
pub struct Store {
    options: Options,
    system: Box<dyn FileSystem>,
    opened: Option<OpenedStore>,
    transaction: OpenTransaction,
    /// The status of the file when the transaction began.
    version: Option<FileVersion>,
    kept: KeptBytes,
    seen: Option<SeenFile>,
    /// Of the kept bytes, once they have been changed.
    blocks: Option<BlockHashes>,
    /// For bytes that are overwritten, so that it is had once.
    memory: Vec<u8>,
}

impl Store {
    /// A store that has touched nothing yet.
    pub fn new(options: Options) -> Store {
        Self::with_file_system(options, Box::new(LocalFileSystem))
    }

    /// A store that has touched nothing yet, over other files than those of this machine.
    pub fn with_file_system(options: Options, system: Box<dyn FileSystem>) -> Store {
        Store {
            options,
            system,
            opened: None,
            transaction: OpenTransaction::None,
            version: None,
            kept: KeptBytes::default(),
            seen: None,
            blocks: None,
            memory: Vec::new(),
        }
    }

    /// Begins a transaction on the file that `path` names now, without waiting. To write, the file is
    /// made where it is missing.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system, by their numbers ([`ErrorKind::Io`]); [`ErrorKind::Argument`] if a
    /// transaction is open.
    pub fn try_begin(&mut self, path: &Path, access: Access) -> Result<Begun> {
        self.leave_to_parent();
        if self.transaction != OpenTransaction::None {
            return Err(Error::new(ErrorKind::Argument, "expected no open transaction, found one"));
        }
        let begun = self.begin(path, access);
        if !matches!(begun, Ok(Begun::Ready | Begun::Stale)) {
            // Also what was waited for.
            self.unlock();
        }
        begun
    }

    fn begin(&mut self, path: &Path, access: Access) -> Result<Begun> {
        let name = path.to_string_lossy();
        loop {
            if !self.opened.as_ref().is_some_and(|opened| opened.serves(path, access)) {
                self.close();
                let opened = OpenedStore::open(&*self.system, path, access);
                match opened.map_err(|error| error.in_file(&name))? {
                    Some(opened) => self.opened = Some(opened),
                    None => return Ok(self.begin_missing()),
                }
            }
            let Some(opened) = &mut self.opened else { continue };
            let locked = opened.try_lock(kind(access));
            if !locked.map_err(|error| Error::io("lock", &error).in_file(&name))? {
                return Ok(Begun::Busy);
            }
            let version = self.system.version(path);
            match version.map_err(|error| Error::io("open", &error).in_file(&name))? {
                Some(version) if version.id == opened.id => {
                    self.transaction = OpenTransaction::Of(access);
                    self.version = Some(version);
                    let is_known = self.is_known(version, access);
                    return Ok(if is_known { Begun::Ready } else { Begun::Stale });
                }
                // The name is another file's now, or nobody's.
                _ => self.close(),
            }
        }
    }

    fn begin_missing(&mut self) -> Begun {
        self.forget();
        self.transaction = OpenTransaction::Missing;
        Begun::Missing
    }

    /// Returns true if the kept bytes are those of the file, and ready for use.
    fn is_known(&self, version: FileVersion, access: Access) -> bool {
        self.is_seen(version, access) && self.kept.is_scanned() && !self.options.verify
    }

    fn is_seen(&self, version: FileVersion, access: Access) -> bool {
        self.seen.is_some_and(|seen| {
            let is_finished = !seen.is_overlaid || access == Access::Read;
            seen.version == version && seen.is_settled && is_finished
        })
    }

    /// Waits for the lock that [`Begun::Busy`] told of; `false` if a signal came first. The host sees
    /// to the signal then and calls again, or gives up with [`Store::end`]. After `true`,
    /// [`Store::try_begin`] finds the file locked.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system; [`ErrorKind::Argument`] if there is nothing to wait for.
    pub fn wait(&mut self) -> Result<bool> {
        let Some(opened) = &mut self.opened else {
            return Err(Error::new(ErrorKind::Argument, "expected a lock to wait for, found none"));
        };
        let waited = opened.wait();
        waited.map_err(|error| Error::io("lock", &error).in_file(&opened.name()))
    }

    /// Reads what the file holds, unless it is kept, and finds the roots, unless they are known.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system.
    pub fn load(&mut self) -> Result<()> {
        self.read()?;
        self.kept.scan(self.options.hooks);
        Ok(())
    }

    /// Loads the file without an index of the roots, for callers that use most of them: the content is
    /// [`Content::Whole`] then, if the roots are not known.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system.
    pub fn load_whole(&mut self) -> Result<()> {
        self.read()
    }

    /// Returns the content of the file. After an error of this transaction it says nothing.
    pub fn content(&self) -> Content<'_> {
        match (&self.kept, self.transaction) {
            (KeptBytes::Empty, _) | (_, OpenTransaction::None | OpenTransaction::Missing) => {
                Content::Empty
            }
            (KeptBytes::Roots(stream), _) => Content::Roots(stream),
            (KeptBytes::Refused { bytes, why }, _) => Content::Whole { bytes, why: Some(*why) },
            (KeptBytes::Unscanned(bytes), _) => Content::Whole { bytes, why: None },
        }
    }

    /// Changes roots and writes what differs. `changes` has the new values by their keys, each named
    /// by one of `edits`. The inner result is whether the file changed, or why the roots cannot be
    /// changed so: all is as it was then, and [`Store::replace`] does it.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system: the file then holds what it held. [`ErrorKind::Argument`] outside of
    /// a transaction that writes.
    pub fn change(
        &mut self,
        changes: &RootStream,
        edits: &[Edit],
        durability: Durability,
    ) -> Result<Result<bool, NotIndexable>> {
        self.change_by(durability, |stream| stream.splice(changes, edits))
    }

    /// Changes one root like [`Store::change`], by its number, if both its values are scalars that nothing
    /// else depends on.
    ///
    /// # Errors
    ///
    /// As for [`Store::change`].
    pub fn assign(
        &mut self,
        root: usize,
        value: Scalar<'_>,
        durability: Durability,
    ) -> Result<Result<bool, NotIndexable>> {
        self.change_by(durability, |stream| stream.assign(root, value))
    }

    fn change_by(
        &mut self,
        durability: Durability,
        change: impl FnOnce(&mut RootStream) -> Result<Spliced, NotIndexable>,
    ) -> Result<Result<bool, NotIndexable>> {
        self.check_writing()?;
        let old_len = self.kept.bytes().len();
        let mut stream = match std::mem::take(&mut self.kept) {
            KeptBytes::Roots(stream) => stream,
            KeptBytes::Empty => match RootStream::scan(EMPTY_TABLE.to_vec(), self.options.hooks) {
                Ok(stream) => Box::new(stream),
                Err(refused) => return Ok(Err(refused.why)),
            },
            whole => {
                let refused = NotIndexable { reason: Reason::NotAPlainHash, offset: 0 };
                let why = if let KeptBytes::Refused { why, .. } = &whole { *why } else { refused };
                self.kept = whole;
                return Ok(Err(why));
            }
        };
        let old = if old_len == 0 { &[] } else { stream.bytes() };
        self.blocks.get_or_insert_with(|| BlockHashes::of(old));
        let source = OldSource::of(old, std::mem::take(&mut self.memory));
        let spliced = change(&mut stream);
        let is_empty = old_len == 0 && stream.root_count() == 0;
        // An empty file stands for an empty table, and stays.
        self.kept = if is_empty { KeptBytes::Empty } else { KeptBytes::Roots(stream) };
        match spliced {
            Err(why) => {
                self.memory = source.into_memory();
                Ok(Err(why))
            }
            Ok(_) if is_empty => Ok(Ok(false)),
            Ok(spliced) => {
                let changed = Changed::Within(spliced.changed);
                self.commit(old_len, &changed, source, durability).map(Ok)
            }
        }
    }

    /// Makes the file hold `bytes`, of which it writes what differs. Whether anything did.
    ///
    /// # Errors
    ///
    /// Returns the errors of the system: the file then holds what it held. [`ErrorKind::Argument`] outside of
    /// a transaction that writes.
    pub fn replace(&mut self, bytes: Vec<u8>, durability: Durability) -> Result<bool> {
        self.check_writing()?;
        let old = self.kept.bytes();
        if old.is_empty() && bytes == EMPTY_TABLE {
            // An empty file stands for an empty table, and stays.
            return Ok(false);
        }
        let difference = Difference::between(old, &bytes);
        if difference.is_empty() {
            return Ok(false);
        }
        self.blocks.get_or_insert_with(|| BlockHashes::of(old));
        let source = OldSource::of(old, std::mem::take(&mut self.memory));
        self.kept = KeptBytes::new(bytes);
        self.commit(difference.old_len, &Changed::Exactly(difference), source, durability)
    }

    fn check_writing(&self) -> Result<()> {
        let is_here = self.opened.as_ref().is_some_and(OpenedStore::is_here);
        match self.transaction {
            OpenTransaction::Of(Access::Write) if is_here => Ok(()),
            OpenTransaction::Of(Access::Write) => {
                let message = "expected a transaction of this process, found its parent's";
                Err(Error::new(ErrorKind::Closed, message))
            }
            _ => {
                let message = "expected a transaction that writes, found none";
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }

    /// Ends the transaction, if one is open, and gives the lock back. What is kept stays.
    pub fn end(&mut self) {
        self.leave_to_parent();
        self.transaction = OpenTransaction::None;
        self.unlock();
    }

    fn unlock(&mut self) {
        if let Some(opened) = &mut self.opened {
            opened.unlock();
        }
    }

    /// In a forked child: drops what the parent opened. Its lock is shared with the child, which
    /// would give it back for both.
    fn leave_to_parent(&mut self) {
        if self.opened.as_ref().is_some_and(|opened| !opened.is_here()) {
            self.opened = None;
            self.transaction = OpenTransaction::None;
        }
    }

    /// Closes the file, which gives the lock back, too.
    fn close(&mut self) {
        self.opened = None;
    }

    /// Keeps nothing of what was seen.
    fn forget(&mut self) {
        self.kept = KeptBytes::default();
        self.seen = None;
        self.blocks = None;
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.end();
        if let Some(opened) = &self.opened {
            opened.remove_journal(&*self.system);
        }
    }
}

fn kind(access: Access) -> LockKind {
    match access {
        Access::Read => LockKind::Shared,
        Access::Write => LockKind::Exclusive,
    }
}
