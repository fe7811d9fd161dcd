//! redb behind our own doors: files through [`Storage`], errors and panics as [`Error`].

use std::io;
use std::ops::Bound;
use std::sync::Arc;

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

use super::of_process::check_process;
use crate::error::{Error, ErrorKind, Result};
use crate::io::Storage;
use crate::panics::{self, Panic};

/// A [`Storage`] as redb wants its files. In a process forked from the one that made it, it neither
/// reads nor writes, and keeps the locks, which are the parent's.
#[derive(Debug)]
pub(super) struct Backend {
    storage: Arc<dyn Storage>,
    /// Locks on parts of the operating system's file. Storage that is none has nobody to share with.
    locks: Option<FileBackend>,
    /// Lock only to keep writers out, beside others who do.
    only_against_writers: bool,
    process: u32,
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
        Ok(Backend { storage, locks, only_against_writers: false, process: std::process::id() })
    }

    /// The same locks for other bytes: `storage` shows what is in the file, with changes that stay in
    /// memory.
    pub(super) fn over(self, storage: Arc<dyn Storage>) -> Backend {
        Backend { storage, only_against_writers: true, ..self }
    }

    fn is_inherited(&self) -> bool {
        self.process != std::process::id()
    }

    fn check_process(&self) -> io::Result<()> {
        check_process(self.process).map_err(io::Error::other)
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.storage.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.check_process()?;
        self.storage.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check_process()?;
        self.storage.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.check_process()?;
        self.storage.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check_process()?;
        self.storage.write_at(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        match &self.locks {
            Some(locks) if !self.is_inherited() => locks.close(),
            _ => Ok(()),
        }
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        match &self.locks {
            None => Ok(true),
            // Between its ends redb's lock of the whole file has the bytes of its readers, which stay
            // free for others.
            Some(_) if self.only_against_writers && is_inner(start, end) => Ok(true),
            Some(locks) if self.only_against_writers => locks.try_lock_shared_range(start, end),
            Some(locks) => locks.try_lock_range(start, end),
        }
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.locks.as_ref().map_or(Ok(true), |locks| locks.try_lock_shared_range(start, end))
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        match &self.locks {
            None => Ok(()),
            Some(locks) if self.only_against_writers => locks.lock_shared_range(start, end),
            Some(locks) => locks.lock_range(start, end),
        }
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.locks.as_ref().map_or(Ok(()), |locks| locks.lock_shared_range(start, end))
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        match &self.locks {
            Some(_) if self.only_against_writers && is_inner(start, end) => Ok(()),
            Some(locks) if !self.is_inherited() => locks.unlock_range(start, end),
            _ => Ok(()),
        }
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.locks.as_ref().map_or(Ok(false), |locks| locks.query_lock_range(start, end))
    }
}

fn is_inner(start: Bound<u64>, end: Bound<u64>) -> bool {
    start != Bound::Unbounded && end != Bound::Unbounded
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
        "expected the table as it was written, found damage that redb, which reads it, stumbled over: {}",
        panic.message()
    );
    Error::new(ErrorKind::Corrupt, message).in_file(name)
}

/// What one of redb's errors means for the file `name`.
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
        redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => Error::new(
            ErrorKind::Lock,
            "expected a table that nobody else is writing, found it locked by another process or \
             handle",
        ),
        redb::Error::TransactionInProgress => Error::new(
            ErrorKind::Lock,
            "expected a table that nobody is reading, found a snapshot or scan in use, here or in \
             another process",
        ),
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
        other => Error::internal(other),
    };
    match name {
        "" => error,
        name => error.in_file(name),
    }
}

fn failed_io(error: &io::Error) -> Error {
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
