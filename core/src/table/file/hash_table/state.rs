//! Words that the processes share of a table: its newest state, its index, and what was made to last.
//!
//! The newest state is in one of two places; a counter says in which. It is written to the other place, and then counts.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, SeqCst},
};

use super::extent::LogExtent;
use super::uses::UsesRoom;
use crate::table::file::sharing::Sharing;

/// Counter of the states that were published; its lowest bit says where the newest one is.
const COUNTER: usize = 0;
/// Bits that say that the file or its index is not to be used any more.
const MARKS: usize = 1;
/// Page of the directory, its number of slots as a power of two, and a count of changes.
const DIRECTORY: usize = 2;
/// End of what was made to last.
const LASTING_END: usize = 3;
/// 1 if the name of the file may be another's after a power cut.
const NAME_UNSYNCED: usize = 4;
/// The two places of a state.
const PLACES: [usize; 2] = [8, 16];
/// Seed and generation of the file.
const IDENTITY: usize = 24;
/// First of the pages that are free for the next rooms, the page behind them, and the first of the segments that are free.
const ROOMS: usize = 32;
const ROOMS_END: usize = 33;
const FREE_SEGMENT: usize = 34;
/// Bytes of the log that are room.
const ROOM_BYTES: usize = 35;
/// End of the part of the log that was given back to the disk, and the bytes that were.
const TRIMMED_END: usize = 36;
const FREED_BYTES: usize = 37;
/// Room of the counts of uses.
const USES_ROOM: usize = 38;

/// Another file has taken the place of this one.
const REPLACED: u64 = 1;
/// A part of the index is not what was written.
const DAMAGED: u64 = 2;
/// Another file is about to take the place of this one, or has: its name tells.
const REPLACING: u64 = 4;
/// Something may be behind the newest state.
const UNFINISHED: u64 = 8;

const PAGE_BITS: u32 = 28;
const COUNT_BITS: u32 = 5;

/// Directory of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DirectoryRoom {
    pub(super) page: u32,
    /// Number of its slots, as a power of two.
    pub(super) bits: u32,
}

/// Words of a table that processes share.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableState<'w> {
    words: &'w [AtomicU64],
}

impl Sharing {
    #[inline]
    pub(super) fn state(&self) -> TableState<'_> {
        TableState { words: self.words() }
    }
}

/// Returns true if the table was closed after its last change.
pub(super) fn is_settled(words: &[AtomicU64]) -> bool {
    let newest = TableState { words }.newest();
    newest.is_closed || newest.last_frame == 0
}

impl<'w> TableState<'w> {
    pub(super) fn of(words: &'w [AtomicU64]) -> TableState<'w> {
        TableState { words }
    }

    /// Begins with the state that a file of `identity`, seed and generation, has.
    pub(super) fn begin(&self, extent: &LogExtent, identity: [u64; 2]) {
        for word in self.words {
            word.store(0, Relaxed);
        }
        for (word, number) in self.words[IDENTITY..].iter().zip(identity) {
            word.store(number, Relaxed);
        }
        self.publish(extent);
    }

    /// Returns true if the words are those of the file with that seed and generation.
    #[inline]
    pub(super) fn is_of(&self, identity: [u64; 2]) -> bool {
        [0, 1].map(|at| self.words[IDENTITY + at].load(Relaxed)) == identity
    }

    #[inline]
    pub(super) fn counter(&self) -> u64 {
        self.words[COUNTER].load(SeqCst)
    }

    /// Returns the newest state.
    #[inline]
    pub(super) fn newest(&self) -> LogExtent {
        loop {
            let counter = self.counter();
            let place = PLACES[(counter & 1) as usize];
            let [end, next_transaction, last_frame, start, records, live_bytes, dead_records] =
                [0, 1, 2, 3, 4, 5, 6].map(|word: usize| self.words[place + word].load(Acquire));
            if self.words[COUNTER].load(Acquire) == counter {
                let is_closed = last_frame & 1 == 1;
                let last_frame = last_frame >> 1;
                return LogExtent {
                    end,
                    next_transaction,
                    last_frame,
                    is_closed,
                    start,
                    records,
                    live_bytes,
                    dead_records,
                };
            }
        }
    }

    /// Makes `extent` the newest state. Only for who has the turn.
    pub(super) fn publish(&self, extent: &LogExtent) {
        let counter = self.words[COUNTER].load(Relaxed) + 1;
        let place = PLACES[(counter & 1) as usize];
        let last_frame = extent.last_frame << 1 | u64::from(extent.is_closed);
        let LogExtent { end, next_transaction, start, records, live_bytes, dead_records, .. } =
            *extent;
        let state = [end, next_transaction, last_frame, start, records, live_bytes, dead_records];
        for (at, word) in state.into_iter().enumerate() {
            self.words[place + at].store(word, SeqCst);
        }
        self.words[COUNTER].store(counter, SeqCst);
    }

    #[inline]
    pub(super) fn is_marked(&self) -> bool {
        self.words[MARKS].load(Acquire) != 0
    }

    pub(super) fn is_replaced(&self) -> bool {
        self.words[MARKS].load(Acquire) & REPLACED != 0
    }

    pub(super) fn set_replaced(&self) {
        self.words[MARKS].fetch_or(REPLACED, SeqCst);
    }

    /// Returns true while somebody lets another file take the place of this one, or if one died while it did.
    pub(super) fn is_replacing(&self) -> bool {
        self.words[MARKS].load(Acquire) & REPLACING != 0
    }

    pub(super) fn set_replacing(&self, is_replacing: bool) {
        self.mark(REPLACING, is_replacing);
    }

    /// Returns true if there may be something behind the newest state: a transaction, or a part of one.
    pub(super) fn is_unfinished(&self) -> bool {
        self.words[MARKS].load(Acquire) & UNFINISHED != 0
    }

    pub(super) fn set_unfinished(&self, is_unfinished: bool) {
        self.mark(UNFINISHED, is_unfinished);
    }

    fn mark(&self, mark: u64, is_set: bool) {
        match is_set {
            true => self.words[MARKS].fetch_or(mark, SeqCst),
            false => self.words[MARKS].fetch_and(!mark, SeqCst),
        };
    }

    pub(super) fn is_index_damaged(&self) -> bool {
        self.words[MARKS].load(Acquire) & DAMAGED != 0
    }

    pub(super) fn set_index_damaged(&self, is_damaged: bool) {
        self.mark(DAMAGED, is_damaged);
    }

    /// Returns the word that changes with the directory.
    #[inline]
    pub(super) fn directory_word(&self) -> u64 {
        self.words[DIRECTORY].load(Acquire)
    }

    pub(super) fn set_directory(&self, room: DirectoryRoom) {
        let changes = (self.directory_word() >> (PAGE_BITS + COUNT_BITS)) + 1;
        let word = changes << (PAGE_BITS + COUNT_BITS) | u64::from(room.bits) << PAGE_BITS;
        self.words[DIRECTORY].store(word | u64::from(room.page), SeqCst);
    }

    pub(super) fn lasting_end(&self) -> u64 {
        self.words[LASTING_END].load(SeqCst)
    }

    pub(super) fn has_lasted_to(&self, end: u64) {
        self.words[LASTING_END].fetch_max(end, SeqCst);
    }

    pub(super) fn is_name_unsynced(&self) -> bool {
        self.words[NAME_UNSYNCED].load(SeqCst) != 0
    }

    pub(super) fn set_name_unsynced(&self, is_unsynced: bool) {
        self.words[NAME_UNSYNCED].store(u64::from(is_unsynced), SeqCst);
    }

    /// Returns the pages that are free for the next rooms: the first, and the one behind.
    pub(super) fn free_rooms(&self) -> (u64, u64) {
        (self.words[ROOMS].load(Relaxed), self.words[ROOMS_END].load(Relaxed))
    }

    pub(super) fn set_free_rooms(&self, (first, end): (u64, u64)) {
        // Whoever dies in between leaves less, and none twice.
        self.words[ROOMS_END].store(end.min(self.words[ROOMS_END].load(Relaxed)), SeqCst);
        self.words[ROOMS].store(first, SeqCst);
        self.words[ROOMS_END].store(end, SeqCst);
    }

    /// Returns the word with the page of the first segment that is free; 0 for none.
    pub(super) fn free_segment(&self) -> &'w AtomicU64 {
        &self.words[FREE_SEGMENT]
    }

    pub(super) fn room_bytes(&self) -> u64 {
        self.words[ROOM_BYTES].load(Relaxed)
    }

    pub(super) fn set_room_bytes(&self, bytes: u64) {
        self.words[ROOM_BYTES].store(bytes, Relaxed);
    }

    /// Returns the end of the part of the log of which nothing is left but rooms of the index; 0 if nothing was given back.
    #[inline]
    pub(super) fn trimmed_end(&self) -> u64 {
        self.words[TRIMMED_END].load(SeqCst)
    }

    /// Returns the bytes that were given back.
    pub(super) fn freed_bytes(&self) -> u64 {
        self.words[FREED_BYTES].load(Relaxed)
    }

    pub(super) fn set_trimmed(&self, end: u64, freed_bytes: u64) {
        self.words[TRIMMED_END].store(end, SeqCst);
        self.words[FREED_BYTES].store(freed_bytes, SeqCst);
    }

    /// Returns the room of the counts of uses.
    #[inline]
    pub(super) fn uses_room(&self) -> UsesRoom {
        UsesRoom::of_word(self.words[USES_ROOM].load(Acquire))
    }

    pub(super) fn set_uses_room(&self, room: UsesRoom) {
        self.words[USES_ROOM].store(room.word(), SeqCst);
    }

    /// Goes on with the index of another state of the same file.
    pub(super) fn take_index(&self, other: &TableState<'_>) {
        self.set_free_rooms(other.free_rooms());
        self.free_segment().store(other.free_segment().load(Relaxed), SeqCst);
        self.set_room_bytes(other.room_bytes());
        self.set_directory(DirectoryRoom::of_word(other.directory_word()));
    }
}

impl DirectoryRoom {
    #[inline]
    pub(super) fn of_word(word: u64) -> DirectoryRoom {
        let page = (word & ((1 << PAGE_BITS) - 1)) as u32;
        DirectoryRoom { page, bits: (word >> PAGE_BITS) as u32 & ((1 << COUNT_BITS) - 1) }
    }
}
