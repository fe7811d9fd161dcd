//! Gives back the space of what is gone: a new file with the entries that are alive, in the order of
//! their last write, takes the place of the old one. Until it does, the old one is as it was; a crash
//! leaves one of the two, whole. Snapshots keep the old one open.
//!
//! It is done beside the commits when half of the file is dead, by one process at a time. Commits go on to the end of the
//! old log, where the copying meets them last. When it has reached the end, the new file gets the name, and a mark in the
//! old one tells all who use it. So the file of a table that is overwritten is at most 2.6 times as long as its records, and
//! its index, a MiB and a commit more.
//!
//! The new file has all that was promised to last when it gets the name. What was committed since the
//! copy was made to last may be lost with the power, as it may in the old file.

use std::sync::Arc;

use super::compactor::{Compacting, Compactor};
use super::copying::{CompactionStep, LogCopy};
use super::engine::{Engine, LogTurn, TURN_TRIES, replaced_again_and_again};
use super::extent::LogExtent;
use crate::error::{Error, ErrorKind, Result};
use crate::files::TurnKind;
use crate::table::ValueType;

// Bound (Tables): dead bytes in a hashed table's file = as many as are alive and 416 KiB, and while it is copied six
// tenths or 416 KiB more.
/// Dead bytes that are left alone: to make a file for less costs more than it gives back.
const FLOOR: u64 = 416 << 10;

/// Bytes that the log may grow while it is copied, at least: for a new file to last takes a while.
const GROWTH_MIN: u64 = 416 << 10;

impl Engine {
    /// Writes the next generation, all at once, and goes on with it.
    pub(super) fn compact(&mut self) -> Result<()> {
        self.check_writable()?;
        if self.depth() > 0 {
            let message = "expected no open transaction while compacting, found one";
            return Err(Error::new(ErrorKind::Argument, message).in_file(&self.name));
        }
        // Another compaction, of this process or another one, may need the turn to write before it ends.
        let kept_count = std::mem::take(&mut self.kept_turns).len();
        self.abandon_compaction();
        let compacted = self.refresh().and_then(|()| self.compact_at_once());
        let compacted = compacted.map_err(|error| error.in_file(&self.name));
        for _ in 0..kept_count {
            self.keep_turn(None)?;
        }
        compacted
    }

    fn compact_at_once(&mut self) -> Result<()> {
        let timeout = self.options.timeout;
        for _ in 0..TURN_TRIES {
            let file = self.file()?.clone();
            let turn = file.sharing.take_turn_to(TurnKind::Replace, timeout)?;
            // Who had it before has put another file in the place of this one.
            if self.is_left()? {
                drop(turn);
                self.refresh()?;
                continue;
            }
            let mut copy = LogCopy::begin(&file, &self.files)?;
            while copy.advance(copy.log_end()?)? != CompactionStep::Lasts {}
            let write_turn = LogTurn::take(&self.files, &file, timeout)?;
            let next = copy.finish(&self.files, write_turn, true)?;
            drop(turn);
            return self.go_on_with(next);
        }
        Err(replaced_again_and_again())
    }

    /// Compacts beside each commit: begins when half of the file is dead, and goes on with it.
    pub(super) fn compact_beside(&mut self) -> Result<()> {
        // The thread needs the turn at the end: whoever gives it back comes here again.
        if !self.kept_turns.is_empty() || self.depth() > 0 {
            return Ok(());
        }
        let extent = self.extent()?;
        let file = self.file()?;
        let other_bytes = file.other_bytes();
        match &mut self.compactor {
            None => {
                let used = extent.used_bytes(other_bytes);
                // What a cache has dead goes when it evicts, and needs no second file.
                let is_half_dead = used > 2 * extent.live_bytes + FLOOR;
                let is_due = is_half_dead && self.values != ValueType::CACHE || is_far(&extent);
                if is_due && extent.end >= self.compaction_put_off_until {
                    let growth = (extent.live_bytes * 3 / 5).max(GROWTH_MIN);
                    let file = self.file()?.clone();
                    match Compactor::start(&self.files, &file, &extent, growth) {
                        Ok(compactor) => self.compactor = Some(compactor),
                        Err(_) => self.put_off_compaction(extent.end),
                    }
                }
                Ok(())
            }
            Some(compactor) => {
                let outcome = compactor.follow(&self.files, &extent, other_bytes);
                self.end_with(outcome, extent.end)
            }
        }
    }

    /// Goes on with the file of a compaction that is over.
    fn end_with(&mut self, outcome: Compacting, end: u64) -> Result<()> {
        match outcome {
            Compacting::GoesOn => return Ok(()),
            Compacting::Replaced(file) => self.go_on_with(file)?,
            Compacting::Failed => self.put_off_compaction(end),
        }
        self.compactor = None;
        Ok(())
    }

    /// Goes on with the file that has taken the place of this one.
    pub(super) fn leave_replaced(&mut self) -> Result<()> {
        // It is locked by the compaction that has made it, if that is one of this process.
        if let Some(compactor) = self.compactor.take() {
            let outcome = compactor.wait(&self.files);
            self.end_with(outcome, 0)?;
        }
        match self.file()?.sharing.state().is_replaced() {
            true => self.reopen(),
            false => Ok(()),
        }
    }

    /// Ends a compaction that is under way when the table is closed: where the file is long by now, it
    /// is waited for.
    pub(super) fn end_compaction(&mut self) -> Result<()> {
        let extent = self.extent()?;
        let freed_bytes = self.file()?.sharing.state().freed_bytes();
        let is_long = extent.end - freed_bytes.min(extent.end) > extent.live_bytes * 5 / 2 + FLOOR;
        match self.compactor.take() {
            Some(compactor) if is_long => {
                let outcome = compactor.wait(&self.files);
                self.end_with(outcome, extent.end)
            }
            compactor => {
                self.compactor = compactor;
                self.abandon_compaction();
                Ok(())
            }
        }
    }

    /// Goes on without compacting, for lack of room or of rights, until the file is a quarter longer.
    fn put_off_compaction(&mut self, end: u64) {
        self.compaction_put_off_until = end + (end / 4).max(FLOOR);
    }

    /// Gives up a compaction that is under way.
    pub(super) fn abandon_compaction(&mut self) {
        if let Some(compactor) = self.compactor.take().filter(|_| self.process.is_here()) {
            compactor.stop();
        }
    }
}

/// Offset that the log of a table may get to, whatever was given back of it, beside what it has alive.
const FAR: u64 = 16 << 30;

/// Returns true if a log goes on so far behind what it has alive that others could take its length for its size.
fn is_far(extent: &LogExtent) -> bool {
    extent.end > FAR + 32 * extent.live_bytes
}

/// A log that is closed by a thread.
const LONG: u64 = 4 << 20;

/// Closes a file, which has no name any more: for the system to take back a long one takes a while, for which nobody has to
/// wait.
pub(super) fn let_go(file: Arc<super::hash_file::HashFile>) {
    let is_long = file.log.storage.len().is_ok_and(|len| len >= LONG);
    if is_long && !file.is_index_own {
        // Without a thread, it is closed here.
        let _ = crate::threads::spawn("bytewright-table", || drop(file));
    }
}
