//! A running compaction: a thread that copies, and how far it has to be.
//!
//! The thread changes nothing but the new file. The writer of the table replaces the old file with it,
//! and waits for the thread only where it falls behind. Where the storage is not a file of the
//! system, or there is no thread, each commit copies a part; so tests can cut the power at every call.

use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::copying::{CompactionStep, LogCopy};
use super::extent::LogExtent;
use super::view::GenerationView;
use crate::error::{Error, Result};
use crate::threads;

/// Bytes of log that the copy may fall behind, so that nobody waits for a thread to begin.
const SLACK: u64 = 256 << 10;

/// Bytes that the copy is ahead when somebody has waited for it, so that not every commit waits.
const LEAD: u64 = 256 << 10;

/// Place that nobody waits for.
const NOWHERE: u64 = u64::MAX;

/// Bytes of log that are left to copy at the end, when others wait: what they may commit while the copy
/// is made to last, and a commit.
const TAIL_LEN: u64 = 2 * SLACK;

/// Rounds at most of making the copy last and looking whether the tail is short.
const ROUNDS_MAX: u32 = 8;

/// Time to wait before looking again whether a transaction is over.
const PAUSE: Duration = Duration::from_millis(100);

/// A compaction that is under way.
#[derive(Debug)]
pub(super) struct Compactor {
    /// View that is copied.
    view: Arc<GenerationView>,
    work: Work,
    /// Place in the log where the copy began, and the end of the log then.
    start: u64,
    first_end: u64,
    /// Bytes of growth that are allowed until the copy is complete.
    growth: u64,
    /// Bytes of growth so far.
    grown: u64,
    /// Extent of the log at the last commit.
    seen: LogExtent,
}

#[derive(Debug)]
enum Work {
    InThread(Arc<SharedCompaction>),
    Here(Option<Box<LogCopy>>),
}

/// Shared by the thread and the writer.
#[derive(Debug)]
struct SharedCompaction {
    /// End of the log.
    end: AtomicU64,
    /// Place of the copy in the log.
    at: AtomicU64,
    /// Place that the copy has to reach for the waiting writer.
    awaited_at: AtomicU64,
    is_stopped: AtomicBool,
    is_over: AtomicBool,
    /// True while the writer waits for the copy. No transaction is open then. Changed with the lock.
    is_awaited: AtomicBool,
    /// True while the thread waits for a transaction. Changed with the lock.
    is_paused: AtomicBool,
    outcome: Mutex<Option<Result<Box<LogCopy>>>>,
    /// Rung by the thread when it has got on, by the other when a transaction is over.
    bell: Condvar,
}

impl SharedCompaction {
    fn lock(&self) -> MutexGuard<'_, Option<Result<Box<LogCopy>>>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes who waits. Who is about to has the lock until it does.
    fn ring(&self) {
        let lock = self.lock();
        if self.is_awaited.load(Relaxed) || self.is_paused.load(Relaxed) {
            drop(lock);
            self.bell.notify_all();
        }
    }

    /// Waits until a transaction may be over.
    fn pause(&self) {
        let lock = self.lock();
        if !self.is_awaited.load(Relaxed) {
            self.is_paused.store(true, Relaxed);
            let lock = self.bell.wait_timeout(lock, PAUSE);
            let _lock = lock.unwrap_or_else(PoisonError::into_inner);
            self.is_paused.store(false, Relaxed);
        }
    }

    fn copy(&self, mut copying: Box<LogCopy>) {
        let _end = CompactorEnd(self);
        let outcome = self.copy_all(&mut copying).map(|()| copying);
        *self.lock() = Some(outcome);
    }

    fn copy_all(&self, copying: &mut LogCopy) -> Result<()> {
        let mut rounds = 0;
        while !self.is_stopped.load(Relaxed) {
            let end = self.end.load(Acquire);
            match copying.advance(end)? {
                CompactionStep::Waits => self.pause(),
                CompactionStep::Copied => {
                    // Who waits writes the one and reads the other, so that one of both sees the other.
                    self.at.store(copying.at(), SeqCst);
                    if copying.at() >= self.awaited_at.load(SeqCst) {
                        self.ring();
                    }
                }
                CompactionStep::Lasts => {
                    rounds += 1;
                    let left = self.end.load(Relaxed) - end;
                    if left <= TAIL_LEN || rounds == ROUNDS_MAX {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Says that the thread is over, in whatever way: nobody may wait for it then.
struct CompactorEnd<'a>(&'a SharedCompaction);

impl Drop for CompactorEnd<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Release);
        self.0.ring();
    }
}

impl Compactor {
    /// Begins with `copying`, of a log that goes as far as `extent` says. While it lasts, the log is to
    /// grow by no more than `growth`.
    pub(super) fn start(
        view: Arc<GenerationView>,
        copying: LogCopy,
        extent: &LogExtent,
        growth: u64,
        in_thread: bool,
    ) -> Self {
        let (start, copying) = (copying.at(), Box::new(copying));
        let work = match in_thread {
            true => start_thread(copying, extent.end),
            false => Work::Here(Some(copying)),
        };
        let first_end = extent.end;
        Compactor { view, work, start, first_end, growth, grown: 0, seen: *extent }
    }

    /// Returns true if it is `view` that is copied.
    pub(super) fn copies(&self, view: &Arc<GenerationView>) -> bool {
        Arc::ptr_eq(&self.view, view)
    }

    /// Takes in that there is as much as `extent` says. The copy, when all that is left is to finish it.
    pub(super) fn follow(&mut self, extent: &LogExtent) -> Option<Result<Box<LogCopy>>> {
        let written = extent.end.saturating_sub(self.seen.end);
        let died = extent.dead_bytes().saturating_sub(self.seen.dead_bytes());
        self.seen = *extent;
        self.grown = self.grown.saturating_add(written.max(died));
        let wanted_at = self.wanted_at();
        match &mut self.work {
            Work::InThread(shared) => {
                shared.end.store(extent.end, Release);
                if !shared.is_over.load(Acquire) && shared.at.load(Relaxed) >= wanted_at {
                    return None;
                }
                wait_for(shared, wanted_at.max(extent.end.min(wanted_at.saturating_add(LEAD))))
            }
            Work::Here(copying) => copy_here(copying, extent.end, wanted_at),
        }
    }

    /// Returns the place in the log that the copy should have reached; beyond the log if it should be complete.
    fn wanted_at(&self) -> u64 {
        if self.grown >= self.growth {
            return u64::MAX;
        }
        let part = u128::from(self.first_end - self.start) * u128::from(self.grown);
        let part = part / u128::from(self.growth);
        self.start.saturating_add(u64::try_from(part).unwrap_or(u64::MAX)).saturating_sub(SLACK)
    }

    /// Returns true if the next commit has to wait for the copy.
    pub(super) fn is_behind(&self) -> bool {
        match &self.work {
            Work::InThread(shared) => shared.at.load(Relaxed) < self.wanted_at(),
            Work::Here(_) => true,
        }
    }

    /// Tells the thread that a transaction is over.
    pub(super) fn ring(&self) {
        if let Work::InThread(shared) = &self.work {
            shared.ring();
        }
    }

    /// The copy as it is when all of the log up to `end` is in it.
    pub(super) fn wait(mut self, end: u64) -> Result<Box<LogCopy>> {
        match &mut self.work {
            Work::InThread(shared) => {
                shared.end.store(end, Release);
                wait_for(shared, u64::MAX).unwrap_or_else(|| Err(gone()))
            }
            Work::Here(copying) => copying.take().ok_or_else(gone),
        }
    }
}

impl Drop for Compactor {
    fn drop(&mut self) {
        // The thread may be waiting for a disk, and nobody has to wait for it. In a forked child there is
        // none.
        if let Work::InThread(shared) = &self.work {
            shared.is_stopped.store(true, Relaxed);
            shared.bell.notify_all();
        }
    }
}

/// Starts a thread; where there can be none, the work is done here.
fn start_thread(copying: Box<LogCopy>, end: u64) -> Work {
    let shared = Arc::new(SharedCompaction {
        end: AtomicU64::new(end),
        at: AtomicU64::new(copying.at()),
        awaited_at: AtomicU64::new(NOWHERE),
        is_stopped: AtomicBool::new(false),
        is_over: AtomicBool::new(false),
        is_awaited: AtomicBool::new(false),
        is_paused: AtomicBool::new(false),
        outcome: Mutex::new(None),
        bell: Condvar::new(),
    });
    // What a thread that cannot be started was to take is kept.
    let kept = Arc::new(Mutex::new(Some(copying)));
    let (thread_shared, thread_kept) = (shared.clone(), kept.clone());
    let run = move || {
        let copying = thread_kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(copying) = copying {
            thread_shared.copy(copying);
        }
    };
    match threads::spawn("bytewright-table", run) {
        Ok(_) => Work::InThread(shared),
        Err(_) => Work::Here(kept.lock().unwrap_or_else(PoisonError::into_inner).take()),
    }
}

/// Waits until the copy has got to `wanted_at`, or is over.
fn wait_for(shared: &SharedCompaction, wanted_at: u64) -> Option<Result<Box<LogCopy>>> {
    let mut outcome = shared.lock();
    shared.is_awaited.store(true, Relaxed);
    shared.awaited_at.store(wanted_at, SeqCst);
    shared.bell.notify_all();
    let is_there = || shared.at.load(SeqCst) >= wanted_at;
    while !shared.is_over.load(Acquire) && !is_there() {
        let waited = shared.bell.wait_timeout(outcome, PAUSE);
        outcome = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(outcome, _)| outcome);
    }
    shared.is_awaited.store(false, Relaxed);
    shared.awaited_at.store(NOWHERE, Relaxed);
    let is_over = shared.is_over.load(Acquire);
    is_over.then(|| outcome.take().unwrap_or_else(|| Err(gone())))
}

fn gone() -> Error {
    Error::internal("a compaction that is gone")
}

/// Goes on with the copy up to `wanted_at`. When it has come to `end`, the next commit finishes it.
fn copy_here(
    copying: &mut Option<Box<LogCopy>>,
    end: u64,
    wanted_at: u64,
) -> Option<Result<Box<LogCopy>>> {
    let Some(mut own) = copying.take() else { return Some(Err(gone())) };
    if own.lasting_end() > 0 {
        return Some(Ok(own));
    }
    while own.at() < wanted_at.min(end) || own.at() >= end {
        match own.advance(end) {
            Ok(CompactionStep::Copied) => {}
            Ok(CompactionStep::Waits | CompactionStep::Lasts) => break,
            Err(error) => return Some(Err(error)),
        }
    }
    *copying = Some(own);
    None
}
