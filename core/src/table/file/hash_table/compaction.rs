//! Gives back the space of what is gone: a new file with the entries that are alive, in the order of
//! their last write, takes the place of the old one. Until it does, the old one is as it was; a crash
//! leaves one of the two, whole. Snapshots keep the old one open.

use std::sync::Arc;

use super::engine::Engine;
use super::extent::Extent;
use super::frame::{
    CHECK_LEN, FRAME_HEADER_LEN, Flags, FrameHeader, Header, LOG_END_MAX, put_record,
};
use super::log::Log;
use super::log_index::{LogIndex, Words};
use super::view::View;
use crate::error::{Error, ErrorKind, Result};
use crate::heap::record::Record;
use crate::io::Storage;
use crate::table::Scan;

/// The payload of the frames that are written: less than this and one record.
const FRAME_LEN: usize = 256 << 10;

/// A generation that is being written.
pub(super) struct NextGeneration {
    storage: Box<dyn Storage>,
    header: Header,
    pub(super) extent: Extent,
    frame: Vec<u8>,
}

impl NextGeneration {
    /// Begins to write `header`'s generation to `storage`, which is empty.
    pub(super) fn begin(storage: Box<dyn Storage>, header: Header) -> Result<NextGeneration> {
        storage.write_at(0, &header.to_bytes()).map_err(|error| failed(&error))?;
        let extent = Extent::empty(&header);
        Ok(NextGeneration { storage, header, extent, frame: vec![0; FRAME_HEADER_LEN] })
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
        Ok(put_record(&mut self.frame, self.extent.end, record, self.header.salt()))
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
        self.frame[..FRAME_HEADER_LEN]
            .copy_from_slice(&header.to_bytes(self.header.salt(), offset));
        self.storage.write_at(offset, &self.frame).map_err(|error| failed(&error))?;
        self.extent.commit(offset, header.end(offset));
        self.frame.truncate(FRAME_HEADER_LEN);
        Ok(())
    }

    /// Makes it last, and gives its log, which errors call `name`.
    pub(super) fn finish(mut self, name: Arc<str>) -> Result<(Log, Extent)> {
        self.write_frame(false)?;
        self.storage.sync().map_err(|error| Error::io("sync the compacted table", &error))?;
        Ok((Log::new(self.storage, self.header, name), self.extent))
    }
}

fn failed(error: &std::io::Error) -> Error {
    Error::io("write the compacted table", error)
}

impl Engine {
    /// Writes the next generation, and goes on with it.
    pub(super) fn compact(&mut self) -> Result<()> {
        self.check_writable()?;
        if self.transaction.depth() > 0 {
            let message = "expected no open transaction while compacting, found one";
            return Err(Error::new(ErrorKind::Argument, message).in_file(&self.name));
        }
        let next = self.home.next_name();
        let (log, extent, index) = self.write_next().map_err(|error| {
            self.home.discard(&next);
            error.in_file(&self.name)
        })?;
        if let Err(error) = self.home.directory.rename(&next, &self.home.name) {
            self.home.discard(&next);
            return Err(self.view.log.failed("put the compacted table in place", &error));
        }
        let view = Arc::new(View::new(Arc::new(log), index, Arc::new(self.home.clone())));
        self.retired.push(Arc::downgrade(&std::mem::replace(&mut self.view, view)));
        self.retired.retain(|view| view.strong_count() > 0);
        (self.extent, self.checkpoint_end) = (extent, super::frame::LOG_START);
        self.home.discard(&self.home.checkpoint_name());
        let synced = self.home.directory.sync();
        // Which of the two has the name after a power cut is open until the directory is synced: what
        // would be written to the one could be lost.
        synced.map_err(|error| self.fail("sync the table's directory", &error))?;
        self.durability.was_synced();
        self.durability.unmarked = true;
        self.mark_synced()
    }

    /// The next generation and its index.
    fn write_next(&self) -> Result<(Log, Extent, LogIndex)> {
        let storage = self.home.create(&self.home.next_name())?;
        let header = Header {
            generation: self.view.log.header.generation + 1,
            first_transaction: self.extent.next_transaction,
            ..self.view.log.header
        };
        let home: &dyn Words = &self.home;
        let mut index = LogIndex::with_room(self.extent.records, home)?;
        let mut generation = NextGeneration::begin(storage, header)?;
        let mut records = self.snapshot()?.records();
        while let Some((key, value)) = records.advance()? {
            let record = Record::Entry { key, value };
            let place = generation.add(&record)?;
            generation.extent.account(None, Some((record.len() + CHECK_LEN) as u64));
            index.insert(self.view.hash(key), place, home)?;
        }
        let (log, extent) = generation.finish(self.name.clone())?;
        Ok((log, extent, index))
    }
}
