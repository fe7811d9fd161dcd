//! A running compaction: a thread that copies and then puts the copy in the place of the file, and how far it has to be.
//!
//! The thread has the file open for itself, as another process would. Commits wait for it only where it falls behind. Where
//! the storage is not a file of the system, or there is no thread, each commit copies a part; so tests can cut the power at
//! every call.

use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::copying::{CompactionStep, LogCopy};
use super::engine::LogTurn;
use super::extent::LogExtent;
use super::hash_file::HashFile;
use super::opening::{self, FileUse};
use super::table_files::HashTableFiles;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{StorageMode, TurnKind};
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

/// Time to wait before looking again whether the thread is there.
const PAUSE: Duration = Duration::from_millis(100);

/// Time to wait for a writer before the copy takes the place of the file.
const PATIENCE: Duration = Duration::from_secs(600);

/// A compaction that is under way.
#[derive(Debug)]
pub(super) struct Compactor {
    work: Work,
    /// Place in the log where the copy began, and the end of the log then.
    start: u64,
    first_end: u64,
    /// Bytes of growth that are allowed until the copy is complete.
    growth: u64,
    /// Bytes of growth so far.
    grown: u64,
    /// Extent of the log at the last commit, and bytes of rooms in it.
    seen: (LogExtent, u64),
}

#[derive(Debug)]
enum Work {
    InThread(Arc<SharedCompaction>),
    Here(Option<Box<LogCopy>>),
}

/// Outcome for a commit that has looked for a compaction.
#[derive(Debug)]
pub(super) enum Compacting {
    /// It goes on.
    GoesOn,
    /// The file was replaced by this one.
    Replaced(Arc<HashFile>),
    Failed,
}

/// Shared by the thread and the writer.
#[derive(Debug, Default)]
struct SharedCompaction {
    /// Place of the copy in the log.
    at: AtomicU64,
    /// Place that the copy has to reach for the waiting writer.
    awaited_at: AtomicU64,
    is_stopped: AtomicBool,
    /// True while another one has the turn to write for long, which the thread needs to end.
    awaits_turn: AtomicBool,
    is_over: AtomicBool,
    outcome: Mutex<Option<Result<Arc<HashFile>>>>,
    /// Rung by the thread when it has got on.
    bell: Condvar,
}

impl SharedCompaction {
    fn lock(&self) -> MutexGuard<'_, Option<Result<Arc<HashFile>>>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes who waits. Who is about to has the lock until it does.
    fn ring(&self) {
        drop(self.lock());
        self.bell.notify_all();
    }

    fn run(&self, files: &HashTableFiles, old: &HashFile) {
        let _end = CompactorEnd(self);
        let outcome = self.replace(files, old);
        *self.lock() = Some(outcome);
    }

    /// Copies the file of `old`, and lets the copy take its place.
    fn replace(&self, files: &HashTableFiles, old: &HashFile) -> Result<Arc<HashFile>> {
        let storage = files.directory.open(&files.name, StorageMode::Join, Duration::ZERO)?;
        let file = Arc::new(opening::open(storage, &old.log.name, FileUse::default())?);
        if file.log.header.identity() != old.log.header.identity() {
            return Err(Error::new(
                ErrorKind::Lock,
                "expected the table that is open, found another",
            ));
        }
        let _turn = file.sharing.take_turn_to(TurnKind::Replace, Duration::ZERO)?;
        let mut copy = LogCopy::begin(&file, files)?;
        let mut rounds = 0;
        loop {
            if self.is_stopped.load(Relaxed) {
                return Err(Error::internal("a compaction that was given up"));
            }
            let end = copy.log_end()?;
            match copy.advance(end)? {
                CompactionStep::Copied => {
                    // Who waits writes the one and reads the other, so that one of both sees the other.
                    self.at.store(copy.at(), SeqCst);
                    if copy.at() >= self.awaited_at.load(SeqCst) {
                        self.ring();
                    }
                }
                CompactionStep::Lasts => {
                    rounds += 1;
                    if copy.log_end()? - end <= TAIL_LEN || rounds == ROUNDS_MAX {
                        let turn = self.take_turn(files, &file)?;
                        return copy.finish(files, turn, false);
                    }
                }
            }
        }
    }
}

impl SharedCompaction {
    /// Takes the turn to write for the thread. Nobody waits for it meanwhile: whoever has the turn may be of another process,
    /// and stopped.
    fn take_turn(&self, files: &HashTableFiles, file: &Arc<HashFile>) -> Result<Option<LogTurn>> {
        let begun = Instant::now();
        let turn = loop {
            match LogTurn::take(files, file, PAUSE) {
                Err(error) if error.kind() == ErrorKind::Lock && begun.elapsed() < PATIENCE => {
                    if self.is_stopped.load(Relaxed) {
                        return Err(Error::internal("a compaction that was given up"));
                    }
                    self.awaits_turn.store(true, SeqCst);
                    self.ring();
                }
                taken => break taken?,
            }
        };
        self.awaits_turn.store(false, SeqCst);
        Ok(turn)
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
    /// Begins to compact the table of `files`, which is in `file`. While it lasts, the log is to grow by no more than
    /// `growth`.
    pub(super) fn start(
        files: &HashTableFiles,
        file: &Arc<HashFile>,
        extent: &LogExtent,
        growth: u64,
    ) -> Result<Compactor> {
        let work = match file.is_index_own {
            false => start_thread(files, file)?,
            true => Work::Here(Some(Box::new(LogCopy::begin(file, files)?))),
        };
        let seen = (*extent, file.other_bytes());
        let (start, first_end) = (extent.start, extent.end);
        Ok(Compactor { work, start, first_end, growth, grown: 0, seen })
    }

    /// Takes in that there is as much as `extent` says, and waits where the copy is behind.
    pub(super) fn follow(
        &mut self,
        files: &HashTableFiles,
        extent: &LogExtent,
        other_bytes: u64,
    ) -> Compacting {
        let (before, others_before) = self.seen;
        let written = extent.end.saturating_sub(before.end);
        let dead_before = before.dead_bytes(others_before);
        let died = extent.dead_bytes(other_bytes).saturating_sub(dead_before);
        self.seen = (*extent, other_bytes);
        self.grown = self.grown.saturating_add(written.max(died));
        let wanted_at = self.wanted_at();
        match &mut self.work {
            Work::InThread(shared) => {
                if !shared.is_over.load(Acquire) && shared.at.load(Relaxed) >= wanted_at {
                    return Compacting::GoesOn;
                }
                wait_for(shared, wanted_at.max(extent.end.min(wanted_at.saturating_add(LEAD))))
            }
            Work::Here(copy) => copy_here(copy, files, extent.end, wanted_at),
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

    /// Waits until it is over.
    pub(super) fn wait(mut self, files: &HashTableFiles) -> Compacting {
        match &mut self.work {
            Work::InThread(shared) => wait_for(shared, NOWHERE),
            Work::Here(copy) => finish_here(copy.take(), files),
        }
    }

    /// Gives it up, and waits until it is over.
    pub(super) fn stop(self) {
        if let Work::InThread(shared) = &self.work {
            shared.is_stopped.store(true, Relaxed);
            wait_for(shared, NOWHERE);
        }
    }
}

impl Drop for Compactor {
    fn drop(&mut self) {
        // In a forked child there is no thread to wait for.
        if let Work::InThread(shared) = &self.work {
            shared.is_stopped.store(true, Relaxed);
        }
    }
}

/// Starts a thread; where there can be none, the work is done here.
fn start_thread(files: &HashTableFiles, file: &Arc<HashFile>) -> Result<Work> {
    let shared = Arc::new(SharedCompaction {
        awaited_at: AtomicU64::new(NOWHERE),
        ..SharedCompaction::default()
    });
    let (of_thread, thread_files, old) = (shared.clone(), files.clone(), file.clone());
    match threads::spawn("bytewright-table", move || of_thread.run(&thread_files, &old)) {
        Ok(_) => Ok(Work::InThread(shared)),
        Err(_) => Ok(Work::Here(Some(Box::new(LogCopy::begin(file, files)?)))),
    }
}

/// Waits until the copy has got to `wanted_at`, or is over.
fn wait_for(shared: &SharedCompaction, wanted_at: u64) -> Compacting {
    let mut outcome = shared.lock();
    shared.awaited_at.store(wanted_at, SeqCst);
    // A thread that is stopped does not wait for the turn for long.
    let is_held_up = || shared.awaits_turn.load(SeqCst) && !shared.is_stopped.load(Relaxed);
    let is_there = || shared.at.load(SeqCst) >= wanted_at || is_held_up();
    while !shared.is_over.load(Acquire) && !is_there() {
        let waited = shared.bell.wait_timeout(outcome, PAUSE);
        outcome = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(outcome, _)| outcome);
    }
    shared.awaited_at.store(NOWHERE, Relaxed);
    match (shared.is_over.load(Acquire), outcome.take()) {
        (false, _) => Compacting::GoesOn,
        (true, Some(Ok(file))) => Compacting::Replaced(file),
        (true, _) => Compacting::Failed,
    }
}

/// Goes on with the copy up to `wanted_at`. When it has come to `end`, the next commit finishes it.
fn copy_here(
    copy: &mut Option<Box<LogCopy>>,
    files: &HashTableFiles,
    end: u64,
    wanted_at: u64,
) -> Compacting {
    let Some(mut own) = copy.take() else { return Compacting::Failed };
    if own.lasting_end() > 0 {
        return finish_here(Some(own), files);
    }
    while own.at() < wanted_at.min(end) || own.at() >= end {
        match own.advance(end) {
            Ok(CompactionStep::Copied) => {}
            Ok(CompactionStep::Lasts) => break,
            Err(_) => return Compacting::Failed,
        }
    }
    *copy = Some(own);
    Compacting::GoesOn
}

fn finish_here(copy: Option<Box<LogCopy>>, files: &HashTableFiles) -> Compacting {
    let Some(copy) = copy else { return Compacting::Failed };
    let turn = LogTurn::take(files, copy.file(), Duration::ZERO);
    match turn.and_then(|turn| copy.finish(files, turn, false)) {
        Ok(file) => Compacting::Replaced(file),
        Err(_) => Compacting::Failed,
    }
}
