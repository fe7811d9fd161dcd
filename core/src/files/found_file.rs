//! Files that lie beside another file and were found there by their names: nobody has named them, and in a directory that
//! others may write they may be anybody's. Such a file counts only where it is a regular file with one name that belongs
//! to the owner of the file beside it, to root or to the user of this process. Anything else is a [`Stranger`].
//!
//! All of it is asked of the open file, because what a path leads to may be another file a moment later.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;

use super::storage::{Storage, kind_of};
use crate::error::Error;

/// Result of looking up the name of a file that belongs to another one.
#[derive(Debug)]
pub enum FoundFile<T> {
    /// Nothing has it.
    Nothing,
    /// A file that counts.
    File(T),
    /// Something that is left alone.
    Stranger(Stranger),
}

impl<T> FoundFile<T> {
    /// The file that counts, if it is one.
    pub fn file(self) -> Option<T> {
        match self {
            FoundFile::File(file) => Some(file),
            FoundFile::Nothing | FoundFile::Stranger(_) => None,
        }
    }

    /// Returns the result with another view of the file.
    pub(super) fn map<U>(self, view: impl FnOnce(T) -> U) -> FoundFile<U> {
        match self {
            FoundFile::File(file) => FoundFile::File(view(file)),
            FoundFile::Nothing => FoundFile::Nothing,
            FoundFile::Stranger(stranger) => FoundFile::Stranger(stranger),
        }
    }
}

/// Reason to leave alone something that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stranger {
    /// It leads elsewhere.
    Link,
    /// It has more names, and who has the others can change it.
    HardLink,
    /// It is something else than a file.
    Kind(&'static str),
    /// It belongs to this user, who has no say here.
    User(u32),
}

impl Stranger {
    /// The error of one that stands where `what` is expected, which may hold what nobody else has.
    pub fn refused(self, what: &str) -> Error {
        Error::format(
            format_args!(
                "{what} that belongs to the owner of the file beside it, to root or to you"
            ),
            format_args!(
                "{self}, which was left alone; remove it, or move it away and look whose it is"
            ),
        )
    }
}

impl fmt::Display for Stranger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stranger::Link => f.write_str("a symbolic link"),
            Stranger::HardLink => f.write_str("a file with several names (hard links)"),
            Stranger::Kind(kind) => f.write_str(kind),
            Stranger::User(user) => write!(f, "a file of the user with the number {user}"),
        }
    }
}

/// Opens the file at `path`, which was found beside a file that belongs to the user `owner`.
pub(super) fn open_found(
    path: &Path,
    writes: bool,
    owner: Option<u32>,
) -> io::Result<FoundFile<File>> {
    let access = if writes { OFlags::RDWR } else { OFlags::RDONLY };
    // To open a FIFO would wait for another process.
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let errno = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => {
            let status = rustix::fs::fstat(&file)?;
            return Ok(match (status.st_nlink, stranger(&status, owner)) {
                // It was removed meanwhile.
                (0, _) => FoundFile::Nothing,
                (_, Some(stranger)) => FoundFile::Stranger(stranger),
                (_, None) => FoundFile::File(file.into()),
            });
        }
        Err(Errno::NOENT) => return Ok(FoundFile::Nothing),
        Err(errno) => errno,
    };
    // Something that cannot be opened may be no file, or not be ours to open.
    match rustix::fs::lstat(path).map(|status| stranger(&status, owner)) {
        Ok(Some(stranger)) => Ok(FoundFile::Stranger(stranger)),
        Err(Errno::NOENT) => Ok(FoundFile::Nothing),
        _ => Err(errno.into()),
    }
}

fn stranger(status: &Stat, owner: Option<u32>) -> Option<Stranger> {
    use rustix::fs::FileType;
    match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Some(Stranger::Link),
        kind => return Some(Stranger::Kind(kind_of(kind))),
    }
    let may_be = [0, rustix::process::geteuid().as_raw()];
    if owner.is_some_and(|owner| owner != status.st_uid && !may_be.contains(&status.st_uid)) {
        return Some(Stranger::User(status.st_uid));
    }
    (status.st_nlink > 1).then_some(Stranger::HardLink)
}

/// Returns true if a file begins with `magic`, as far as a power cut let it: bytes that were lost are zeros or missing.
/// A file of a user, found under a name of ours, does not.
pub(crate) fn begins_like(file: &dyn Storage, magic: &[u8]) -> io::Result<bool> {
    let len = file.len()?.min(magic.len() as u64);
    let mut bytes = vec![0; len as usize];
    file.read_at(0, &mut bytes)?;
    Ok(bytes.iter().zip(magic).all(|(found, wanted)| *found == 0 || found == wanted))
}
