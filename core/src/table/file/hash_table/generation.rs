//! A generation of a hashed table while it is written: by compacting, and by repairing.

use std::sync::Arc;

use super::extent::LogExtent;
use super::header::{HashLogHeader, LOG_END_MAX, Log};
use crate::error::{Error, Result};
use crate::files::{FrameBuffer, FrameFlags, Storage};
use crate::heap::record::HeapRecord;

/// The payload of the frames that are written: less than this and one record.
const FRAME_LEN: usize = 256 << 10;

/// A generation that is being written.
#[derive(Debug)]
pub(super) struct NextGeneration {
    log: Log,
    pub(super) extent: LogExtent,
    /// The frame to come.
    frame: FrameBuffer,
    /// Bytes that were written since they were made to last.
    unsynced: u64,
}

impl NextGeneration {
    /// Begins to write `header`'s generation to `storage`, which is empty. Errors call the file `name`.
    pub(super) fn begin(
        storage: Box<dyn Storage>,
        header: HashLogHeader,
        name: Arc<str>,
    ) -> Result<NextGeneration> {
        let header = HashLogHeader { closed_len: 0, ..header };
        storage.write_at(0, &header.to_bytes()).map_err(|error| failed(&error))?;
        let (log, extent) = (Log::new(storage, header, name), LogExtent::empty(&header));
        let mut frame = FrameBuffer::default();
        frame.begin(extent.end, log.salt);
        Ok(NextGeneration { log, extent, frame, unsynced: 0 })
    }

    /// Adds a record, and says where it is.
    pub(super) fn add(&mut self, record: &HeapRecord<'_>) -> Result<u64> {
        if self.frame.payload_len() > 0 && self.frame.payload_len_with(record) > FRAME_LEN {
            self.write_frame(false)?;
        }
        let end = self.frame.payload() + self.frame.payload_len_with(record) as u64;
        if end > LOG_END_MAX {
            return Err(Error::limit("a table file", LOG_END_MAX, end));
        }
        Ok(self.frame.put(record))
    }

    /// The record at `place`, with the bytes that it takes with its check.
    pub(super) fn record<'b>(
        &'b self,
        place: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(HeapRecord<'b>, u64)> {
        if place < self.extent.end {
            return self.log.record(place, self.extent.end, buffer);
        }
        let found = self.frame.record(place).map(|(record, bytes)| (record, bytes.len() as u64));
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
        if self.frame.payload_len() == 0 && !clears {
            return Ok(());
        }
        let flags = FrameFlags { commits: true, clears, ..FrameFlags::default() };
        let frame = self.frame.finish(flags, self.extent.next_transaction);
        let written = self.log.storage.write_at(frame.offset, self.frame.bytes());
        written.map_err(|error| failed(&error))?;
        self.extent.commit(&frame);
        self.unsynced += frame.end() - frame.offset;
        self.frame.release(2 * FRAME_LEN);
        self.frame.begin_next(frame.end());
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
        let header = HashLogHeader { closed_len: self.extent.end, ..self.log.header };
        let written = self.log.storage.write_at(0, &header.to_bytes());
        written.map_err(|error| failed(&error))?;
        self.log.header = header;
        self.sync()
    }

    /// Writes what is left, makes it last where `lasts`, and gives the log.
    pub(super) fn finish(mut self, lasts: bool) -> Result<(Log, LogExtent)> {
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
