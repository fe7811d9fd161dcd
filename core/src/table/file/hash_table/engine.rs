//! A hashed table that is open: how its changes get into the log and the index, and how it looks
//! things up. Opening, following, compacting are files of their own.

use std::ops::Range;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::super::options::{OpenOptions, SyncMode};
use super::super::random::random_number;
use super::checkpoint;
use super::compactor::Compactor;
use super::extent::LogExtent;
use super::header::{HashLogHeader, LOG_END_MAX};
use super::snapshot::HashSnapshot;
use super::table_files::HashTableFiles;
use super::transaction::{Transaction, Undo, UndoStep};
use super::view::GenerationView;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{
    CHECK_LEN, CommitFrame, FileStatus, FrameBuffer, FrameFlags, HEADER_LEN, ProcessMark,
};
use crate::heap::record::HeapRecord;
use crate::table::{Scan, Stat};

/// Longest time between a question and the commit that it is about.
const SOON: Duration = Duration::from_millis(10);

/// Time that commits may wait to be made to last in [`SyncMode::Interval`].
const INTERVAL: Duration = Duration::from_secs(1);

/// Bytes of log beyond a checkpoint that are worth a new one: less is read in no time.
const CHECKPOINT_AFTER: u64 = 256 << 10;

/// Allowed use of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TableAccess {
    /// All.
    Write,
    /// To read, and to follow the writer.
    Read,
    /// To read, and to follow the writer, which is the process that forked this one.
    Forked,
    /// To read what was committed before a write failed, in this way.
    Failed(ErrorKind, String),
    /// Nothing.
    Closed,
}

/// An open table.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) files: HashTableFiles,
    pub(super) options: OpenOptions,
    /// Name of the file in errors.
    pub(super) name: Arc<str>,
    pub(super) access: TableAccess,
    pub(super) view: Arc<GenerationView>,
    /// Extent of the log, the changes of an open transaction included.
    pub(super) extent: LogExtent,
    pub(super) transaction: Transaction,
    /// Status of the file when a reader looked last.
    pub(super) seen: FileStatus,
    pub(super) process: ProcessMark,
    pub(super) durability: LogDurability,
    /// End of the part of the log that the kept checkpoint covers.
    pub(super) checkpoint_end: u64,
    /// The compaction that is under way.
    pub(super) compactor: Option<Compactor>,
    /// End of the log from which on a compaction that has failed is tried again.
    pub(super) compaction_put_off_until: u64,
    /// Views that snapshots may still hold.
    pub(super) retired: Vec<Weak<GenerationView>>,
    /// The frame of a commit that is written at once.
    pub(super) frame: FrameBuffer,
    /// A record that was read to be compared.
    pub(super) scratch: Vec<u8>,
}

/// Durable part of the log.
#[derive(Debug)]
pub(super) struct LogDurability {
    last_sync: Instant,
    /// True if something was written since.
    unsynced: bool,
    /// True if this process has made all of the log last, and nothing was written since.
    follows_sync: bool,
    /// True if the name of the log may be another one's after a power cut.
    is_name_unsynced: bool,
    /// The end of what was written.
    written_end: u64,
    /// End of what was made to last. What was there when it was opened counts.
    pub(super) lasting_end: u64,
}

impl LogDurability {
    pub(super) fn new(end: u64) -> LogDurability {
        LogDurability {
            last_sync: Instant::now(),
            unsynced: false,
            follows_sync: false,
            is_name_unsynced: false,
            written_end: end,
            lasting_end: end,
        }
    }

    fn was_written(&mut self, end: u64) {
        (self.unsynced, self.follows_sync, self.written_end) = (true, false, end);
    }

    pub(super) fn was_synced(&mut self) {
        (self.unsynced, self.follows_sync, self.is_name_unsynced) = (false, true, false);
        (self.lasting_end, self.last_sync) = (self.written_end, Instant::now());
    }

    /// A part of an open transaction was cut off, and all else made to last.
    fn was_cut(&mut self) {
        (self.unsynced, self.follows_sync, self.last_sync) = (false, true, Instant::now());
    }

    /// A log that ends at `end` has taken the place, and lasts if `lasts`.
    pub(super) fn was_replaced(&mut self, end: u64, lasts: bool) {
        (self.unsynced, self.follows_sync, self.is_name_unsynced) = (!lasts, lasts, true);
        // The part of it that was promised to last does.
        (self.written_end, self.lasting_end) = (end, if lasts { end } else { 0 });
    }
}

/// An entry that was read into a buffer.
#[derive(Debug, Clone)]
pub(super) struct StoredEntry {
    place: u64,
    /// The length of the record with its check.
    len: u64,
    /// Range of the value in the buffer.
    pub(super) value: Range<usize>,
}

impl Engine {
    /// Fails unless it may be written.
    pub(super) fn check_writable(&self) -> Result<()> {
        let (kind, message) = match &self.access {
            TableAccess::Write => return Ok(()),
            TableAccess::Read => (
                ErrorKind::Argument,
                "expected a table opened for writing, found one opened with read_only".to_owned(),
            ),
            TableAccess::Forked => (
                ErrorKind::Closed,
                "expected a table opened by this process, found one of the process that forked it, \
                 which can only be read here; open it again to write"
                    .to_owned(),
            ),
            TableAccess::Failed(kind, why) => {
                // Of the kind of the first: a program that catches a full disk catches it here, too.
                let message = format!("expected a table whose writes work, found one closed by an earlier failure ({why}); open it again");
                return Err(Error::new(*kind, message).in_file(&self.name));
            }
            TableAccess::Closed => {
                (ErrorKind::Closed, "expected an open table, found it closed".to_owned())
            }
        };
        Err(Error::new(kind, message).in_file(&self.name))
    }

    /// Fails when it is closed.
    pub(super) fn check_readable(&self) -> Result<()> {
        match self.access {
            TableAccess::Closed => self.check_writable(),
            _ => Ok(()),
        }
    }

    /// Returns the extent of what was committed.
    pub(super) fn committed(&self) -> &LogExtent {
        self.transaction.beginning().unwrap_or(&self.extent)
    }

    /// Reads the entry of `key` into `buffer`.
    pub(super) fn find(&self, key: &[u8], buffer: &mut Vec<u8>) -> Result<Option<StoredEntry>> {
        let hash = self.view.hash(key);
        let mut found = None;
        self.view.index().index.find(hash, |place| {
            let (record, len) = self.read(place, buffer)?;
            if let HeapRecord::Entry { key: stored, value } = record
                && stored == key
            {
                let end = len as usize - CHECK_LEN;
                found = Some(StoredEntry { place, len, value: end - value.len()..end });
            }
            Ok(found.is_some())
        })?;
        Ok(found)
    }

    /// The record at `place`, which may be waiting to be written.
    fn read<'b>(&'b self, place: u64, buffer: &'b mut Vec<u8>) -> Result<(HeapRecord<'b>, u64)> {
        let Some((record, bytes)) = self.transaction.record(place) else {
            let end = match self.transaction.depth() {
                0 => self.extent.end,
                _ => self.transaction.frame().offset(),
            };
            return self.view.log.record(place, end, buffer);
        };
        if buffer.len() < bytes.len() {
            buffer.resize(bytes.len(), 0);
        }
        buffer[..bytes.len()].copy_from_slice(bytes);
        Ok((record, bytes.len() as u64))
    }

    /// The entry of `key`, to be replaced.
    fn find_old(&mut self, key: &[u8]) -> Result<Option<StoredEntry>> {
        self.check_writable()?;
        let mut buffer = std::mem::take(&mut self.scratch);
        let found = self.find(key, &mut buffer);
        shorten(&mut buffer);
        self.scratch = buffer;
        found
    }

    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let old = self.find_old(key)?;
        self.view.index().reserve()?;
        self.change(&HeapRecord::Entry { key, value }, old)?;
        self.compact_beside()
    }

    pub(super) fn delete(&mut self, key: &[u8]) -> Result<bool> {
        let old = self.find_old(key)?;
        if old.is_some() {
            self.change(&HeapRecord::Deletion { key }, old.clone())?;
            self.compact_beside()?;
        }
        Ok(old.is_some())
    }

    /// Shows the entry that was written first of all, and gives its key. The next search goes on from
    /// there.
    pub(super) fn first(&mut self, found: &mut dyn FnMut(&[u8], &[u8])) -> Result<Option<Vec<u8>>> {
        let mut scan = self.snapshot()?.records();
        let Some((key, value)) = scan.advance()? else { return Ok(None) };
        found(key, value);
        let key = key.to_vec();
        // What a transaction has taken out may be alive again.
        if self.transaction.depth() == 0 {
            self.extent.begin_at(scan.frame_start());
        }
        Ok(Some(key))
    }

    /// Writes `record`, or lets it wait with its transaction, and changes the index.
    fn change(&mut self, record: &HeapRecord<'_>, old: Option<StoredEntry>) -> Result<()> {
        let is_alone = self.transaction.depth() == 0;
        let place = match is_alone {
            true => self.write_alone(record)?,
            false => self.add(record)?,
        };
        let new = matches!(record, HeapRecord::Entry { .. }).then_some(place);
        let hash = self.view.hash(record.key());
        let old_place = old.as_ref().map(|old| old.place);
        self.view.index().change(hash, old_place, new, place)?;
        let len = (record.len() + CHECK_LEN) as u64;
        self.extent.account(old.map(|old| old.len), new.map(|_| len));
        if !is_alone {
            let (old, new) = (old_place.unwrap_or_default(), new.unwrap_or_default());
            self.transaction.remember(Undo { hash, old, new });
        }
        Ok(())
    }

    /// Commits one record by itself, and says where it is.
    fn write_alone(&mut self, record: &HeapRecord<'_>) -> Result<u64> {
        self.frame.begin(self.extent.end, self.view.log.salt);
        let place = self.frame.put(record);
        let outcome = self.write_commit(FrameFlags::default());
        self.frame.release(BUFFER_LEN_MAX);
        outcome.map(|()| place)
    }

    /// Writes the frame that is ready as a transaction, and makes it last where the options want it now.
    fn write_commit(&mut self, flags: FrameFlags) -> Result<()> {
        let frame = self.write_frame(flags)?;
        self.sync_commit()?;
        self.extent.commit(&frame);
        Ok(())
    }

    /// Writes the frame that is ready at the end of the log. It commits, beside its `flags`.
    fn write_frame(&mut self, flags: FrameFlags) -> Result<CommitFrame> {
        let follows_sync = self.durability.follows_sync;
        let flags = FrameFlags { commits: true, follows_sync, ..flags };
        let frame = self.frame.finish(flags, self.extent.next_transaction);
        self.check_room(frame.end())?;
        let written = self.view.log.storage.write_at(frame.offset, self.frame.bytes());
        self.durability.was_written(frame.end());
        written.map_err(|error| self.fail("write the table", &error))?;
        Ok(frame)
    }

    /// Adds a record to the open transaction, and says where it will be.
    fn add(&mut self, record: &HeapRecord<'_>) -> Result<u64> {
        if self.transaction.is_full_for(record) {
            self.write_part(false)?;
        }
        let frame = self.transaction.frame();
        self.check_room(frame.payload() + frame.payload_len_with(record) as u64)?;
        Ok(self.transaction.add(record))
    }

    /// Writes the frame that the open transaction has filled.
    fn write_part(&mut self, commits: bool) -> Result<()> {
        let number = self.extent.next_transaction;
        let follows_sync = self.durability.follows_sync;
        let (bytes, frame) = self.transaction.finish_frame(number, commits, follows_sync);
        let written = self.view.log.storage.write_at(frame.offset, bytes);
        self.durability.was_written(frame.end());
        written.map_err(|error| self.fail("write the table", &error))?;
        self.transaction.was_written(frame);
        Ok(())
    }

    fn check_room(&self, end: u64) -> Result<()> {
        match end <= LOG_END_MAX {
            true => Ok(()),
            false => Err(Error::limit("a table file", LOG_END_MAX, end).in_file(&self.name)),
        }
    }

    /// Returns true if a commit made soon will be made to last before it returns.
    pub(super) fn next_commit_is_synced(&self) -> bool {
        let is_writer = matches!(self.access, TableAccess::Write) && self.transaction.depth() == 0;
        let is_time = match self.options.sync {
            SyncMode::Commit => true,
            SyncMode::Interval => self.durability.last_sync.elapsed() + SOON >= INTERVAL,
            SyncMode::Never => false,
        };
        let waits_for_copy = || self.compactor.as_ref().is_some_and(Compactor::is_behind);
        is_writer && (is_time || waits_for_copy())
    }

    /// Makes what was written last, where the options want it now.
    fn sync_commit(&mut self) -> Result<()> {
        let is_time = match self.options.sync {
            SyncMode::Commit => true,
            SyncMode::Interval => self.durability.last_sync.elapsed() >= INTERVAL,
            SyncMode::Never => false,
        };
        if is_time { self.sync_log() } else { Ok(()) }
    }

    /// Makes what was written last.
    pub(super) fn sync_log(&mut self) -> Result<()> {
        if self.durability.unsynced || self.durability.is_name_unsynced {
            self.force_sync()?;
        }
        Ok(())
    }

    fn force_sync(&mut self) -> Result<()> {
        let synced = self.view.log.storage.sync();
        synced.map_err(|error| self.fail("sync the table", &error))?;
        if self.durability.is_name_unsynced {
            let synced = self.files.directory.sync();
            synced.map_err(|error| self.fail("sync the table's directory", &error))?;
        }
        self.durability.was_synced();
        Ok(())
    }

    /// A write or sync has failed: takes the open transaction back, cuts what may be half there, and
    /// lets nothing be written any more. What the disk has is only known when it is read again.
    pub(super) fn fail(&mut self, action: &str, error: &std::io::Error) -> Error {
        let committed = *self.committed();
        while self.transaction.depth() > 0 {
            self.take_back();
            self.transaction.end_part();
        }
        self.transaction.end();
        self.extent = committed;
        self.abandon_compaction();
        let log = &self.view.log;
        if log.storage.set_len(committed.end).is_ok() {
            let _ = log.storage.sync();
        }
        let error = log.system_error(action, error);
        self.access = TableAccess::Failed(error.kind(), error.message().to_owned());
        error
    }

    pub(super) fn clear(&mut self) -> Result<()> {
        self.check_writable()?;
        let cleared = Arc::new(self.view.cleared()?);
        let before = self.view.clone();
        if self.transaction.depth() == 0 {
            let start = self.extent.end;
            self.frame.begin(start, self.view.log.salt);
            self.write_commit(FrameFlags { clears: true, ..FrameFlags::default() })?;
            self.extent.clear(start);
            self.abandon_compaction();
        } else {
            if self.transaction.has_records() {
                self.write_part(false)?;
            }
            self.extent.clear(self.transaction.frame().offset());
            self.transaction.clear(before);
        }
        self.view = cleared;
        Ok(())
    }

    pub(super) fn begin(&mut self) -> Result<()> {
        self.check_writable()?;
        if self.transaction.depth() == 0 {
            self.view.index().is_in_transaction = true;
        }
        self.transaction.begin(&self.extent, self.view.log.salt);
        Ok(())
    }

    /// Ends the transaction of the index, whose changes cannot be taken back any more.
    fn leave_transaction(&mut self) {
        self.view.index().is_in_transaction = false;
        if let Some(compactor) = &self.compactor {
            compactor.ring();
        }
    }

    fn check_begun(&self) -> Result<()> {
        match self.transaction.depth() {
            0 => {
                self.check_writable()?;
                let message = "expected an open transaction, found none";
                Err(Error::new(ErrorKind::Argument, message).in_file(&self.name))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        self.check_begun()?;
        self.check_writable()?;
        if self.transaction.depth() > 1 {
            self.transaction.merge_part();
            return Ok(());
        }
        if !self.transaction.is_empty() {
            self.write_part(true)?;
            self.sync_commit()?;
        }
        if let Some(last) = self.transaction.written().last() {
            self.extent.commit(last);
        }
        self.transaction.end();
        self.leave_transaction();
        self.compact_beside()
    }

    pub(super) fn abort(&mut self) -> Result<()> {
        if self.transaction.depth() == 0 && matches!(self.access, TableAccess::Failed(..)) {
            // The failure has taken it back.
            return Ok(());
        }
        self.check_begun()?;
        self.take_back();
        let Some((extent, written)) = self.transaction.end_part() else { return Ok(()) };
        self.extent = extent;
        if let Some(frame) = written {
            let log = self.view.log.clone();
            let kept = self.transaction.payload_mut();
            let read = match kept.is_empty() {
                true => Ok(()),
                false => log.storage.read_at(frame.payload(), kept),
            };
            // What was cut off must not come back behind other frames after a power cut.
            let cut = read.and_then(|()| log.storage.set_len(frame.offset));
            let cut = cut.and_then(|()| log.storage.sync());
            cut.map_err(|error| self.fail("roll back the transaction", &error))?;
            self.durability.was_cut();
        }
        if self.transaction.depth() == 0 {
            self.transaction.end();
            self.leave_transaction();
        }
        Ok(())
    }

    /// Takes back what the part of the transaction that began last has changed in the index.
    fn take_back(&mut self) {
        while let Some(step) = self.transaction.step_back() {
            match step {
                UndoStep::Clear(before) => self.view = before,
                UndoStep::Change(Undo { hash, old, new }) => {
                    let place = |place| (place != 0).then_some(place);
                    // There was room for it before.
                    let _ = self.view.index().change(hash, place(new), place(old), new);
                }
            }
        }
    }

    pub(super) fn snapshot(&self) -> Result<HashSnapshot> {
        let committed = self.committed();
        let Engine { view, extent, transaction, process, .. } = self;
        HashSnapshot::take(view, extent, committed, transaction, *process)
    }

    /// Makes everything last, says so in the log, and keeps the index.
    pub(super) fn close(&mut self) -> Result<()> {
        let closed = match self.access {
            TableAccess::Write => self.finish(),
            _ => Ok(()),
        };
        if matches!(self.access, TableAccess::Write | TableAccess::Failed(..))
            && let Some(file) = self.view.log.storage.file()
        {
            // A snapshot may keep the file open, but not others out.
            let _ = file.unlock();
        }
        self.access = TableAccess::Closed;
        closed
    }

    fn finish(&mut self) -> Result<()> {
        while self.transaction.depth() > 0 {
            self.abort()?;
        }
        self.end_compaction()?;
        self.sync_log()?;
        self.mark_closed()?;
        if self.extent.end - self.checkpoint_end.min(self.extent.end) >= CHECKPOINT_AFTER
            && self.check_named().is_ok()
        {
            let index = self.view.index();
            // Without it the next one to open the table reads more.
            let _ = checkpoint::save(&self.files, &self.view.log, &self.extent, &index.index);
        }
        Ok(())
    }

    /// Lets the header say how long the log is, so that a file that is cut does not pass for whole, and
    /// adds a frame that no other history of the table has, by which an index knows the log.
    fn mark_closed(&mut self) -> Result<()> {
        if self.extent.is_closed || self.extent.last_frame == 0 {
            return Ok(());
        }
        if !self.durability.follows_sync {
            // It may have been written by a process that died.
            self.force_sync()?;
        }
        let (log, offset) = (self.view.log.clone(), self.extent.end);
        let header = HashLogHeader { closed_len: offset, ..log.header }.to_bytes();
        // One after the other, so that one is whole at any time.
        let second = log.storage.write_at(HEADER_LEN as u64, &header[HEADER_LEN..]);
        let written = second.and_then(|()| log.storage.write_at(0, &header[..HEADER_LEN]));
        written.map_err(|error| self.fail("write the table", &error))?;
        self.frame.begin(offset, log.salt);
        self.frame.put(&HeapRecord::Deletion { key: &random_key() });
        let frame = self.write_frame(FrameFlags { closes: true, ..FrameFlags::default() })?;
        self.extent.commit(&frame);
        Ok(())
    }

    pub(super) fn stat(&self) -> Result<Stat> {
        let file_bytes = self.view.log.storage.len();
        let file_bytes =
            file_bytes.map_err(|e| self.view.log.system_error("read the table", &e))?;
        let index = self.view.index();
        let words = index.index.words();
        let index_bytes = std::mem::size_of_val::<[_]>(words) as u64;
        let own_index = if words.is_shared() { 0 } else { index_bytes };
        let pinned = self.retired.iter().filter_map(Weak::upgrade);
        let pinned = pinned.filter(|view| !Arc::ptr_eq(&view.log, &self.view.log));
        Ok(Stat {
            records: self.extent.records,
            live_bytes: self.extent.live_bytes,
            dead_bytes: self.extent.dead_bytes(),
            pinned_bytes: pinned.map(|view| view.log.storage.len().unwrap_or_default()).sum(),
            index_bytes,
            memory_bytes: own_index
                + index.displaced_bytes()
                + self.transaction.memory_bytes()
                + (self.scratch.capacity() + self.frame.capacity()) as u64,
            file_bytes,
        })
    }
}

/// A key that no table has.
fn random_key() -> [u8; 16] {
    let mut key = [0; 16];
    for half in key.chunks_exact_mut(8) {
        half.copy_from_slice(&random_number().to_le_bytes());
    }
    key
}

/// Gives back what one long record took of memory.
pub(super) fn shorten(buffer: &mut Vec<u8>) {
    buffer.truncate(BUFFER_LEN_MAX);
    buffer.shrink_to(BUFFER_LEN_MAX);
}

/// Bytes that a buffer keeps.
const BUFFER_LEN_MAX: usize = 1 << 20;
