//! The journal of a store: a file beside it that tells, while bytes of the store are written, what
//! they are to be. Who finds it live after a crash finishes the writing, if nobody else has written
//! since. It is void at all other times, and may be removed then.

mod check;
mod format;
mod writer;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::Durability;
use crate::error::{Error, Result};
use crate::files::{
    FileOwner, FileSystem, FoundFile, LockKind, SharedFile, SharedMode, Storage, Stranger,
};
pub(super) use format::Journal;
pub(super) use format::{Evidence, JournalHeader, cut_hash};
use format::{JournalState, STATE_AT, state};
pub(super) use writer::JournalWriter;

// Bound (Marshal): journal of a store, on disk = what a change writes, with what it overwrites where that is to survive
// the system or above 4 MiB; 16 MiB when it is void.
const KEPT_LEN: u64 = 16 << 20;

/// The file that journals of one store are written to.
#[derive(Debug, Default)]
pub(super) struct JournalFile {
    /// Path of the file, once somebody asked for it.
    path: Option<PathBuf>,
    opened: Option<OpenedJournal>,
    /// True if its name survives a power cut.
    is_named_for_good: bool,
    /// Bytes of the journal that was written last.
    len: u64,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct OpenedJournal {
    file: Box<dyn SharedFile>,
    is_writable: bool,
    /// Whose the store was when this was made for the same people, where that was us.
    made_for: Option<FileOwner>,
}

impl JournalFile {
    fn path(&mut self, system: &dyn FileSystem, store: &Path) -> io::Result<&Path> {
        let path = match self.path.take() {
            Some(path) => path,
            None => {
                let mut path: OsString = system.resolve(store)?.into();
                path.push(".journal");
                path.into()
            }
        };
        Ok(self.path.insert(path))
    }

    pub(super) fn failed(&self, action: &str, error: &io::Error) -> Error {
        let path = self.path.as_deref().unwrap_or(Path::new(""));
        Error::io(action, error).in_file(&path.to_string_lossy())
    }

    /// The journal that is live, locked against others who find it, until [`JournalFile::release`].
    pub(super) fn live(
        &mut self,
        system: &dyn FileSystem,
        store: &Path,
        like: &dyn SharedFile,
    ) -> Result<Option<Journal>> {
        let found = self.find(system, store, like).map_err(|error| self.failed("open", &error))?;
        if let Some(stranger) = found {
            return Err(self.refused(stranger));
        }
        let Some(opened) = &self.opened else { return Ok(None) };
        let read = || -> io::Result<Vec<u8>> {
            if !is_live(&*opened.file)? {
                return Ok(Vec::new());
            }
            // Readers that find it at one time would take each other's writing for a stranger's.
            while !opened.file.wait_for_lock(LockKind::Exclusive)? {}
            if is_live(&*opened.file)? { read_whole(&*opened.file) } else { Ok(Vec::new()) }
        };
        let journal =
            read().map_err(|error| self.failed("read", &error)).and_then(Journal::decode).map_err(
                |error| error.in_file(&self.path.as_deref().unwrap_or(store).to_string_lossy()),
            );
        if !matches!(journal, Ok(Some(_))) {
            self.release();
        }
        journal
    }

    /// The error of a file that may tell of a writing, and is a stranger's.
    fn refused(&self, stranger: Stranger) -> Error {
        let path = self.path.as_deref().unwrap_or(Path::new(""));
        stranger.refused("a journal").in_file(&path.to_string_lossy())
    }

    /// Opens the file if it is there and not open; the stranger that may pass for it.
    fn find(
        &mut self,
        system: &dyn FileSystem,
        store: &Path,
        like: &dyn SharedFile,
    ) -> io::Result<Option<Stranger>> {
        if let Some(opened) = &self.opened
            && opened.file.is_named()?
        {
            return Ok(None);
        }
        self.opened = None;
        let owner = like.owner()?.user;
        let path = self.path(system, store)?;
        let mut is_writable = true;
        let found = system.open_found(path, true, owner).or_else(|error| match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                is_writable = false;
                system.open_found(path, false, owner)
            }
            _ => Err(error),
        });
        match found {
            // Another file of that name stays as it is.
            Ok(FoundFile::File(file)) if state(&beginning(&*file)?).is_some() => {
                self.opened = Some(OpenedJournal { file, is_writable, made_for: None });
            }
            Ok(FoundFile::Stranger(stranger)) if !matches!(stranger, Stranger::Kind(_)) => {
                return Ok(Some(stranger));
            }
            Ok(_) => {}
            Err(error) if is_no_journal(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    /// Lets others look at the journal that was live.
    pub(super) fn release(&self) {
        if let Some(opened) = &self.opened {
            // If this fails, there is no lock that could be held.
            let _ = opened.file.unlock();
        }
    }

    /// Returns true if its state can be changed.
    pub(super) fn is_writable(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.is_writable)
    }

    /// Opens the file to write a journal to, and makes it where it is missing. Whether that is to be
    /// had, where `durability` does not need it.
    pub(super) fn prepare(
        &mut self,
        system: &dyn FileSystem,
        store: &Path,
        like: &dyn SharedFile,
        durability: Durability,
    ) -> Result<bool> {
        self.remove_of_others(system, like).map_err(|error| self.failed("open", &error))?;
        let is_ready = self.is_ready().map_err(|error| self.failed("open", &error))?;
        if !is_ready {
            match self.make(system, store, like) {
                Ok(None) => {}
                Ok(Some(Stranger::Kind(_))) if durability == Durability::Process => {
                    return Ok(false);
                }
                Ok(Some(stranger)) => return Err(self.refused(stranger)),
                Err(error) => {
                    let is_refused = is_no_journal(&error)
                        || is_refusal(&error) && !self.may_be_live(system, like);
                    return match is_refused && durability == Durability::Process {
                        true => Ok(false),
                        false => Err(self.failed("make a journal", &error)),
                    };
                }
            }
        }
        if durability == Durability::Power && !self.is_named_for_good {
            let synced = self.path(system, store).and_then(|path| system.sync_names(path));
            synced.map_err(|error| self.failed("sync the directory of", &error))?;
            self.is_named_for_good = true;
        }
        Ok(true)
    }

    /// Removes a void journal that other people may use than the store, whose mode was changed.
    fn remove_of_others(
        &mut self,
        system: &dyn FileSystem,
        like: &dyn SharedFile,
    ) -> io::Result<()> {
        let Some(opened) = &self.opened else { return Ok(()) };
        let permissions = |owner: FileOwner| FileOwner { mode: owner.mode & 0o777, ..owner };
        let wanted = permissions(like.owner()?);
        let is_right = match opened.made_for {
            Some(owner) => permissions(owner) == wanted,
            None => permissions(opened.file.owner()?) == wanted,
        };
        if !is_right {
            self.remove(system);
            self.opened = None;
        }
        Ok(())
    }

    /// Returns true if a file lies there that tells of a writing, or that cannot be read.
    fn may_be_live(&self, system: &dyn FileSystem, like: &dyn SharedFile) -> bool {
        let Some(path) = &self.path else { return true };
        let look = || -> io::Result<bool> {
            Ok(match system.open_found(path, false, like.owner()?.user)? {
                FoundFile::File(file) => is_live(&*file)?,
                FoundFile::Nothing => false,
                FoundFile::Stranger(_) => true,
            })
        };
        look().unwrap_or_else(|error| !is_no_journal(&error))
    }

    fn is_ready(&self) -> io::Result<bool> {
        match &self.opened {
            // Who closed the store last has removed it.
            Some(opened) => Ok(opened.is_writable && opened.file.is_named()?),
            None => Ok(false),
        }
    }

    /// Makes the file, or takes one that is there; the stranger that has its name.
    fn make(
        &mut self,
        system: &dyn FileSystem,
        store: &Path,
        like: &dyn SharedFile,
    ) -> io::Result<Option<Stranger>> {
        self.opened = None;
        self.is_named_for_good = false;
        let owner = like.owner()?;
        let path = self.path(system, store)?;
        let file = match system.open_found(path, true, owner.user)? {
            FoundFile::File(file) => file,
            FoundFile::Nothing => system.open(path, SharedMode::CreateLike(owner))?,
            FoundFile::Stranger(stranger) => return Ok(Some(stranger)),
        };
        if state(&beginning(&*file)?).is_none() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.opened = Some(OpenedJournal { file, is_writable: true, made_for: Some(owner) });
        Ok(None)
    }

    /// Writes a journal: a header, and what `fill` puts behind it.
    pub(super) fn write(
        &mut self,
        header: &JournalHeader,
        fill: impl FnOnce(&mut JournalWriter<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(opened) = &self.opened else { return Err(io::ErrorKind::NotFound.into()) };
        let mut writer =
            JournalWriter::new(&*opened.file, header, std::mem::take(&mut self.buffer));
        fill(&mut writer)?;
        (self.len, self.buffer) = writer.finish()?;
        Ok(())
    }

    /// The file, if it is open.
    pub(super) fn file(&self) -> Option<&dyn Storage> {
        self.opened.as_ref().map(|opened| &*opened.file as &dyn Storage)
    }

    /// Says that the writing which the journal tells of is being undone.
    pub(super) fn mark_undoing(&self) -> io::Result<()> {
        self.set_state(JournalState::Undoing)
    }

    fn set_state(&self, state: JournalState) -> io::Result<()> {
        match &self.opened {
            // One byte, which cannot be torn.
            Some(opened) => opened.file.write_at(STATE_AT as u64, &[state as u8]),
            None => Ok(()),
        }
    }

    /// Makes the journal void.
    pub(super) fn make_void(&mut self, system: &dyn FileSystem) -> Result<()> {
        if let Err(error) = self.set_state(JournalState::Void) {
            // A missing journal cannot be taken for live either.
            let removed = self.path.as_deref().map_or(Ok(()), |path| system.remove(path));
            self.opened = None;
            return removed.map_err(|_| self.failed("write", &error));
        }
        if let Some(opened) = &self.opened
            && self.len > KEPT_LEN
        {
            // It is void all the same.
            let _ = opened.file.set_len(STATE_AT as u64 + 1);
        }
        Ok(())
    }

    /// Removes the file, if it is void and the one that has the name. The store is locked, so nobody
    /// writes to it; who has it open sees that it lost its name.
    pub(super) fn remove(&self, system: &dyn FileSystem) {
        let (Some(path), Some(opened)) = (&self.path, &self.opened) else { return };
        let is_ours = || -> io::Result<bool> {
            let version = opened.file.version()?;
            let is_void = state(&beginning(&*opened.file)?) == Some(JournalState::Void);
            Ok(is_void && system.version(path)?.is_some_and(|named| named.id == version.id))
        };
        if opened.is_writable && is_ours().unwrap_or(false) {
            // If this fails, it stays, and says nothing.
            let _ = system.remove(path);
        }
    }
}

/// Returns true if the error means that there is no journal of that name, nor can be.
fn is_no_journal(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, InvalidFilename, IsADirectory, NotADirectory, NotFound};
    matches!(
        error.kind(),
        NotFound | InvalidFilename | IsADirectory | NotADirectory | AlreadyExists
    )
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// As many bytes as tell the state.
fn beginning(file: &dyn Storage) -> io::Result<Vec<u8>> {
    let len = file.len()?.min(STATE_AT as u64 + 1);
    let mut bytes = vec![0; len as usize];
    file.read_at(0, &mut bytes)?;
    Ok(bytes)
}

fn is_live(file: &dyn Storage) -> io::Result<bool> {
    Ok(matches!(state(&beginning(file)?), Some(JournalState::Live | JournalState::Undoing)))
}

/// All bytes of a file.
pub(super) fn read_whole(file: &dyn Storage) -> io::Result<Vec<u8>> {
    let len = usize::try_from(file.len()?).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(len, 0);
    file.read_at(0, &mut bytes)?;
    Ok(bytes)
}
