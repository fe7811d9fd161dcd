//! Gives back the space of what is gone: a new file with the entries that are alive, in the order of
//! their last write, takes the place of the old one. Until it does, the old one is as it was; a crash
//! leaves one of the two, whole. Snapshots keep the old one open.
//!
//! It is done beside the commits when half of the file is dead. Commits go on to the end of the old log,
//! where the copying meets them last. When it has reached the end, the new file gets the name. So the
//! file of a table that is overwritten is at most 2.6 times as long as its records, and a MiB and a
//! commit more.
//!
//! The new file has all that was promised to last when it gets the name. What was committed since the
//! copy was made to last may be lost with the power, as it may in the old file.

use std::sync::Arc;

use super::compactor::Compactor;
use super::copying::{Copied, LogCopy};
use super::engine::{Engine, TableAccess};
use super::extent::LogExtent;
use super::generation::NextGeneration;
use super::header::{HashLogHeader, LOG_START};
use super::log_index::Words;
use super::table_files;
use super::view::GenerationView;
use crate::error::{Error, ErrorKind, Result};
use crate::threads;

/// Dead bytes that are left alone: to make a file for less costs more than it gives back.
const FLOOR: u64 = 448 << 10;

/// Bytes that the log may grow while it is copied, at least: for a new file to last takes a while.
const GROWTH_MIN: u64 = 544 << 10;

/// A log that is closed by a thread.
const LONG: u64 = 4 << 20;

impl Engine {
    /// Writes the next generation, all at once, and goes on with it.
    pub(super) fn compact(&mut self) -> Result<()> {
        self.check_writable()?;
        if self.transaction.depth() > 0 {
            let message = "expected no open transaction while compacting, found one";
            return Err(Error::new(ErrorKind::Argument, message).in_file(&self.name));
        }
        self.abandon_compaction();
        let copying = self.begin_copying();
        let compacted = copying.and_then(|copying| self.finish_compaction(copying, true));
        compacted.map_err(|error| error.in_file(&self.name))
    }

    /// Compacts beside each commit: begins when half of the file is dead, and goes on with it.
    pub(super) fn compact_beside(&mut self) -> Result<()> {
        if self.transaction.depth() > 0 {
            return Ok(());
        }
        match &mut self.compactor {
            // All entries were taken out: what was copied is dead.
            Some(compactor) if !compactor.copies(&self.view) => {
                self.abandon_compaction();
                Ok(())
            }
            None => {
                if self.is_compaction_due() {
                    self.begin_compaction();
                }
                Ok(())
            }
            Some(compactor) => match compactor.follow(&self.extent) {
                None => Ok(()),
                Some(copying) => self.end_with(copying),
            },
        }
    }

    /// Ends a compaction that is under way when the table is closed: where the file is long by now, it
    /// is waited for.
    pub(super) fn end_compaction(&mut self) -> Result<()> {
        let is_long = self.extent.end > self.extent.live_bytes * 5 / 2 + FLOOR;
        match self.compactor.take() {
            Some(compactor) if is_long && compactor.copies(&self.view) => {
                let copying = compactor.wait(self.extent.end);
                self.end_with(copying)
            }
            compactor => {
                self.compactor = compactor;
                self.abandon_compaction();
                Ok(())
            }
        }
    }

    /// Finishes with a copy, or goes on without compacting where there is none.
    fn end_with(&mut self, copying: Result<Box<LogCopy>>) -> Result<()> {
        self.compactor = None;
        let finished = copying.and_then(|copying| {
            let lasts = self.durability.lasting_end > copying.lasting_end();
            self.finish_compaction(*copying, lasts)
        });
        match finished {
            Err(error) if matches!(self.access, TableAccess::Failed(..)) => Err(error),
            Err(_) => {
                self.put_off_compaction();
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn is_compaction_due(&self) -> bool {
        let LogExtent { end, live_bytes, .. } = self.extent;
        end > 2 * live_bytes + FLOOR && end >= self.compaction_put_off_until
    }

    /// Begins to copy; where that cannot be, it is put off.
    fn begin_compaction(&mut self) {
        let in_thread = self.view.log.storage.file().is_some();
        let growth = (self.extent.live_bytes * 3 / 5).max(GROWTH_MIN);
        match self.begin_copying() {
            Ok(copying) => {
                let view = self.view.clone();
                let compactor = Compactor::start(view, copying, &self.extent, growth, in_thread);
                self.compactor = Some(compactor);
            }
            Err(_) => self.put_off_compaction(),
        }
    }

    fn begin_copying(&self) -> Result<LogCopy> {
        self.check_named()?;
        let log = &self.view.log;
        let storage = self.files.create(&*log.storage, table_files::AccessDemand::Same)?;
        let header = HashLogHeader {
            generation: log.header.generation + 1,
            first_transaction: self.extent.next_transaction,
            ..log.header
        };
        let next = NextGeneration::begin(storage, header, self.name.clone())?;
        let words: Arc<dyn Words> = Arc::new(self.files.clone());
        LogCopy::begin(self.view.clone(), &self.extent, next, words)
    }

    /// Copies what is left, and replaces the old file with the new one. Where `lasts`, all of it
    /// is made to last before.
    fn finish_compaction(&mut self, copying: LogCopy, lasts: bool) -> Result<()> {
        let Copied { log, extent, index, words } = copying.finish(self.extent.end, lasts)?;
        self.files.replace(&self.view.log, &log)?;
        let view = Arc::new(GenerationView::new(Arc::new(log), index, words));
        let old = std::mem::replace(&mut self.view, view);
        self.retired.push(Arc::downgrade(&old));
        self.retired.retain(|view| view.strong_count() > 0);
        let_go(old, self.extent.end);
        (self.extent, self.checkpoint_end) = (extent, LOG_START);
        self.compaction_put_off_until = 0;
        self.files.discard_checkpoint(&*self.view.log.storage);
        self.durability.was_replaced(extent.end, lasts);
        match lasts {
            // What lasts now has to go on to be found.
            true => self.sync_log(),
            false => Ok(()),
        }
    }

    /// Fails where another file has the name of the table, or none: it is not ours to be replaced.
    pub(super) fn check_named(&self) -> Result<()> {
        self.files.check_named(&self.view.log)
    }

    /// Goes on without compacting, for lack of room or of rights, until the file is a quarter longer.
    fn put_off_compaction(&mut self) {
        self.compaction_put_off_until = self.extent.end + (self.extent.end / 4).max(FLOOR);
    }

    /// Gives up a compaction that is under way.
    pub(super) fn abandon_compaction(&mut self) {
        self.compactor = None;
    }
}

/// Closes a log of `len` bytes, which has no name any more: for the system to take back a long file takes
/// a while, for which nobody has to wait.
fn let_go(view: Arc<GenerationView>, len: u64) {
    if len >= LONG && view.log.storage.file().is_some() {
        // Without a thread, it is closed here.
        let _ = threads::spawn("bytewright-table", || drop(view));
    }
}
