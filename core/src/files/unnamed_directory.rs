//! A directory whose files have no names on the disk: for what is made of several files and gets its names when it is
//! whole.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::access::FileOwner;
use super::directory::{Directory, Displaced, FileDirectory};
use super::storage::{FileId, FileStorage, Storage, StorageMode};
use crate::error::{Error, Result};

/// `ENOENT`.
const NOT_FOUND: i32 = 2;

/// Files that lie in a directory on disk without names in it. What it calls them is nobody else's.
#[derive(Debug)]
pub(crate) struct UnnamedDirectory {
    on_disk: FileDirectory,
    /// Purpose of the files: hidden names begin like it, if there have to be some.
    name: OsString,
    files: Mutex<BTreeMap<OsString, FileStorage>>,
}

impl UnnamedDirectory {
    /// An empty one, for files of what is to be `name` in the directory `on_disk`.
    pub(crate) fn new(on_disk: FileDirectory, name: OsString) -> UnnamedDirectory {
        UnnamedDirectory { on_disk, name, files: Mutex::default() }
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<OsString, FileStorage>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the file that is called `name` out, to be published on the disk.
    pub(crate) fn take(&self, name: &OsStr) -> Option<FileStorage> {
        self.files().remove(name)
    }

    /// Keeps a file that has no name, which another handle may have open, under the name `name`.
    fn keep(&self, file: &dyn Storage, name: &OsStr) -> io::Result<()> {
        let kept = FileStorage::sharing(file)?;
        self.files().insert(name.to_owned(), kept);
        Ok(())
    }
}

impl Directory for UnnamedDirectory {
    fn open(&self, name: &OsStr, mode: StorageMode, timeout: Duration) -> Result<Box<dyn Storage>> {
        let failed = |error| Error::io("open", &error).in_file(&self.name.to_string_lossy());
        if mode == StorageMode::Create && self.id(name).map_err(failed)?.is_none() {
            self.create(name, None).map_err(failed)?;
        }
        let path = self.files().get(name).map(FileStorage::path_while_unnamed);
        let path = path.ok_or_else(|| failed(io::Error::from_raw_os_error(NOT_FOUND)))?;
        Ok(Box::new(FileStorage::open_within(&path, mode, timeout)?))
    }

    fn create(&self, name: &OsStr, owner: Option<FileOwner>) -> io::Result<Box<dyn Storage>> {
        let file = self.create_unnamed(name, owner)?;
        self.publish(&*file, name, Displaced::Nothing)?;
        Ok(file)
    }

    fn create_unnamed(&self, _: &OsStr, owner: Option<FileOwner>) -> io::Result<Box<dyn Storage>> {
        self.on_disk.create_unnamed(&self.name, owner)
    }

    fn publish(&self, file: &dyn Storage, name: &OsStr, displaced: Displaced) -> io::Result<()> {
        match self.id(name)? {
            Some(_) if displaced == Displaced::Nothing => Err(io::ErrorKind::AlreadyExists.into()),
            _ => self.keep(file, name),
        }
    }

    fn id(&self, name: &OsStr) -> io::Result<Option<FileId>> {
        self.files().get(name).map_or(Ok(None), Storage::id)
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let mut files = self.files();
        let file = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.take(name).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync(&self) -> io::Result<()> {
        // Nothing of it outlives the process.
        Ok(())
    }
}
