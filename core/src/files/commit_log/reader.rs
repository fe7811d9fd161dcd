//! Log from one place to its end: frame by frame and record by record, whole commits only.

use std::ops::Range;
use std::sync::Arc;

use super::frame::{
    CommitFrame, FRAME_HEADER_LEN, FRAME_MAGIC, PAYLOAD_LEN_MAX, record_at, record_len,
};
use super::log::{CommitLog, LogHeader};
use super::record::LogRecord;
use crate::error::Result;
use crate::wire;

/// Bytes that are read at once.
const CHUNK_LEN: usize = 256 << 10;

/// Bytes in which a record's lengths are sure to be.
pub(crate) const LENS_LEN: u64 = 30;

/// Log that is read up to an end.
#[derive(Debug)]
pub(crate) struct LogReader<H> {
    log: Arc<CommitLog<H>>,
    end: u64,
    /// Place in the log where `buffer` begins.
    start: u64,
    /// Bytes read, of which the first `filled` mean something.
    buffer: Vec<u8>,
    filled: usize,
}

impl<H: LogHeader> LogReader<H> {
    pub(crate) fn new(log: Arc<CommitLog<H>>, end: u64) -> LogReader<H> {
        LogReader { log, end, start: 0, buffer: Vec::new(), filled: 0 }
    }

    pub(crate) fn log(&self) -> &CommitLog<H> {
        &self.log
    }

    /// Returns the end.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Goes on to `end`: what was read stays as it is.
    pub(crate) fn extend(&mut self, end: u64) {
        self.end = self.end.max(end);
    }

    /// Returns the bytes that are at hand from `offset` on, at least `len`; `None` if the log ends before.
    pub(crate) fn view(&mut self, offset: u64, len: usize) -> Result<Option<&[u8]>> {
        let rest = self.end.saturating_sub(offset);
        if (len as u64) > rest {
            return Ok(None);
        }
        let at_hand = offset.checked_sub(self.start).filter(|at| *at <= self.filled as u64);
        let mut at = at_hand.unwrap_or(self.filled as u64) as usize;
        if self.filled - at < len || at_hand.is_none() {
            self.buffer.copy_within(at..self.filled, 0);
            let kept = self.filled - at;
            let wanted = len.max(CHUNK_LEN).min(usize::try_from(rest).unwrap_or(usize::MAX));
            self.shape_buffer(wanted, kept);
            (self.start, self.filled, at) = (offset, 0, 0);
            self.log.read_at(offset + kept as u64, &mut self.buffer[kept..wanted])?;
            self.filled = wanted;
        }
        Ok(Some(&self.buffer[at..self.filled]))
    }

    /// Makes room for `wanted` bytes, of which `kept` are there, and gives back what one long record
    /// took.
    fn shape_buffer(&mut self, wanted: usize, kept: usize) {
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        } else if self.buffer.len() > 2 * PAYLOAD_LEN_MAX && kept <= wanted {
            self.buffer.truncate(wanted);
            self.buffer.shrink_to_fit();
        }
    }

    /// Returns the frame at `offset`, which ends within the log, as its header tells of it; `None` if there is none.
    pub(crate) fn frame(&mut self, offset: u64) -> Result<Option<CommitFrame>> {
        let (salt, end) = (self.log.salt, self.end);
        let bytes = self.view(offset, FRAME_HEADER_LEN)?;
        let frame = bytes.and_then(|bytes| CommitFrame::from_bytes(bytes, salt, offset));
        Ok(frame.filter(|frame| frame.end() <= end))
    }

    /// Goes from `offset` behind the frames there that are room for an index, and shows `seen` each.
    pub(crate) fn pass_rooms(
        &mut self,
        mut offset: u64,
        seen: &mut dyn FnMut(&CommitFrame),
    ) -> Result<u64> {
        while let Some(frame) = self.frame(offset)?.filter(|frame| frame.flags.is_room) {
            seen(&frame);
            offset = frame.end();
        }
        Ok(offset)
    }

    /// Returns how many bytes the record at `offset` and its check take, which end before `end`; `None` if
    /// there is none. Its check is not looked at.
    pub(crate) fn record_len(&mut self, offset: u64, end: u64) -> Result<Option<u64>> {
        let room = end.saturating_sub(offset);
        let lens = self.view(offset, room.min(LENS_LEN) as usize)?;
        Ok(lens.and_then(record_len).filter(|len| *len <= room))
    }

    /// Returns the record at `offset`, which ends before `end`, and how many bytes it and its check take;
    /// `None` if there is none or it does not match its check.
    pub(crate) fn record(&mut self, offset: u64, end: u64) -> Result<Option<(LogRecord<'_>, u64)>> {
        let len = self.record_len(offset, end)?;
        let Some(len) = len.and_then(|len| usize::try_from(len).ok()) else { return Ok(None) };
        self.record_of_len(offset, len)
    }

    /// Returns the record at `offset`, as `record` does, if all its bytes are at hand.
    #[inline]
    pub(crate) fn record_at_hand(&self, offset: u64, end: u64) -> Option<(LogRecord<'_>, u64)> {
        let at = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        let bytes = self.buffer.get(at..self.filled)?;
        let room = usize::try_from(end.checked_sub(offset)?).unwrap_or(usize::MAX);
        let bytes = bytes.get(..room).unwrap_or(bytes);
        record_at(bytes, self.log.salt, offset).map(|(record, len)| (record, len as u64))
    }

    /// Returns the record at `offset`, as `record` does, for a record and a check of `len` bytes.
    pub(crate) fn record_of_len(
        &mut self,
        offset: u64,
        len: usize,
    ) -> Result<Option<(LogRecord<'_>, u64)>> {
        let salt = self.log.salt;
        let Some(bytes) = self.view(offset, len)? else { return Ok(None) };
        Ok(record_at(bytes, salt, offset).map(|(record, len)| (record, len as u64)))
    }

    /// Returns the record at `offset` again, as `record` did: its check is not looked at.
    pub(crate) fn record_again(
        &mut self,
        offset: u64,
        len: usize,
    ) -> Result<Option<LogRecord<'_>>> {
        let bytes = self.view(offset, len)?;
        Ok(bytes.and_then(|bytes| LogRecord::take(offset, &mut wire::Reader::new(bytes))))
    }

    /// Shows `seen` every record of `frame` and its place. An error if one does not match its check.
    pub(crate) fn each_record(
        &mut self,
        frame: &CommitFrame,
        seen: impl FnMut(LogRecord<'_>, Range<u64>) -> Result<()>,
    ) -> Result<()> {
        let stop = self.walk(frame, seen)?;
        if stop == frame.end() { Ok(()) } else { Err(self.log.corrupt(stop, "a record")) }
    }

    /// Reports if every record of `frame` matches its check, and there is nothing else. On the way it shows `seen` the
    /// keys.
    pub(crate) fn is_whole(&mut self, frame: &CommitFrame, seen: &dyn Fn(&[u8])) -> Result<bool> {
        let len = frame.end() - frame.offset;
        // The records are often read again at once.
        if len <= (FRAME_HEADER_LEN + PAYLOAD_LEN_MAX) as u64
            && self.view(frame.offset, len as usize)?.is_none()
        {
            return Ok(false);
        }
        let stop = self.walk(frame, |record, _| {
            seen(record.key());
            Ok(())
        })?;
        Ok(stop == frame.end())
    }

    /// Shows `seen` the records of `frame` up to the first that does not match its check, and returns where that is, or
    /// the end.
    fn walk(
        &mut self,
        frame: &CommitFrame,
        mut seen: impl FnMut(LogRecord<'_>, Range<u64>) -> Result<()>,
    ) -> Result<u64> {
        let mut at = frame.payload();
        while at < frame.end() {
            if let Some((record, len)) = self.record_at_hand(at, frame.end()) {
                seen(record, at..at + len)?;
                at += len;
                continue;
            }
            let Some((record, len)) = self.record(at, frame.end())? else { break };
            seen(record, at..at + len)?;
            at += len;
        }
        Ok(at)
    }

    /// Fills `chain` with the frames of the commit `number` that begins at `offset`, or returns the place where a frame
    /// is missing or not whole. On the way it shows `seen` the keys.
    pub(crate) fn commit(
        &mut self,
        mut offset: u64,
        number: u64,
        chain: &mut Vec<CommitFrame>,
        seen: &dyn Fn(&[u8]),
    ) -> Result<Option<u64>> {
        chain.clear();
        loop {
            let frame = self.frame(offset)?;
            let is_next = |frame: &CommitFrame| {
                let is_first = chain.is_empty();
                !frame.flags.is_room && frame.number == number && frame.flags.continues != is_first
            };
            let Some(frame) = frame.filter(is_next) else { return Ok(Some(offset)) };
            if !self.is_whole(&frame, seen)? {
                return Ok(Some(offset));
            }
            chain.push(frame);
            if frame.flags.commits {
                return Ok(None);
            }
            offset = frame.end();
        }
    }

    /// Reports if a frame behind `offset` says that all before it had been made to last, so that what is
    /// not whole there was whole once, and lost its bytes since.
    pub(crate) fn lasted_beyond(&mut self, offset: u64) -> Result<bool> {
        let mut at = offset + 1;
        while let Some(frame) = self.next_frame(at)? {
            if frame.flags.follows_sync {
                return Ok(true);
            }
            at = frame.offset + 1;
        }
        Ok(false)
    }

    /// Finds the next header of a frame from `offset` on, whatever is between.
    pub(crate) fn next_frame(&mut self, mut offset: u64) -> Result<Option<CommitFrame>> {
        let (salt, end) = (self.log.salt, self.end);
        while let Some(bytes) = self.view(offset, FRAME_HEADER_LEN)? {
            let starts = bytes.len() - FRAME_HEADER_LEN + 1;
            for (at, _) in bytes[..starts].iter().enumerate().filter(|(_, b)| **b == FRAME_MAGIC[0])
            {
                let frame = CommitFrame::from_bytes(&bytes[at..], salt, offset + at as u64);
                if let Some(frame) = frame.filter(|frame| frame.end() <= end) {
                    return Ok(Some(frame));
                }
            }
            offset += starts as u64;
        }
        Ok(None)
    }
}
