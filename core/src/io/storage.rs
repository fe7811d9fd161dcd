//! The one door to a file that a table keeps: reads and writes at a place, and a lock held for as
//! long as the file is open. Tests put memory, or a disk that fails, behind the same door.

use std::fmt::Debug;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::{Error, ErrorKind, Result};

/// A file, or what stands for one. Its errors are the operating system's; who asks knows the name.
///
/// Nothing is promised about writes before [`Storage::sync`] returns: after a crash each may be
/// there, in part, or not at all, in any order.
// `is_empty` has no meaning beside the length of a file.
#[allow(clippy::len_without_is_empty)]
pub trait Storage: Debug + Send + Sync + 'static {
    /// Bytes in the file.
    fn len(&self) -> io::Result<u64>;

    /// Fills `bytes` from `offset` on; fails where the file ends before.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`; the file grows where it ends before.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file, or fills it with zeros, to `len` bytes.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Returns when everything written so far will survive a power cut.
    fn sync(&self) -> io::Result<()>;
}

/// How a file is opened, and whom its lock keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageMode {
    /// To read, beside other readers; no writer.
    Read,
    /// To read and write, alone.
    Write,
    /// The same, and the file is made where it is missing.
    Create,
}

/// A file on disk. The lock is the operating system's (`flock`), and goes with the process that holds
/// it, however that ends.
#[derive(Debug)]
pub struct FileStorage {
    file: File,
}

impl FileStorage {
    /// Opens the file at `path` and locks it, without waiting: [`ErrorKind::Lock`] where another
    /// handle, of this process or another, keeps us out.
    pub fn open(path: &Path, mode: StorageMode) -> Result<FileStorage> {
        let name = path.to_string_lossy();
        let failed = |action, error: io::Error| Error::io(action, &error).in_file(&name);
        let mut options = OpenOptions::new();
        options.read(true).write(mode != StorageMode::Read);
        let (file, is_new) = match options.open(path) {
            Err(error)
                if mode == StorageMode::Create && error.kind() == io::ErrorKind::NotFound =>
            {
                let file = options.create(true).open(path).map_err(|e| failed("create", e))?;
                (file, true)
            }
            opened => (opened.map_err(|e| failed("open", e))?, false),
        };
        let locked = match mode {
            StorageMode::Read => file.try_lock_shared(),
            StorageMode::Write | StorageMode::Create => file.try_lock(),
        };
        locked.map_err(|error| match error {
            TryLockError::WouldBlock => Error::new(
                ErrorKind::Lock,
                "expected a file that nobody else is using, found it locked by another process or \
                 handle",
            )
            .in_file(&name),
            TryLockError::Error(error) => failed("lock", error),
        })?;
        if is_new {
            sync_directory(path).map_err(|error| failed("sync the directory of", error))?;
        }
        Ok(FileStorage { file })
    }
}

/// Makes sure that a new file's name survives a power cut, too.
fn sync_directory(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

impl Storage for FileStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// A file in memory, for tests. Clones share its bytes; there is no lock.
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {
    bytes: Arc<RwLock<Vec<u8>>>,
}

impl MemoryStorage {
    /// A file that holds `bytes`.
    pub fn new(bytes: Vec<u8>) -> Self {
        MemoryStorage { bytes: Arc::new(RwLock::new(bytes)) }
    }

    /// What the file holds now.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Storage for MemoryStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.read().unwrap_or_else(PoisonError::into_inner).len() as u64)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let held = self.bytes.read().unwrap_or_else(PoisonError::into_inner);
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = offset.saturating_add(bytes.len());
        bytes.copy_from_slice(held.get(offset..end).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut held = self.bytes.write().unwrap_or_else(PoisonError::into_inner);
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let end = offset.checked_add(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        if held.len() < end {
            held.resize(end, 0);
        }
        held[offset..end].copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.bytes.write().unwrap_or_else(PoisonError::into_inner).resize(len, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
