//! The name of an ordered table's file, and how the file is made.
//!
//! A table has no name while it is made.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::new_tree::NewTree;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{
    Directory, Displaced, FileDirectory, FileOwner, FileStorage, Storage, StorageMode,
};
use crate::table::file::options::OpenOptions;
use crate::table::file::sharing::is_refused;

/// `ENOENT`.
const NOT_FOUND: i32 = 2;

/// Time to wait for the lock of an empty file before another look if it is empty still.
const PAUSE: Duration = Duration::from_millis(10);

/// Least time to wait for another process that makes the same table.
const PATIENCE: Duration = Duration::from_secs(1);

/// Files of an ordered table: their directory, and the name of the table.
#[derive(Debug, Clone)]
pub(super) struct TreeTableFiles {
    pub(super) directory: Arc<dyn Directory>,
    /// The name of the table.
    pub(super) name: OsString,
    /// The file of the operating system that it is, if it is one.
    pub(super) path: Option<PathBuf>,
}

impl TreeTableFiles {
    /// Returns the directory and name of the table at `path`, which may not exist yet.
    pub(super) fn find(path: &Path) -> Result<TreeTableFiles> {
        let found = FileDirectory::find(path);
        let (directory, name) = found.map_err(|error| Error::io("open", &error))?;
        let path = Some(directory.path_of(&name));
        Ok(TreeTableFiles { directory: Arc::new(directory), name, path })
    }

    /// Opens the file of the table, and waits up to `timeout` for another writer to go.
    pub(super) fn open(&self, mode: StorageMode, timeout: Duration) -> Result<Arc<dyn Storage>> {
        match &self.path {
            Some(path) => Ok(Arc::new(FileStorage::open_within(path, mode, timeout)?)),
            None => Ok(Arc::from(self.directory.open(&self.name, mode, timeout)?)),
        }
    }

    /// Opens the file of the table beside its writer. A reader tells others what it reads in the file, if it may write there.
    pub(super) fn open_to_read(&self) -> Result<Arc<dyn Storage>> {
        let Some(path) = &self.path else { return self.open(StorageMode::Follow, Duration::ZERO) };
        match FileStorage::open_unlocked(path, StorageMode::Write) {
            Err(error) if is_refused(error.kind()) => {
                self.open(StorageMode::Follow, Duration::ZERO)
            }
            opened => Ok(Arc::new(opened?)),
        }
    }

    /// Makes a table, where the options want one and there is none, or an empty file.
    pub(super) fn create_if(&self, options: OpenOptions) -> Result<()> {
        match options.create && !options.read_only && self.is_missing()? {
            true => self.create(&NewTree::new(options.values), options.timeout),
            false => Ok(()),
        }
    }

    /// Makes a table. Others find all of it or nothing: it has no name before.
    fn create(&self, tree: &NewTree, timeout: Duration) -> Result<()> {
        let failed = |error| Error::io("create the table", &error);
        // An empty file is replaced by the one who has its lock, or by nobody once it is a table.
        let replaced = self.lock_empty(timeout.max(PATIENCE))?;
        if !self.is_missing()? {
            return Ok(());
        }
        let owner = replaced.as_ref().and_then(|file| file.file()).map(FileOwner::of).transpose();
        let made = self.directory.create_unnamed(&self.name, owner.map_err(failed)?);
        let made = match made.map_err(failed) {
            Err(error) if is_refused(error.kind()) && replaced.is_some() => {
                return self.create_in_place(tree);
            }
            made => made?,
        };
        let displaced = match replaced {
            Some(_) => Displaced::Any,
            None => Displaced::Nothing,
        };
        let written = tree
            .write(&*made)
            .and_then(|()| self.directory.publish(&*made, &self.name, displaced))
            .and_then(|()| self.directory.sync());
        match written {
            // Another process has made it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            written => written.map_err(failed),
        }
    }

    /// Locks the empty file that the table is to replace, where there is one.
    fn lock_empty(&self, timeout: Duration) -> Result<Option<Box<dyn Storage>>> {
        if !self.is_there()? {
            return Ok(None);
        }
        let began = Instant::now();
        loop {
            match self.directory.open(&self.name, StorageMode::Write, PAUSE) {
                // The one who had the lock has made the table, and others have it open.
                Err(error) if error.kind() == ErrorKind::Lock && !self.is_missing()? => {
                    return Ok(None);
                }
                Err(error) if error.kind() == ErrorKind::Lock && began.elapsed() < timeout => (),
                Err(error) if error.kind() == ErrorKind::Io(Some(NOT_FOUND)) => return Ok(None),
                opened => return opened.map(Some),
            }
        }
    }

    /// Makes a table of an empty file in a directory where no file can be made.
    fn create_in_place(&self, tree: &NewTree) -> Result<()> {
        let file = self.open(StorageMode::Write, Duration::ZERO)?;
        tree.write_in_place(&*file).map_err(|error| Error::io("create the table", &error))
    }

    /// Returns true if a file has the name of the table.
    fn is_there(&self) -> Result<bool> {
        let id = self.directory.id(&self.name);
        Ok(id.map_err(|error| Error::io("open", &error))?.is_some())
    }

    /// Returns true if there is no table: no file, or an empty one.
    fn is_missing(&self) -> Result<bool> {
        let is_empty = |file: Arc<dyn Storage>| Ok(file.len()? == 0);
        Ok(!self.is_there()?
            || is_empty(self.open(StorageMode::Follow, Duration::ZERO)?)
                .map_err(|e| Error::io("open", &e))?)
    }
}
