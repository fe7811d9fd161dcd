//! A hash table of places in a stream: what stands there is looked at where it stands, so that an
//! entry takes 5 bytes, and some to spare.

use super::shifts::Shifts;

/// A slot that was never filled, and one whose entry is gone. No place is as high.
const EMPTY: u32 = u32::MAX;
const DELETED: u32 = u32::MAX - 1;

/// Places, found by the hash of what is there.
#[derive(Debug, Clone, Default)]
pub(super) struct HashSlots {
    /// Probed one after another from where the high bits of the hash point.
    places: Vec<u32>,
    /// The low bits of each hash, so that few places are looked at in vain.
    tags: Vec<u8>,
    filled: usize,
    live: usize,
}

impl HashSlots {
    /// A table that takes `count` entries before it grows.
    pub(super) fn with_capacity(count: usize) -> Self {
        let len = count + count / 3 + 4;
        HashSlots { places: vec![EMPTY; len], tags: vec![0; len], filled: 0, live: 0 }
    }

    /// The first place of this hash that `is_it` takes.
    #[inline]
    pub(super) fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = self.start(hash);
        for _ in 0..self.places.len() {
            let place = *self.places.get(at)?;
            if place == EMPTY {
                return None;
            }
            if place != DELETED && self.tags.get(at) == Some(&(hash as u8)) && is_it(place) {
                return Some(place);
            }
            at = self.next(at);
        }
        None
    }

    /// Adds a place. `hash_of` gives the hash of those that are there, should the table have to grow.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64, place: u32, hash_of: impl Fn(u32) -> u64) {
        if (self.filled + 1) * 8 > self.places.len() * 7 {
            self.rebuild(hash_of);
        }
        self.put(hash, place);
    }

    fn put(&mut self, hash: u64, place: u32) {
        let mut at = self.start(hash);
        while self.places.get(at).is_some_and(|&place| place < DELETED) {
            at = self.next(at);
        }
        if let (Some(slot), Some(tag)) = (self.places.get_mut(at), self.tags.get_mut(at)) {
            self.filled += usize::from(*slot == EMPTY);
            self.live += 1;
            (*slot, *tag) = (place, hash as u8);
        }
    }

    /// Takes a place out.
    pub(super) fn remove(&mut self, hash: u64, place: u32) {
        let mut at = self.start(hash);
        for _ in 0..self.places.len() {
            match self.places.get_mut(at) {
                Some(slot) if *slot == place => {
                    *slot = DELETED;
                    self.live -= 1;
                    return self.empty_end(at);
                }
                Some(slot) if *slot != EMPTY => at = self.next(at),
                _ => return,
            }
        }
    }

    /// Ends probing at `at`, and at deleted slots before it, if it would end at the next slot anyway.
    fn empty_end(&mut self, mut at: usize) {
        if self.places.get(self.next(at)) != Some(&EMPTY) {
            return;
        }
        while let Some(slot @ &mut DELETED) = self.places.get_mut(at) {
            *slot = EMPTY;
            self.filled -= 1;
            at = at.checked_sub(1).unwrap_or(self.places.len() - 1);
        }
    }

    /// Moves each place.
    pub(super) fn shift(&mut self, shifts: &Shifts) {
        shifts.shift_all(&mut self.places, DELETED);
    }

    /// The places, in no order.
    pub(super) fn places(&self) -> impl Iterator<Item = u32> {
        self.places.iter().copied().filter(|&place| place < DELETED)
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.places.capacity() * 4 + self.tags.capacity()
    }

    /// Rebuilds the slots without deleted ones, half as large again as the live ones.
    fn rebuild(&mut self, hash_of: impl Fn(u32) -> u64) {
        let mut larger = HashSlots::with_capacity(self.live + self.live / 2 + 8);
        for place in self.places() {
            larger.put(hash_of(place), place);
        }
        *self = larger;
    }

    #[inline]
    fn start(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.places.len() as u128) >> 64) as usize
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        if at + 1 < self.places.len() { at + 1 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_and_went_is_not_in_the_way() {
        let mut state: u64 = 1;
        let mut chance = move |bound: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        // Few hashes, so that probes go far, also around the end.
        let hash_of = |place: u32| u64::from(place % 64).wrapping_mul(0x0401_0101_0101_0101) << 6;
        let mut slots = HashSlots::default();
        let mut model = Vec::new();
        for _ in 0..5_000 {
            if chance(2) == 0 && model.len() < 200 {
                let place = chance(1 << 20) as u32;
                if !model.contains(&place) {
                    slots.insert(hash_of(place), place, hash_of);
                    model.push(place);
                }
            } else if !model.is_empty() {
                let place = model.swap_remove(chance(model.len() as u64) as usize);
                slots.remove(hash_of(place), place);
                assert_eq!(slots.find(hash_of(place), |found| found == place), None);
            }
            assert!(
                model.iter().all(|&place| slots.find(hash_of(place), |found| found == place) == Some(place))
            );
            assert_eq!((slots.live, slots.places().count()), (model.len(), model.len()));
            assert_eq!(slots.filled, slots.places.iter().filter(|&&slot| slot != EMPTY).count());
        }
        for place in model {
            slots.remove(hash_of(place), place);
        }
        assert_eq!(slots.filled, 0);
    }
}
