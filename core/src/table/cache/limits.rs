//! Limits of a cache, and the eviction that keeps them: the oldest entries first, but an entry that was used since it was written
//! gets another turn for each use, up to three.
//!
//! That is CLOCK with a counter (F. J. Corbató, "A Paging Experiment with the Multics System", 1968; "GCLOCK" in later
//! texts). It keeps what is used better than exact LRU does, and needs no order that each read changes. The hand is the
//! beginning of a log, and another turn is to be written again at its end.

use super::entry::CacheEntry;
use crate::error::{Error, Result};
use crate::table::{Eviction, Table};

/// Bytes that a table of the kind has before it has an entry, with those that are given back to the disk together.
const FLOOR: u64 = 384 << 10;

/// Fewest bytes that a cache may be limited to.
pub(super) const BYTES_MIN: u64 = 1 << 20;

// Bound (Tables): log that one change of a cache goes over to evict, beside what it puts = 9 times 128 KiB.
/// Part of the limit that one step of eviction goes over, and its bounds.
const STEP_PART: u64 = 128;
const STEP_MIN: u64 = 16 << 10;
const STEP_MAX: u64 = 128 << 10;

/// Steps in which entries that were used get another turn, for one change.
const STEPS_MAX: u32 = 8;

/// Limits of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// Bytes that the file, or the memory, may take.
    pub bytes: u64,
    /// Entries.
    pub entries: u64,
}

impl Default for CacheLimits {
    /// A GiB, and any number of entries.
    fn default() -> Self {
        CacheLimits { bytes: 1 << 30, entries: u64::MAX }
    }
}

impl CacheLimits {
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for limits that no cache can keep.
    pub fn check(&self) -> Result<()> {
        if self.bytes < BYTES_MIN || self.entries == 0 {
            let message = format!(
                "expected a limit of {BYTES_MIN} bytes or more, and of one entry or more, found {} and {}",
                self.bytes, self.entries
            );
            return Err(Error::new(crate::ErrorKind::Argument, message));
        }
        Ok(())
    }

    /// Bytes that the table may use, so that the file is never longer than the limit.
    fn used_bytes_max(&self) -> u64 {
        self.bytes - FLOOR.min(self.bytes / 2)
    }

    /// Fails for an entry that has no place beside others. [`ErrorKind::Limit`](crate::ErrorKind::Limit)
    pub(super) fn check_entry(&self, len: u64) -> Result<()> {
        // Bound (Tables): a cache = its limit, of which an entry takes a quarter at most.
        let max = self.used_bytes_max() / 4;
        if len <= max { Ok(()) } else { Err(Error::limit("a cache's entry", max, len)) }
    }

    /// Evicts as much as keeps the limits when an entry of `len` bytes is put. Nothing in a transaction, whose changes may be
    /// rolled back.
    pub(super) fn make_room(&self, table: &mut dyn Table, len: u64, now: u64) -> Result<()> {
        if table.depth() > 0 {
            return Ok(());
        }
        let max = self.used_bytes_max();
        let used = table.used_bytes()?;
        if used > max / 2 {
            // Before that, nothing will be evicted soon.
            table.count_uses(max)?;
        }
        let step = (max / STEP_PART).clamp(STEP_MIN, STEP_MAX);
        for turn in 1.. {
            let over = (table.used_bytes()? + len).saturating_sub(max);
            let too_many = (table.len()? + 1).saturating_sub(self.entries);
            if over == 0 && too_many == 0 {
                return Ok(());
            }
            let stat = table.stat()?;
            // Where much of what it takes is dead, there is room for all that is alive.
            let is_sparse = stat.live_bytes + stat.index_bytes + len < max / 4 * 3;
            let mut left = if over > 0 { u64::MAX } else { too_many.max(self.entries / STEP_PART) };
            let mut keeps = |_: &[u8], value: &[u8], uses: u8| {
                let has_turn = turn <= STEPS_MAX && (uses > 0 || is_sparse && too_many == 0);
                let is_kept = CacheEntry::value_counts(value, now) && (has_turn || left == 0);
                left -= u64::from(!is_kept && left > 0);
                is_kept
            };
            let eviction = table.evict(step.max(over), &mut keeps)?;
            if eviction == Eviction::default() && turn > STEPS_MAX {
                // What is left is what was written last.
                return Ok(());
            }
        }
        Ok(())
    }
}
