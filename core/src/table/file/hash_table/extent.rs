//! Known part of a log, and what it holds: the state of a table after a commit.

use super::header::{HashLogHeader, LOG_START, LogReader};
use crate::error::Result;
use crate::files::CommitFrame;

/// The part of a log that ends with a whole transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogExtent {
    /// End of the part.
    pub(super) end: u64,
    /// The number of the transaction that begins there.
    pub(super) next_transaction: u64,
    /// Offset of the last frame with records; 0 without one.
    pub(super) last_frame: u64,
    /// True if closing the table added that frame.
    pub(super) is_closed: bool,
    /// Beginning of its entries, where all before were deleted at once, or evicted: nothing before is alive.
    pub(super) start: u64,
    /// Entries.
    pub(super) records: u64,
    /// Bytes of their records, with checks.
    pub(super) live_bytes: u64,
    /// Entries in the log from its beginning on that were replaced or deleted. Without any, all that a scan meets is alive.
    pub(super) dead_records: u64,
}

impl LogExtent {
    /// That of a log without a frame.
    pub(super) fn empty(header: &HashLogHeader) -> LogExtent {
        LogExtent {
            end: LOG_START,
            next_transaction: header.first_transaction,
            last_frame: 0,
            is_closed: false,
            start: LOG_START,
            records: 0,
            live_bytes: 0,
            dead_records: 0,
        }
    }

    /// That of the log that `reader` reads before its first commit: behind what was trimmed off.
    pub(super) fn beginning(reader: &mut LogReader) -> Result<LogExtent> {
        let mut extent = LogExtent::empty(&reader.log().header);
        while let Some(frame) = reader.frame(extent.end)?.filter(|frame| frame.flags.is_trimmed) {
            (extent.start, extent.end) = (frame.end(), frame.end());
            extent.next_transaction = frame.number;
        }
        Ok(extent)
    }

    /// Bytes of the log beside `other_bytes`: those of the index, and those that were given back to the disk.
    pub(super) fn used_bytes(&self, other_bytes: u64) -> u64 {
        (self.end - LOG_START).saturating_sub(other_bytes)
    }

    /// Bytes that are neither of live records nor among `other_bytes`.
    pub(super) fn dead_bytes(&self, other_bytes: u64) -> u64 {
        self.used_bytes(other_bytes).saturating_sub(self.live_bytes)
    }

    /// Takes in the difference that a record makes, which replaces one of `old_len` bytes, if any, by
    /// one of `new_len`, if any.
    pub(super) fn account(&mut self, old_len: Option<u64>, new_len: Option<u64>) {
        let replaced = u64::from(old_len.is_some());
        self.records = (self.records + u64::from(new_len.is_some())).saturating_sub(replaced);
        let live = self.live_bytes + new_len.unwrap_or_default();
        self.live_bytes = live.saturating_sub(old_len.unwrap_or_default());
        self.dead_records += replaced;
    }

    /// Takes out all entries; what follows begins at `start`.
    pub(super) fn clear(&mut self, start: u64) {
        *self = LogExtent { start, records: 0, live_bytes: 0, dead_records: 0, ..*self };
    }

    /// Goes on to begin at `start`: of the entries before it, `evicted` with so many bytes were alive, and `dead` were not.
    pub(super) fn begin_at(&mut self, start: u64, evicted: (u64, u64), dead: u64) {
        self.start = start;
        self.records = self.records.saturating_sub(evicted.0);
        self.live_bytes = self.live_bytes.saturating_sub(evicted.1);
        self.dead_records = self.dead_records.saturating_sub(dead);
    }

    /// Goes on to the end of a transaction, whose last frame is `last`.
    pub(super) fn commit(&mut self, last: &CommitFrame) {
        self.next_transaction += 1;
        (self.last_frame, self.end, self.is_closed) = (last.offset, last.end(), last.flags.closes);
    }
}
