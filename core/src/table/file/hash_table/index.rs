//! Index of a log: extendible hashing. The first bits of a hash say the slot of a directory, the slot says the segment.
//!
//! ```text
//! slot: page of the segment (28 bits), hash bits that its entries have in common (5), 1 if it is known to be what was
//!       written, 1 if it was changed since its check was written, count of changes (29)
//! ```
//!
//! A segment that is full is written anew into others, and the slots are switched over, each by one store. A reader that finds
//! nothing looks if the slot and the directory are still the same. So a writer that is stopped or killed holds up nobody. For
//! all slots that lead to a segment it has all entries, also if a killed writer has switched only some.
//!
//! A clean close writes a check into each segment. The next session looks at it when it comes to the segment first.

use std::ops::Range;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, SeqCst},
    fence,
};

use super::hash_file::HashFile;
use super::segment::{IndexEntry, KeyHash, SEGMENT_PAGES, Segment};
use super::state::DirectoryRoom;
use crate::error::{Error, ErrorKind, Result};
use crate::files::PAGE_LEN;

/// Slots in a page of a directory.
const PAGE_SLOTS: u64 = (PAGE_LEN / size_of::<u64>()) as u64;

/// The most slots of a directory, as a power of two: hash bits that say nothing of the place in a segment.
pub(super) const DIRECTORY_BITS_MAX: u32 = 24;

const PAGE_MASK: u64 = (1 << 28) - 1;
const DEPTH_SHIFT: u32 = 28;
const DEPTH_MASK: u64 = (1 << 5) - 1;
/// The segment is known to be what was written.
const TRUSTED: u64 = 1 << 33;
/// The segment was changed since its check was written into it.
const CHANGED: u64 = 1 << 34;
const ONE_CHANGE: u64 = 1 << 35;

/// Outcome of a look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexLookup<T> {
    Found(T),
    Absent,
    /// Nothing is known, since the segment was replaced meanwhile.
    Moved,
}

/// Content of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotWord(pub(super) u64);

impl SlotWord {
    /// The word that follows `before`, for a new segment.
    pub(super) fn next(before: SlotWord, page: u32, depth: u32) -> SlotWord {
        let changes = (before.0 / ONE_CHANGE).wrapping_add(1).wrapping_mul(ONE_CHANGE);
        SlotWord(changes | TRUSTED | CHANGED | u64::from(depth) << DEPTH_SHIFT | u64::from(page))
    }

    #[inline]
    pub(super) fn page(self) -> u32 {
        (self.0 & PAGE_MASK) as u32
    }

    /// Returns the number of hash bits that all entries of the segment have in common.
    pub(super) fn depth(self) -> u32 {
        (self.0 >> DEPTH_SHIFT & DEPTH_MASK) as u32
    }

    pub(super) fn is_changed(self) -> bool {
        self.0 & CHANGED != 0
    }

    /// Returns what counts of it beyond a session.
    pub(super) fn lasting(self) -> u64 {
        self.0 & (PAGE_MASK | DEPTH_MASK << DEPTH_SHIFT)
    }
}

/// Segment that a hash belongs to, and how it was found.
#[derive(Debug)]
pub(super) struct Bucket<'f> {
    directory: u64,
    /// Number of the slot.
    number: u64,
    place: &'f AtomicU64,
    pub(super) slot: SlotWord,
    pub(super) segment: Segment<'f>,
}

impl Bucket<'_> {
    /// Returns the numbers of the slots that may lead to the same segment, in the directory or a later one.
    pub(super) fn slots_in(&self, room: DirectoryRoom) -> Range<u64> {
        let more = room.bits - DirectoryRoom::of_word(self.directory).bits;
        let count = 1 << room.bits.saturating_sub(self.slot.depth());
        let first = (self.number << more) / count * count;
        first..first + count
    }
}

impl HashFile {
    pub(super) fn directory(&self) -> DirectoryRoom {
        DirectoryRoom::of_word(self.sharing.state().directory_word())
    }

    /// Returns a slot of a directory.
    #[inline]
    pub(super) fn slot(&self, room: DirectoryRoom, number: u64) -> Result<&AtomicU64> {
        let page = u64::from(room.page) + number / PAGE_SLOTS;
        self.check_pages(page + 1)?;
        let words = self.map.words(page as u32).map_err(|error| self.cannot_map(&error))?;
        Ok(&words[(number % PAGE_SLOTS) as usize])
    }

    #[inline]
    pub(super) fn segment(&self, page: u32) -> Result<Segment<'_>> {
        self.check_pages(u64::from(page) + u64::from(SEGMENT_PAGES))?;
        let words = self.map.words_of(page, SEGMENT_PAGES);
        Ok(Segment::new(words.map_err(|error| self.cannot_map(&error))?))
    }

    #[cold]
    fn cannot_map(&self, error: &std::io::Error) -> Error {
        self.log.system_error("map the table", error)
    }

    /// Finds the segment of a hash.
    #[inline]
    pub(super) fn bucket(&self, hash: KeyHash) -> Result<Bucket<'_>> {
        loop {
            let directory = self.sharing.state().directory_word();
            let room = DirectoryRoom::of_word(directory);
            let number = hash.first_bits(room.bits);
            let place = self.slot(room, number)?;
            let slot = SlotWord(place.load(Acquire));
            let segment = self.segment(slot.page())?;
            if slot.0 & TRUSTED != 0 || self.trust(place, slot, segment)? {
                return Ok(Bucket { directory, number, place, slot, segment });
            }
        }
    }

    /// Looks if a segment is what was written. False if the slot has changed meanwhile.
    #[cold]
    fn trust(&self, place: &AtomicU64, slot: SlotWord, segment: Segment<'_>) -> Result<bool> {
        let is_intact = segment.check(self.log.header.seed) == segment.written_check();
        fence(SeqCst);
        if place.load(SeqCst) != slot.0 {
            return Ok(false);
        }
        if !is_intact {
            self.sharing.state().set_index_damaged(true);
            return Err(self.index_damaged());
        }
        let _ = place.compare_exchange(slot.0, slot.0 | TRUSTED, SeqCst, SeqCst);
        Ok(false)
    }

    pub(super) fn index_damaged(&self) -> Error {
        let message = "expected an index as it was written, found damage; it is made anew when no transaction is open";
        Error::new(ErrorKind::Corrupt, message).in_file(&self.log.name)
    }

    /// Lets the processor bring what a look-up of `hash` begins with.
    #[inline]
    pub(super) fn prefetch(&self, hash: KeyHash) {
        // Where it cannot be found, the look-up says so.
        if let Ok(bucket) = self.bucket(hash) {
            bucket.segment.prefetch(hash);
        }
    }

    /// Lets the processor bring what a look-up of `hash` reads of the log.
    #[inline]
    pub(super) fn prefetch_record(&self, hash: KeyHash) {
        if let Ok(bucket) = self.bucket(hash) {
            let _ = bucket.segment.probe(hash, |_, entry, _| {
                self.log.prefetch(entry.place);
                Some(())
            });
        }
    }

    /// Shows `is_it` the entries whose hash may be `hash`, until it returns something.
    #[inline]
    pub(super) fn find<T>(
        &self,
        hash: KeyHash,
        mut is_it: impl FnMut(IndexEntry) -> Result<Option<T>>,
    ) -> Result<IndexLookup<T>> {
        let bucket = self.bucket(hash)?;
        let probed = bucket.segment.probe(hash, |word, entry, _| match is_it(entry) {
            Ok(found) => found.map(|found| Ok(IndexLookup::Found(found))),
            // The record may have been taken back meanwhile, and another one written there.
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                let is_still = word.load(Acquire) == entry.word(hash);
                Some(if is_still && self.is_current(&bucket) {
                    Err(error)
                } else {
                    Ok(IndexLookup::Moved)
                })
            }
            Err(error) => Some(Err(error)),
        });
        match probed {
            Ok(outcome) => outcome,
            Err(_) => {
                let end = u64::from(bucket.slot.page() + SEGMENT_PAGES) * PAGE_LEN as u64;
                self.check_reached(end)?;
                match self.is_current(&bucket) {
                    true => self.check_uncut().map(|()| IndexLookup::Absent),
                    false => Ok(IndexLookup::Moved),
                }
            }
        }
    }

    /// Returns true if a bucket is still the one of its hash.
    #[inline]
    fn is_current(&self, bucket: &Bucket<'_>) -> bool {
        // What was read of the segment was read before.
        fence(Acquire);
        let flags = TRUSTED | CHANGED;
        (bucket.place.load(Acquire) ^ bucket.slot.0) & !flags == 0
            && self.sharing.state().directory_word() == bucket.directory
    }

    /// Notes that a segment changes. Only for who has the turn.
    #[inline]
    pub(super) fn note_change(&self, bucket: &Bucket<'_>) -> Result<()> {
        if bucket.slot.is_changed() {
            return Ok(());
        }
        // Who comes by another slot must not compare it with its check from now on.
        self.each_slot_of(bucket, |place| {
            place.fetch_or(TRUSTED | CHANGED, SeqCst);
        })
    }

    /// Shows `seen` the slots that lead to a segment.
    pub(super) fn each_slot_of(
        &self,
        bucket: &Bucket<'_>,
        mut seen: impl FnMut(&AtomicU64),
    ) -> Result<()> {
        let room = DirectoryRoom::of_word(bucket.directory);
        for number in bucket.slots_in(room) {
            let place = self.slot(room, number)?;
            if SlotWord(place.load(Acquire)).page() == bucket.slot.page() {
                seen(place);
            }
        }
        Ok(())
    }

    /// Writes checks into the segments that changed, so that a later session can trust them. Returns the check of the
    /// directory. Only for who has the turn.
    pub(super) fn seal_index(&self) -> Result<u32> {
        let (seed, mut last) = (self.log.header.seed, None);
        self.fold_slots(|place, slot| {
            if slot.is_changed() && last != Some(slot.page()) {
                let segment = self.segment(slot.page())?;
                segment.write_check(segment.check(seed));
                last = Some(slot.page());
            }
            place.fetch_and(!(TRUSTED | CHANGED), SeqCst);
            Ok(())
        })
    }

    /// Takes out of the directory what a session has noted in it, and returns its check.
    pub(super) fn forget_trust(&self) -> Result<u32> {
        self.fold_slots(|place, slot| {
            if slot.0 & (TRUSTED | CHANGED) == TRUSTED {
                let _ = place.compare_exchange(slot.0, slot.0 & !TRUSTED, SeqCst, SeqCst);
            }
            Ok(())
        })
    }

    /// Takes out of the directory what was left in it by a session that has ended, and returns its check.
    pub(super) fn begin_session(&self) -> Result<u32> {
        self.fold_slots(|place, slot| {
            if slot.0 & (TRUSTED | CHANGED) != 0 {
                place.fetch_and(!(TRUSTED | CHANGED), SeqCst);
            }
            Ok(())
        })
    }

    /// Looks if all segments are what was written.
    pub(super) fn verify_index(&self) -> Result<()> {
        let room = self.directory();
        for number in 0..1 << room.bits {
            let place = self.slot(room, number)?;
            let slot = SlotWord(place.load(Acquire));
            let segment = self.segment(slot.page())?;
            if slot.0 & TRUSTED == 0 {
                self.trust(place, slot, segment)?;
            }
        }
        Ok(())
    }

    /// Shows `seen` all slots, and returns the check of what lasts of them.
    fn fold_slots(&self, mut seen: impl FnMut(&AtomicU64, SlotWord) -> Result<()>) -> Result<u32> {
        let room = self.directory();
        let mut check = room.page ^ room.bits;
        for number in 0..1 << room.bits {
            let place = self.slot(room, number)?;
            let slot = SlotWord(place.load(Acquire));
            check = crc32c::crc32c_append(check, &slot.lasting().to_le_bytes());
            seen(place, slot)?;
        }
        Ok(check)
    }
}
