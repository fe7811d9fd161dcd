//! The door to a file that several programs write by turns: each locks it for a turn, and sees by its
//! status whether another had one meanwhile. Tests put a simulated system behind the same door.

use std::fmt::Debug;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, FlockOperation, OFlags, Stat, Timespec, Timestamps};
use rustix::io::Errno;

use super::access::{FileOwner, create_for};
use super::directory::{Directory, FileDirectory};
use super::found_file::{FoundFile, open_found};
use super::storage::{FileId, FileStorage, Storage, kind_of};
use crate::error::Error;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::forks::ProcessValue;

/// Whom a lock keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockKind {
    /// Writers.
    Shared,
    /// Everybody else.
    Exclusive,
}

/// Mode in which a shared file is opened. None of these locks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedMode {
    /// To read.
    Read,
    /// To read and write.
    Write,
    /// To read and write; the file is made if it is missing.
    Create,
    /// To read and write; there must be no file, and the one that is made has owner and mode of another one.
    CreateLike(FileOwner),
}

/// Version of a file, which tells one state from another without reading the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileVersion {
    /// Identity of the file.
    pub id: FileId,
    /// Bytes in it.
    pub len: u64,
    /// When it was modified, in nanoseconds since 1970.
    pub modified: i64,
    /// When it, its times or its mode were changed, which no program can set, in nanoseconds since 1970.
    pub changed: i64,
}

/// A file that is locked for a turn.
pub trait SharedFile: Storage {
    /// Locks it, or changes the kind of our lock, without waiting; whether that could be had. After
    /// a refusal a lock that was held may be gone.
    fn try_lock(&self, kind: LockKind) -> io::Result<bool>;

    /// Waits for a lock; `false` if a signal came first.
    fn wait_for_lock(&self, kind: LockKind) -> io::Result<bool>;

    /// Gives the lock back.
    fn unlock(&self) -> io::Result<()>;

    /// Its state now.
    fn version(&self) -> io::Result<FileVersion>;

    /// Says when it was modified, in nanoseconds since 1970.
    fn set_modified(&self, modified: i64) -> io::Result<()>;

    /// Returns true if it still has a name.
    fn is_named(&self) -> io::Result<bool>;

    /// Who may use it.
    fn owner(&self) -> io::Result<FileOwner>;
}

/// Files by their paths.
pub trait FileSystem: Debug + Send + Sync + 'static {
    /// Opens a file, without a lock. A directory is refused as the system does, and what else is no regular file with an
    /// error that carries one of [`ErrorKind::Format`].
    fn open(&self, path: &Path, mode: SharedMode) -> io::Result<Box<dyn SharedFile>>;

    /// Opens the file at `path`, which was found beside a file of the user `owner` and may be a stranger's. A link is not
    /// followed.
    fn open_found(
        &self,
        path: &Path,
        writes: bool,
        owner: u32,
    ) -> io::Result<FoundFile<Box<dyn SharedFile>>> {
        let _ = owner;
        match self.open(path, if writes { SharedMode::Write } else { SharedMode::Read }) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FoundFile::Nothing),
            opened => opened.map(FoundFile::File),
        }
    }

    /// The state of the file that has a path, if there is one.
    fn version(&self, path: &Path) -> io::Result<Option<FileVersion>>;

    /// The path of the file itself, if `path` ends in a symbolic link.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// Takes the name from a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns when the names in the directory of `path` will survive a power cut.
    fn sync_names(&self, path: &Path) -> io::Result<()>;

    /// The time, in nanoseconds since 1970.
    fn now(&self) -> i64;

    /// A number that is another one after each start of the system, or always 0 where none is to
    /// be had.
    fn boot(&self) -> u128;
}

/// Refuses what is no regular file: a device would lose what is written, a FIFO and a socket would wait.
fn check_regular(status: &Stat) -> io::Result<()> {
    match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Errno::ISDIR.into()),
        kind => Err(io::Error::other(Error::format("a regular file", kind_of(kind)))),
    }
}

/// The files of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalFileSystem;

impl FileSystem for LocalFileSystem {
    fn open(&self, path: &Path, mode: SharedMode) -> io::Result<Box<dyn SharedFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(mode != SharedMode::Read);
        // To open a FIFO would wait for another process. A regular file is opened the same either way.
        options.custom_flags(OFlags::NONBLOCK.bits() as i32);
        let opened = match mode {
            SharedMode::Read | SharedMode::Write => options.open(path),
            SharedMode::Create => options.create(true).open(path),
            SharedMode::CreateLike(owner) => create_for(path, &options, owner),
        };
        let file = match opened {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) => {
                check_regular(&rustix::fs::stat(path)?)?;
                return Err(error);
            }
            opened => opened?,
        };
        check_regular(&rustix::fs::fstat(&file)?)?;
        Ok(Box::new(FileStorage::from(file)))
    }

    fn open_found(
        &self,
        path: &Path,
        writes: bool,
        owner: u32,
    ) -> io::Result<FoundFile<Box<dyn SharedFile>>> {
        let found = open_found(path, writes, Some(owner))?;
        Ok(found.map(|file| Box::new(FileStorage::from(file)) as Box<dyn SharedFile>))
    }

    fn version(&self, path: &Path) -> io::Result<Option<FileVersion>> {
        match rustix::fs::stat(path) {
            Ok(stat) => Ok(Some(version(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        // Links on the way need no resolving: what lies beside the file is on the same way.
        match std::fs::symlink_metadata(path)?.is_symlink() {
            true => std::fs::canonicalize(path),
            false => Ok(path.to_owned()),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_names(&self, path: &Path) -> io::Result<()> {
        FileDirectory::of(path).sync()
    }

    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    }

    fn boot(&self) -> u128 {
        static BOOT: ProcessValue<u128> = ProcessValue::new();
        *BOOT.get_or_init(|| {
            let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
            let digits = text.unwrap_or_default().trim().replace('-', "");
            u128::from_str_radix(&digits, 16).unwrap_or(0)
        })
    }
}

fn version(stat: &Stat) -> FileVersion {
    let nanoseconds =
        |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    FileVersion {
        id: FileId { device: stat.st_dev, number: stat.st_ino },
        len: stat.st_size as u64,
        modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec as i64),
        changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec as i64),
    }
}

impl FileStorage {
    fn flock(&self, operation: FlockOperation) -> Result<(), Errno> {
        match self.file() {
            Some(file) => rustix::fs::flock(file, operation),
            None => Err(Errno::BADF),
        }
    }

    fn stat(&self) -> io::Result<Stat> {
        match self.file() {
            Some(file) => Ok(rustix::fs::fstat(file)?),
            None => Err(Errno::BADF.into()),
        }
    }
}

impl SharedFile for FileStorage {
    fn try_lock(&self, kind: LockKind) -> io::Result<bool> {
        let operation = match kind {
            LockKind::Shared => FlockOperation::NonBlockingLockShared,
            LockKind::Exclusive => FlockOperation::NonBlockingLockExclusive,
        };
        loop {
            match self.flock(operation) {
                Ok(()) => return Ok(true),
                Err(Errno::WOULDBLOCK) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn wait_for_lock(&self, kind: LockKind) -> io::Result<bool> {
        let operation = match kind {
            LockKind::Shared => FlockOperation::LockShared,
            LockKind::Exclusive => FlockOperation::LockExclusive,
        };
        match self.flock(operation) {
            Ok(()) => Ok(true),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        Ok(self.flock(FlockOperation::Unlock)?)
    }

    fn version(&self) -> io::Result<FileVersion> {
        Ok(version(&self.stat()?))
    }

    fn set_modified(&self, modified: i64) -> io::Result<()> {
        let time = |nanoseconds: i64| Timespec {
            tv_sec: nanoseconds.div_euclid(1_000_000_000),
            tv_nsec: nanoseconds.rem_euclid(1_000_000_000) as _,
        };
        let omit = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT as _ };
        let times = Timestamps { last_access: omit, last_modification: time(modified) };
        match self.file() {
            Some(file) => Ok(rustix::fs::futimens(file, &times)?),
            None => Err(Errno::BADF.into()),
        }
    }

    fn is_named(&self) -> io::Result<bool> {
        Ok(self.stat()?.st_nlink > 0)
    }

    fn owner(&self) -> io::Result<FileOwner> {
        Ok(FileOwner::from(&self.stat()?))
    }
}
