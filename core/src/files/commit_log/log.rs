//! Log by its places: a record wherever it is.

use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::frame::{CommitFrame, FRAME_HEADER_LEN, FrameFlags, Salt, record_at, record_len};
use super::reader::LENS_LEN;
use super::record::LogRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{PageMap, Storage};
use crate::heap;

/// The least and the most bytes that are read of a record before its length is known.
const GUESS_LEN: RangeInclusive<usize> = 64..=16 << 10;

/// Header of a log, which its owner understands.
pub(crate) trait LogHeader: Debug + Copy {
    /// Action that the error names when the system refuses to read the log.
    const READ: &'static str;

    /// Returns the salt of the frames.
    fn salt(&self) -> Salt;
}

/// File of frames behind a header.
#[derive(Debug)]
pub(crate) struct CommitLog<H> {
    pub(crate) storage: Box<dyn Storage>,
    pub(crate) header: H,
    pub(crate) salt: Salt,
    /// Name of the file in errors.
    pub(crate) name: Arc<str>,
    /// Length of the record that was read last: the next one may be about as long.
    last_len: AtomicUsize,
    map: Option<Arc<PageMap>>,
    /// End of the part that is read from the map: it is in the file, and does not change any more.
    mapped_end: AtomicU64,
}

impl<H: LogHeader> CommitLog<H> {
    pub(crate) fn new(storage: Box<dyn Storage>, header: H, name: Arc<str>) -> CommitLog<H> {
        let (last_len, mapped_end) = (AtomicUsize::new(0), AtomicU64::new(0));
        CommitLog { storage, header, salt: header.salt(), name, last_len, map: None, mapped_end }
    }

    /// Reads records from `map`, up to where [`CommitLog::read_mapped_to`] says.
    pub(crate) fn mapped(self, map: Arc<PageMap>) -> CommitLog<H> {
        CommitLog { map: Some(map), ..self }
    }

    /// Says that the log up to `end` is in the file and does not change any more.
    pub(crate) fn read_mapped_to(&self, end: u64) {
        self.mapped_end.fetch_max(end, Relaxed);
    }

    #[inline]
    pub(crate) fn mapped_end(&self) -> u64 {
        self.mapped_end.load(Relaxed)
    }

    /// Lets the processor bring the record at `offset`.
    #[inline]
    pub(crate) fn prefetch(&self, offset: u64) {
        let map = self.map.as_ref().filter(|_| offset < self.mapped_end());
        if let Some([first, ..]) = map.and_then(|map| map.range(offset, 1)) {
            heap::prefetch(first);
        }
    }

    /// Writes the header of a frame from `offset` to `end` that has room for an index. What is in it stays what it is.
    pub(crate) fn write_room(&self, offset: u64, end: u64, number: u64) -> std::io::Result<()> {
        let flags = FrameFlags { is_room: true, ..FrameFlags::default() };
        self.write_header(flags, offset, end, number)
    }

    /// Writes the header of a frame from `offset` to `end` that stands for the commits there, which are gone. The next one has
    /// `number`.
    pub(crate) fn write_trimmed(&self, offset: u64, end: u64, number: u64) -> std::io::Result<()> {
        let flags = FrameFlags { is_room: true, is_trimmed: true, ..FrameFlags::default() };
        self.write_header(flags, offset, end, number)
    }

    fn write_header(
        &self,
        flags: FrameFlags,
        offset: u64,
        end: u64,
        number: u64,
    ) -> std::io::Result<()> {
        let payload_len = end.saturating_sub(offset + FRAME_HEADER_LEN as u64);
        let payload_len =
            u32::try_from(payload_len).map_err(|_| std::io::ErrorKind::FileTooLarge)?;
        let frame = CommitFrame { offset, flags, payload_len, number };
        self.storage.write_at(offset, &frame.to_bytes(self.salt))
    }

    /// Makes the error of the operating system when it was to do `action`.
    pub(crate) fn system_error(&self, action: &str, error: &std::io::Error) -> Error {
        Error::io(action, error).in_file(&self.name)
    }

    /// Makes the error of bytes at `offset` that are not what was written there.
    pub(crate) fn corrupt(&self, offset: u64, expected: &str) -> Error {
        let message = format!("expected {expected}, found bytes that do not match their checksum");
        Error::new(ErrorKind::Corrupt, message).at(offset).in_file(&self.name)
    }

    pub(super) fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.storage.read_at(offset, bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                self.corrupt(offset, &format!("{} bytes of the log", bytes.len()))
            }
            _ => self.system_error(H::READ, &error),
        })
    }

    /// Reads the record at `offset` of a log that ends at `end` into `buffer`, and returns how many bytes it and its
    /// check take, too.
    pub(crate) fn record<'b>(
        &'b self,
        offset: u64,
        end: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(LogRecord<'b>, u64)> {
        match self.mapped_record(offset, end) {
            Some(record) => record,
            None => self.read_record(offset, end, buffer),
        }
    }

    /// Finds the record in the map; `None` if it is not there as one piece.
    #[inline]
    fn mapped_record(&self, offset: u64, end: u64) -> Option<Result<(LogRecord<'_>, u64)>> {
        let map = self.map.as_ref()?;
        let room = end.min(self.mapped_end()).checked_sub(offset).filter(|room| *room > 0)?;
        let lens = map.range(offset, room.min(LENS_LEN) as usize)?;
        let corrupt = || Some(Err(self.corrupt(offset, "a record")));
        let Some(len) = record_len(lens).filter(|len| *len <= room) else { return corrupt() };
        let bytes = map.range(offset, usize::try_from(len).ok()?)?;
        match record_at(bytes, self.salt, offset) {
            Some((record, len)) => Some(Ok((record, len as u64))),
            None => corrupt(),
        }
    }

    fn read_record<'b>(
        &self,
        offset: u64,
        end: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(LogRecord<'b>, u64)> {
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
