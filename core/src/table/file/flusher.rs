//! Thread that syncs a table a second after the first commit that waits for it: a commit must not wait for the disk because
//! the one before it was long ago, and the last one must not wait because no other follows. What can wait until nobody
//! commits it does a second after that.

use std::io;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{ErrorKind, Result};
use crate::files::ProcessMark;
use crate::threads::{self, JoinHandle};

/// Time that commits may wait.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time after a sync in which nobody commits, before the table is at rest.
const REST: Duration = Duration::from_secs(1);

/// Time that the thread waits for another process that syncs, before it waits as long as for commits.
pub(super) const FLUSH_PATIENCE: Duration = Duration::from_secs(1);

/// Table that the thread syncs.
pub(super) trait Flushed: Send + 'static {
    /// Makes what was committed last. After [`ErrorKind::Lock`] it is called again; what becomes of other errors is for the
    /// table to say.
    fn sync(&self) -> Result<()>;

    /// Does what can wait until nobody has committed for a while.
    fn tidy(&self) {}
}

/// Running thread that syncs a table. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Flusher {
    alarm: Arc<FlushAlarm>,
    thread: Option<JoinHandle<()>>,
    process: ProcessMark,
}

/// Shared by the thread and those who commit.
#[derive(Debug, Default)]
struct FlushAlarm {
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
    is_ending: bool,
}

impl Flusher {
    /// Starts the thread.
    pub(super) fn start(table: impl Flushed) -> io::Result<Flusher> {
        let alarm = Arc::new(FlushAlarm::default());
        let of_thread = alarm.clone();
        let thread = threads::spawn("bytewright-table", move || of_thread.run(&table))?;
        Ok(Flusher { alarm, thread: Some(thread), process: ProcessMark::new() })
    }

    /// Tells the thread that commits wait. A commit that finds that it was told is published before the thread looks for the
    /// newest.
    #[inline]
    pub(super) fn note_waiting(&self) {
        self.alarm.note_waiting();
    }
}

impl Drop for Flusher {
    /// Waits until the thread has ended. What waits is not synced.
    fn drop(&mut self) {
        if !self.process.is_here() {
            // The thread is the parent's, and so may be the lock.
            mem::forget(self.thread.take());
            return;
        }
        self.alarm.clock().is_ending = true;
        self.alarm.bell.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl FlushAlarm {
    fn clock(&self) -> MutexGuard<'_, FlushClock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn note_waiting(&self) {
        if !self.is_waiting.swap(true, SeqCst) {
            self.clock().waiting_since = Some(Instant::now());
            self.bell.notify_one();
        }
    }

    fn run(&self, table: &impl Flushed) {
        let mut resting_since = None;
        let mut clock = self.clock();
        while !clock.is_ending {
            let (since, patience) = match (clock.waiting_since, resting_since) {
                (Some(since), _) => (since, INTERVAL),
                (None, Some(since)) => (since, REST),
                (None, None) => {
                    clock = self.bell.wait(clock).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            };
            let left = patience.saturating_sub(since.elapsed());
            if !left.is_zero() {
                let waited = self.bell.wait_timeout(clock, left);
                clock = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let waits = clock.waiting_since.take().is_some();
            drop(clock);
            resting_since = match waits {
                true => self.sync(table).then(Instant::now),
                false => {
                    table.tidy();
                    None
                }
            };
            clock = self.clock();
        }
    }

    /// Syncs the table, and returns true if that worked.
    fn sync(&self, table: &impl Flushed) -> bool {
        self.is_waiting.store(false, SeqCst);
        let synced = table.sync();
        if synced.as_ref().is_err_and(|error| error.kind() == ErrorKind::Lock) {
            self.note_waiting();
        }
        synced.is_ok()
    }
}
