//! The thread that syncs what was committed when nobody comes by to do it: commits must not wait because the program
//! that made them has nothing else to do.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::state::TreeState;
use crate::error::Result;
use crate::threads;

/// Time that commits may wait.
const INTERVAL: Duration = Duration::from_secs(1);

/// The state of a table, between its user and the thread.
#[derive(Debug)]
pub(super) struct SharedTree {
    state: Mutex<TreeState>,
    /// Rung when commits begin to wait, and at the end.
    bell: Condvar,
}

impl SharedTree {
    pub(super) fn new(state: TreeState) -> SharedTree {
        SharedTree { state: Mutex::new(state), bell: Condvar::new() }
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

    /// Tells the thread that there is something to wait for.
    pub(super) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Syncs all commits so far. Others use the table meanwhile.
    pub(super) fn sync(&self, is_told: bool) -> Result<()> {
        let file = {
            let mut state = self.lock();
            state.has_synced();
            state.file.clone()
        };
        let synced = file.sync_newest();
        if let Err(error) = &synced {
            self.lock().fail(error, is_told);
        }
        synced
    }
}

/// Starts the thread. It ends when the state is closing.
pub(super) fn start(shared: &Arc<SharedTree>) -> io::Result<JoinHandle<()>> {
    let shared = shared.clone();
    threads::spawn("bytewright-table", move || run(&shared))
}

fn run(shared: &SharedTree) {
    let mut state = shared.lock();
    while !state.is_closing() {
        state = match state.waiting_since() {
            None => shared.bell.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(since) => match INTERVAL.saturating_sub(since.elapsed()) {
                Duration::ZERO => {
                    drop(state);
                    // The next change tells of it.
                    let _ = shared.sync(false);
                    shared.lock()
                }
                left => shared
                    .bell
                    .wait_timeout(state, left)
                    .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state),
            },
        };
    }
}
