//! Maps by the numbers of symbols and objects.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// A map by numbers that are given out one after another.
pub(super) type ByNumber<V> = HashMap<u32, V, Cheap>;

/// Hashes numbers that are given out one after another, whatever the input, and hashes: a product
/// suffices.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cheap;

impl BuildHasher for Cheap {
    type Hasher = Product;

    fn build_hasher(&self) -> Product {
        Product(0)
    }
}

/// The product of a number.
#[derive(Debug)]
pub(super) struct Product(u64);

impl Hasher for Product {
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
