//! From the hash of a key to the number of its record, at four bytes a slot and nine slots of ten
//! taken.
//!
//! A bucket is one line of cache: the tags of sixteen slots, a byte each, and then their numbers. A
//! search compares all tags at once and looks at the records whose tag is right, which are few others.
//! A record that finds its bucket full goes on to the next; each bucket counts those that went past, so
//! that a search knows where to stop and a removal leaves nothing behind.

const SLOTS: usize = 16;

/// Shortest index.
const BUCKETS_MIN: usize = 4;

/// Numbers are below it.
pub(super) const NUMBERS: usize = 1 << 24;

/// The tag of an empty slot.
const EMPTY: u8 = 0;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct FlowBucket {
    tags: [[u8; 8]; 2],
    numbers: [[u8; 3]; SLOTS],
}

const _: () = assert!(size_of::<FlowBucket>() == 64);

impl FlowBucket {
    const NEW: FlowBucket = FlowBucket { tags: [[EMPTY; 8]; 2], numbers: [[0; 3]; SLOTS] };

    /// The slots with that tag.
    #[inline]
    fn tagged(&self, tag: u8) -> Places {
        let repeated = u64::from_ne_bytes([tag; 8]);
        let [low, high] = self.tags.map(|half| zero_bytes(u64::from_le_bytes(half) ^ repeated));
        Places(low >> 7 | high)
    }

    #[inline]
    fn number(&self, place: usize) -> usize {
        let [low, middle, high] = self.numbers[place % SLOTS];
        u32::from_le_bytes([low, middle, high, 0]) as usize
    }

    fn set(&mut self, place: usize, tag: u8, number: usize) {
        let [low, middle, high, _] = (number as u32).to_le_bytes();
        self.tags[place / 8 % 2][place % 8] = tag;
        self.numbers[place % SLOTS] = [low, middle, high];
    }
}

/// The highest bit of each byte that is zero.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    const REST: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    !(((word & REST) + REST) | word | REST)
}

/// Slots of a bucket: of the lower half the lowest bit of the byte of that number, of the upper half
/// the highest. It needs no branch that depends on the half, which nothing foretells.
struct Places(u64);

impl Iterator for Places {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit / 8 + bit % 2 * (SLOTS / 2))
    }
}

/// Numbers of records by hash.
pub(super) struct FlowIndex {
    buckets: Vec<FlowBucket>,
    /// For each bucket, how many records went past it because it was full. A count that reached the
    /// largest number stays there.
    passed: Vec<u8>,
}

impl FlowIndex {
    /// An index without slots.
    pub(super) const fn new() -> Self {
        FlowIndex { buckets: Vec::new(), passed: Vec::new() }
    }

    /// Returns true if one more than `len` numbers want a longer index.
    #[inline]
    pub(super) fn is_full(&self, len: usize) -> bool {
        len >= self.buckets.len() * SLOTS / 10 * 9
    }

    /// Forgets all numbers and makes an eighth more room.
    pub(super) fn clear_and_grow(&mut self) {
        let len = (self.buckets.len() + self.buckets.len() / 8 + 1).max(BUCKETS_MIN);
        // The old memory goes before the new is taken.
        *self = FlowIndex::new();
        *self = FlowIndex { buckets: vec![FlowBucket::NEW; len], passed: vec![0; len] };
    }

    /// The upper part of hash times length: no length is better than another.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        (((hash >> 32) * self.buckets.len() as u64) >> 32) as usize
    }

    #[inline]
    fn after(&self, bucket: usize) -> usize {
        if bucket + 1 < self.buckets.len() { bucket + 1 } else { 0 }
    }

    /// The number among those put in under `hash` that `is_it` says is meant.
    #[inline]
    pub(super) fn find(&self, hash: u64, mut is_it: impl FnMut(usize) -> bool) -> Option<usize> {
        if self.buckets.is_empty() {
            return None;
        }
        let mut at = self.home(hash);
        for _ in 0..self.buckets.len() {
            let bucket = &self.buckets[at];
            let mut numbers = bucket.tagged(tag(hash)).map(|place| bucket.number(place));
            if let Some(number) = numbers.find(|number| is_it(*number)) {
                return Some(number);
            }
            if self.passed[at] == 0 {
                return None;
            }
            at = self.after(at);
        }
        None
    }

    /// Puts in `number`, for which there is room.
    pub(super) fn insert(&mut self, hash: u64, number: usize) {
        debug_assert!(number < NUMBERS);
        let mut at = self.home(hash);
        loop {
            if let Some(place) = self.buckets[at].tagged(EMPTY).next() {
                self.buckets[at].set(place, tag(hash), number);
                return;
            }
            self.passed[at] = self.passed[at].saturating_add(1);
            at = self.after(at);
        }
    }

    /// Takes out `number`, which was put in under `hash`.
    pub(super) fn remove(&mut self, hash: u64, number: usize) {
        let mut at = self.home(hash);
        for _ in 0..self.buckets.len() {
            let bucket = &mut self.buckets[at];
            let is_it = |place: &usize| bucket.number(*place) == number;
            if let Some(place) = bucket.tagged(tag(hash)).find(is_it) {
                bucket.set(place, EMPTY, 0);
                return;
            }
            if self.passed[at] < u8::MAX {
                self.passed[at] = self.passed[at].saturating_sub(1);
            }
            at = self.after(at);
        }
        debug_assert!(false, "a number that was put in is there");
    }

    /// Bytes of memory it has taken.
    pub(super) fn memory_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<FlowBucket>() + self.passed.capacity()
    }
}

/// A byte of the hash that has no part in the choice of the bucket.
#[inline]
fn tag(hash: u64) -> u8 {
    (hash as u8).max(EMPTY + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Few different hashes, so that buckets overflow and tags collide; the twin is a `HashMap`.
    #[test]
    fn finds_what_a_map_finds_while_numbers_come_and_go() {
        let mut state = 1_u64;
        let mut random = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        let mut index = FlowIndex::new();
        let mut map: HashMap<usize, u64> = HashMap::new();
        for _ in 0..60_000 {
            let number = random(2_000) as usize;
            match map.remove(&number) {
                Some(hash) => {
                    assert_eq!(index.find(hash, |found| found == number), Some(number));
                    index.remove(hash, number);
                    assert_eq!(index.find(hash, |found| found == number), None);
                }
                None => {
                    let hash = random(40) << 58 | random(4);
                    map.insert(number, hash);
                    if index.is_full(map.len()) {
                        index.clear_and_grow();
                        map.iter().for_each(|(number, hash)| index.insert(*hash, *number));
                    } else {
                        index.insert(hash, number);
                    }
                }
            }
        }
        for (number, hash) in &map {
            assert_eq!(index.find(*hash, |found| found == *number), Some(*number));
        }
        for (number, hash) in &map {
            index.remove(*hash, *number);
        }
        assert!(index.buckets.iter().all(|bucket| bucket.tags == FlowBucket::NEW.tags));
        assert!(index.passed.iter().all(|count| [0, u8::MAX].contains(count)));
    }
}
