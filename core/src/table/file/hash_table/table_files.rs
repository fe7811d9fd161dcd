//! The names of a hashed table's files, and memory for its index.
//!
//! | file | what |
//! |---|---|
//! | `x.bwh` | the log: all that the table holds |
//! | `x.bwh.idx` | an index as it was at some place of the log, never changed |
//!
//! The next index and the next generation have no name while they are written.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::sync::Arc;

use super::checkpoint::is_checkpoint;
use super::header::Log;
use super::index_name;
use super::log_index::{AnonymousWords, Words};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{Directory, Displaced, FileAccess, FoundFile, Mapping, Storage, Stranger};

/// An index of fewer words than this is in memory of the process: one MiB.
pub(super) const MAPPED_WORDS_MIN: usize = (1 << 20) / size_of::<u64>();

/// Files of a hashed table: their directory, and the name of the log.
#[derive(Debug, Clone)]
pub(super) struct HashTableFiles {
    pub(super) directory: Arc<dyn Directory>,
    /// The name of the log.
    pub(super) name: OsString,
}

/// Demand that a new file is for the same people as the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessDemand {
    /// It is not made where that cannot be.
    Same,
    /// As far as this process may.
    Similar,
}

/// File that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedFile {
    Ours,
    Another,
    Nothing,
}

impl HashTableFiles {
    /// The name of the index that was kept.
    pub(super) fn checkpoint_name(&self) -> OsString {
        index_name(&self.name)
    }

    /// The index that was kept beside `log`, unless it is a stranger's.
    pub(super) fn checkpoint(&self, log: &dyn Storage) -> FoundFile<Box<dyn Storage>> {
        // What cannot be opened is left alone, too.
        let found = self.directory.open_found(&self.checkpoint_name(), log);
        found.unwrap_or(FoundFile::Stranger(Stranger::Kind("a file that cannot be opened")))
    }

    /// Takes the index away that was kept beside `log`, which means nothing any more.
    pub(super) fn discard_checkpoint(&self, log: &dyn Storage) {
        if self.checkpoint(log).file().is_some_and(|file| is_checkpoint(&*file)) {
            // Where it cannot be done, it is not used.
            let _ = self.directory.remove(&self.checkpoint_name());
        }
    }

    /// Gives `next` the name of the index that was kept beside `log`, unless something else has it.
    pub(super) fn keep_checkpoint(&self, next: &dyn Storage, log: &dyn Storage) -> io::Result<()> {
        let displaced = match self.checkpoint(log) {
            FoundFile::Nothing => Displaced::Nothing,
            FoundFile::File(file) if is_checkpoint(&*file) => Displaced::Any,
            FoundFile::File(_) | FoundFile::Stranger(_) => return Ok(()),
        };
        self.directory.publish(next, &self.checkpoint_name(), displaced)
    }

    /// Fails where another file has the name of `log`, or none: it is not ours to be replaced.
    pub(super) fn check_named(&self, log: &Log) -> Result<()> {
        let found = match self.whose(log)? {
            NamedFile::Ours => return Ok(()),
            NamedFile::Another => "another file in its place",
            NamedFile::Nothing => "no file of its name",
        };
        let message = format!("expected the table that was opened, found {found}; open it again");
        Err(Error::new(ErrorKind::Lock, message).in_file(&log.name))
    }

    /// Replaces `log` with `next`, the file of the next generation.
    pub(super) fn replace(&self, log: &Log, next: &Log) -> Result<()> {
        self.check_named(log)?;
        let published = self.directory.publish(&*next.storage, &self.name, Displaced::Any);
        published.map_err(|error| log.system_error("rename the compacted table", &error))
    }

    fn whose(&self, log: &Log) -> Result<NamedFile> {
        let failed = |error| log.system_error("find the table", &error);
        let own = log.storage.id().map_err(failed)?;
        Ok(match self.directory.id(&self.name).map_err(failed)? {
            None => NamedFile::Nothing,
            named if own.is_none() || own == named => NamedFile::Ours,
            Some(_) => NamedFile::Another,
        })
    }

    fn failed(&self, action: &str, error: &io::Error) -> Error {
        Error::io(action, error).in_file(&self.name.to_string_lossy())
    }

    /// A new, empty file without a name, for those who may use `log`. It is locked.
    pub(super) fn create(
        &self,
        log: &dyn Storage,
        access: AccessDemand,
    ) -> Result<Box<dyn Storage>> {
        let like = log.file().map(FileAccess::of).transpose();
        let like = like.map_err(|error| self.failed("read the mode of the table", &error))?;
        // Nobody else may open it before it is as it should be.
        let owner = like.as_ref().map(|like| like.owner().private());
        let file = self.directory.create_unnamed(&self.name, owner);
        let file = file.map_err(|error| self.failed("create a file beside", &error))?;
        let Some((like, opened)) = like.zip(file.file()) else { return Ok(file) };
        let given = like.give_to(opened).and_then(|()| Ok(opened.try_lock()?));
        match given {
            Err(error) if access == AccessDemand::Same => {
                Err(self.failed("give the table's owner and mode to a new file", &error))
            }
            _ => Ok(file),
        }
    }

    fn nameless(&self) -> Option<Box<dyn Storage>> {
        self.directory.create_nameless().ok()
    }
}

impl Words for HashTableFiles {
    /// In a file where they are many; in memory of the process where they are few, or where there can
    /// be no such file: in a directory that must not be written, on a full disk. The file has no name,
    /// so that nobody can cut it while it is mapped.
    fn words(&self, word_count: usize) -> Result<Mapping> {
        let mapped = || Mapping::shared(self.nameless()?.file()?, word_count).ok();
        match (word_count >= MAPPED_WORDS_MIN).then(mapped).flatten() {
            Some(words) => Ok(words),
            None => AnonymousWords.words(word_count),
        }
    }

    fn file(&self) -> Option<Box<dyn Storage>> {
        self.nameless()
    }

    fn map(&self, file: &File, word_count: usize) -> io::Result<Mapping> {
        Mapping::shared(file, word_count)
    }
}

/// Memory for the index of a reader, whose forked children change it each for themselves.
#[derive(Debug, Clone)]
pub(super) struct ReaderWords(pub(super) HashTableFiles);

impl Words for ReaderWords {
    fn words(&self, word_count: usize) -> Result<Mapping> {
        AnonymousWords.words(word_count)
    }

    fn file(&self) -> Option<Box<dyn Storage>> {
        self.0.nameless()
    }
}
