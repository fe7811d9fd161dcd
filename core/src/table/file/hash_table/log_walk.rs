//! A walk over the records of a log, some at a time: while the processor brings the lines of the index that the first of
//! them need, the others are checked.

use std::sync::Arc;

use super::header::{Log, LogReader};
use super::segment::KeyHash;
use crate::error::{Error, Result};
use crate::files::{CHECK_LEN, LENS_LEN, LogRecord};
use crate::heap::record::HeapRecord;

/// Bytes of log that are looked at together.
const BATCH_LEN: usize = 16 << 10;

/// A record that the walk has come to.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenRecord {
    pub(super) hash: KeyHash,
    pub(super) place: u64,
    /// Its length with its check.
    pub(super) len: usize,
    key_len: usize,
    value_len: usize,
    pub(super) is_deletion: bool,
    /// Place of its frame.
    pub(super) frame: u64,
}

/// A walk over the records of a log, in their order.
#[derive(Debug)]
pub(super) struct LogWalk {
    reader: LogReader,
    pub(super) at: u64,
    frame: u64,
    frame_end: u64,
    has_cleared: bool,
}

impl LogWalk {
    /// A walk over `log` from the frame at `start` to `end`.
    pub(super) fn begin(log: Arc<Log>, start: u64, end: u64) -> LogWalk {
        let reader = LogReader::new(log, end);
        LogWalk { reader, at: start, frame: start, frame_end: start, has_cleared: false }
    }

    /// Goes on to `end`.
    pub(super) fn extend(&mut self, end: u64) {
        self.reader.extend(end);
    }

    /// Returns true if all entries were taken out before the records that were looked at last.
    pub(super) fn take_clear(&mut self) -> bool {
        std::mem::take(&mut self.has_cleared)
    }

    /// Reads a record of the last look ahead again.
    pub(super) fn record(&mut self, seen: &SeenRecord) -> Result<LogRecord<'_>> {
        let record = self.reader.record_again(seen.place, seen.len)?;
        record.ok_or_else(|| Error::internal("a record in view that is gone"))
    }

    /// The key and the value of a record of the last look ahead.
    #[inline]
    pub(super) fn entry(&mut self, seen: &SeenRecord) -> Result<(&[u8], &[u8])> {
        let bytes = self.reader.view(seen.place, seen.len)?.and_then(|bytes| {
            let (bytes, _) = bytes.get(..seen.len)?.split_last_chunk::<CHECK_LEN>()?;
            let entry = bytes.get(bytes.len().checked_sub(seen.key_len + seen.value_len)?..)?;
            entry.split_at_checked(seen.key_len)
        });
        bytes.ok_or_else(|| Error::internal("a record in view that is gone"))
    }

    /// Fills `batch` with records that are at hand together, at least one where there is one, and goes
    /// behind them. All are before or behind a moment when all entries were taken out.
    pub(super) fn look_ahead(
        &mut self,
        batch: &mut Vec<SeenRecord>,
        mut hash: impl FnMut(&[u8]) -> KeyHash,
    ) -> Result<()> {
        batch.clear();
        let end = self.reader.end();
        let bytes_end = (self.at + BATCH_LEN as u64).min(end);
        // What is read later in the batch must not displace its beginning.
        self.reader.view(self.at, bytes_end.saturating_sub(self.at) as usize)?;
        while self.at < end {
            if !batch.is_empty() && bytes_end < end && self.at + LENS_LEN > bytes_end {
                break;
            }
            if self.at == self.frame_end {
                if !self.enter_frame(batch.is_empty())? {
                    break;
                }
                continue;
            }
            if let Some((record, len)) = self.reader.record_at_hand(self.at, self.frame_end) {
                batch.push(seen(self.at, self.frame, &record, len, &mut hash));
                self.at += len;
                continue;
            }
            let len = self.reader.record_len(self.at, self.frame_end)?;
            if !batch.is_empty() && len.is_some_and(|len| self.at + len > bytes_end) {
                break;
            }
            let found = match len {
                Some(len) => self.reader.record_of_len(self.at, len as usize)?,
                None => None,
            };
            let Some((record, len)) = found else {
                return Err(self.reader.log().corrupt(self.at, "a record"));
            };
            batch.push(seen(self.at, self.frame, &record, len, &mut hash));
            self.at += len;
        }
        Ok(())
    }

    /// Goes into the next frame with records; false if it waits for the records before it to be done with.
    fn enter_frame(&mut self, is_first: bool) -> Result<bool> {
        let frame = self.reader.frame(self.at)?;
        let frame = frame.ok_or_else(|| self.reader.log().corrupt(self.at, "a frame"))?;
        if frame.flags.is_room {
            (self.at, self.frame_end) = (frame.end(), frame.end());
            // What is behind it is not at hand.
            return Ok(is_first);
        }
        if frame.flags.clears && !is_first {
            return Ok(false);
        }
        self.has_cleared |= frame.flags.clears;
        (self.frame, self.at, self.frame_end) = (frame.offset, frame.payload(), frame.end());
        Ok(true)
    }
}

#[inline(always)]
fn seen(
    place: u64,
    frame: u64,
    record: &LogRecord<'_>,
    len: u64,
    hash: &mut impl FnMut(&[u8]) -> KeyHash,
) -> SeenRecord {
    let (hash, len) = (hash(record.key()), len as usize);
    let (key_len, value_len) = match record.record {
        HeapRecord::Entry { key, value } => (key.len(), value.len()),
        HeapRecord::Deletion { key } => (key.len(), 0),
    };
    SeenRecord { hash, place, len, key_len, value_len, is_deletion: record.is_deletion(), frame }
}
