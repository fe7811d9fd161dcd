//! State of a table between its user and the thread that syncs it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use super::compact::ShrinkingAtRest;
use super::state::TreeState;
use super::tree_file::TreeFile;
use crate::error::Result;
use crate::table::file::flusher::{FLUSH_PATIENCE, Flushed, Flusher};

/// The state of a table, between its user and the thread. The thread does not lock the state, unless a sync failed, or for a
/// moment while the table is at rest: who finds it locked takes it that another one of the program's threads uses the table.
#[derive(Debug)]
pub(super) struct SharedTree {
    file: Arc<TreeFile>,
    state: Mutex<TreeState>,
}

impl SharedTree {
    pub(super) fn new(file: Arc<TreeFile>, state: TreeState) -> SharedTree {
        SharedTree { file, state: Mutex::new(state) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, TreeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what `question` says of the state, or true if somebody has it locked.
    pub(super) fn asked(&self, question: impl FnOnce(&TreeState) -> bool) -> bool {
        match self.state.try_lock() {
            Ok(state) => question(&state),
            Err(TryLockError::Poisoned(state)) => question(&state.into_inner()),
            Err(TryLockError::WouldBlock) => true,
        }
    }

    /// Syncs all commits so far. Others use the table meanwhile. Another one that syncs is waited for up to `timeout`.
    pub(super) fn sync(&self, timeout: Duration) -> Result<()> {
        self.lock().has_synced();
        self.sync_file(timeout, true)
    }

    fn sync_file(&self, timeout: Duration, is_told: bool) -> Result<()> {
        let synced = self.file.sync_newest(timeout);
        if let Err(error) = &synced {
            self.lock().fail(error, is_told);
        }
        synced
    }

    /// Starts the thread that syncs. The next change tells of a failure.
    pub(super) fn start_flusher(self: &Arc<SharedTree>) -> io::Result<Flusher> {
        Flusher::start(self.clone())
    }
}

impl Flushed for Arc<SharedTree> {
    fn sync(&self) -> Result<()> {
        self.sync_file(FLUSH_PATIENCE, false)
    }

    /// Gives the room of free pages back to the disk, where it is much, a little at a time: others wait for the turn to write.
    fn tidy(&self) {
        let mut shrinking = ShrinkingAtRest::default();
        while let Ok(true) = self.lock().shrink_some(&mut shrinking) {}
    }
}
