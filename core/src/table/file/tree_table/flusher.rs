//! The thread that writes what was committed when nobody comes by to do it: changes must not wait in
//! memory because the program that made them has nothing else to do.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::state::TreeState;
use crate::threads;

/// Time that committed changes may wait.
const INTERVAL: Duration = Duration::from_secs(1);

/// The state of a table, between its user and the thread.
#[derive(Debug)]
pub(super) struct SharedTree {
    state: Mutex<TreeState>,
    /// Rung when changes begin to wait, and at the end.
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
                    state.flush_in_background();
                    state
                }
                left => shared
                    .bell
                    .wait_timeout(state, left)
                    .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state),
            },
        };
    }
}
