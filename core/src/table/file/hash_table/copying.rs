//! Copies what is alive in a log to the next generation, while commits go on to the end of the log.
//!
//! It walks over the log once. Up to where the log ended at the beginning it copies what belongs to that state, which is
//! pinned. What it meets behind may replace or delete what it has copied already.

use super::engine::{LogTurn, PATIENCE, make_last};
use super::extent::LogExtent;
use super::far_versions::FarVersions;
use super::generation::NextGeneration;
use super::hash_file::HashFile;
use super::header::HashLogHeader;
use super::log_walk::{LogWalk, SeenRecord};
use super::table_files::HashTableFiles;
use crate::error::{Error, ErrorKind, Result};
use crate::table::file::sharing::PinnedState;
use std::sync::Arc;

/// Bytes of the new file that are made to last together, so that the end has little left.
const SYNC_LEN: u64 = 16 << 20;

/// Result of a piece of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompactionStep {
    /// There is more to copy.
    Copied,
    /// All of the log is copied, and the copy lasts.
    Lasts,
}

/// A copy of what is alive, on its way.
#[derive(Debug)]
pub(super) struct LogCopy {
    file: Arc<HashFile>,
    /// State at the beginning.
    first: LogExtent,
    pin: Option<PinnedState>,
    next: Option<NextGeneration>,
    walk: LogWalk,
    /// The place of the log up to which the copy lasts.
    lasting_end: u64,
    batch: Vec<SeenRecord>,
    far: FarVersions,
    scratch: Vec<u8>,
}

impl Drop for LogCopy {
    fn drop(&mut self) {
        if let Some(pin) = self.pin.take() {
            self.file.sharing.unpin(pin);
        }
    }
}

impl LogCopy {
    /// Begins to copy the table of `files`, which is in `file`, to a new file.
    pub(super) fn begin(file: &Arc<HashFile>, files: &HashTableFiles) -> Result<LogCopy> {
        let log = &file.log;
        files.check_named(log)?;
        let storage = files.create_beside(&*log.storage)?;
        // What readers that died had pinned is needed by nobody.
        file.sharing.sweep();
        let (first, pin) = file.pin_newest()?;
        let mut copy = LogCopy {
            file: file.clone(),
            first,
            pin: Some(pin),
            next: None,
            walk: LogWalk::begin(log.clone(), first.start, first.end),
            lasting_end: 0,
            batch: Vec::new(),
            far: FarVersions::default(),
            scratch: Vec::new(),
        };
        let header = HashLogHeader {
            generation: log.header.generation + 1,
            first_transaction: first.next_transaction,
            ..log.header
        };
        copy.next = Some(NextGeneration::begin(storage, header, &log.name)?);
        Ok(copy)
    }

    /// Returns the file that is copied.
    pub(super) fn file(&self) -> &Arc<HashFile> {
        &self.file
    }

    /// Returns its place in the log.
    pub(super) fn at(&self) -> u64 {
        self.walk.at
    }

    /// The place of the log up to which the copy will survive a power cut.
    pub(super) fn lasting_end(&self) -> u64 {
        self.lasting_end
    }

    /// Returns the end of the log.
    pub(super) fn log_end(&self) -> Result<u64> {
        Ok(self.file.newest()?.end)
    }

    fn next(&mut self) -> Result<&mut NextGeneration> {
        self.next.as_mut().ok_or_else(|| Error::internal("a compaction that is gone"))
    }

    /// Goes on a little towards `end`. When it is there, it makes the copy last.
    pub(super) fn advance(&mut self, end: u64) -> Result<CompactionStep> {
        self.walk.extend(end);
        if self.walk.at < end {
            self.copy_batch()?;
            if self.next()?.unsynced() >= SYNC_LEN {
                self.next()?.sync()?;
            }
            return Ok(CompactionStep::Copied);
        }
        self.next()?.settle()?;
        self.lasting_end = end;
        Ok(CompactionStep::Lasts)
    }

    /// Copies what is left in the `turn` to write, and lets the new file, which is returned, take the place of the old one. It
    /// lasts before where `lasts`, and if more was promised to last than was copied so. Without a turn, another file has taken
    /// the place of the one that was copied.
    pub(super) fn finish(
        mut self,
        files: &HashTableFiles,
        turn: Option<LogTurn>,
        lasts: bool,
    ) -> Result<Arc<HashFile>> {
        let file = self.file.clone();
        let Some(_turn) = turn else {
            let message = "expected the table that was compacted, found that another file has taken its place";
            return Err(Error::new(ErrorKind::Lock, message));
        };
        let end = self.log_end()?;
        self.walk.extend(end);
        while self.walk.at < end {
            self.copy_batch()?;
        }
        let state = file.sharing.state();
        let lasts = lasts || state.lasting_end() > self.lasting_end;
        let next = self.next.take().ok_or_else(|| Error::internal("a compaction that is gone"))?;
        let next = next.finish(lasts)?;
        // Who dies between the name and the mark must leave nobody with the file before.
        state.set_replacing(true);
        files.replace(&file.log, &next.log).inspect_err(|_| state.set_replacing(false))?;
        next.sharing.state().set_name_unsynced(true);
        state.set_replaced();
        if lasts {
            // What lasts now has to go on to be found.
            make_last(files, &next, 0, PATIENCE)?;
        }
        Ok(next)
    }

    fn copy_batch(&mut self) -> Result<()> {
        let LogCopy { file, first, next, walk, batch, far, scratch, .. } = self;
        let next = next.as_mut().ok_or_else(|| Error::internal("a compaction that is gone"))?;
        walk.look_ahead(batch, |key| file.hash(key))?;
        let is_behind = batch.first().map_or(walk.at, |seen| seen.place) >= first.end;
        if walk.take_clear() && is_behind {
            next.clear()?;
        }
        batch.iter().for_each(|seen| file.prefetch(seen.hash));
        for seen in batch.iter() {
            let record = walk.record(seen)?;
            if seen.place >= first.end {
                next.change(&record)?;
                continue;
            }
            let key = (record.key(), seen.hash);
            if !seen.is_deletion
                && (first.dead_records == 0
                    || file.is_version(first, key, seen.place, far, scratch)?)
            {
                next.add(record.record)?;
            }
        }
        Ok(())
    }
}
