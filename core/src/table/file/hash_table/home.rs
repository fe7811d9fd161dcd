//! The names of a hashed table's files, and memory for its index.
//!
//! | file | what |
//! |---|---|
//! | `x.bwh` | the log: all that the table holds |
//! | `x.bwh.idx` | an index as it was at some place of the log, never changed |
//! | `x.bwh.idx.new` | the next one, while it is written |
//! | `x.bwh.new` | the next generation, while it is written |

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::sync::Arc;

use super::log::Log;
use super::log_index::{AnonymousWords, Words};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{Directory, FileAccess, Mapping, Storage, name_beside};

/// An index of fewer words than this is in memory of the process: one MiB.
pub(super) const MAPPED_WORDS_MIN: usize = (1 << 20) / size_of::<u64>();

/// Where a table is.
#[derive(Debug, Clone)]
pub(super) struct Home {
    pub(super) directory: Arc<dyn Directory>,
    /// The name of the log.
    pub(super) name: OsString,
}

/// Whether a new file must be for the same people as the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It is not made where that cannot be.
    Same,
    /// As far as this process may.
    Similar,
}

/// Which file has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Ours,
    Another,
    Nothing,
}

impl Home {
    /// The name of the index that was kept.
    pub(super) fn checkpoint_name(&self) -> OsString {
        name_beside(&self.name, ".idx")
    }

    /// The name of the index that is being written.
    pub(super) fn next_checkpoint_name(&self) -> OsString {
        name_beside(&self.name, ".idx.new")
    }

    /// The name of the next generation.
    pub(super) fn next_name(&self) -> OsString {
        name_beside(&self.name, ".new")
    }

    /// Takes a file away that means nothing, if it is there.
    pub(super) fn discard(&self, name: &OsStr) {
        // Where it cannot be done, the next writer tries again.
        if matches!(self.directory.id(name), Ok(Some(_))) {
            let _ = self.directory.remove(name);
        }
    }

    /// Fails where another file has the name of `log`, or none: it is not ours to be replaced.
    pub(super) fn check_named(&self, log: &Log) -> Result<()> {
        let found = match self.whose(&self.name, log)? {
            Named::Ours => return Ok(()),
            Named::Another => "another file in its place",
            Named::Nothing => "no file of its name",
        };
        let message = format!("expected the table that was opened, found {found}; open it again");
        Err(Error::new(ErrorKind::Lock, message).in_file(&log.name))
    }

    /// Replaces `log` with `next`, the file of the next generation.
    pub(super) fn replace(&self, log: &Log, next: &Log) -> Result<()> {
        self.check_named(log)?;
        if self.whose(&self.next_name(), next)? != Named::Ours {
            let message =
                "expected the compacted table beside the table, found that it was removed";
            return Err(Error::new(ErrorKind::Lock, message).in_file(&log.name));
        }
        let renamed = self.directory.rename(&self.next_name(), &self.name);
        renamed.map_err(|error| log.failed("rename the compacted table", &error))
    }

    /// Takes the file of the next generation away. Where another table has the name of `log`, the file
    /// is that table's.
    pub(super) fn discard_next(&self, log: &Log) {
        if !matches!(self.whose(&self.name, log), Ok(Named::Another)) {
            self.discard(&self.next_name());
        }
    }

    fn whose(&self, name: &OsStr, log: &Log) -> Result<Named> {
        let failed = |error| log.failed("find the table", &error);
        let own = log.storage.id().map_err(failed)?;
        Ok(match self.directory.id(name).map_err(failed)? {
            None => Named::Nothing,
            named if own.is_none() || own == named => Named::Ours,
            Some(_) => Named::Another,
        })
    }

    /// A new, empty file `name` in the place of what was left behind there, for those who may use `log`.
    /// It is locked.
    pub(super) fn create(
        &self,
        name: &OsStr,
        log: &dyn Storage,
        access: Access,
    ) -> Result<Box<dyn Storage>> {
        self.discard(name);
        let failed = |action: &str, error: &io::Error| {
            Error::io(action, error).in_file(&name.to_string_lossy())
        };
        let like = log.file().map(FileAccess::of).transpose();
        let like = like.map_err(|error| failed("read the mode of the table", &error))?;
        // Nobody else may open it before it is as it should be.
        let owner = like.as_ref().map(|like| like.owner().private());
        let file = self.directory.create(name, owner).map_err(|error| failed("create", &error))?;
        let Some((like, opened)) = like.zip(file.file()) else { return Ok(file) };
        let given = like.give_to(opened).and_then(|()| Ok(opened.try_lock()?));
        match given {
            Err(error) if access == Access::Same => {
                self.discard(name);
                Err(failed("give the table's owner and mode to a new file", &error))
            }
            _ => Ok(file),
        }
    }

    fn nameless(&self) -> Option<Box<dyn Storage>> {
        self.directory.create_nameless().ok()
    }
}

impl Words for Home {
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
pub(super) struct ReaderWords(pub(super) Home);

impl Words for ReaderWords {
    fn words(&self, word_count: usize) -> Result<Mapping> {
        AnonymousWords.words(word_count)
    }

    fn file(&self) -> Option<Box<dyn Storage>> {
        self.0.nameless()
    }
}
