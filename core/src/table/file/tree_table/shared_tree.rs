//! The thread that syncs what was committed when nobody comes by to do it: commits must not wait because the program
//! that made them has nothing else to do.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::state::TreeState;
use super::tree_file::TreeFile;
use crate::error::{ErrorKind, Result};
use crate::threads::{self, JoinHandle};

/// Time that commits may wait.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time that the thread waits for another process that syncs, before it waits as long as for commits.
const PATIENCE: Duration = Duration::from_secs(1);

/// The state of a table, between its user and the thread. The thread does not lock the state, unless a sync failed: who finds
/// it locked knows that another one of the program's threads uses the table.
#[derive(Debug)]
pub(super) struct SharedTree {
    file: Arc<TreeFile>,
    state: Mutex<TreeState>,
    /// True if commits wait to be synced.
    is_waiting: AtomicBool,
    clock: Mutex<FlushClock>,
    /// Rung when commits begin to wait, and at the end.
    bell: Condvar,
}

#[derive(Debug, Default)]
struct FlushClock {
    /// Since when commits wait.
    waiting_since: Option<Instant>,
    is_closing: bool,
}

impl SharedTree {
    pub(super) fn new(file: Arc<TreeFile>, state: TreeState) -> SharedTree {
        let (is_waiting, clock) = (AtomicBool::new(false), Mutex::default());
        SharedTree { file, state: Mutex::new(state), is_waiting, clock, bell: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, TreeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clock(&self) -> MutexGuard<'_, FlushClock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what `question` says of the state, or true if somebody has it locked.
    pub(super) fn asked(&self, question: impl FnOnce(&TreeState) -> bool) -> bool {
        match self.state.try_lock() {
            Ok(state) => question(&state),
            Err(TryLockError::Poisoned(state)) => question(&state.into_inner()),
            Err(TryLockError::WouldBlock) => true,
        }
    }

    /// Tells the thread that commits wait. A commit that finds that it was told is published before the thread looks for the
    /// newest.
    pub(super) fn note_waiting(&self) {
        if !self.is_waiting.swap(true, SeqCst) {
            self.clock().waiting_since = Some(Instant::now());
            self.bell.notify_one();
        }
    }

    /// Ends the thread.
    pub(super) fn close(&self) {
        self.clock().is_closing = true;
        self.bell.notify_one();
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
}

/// Starts the thread. It ends when the table is closing.
pub(super) fn start(shared: &Arc<SharedTree>) -> io::Result<JoinHandle<()>> {
    let shared = shared.clone();
    threads::spawn("bytewright-table", move || run(&shared))
}

fn run(shared: &SharedTree) {
    let mut clock = shared.clock();
    while !clock.is_closing {
        clock = match clock.waiting_since {
            None => shared.bell.wait(clock).unwrap_or_else(PoisonError::into_inner),
            Some(since) => match INTERVAL.saturating_sub(since.elapsed()) {
                Duration::ZERO => {
                    clock.waiting_since = None;
                    drop(clock);
                    shared.is_waiting.store(false, SeqCst);
                    match shared.sync_file(PATIENCE, false) {
                        Err(error) if error.kind() == ErrorKind::Lock => shared.note_waiting(),
                        // The next change tells of a failure.
                        _ => (),
                    }
                    shared.clock()
                }
                left => shared
                    .bell
                    .wait_timeout(clock, left)
                    .map_or_else(|poisoned| poisoned.into_inner().0, |(clock, _)| clock),
            },
        };
    }
}
