//! A generation of a hashed table while it is written: by compacting, and by repairing.

use std::sync::Arc;

use super::extent::Extent;
use super::frame::{
    CHECK_LEN, FRAME_HEADER_LEN, Flags, FrameHeader, Header, LOG_END_MAX, put_record, record_at,
};
use super::log::Log;
use crate::error::{Error, Result};
use crate::files::Storage;
use crate::heap::record::Record;

/// The payload of the frames that are written: less than this and one record.
const FRAME_LEN: usize = 256 << 10;

/// A generation that is being written.
#[derive(Debug)]
pub(super) struct NextGeneration {
    log: Log,
    pub(super) extent: Extent,
    /// The frame to come.
    frame: Vec<u8>,
    /// Bytes that were written since they were made to last.
    unsynced: u64,
}

impl NextGeneration {
    /// Begins to write `header`'s generation to `storage`, which is empty. Errors call the file `name`.
    pub(super) fn begin(
        storage: Box<dyn Storage>,
        header: Header,
        name: Arc<str>,
    ) -> Result<NextGeneration> {
        let header = Header { closed_len: 0, ..header };
        storage.write_at(0, &header.to_bytes()).map_err(|error| failed(&error))?;
        let (log, extent) = (Log::new(storage, header, name), Extent::empty(&header));
        Ok(NextGeneration { log, extent, frame: vec![0; FRAME_HEADER_LEN], unsynced: 0 })
    }

    /// Adds a record, and says where it is.
    pub(super) fn add(&mut self, record: &Record<'_>) -> Result<u64> {
        let len = record.len() + CHECK_LEN;
        if self.frame.len() > FRAME_HEADER_LEN && self.frame.len() + len > FRAME_LEN {
            self.write_frame(false)?;
        }
        let end = self.extent.end + (self.frame.len() + len) as u64;
        if end > LOG_END_MAX {
            return Err(Error::limit("a table file", LOG_END_MAX, end));
        }
        Ok(put_record(&mut self.frame, self.extent.end, record, self.log.salt))
    }

    /// The record at `place`, with the bytes that it takes with its check.
    pub(super) fn record<'b>(
        &'b self,
        place: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(Record<'b>, u64)> {
        let Some(at) = place.checked_sub(self.extent.end) else {
            return self.log.record(place, self.extent.end, buffer);
        };
        let bytes = usize::try_from(at).ok().and_then(|at| self.frame.get(at..));
        let found = bytes.and_then(|bytes| record_at(bytes, self.log.salt, place));
        let found = found.map(|(record, len)| (record, len as u64));
        found.ok_or_else(|| Error::internal("a record of the next generation that is gone"))
    }

    /// Takes out all entries so far.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.write_frame(false)?;
        self.extent.clear(self.extent.end);
        self.write_frame(true)
    }

    /// Writes the frame so far; nothing where it has nothing to say.
    fn write_frame(&mut self, clears: bool) -> Result<()> {
        if self.frame.len() == FRAME_HEADER_LEN && !clears {
            return Ok(());
        }
        let offset = self.extent.end;
        let header = FrameHeader {
            flags: Flags { commits: true, clears, ..Flags::default() },
            payload_len: (self.frame.len() - FRAME_HEADER_LEN) as u32,
            transaction: self.extent.next_transaction,
        };
        self.frame[..FRAME_HEADER_LEN].copy_from_slice(&header.to_bytes(self.log.salt, offset));
        self.log.storage.write_at(offset, &self.frame).map_err(|error| failed(&error))?;
        self.extent.commit(offset, header.end(offset));
        self.unsynced += self.frame.len() as u64;
        self.frame.clear();
        self.frame.shrink_to(2 * FRAME_LEN);
        self.frame.resize(FRAME_HEADER_LEN, 0);
        Ok(())
    }

    /// Bytes that were written since they were made to last.
    pub(super) fn unsynced(&self) -> u64 {
        self.unsynced
    }

    /// Makes what was written so far last.
    pub(super) fn sync(&mut self) -> Result<()> {
        let synced = self.log.storage.sync();
        synced.map_err(|error| Error::io("sync the compacted table", &error))?;
        self.unsynced = 0;
        Ok(())
    }

    /// Makes all of it last so far. The header says how long it is.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.write_frame(false)?;
        let header = Header { closed_len: self.extent.end, ..self.log.header };
        let written = self.log.storage.write_at(0, &header.to_bytes());
        written.map_err(|error| failed(&error))?;
        self.log.header = header;
        self.sync()
    }

    /// Writes what is left, makes it last where `lasts`, and gives the log.
    pub(super) fn finish(mut self, lasts: bool) -> Result<(Log, Extent)> {
        match lasts {
            true => self.settle()?,
            false => self.write_frame(false)?,
        }
        Ok((self.log, self.extent))
    }
}

fn failed(error: &std::io::Error) -> Error {
    Error::io("write the compacted table", error)
}
