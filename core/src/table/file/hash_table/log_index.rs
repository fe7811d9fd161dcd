//! Finds the newest record of a key in a log: an open hash table of places, which is in memory, or in
//! a nameless file that is mapped.
//!
//! ```text
//! line, 64 bytes:  five words  place in the log (40 bits), hash bits 8 to 31 (24 bits)
//!                  six half words, the last unused: hash bits 32 to 63
//! ```
//!
//! A line fills one line of the processor's cache, so that most look-ups miss once. The number of
//! lines is a power of two; the upper bits of the hash say the line where an entry belongs, and where
//! that is full it is in the next that was not. As 56 bits of the hash are kept, the table doubles
//! without reading a record, and a record that is read is almost always the one sought.
//! A place of 0 means that nothing is there: a log does not begin with a record.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::error::Result;
use crate::files::{Mapping, Storage};
use crate::heap;

/// Entries in a line.
const LINE_ENTRIES: usize = 5;

/// Words in a line.
const LINE_WORDS: usize = 8;

/// The number of lines that an empty index has, as a power of two.
const LINE_BITS_MIN: u32 = 6;

/// The greatest number of lines, as a power of two: two million million bytes would be more.
pub(super) const LINE_BITS_MAX: u32 = 31;

const PLACE_BITS: u32 = 40;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;

/// The hash of a key, as far as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyHash(u64);

impl KeyHash {
    #[inline]
    pub(super) fn new(key: &[u8], seed: u64) -> KeyHash {
        KeyHash(xxhash_rust::xxh3::xxh3_64_with_seed(key, seed) & !0xff)
    }
}

/// Makes memory for so many words.
pub(super) trait Words: std::fmt::Debug + Send + Sync {
    /// So many words, all 0.
    fn words(&self, word_count: usize) -> Result<Mapping>;

    /// A file without a name whose words can be mapped by [`Words::map`]; `None` where there can be none.
    fn file(&self) -> Option<Box<dyn Storage>> {
        None
    }

    /// The words that begin such a file.
    fn map(&self, file: &File, word_count: usize) -> std::io::Result<Mapping> {
        Mapping::private(file, word_count)
    }
}

/// From hashes to places.
#[derive(Debug)]
pub(super) struct LogIndex {
    words: Mapping,
    line_bits: u32,
    len: u64,
}

/// Place of an entry in the index.
#[derive(Debug, Clone, Copy)]
struct Slot {
    line: usize,
    entry: usize,
}

impl LogIndex {
    /// An index with room for `len` entries.
    pub(super) fn with_room(len: u64, memory: &dyn Words) -> Result<LogIndex> {
        let mut line_bits = LINE_BITS_MIN;
        while len > capacity(line_bits) && line_bits < LINE_BITS_MAX {
            line_bits += 1;
        }
        Ok(LogIndex { words: memory.words(LINE_WORDS << line_bits)?, line_bits, len: 0 })
    }

    /// The index of `len` entries whose lines are in `words` already.
    pub(super) fn of_words(words: Mapping, line_bits: u32, len: u64) -> LogIndex {
        LogIndex { words, line_bits, len }
    }

    /// Words of the lines of an index with so many of them, as a power of two.
    pub(super) fn word_count(line_bits: u32) -> usize {
        LINE_WORDS << line_bits
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The number of lines, as a power of two.
    pub(super) fn line_bits(&self) -> u32 {
        self.line_bits
    }

    /// The memory of the lines.
    pub(super) fn words(&self) -> &Mapping {
        &self.words
    }

    /// Lets the processor bring what a look-up of `hash` begins with.
    #[inline]
    pub(super) fn prefetch(&self, hash: KeyHash) {
        heap::prefetch(&self.line(self.home(hash))[0]);
    }

    /// The place of the entry with `hash` that `is_it`, if there is one.
    pub(super) fn find(
        &self,
        hash: KeyHash,
        mut is_it: impl FnMut(u64) -> Result<bool>,
    ) -> Result<Option<u64>> {
        let mut line = self.home(hash);
        for _ in 0..=self.line_mask() {
            for entry in 0..LINE_ENTRIES {
                let slot = Slot { line, entry };
                let place = self.place(slot);
                if place == 0 {
                    return Ok(None);
                }
                if self.hash(slot) == hash && is_it(place)? {
                    return Ok(Some(place));
                }
            }
            line = (line + 1) & self.line_mask();
        }
        Ok(None)
    }

    /// Returns true if `hash` has an entry at `place`.
    pub(super) fn contains(&self, hash: KeyHash, place: u64) -> bool {
        self.slot_of(hash, place).is_some()
    }

    /// Makes room for one more entry.
    pub(super) fn reserve(&mut self, memory: &dyn Words) -> Result<()> {
        match self.len >= capacity(self.line_bits) {
            true => self.double(memory),
            false => Ok(()),
        }
    }

    /// Adds an entry that is not there.
    pub(super) fn insert(&mut self, hash: KeyHash, place: u64, memory: &dyn Words) -> Result<()> {
        self.reserve(memory)?;
        self.add(hash, place);
        self.len += 1;
        Ok(())
    }

    /// Lets the entry at `old` be at `new`.
    pub(super) fn replace(&mut self, hash: KeyHash, old: u64, new: u64) {
        if let Some(slot) = self.slot_of(hash, old) {
            self.set(slot, hash, new);
        }
    }

    /// Takes the entry at `place` out.
    pub(super) fn remove(&mut self, hash: KeyHash, place: u64) {
        let Some(mut hole) = self.slot_of(hash, place) else { return };
        self.len -= 1;
        // An entry is found because every line from its home on is full before it. So the hole moves
        // to the end of its line, and is filled from the lines behind while they have what belongs
        // here or before.
        loop {
            let line_is_full = self.close(&mut hole);
            if !line_is_full {
                return;
            }
            let Some(filler) = self.entry_displaced_over(hole.line) else { return };
            let (hash, place) = (self.hash(filler), self.place(filler));
            self.set(hole, hash, place);
            hole = filler;
        }
    }

    fn double(&mut self, memory: &dyn Words) -> Result<()> {
        let line_bits = self.line_bits + 1;
        if line_bits > LINE_BITS_MAX {
            return Err(crate::Error::limit("entries", capacity(LINE_BITS_MAX), self.len + 1));
        }
        let words = memory.words(LINE_WORDS << line_bits)?;
        let mut doubled = LogIndex { words, line_bits, len: self.len };
        for line in 0..=self.line_mask() {
            for entry in 0..LINE_ENTRIES {
                let slot = Slot { line, entry };
                let place = self.place(slot);
                if place == 0 {
                    break;
                }
                doubled.add(self.hash(slot), place);
            }
        }
        *self = doubled;
        Ok(())
    }

    fn add(&mut self, hash: KeyHash, place: u64) {
        let mut line = self.home(hash);
        loop {
            for entry in 0..LINE_ENTRIES {
                let slot = Slot { line, entry };
                if self.place(slot) == 0 {
                    self.set(slot, hash, place);
                    return;
                }
            }
            line = (line + 1) & self.line_mask();
        }
    }

    /// Moves the last entry of the hole's line into it, and the hole there; empties it, and says
    /// whether the line had been full.
    fn close(&mut self, hole: &mut Slot) -> bool {
        let entries = (0..LINE_ENTRIES).rev().map(|entry| Slot { line: hole.line, entry });
        let last = entries.into_iter().find(|slot| self.place(*slot) != 0).unwrap_or(*hole);
        let (hash, place) = (self.hash(last), self.place(last));
        self.set(*hole, hash, place);
        self.set(last, KeyHash(0), 0);
        *hole = last;
        last.entry + 1 == LINE_ENTRIES
    }

    /// The first entry behind `line` that belongs there or before it.
    fn entry_displaced_over(&self, line: usize) -> Option<Slot> {
        for distance in 1..=self.line_mask() {
            let behind = (line + distance) & self.line_mask();
            for entry in 0..LINE_ENTRIES {
                let slot = Slot { line: behind, entry };
                if self.place(slot) == 0 {
                    return None;
                }
                let from_home = behind.wrapping_sub(self.home(self.hash(slot))) & self.line_mask();
                if from_home >= distance {
                    return Some(slot);
                }
            }
        }
        None
    }

    fn slot_of(&self, hash: KeyHash, place: u64) -> Option<Slot> {
        let mut line = self.home(hash);
        for _ in 0..=self.line_mask() {
            for entry in 0..LINE_ENTRIES {
                let slot = Slot { line, entry };
                match self.place(slot) {
                    0 => return None,
                    found if found == place && self.hash(slot) == hash => return Some(slot),
                    _ => {}
                }
            }
            line = (line + 1) & self.line_mask();
        }
        None
    }

    #[inline]
    fn home(&self, hash: KeyHash) -> usize {
        (hash.0 >> (64 - self.line_bits)) as usize
    }

    #[inline]
    fn line_mask(&self) -> usize {
        (1 << self.line_bits) - 1
    }

    #[inline]
    fn line(&self, line: usize) -> &[AtomicU64] {
        let first = line * LINE_WORDS;
        &self.words[first..first + LINE_WORDS]
    }

    #[inline]
    fn place(&self, slot: Slot) -> u64 {
        self.line(slot.line)[slot.entry].load(Relaxed) & PLACE_MASK
    }

    #[inline]
    fn hash(&self, slot: Slot) -> KeyHash {
        let line = self.line(slot.line);
        let low = line[slot.entry].load(Relaxed) >> PLACE_BITS;
        let high = line[LINE_ENTRIES + slot.entry / 2].load(Relaxed) >> (slot.entry % 2 * 32);
        KeyHash(high << 32 | low << 8)
    }

    #[inline]
    fn set(&mut self, slot: Slot, hash: KeyHash, place: u64) {
        let line = self.line(slot.line);
        let low = hash.0 >> 8 & 0x00ff_ffff;
        line[slot.entry].store(low << PLACE_BITS | place, Relaxed);
        let pair = &line[LINE_ENTRIES + slot.entry / 2];
        let shift = slot.entry % 2 * 32;
        let other = pair.load(Relaxed) & !(0xffff_ffff << shift);
        pair.store(other | hash.0 >> 32 << shift, Relaxed);
    }
}

/// Returns how many entries so many lines hold before there are more of them: four in five.
fn capacity(line_bits: u32) -> u64 {
    4 << line_bits
}

/// Memory of the process.
#[derive(Debug)]
pub(super) struct AnonymousWords;

impl Words for AnonymousWords {
    fn words(&self, word_count: usize) -> Result<Mapping> {
        let words = Mapping::anonymous(word_count);
        words.map_err(|error| crate::Error::io("get memory", &error))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The twin is a map. Hashes come from a few homes, so that lines overflow into each other, around
    /// the end, too.
    #[test]
    fn an_index_holds_what_a_map_holds() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        let mut index = LogIndex::with_room(0, &AnonymousWords).unwrap();
        let mut twin: BTreeMap<KeyHash, u64> = BTreeMap::new();
        for step in 1..12_000 {
            let home = (random(3) * 0xff) << 56 | random(2) << 63;
            let hash = KeyHash(home | random(150) << 8 | random(2) << 40);
            match (twin.get(&hash).copied(), random(9) < 4 + step / 2_000) {
                (Some(place), true) => {
                    index.remove(hash, place);
                    twin.remove(&hash);
                }
                (Some(place), false) => {
                    index.replace(hash, place, step);
                    twin.insert(hash, step);
                }
                (None, _) => {
                    index.insert(hash, step, &AnonymousWords).unwrap();
                    twin.insert(hash, step);
                }
            }
            assert_eq!(index.len(), twin.len() as u64, "step {step}");
            if step % 500 == 0 {
                for (hash, place) in &twin {
                    assert_eq!(index.find(*hash, |_| Ok(true)).unwrap(), Some(*place));
                    assert!(index.contains(*hash, *place) && !index.contains(*hash, *place + 1));
                }
                let absent = KeyHash(7 << 32);
                assert_eq!(index.find(absent, |_| Ok(true)).unwrap(), None, "step {step}");
            }
        }
        assert!(index.line_bits() > LINE_BITS_MIN, "it has doubled");
    }

    #[test]
    fn two_keys_of_one_hash_are_told_apart_by_who_asks() {
        let mut index = LogIndex::with_room(0, &AnonymousWords).unwrap();
        let hash = KeyHash(1 << 60);
        for place in 1..=20 {
            index.insert(hash, place, &AnonymousWords).unwrap();
        }
        assert_eq!(index.find(hash, |place| Ok(place == 13)).unwrap(), Some(13));
        index.remove(hash, 5);
        assert!(!index.contains(hash, 5));
        assert!((1..=20).filter(|place| *place != 5).all(|place| index.contains(hash, place)));
        assert_eq!(index.len(), 19);
    }
}
