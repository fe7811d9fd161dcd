//! The names of an ordered table's files, and how the first of them is made.
//!
//! | file | what |
//! |---|---|
//! | `x.bwt` | the table |
//! | `x.bwt.log` | commits that are not in it yet |
//! | `x.bwt.new` | a table while it is made |

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::database::new_table;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{
    Directory, FileDirectory, FileOwner, FileStorage, Storage, StorageMode, name_beside,
};
use crate::table::file::options::OpenOptions;

/// How long to wait at least for another process that makes the same table.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is written last of a table that is made in place.
const BEGINNING_LEN: usize = 512;

/// Where a table is.
#[derive(Debug, Clone)]
pub(super) struct Home {
    pub(super) directory: Arc<dyn Directory>,
    /// The name of the table.
    pub(super) name: OsString,
    /// The file of the operating system that it is, if it is one.
    pub(super) path: Option<PathBuf>,
}

impl Home {
    /// Where the table at `path` is, or will be.
    pub(super) fn find(path: &Path) -> Result<Home> {
        let found = FileDirectory::find(path);
        let (directory, name) = found.map_err(|error| Error::io("open", &error))?;
        let path = Some(directory.path_of(&name));
        Ok(Home { directory: Arc::new(directory), name, path })
    }

    /// The name of the log.
    pub(super) fn log_name(&self) -> OsString {
        name_beside(&self.name, ".log")
    }

    /// Opens the file of the table. redb locks parts of it, so that readers get along with a writer.
    pub(super) fn open(&self, mode: StorageMode) -> Result<Arc<dyn Storage>> {
        match &self.path {
            Some(path) => Ok(Arc::new(FileStorage::open_unlocked(path, mode)?)),
            None => Ok(Arc::from(self.directory.open(&self.name, mode, Duration::ZERO)?)),
        }
    }

    /// Makes a table, where the options want one and there is none, or an empty file.
    pub(super) fn create_if(&self, options: OpenOptions) -> Result<()> {
        match options.create && !options.read_only && self.is_missing()? {
            true => self.create(&new_table(options.values)?, options.timeout),
            false => Ok(()),
        }
    }

    /// Makes a table of these `bytes`. Others find all of it or nothing: it is written under another
    /// name. The lock on that file orders those who make the same table at once.
    fn create(&self, bytes: &[u8], timeout: Duration) -> Result<()> {
        let name = name_beside(&self.name, ".new");
        let made = self.directory.open(&name, StorageMode::Create, timeout.max(PATIENCE));
        let made = match made {
            Err(error) if is_refused(error.kind()) && self.is_there()? => {
                return self.create_in_place(bytes);
            }
            // It is the table that cannot be made, whatever its name is until then.
            made => made.map_err(|error| Error::new(error.kind(), error.message()))?,
        };
        // The one who had the lock before may have made it.
        if !self.is_missing()? {
            let _ = self.directory.remove(&name);
            return Ok(());
        }
        let failed = |error| Error::io("create the table", &error);
        if let Some(owner) = self.owner()? {
            owner.give(&*made).map_err(failed)?;
        }
        let written = write_all(&*made, bytes)
            .and_then(|()| self.directory.rename(&name, &self.name))
            .and_then(|()| self.directory.sync());
        written.map_err(|error| {
            let _ = self.directory.remove(&name);
            failed(error)
        })
    }

    /// Makes a table of an empty file in a directory where no file can be made.
    fn create_in_place(&self, bytes: &[u8]) -> Result<()> {
        let file = self.open(StorageMode::Write)?;
        write_in_place(&*file, bytes).map_err(|error| Error::io("create the table", &error))
    }

    /// Whether a file has the name of the table.
    fn is_there(&self) -> Result<bool> {
        let id = self.directory.id(&self.name);
        Ok(id.map_err(|error| Error::io("open", &error))?.is_some())
    }

    /// Whether there is no table: no file, or an empty one.
    fn is_missing(&self) -> Result<bool> {
        let is_empty = |file: Arc<dyn Storage>| Ok(file.len()? == 0);
        Ok(!self.is_there()?
            || is_empty(self.open(StorageMode::Follow)?).map_err(|e| Error::io("open", &e))?)
    }

    /// Who may use the empty file that the table is to replace, if there is one.
    fn owner(&self) -> Result<Option<FileOwner>> {
        if !self.is_there()? {
            return Ok(None);
        }
        let owner = self.open(StorageMode::Follow)?.file().map(FileOwner::of).transpose();
        owner.map_err(|error| Error::io("open", &error))
    }
}

/// Whether the directory, not the disk, keeps a file from being made.
pub(super) fn is_refused(error: ErrorKind) -> bool {
    const EPERM: i32 = 1;
    const EACCES: i32 = 13;
    const EROFS: i32 = 30;
    matches!(error, ErrorKind::Io(Some(EPERM | EACCES | EROFS)))
}

/// Writes a whole file, which lasts when this returns.
fn write_all(file: &dyn Storage, bytes: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.write_at(0, bytes)?;
    file.sync()
}

/// The same in a file that others may find meanwhile: until it is whole, it begins with zeros.
pub(super) fn write_in_place(file: &dyn Storage, bytes: &[u8]) -> io::Result<()> {
    let (beginning, rest) = bytes.split_at(bytes.len().min(BEGINNING_LEN));
    file.write_at(BEGINNING_LEN as u64, rest)?;
    file.sync()?;
    file.write_at(0, beginning)?;
    file.sync()
}
