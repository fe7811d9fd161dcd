//! Copies what is alive in a log to the next generation, while commits go on to the end of the log.
//!
//! It walks over the log once. What it meets behind the place where the log ended at the beginning may
//! replace or delete what it has copied already. Whether a record is alive is for the table's index to
//! say, at a moment without an open transaction: a record that is displaced later has its successor
//! further on in the log.

use std::sync::Arc;

use super::extent::LogExtent;
use super::generation::NextGeneration;
use super::header::{Log, LogReader};
use super::log_index::{KeyHash, LogIndex, Words};
use super::view::GenerationView;
use crate::error::{Error, Result};
use crate::files::LENS_LEN;
use crate::heap::record::HeapRecord;
use crate::wire;

/// Bytes of log that are looked at together. While the processor brings the lines of the index that the
/// first records need, the others are checked.
const BATCH_LEN: usize = 16 << 10;

/// Records that are looked up while the index is locked: the table's own calls wait for no more.
const LOCKED_RECORDS: usize = 16;

/// Bytes of the new file that are made to last together, so that the end has little left.
const SYNC_LEN: u64 = 16 << 20;

/// Result of a piece of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompactionStep {
    /// There is more to copy.
    Copied,
    /// A transaction is open, before whose end nothing can be copied.
    Waits,
    /// All of the log is copied, and the copy lasts.
    Lasts,
}

/// A copy of what is alive, on its way.
#[derive(Debug)]
pub(super) struct LogCopy {
    view: Arc<GenerationView>,
    next: NextGeneration,
    index: LogIndex,
    words: Arc<dyn Words>,
    walk: LogWalk,
    /// End of the log at the beginning: before, no key has two entries that are copied.
    first_end: u64,
    /// The place of the log up to which the copy lasts.
    lasting_end: u64,
    batch: Vec<SeenRecord>,
    scratch: Vec<u8>,
}

/// Result of the copy.
#[derive(Debug)]
pub(super) struct Copied {
    pub(super) log: Log,
    pub(super) extent: LogExtent,
    pub(super) index: LogIndex,
    pub(super) words: Arc<dyn Words>,
}

impl LogCopy {
    /// Begins to copy `view`, whose log goes as far as `extent` says, to `next`.
    pub(super) fn begin(
        view: Arc<GenerationView>,
        extent: &LogExtent,
        next: NextGeneration,
        words: Arc<dyn Words>,
    ) -> Result<LogCopy> {
        let reader = LogReader::new(view.log.clone(), extent.end);
        Ok(LogCopy {
            next,
            index: LogIndex::with_room(extent.records, &*words)?,
            words,
            walk: LogWalk { reader, at: extent.start, frame_end: extent.start },
            first_end: extent.end,
            lasting_end: 0,
            batch: Vec::new(),
            scratch: Vec::new(),
            view,
        })
    }

    /// Returns its place in the log.
    pub(super) fn at(&self) -> u64 {
        self.walk.at
    }

    /// The place of the log up to which the copy will survive a power cut.
    pub(super) fn lasting_end(&self) -> u64 {
        self.lasting_end
    }

    /// Goes on a little towards `end`. When it is there, it makes the copy last.
    pub(super) fn advance(&mut self, end: u64) -> Result<CompactionStep> {
        self.walk.reader.extend(end);
        if self.is_behind(end) {
            let step = self.copy_batch()?;
            if self.next.unsynced() >= SYNC_LEN {
                self.next.sync()?;
            }
            return Ok(step);
        }
        self.next.settle()?;
        self.lasting_end = end;
        Ok(CompactionStep::Lasts)
    }

    /// Copies what is left up to `end`, and ends. Where `lasts`, it is made to last.
    pub(super) fn finish(mut self, end: u64, lasts: bool) -> Result<Copied> {
        self.walk.reader.extend(end);
        while self.is_behind(end) {
            if self.copy_batch()? == CompactionStep::Waits {
                return Err(Error::internal("a transaction in a table that is compacted"));
            }
        }
        let (log, extent) = self.next.finish(lasts)?;
        Ok(Copied { log, extent, index: self.index, words: self.words })
    }

    fn is_behind(&self, end: u64) -> bool {
        self.walk.at < end || !self.batch.is_empty()
    }

    /// Copies what is alive of the next records.
    fn copy_batch(&mut self) -> Result<CompactionStep> {
        let mut batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            let view = self.view.clone();
            let own = &self.index;
            self.walk.look_ahead(&mut batch, |key| {
                let hash = view.hash(key);
                own.prefetch(hash);
                hash
            })?;
        }
        let step = self.leave_out_dead(&mut batch);
        if step == CompactionStep::Copied {
            for seen in &batch {
                self.copy(seen)?;
            }
            batch.clear();
        }
        self.batch = batch;
        Ok(step)
    }

    fn leave_out_dead(&self, batch: &mut Vec<SeenRecord>) -> CompactionStep {
        let mut kept = 0;
        for from in (0..batch.len()).step_by(LOCKED_RECORDS) {
            let to = batch.len().min(from + LOCKED_RECORDS);
            let index = self.view.index_beside();
            if index.is_in_transaction {
                // Those that were found dead are dead.
                batch.drain(kept..from);
                return CompactionStep::Waits;
            }
            for number in from..to {
                let seen = batch[number];
                if seen.is_deletion || index.index.contains(seen.hash, seen.place) {
                    batch[kept] = seen;
                    kept += 1;
                }
            }
        }
        batch.truncate(kept);
        CompactionStep::Copied
    }

    fn copy(&mut self, seen: &SeenRecord) -> Result<()> {
        let bytes = self.walk.reader.view(seen.place, seen.len)?;
        let record = bytes.and_then(|bytes| HeapRecord::take(&mut wire::Reader::new(bytes)));
        let record = record.ok_or_else(|| Error::internal("a record in view that is gone"))?;
        let mut old = None;
        if seen.place >= self.first_end {
            let (next, scratch) = (&self.next, &mut self.scratch);
            self.index.find(seen.hash, |place| {
                let (found, len) = next.record(place, scratch)?;
                let is_it = found.key() == record.key();
                old = is_it.then_some((place, len)).or(old);
                Ok(is_it)
            })?;
        }
        match (seen.is_deletion, old) {
            // What was never copied needs no deletion.
            (true, None) => return Ok(()),
            (true, Some((place, _))) => {
                self.next.add(&record)?;
                self.index.remove(seen.hash, place);
            }
            (false, Some((place, _))) => {
                let new = self.next.add(&record)?;
                self.index.replace(seen.hash, place, new);
            }
            (false, None) => {
                let new = self.next.add(&record)?;
                self.index.insert(seen.hash, new, &*self.words)?;
            }
        }
        let new_len = (!seen.is_deletion).then_some(seen.len as u64);
        self.next.extent.account(old.map(|(_, len)| len), new_len);
        Ok(())
    }
}

/// A record that the walk has come to.
#[derive(Debug, Clone, Copy)]
struct SeenRecord {
    hash: KeyHash,
    place: u64,
    /// Its length with its check.
    len: usize,
    is_deletion: bool,
}

/// A walk over the records of a log, in their order.
#[derive(Debug)]
struct LogWalk {
    reader: LogReader,
    at: u64,
    frame_end: u64,
}

impl LogWalk {
    /// Fills `batch` with records that are at hand together, at least one where there is one, and goes
    /// behind them.
    fn look_ahead(
        &mut self,
        batch: &mut Vec<SeenRecord>,
        mut hash: impl FnMut(&[u8]) -> KeyHash,
    ) -> Result<()> {
        let end = self.reader.end();
        let bytes_end = (self.at + BATCH_LEN as u64).min(end);
        // What is read later in the batch must not displace its beginning.
        self.reader.view(self.at, (bytes_end - self.at) as usize)?;
        while self.at < end {
            if !batch.is_empty() && bytes_end < end && self.at + LENS_LEN > bytes_end {
                break;
            }
            if self.at == self.frame_end {
                self.enter_frame()?;
                continue;
            }
            let len = self.reader.record_len(self.at, self.frame_end)?;
            if !batch.is_empty() && len.is_some_and(|len| self.at + len > bytes_end) {
                break;
            }
            let found = self.reader.record(self.at, self.frame_end)?;
            let Some((record, len)) = found else {
                return Err(self.reader.log().corrupt(self.at, "a record"));
            };
            let is_deletion = matches!(record, HeapRecord::Deletion { .. });
            let (hash, place) = (hash(record.key()), self.at);
            batch.push(SeenRecord { hash, place, len: len as usize, is_deletion });
            self.at += len;
        }
        Ok(())
    }

    fn enter_frame(&mut self) -> Result<()> {
        let frame = self.reader.frame(self.at)?;
        let frame = frame.ok_or_else(|| self.reader.log().corrupt(self.at, "a frame"))?;
        (self.at, self.frame_end) = (frame.payload(), frame.end());
        Ok(())
    }
}
