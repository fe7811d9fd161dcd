//! Files of Tokyo Cabinet, to be read and converted: hash databases (`.tch`) and B+ tree databases
//! (`.tcb`) of its format 1.0, in either byte order. They are never written.
//!
//! A tree is kept in a hash database whose records are its leaves and nodes, so both share a header
//! and records (`hash_file.rs`, `tree_file.rs`). Fixed-length (`.tcf`) and table databases (`.tct`) are
//! refused, and so are records compressed with other than deflate.
//!
//! The format has no checksums: damage that leaves every length in place is read as data. What the
//! lengths, links and counts show is an error, after everything that was good.

mod hash_file;
mod header;
mod tree_file;
mod window;

use std::path::Path;
use std::sync::Arc;

use super::Scan;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{FileStorage, Storage, StorageMode};
use crate::wire::Endian;

pub use header::DatabaseKind;

use hash_file::TokyoHashScan;
use header::TokyoHeader;
use tree_file::TokyoTreeScan;

/// A database of Tokyo Cabinet that is open for reading.
///
/// Its writers lock their files in a way that is not seen here: what is read while one writes may be
/// neither old nor new.
#[derive(Debug)]
pub struct Database {
    file: Arc<DatabaseFile>,
}

/// State that all who read the file share.
#[derive(Debug)]
struct DatabaseFile {
    storage: Box<dyn Storage>,
    name: String,
    len: u64,
    header: TokyoHeader,
}

impl Database {
    /// Returns true if a file that begins with these bytes is one of Tokyo Cabinet, of whatever kind.
    pub fn is_beginning(bytes: &[u8]) -> bool {
        bytes.starts_with(header::MAGIC)
    }

    /// Opens the file at `path`. [`ErrorKind::Format`] where it is no hash or tree database, or where
    /// a log beside it says that a transaction was interrupted, which only Tokyo Cabinet can take
    /// back.
    pub fn open(path: impl AsRef<Path>) -> Result<Database> {
        let path = path.as_ref();
        let storage = FileStorage::open(path, StorageMode::Read)?;
        let name = path.to_string_lossy();
        let database = Self::open_storage(Box::new(storage), &name)?;
        if database.is_left_open() {
            check_no_transaction(path).map_err(|error| error.in_file(&name))?;
        }
        Ok(database)
    }

    /// Opens the file in `storage`, which errors call `name`.
    pub fn open_storage(storage: Box<dyn Storage>, name: &str) -> Result<Database> {
        let opened = || {
            let len = storage.len().map_err(|error| Error::io("read", &error))?;
            Ok((len, TokyoHeader::read(&*storage, len)?))
        };
        let (len, header) = opened().map_err(|error: Error| error.in_file(name))?;
        Ok(Database {
            file: Arc::new(DatabaseFile { storage, name: name.to_owned(), len, header }),
        })
    }

    /// Hash or tree.
    pub fn kind(&self) -> DatabaseKind {
        self.file.header.kind
    }

    /// The byte order of its numbers: not the machine's where it was built to swap, as Debian's is.
    pub fn byte_order(&self) -> Endian {
        self.file.header.endian
    }

    /// Entries, as the header has it. It is behind the truth in a tree that was left open.
    pub fn record_count(&self) -> u64 {
        self.file.header.entry_count()
    }

    /// Bytes in the file.
    pub fn file_bytes(&self) -> u64 {
        self.file.len
    }

    /// The name that errors give the file.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// Returns true if its last writer did not close it, or is still at it. What was in that writer's memory is
    /// missing, and in a tree leaves may be of different times.
    pub fn is_left_open(&self) -> bool {
        self.file.header.is_left_open()
    }

    /// All entries: of a hash in the order in which they lie in the file, of a tree in its own order,
    /// which is that of the keys' bytes unless the tree was made with another comparison. A key with
    /// several values comes as often, its values in their order.
    ///
    /// Leaves of a tree that cannot be reached because of damage come at the end, in the order in which they were made,
    /// and the error after them. Memory grows with the largest record, and for a tree by 16 bytes a leaf.
    pub fn scan(&self) -> Result<Box<dyn Scan>> {
        let file = Arc::clone(&self.file);
        file.header.check_codec().map_err(|error| error.in_file(&file.name))?;
        Ok(match self.kind() {
            DatabaseKind::Hash => Box::new(TokyoHashScan::new(file)),
            DatabaseKind::Tree => Box::new(TokyoTreeScan::new(file)?),
        })
    }

    /// Shows `found` the value of `key`, of several the first, and says whether there is one. It looks
    /// through the file, so that it needs to know no comparison.
    pub fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let mut scan = self.scan()?;
        while let Some((this, value)) = scan.advance()? {
            if this == key {
                found(value);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Makes sure that no log of an interrupted transaction lies beside the file at `path`: the file then
/// has a part of the transaction, and the log what was there before.
fn check_no_transaction(path: &Path) -> Result<()> {
    let mut log = path.as_os_str().to_owned();
    log.push(".wal");
    let log = Path::new(&log);
    let len = match FileStorage::open(log, StorageMode::Read) {
        Ok(storage) => storage.len().map_err(|error| Error::io("read", &error))?,
        // ENOENT, everywhere.
        Err(error) if error.kind() == ErrorKind::Io(Some(2)) => 0,
        Err(error) => return Err(error),
    };
    if len == 0 {
        return Ok(());
    }
    Err(Error::format(
        "a file without an interrupted transaction",
        format_args!(
            "one in {}: open the file once with Tokyo Cabinet, which takes it back: `tchmgr inform` or \
             `tcbmgr inform`",
            log.display()
        ),
    ))
}
