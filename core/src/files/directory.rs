//! The door to files that lie side by side: for a table that keeps a second file, or that writes a
//! new file and replaces the old one with it.
//!
//! To replace a file so that a power cut leaves the old one or the new one, whole:
//! [`Directory::create_unnamed`], write, [`Storage::sync`], [`Directory::publish`], [`Directory::sync`]. Nobody can plant a
//! link where such a file is made, nor has a name to be free for it, because it has none.

use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::access::{FileOwner, create_for};
use super::found_file::{FoundFile, open_found};
use super::storage::{FileId, FileStorage, Storage, StorageMode, directory_of, sync_names};
use super::unnamed_file::{hidden_name, link_unnamed, open_unnamed, rename_to};
use crate::error::{Error, Result};

/// The files of one directory, by their names in it.
///
/// Nothing is promised about names before [`Directory::sync`] returns: after a crash a renaming or
/// removal may not have happened. Those that happened are the first ones, in their order.
pub trait Directory: Debug + Send + Sync + 'static {
    /// Opens the file `name`, locked as `mode` says, waiting up to `timeout` for others to go:
    /// [`crate::ErrorKind::Lock`] where they do not. The name of a file that this makes survives a
    /// power cut.
    fn open(&self, name: &OsStr, mode: StorageMode, timeout: Duration) -> Result<Box<dyn Storage>>;

    /// Opens the file `name` to read, without a lock, which was found beside the open file `beside` and may be
    /// a stranger's. A link is not followed.
    fn open_found(
        &self,
        name: &OsStr,
        beside: &dyn Storage,
    ) -> Result<FoundFile<Box<dyn Storage>>> {
        let _ = beside;
        let failed = |error| Error::io("open", &error).in_file(&name.to_string_lossy());
        match self.id(name).map_err(failed)? {
            None => Ok(FoundFile::Nothing),
            Some(_) => self.open(name, StorageMode::Follow, Duration::ZERO).map(FoundFile::File),
        }
    }

    /// Makes the file `name`, of `owner` where one is given, which must not be there. Whether its name
    /// survives a power cut is as for the other changes of names.
    fn create(&self, name: &OsStr, owner: Option<FileOwner>) -> io::Result<Box<dyn Storage>>;

    /// Makes a file that has no name before [`Directory::publish`] gives it one, of `owner` where one is given. It is
    /// gone with its last handle, however the process ends.
    ///
    /// If the system knows no such file, it gets a hidden name that nobody can guess, which begins like `name`. The
    /// handle takes that away when it is dropped; the death of the process leaves it.
    fn create_unnamed(
        &self,
        name: &OsStr,
        owner: Option<FileOwner>,
    ) -> io::Result<Box<dyn Storage>>;

    /// Gives a file of [`Directory::create_unnamed`] its name, from which `displaced` says whether another file may be
    /// displaced: [`io::ErrorKind::AlreadyExists`] where it may not and is there. Whoever opens `name` finds the one or
    /// the other.
    fn publish(&self, file: &dyn Storage, name: &OsStr, displaced: Displaced) -> io::Result<()>;

    /// Returns the id of the file with the name `name`, if any. Another one than [`Storage::id`] of an
    /// open file was put in its place.
    fn id(&self, name: &OsStr) -> io::Result<Option<FileId>>;

    /// Gives the file `from` the name `to`, from which another file may be displaced. Whoever opens
    /// `to` finds the one or the other. Handles, their locks and what they read stay as they are.
    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()>;

    /// Gives the file `from` the name `to`, which must be free: [`io::ErrorKind::AlreadyExists`]
    /// otherwise.
    fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match self.id(to)? {
            None => self.rename(from, to),
            Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    /// Takes the name from a file, which is gone when no handle has it open.
    fn remove(&self, name: &OsStr) -> io::Result<()>;

    /// Returns when the changes of names so far will survive a power cut.
    fn sync(&self) -> io::Result<()>;
}

/// File that may lose its name to a file that is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Displaced {
    /// Nothing: the name must be free.
    Nothing,
    /// The file that has the name, or the link.
    Any,
}

/// A directory on disk.
#[derive(Debug, Clone)]
pub struct FileDirectory {
    path: PathBuf,
}

impl FileDirectory {
    /// The directory at `path`.
    pub fn new(path: impl Into<PathBuf>) -> FileDirectory {
        FileDirectory { path: path.into() }
    }

    /// The directory and the name of the file that `path` leads to, whatever links are on the way: who
    /// replaces it would replace a link otherwise. Both stay the same when the current directory changes.
    pub fn find(path: &Path) -> io::Result<(FileDirectory, OsString)> {
        let path = match std::fs::canonicalize(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                follow_links(&std::path::absolute(path)?)
            }
            found => found?,
        };
        let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        Ok((Self::of(&path), name.to_owned()))
    }

    /// Fails where there is no such directory.
    pub fn check_exists(&self) -> io::Result<()> {
        std::fs::metadata(&self.path).map(drop)
    }

    /// The path of the file `name` in it.
    pub fn path_of(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    /// The directory that the file at `path` is in.
    pub fn of(path: &Path) -> FileDirectory {
        Self::new(directory_of(path))
    }
}

/// The name of a file that lies beside the file `name` and belongs to it.
pub(crate) fn name_beside(name: &OsStr, ending: &str) -> OsString {
    let mut beside = name.to_owned();
    beside.push(ending);
    beside
}

/// Links in each other that lead to a file that is not there.
const LINKS_MAX: usize = 40;

/// The path of a file that is not there, behind the links that lead to it.
fn follow_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

impl Directory for FileDirectory {
    fn open(&self, name: &OsStr, mode: StorageMode, timeout: Duration) -> Result<Box<dyn Storage>> {
        Ok(Box::new(FileStorage::open_within(&self.path.join(name), mode, timeout)?))
    }

    fn open_found(
        &self,
        name: &OsStr,
        beside: &dyn Storage,
    ) -> Result<FoundFile<Box<dyn Storage>>> {
        let path = self.path.join(name);
        let open = || -> io::Result<FoundFile<Box<dyn Storage>>> {
            let owner = beside.file().map(FileOwner::of).transpose()?.map(|owner| owner.user);
            let found = open_found(&path, false, owner)?;
            Ok(found.map(|file| Box::new(FileStorage::from(file)) as Box<dyn Storage>))
        };
        open().map_err(|error| Error::io("open", &error).in_file(&path.to_string_lossy()))
    }

    fn create(&self, name: &OsStr, owner: Option<FileOwner>) -> io::Result<Box<dyn Storage>> {
        let (path, mut options) = (self.path.join(name), OpenOptions::new());
        options.read(true).write(true);
        let file = match owner {
            Some(owner) => create_for(&path, &options, owner)?,
            None => options.create_new(true).open(path)?,
        };
        Ok(Box::new(FileStorage::from(file)))
    }

    fn create_unnamed(
        &self,
        name: &OsStr,
        owner: Option<FileOwner>,
    ) -> io::Result<Box<dyn Storage>> {
        let file = match open_unnamed(&self.path, owner) {
            Some(file) => FileStorage::from(file),
            None => FileStorage::hidden(&self.path, name, owner)?,
        };
        Ok(Box::new(file))
    }

    fn publish(&self, file: &dyn Storage, name: &OsStr, displaced: Displaced) -> io::Result<()> {
        let to = self.path.join(name);
        if let Some(hidden) = file.hidden_name() {
            return hidden.become_whole(|from| rename_to(from, &to, displaced));
        }
        let file = file.file().ok_or(io::ErrorKind::Unsupported)?;
        match displaced {
            Displaced::Nothing => link_unnamed(file, &to),
            // To link displaces nothing, to rename does: for this moment the file has two names.
            Displaced::Any => {
                let hidden = self.path.join(hidden_name(name));
                link_unnamed(file, &hidden)?;
                let renamed = std::fs::rename(&hidden, &to);
                renamed.inspect_err(|_| drop(std::fs::remove_file(&hidden)))
            }
        }
    }

    fn id(&self, name: &OsStr) -> io::Result<Option<FileId>> {
        match std::fs::metadata(self.path.join(name)) {
            Ok(metadata) => Ok(Some(FileId::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        std::fs::rename(self.path.join(from), self.path.join(to))
    }

    fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        rename_to(&self.path.join(from), &self.path.join(to), Displaced::Nothing)
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        std::fs::remove_file(self.path.join(name))
    }

    fn sync(&self) -> io::Result<()> {
        sync_names(&self.path)
    }
}
