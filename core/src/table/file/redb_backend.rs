//! redb behind our own doors: files through [`Storage`], errors as [`Error`].

use std::io;

use redb::StorageBackend;

use crate::error::{Error, ErrorKind};
use crate::io::Storage;

/// A [`Storage`] as redb wants its files. The storage has locked the file before, so that redb's own
/// locks, which may be missing, stay out of use.
#[derive(Debug)]
pub(super) struct Backend(pub(super) Box<dyn Storage>);

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, data)
    }
}

/// What one of redb's errors means for the file `name`.
pub(super) fn failed(name: &str, error: impl Into<redb::Error>) -> Error {
    let error = match error.into() {
        redb::Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Error::new(ErrorKind::Corrupt, "expected more of the table, found the end of the file")
        }
        redb::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            Error::format("a table file of Bytewright", error)
        }
        redb::Error::Io(error) => Error::io("read or write the table", &error),
        redb::Error::Corrupted(found) => Error::new(
            ErrorKind::Corrupt,
            format!("expected the table as it was written, found damage: {found}"),
        ),
        redb::Error::UpgradeRequired(version) => {
            Error::format("a table in redb's file format 3", format_args!("format {version}"))
        }
        redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => {
            Error::new(ErrorKind::Lock, "expected a table that nobody else is using, found it open")
        }
        redb::Error::ValueTooLarge(len) => Error::limit("a key or value", 3 << 30, len as u64),
        redb::Error::PreviousIo => Error::new(
            ErrorKind::Closed,
            "the table was closed by an earlier read or write that failed; open it again",
        ),
        redb::Error::DatabaseClosed => Error::new(ErrorKind::Closed, "the table is closed"),
        error @ (redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. }
        | redb::Error::TableDoesNotExist(_)) => Error::format("a table file of Bytewright", error),
        other => Error::new(ErrorKind::Internal, other.to_string()),
    };
    error.in_file(name)
}
