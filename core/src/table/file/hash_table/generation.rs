//! A generation of a hashed table while it is written: by compacting, and by repairing. Nobody else knows its file.

use std::sync::Arc;

use super::hash_file::HashFile;
use super::header::HashLogHeader;
use super::log_writer::LogWriter;
use super::opening;
use crate::error::{Error, Result};
use crate::files::{FrameFlags, LogRecord, Storage};
use crate::heap::record::HeapRecord;

// Bound (Tables): compaction of a hashed table's file = two buffers of 256 KiB and one entry, and the changes of a
// frame.
/// The payload of the frames that are written: less than this and one record.
const FRAME_LEN: usize = 256 << 10;

/// A generation that is being written.
#[derive(Debug)]
pub(super) struct NextGeneration {
    writer: LogWriter,
    /// End of what was made to last.
    synced_end: u64,
}

impl NextGeneration {
    /// Begins to write `header`'s generation to `storage`, which is empty. Errors call the file `name`.
    pub(super) fn begin(
        storage: Box<dyn Storage>,
        header: HashLogHeader,
        name: &Arc<str>,
    ) -> Result<NextGeneration> {
        let file = opening::create(storage, header, name)?;
        let extent = file.newest()?;
        let mut writer = LogWriter::new(Arc::new(file), extent);
        writer.begin()?;
        Ok(NextGeneration { writer, synced_end: 0 })
    }

    /// Adds an entry of a key that has none.
    pub(super) fn add(&mut self, record: HeapRecord<'_>) -> Result<()> {
        self.writer.add(record, None)?;
        self.write_full()
    }

    /// Takes in what a record changes.
    pub(super) fn change(&mut self, record: &LogRecord<'_>) -> Result<()> {
        let old = self.writer.old(record.key())?;
        // What was never copied needs no deletion.
        if record.is_deletion() && !old.is_some_and(|old| old.is_alive()) {
            return Ok(());
        }
        self.writer.add(record.record, old)?;
        self.write_full()
    }

    /// Takes out all entries so far.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.writer.clear()
    }

    fn write_full(&mut self) -> Result<()> {
        match self.writer.transaction.frame().payload_len() >= FRAME_LEN {
            true => self.write(),
            false => Ok(()),
        }
    }

    /// Writes what was added so far.
    fn write(&mut self) -> Result<()> {
        let committed = self.writer.commit(FrameFlags::default(), &mut |_, _| Ok(()));
        committed.map_err(|failure| failure.into_error())?;
        self.writer.begin()
    }

    /// Bytes that were written since they were made to last.
    pub(super) fn unsynced(&self) -> u64 {
        self.writer.committed().end.saturating_sub(self.synced_end)
    }

    /// Makes what was written so far last.
    pub(super) fn sync(&mut self) -> Result<()> {
        let synced = self.writer.file.log.storage.sync();
        synced.map_err(|error| Error::io("sync the compacted table", &error))?;
        self.synced_end = self.writer.committed().end;
        self.writer.file.sharing.state().has_lasted_to(self.synced_end);
        Ok(())
    }

    /// Makes all of it last so far. The header says how long it is.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.write()?;
        let log = &self.writer.file.log;
        let closed_len = self.writer.committed().end;
        let header = HashLogHeader { closed_len, ..log.header };
        let written = log.storage.write_at(0, &header.to_bytes());
        written.map_err(|error| Error::io("write the compacted table", &error))?;
        self.sync()
    }

    /// Writes what is left, makes it last where `lasts`, and gives the file.
    pub(super) fn finish(mut self, lasts: bool) -> Result<Arc<HashFile>> {
        match lasts {
            true => self.settle()?,
            false => self.write()?,
        }
        Ok(self.writer.file)
    }
}
