//! The changes of an open transaction: records on their way into the log, and how to take them back.
//!
//! The place of a record in the log is known when it is added, so the index has it at once, and the table's own
//! look-ups find it here until it is written. What is added waits in memory, up to the longest payload of a frame; then
//! it is written as a frame that does not commit, which everybody else passes over until the last one does. To take
//! changes back needs 24 bytes for each.

use std::sync::Arc;

use super::extent::LogExtent;
use super::log_index::KeyHash;
use super::view::GenerationView;
use crate::files::{CommitFrame, FrameBuffer, FrameFlags, PAYLOAD_LEN_MAX, Salt};
use crate::heap::record::HeapRecord;

/// Record of one change, to take it back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undo {
    pub(super) hash: KeyHash,
    /// Place of the entry before; 0 if there was none.
    pub(super) old: u64,
    /// Place of the entry now; 0 if there is none.
    pub(super) new: u64,
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

/// View of the table before all entries were taken out.
#[derive(Debug)]
struct Cleared {
    view: Arc<GenerationView>,
    /// Number of changes that came before.
    undo_len: usize,
}

/// A step back, the last first.
pub(super) enum UndoStep {
    /// One change.
    Change(Undo),
    /// All entries were taken out of this.
    Clear(Arc<GenerationView>),
}

/// An open transaction.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    /// The frame to come.
    frame: FrameBuffer,
    clears: bool,
    /// Frames that were written already.
    written: Vec<CommitFrame>,
    undo: Vec<Undo>,
    cleared: Vec<Cleared>,
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
    pub(super) fn is_full_for(&self, record: &HeapRecord<'_>) -> bool {
        self.has_records() && self.frame.payload_len_with(record) > PAYLOAD_LEN_MAX
    }

    /// Returns true if nothing would be written.
    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty() && !self.has_records() && !self.clears
    }

    /// Adds a record, and says where it will be.
    pub(super) fn add(&mut self, record: &HeapRecord<'_>) -> u64 {
        self.frame.put(record)
    }

    /// The record at `place`, and its bytes, where they are here and not in the log.
    pub(super) fn record(&self, place: u64) -> Option<(HeapRecord<'_>, &[u8])> {
        if self.savepoints.is_empty() { None } else { self.frame.record(place) }
    }

    /// Remembers how to take a change back.
    pub(super) fn remember(&mut self, undo: Undo) {
        self.undo.push(undo);
    }

    /// Lets the frame, in which there is nothing yet, begin with taking out all entries, which were
    /// those of `before`.
    pub(super) fn clear(&mut self, before: Arc<GenerationView>) {
        self.clears = true;
        self.cleared.push(Cleared { view: before, undo_len: self.undo.len() });
    }

    /// Returns true if there is a record in the frame to come.
    pub(super) fn has_records(&self) -> bool {
        self.frame.payload_len() > 0
    }

    /// Makes the frame to come ready to be written.
    pub(super) fn finish_frame(
        &mut self,
        transaction: u64,
        commits: bool,
        follows_sync: bool,
    ) -> (&[u8], CommitFrame) {
        let flags = FrameFlags {
            commits,
            follows_sync,
            clears: self.clears,
            continues: !self.written.is_empty(),
            closes: false,
        };
        let frame = self.frame.finish(flags, transaction);
        (self.frame.bytes(), frame)
    }

    /// The frame was written as `frame`, and the next one begins.
    pub(super) fn was_written(&mut self, frame: CommitFrame) {
        self.written.push(frame);
        self.begin_frame(frame.end());
    }

    /// The changes since all entries were taken out, or else since it began.
    pub(super) fn changes(&self) -> impl Iterator<Item = &Undo> {
        let from = self.cleared.last().map_or(0, |cleared| cleared.undo_len);
        self.undo[from..].iter()
    }

    /// The frames that were written already.
    pub(super) fn written(&self) -> &[CommitFrame] {
        &self.written
    }

    /// Memory that it takes.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.frame.capacity() + self.undo.capacity() * size_of::<Undo>()) as u64
    }

    /// Everything has become part of the log.
    pub(super) fn end(&mut self) {
        *self = Transaction { frame: std::mem::take(&mut self.frame), ..Transaction::default() };
        self.frame.release(PAYLOAD_LEN_MAX);
    }

    /// The part that began last becomes one with what it is in.
    pub(super) fn merge_part(&mut self) {
        self.savepoints.pop();
    }

    /// The next step back to where the part that began last began; `None` when that is reached.
    pub(super) fn step_back(&mut self) -> Option<UndoStep> {
        let savepoint = self.savepoints.last()?;
        if let Some(cleared) = self.cleared.last()
            && self.cleared.len() > savepoint.cleared_len
            && cleared.undo_len == self.undo.len()
        {
            return self.cleared.pop().map(|cleared| UndoStep::Clear(cleared.view));
        }
        match self.undo.len() > savepoint.undo_len {
            true => self.undo.pop().map(UndoStep::Change),
            false => None,
        }
    }

    /// Ends the part that began last, when all steps back are done: how things were when it began,
    /// and, where its beginning is written already, the frame that has it and must come back.
    pub(super) fn end_part(&mut self) -> Option<(LogExtent, Option<CommitFrame>)> {
        let savepoint = self.savepoints.pop()?;
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

    /// Returns the buffer for what is read back.
    pub(super) fn payload_mut(&mut self) -> &mut [u8] {
        self.frame.payload_mut()
    }
}
