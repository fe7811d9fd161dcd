//! Counts of uses, four bits for each entry, in words that threads and processes share.
//!
//! A count that is lost because two note a use at the same moment does no harm, so nobody waits.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The highest count: more uses tell no more of what will be used again. By measured hit ratios, one bit is worse and more
/// bits are no better.
const USES_MAX: u64 = 3;

/// Bits of a count.
const COUNT_BITS: u32 = 4;

/// Counts in a word.
pub(super) const COUNTS_IN_WORD: u64 = (u64::BITS / COUNT_BITS) as u64;

const MASK: u64 = (1 << COUNT_BITS) - 1;

/// Count of one entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct UseCount<'w> {
    word: &'w AtomicU64,
    shift: u32,
}

impl<'w> UseCount<'w> {
    /// The count that is `number` modulo [`COUNTS_IN_WORD`] in `word`.
    #[inline]
    pub(super) fn new(word: &'w AtomicU64, number: u64) -> UseCount<'w> {
        UseCount { word, shift: (number % COUNTS_IN_WORD) as u32 * COUNT_BITS }
    }

    /// Counts one more use.
    #[inline]
    pub(super) fn note(self) {
        let found = self.word.load(Relaxed);
        if found >> self.shift & MASK < USES_MAX {
            let counted = found + (1 << self.shift);
            let _ = self.word.compare_exchange(found, counted, Relaxed, Relaxed);
        }
    }

    pub(super) fn uses(self) -> u8 {
        (self.word.load(Relaxed) >> self.shift & MASK) as u8
    }

    pub(super) fn set(self, uses: u8) {
        let uses = u64::from(uses).min(USES_MAX) << self.shift;
        let set = |word| Some(word & !(MASK << self.shift) | uses);
        let _ = self.word.fetch_update(Relaxed, Relaxed, set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_one_of_several_in_its_word() {
        let word = AtomicU64::new(0);
        let [first, last] = [0, 31].map(|number| UseCount::new(&word, number));
        (0..9).for_each(|_| last.note());
        first.note();
        assert_eq!((first.uses(), last.uses()), (1, 3));
        last.set(2);
        first.set(9);
        assert_eq!((first.uses(), last.uses()), (3, 2));
        assert_eq!(word.load(Relaxed), 2 << 60 | 3);
    }
}
