//! The one door to a file that a table keeps: reads and writes at a place, and a lock held for as
//! long as the file is open. Tests put memory, or a disk that fails, behind the same door.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;

use super::access::FileOwner;
use super::lock_holder::lock_holder;
use super::process_mark::ProcessMark;
use super::unnamed_file::{HiddenName, create_hidden, path_of_open};
use crate::error::{Error, ErrorKind, Result};

/// A file, or what stands for one. Its errors are the operating system's; the caller adds the name.
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

    /// Returns when everything written so far will survive a power cut. Where it fails, what was
    /// written since the last time may be gone, and a later one that works does not bring it back.
    fn sync(&self) -> io::Result<()>;

    /// Returns the identity of the file; `None` if it has no name that could become another's.
    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(None)
    }

    /// Its length, and what else shows cheaply that others changed it.
    fn status(&self) -> io::Result<FileStatus> {
        Ok(FileStatus { len: self.len()?, name_count: 1 })
    }

    /// The operating system's file, where it is one: for what is neither reading nor writing, as
    /// locks on parts of it and maps.
    fn file(&self) -> Option<&File> {
        None
    }

    /// Returns the name of the file until [`Directory::publish`](super::Directory::publish) gives it its own, if it has
    /// to have one.
    fn hidden_name(&self) -> Option<&HiddenName> {
        None
    }
}

/// State of a file that shows in one look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStatus {
    /// Bytes in the file.
    pub len: u64,
    /// Names that the file has. It loses one when another file takes its place.
    pub name_count: u64,
}

/// Tells files apart, whatever they are called, for as long as one of them is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device (or what stands for one) that it is on.
    pub device: u64,
    /// Its number there.
    pub number: u64,
}

impl FileId {
    /// The file that `path` leads to, through links and descriptors such as `/dev/fd/3`.
    pub fn at(path: &Path) -> io::Result<FileId> {
        std::fs::metadata(path).map(|metadata| FileId::of(&metadata))
    }

    pub(super) fn of(metadata: &std::fs::Metadata) -> FileId {
        FileId { device: metadata.dev(), number: metadata.ino() }
    }
}

/// Mode in which a file is opened, and the others that its lock excludes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageMode {
    /// To read, beside other readers; no writer.
    Read,
    /// To read, beside other readers and a writer: without a lock.
    Follow,
    /// To read and write, beside others that do so, too: without a lock.
    Join,
    /// To read and write, beside others who do so by turns.
    Share,
    /// To read and write, alone.
    Write,
    /// To read and write, alone; the file is made if it is missing.
    Create,
}

/// A file on disk. The lock is the operating system's (`flock`), and goes with the process that holds
/// it, however that ends.
#[derive(Debug)]
pub struct FileStorage {
    file: File,
    hidden: Option<HiddenName>,
    process: ProcessMark,
}

/// Pause between two tries to lock a file.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

impl From<File> for FileStorage {
    /// An open file, with the lock it may have.
    fn from(file: File) -> FileStorage {
        FileStorage { file, hidden: None, process: ProcessMark::new() }
    }
}

impl Drop for FileStorage {
    /// Closing alone would leave the lock to a process that another thread starts at this moment, until that runs its
    /// program. A forked child only closes: the lock is its parent's.
    fn drop(&mut self) {
        if self.process.is_here() {
            let _ = self.file.unlock();
        }
    }
}

impl FileStorage {
    /// Opens the file at `path` and locks it, without waiting: [`ErrorKind::Lock`] where another
    /// handle, of this process or another, keeps us out.
    pub fn open(path: &Path, mode: StorageMode) -> Result<FileStorage> {
        Self::open_within(path, mode, Duration::ZERO)
    }

    /// Makes a file in `directory` behind a hidden name, of `owner` where one is given, that will be `name`.
    pub(super) fn hidden(
        directory: &Path,
        name: &OsStr,
        owner: Option<FileOwner>,
    ) -> io::Result<FileStorage> {
        let (file, hidden) = create_hidden(directory, name, owner)?;
        Ok(FileStorage { file, hidden: Some(hidden), process: ProcessMark::new() })
    }

    /// A further handle of a file that has no name yet. It takes a hidden name over.
    pub(super) fn sharing(file: &dyn Storage) -> io::Result<FileStorage> {
        let shared = file.file().ok_or(io::ErrorKind::Unsupported)?.try_clone()?;
        let hidden = file.hidden_name().and_then(HiddenName::hand_over);
        Ok(FileStorage { file: shared, hidden, process: ProcessMark::new() })
    }

    /// A path by which a file that has no name yet can be opened once more.
    pub(super) fn path_while_unnamed(&self) -> PathBuf {
        let hidden = self.hidden.as_ref().and_then(HiddenName::path);
        hidden.unwrap_or_else(|| path_of_open(&self.file))
    }

    /// Opens the file at `path` without a lock, for callers that lock parts of it.
    pub fn open_unlocked(path: &Path, mode: StorageMode) -> Result<FileStorage> {
        let file = open_or_create(path, mode);
        Ok(file.map_err(|error| error.in_file(&path.to_string_lossy()))?.into())
    }

    /// Opens the file at `path` as [`FileStorage::open`] does, but waits up to `timeout` for the others to go.
    pub fn open_within(path: &Path, mode: StorageMode, timeout: Duration) -> Result<FileStorage> {
        let name = path.to_string_lossy();
        let began = Instant::now();
        loop {
            let file = open_or_create(path, mode).map_err(|error| error.in_file(&name))?;
            if !try_lock(&file, mode).map_err(|e| Error::io("lock", &e).in_file(&name))? {
                let left = timeout.saturating_sub(began.elapsed());
                if left.is_zero() {
                    return Err(locked_out(&file, timeout).in_file(&name));
                }
                thread::sleep(left.min(LOCK_PAUSE));
            } else if still_named(&file, path).map_err(|e| Error::io("open", &e).in_file(&name))? {
                return Ok(file.into());
            }
            // Another handle had it, or put a new file in its place between our opening and locking
            // it: what has the name now is what was asked for.
        }
    }
}

fn open_or_create(path: &Path, mode: StorageMode) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(!matches!(mode, StorageMode::Read | StorageMode::Follow));
    // To open a FIFO would wait for another process. A regular file is opened the same either way.
    options.custom_flags(OFlags::NONBLOCK.bits() as i32);
    match options.open(path) {
        Err(error) if mode == StorageMode::Create && error.kind() == io::ErrorKind::NotFound => {
            let file = options.create(true).open(path).map_err(|e| Error::io("create", &e))?;
            sync_names(directory_of(path)).map_err(|e| Error::io("sync the directory of", &e))?;
            Ok(file)
        }
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NXIO | Errno::ISDIR)) => {
            let there = rustix::fs::stat(path);
            let found = there.map_or("something else", |there| kind_of(kind_in(&there)));
            Err(Error::format("a regular file", found))
        }
        Err(error) => Err(Error::io("open", &error)),
        Ok(file) => {
            let status = rustix::fs::fstat(&file);
            match kind_in(&status.map_err(|errno| Error::io("open", &errno.into()))?) {
                FileType::RegularFile => Ok(file),
                kind => Err(Error::format("a regular file", kind_of(kind))),
            }
        }
    }
}

fn kind_in(status: &Stat) -> FileType {
    FileType::from_raw_mode(status.st_mode)
}

/// Describes a kind of file that is not a regular file.
pub(super) fn kind_of(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a directory",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "a device",
    }
}

/// Tries to lock the file; `false` if another handle has it.
fn try_lock(file: &File, mode: StorageMode) -> io::Result<bool> {
    let locked = match mode {
        StorageMode::Follow | StorageMode::Join => return Ok(true),
        StorageMode::Read | StorageMode::Share => file.try_lock_shared(),
        StorageMode::Write | StorageMode::Create => file.try_lock(),
    };
    match locked {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn locked_out(file: &File, timeout: Duration) -> Error {
    let waited = match timeout.is_zero() {
        true => String::new(),
        false => format!(" for {} seconds", timeout.as_secs_f64()),
    };
    let holder = lock_holder(file.metadata().ok().map(|metadata| FileId::of(&metadata)));
    let message =
        format!("expected a file that is not in use, found it locked by {holder}{waited}");
    Error::new(ErrorKind::Lock, message)
}

/// Returns true if `path` names this file, and not one that took its place.
fn still_named(file: &File, path: &Path) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(named) => Ok(FileId::of(&named) == FileId::of(&file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The directory that the file at `path` is in.
pub(super) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes sure that the names in a directory survive a power cut.
pub(super) fn sync_names(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

impl Storage for FileStorage {
    fn len(&self) -> io::Result<u64> {
        // Everything else is done at places of its own. The length by itself takes a third of the time
        // that all of the file's status does.
        Ok(rustix::fs::seek(&self.file, rustix::fs::SeekFrom::End(0))?)
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

    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(Some(FileId::of(&self.file.metadata()?)))
    }

    fn status(&self) -> io::Result<FileStatus> {
        // The standard library would ask for all that a file system knows, which takes twice as long.
        let status = rustix::fs::fstat(&self.file)?;
        Ok(FileStatus { len: status.st_size as u64, name_count: status.st_nlink as u64 })
    }

    fn file(&self) -> Option<&File> {
        Some(&self.file)
    }

    fn hidden_name(&self) -> Option<&HiddenName> {
        self.hidden.as_ref()
    }
}
