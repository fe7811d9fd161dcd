//! Commits of a hashed table that a thread makes last.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::super::options::SyncMode;
use super::engine::{Engine, TableAccess, make_last};
use super::hash_file::HashFile;
use super::table_files::HashTableFiles;
use crate::error::{Error, ErrorKind, Result};
use crate::table::file::flusher::{FLUSH_PATIENCE, Flushed, Flusher};

/// Thread that makes commits last, and what it shares with the table.
#[derive(Debug)]
pub(super) struct LogFlusher {
    /// None once it has ended.
    thread: Option<Flusher>,
    log: Arc<FlushedLog>,
}

/// Log that the thread makes last.
#[derive(Debug)]
struct FlushedLog {
    files: HashTableFiles,
    /// The file that the table goes on with, which the thread does not keep open.
    file: Mutex<Weak<HashFile>>,
    has_failed: AtomicBool,
    failure: Mutex<Option<Error>>,
}

impl LogFlusher {
    fn start(files: &HashTableFiles, file: &Arc<HashFile>) -> io::Result<LogFlusher> {
        let log = Arc::new(FlushedLog {
            files: files.clone(),
            file: Mutex::new(Arc::downgrade(file)),
            has_failed: AtomicBool::new(false),
            failure: Mutex::default(),
        });
        let of_thread = log.clone();
        let thread = Some(Flusher::start(of_thread)?);
        Ok(LogFlusher { thread, log })
    }

    /// Goes on with another file, whose commits may wait already.
    pub(super) fn go_on_with(&self, file: &Arc<HashFile>) {
        *locked(&self.log.file) = Arc::downgrade(file);
        self.note_waiting();
    }

    #[inline]
    fn note_waiting(&self) {
        if let Some(thread) = &self.thread {
            thread.note_waiting();
        }
    }
}

impl Flushed for Arc<FlushedLog> {
    fn sync(&self) -> Result<()> {
        let Some(file) = locked(&self.file).upgrade() else { return Ok(()) };
        let newest = file.newest();
        let synced = newest.and_then(|it| make_last(&self.files, &file, it.end, FLUSH_PATIENCE));
        if let Err(error) = &synced
            && error.kind() != ErrorKind::Lock
        {
            *locked(&self.failure) = Some(error.clone());
            self.has_failed.store(true, SeqCst);
        }
        synced
    }
}

impl FlushedLog {
    fn failure(&self) -> Option<Error> {
        match self.has_failed.load(SeqCst) {
            true => locked(&self.failure).clone(),
            false => None,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// Starts the thread that makes commits last, where one can. Without it, commits do.
    pub(super) fn start_flusher(&mut self) -> Result<()> {
        let file = self.file()?;
        if self.options.sync == SyncMode::Interval && self.flusher.is_none() && !file.is_index_own {
            self.flusher = LogFlusher::start(&self.files, file).ok();
        }
        Ok(())
    }

    /// Tells the thread, if there is one, that a commit waits.
    pub(super) fn note_waiting(&self) {
        if let Some(flusher) = &self.flusher {
            flusher.note_waiting();
        }
    }

    /// Ends the thread, and fails as [`Engine::check_flusher`] does.
    pub(super) fn end_flusher(&mut self) -> Result<()> {
        if let Some(flusher) = &mut self.flusher {
            flusher.thread = None;
        }
        let checked = self.check_flusher();
        self.flusher = None;
        checked
    }

    /// Fails if the thread has failed, once: after that, nothing is written any more.
    pub(super) fn check_flusher(&mut self) -> Result<()> {
        let failure = self.flusher.as_ref().and_then(|flusher| flusher.log.failure());
        match failure.filter(|_| self.access == TableAccess::Write) {
            Some(error) => Err(self.fail(error)),
            None => Ok(()),
        }
    }
}
