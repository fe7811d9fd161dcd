//! Changes of an index, by who has the turn: entries, and segments and a directory that are written anew when they are full.
//!
//! New rooms are frames at the end of the log, whose blocks are taken from the disk first, so that a full disk is an error. A
//! segment that is free has the page of the next one in its first word. What a killed writer had taken stays unused.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

use super::hash_file::HashFile;
use super::header::LOG_END_MAX;
use super::index::{Bucket, DIRECTORY_BITS_MAX, SlotWord};
use super::segment::{IndexEntry, KeyHash, MovingEntry, SEGMENT_LEN, SEGMENT_PAGES, SLOT_COUNT};
use super::state::DirectoryRoom;
use crate::error::{Error, Result};
use crate::files::{CommitFrame, FRAME_HEADER_LEN, PAGE_LEN, reserve};
use crate::table::ValueType;

// Bound (Tables): room that the index of a hashed table's file takes from the disk at once = an eighth of the index, at
// least 32 KiB and at most 1 MiB; a directory of twice the length.
const SEGMENTS_AT_ONCE: u64 = 64;

/// The most bytes of one frame of rooms.
const ROOM_LEN_MAX: u64 = 1 << 30;

/// Slots of the first directory, as a power of two: as many as a segment has words.
const FIRST_BITS: u32 = (SEGMENT_LEN as usize / size_of::<u64>()).ilog2();

/// Segment that is to have a part of the entries of another.
#[derive(Debug, Clone, Copy)]
struct NextSegment {
    page: u32,
    /// Number of hash bits that its entries have in common.
    depth: u32,
    /// One of them.
    hash: Option<KeyHash>,
}

impl NextSegment {
    /// Returns true if a slot belongs to it, of a directory of so many slots as a power of two.
    fn is_of(&self, number: u64, bits: u32) -> bool {
        let own = self.hash.map(|hash| hash.first_bits(self.depth));
        own.is_none_or(|own| own == number >> (bits - self.depth))
    }
}

/// Change of an index that a record makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexChange {
    pub(super) hash: KeyHash,
    pub(super) entry: IndexEntry,
    /// Entry that it replaces; its place is 0 if there is none.
    pub(super) before: IndexEntry,
}

/// Returns true if a state needs an entry whose end is `oldest_end` or later, and which begins at `oldest_start` or later.
fn is_needed(entry: IndexEntry, (oldest_end, oldest_start): (u64, u64)) -> bool {
    let is_deleted = entry.is_deletion && entry.place < oldest_end;
    entry != IndexEntry::NOTHING && entry.place >= oldest_start && !is_deleted
}

/// Writer of an index. It has the turn.
#[derive(Debug)]
pub(super) struct IndexWriter<'f> {
    file: &'f HashFile,
    /// End of the log, where new rooms begin.
    pub(super) end: u64,
    /// Number for the frames of new rooms.
    number: u64,
    /// Place before which nothing is alive.
    start: u64,
    /// End of the newest state that was committed.
    committed_end: u64,
}

impl<'f> IndexWriter<'f> {
    /// Writes the index of `file`, whose state was one that ended at `committed_end` and began at `start`. New rooms are added
    /// at `end` of the log.
    pub(super) fn begin(
        file: &'f HashFile,
        (start, committed_end): (u64, u64),
        end: u64,
        number: u64,
    ) -> IndexWriter<'f> {
        IndexWriter { file, end, number, start, committed_end }
    }

    /// From now on, nothing before `start` is alive.
    pub(super) fn begin_at(&mut self, start: u64) {
        self.start = start;
    }

    /// Returns the end of the oldest state that somebody may read, and the place before which no such state has anything.
    fn oldest(&self) -> (u64, u64) {
        let mut states = Vec::new();
        self.file.sharing.read_states(&mut states);
        // What begins with the commit that is being taken in is not the newest state yet.
        let start = if self.start < self.committed_end { self.start } else { 0 };
        // What was evicted is there again after a power cut until it is trimmed off: what replaces it has to know it.
        let start = match self.file.log.header.values == ValueType::CACHE {
            true => start.min(self.file.sharing.state().trimmed_end()),
            false => start,
        };
        states.iter().fold((self.committed_end, start), |oldest, state| {
            (oldest.0.min(state.0), oldest.1.min(state.1))
        })
    }

    /// Takes a change in; one that was taken in before stays. Where its entry is to be replaced and is not there, because
    /// nobody needed it any more, it gets a place of its own. `is_same` says of a record that its key is that of the change.
    pub(super) fn apply(
        &mut self,
        change: &IndexChange,
        is_same: &mut dyn FnMut(u64) -> Result<bool>,
    ) -> Result<()> {
        let IndexChange { hash, entry, before } = *change;
        if entry.is_deletion && before.place == 0 {
            return Ok(());
        }
        loop {
            let bucket = self.file.bucket(hash)?;
            let segment = bucket.segment;
            let probed = segment.probe(hash, |word, found, slot| {
                if found.place == entry.place {
                    return Some(Ok(()));
                }
                if found.place > entry.place && segment.has_hash(slot, hash) {
                    // Of a transaction that changes a key twice, its dead writer had taken in what it did last.
                    return match is_same(found.place) {
                        Ok(is_same) => is_same.then_some(Ok(())),
                        Err(error) => Some(Err(error)),
                    };
                }
                let is_it = match before.place {
                    0 if !segment.has_hash(slot, hash) => Ok(false),
                    // Evicted before, and found in the log again.
                    0 if found.is_deletion || found.place >= self.start => is_same(found.place),
                    0 => Ok(false),
                    replaced => Ok(found.place == replaced),
                };
                match is_it {
                    Ok(false) => None,
                    Ok(true) => Some(self.file.note_change(&bucket).map(|()| {
                        word.store(entry.word(hash), SeqCst);
                    })),
                    Err(error) => Some(Err(error)),
                }
            });
            match probed {
                Ok(outcome) => return outcome,
                Err(Some(slot)) => {
                    self.file.note_change(&bucket)?;
                    segment.fill(slot, hash, entry);
                    return Ok(());
                }
                Err(None) => self.grow(&bucket)?,
            }
        }
    }

    /// Takes a change back that was taken in.
    pub(super) fn take_back(&self, change: &IndexChange) -> Result<()> {
        let before = if change.before.place == 0 { IndexEntry::NOTHING } else { change.before };
        let bucket = self.file.bucket(change.hash)?;
        let _ = bucket.segment.probe(change.hash, |word, found, _| {
            (found.place == change.entry.place)
                .then(|| word.store(before.word(change.hash), SeqCst))
        });
        Ok(())
    }

    /// Writes a segment that is full anew: what is needed of it, into one segment or several.
    fn grow(&mut self, bucket: &Bucket<'_>) -> Result<()> {
        let (mut kept, oldest) = (Vec::with_capacity(SLOT_COUNT), self.oldest());
        let mut count = 0;
        bucket.segment.each(|moving| {
            count += 1;
            if is_needed(moving.entry, oldest) {
                kept.push(moving);
            }
        });
        let depth = bucket.slot.depth();
        // One that is full again soon would be as much work for less, and the same entries as full.
        let is_full = kept.len() > SLOT_COUNT / 2 || kept.len() == count;
        let depth = if is_full { depth + 1 } else { depth };
        let mut next = Vec::new();
        let written = self.write_segments(&kept, depth, &mut next).and_then(|()| {
            let deepest = next.iter().map(|next| next.depth).max().unwrap_or_default();
            if deepest > self.file.directory().bits {
                self.double_directory(deepest)?;
            }
            Ok(())
        });
        if let Err(error) = written {
            for segment in next {
                self.free_segment(segment.page)?;
            }
            return Err(error);
        }
        self.switch(bucket, &next)
    }

    /// Writes entries to new segments, which have `depth` hash bits in common, or more.
    fn write_segments(
        &mut self,
        entries: &[MovingEntry],
        depth: u32,
        next: &mut Vec<NextSegment>,
    ) -> Result<()> {
        if depth > DIRECTORY_BITS_MAX {
            return Err(Error::limit(
                "entries of one hash",
                SLOT_COUNT as u64,
                entries.len() as u64,
            )
            .in_file(&self.file.log.name));
        }
        let mut rest = entries.to_vec();
        rest.sort_unstable_by_key(|moving| moving.hash.first_bits(depth));
        let mut from = 0;
        while from < rest.len() || from == 0 {
            let part = rest.get(from).map(|moving| moving.hash.first_bits(depth));
            let count = rest[from..].iter().take_while(|m| Some(m.hash.first_bits(depth)) == part);
            let to = from + count.count();
            let page = self.take_segment()?;
            match self.file.segment(page)?.fill_with(&rest[from..to]) {
                true => {
                    let hash = rest.get(from).map(|moving| moving.hash);
                    next.push(NextSegment { page, depth, hash });
                }
                false => {
                    self.free_segment(page)?;
                    self.write_segments(&rest[from..to], depth + 1, next)?;
                }
            }
            if to == from {
                break;
            }
            from = to;
        }
        Ok(())
    }

    /// Lets the slots of a segment lead to those that were made of it.
    fn switch(&mut self, bucket: &Bucket<'_>, next: &[NextSegment]) -> Result<()> {
        let room = self.file.directory();
        // What no entry belongs to gets a segment, too, one for all such slots.
        let mut empty = None;
        for number in bucket.slots_in(room) {
            let place = self.file.slot(room, number)?;
            let found = SlotWord(place.load(Acquire));
            if found.page() != bucket.slot.page() {
                continue;
            }
            let of_slot = next.iter().find(|segment| segment.is_of(number, room.bits));
            let (page, depth) = match (of_slot, empty) {
                (Some(segment), _) => (segment.page, segment.depth),
                (None, Some(page)) => (page, bucket.slot.depth()),
                (None, None) => {
                    let page = self.take_segment()?;
                    self.file.segment(page)?.clear();
                    empty = Some(page);
                    (page, bucket.slot.depth())
                }
            };
            place.store(SlotWord::next(found, page, depth).0, SeqCst);
        }
        self.free_segment(bucket.slot.page())
    }

    /// Makes a directory of so many slots, as a power of two, that leads to the same segments.
    fn double_directory(&mut self, bits: u32) -> Result<()> {
        let old = self.file.directory();
        let room = DirectoryRoom { page: self.take_directory(bits)?, bits };
        for number in 0..1 << bits {
            let slot = self.file.slot(old, number >> (bits - old.bits))?.load(Acquire);
            self.file.slot(room, number)?.store(slot, Relaxed);
        }
        self.file.sharing.state().set_directory(room);
        Ok(())
    }

    /// Begins with an index without entries, in rooms of its own.
    pub(super) fn begin_index(&mut self) -> Result<()> {
        let page = self.take_segment()?;
        self.file.segment(page)?.clear();
        let room = DirectoryRoom { page: self.take_directory(FIRST_BITS)?, bits: FIRST_BITS };
        for number in 0..1 << room.bits {
            let place = self.file.slot(room, number)?;
            place.store(SlotWord::next(SlotWord(place.load(Relaxed)), page, 0).0, SeqCst);
        }
        self.file.sharing.state().set_directory(room);
        Ok(())
    }

    fn take_directory(&mut self, bits: u32) -> Result<u32> {
        let pages = ((size_of::<u64>() as u64) << bits).div_ceil(PAGE_LEN as u64);
        match pages <= u64::from(SEGMENT_PAGES) {
            true => self.take_segment(),
            false => Ok(self.add_room(pages)?.0 as u32),
        }
    }

    fn take_segment(&mut self) -> Result<u32> {
        let state = self.file.sharing.state();
        let free = state.free_segment().load(Relaxed);
        if free != 0 {
            let next = self.file.segment(free as u32)?.first_word();
            let next = next.map_or(0, |word| word.load(Relaxed));
            state.free_segment().store(next, SeqCst);
            return Ok(free as u32);
        }
        let (first, end) = match state.free_rooms() {
            (first, end) if first + u64::from(SEGMENT_PAGES) <= end => (first, end),
            _ => {
                let count = (state.room_bytes() / SEGMENT_LEN / 8).clamp(2, SEGMENTS_AT_ONCE);
                self.add_room(count * u64::from(SEGMENT_PAGES))?
            }
        };
        state.set_free_rooms((first + u64::from(SEGMENT_PAGES), end));
        Ok(first as u32)
    }

    fn free_segment(&mut self, page: u32) -> Result<()> {
        let free = self.file.sharing.state().free_segment();
        if let Some(word) = self.file.segment(page)?.first_word() {
            word.store(free.load(Relaxed), SeqCst);
            free.store(u64::from(page), SeqCst);
        }
        Ok(())
    }

    /// Takes all of a room that was found in the log for new segments.
    pub(super) fn reuse_room(&mut self, frame: &CommitFrame) -> Result<()> {
        let first = frame.payload().next_multiple_of(SEGMENT_LEN) / PAGE_LEN as u64;
        let mut page = first;
        while (page + u64::from(SEGMENT_PAGES)) * PAGE_LEN as u64 <= frame.end() {
            self.free_segment(page as u32)?;
            page += u64::from(SEGMENT_PAGES);
        }
        Ok(())
    }

    /// Adds a frame of so many pages at the end of the log, and returns the first page and the one behind the last.
    pub(super) fn add_room(&mut self, pages: u64) -> Result<(u64, u64)> {
        let state = self.file.sharing.state();
        let len = pages * PAGE_LEN as u64;
        let added = match self.file.is_index_own {
            true => {
                let first = state.room_bytes() / PAGE_LEN as u64 + u64::from(SEGMENT_PAGES);
                state.set_room_bytes(state.room_bytes() + len);
                (first, first + pages)
            }
            false => self.add_room_of_file(len)?,
        };
        Ok(added)
    }

    fn add_room_of_file(&mut self, len: u64) -> Result<(u64, u64)> {
        let log = &self.file.log;
        let first = (self.end + FRAME_HEADER_LEN as u64).next_multiple_of(SEGMENT_LEN);
        let end = first + len;
        if end > LOG_END_MAX || len > ROOM_LEN_MAX {
            return Err(Error::limit("a table file", LOG_END_MAX, end).in_file(&log.name));
        }
        let failed = |error| log.system_error("write the table", &error);
        let file = log.storage.file();
        let file = file.ok_or_else(|| Error::internal("a shared index without a file"))?;
        reserve(file, first, end).map_err(failed)?;
        log.write_room(self.end, end, self.number).map_err(failed)?;
        let state = self.file.sharing.state();
        state.set_room_bytes(state.room_bytes() + end - self.end);
        self.end = end;
        Ok((first / PAGE_LEN as u64, end / PAGE_LEN as u64))
    }
}
