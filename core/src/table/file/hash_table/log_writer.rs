//! Writing of a table's file, by who has the turn: a transaction becomes frames at the end of the log, then entries of the
//! index, and then the newest state.
//!
//! A failure before the last step leaves the state that was there: nobody else has seen anything of the transaction.

use std::sync::Arc;

use super::extent::LogExtent;
use super::hash_file::{FoundVersion, HashFile};
use super::header::LOG_END_MAX;
use super::index_writer::{IndexChange, IndexWriter};
use super::segment::IndexEntry;
use super::transaction::{PendingChange, Transaction};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{CommitFrame, FrameFlags, LogRecord};
use crate::heap::record::HeapRecord;

/// Bytes that a buffer keeps.
const BUFFER_LEN_MAX: usize = 1 << 20;

/// Writer of a file.
#[derive(Debug)]
pub(super) struct LogWriter {
    pub(super) file: Arc<HashFile>,
    /// State with the changes of the open transaction.
    pub(super) extent: LogExtent,
    pub(super) transaction: Transaction,
    /// A record that was read to be compared.
    scratch: Vec<u8>,
    /// True if rooms that are in use may be behind the state that was committed, since a commit failed.
    has_rooms_behind: bool,
}

/// Version of a key that a record replaces.
#[derive(Debug, Clone, Copy)]
pub(super) struct OldVersion {
    entry: IndexEntry,
    /// Its length with its check.
    len: u64,
    /// Number of the change of the open transaction that it is.
    number: Option<usize>,
    /// True if all entries were cleared since.
    is_cleared: bool,
}

impl OldVersion {
    /// The newest version of a key, an entry at `place` that was committed. It has `len` bytes with its check.
    pub(super) fn alive(place: u64, len: u64) -> OldVersion {
        let entry = IndexEntry { place, is_deletion: false };
        OldVersion { entry, len, number: None, is_cleared: false }
    }

    pub(super) fn is_deletion(&self) -> bool {
        self.entry.is_deletion
    }

    pub(super) fn is_alive(&self) -> bool {
        !self.entry.is_deletion && !self.is_cleared
    }
}

/// Failure of a commit.
#[derive(Debug)]
pub(super) enum CommitFailure {
    /// The disk has no room for the index, or another one syncs for long. The transaction was taken back.
    TakenBack(Error),
    /// Content of the disk is only known when it is read again.
    Unknown(Error),
}

impl LogWriter {
    pub(super) fn new(file: Arc<HashFile>, extent: LogExtent) -> LogWriter {
        LogWriter {
            file,
            extent,
            transaction: Transaction::default(),
            scratch: Vec::new(),
            has_rooms_behind: false,
        }
    }

    /// Begins a transaction behind the newest state, or a part of one.
    pub(super) fn begin(&mut self) -> Result<()> {
        if self.transaction.depth() == 0 {
            self.extent = self.file.newest()?;
        }
        self.transaction.begin(&self.extent, self.file.log.salt);
        Ok(())
    }

    /// Returns the state that was committed.
    pub(super) fn committed(&self) -> LogExtent {
        self.transaction.beginning().copied().unwrap_or(self.extent)
    }

    /// Reads the record at `place`, which may be waiting to be written.
    pub(super) fn record<'b>(
        &'b self,
        place: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(LogRecord<'b>, u64)> {
        match self.transaction.record(place) {
            Some((record, bytes)) => Ok((record, bytes.len() as u64)),
            None => self.file.record(place, buffer),
        }
    }

    /// Finds the change that the open transaction has made of a key.
    pub(super) fn pending(&self, key: &[u8], buffer: &mut Vec<u8>) -> Result<Option<usize>> {
        self.transaction.find(self.file.hash(key), |place| {
            let (record, _) = self.record(place, buffer)?;
            Ok(record.key() == key)
        })
    }

    /// Shows `found` the value of `key` as the open transaction has it, and returns true if it has one.
    pub(super) fn get(
        &self,
        key: &[u8],
        buffer: &mut Vec<u8>,
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool> {
        if let Some(number) = self.pending(key, buffer)? {
            let place = self.transaction.changes()[number].index.entry.place;
            let HeapRecord::Entry { value, .. } = self.record(place, buffer)?.0.record else {
                return Ok(false);
            };
            found(value);
            return Ok(true);
        }
        match self.transaction.has_cleared() {
            true => Ok(false),
            false => self.file.get(key, buffer, found),
        }
    }

    /// Finds what a record of `key` would replace.
    pub(super) fn old(&mut self, key: &[u8]) -> Result<Option<OldVersion>> {
        let mut buffer = std::mem::take(&mut self.scratch);
        let old = self.find_old(key, &mut buffer);
        shorten(&mut buffer);
        self.scratch = buffer;
        old
    }

    fn find_old(&self, key: &[u8], buffer: &mut Vec<u8>) -> Result<Option<OldVersion>> {
        if let Some(number) = self.pending(key, buffer)? {
            let PendingChange { index, len } = self.transaction.changes()[number];
            let (entry, number) = (index.entry, Some(number));
            return Ok(Some(OldVersion { entry, len, number, is_cleared: false }));
        }
        let (committed, hash) = (self.committed(), self.file.hash(key));
        let mut old = None;
        // What was cleared is in the index as long as somebody may read it, and the next version of its key takes its place.
        let start = self.file.sharing.state().trimmed_end();
        let all = LogExtent { start, ..committed };
        let has_cleared = self.transaction.has_cleared();
        // Nobody else changes the index.
        self.file.version(&all, (key, hash), None, buffer, &mut |_, version| {
            let FoundVersion { place, len, is_deletion } = version;
            let is_cleared = has_cleared || place < committed.start;
            let entry = IndexEntry { place, is_deletion };
            old = Some(OldVersion { entry, len, number: None, is_cleared });
        })?;
        Ok(old)
    }

    /// Adds a record to the open transaction, in the place of `old`, and returns its place.
    pub(super) fn add(&mut self, record: HeapRecord<'_>, old: Option<OldVersion>) -> Result<u64> {
        let replaced = old.map_or(0, |old| old.entry.place);
        let record = LogRecord { record, replaced };
        if self.transaction.is_full_for(&record) {
            self.write_frame(FrameFlags::default())?;
        }
        let frame = self.transaction.frame();
        self.check_room(frame.payload() + frame.payload_len_with(&record) as u64)?;
        let place = self.transaction.add(&record);
        let len = self.transaction.frame().end() - place;
        let before = match old {
            Some(OldVersion { number: Some(number), .. }) => {
                self.transaction.changes()[number].index.before
            }
            Some(old) => old.entry,
            None => IndexEntry { place: 0, is_deletion: false },
        };
        let entry = IndexEntry { place, is_deletion: record.is_deletion() };
        let index = IndexChange { hash: self.file.hash(record.key()), entry, before };
        let number = old.and_then(|old| old.number);
        self.transaction.change(number, PendingChange { index, len });
        let old_len = old.filter(OldVersion::is_alive).map(|old| old.len);
        self.extent.account(old_len, (!entry.is_deletion).then_some(len));
        self.file.forget_uses(place);
        Ok(place)
    }

    /// Takes out all entries, in the open transaction.
    pub(super) fn clear(&mut self) -> Result<()> {
        if self.transaction.has_records() {
            self.write_frame(FrameFlags::default())?;
        }
        self.extent.clear(self.transaction.frame().offset());
        self.transaction.clear();
        Ok(())
    }

    fn check_room(&self, end: u64) -> Result<()> {
        match end <= LOG_END_MAX {
            true => Ok(()),
            false => {
                Err(Error::limit("a table file", LOG_END_MAX, end).in_file(&self.file.log.name))
            }
        }
    }

    /// Writes the frame that the open transaction has filled.
    fn write_frame(&mut self, flags: FrameFlags) -> Result<()> {
        let offset = self.transaction.frame().offset();
        let follows_sync = self.file.sharing.state().lasting_end() >= offset;
        let number = self.extent.next_transaction;
        let flags = FrameFlags { follows_sync, ..flags };
        let (bytes, frame) = self.transaction.finish_frame(number, flags);
        let log = &self.file.log;
        let written = log.storage.write_at(frame.offset, bytes);
        written.map_err(|error| log.system_error("write the table", &error))?;
        self.transaction.was_written(frame);
        Ok(())
    }

    /// Makes the open transaction, or else nothing, the newest state. Before anybody sees it, `lasts` makes the log up to its
    /// end last, where that is wanted.
    pub(super) fn commit(
        &mut self,
        flags: FrameFlags,
        lasts: &mut dyn FnMut(&HashFile, u64) -> Result<()>,
    ) -> std::result::Result<(), CommitFailure> {
        if !self.transaction.is_empty() {
            let flags = FrameFlags { commits: true, ..flags };
            self.write_frame(flags).map_err(CommitFailure::Unknown)?;
        }
        if let Some(last) = self.transaction.last_written().copied() {
            match lasts(&self.file, last.end()) {
                Ok(()) => self.publish(&last)?,
                Err(error) if error.kind() == ErrorKind::Lock => {
                    self.leave_out(&last, last.end()).map_err(CommitFailure::Unknown)?;
                    return Err(CommitFailure::TakenBack(error));
                }
                Err(error) => return Err(CommitFailure::Unknown(error)),
            }
        }
        self.transaction.end();
        Ok(())
    }

    fn publish(&mut self, last: &CommitFrame) -> std::result::Result<(), CommitFailure> {
        let committed = self.committed();
        let file = self.file.clone();
        let number = self.extent.next_transaction + 1;
        let state = (self.extent.start, committed.end);
        let mut writer = IndexWriter::begin(&file, state, last.end(), number);
        for (at, change) in self.transaction.changes().iter().enumerate() {
            if let Err(error) = writer.apply(&change.index, &mut |_| Ok(false)) {
                let end = writer.end;
                let taken_back =
                    self.take_back(&writer, at).and_then(|()| self.leave_out(last, end));
                return Err(match taken_back {
                    Ok(()) => CommitFailure::TakenBack(error),
                    Err(error) => {
                        self.has_rooms_behind = true;
                        file.sharing.state().set_index_damaged(true);
                        CommitFailure::Unknown(error)
                    }
                });
            }
        }
        self.extent.commit(last);
        self.extent.end = writer.end;
        file.sharing.state().publish(&self.extent);
        file.log.read_mapped_to(self.extent.end);
        Ok(())
    }

    /// Takes the first changes of the transaction out of the index.
    fn take_back(&self, writer: &IndexWriter<'_>, count: usize) -> Result<()> {
        let changes = self.transaction.changes()[..count].iter();
        changes.rev().try_for_each(|change| writer.take_back(&change.index))
    }

    /// Leaves the frames of the open transaction, which end with `last`, out of the log, up to where it goes on with rooms that
    /// are in use.
    fn leave_out(&mut self, last: &CommitFrame, end: u64) -> Result<()> {
        let committed = self.committed();
        self.transaction.end();
        self.extent = committed;
        if end == last.end() {
            return self.cut();
        }
        let log = &self.file.log;
        let failed = |error| log.system_error("write the table", &error);
        let mut from = committed.end;
        while from < last.end() {
            let to = if last.end() - from < 1 << 32 { last.end() } else { from + (1 << 31) };
            log.write_room(from, to, committed.next_transaction).map_err(failed)?;
            from = to;
        }
        log.storage.sync().map_err(failed)?;
        self.extent.end = end;
        self.file.sharing.state().publish(&self.extent);
        Ok(())
    }

    /// Cuts off what is behind the state that was committed, for good: it must not come back behind other frames.
    pub(super) fn cut(&self) -> Result<()> {
        if self.has_rooms_behind {
            return Ok(());
        }
        let log = &self.file.log;
        let end = self.committed().end;
        let cut = log.storage.set_len(end).and_then(|()| log.storage.sync());
        cut.map(|()| self.file.sharing.state().has_lasted_to(end)).map_err(|error| {
            log.system_error("cut an unfinished transaction off the table", &error)
        })
    }

    /// Takes back the part of the transaction that began last.
    pub(super) fn abort(&mut self) -> Result<()> {
        let Some((extent, written)) = self.transaction.take_part_back() else { return Ok(()) };
        self.extent = extent;
        let mut taken_back = Ok(());
        if let Some(frame) = written {
            let log = self.file.log.clone();
            let kept = self.transaction.payload_mut();
            let read = match kept.is_empty() {
                true => Ok(()),
                false => log.storage.read_at(frame.payload(), kept),
            };
            // What was cut off must not come back behind other frames after a power cut.
            let cut = read.and_then(|()| log.storage.set_len(frame.offset));
            taken_back = cut.and_then(|()| log.storage.sync());
            if taken_back.is_ok() {
                self.file.sharing.state().has_lasted_to(self.committed().end);
            }
        }
        if self.transaction.depth() == 0 {
            self.transaction.end();
        }
        let failed = |error| self.file.log.system_error("roll back the transaction", &error);
        taken_back.map_err(failed)
    }

    /// Forgets the open transaction, with all its parts.
    pub(super) fn forget(&mut self) {
        self.extent = self.committed();
        self.transaction.end();
    }

    /// Memory that it takes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.transaction.memory_bytes() + self.scratch.capacity() as u64
    }
}

/// Gives back what one long record took of memory.
pub(super) fn shorten(buffer: &mut Vec<u8>) {
    buffer.truncate(BUFFER_LEN_MAX);
    buffer.shrink_to(BUFFER_LEN_MAX);
}
