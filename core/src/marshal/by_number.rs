//! Maps by the numbers of symbols and objects.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by numbers that are given out one after another.
pub(super) type ByNumber<V> = HashMap<u32, V, BuildMultiplyHasher>;

/// Builder of [`MultiplyHasher`].
pub(super) type BuildMultiplyHasher = BuildHasherDefault<MultiplyHasher>;

/// Hasher of numbers that are given out one after another, whatever the input, and of hashes: multiplying suffices.
#[derive(Debug, Default)]
pub(super) struct MultiplyHasher(u64);

impl Hasher for MultiplyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let product = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }
}
