//! redb behind our own doors: files through [`Storage`], errors and panics as [`Error`].

use std::io;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

use super::fork_guard::check_process;
use super::uses::Uses;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{ProcessMark, Storage, lock_holder};
use crate::panics::{self, Panic};

/// The byte that a writer of redb locks from the moment its file is consistent, and as long as it has
/// the file open. A reader that finds it free takes an unclean file for one to be repaired first.
const CONSISTENT_BYTE: u64 = (1 << 62) + 4;

/// Offset of the flags in redb's header.
const FLAGS: usize = 9;
/// The flag of a commit that was synced before the header said that it is the newest.
const TWO_PHASE: u8 = 4;
/// The flag of a newest commit of which the header is not synced yet: readers take the one before.
const UNFLUSHED: u8 = 8;

/// A [`Storage`] as redb wants its files. In a process forked from the one that made it, it neither
/// reads nor writes, and keeps the locks, which are the parent's.
#[derive(Debug)]
pub(super) struct Backend {
    storage: Arc<dyn Storage>,
    /// Locks on parts of the operating system's file. Other storage is not shared.
    locks: Option<FileBackend>,
    is_reader: bool,
    /// The first error, after which redb does nothing more.
    failure: Arc<OnceLock<Error>>,
    process: ProcessMark,
}

impl Backend {
    pub(super) fn new(storage: Arc<dyn Storage>) -> Result<Backend> {
        let locks = match storage.file() {
            None => None,
            Some(file) => {
                // The copy is the same open file to the operating system, so its locks are ours.
                let file = file.try_clone().map_err(|error| Error::io("lock", &error))?;
                Some(guarded("", || FileBackend::new(file))?)
            }
        };
        Ok(Backend { locks, ..Backend::without_locks(storage) })
    }

    /// One for storage that nobody shares.
    pub(super) fn without_locks(storage: Arc<dyn Storage>) -> Backend {
        let (failure, process) = (Arc::default(), ProcessMark::new());
        Backend { storage, locks: None, is_reader: false, failure, process }
    }

    /// Returns the cell that its first error will be in.
    pub(super) fn failure(&self) -> Arc<OnceLock<Error>> {
        self.failure.clone()
    }

    fn watched<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.inspect_err(|error| drop(self.failure.set(failed_io(error))))
    }

    /// Makes it the backend of a reader: an unclean file is read as it is, and left to the next writer. That is safe
    /// because every commit of ours is synced before redb's header says that it is the newest: what a crash leaves
    /// needs a repair only before somebody allocates pages.
    pub(super) fn for_reader(self) -> Backend {
        Backend { is_reader: true, ..self }
    }

    /// Returns true if a process has the file open to write, and has repaired it.
    fn has_writer(&self) -> Result<bool, BackendError> {
        let byte = Bound::Included(CONSISTENT_BYTE);
        self.locked(false, |locks| locks.query_lock_range(byte, byte))
    }

    /// Does something with the locks; `alone` where there are none. In a file system without locks on parts of files a
    /// reader reads all the same: nobody can write there.
    fn locked<T>(
        &self,
        alone: T,
        work: impl FnOnce(&FileBackend) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        let Some(locks) = &self.locks else { return Ok(alone) };
        match work(locks) {
            Err(BackendError::Unsupported) if self.is_reader => Ok(alone),
            outcome => outcome,
        }
    }

    /// Marks the newer of the two commits in `header` as synced, and syncs it, if a writer that died has left it
    /// unmarked.
    fn publish_newest(&self, header: &mut [u8]) -> io::Result<()> {
        let Some(flags) = header.get_mut(FLAGS) else { return Ok(()) };
        let is_unflushed = *flags & (UNFLUSHED | TWO_PHASE) == UNFLUSHED | TWO_PHASE;
        if is_unflushed && !self.has_writer().map_err(io::Error::other)? {
            // Where that fails, it can be read all the same.
            let _ = self.storage.sync();
            *flags &= !UNFLUSHED;
        }
        Ok(())
    }

    fn is_inherited(&self) -> bool {
        !self.process.is_here()
    }

    fn check_process(&self) -> io::Result<()> {
        check_process(self.process).map_err(io::Error::other)
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.watched(self.storage.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.check_process()?;
        self.watched(self.storage.read_at(offset, out))?;
        match self.is_reader && offset == 0 {
            true => self.watched(self.publish_newest(out)),
            false => Ok(()),
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check_process()?;
        self.watched(self.storage.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.check_process()?;
        self.watched(self.storage.sync())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check_process()?;
        self.watched(self.storage.write_at(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        match &self.locks {
            Some(locks) if !self.is_inherited() => locks.close(),
            _ => Ok(()),
        }
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.locked(true, |locks| locks.try_lock_range(start, end))
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.locked(true, |locks| locks.try_lock_shared_range(start, end))
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.locked((), |locks| locks.lock_range(start, end))
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.locked((), |locks| locks.lock_shared_range(start, end))
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        match self.is_inherited() {
            true => Ok(()),
            false => self.locked((), |locks| locks.unlock_range(start, end)),
        }
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        if self.is_reader && start == Bound::Included(CONSISTENT_BYTE) {
            return Ok(true);
        }
        self.locked(false, |locks| locks.query_lock_range(start, end))
    }
}

/// Does `work` of redb on the file `name`. Over a damaged file that nobody verified redb can panic
/// (its issues 620 and 1333 tell of two ways); to the caller that is the file's fault, and no reason
/// to end.
pub(super) fn guarded<T, E: Into<redb::Error>>(
    name: &str,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T> {
    match panics::catch(work) {
        Ok(done) => done.map_err(|error| failed(name, error.into())),
        Err(panic) => Err(stumbled(name, &panic)),
    }
}

#[cold]
fn stumbled(name: &str, panic: &Panic) -> Error {
    let message = format!(
        "expected the table as it was written, found damage that redb cannot read: {}",
        panic.message()
    );
    named(Error::new(ErrorKind::Corrupt, message), name)
}

/// The error of the file `name`; nothing where the caller knows the name.
fn named(error: Error, name: &str) -> Error {
    match name {
        "" => error,
        name => error.in_file(name),
    }
}

/// The error of a table that another process writes.
pub(super) fn locked_by(holder: &str) -> Error {
    let message = format!(
        "expected a table that nobody else is writing, found it locked by {holder}; wait with a timeout, or open it to read \
         only"
    );
    Error::new(ErrorKind::Lock, message)
}

/// The error of a table that is to be compacted while this process reads it.
pub(super) fn is_read(uses: &Uses, name: &str) -> Error {
    let found = uses.describe();
    let message =
        format!("expected a table that nobody is reading, found {found} in use in this process");
    named(Error::new(ErrorKind::Lock, message), name)
}

/// Returns the error of a table that is to be compacted while another handle or process reads it.
fn is_read_elsewhere(name: &str) -> Error {
    let message = "expected a table that nobody is reading, found a snapshot or scan in use in another \
                   handle or process";
    named(Error::new(ErrorKind::Lock, message), name)
}

/// The error of a file system that has no locks on parts of files (Lustre, some FUSE).
fn without_locks() -> Error {
    let refused = io::Error::from(rustix::io::Errno::OPNOTSUPP);
    let error = Error::io("lock the table", &refused);
    let message = format!(
        "{}; the file system has no locks on parts of files: open the table to read only, or move it to another file \
         system",
        error.message()
    );
    Error::new(error.kind(), message)
}

/// Converts one of redb's errors, for the file `name`.
fn failed(name: &str, error: redb::Error) -> Error {
    let error = match error {
        redb::Error::Io(error) => failed_io(&error),
        redb::Error::Corrupted(found) => Error::new(
            ErrorKind::Corrupt,
            format!("expected the table as it was written, found damage: {found}"),
        ),
        redb::Error::UpgradeRequired(version) => {
            Error::format("a table in redb's file format 3", format_args!("format {version}"))
        }
        redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => {
            locked_by(&lock_holder(None))
        }
        redb::Error::TransactionInProgress => return is_read_elsewhere(name),
        redb::Error::ValueTooLarge(len) => Error::limit("a key or value", 3 << 30, len as u64),
        redb::Error::PreviousIo => Error::new(
            ErrorKind::Closed,
            "expected a table whose reads and writes work, found one closed by an earlier failure; open it again",
        ),
        redb::Error::DatabaseClosed => {
            Error::new(ErrorKind::Closed, "expected an open table, found it closed")
        }
        error @ (redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. }
        | redb::Error::TableDoesNotExist(_)) => Error::format("a table file of Bytewright", error),
        // A panic that was caught left its mark; it was over damage.
        error @ (redb::Error::LockPoisoned(_) | redb::Error::TransactionPoisoned) => Error::new(
            ErrorKind::Corrupt,
            format!("expected the table as it was written, found damage: {error}"),
        ),
        redb::Error::Unsupported => without_locks(),
        other => Error::internal(other),
    };
    named(error, name)
}

/// Converts an error of a read or write.
pub(super) fn failed_io(error: &io::Error) -> Error {
    if let Some(ours) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return ours.clone();
    }
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            Error::new(ErrorKind::Corrupt, "expected more of the table, found the end of the file")
        }
        io::ErrorKind::InvalidData => Error::format("a table file of Bytewright", error),
        _ => Error::io("read or write the table", error),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::files::FileStorage;

    /// A file system that refuses locks on parts of files is not to be had everywhere, so the answer of one is given.
    fn without_locks(_: &FileBackend) -> Result<bool, BackendError> {
        Err(BackendError::Unsupported)
    }

    #[test]
    fn without_locks_on_parts_of_files_a_table_is_read_and_not_written() {
        let path = std::env::temp_dir().join(format!("bytewright-locks-{}", std::process::id()));
        let file = std::fs::File::create_new(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        let storage: Arc<dyn Storage> = Arc::new(FileStorage::from(file));
        let writer = Backend::new(storage.clone()).unwrap();
        assert!(writer.locked(true, without_locks).is_err());
        let reader = Backend::new(storage).unwrap().for_reader();
        assert!(reader.locked(true, without_locks).unwrap());
        let error = failed("x.bwt", redb::Error::Unsupported);
        assert!(matches!(error.kind(), ErrorKind::Io(Some(_))), "{error}");
        assert!(error.message().contains("open the table to read only"), "{error}");
    }
}
