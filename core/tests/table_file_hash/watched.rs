//! Directory of real files that calls a test's functions beside those of the table: to let something happen at that moment, or
//! to let the process die there.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytewright::Result;
use bytewright::files::{
    Directory, Displaced, FileDirectory, FileId, FileOwner, FileStatus, HiddenName, Storage,
    StorageMode,
};
use bytewright::table::file::{HashTable, OpenOptions};

/// Change of a file that is about to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FileChange<'a> {
    Write(u64, &'a [u8]),
    SetLen(u64),
    Sync,
}

/// Functions of a test, and when they are called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moments {
    /// A file was opened.
    pub(crate) opened: fn(),
    /// A file was given its name.
    pub(crate) published: fn(),
    /// A file is about to be changed.
    pub(crate) changes: fn(FileChange<'_>),
}

impl Moments {
    /// Those at which nothing happens.
    pub(crate) const NONE: Moments = Moments { opened: || (), published: || (), changes: |_| () };
}

#[derive(Debug)]
pub(crate) struct WatchedDirectory {
    files: FileDirectory,
    moments: Moments,
}

impl WatchedDirectory {
    /// Opens the table at `path`, in its directory.
    pub(crate) fn open(path: &Path, moments: Moments, options: OpenOptions) -> HashTable {
        let directory =
            WatchedDirectory { files: FileDirectory::new(path.parent().unwrap()), moments };
        let name = path.file_name().unwrap().to_str().unwrap();
        HashTable::open_in(Arc::new(directory), name, options).unwrap()
    }

    fn watched(&self, file: Box<dyn Storage>) -> Box<dyn Storage> {
        Box::new(WatchedFile { file, changes: self.moments.changes })
    }
}

impl Directory for WatchedDirectory {
    fn open(&self, name: &OsStr, mode: StorageMode, timeout: Duration) -> Result<Box<dyn Storage>> {
        let file = self.files.open(name, mode, timeout)?;
        (self.moments.opened)();
        Ok(self.watched(file))
    }

    fn create(&self, name: &OsStr, owner: Option<FileOwner>) -> io::Result<Box<dyn Storage>> {
        self.files.create(name, owner).map(|file| self.watched(file))
    }

    fn create_unnamed(
        &self,
        name: &OsStr,
        owner: Option<FileOwner>,
    ) -> io::Result<Box<dyn Storage>> {
        self.files.create_unnamed(name, owner).map(|file| self.watched(file))
    }

    fn publish(&self, file: &dyn Storage, name: &OsStr, displaced: Displaced) -> io::Result<()> {
        self.files.publish(file, name, displaced)?;
        (self.moments.published)();
        Ok(())
    }

    fn id(&self, name: &OsStr) -> io::Result<Option<FileId>> {
        self.files.id(name)
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.files.rename(from, to)
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.files.remove(name)
    }

    fn sync(&self) -> io::Result<()> {
        self.files.sync()
    }
}

#[derive(Debug)]
struct WatchedFile {
    file: Box<dyn Storage>,
    changes: fn(FileChange<'_>),
}

impl Storage for WatchedFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, bytes)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        (self.changes)(FileChange::Write(offset, bytes));
        self.file.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        (self.changes)(FileChange::SetLen(len));
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        (self.changes)(FileChange::Sync);
        self.file.sync()
    }

    fn id(&self) -> io::Result<Option<FileId>> {
        self.file.id()
    }

    fn status(&self) -> io::Result<FileStatus> {
        self.file.status()
    }

    fn file(&self) -> Option<&File> {
        self.file.file()
    }

    fn hidden_name(&self) -> Option<&HiddenName> {
        self.file.hidden_name()
    }
}
