//! A file that is open, and our lock on it.

use std::io;
use std::path::{Path, PathBuf};

use super::Access;
use super::journal::JournalFile;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::{Error, Result};
use crate::files::{FileId, FileSystem, LockKind, ProcessMark, SharedFile, SharedMode};

/// Returns the error of a file that was not opened: ours if the system's carries one, or the system's.
fn not_opened(error: &io::Error) -> Error {
    let ours = error.get_ref().and_then(|carried| carried.downcast_ref::<Error>());
    ours.cloned().unwrap_or_else(|| Error::io("open", error))
}

#[derive(Debug)]
pub(super) struct OpenedStore {
    /// The path it was opened by, which may lead elsewhere by now.
    pub(super) path: PathBuf,
    pub(super) file: Box<dyn SharedFile>,
    pub(super) id: FileId,
    pub(super) is_writable: bool,
    pub(super) journal: JournalFile,
    locked: Option<LockKind>,
    /// The lock that could not be had.
    wanted: LockKind,
    /// The process that opened it.
    mark: ProcessMark,
}

impl OpenedStore {
    /// Opens the file; `None` if it is missing, and only to be read. [`ErrorKind::Format`] where it is no regular file.
    pub(super) fn open(
        system: &dyn FileSystem,
        path: &Path,
        access: Access,
    ) -> Result<Option<OpenedStore>> {
        let mode = match access {
            Access::Read => SharedMode::Read,
            Access::Write => SharedMode::Create,
        };
        let file = match system.open(path, mode) {
            Err(error) if access == Access::Read && error.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            opened => opened.map_err(|error| not_opened(&error))?,
        };
        let id = file.version().map_err(|error| not_opened(&error))?.id;
        Ok(Some(OpenedStore {
            path: path.to_owned(),
            file,
            id,
            is_writable: access == Access::Write,
            journal: JournalFile::default(),
            locked: None,
            wanted: LockKind::Shared,
            mark: ProcessMark::new(),
        }))
    }

    /// Returns true if it was opened by that path, with that access at least.
    pub(super) fn serves(&self, path: &Path, access: Access) -> bool {
        // Comparing paths by their parts would take longer.
        self.path.as_os_str() == path.as_os_str() && (self.is_writable || access == Access::Read)
    }

    /// Returns true if this process opened it.
    pub(super) fn is_here(&self) -> bool {
        self.mark.is_here()
    }

    /// Returns the name that people know it by.
    pub(super) fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Locks it, unless it is locked so.
    pub(super) fn try_lock(&mut self, kind: LockKind) -> io::Result<bool> {
        if self.locked == Some(kind) {
            return Ok(true);
        }
        self.wanted = kind;
        self.locked = None;
        if !self.file.try_lock(kind)? {
            return Ok(false);
        }
        self.locked = Some(kind);
        Ok(true)
    }

    /// Waits for the lock that another has; `false` if a signal came first.
    pub(super) fn wait(&mut self) -> io::Result<bool> {
        if !self.file.wait_for_lock(self.wanted)? {
            return Ok(false);
        }
        self.locked = Some(self.wanted);
        Ok(true)
    }

    /// Removes the journal, if nobody needs it: it is void, and the store can be locked.
    pub(super) fn remove_journal(&self, system: &dyn FileSystem) {
        let is_named =
            || system.version(&self.path).ok().flatten().is_some_and(|v| v.id == self.id);
        if self.journal.is_writable()
            && self.file.try_lock(LockKind::Exclusive).unwrap_or(false)
            && is_named()
        {
            self.journal.remove(system);
        }
    }

    pub(super) fn unlock(&mut self) {
        if self.locked.take().is_some() {
            // If this fails, there is no lock that could be held.
            let _ = self.file.unlock();
        }
    }
}
