//! Log by its places: a record wherever it is.

use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::frame::{Salt, record_at, record_len};
use crate::error::{Error, ErrorKind, Result};
use crate::files::Storage;
use crate::heap::record::HeapRecord;

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
}

impl<H: LogHeader> CommitLog<H> {
    pub(crate) fn new(storage: Box<dyn Storage>, header: H, name: Arc<str>) -> CommitLog<H> {
        CommitLog { storage, header, salt: header.salt(), name, last_len: AtomicUsize::new(0) }
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
        &self,
        offset: u64,
        end: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(HeapRecord<'b>, u64)> {
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
