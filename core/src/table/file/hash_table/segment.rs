//! Segment of an index: a small open hash table of places in the log.
//!
//! ```text
//! line, 64 bytes:  five words        place in the log (40 bits), 1 for a deletion, hash bits 9 to 31 (23 bits)
//!                  six half words    hash bits 32 to 63 of each; the last of the first line has the segment's check
//! ```
//!
//! A line fills one line of the processor's cache, so that most look-ups miss once. Bits 32 to 39 of the hash say the line
//! where an entry belongs; where that is full it is in one of the next few. An entry never moves and is never empty again, so
//! readers need no lock: to change it is to store one word. A segment that has no more place for an entry is full.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::files::PAGE_LEN;
use crate::heap;

/// Pages of a segment.
pub(super) const SEGMENT_PAGES: u32 = 4;

/// Bytes of a segment.
pub(super) const SEGMENT_LEN: u64 = SEGMENT_PAGES as u64 * PAGE_LEN as u64;

/// Words of a line.
const LINE_WORDS: usize = 8;

/// Entries of a line.
const LINE_ENTRIES: usize = 5;

/// Lines of a segment.
const LINE_COUNT: usize = SEGMENT_LEN as usize / (LINE_WORDS * size_of::<u64>());

/// Entries that a segment has room for.
pub(super) const SLOT_COUNT: usize = LINE_COUNT * LINE_ENTRIES;

/// Lines in which an entry may be.
const PROBED_LINES: usize = 8;

const PLACE_BITS: u32 = 40;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;
const DELETION: u64 = 1 << PLACE_BITS;
const TAG_SHIFT: u32 = PLACE_BITS + 1;

/// Place of an entry that was taken back: no record is there.
const NO_RECORD: u64 = 1;

/// The hash of a key, as far as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct KeyHash(u64);

impl KeyHash {
    #[inline]
    pub(super) fn new(key: &[u8], seed: u64) -> KeyHash {
        KeyHash(xxhash_rust::xxh3::xxh3_64_with_seed(key, seed) >> 9 << 9)
    }

    /// That of a key which nobody looks for.
    pub(super) const NONE: KeyHash = KeyHash(0);

    /// Returns the number that its first bits are.
    #[inline]
    pub(super) fn first_bits(self, count: u32) -> u64 {
        self.0.checked_shr(u64::BITS - count).unwrap_or_default()
    }

    #[inline]
    fn high(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    fn tag(self) -> u64 {
        self.0 >> 9 << TAG_SHIFT
    }

    /// Returns its place in a table of `len` places, which is a power of two.
    #[inline]
    pub(super) fn spread(self, len: usize) -> usize {
        (self.0 >> 32) as usize & (len - 1)
    }
}

/// Record that an index leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexEntry {
    /// Place of the record in the log.
    pub(super) place: u64,
    pub(super) is_deletion: bool,
}

impl IndexEntry {
    /// That of an entry that was taken back.
    pub(super) const NOTHING: IndexEntry = IndexEntry { place: NO_RECORD, is_deletion: false };

    #[inline]
    fn of_word(word: u64) -> IndexEntry {
        IndexEntry { place: word & PLACE_MASK, is_deletion: word & DELETION != 0 }
    }

    #[inline]
    pub(super) fn word(self, hash: KeyHash) -> u64 {
        let deletion = if self.is_deletion { DELETION } else { 0 };
        hash.tag() | deletion | self.place & PLACE_MASK
    }
}

/// Entry with its hash, on its way to another segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct MovingEntry {
    pub(super) hash: KeyHash,
    pub(super) entry: IndexEntry,
}

/// Words of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment<'w> {
    words: &'w [AtomicU64],
}

/// Place for an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntrySlot {
    line: usize,
    number: usize,
}

impl<'w> Segment<'w> {
    /// The segment in `words`, which are as many as it has.
    #[inline]
    pub(super) fn new(words: &'w [AtomicU64]) -> Segment<'w> {
        Segment { words }
    }

    #[inline]
    fn line(&self, line: usize) -> &'w [AtomicU64] {
        let first = line % LINE_COUNT * LINE_WORDS;
        self.words.get(first..first + LINE_WORDS).unwrap_or_default()
    }

    /// Lets the processor bring what a look-up of `hash` begins with.
    #[inline]
    pub(super) fn prefetch(&self, hash: KeyHash) {
        if let Some(first) = self.line(hash.high() as usize).first() {
            heap::prefetch(first);
        }
    }

    /// Shows `seen` the words of entries whose hash may be `hash`, until it returns something; at the end where there is room
    /// for one more, if it is there.
    #[inline]
    pub(super) fn probe<T>(
        &self,
        hash: KeyHash,
        mut seen: impl FnMut(&'w AtomicU64, IndexEntry, EntrySlot) -> Option<T>,
    ) -> Result<T, Option<EntrySlot>> {
        let (home, tag) = (hash.high() as usize, hash.tag());
        for line in home..home + PROBED_LINES {
            let line = line % LINE_COUNT;
            for (number, place) in self.line(line).iter().take(LINE_ENTRIES).enumerate() {
                let word = place.load(Acquire);
                let slot = EntrySlot { line, number };
                if word == 0 {
                    return Err(Some(slot));
                }
                if word >> TAG_SHIFT == tag >> TAG_SHIFT
                    && let Some(found) = seen(place, IndexEntry::of_word(word), slot)
                {
                    return Ok(found);
                }
            }
        }
        Err(None)
    }

    /// Returns true if the entry in `slot` has all bits of `hash` that are kept. For the writer only.
    pub(super) fn has_hash(&self, slot: EntrySlot, hash: KeyHash) -> bool {
        self.high(slot) == hash.high()
    }

    fn high(&self, slot: EntrySlot) -> u32 {
        let pair = self.line(slot.line)[LINE_ENTRIES + slot.number / 2].load(Relaxed);
        (pair >> (slot.number % 2 * 32)) as u32
    }

    /// Sets the half word with that number among those of a line.
    fn set_half(&self, line: usize, number: usize, half: u32) {
        let pair = &self.line(line)[LINE_ENTRIES + number / 2];
        let shift = number % 2 * 32;
        let other = pair.load(Relaxed) & !(0xffff_ffff << shift);
        pair.store(other | u64::from(half) << shift, Relaxed);
    }

    /// Puts an entry into an empty slot.
    pub(super) fn fill(&self, slot: EntrySlot, hash: KeyHash, entry: IndexEntry) {
        self.set_half(slot.line, slot.number, hash.high());
        self.line(slot.line)[slot.number].store(entry.word(hash), Release);
    }

    /// Empties it, whatever is in its words.
    pub(super) fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
    }

    /// Fills it, which nobody else knows yet, with `entries`; false if they find no room.
    pub(super) fn fill_with(&self, entries: &[MovingEntry]) -> bool {
        self.clear();
        entries.iter().all(|moving| match self.probe(moving.hash, |_, _, _| None::<()>) {
            Err(Some(slot)) => {
                self.fill(slot, moving.hash, moving.entry);
                true
            }
            _ => false,
        })
    }

    /// Shows `seen` all entries. For the writer only.
    pub(super) fn each(&self, mut seen: impl FnMut(MovingEntry)) {
        for line in 0..LINE_COUNT {
            for number in 0..LINE_ENTRIES {
                let word = self.line(line)[number].load(Relaxed);
                if word == 0 {
                    break;
                }
                let high = u64::from(self.high(EntrySlot { line, number })) << 32;
                let hash = KeyHash(high | word >> TAG_SHIFT << 9);
                seen(MovingEntry { hash, entry: IndexEntry::of_word(word) });
            }
        }
    }

    /// Computes its check.
    pub(super) fn check(&self, seed: u64) -> u32 {
        let mut bytes = [0; LINE_WORDS * size_of::<u64>()];
        (0..LINE_COUNT).fold(seed as u32 ^ (seed >> 32) as u32, |check, line| {
            for (bytes, word) in bytes.chunks_exact_mut(8).zip(self.line(line)) {
                bytes.copy_from_slice(&word.load(Relaxed).to_le_bytes());
            }
            // The last four are not used, or are the check.
            crc32c::crc32c_append(check, &bytes[..bytes.len() - size_of::<u32>()])
        })
    }

    /// Returns the check that was written into it.
    pub(super) fn written_check(&self) -> u32 {
        self.high(EntrySlot { line: 0, number: LINE_ENTRIES })
    }

    /// Writes its check into it.
    pub(super) fn write_check(&self, check: u32) {
        self.set_half(0, LINE_ENTRIES, check);
    }

    /// Returns the first word, which a segment that is free has for itself.
    pub(super) fn first_word(&self) -> Option<&'w AtomicU64> {
        self.words.first()
    }
}
