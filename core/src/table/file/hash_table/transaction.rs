//! The changes of an open transaction: records on their way into the log, and how to take them back.
//!
//! The place of a record in the log is known when it is added, and the table's own look-ups find it here. What is added
//! waits in memory, up to the longest payload of a frame; then it is written as a frame that does not commit, which everybody
//! else passes over until the last one does. The index changes only when the transaction commits.

use super::extent::LogExtent;
use super::index_writer::IndexChange;
use super::segment::KeyHash;
use crate::error::Result;
use crate::files::{CommitFrame, FrameBuffer, FrameFlags, LogRecord, PAYLOAD_LEN_MAX, Salt};

/// Changes that are looked through one by one.
const FEW: usize = 8;

// Bound (Tables): changes of an open transaction of a hashed table in a file = some 80 bytes for each key, 128 at most;
// 56 for each change in a part of it, 112 at most.
/// Newest change of a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingChange {
    pub(super) index: IndexChange,
    /// Length of its record with its check.
    pub(super) len: u64,
}

/// Step back from a change.
#[derive(Debug, Clone, Copy)]
struct ChangeUndo {
    number: usize,
    /// Change before this one; none if there was none.
    before: Option<PendingChange>,
}

/// State when a part of a transaction began.
#[derive(Debug)]
struct Savepoint {
    /// Place that the next record would have had.
    place: u64,
    /// True if the frame had begun with taking out all entries.
    clears: bool,
    undo_len: usize,
    cleared_len: usize,
    extent: LogExtent,
}

/// Changes before all entries were taken out.
#[derive(Debug)]
struct ClearedChanges {
    changes: Vec<PendingChange>,
    undo_len: usize,
}

/// An open transaction.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    /// The frame to come.
    frame: FrameBuffer,
    clears: bool,
    /// Frames that were written already.
    written: Vec<CommitFrame>,
    /// One for each key, in the order of their first.
    changes: Vec<PendingChange>,
    /// Numbers of the changes by hash, one more than each; 0 for none. Empty while they are few.
    places: Vec<u32>,
    undo: Vec<ChangeUndo>,
    cleared: Vec<ClearedChanges>,
    savepoints: Vec<Savepoint>,
}

impl Transaction {
    /// Returns the number of its parts that are open.
    pub(super) fn depth(&self) -> usize {
        self.savepoints.len()
    }

    /// Returns the extent of what was committed when it began.
    pub(super) fn beginning(&self) -> Option<&LogExtent> {
        self.savepoints.first().map(|savepoint| &savepoint.extent)
    }

    /// Begins it in a log with `salt`, or a part of it.
    pub(super) fn begin(&mut self, extent: &LogExtent, salt: Salt) {
        if self.savepoints.is_empty() {
            self.frame.begin(extent.end, salt);
            self.clears = false;
        }
        self.savepoints.push(Savepoint {
            place: self.frame.end(),
            clears: self.clears,
            undo_len: self.undo.len(),
            cleared_len: self.cleared.len(),
            extent: *extent,
        });
    }

    /// Begins the next frame, at `offset` of the log.
    fn begin_frame(&mut self, offset: u64) {
        self.frame.begin_next(offset);
        self.clears = false;
    }

    /// The frame to come: what is before it is written.
    pub(super) fn frame(&self) -> &FrameBuffer {
        &self.frame
    }

    /// Returns true if `record` has no more room in the frame.
    pub(super) fn is_full_for(&self, record: &LogRecord<'_>) -> bool {
        self.has_records() && self.frame.payload_len_with(record) > PAYLOAD_LEN_MAX
    }

    /// Returns true if nothing would be written.
    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty() && !self.has_records() && !self.clears
    }

    /// Returns true if it has taken out all entries that were committed.
    pub(super) fn has_cleared(&self) -> bool {
        !self.cleared.is_empty()
    }

    /// Adds a record, and says where it will be.
    pub(super) fn add(&mut self, record: &LogRecord<'_>) -> u64 {
        self.frame.put(record)
    }

    /// The record at `place`, and its bytes, where they are here and not in the log.
    pub(super) fn record(&self, place: u64) -> Option<(LogRecord<'_>, &[u8])> {
        if self.savepoints.is_empty() { None } else { self.frame.record(place) }
    }

    /// The changes, one for each key.
    pub(super) fn changes(&self) -> &[PendingChange] {
        &self.changes
    }

    /// Finds the number of the change of a key that has `hash`, and is the one at a place as `is_it` says.
    pub(super) fn find(
        &self,
        hash: KeyHash,
        mut is_it: impl FnMut(u64) -> Result<bool>,
    ) -> Result<Option<usize>> {
        let mut is_that = |number: usize| match &self.changes[number].index {
            index if index.hash == hash => is_it(index.entry.place),
            _ => Ok(false),
        };
        if self.places.is_empty() {
            for number in 0..self.changes.len() {
                if is_that(number)? {
                    return Ok(Some(number));
                }
            }
            return Ok(None);
        }
        let mut at = hash.spread(self.places.len());
        while let Some(number) = (self.places[at] as usize).checked_sub(1) {
            if is_that(number)? {
                return Ok(Some(number));
            }
            at = (at + 1) & (self.places.len() - 1);
        }
        Ok(None)
    }

    /// Takes a change in: in the place of the one with `number`, or as a further one.
    pub(super) fn change(&mut self, number: Option<usize>, change: PendingChange) {
        let before = number.map(|number| std::mem::replace(&mut self.changes[number], change));
        if number.is_none() {
            self.changes.push(change);
            match self.changes.len() {
                ..=FEW => {}
                len if self.places.len() < 2 * len => self.place_changes(),
                len => self.place(len - 1),
            }
        }
        // The whole transaction is taken back without steps.
        if self.savepoints.len() > 1 {
            let number = number.unwrap_or(self.changes.len() - 1);
            self.undo.push(ChangeUndo { number, before });
        }
    }

    fn place(&mut self, number: usize) {
        let mask = self.places.len() - 1;
        let mut at = self.changes[number].index.hash.spread(self.places.len());
        while self.places[at] != 0 {
            at = (at + 1) & mask;
        }
        self.places[at] = number as u32 + 1;
    }

    fn place_changes(&mut self) {
        let len = self.changes.len();
        self.places.clear();
        if len > FEW {
            self.places.resize(4 * len.next_power_of_two(), 0);
            (0..len).for_each(|number| self.place(number));
        }
    }

    /// Lets the frame, in which there is nothing yet, begin with taking out all entries.
    pub(super) fn clear(&mut self) {
        self.clears = true;
        let changes = std::mem::take(&mut self.changes);
        self.places.clear();
        self.cleared.push(ClearedChanges { changes, undo_len: self.undo.len() });
    }

    /// Returns true if there is a record in the frame to come.
    pub(super) fn has_records(&self) -> bool {
        self.frame.payload_len() > 0
    }

    /// Makes the frame to come ready to be written, with these flags and those that it has of itself.
    pub(super) fn finish_frame(
        &mut self,
        transaction: u64,
        flags: FrameFlags,
    ) -> (&[u8], CommitFrame) {
        let continues = !self.written.is_empty();
        let frame =
            self.frame.finish(FrameFlags { clears: self.clears, continues, ..flags }, transaction);
        (self.frame.bytes(), frame)
    }

    /// The frame was written as `frame`, and the next one begins.
    pub(super) fn was_written(&mut self, frame: CommitFrame) {
        self.written.push(frame);
        self.begin_frame(frame.end());
    }

    /// The last of the frames that were written.
    pub(super) fn last_written(&self) -> Option<&CommitFrame> {
        self.written.last()
    }

    /// Memory that it takes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let changes = self.changes.capacity() * size_of::<PendingChange>();
        (self.frame.capacity() + changes + self.places.capacity() * size_of::<u32>()) as u64
    }

    /// Everything has become part of the log, or nothing.
    pub(super) fn end(&mut self) {
        let mut frame = std::mem::take(&mut self.frame);
        frame.release(PAYLOAD_LEN_MAX);
        let (mut changes, mut savepoints) =
            (std::mem::take(&mut self.changes), std::mem::take(&mut self.savepoints));
        changes.clear();
        changes.shrink_to(PAYLOAD_LEN_MAX / size_of::<PendingChange>());
        savepoints.clear();
        *self = Transaction { frame, changes, savepoints, ..Transaction::default() };
    }

    /// The part that began last becomes one with what it is in.
    pub(super) fn merge_part(&mut self) {
        self.savepoints.pop();
    }

    /// Takes the part that began last back: how things were when it began, and, where its beginning is written already, the
    /// frame that has it and must come back.
    pub(super) fn take_part_back(&mut self) -> Option<(LogExtent, Option<CommitFrame>)> {
        let savepoint = self.savepoints.pop()?;
        self.take_changes_back(&savepoint);
        if savepoint.place >= self.frame.payload() {
            self.frame.resize(savepoint.place);
            self.clears = savepoint.clears;
            return Some((savepoint.extent, None));
        }
        let mut back = None;
        while let Some(frame) = self.written.pop() {
            back = Some(frame);
            if frame.payload() <= savepoint.place {
                break;
            }
        }
        self.begin_frame(back.map_or(self.frame.offset(), |frame| frame.offset));
        self.clears = savepoint.clears;
        // The bytes of its first part are to be read back.
        self.frame.resize(savepoint.place);
        Some((savepoint.extent, back))
    }

    fn take_changes_back(&mut self, savepoint: &Savepoint) {
        if self.savepoints.is_empty() {
            self.changes.clear();
            self.undo.clear();
            self.cleared.clear();
        }
        if self.cleared.len() > savepoint.cleared_len {
            let cleared = self.cleared.drain(savepoint.cleared_len..).next();
            if let Some(cleared) = cleared {
                self.changes = cleared.changes;
                self.undo.truncate(cleared.undo_len);
            }
        }
        while self.undo.len() > savepoint.undo_len {
            let Some(ChangeUndo { number, before }) = self.undo.pop() else { break };
            match before {
                Some(before) => self.changes[number] = before,
                None => self.changes.truncate(number),
            }
        }
        self.place_changes();
    }

    /// Returns the buffer for what is read back.
    pub(super) fn payload_mut(&mut self) -> &mut [u8] {
        self.frame.payload_mut()
    }
}
