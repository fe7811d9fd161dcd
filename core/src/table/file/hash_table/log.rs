//! The log of a hashed table: records by their place, and frame after frame.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::frame::{
    FRAME_HEADER_LEN, FrameHeader, Header, PAYLOAD_LEN_MAX, Salt, record_at, record_len,
};
use crate::error::{Error, ErrorKind, Result};
use crate::files::Storage;
use crate::heap::record::Record;

/// Bytes that are read at once where the log is read from end to end.
const CHUNK_LEN: usize = 256 << 10;

/// Bytes in which a record's lengths are sure to be, and the beginning of a frame.
pub(super) const LENS_LEN: u64 = 20;

/// The least and the most bytes that are read of a record before its length is known.
const GUESS_LEN: std::ops::RangeInclusive<usize> = 64..=16 << 10;

/// The file of one generation of a table.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) storage: Box<dyn Storage>,
    pub(super) header: Header,
    pub(super) salt: Salt,
    /// How errors call the file.
    pub(super) name: Arc<str>,
    /// The length of the record that was read last: the next one may be about as long.
    last_len: AtomicUsize,
}

impl Log {
    pub(super) fn new(storage: Box<dyn Storage>, header: Header, name: Arc<str>) -> Log {
        Log { storage, header, salt: header.salt(), name, last_len: AtomicUsize::new(0) }
    }

    /// An error of the operating system, when it was to do `action`.
    pub(super) fn failed(&self, action: &str, error: &std::io::Error) -> Error {
        Error::io(action, error).in_file(&self.name)
    }

    /// What stands at `offset` is not what was written there.
    pub(super) fn corrupt(&self, offset: u64, expected: &str) -> Error {
        let message = format!("expected {expected}, found bytes that do not match their checksum");
        Error::new(ErrorKind::Corrupt, message).at(offset).in_file(&self.name)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.storage.read_at(offset, bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                self.corrupt(offset, &format!("{} bytes of the log", bytes.len()))
            }
            _ => self.failed("read the table", &error),
        })
    }

    /// The record at `offset` of a log that ends at `end`, read into `buffer`, and the bytes that it
    /// takes with its check.
    pub(super) fn record<'b>(
        &self,
        offset: u64,
        end: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(Record<'b>, u64)> {
        let corrupt = || self.corrupt(offset, "a record");
        let room = end.saturating_sub(offset);
        let guess = self.last_len.load(Relaxed).next_multiple_of(64);
        let guess = guess.clamp(*GUESS_LEN.start(), *GUESS_LEN.end());
        let there = guess.min(usize::try_from(room).unwrap_or(usize::MAX));
        if buffer.len() < there {
            buffer.resize(there, 0);
        }
        self.read_at(offset, &mut buffer[..there])?;
        let needed = record_len(&buffer[..there]).filter(|needed| *needed <= room);
        let needed = needed.and_then(|len| usize::try_from(len).ok()).ok_or_else(corrupt)?;
        if needed > there {
            if buffer.len() < needed {
                buffer.resize(needed, 0);
            }
            self.read_at(offset + there as u64, &mut buffer[there..needed])?;
        }
        self.last_len.store(needed, Relaxed);
        let (record, len) = record_at(&buffer[..needed], self.salt, offset).ok_or_else(corrupt)?;
        Ok((record, len as u64))
    }
}

/// A log read from one place on, up to an end that is fixed.
#[derive(Debug)]
pub(super) struct LogReader {
    log: Arc<Log>,
    end: u64,
    /// Where in the log `buffer` begins.
    start: u64,
    /// Bytes read, of which the first `filled` mean something.
    buffer: Vec<u8>,
    filled: usize,
}

impl LogReader {
    pub(super) fn new(log: Arc<Log>, end: u64) -> LogReader {
        LogReader { log, end, start: 0, buffer: Vec::new(), filled: 0 }
    }

    pub(super) fn log(&self) -> &Log {
        &self.log
    }

    /// Where it ends.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Goes on to `end`: what was read stays as it is.
    pub(super) fn extend(&mut self, end: u64) {
        self.end = self.end.max(end);
    }

    /// The bytes that are at hand from `offset` on, at least `len`; `None` where the log ends before.
    pub(super) fn view(&mut self, offset: u64, len: usize) -> Result<Option<&[u8]>> {
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

    /// The beginning of the frame at `offset`, which ends within the log; `None` where there is none.
    pub(super) fn frame(&mut self, offset: u64) -> Result<Option<FrameHeader>> {
        let (salt, end) = (self.log.salt, self.end);
        let bytes = self.view(offset, FRAME_HEADER_LEN)?;
        let frame = bytes.and_then(|bytes| FrameHeader::from_bytes(bytes, salt, offset));
        Ok(frame.filter(|frame| frame.end(offset) <= end))
    }

    /// The bytes that the record at `offset` and its check take, which end before `end`; `None` where
    /// there is none. Its check is not looked at.
    pub(super) fn record_len(&mut self, offset: u64, end: u64) -> Result<Option<u64>> {
        let room = end.saturating_sub(offset);
        let lens = self.view(offset, room.min(LENS_LEN) as usize)?;
        Ok(lens.and_then(record_len).filter(|len| *len <= room))
    }

    /// The record at `offset`, which ends before `end`, and the bytes that it takes with its check;
    /// `None` where there is none or it does not match its check.
    pub(super) fn record(&mut self, offset: u64, end: u64) -> Result<Option<(Record<'_>, u64)>> {
        let len = self.record_len(offset, end)?;
        let Some(len) = len.and_then(|len| usize::try_from(len).ok()) else { return Ok(None) };
        let salt = self.log.salt;
        let Some(bytes) = self.view(offset, len)? else { return Ok(None) };
        Ok(record_at(bytes, salt, offset).map(|(record, len)| (record, len as u64)))
    }

    /// Whether every record of the frame at `offset` matches its check, and there is nothing else. On
    /// the way it shows `seen` the keys.
    pub(super) fn is_whole(
        &mut self,
        offset: u64,
        frame: &FrameHeader,
        seen: &dyn Fn(&[u8]),
    ) -> Result<bool> {
        if frame.payload_len as usize <= PAYLOAD_LEN_MAX {
            // The records are often read again at once.
            let whole = FRAME_HEADER_LEN + frame.payload_len as usize;
            if self.view(offset, whole)?.is_none() {
                return Ok(false);
            }
        }
        let (mut at, end) = (offset + FRAME_HEADER_LEN as u64, frame.end(offset));
        while at < end {
            match self.record(at, end)? {
                Some((record, len)) => {
                    seen(record.key());
                    at += len;
                }
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}
