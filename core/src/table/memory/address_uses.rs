//! Counts of the uses of entries in memory, by their addresses.

use std::sync::atomic::AtomicU64;

use crate::heap::Address;
use crate::table::uses::{COUNTS_IN_WORD, UseCount};

/// Bytes of a segment that have one count.
const PLACE_LEN: u64 = 64;

/// Counts by address, once they are counted.
#[derive(Debug, Default)]
pub(super) struct AddressUses {
    words: Vec<AtomicU64>,
    is_counting: bool,
}

impl AddressUses {
    pub(super) fn begin_counting(&mut self) {
        self.is_counting = true;
    }

    #[inline]
    fn count(&self, address: Address) -> Option<UseCount<'_>> {
        let number = address.number() / PLACE_LEN;
        let word = self.words.get((number / COUNTS_IN_WORD) as usize)?;
        Some(UseCount::new(word, number))
    }

    /// Counts a use.
    #[inline]
    pub(super) fn note(&self, address: Address) {
        if let Some(count) = self.count(address) {
            count.note();
        }
    }

    /// Returns the number of uses.
    pub(super) fn of(&self, address: Address) -> u8 {
        self.count(address).map_or(0, UseCount::uses)
    }

    pub(super) fn set(&self, address: Address, uses: u8) {
        if let Some(count) = self.count(address) {
            count.set(uses);
        }
    }

    /// Begins the count of an entry that is written to `address`.
    #[inline]
    pub(super) fn begin(&mut self, address: Address) {
        if self.is_counting {
            let end = (address.number() / PLACE_LEN / COUNTS_IN_WORD) as usize + 1;
            if self.words.len() < end {
                self.words.resize_with(end, AtomicU64::default);
            }
            self.set(address, 0);
        }
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        (self.words.capacity() * size_of::<AtomicU64>()) as u64
    }
}
