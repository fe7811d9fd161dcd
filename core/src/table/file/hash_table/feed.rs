//! Changes of a hashed table from a position on: the records of its log, or all entries where the log does not go back so far.

use std::sync::Arc;

use super::extent::LogExtent;
use super::hash_file::HashFile;
use super::header::{LOG_START, LogReader};
use super::snapshot::{HashScan, HashSnapshot};
use crate::error::{Error, ErrorKind, Result};
use crate::files::CommitFrame;
use crate::heap::record::HeapRecord;
use crate::table::{Change, ChangePosition, Changes, Scan};

/// Bytes of the check behind the last record of a frame.
const CHECK_LEN: usize = 4;

/// Changes that were committed from a position on, up to a snapshot.
pub(super) struct ChangeFeed {
    /// Keeps the part of the log that is read.
    snapshot: HashSnapshot,
    position: ChangePosition,
    left: ChangesLeft,
}

/// Changes that are left.
enum ChangesLeft {
    /// All entries, before which everything is deleted.
    Anew,
    Entries(Box<HashScan>),
    Records(LogRecords),
}

/// Records of a log one after another.
struct LogRecords {
    reader: LogReader,
    at: u64,
    frame_end: u64,
}

/// Place where the walk over a log has come to.
enum LogPlace {
    /// All entries are deleted there.
    Clear,
    /// Offset of a record, and its length with its check.
    Record(u64, usize),
}

impl ChangeFeed {
    /// The changes of the table in `snapshot`, which is not one within a transaction, behind `since`.
    /// [`ErrorKind::Argument`] for a position of another table.
    pub(super) fn begin(
        snapshot: HashSnapshot,
        since: Option<&ChangePosition>,
    ) -> Result<ChangeFeed> {
        let (file, extent) = snapshot.committed();
        let mut reader = LogReader::new(file.log.clone(), extent.end);
        let begin = match since {
            Some(since) => place_behind(file, extent, &mut reader, since)?,
            None => None,
        };
        let position = newest_position(file, extent, &mut reader)?;
        let left = match begin {
            Some(at) => ChangesLeft::Records(LogRecords { reader, at, frame_end: at }),
            None => ChangesLeft::Anew,
        };
        Ok(ChangeFeed { snapshot, position, left })
    }
}

impl Changes for ChangeFeed {
    fn advance(&mut self) -> Result<Option<Change<'_>>> {
        self.snapshot.check_process()?;
        if matches!(self.left, ChangesLeft::Anew) {
            self.left = ChangesLeft::Entries(Box::new(self.snapshot.records_from(0)));
            return Ok(Some(Change::Clear));
        }
        match &mut self.left {
            ChangesLeft::Records(records) => records.advance(),
            ChangesLeft::Entries(entries) => {
                Ok(entries.advance()?.map(|(key, value)| Change::Put { key, value }))
            }
            ChangesLeft::Anew => Err(Error::internal("changes that begin twice")),
        }
    }

    fn position(&self) -> ChangePosition {
        self.position
    }
}

impl LogRecords {
    fn advance(&mut self) -> Result<Option<Change<'_>>> {
        let (place, len) = match self.find_next()? {
            None => return Ok(None),
            Some(LogPlace::Clear) => return Ok(Some(Change::Clear)),
            Some(LogPlace::Record(place, len)) => (place, len),
        };
        let record = self.reader.record_again(place, len)?;
        let record = record.ok_or_else(|| Error::internal("a record in view that is gone"))?;
        Ok(Some(match record.record {
            HeapRecord::Entry { key, value } => Change::Put { key, value },
            HeapRecord::Deletion { key } => Change::Delete { key },
        }))
    }

    /// Goes behind the next record, or to where all entries were deleted.
    fn find_next(&mut self) -> Result<Option<LogPlace>> {
        while self.at == self.frame_end {
            if self.at >= self.reader.end() {
                return Ok(None);
            }
            let frame = self.reader.frame(self.at)?;
            let frame = frame.ok_or_else(|| self.reader.log().corrupt(self.at, "a frame"))?;
            // The record of a frame that closes is no change.
            let is_passed = frame.flags.is_room || frame.flags.closes;
            self.at = if is_passed { frame.end() } else { frame.payload() };
            self.frame_end = frame.end();
            if frame.flags.clears {
                return Ok(Some(LogPlace::Clear));
            }
        }
        let place = self.at;
        let Some((_, len)) = self.reader.record(place, self.frame_end)? else {
            return Err(self.reader.log().corrupt(place, "a record"));
        };
        self.at += len;
        Ok(Some(LogPlace::Record(place, len as usize)))
    }
}

/// Returns the place behind the frame of `since`; `None` if the log has no such frame, or to tell all entries takes less.
fn place_behind(
    file: &Arc<HashFile>,
    extent: &LogExtent,
    reader: &mut LogReader,
    since: &ChangePosition,
) -> Result<Option<u64>> {
    let [seed, generation] = file.log.header.identity();
    if since.seed != seed {
        let message = "expected a position of this table, found one of another table: take its changes without a position";
        return Err(Error::new(ErrorKind::Argument, message).in_file(&file.log.name));
    }
    if since.generation != generation {
        return Ok(None);
    }
    if since.frame == 0 {
        return Ok((extent.start == LOG_START).then_some(LOG_START));
    }
    let Some(frame) = reader.frame(since.frame)? else { return Ok(None) };
    let is_same = !frame.flags.is_room && last_check(reader, &frame)? == Some(since.check);
    // Nothing before the start is alive, so all behind it is all that there is.
    Ok((is_same && frame.end() >= extent.start).then_some(frame.end()))
}

/// Returns the position at the end of `extent`.
fn newest_position(
    file: &Arc<HashFile>,
    extent: &LogExtent,
    reader: &mut LogReader,
) -> Result<ChangePosition> {
    let [seed, generation] = file.log.header.identity();
    let none = ChangePosition { seed, generation, frame: 0, check: 0 };
    if extent.last_frame == 0 {
        return Ok(none);
    }
    let frame = reader.frame(extent.last_frame)?;
    let check = frame.map(|frame| last_check(reader, &frame)).transpose()?.flatten();
    let check = check.ok_or_else(|| file.log.corrupt(extent.last_frame, "a frame"))?;
    Ok(ChangePosition { frame: extent.last_frame, check, ..none })
}

/// Reads the last check in `frame`: that of its last record, or of its header where there is none.
fn last_check(reader: &mut LogReader, frame: &CommitFrame) -> Result<Option<u32>> {
    let bytes = reader.view(frame.end() - CHECK_LEN as u64, CHECK_LEN)?;
    Ok(bytes.and_then(|bytes| bytes.first_chunk().copied()).map(u32::from_le_bytes))
}
