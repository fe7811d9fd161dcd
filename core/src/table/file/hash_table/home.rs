//! The names of a hashed table's files, and memory for its index in one of them.
//!
//! | file | what |
//! |---|---|
//! | `x.bwh` | the log: all that the table holds |
//! | `x.bwh.idx` | an index as it was at some place of the log, never changed |
//! | `x.bwh.idx.new` | the index of the process that writes, mapped |
//! | `x.bwh.new` | the next generation, while it is written |

use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::time::Duration;

use super::log_index::{AnonymousWords, Words};
use crate::error::Result;
use crate::io::{Directory, Mapping, Storage, StorageMode};

/// Words before the lines of an index in a file: a page, as a mapping begins with one.
pub(super) const HEADER_WORDS: usize = 512;

/// An index of fewer words than this is in memory of the process: one MiB.
const MAPPED_WORDS_MIN: usize = (1 << 20) / size_of::<u64>();

/// Where a table is.
#[derive(Debug, Clone)]
pub(super) struct Home {
    pub(super) directory: Arc<dyn Directory>,
    /// The name of the log.
    pub(super) name: OsString,
}

impl Home {
    fn beside(&self, ending: &str) -> OsString {
        let mut name = self.name.clone();
        name.push(ending);
        name
    }

    /// The name of the index that was kept.
    pub(super) fn checkpoint_name(&self) -> OsString {
        self.beside(".idx")
    }

    /// The name of the index that changes.
    pub(super) fn working_name(&self) -> OsString {
        self.beside(".idx.new")
    }

    /// The name of the next generation.
    pub(super) fn next_name(&self) -> OsString {
        self.beside(".new")
    }

    /// Takes a file away that means nothing, if it is there.
    pub(super) fn discard(&self, name: &OsStr) {
        // Where it cannot be done, the next writer tries again.
        if matches!(self.directory.id(name), Ok(Some(_))) {
            let _ = self.directory.remove(name);
        }
    }

    /// A new, empty file. One of the name may be mapped still, and is left as it is.
    pub(super) fn create(&self, name: &OsStr) -> Result<Box<dyn Storage>> {
        self.discard(name);
        let file = self.directory.open(name, StorageMode::Create, Duration::ZERO)?;
        match file.len() {
            Ok(0) => Ok(file),
            Ok(_) => Err(crate::Error::new(
                crate::ErrorKind::Io(None),
                "cannot replace a file that was left behind",
            )
            .in_file(&name.to_string_lossy())),
            Err(error) => Err(crate::Error::io("read", &error)),
        }
    }

    fn mapped_words(&self, word_count: usize) -> Option<Mapping> {
        let file = self.create(&self.working_name()).ok()?;
        Mapping::shared(file.file()?, word_count + HEADER_WORDS).ok()
    }
}

impl Words for Home {
    /// In a file where they are many; in memory of the process where they are few, or where there can
    /// be no such file: in a directory that must not be written, on a full disk.
    fn words(&self, word_count: usize) -> Result<(Mapping, usize)> {
        let mapped = (word_count >= MAPPED_WORDS_MIN).then(|| self.mapped_words(word_count));
        match mapped.flatten() {
            Some(words) => Ok((words, HEADER_WORDS)),
            None => AnonymousWords.words(word_count),
        }
    }

    fn is_in_file(&self) -> bool {
        true
    }
}
