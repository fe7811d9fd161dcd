//! Gives the beginning of a log back to the disk, where nothing is alive any more.
//!
//! A frame at the beginning of the log stands for all that is gone, and names the number of the next commit. The pages behind
//! its header are punched out of the file, but for those of the index. A frame is not as long as a log may get, so several
//! frames stand one behind the other, [`SPAN`] apart.
//!
//! Nothing that a reader may be at is given back: states are pinned while they are read.

use super::engine::Engine;
use super::header::{LOG_START, Log, LogReader};
use super::segment::SEGMENT_LEN;
use crate::error::Result;
use crate::files::{PAGE_LEN, punch};
use crate::table::ValueType;
use crate::table::file::options::SyncMode;

/// Bytes that are given back together, at least.
pub(super) const TRIM_LEN: u64 = 256 << 10;

/// Bytes of a frame that stands for what is gone, if others follow.
const SPAN: u64 = 1 << 31;

const PAGE: u64 = PAGE_LEN as u64;

impl Engine {
    /// Gives back what is before the beginning of the newest state, if that is enough to be worth it and nobody reads it. The
    /// caller has the turn.
    pub(super) fn trim(&mut self) -> Result<()> {
        let file = self.file()?.clone();
        let (log, state) = (&file.log, file.sharing.state());
        let (extent, trimmed_end) = (file.newest()?, state.trimmed_end().max(LOG_START));
        let is_worth_it = extent.start >= trimmed_end + TRIM_LEN;
        // Who reads another table pins nothing.
        let may_trim = log.header.values == ValueType::CACHE && log.storage.file().is_some();
        if !is_worth_it || !may_trim {
            return Ok(());
        }
        let mut states = Vec::new();
        let mut is_read = || {
            file.sharing.read_states(&mut states);
            states.iter().any(|(_, start)| *start < extent.start)
        };
        if is_read() {
            file.sharing.sweep();
            if is_read() {
                return Ok(());
            }
        }
        let mut reader = LogReader::new(log.clone(), extent.end);
        let mut kept = Vec::new();
        let mut at = trimmed_end;
        while at < extent.start {
            let Some(frame) = reader.frame(at)? else {
                // Somebody died while this was given back. No more of it is, since pages of the index may be there.
                kept.push(at..extent.start);
                break;
            };
            if frame.flags.is_room {
                let pages = frame.payload().next_multiple_of(SEGMENT_LEN)..frame.end();
                kept.extend((pages.start < pages.end).then_some(pages));
            }
            at = frame.end();
        }
        let next = reader.pass_rooms(extent.start, &mut |_| ())?;
        let number = reader.frame(next)?.map_or(extent.next_transaction, |frame| frame.number);
        let failed = |error| log.system_error("write the table", &error);
        write_trimmed(log, trimmed_end, extent.start, number).map_err(failed)?;
        if self.options.sync != SyncMode::Never {
            log.storage.sync().map_err(|error| log.system_error("sync the table", &error))?;
        }
        let mut freed_bytes = state.freed_bytes();
        // Whoever comes after a death in between looks for nothing there.
        state.set_trimmed(extent.start, freed_bytes);
        let mut from = trimmed_end;
        for pages in &kept {
            freed_bytes += log.free(from, pages.start);
            from = pages.end.next_multiple_of(PAGE);
        }
        freed_bytes += log.free(from, extent.start);
        state.set_trimmed(extent.start, freed_bytes);
        Ok(())
    }
}

/// Writes the frames that stand for the log up to `end`, of which those up to `from` are there. The last one is written first:
/// until the first one is there, the log goes on where it did.
fn write_trimmed(log: &Log, from: u64, end: u64, number: u64) -> std::io::Result<()> {
    let first = (from - LOG_START).saturating_sub(1) / SPAN;
    let last = (end - LOG_START - 1) / SPAN;
    for span in (first..=last).rev() {
        let start = LOG_START + span * SPAN;
        log.write_trimmed(start, end.min(start + SPAN), number)?;
    }
    Ok(())
}

impl Log {
    /// Gives the pages between `from` and `to` back to the disk, but for those with the header of a frame that stands for what
    /// is gone, and returns their bytes. What else is in the first of these pages is gone, too.
    pub(super) fn free(&self, from: u64, to: u64) -> u64 {
        let Some(file) = self.storage.file() else { return 0 };
        let (mut at, end) = (from / PAGE * PAGE, to / PAGE * PAGE);
        let mut freed_bytes = 0;
        while at < end {
            let header = LOG_START + (at - LOG_START).next_multiple_of(SPAN);
            let hole = at..end.min(header);
            punch(file, hole.start, hole.end);
            freed_bytes += hole.end - hole.start;
            at = if hole.end == header { header + PAGE } else { hole.end };
        }
        freed_bytes
    }
}
