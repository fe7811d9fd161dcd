//! Number of different values: counted, and estimated where they are too many.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher};

use hyperloglockless::HyperLogLog;
use xxhash_rust::xxh3::xxh3_64;

/// Values that are always counted.
const COUNTED_MAX: usize = 512;

/// Binary digits of the number of registers of an estimate, a byte each: its standard error is 1.6 %.
const PRECISION: u8 = 12;

/// Bytes that a value takes in a table of them, at least.
const VALUE_LEN: usize = size_of::<u64>() + 1;

/// The different values so far, each by a hash of 64 bits: of a million, two have the same one in 1 of 37 million cases.
#[derive(Debug, Clone)]
pub(super) enum Distinct {
    Counted(HashSet<u64>),
    Estimated(Box<HyperLogLog<BuildHasherDefault<DefaultHasher>>>),
}

impl Distinct {
    /// No value yet.
    pub(super) fn new() -> Self {
        Distinct::Counted(HashSet::new())
    }

    /// Adds a value, of which `bytes` are those of equal ones. Where room is short, many are estimated.
    pub(super) fn add(&mut self, bytes: &[u8], is_short: bool) {
        self.add_hash(xxh3_64(bytes));
        if is_short {
            self.estimate();
        }
    }

    fn add_hash(&mut self, hash: u64) {
        match self {
            Distinct::Counted(hashes) => drop(hashes.insert(hash)),
            Distinct::Estimated(estimate) => estimate.insert_hash(hash),
        }
    }

    /// Goes over to an estimate where there are many values.
    pub(super) fn estimate(&mut self) {
        let Distinct::Counted(hashes) = self else { return };
        if hashes.len() <= COUNTED_MAX {
            return;
        }
        let mut estimate = HyperLogLog::with_hasher(PRECISION, BuildHasherDefault::default());
        hashes.iter().for_each(|hash| estimate.insert_hash(*hash));
        *self = Distinct::Estimated(Box::new(estimate));
    }

    /// Adds the values of another one.
    pub(super) fn merge(&mut self, other: &Distinct) {
        match (&mut *self, other) {
            (Distinct::Estimated(estimate), Distinct::Estimated(other)) => {
                // All have the same number of registers.
                let _ = estimate.union(other);
            }
            (Distinct::Counted(hashes), Distinct::Estimated(other)) => {
                let mut estimate = other.clone();
                hashes.iter().for_each(|hash| estimate.insert_hash(*hash));
                *self = Distinct::Estimated(estimate);
            }
            (_, Distinct::Counted(others)) => others.iter().for_each(|hash| self.add_hash(*hash)),
        }
    }

    /// The number of values.
    pub(super) fn count(&self) -> u64 {
        match self {
            Distinct::Counted(hashes) => hashes.len() as u64,
            Distinct::Estimated(estimate) => estimate.count() as u64,
        }
    }

    /// Bytes that it takes elsewhere.
    pub(super) fn heap(&self) -> usize {
        match self {
            Distinct::Counted(hashes) => hashes.capacity() * VALUE_LEN,
            Distinct::Estimated(_) => 1 << PRECISION,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: std::ops::Range<u32>, is_short: bool) -> Distinct {
        let mut distinct = Distinct::new();
        numbers.for_each(|number| distinct.add(&number.to_le_bytes(), is_short));
        distinct
    }

    #[test]
    fn values_are_counted_while_there_is_room_and_then_estimated() {
        assert_eq!(of(0..100_000, false).count(), 100_000);
        assert_eq!(of(0..512, true).count(), 512);
        for count in [1_000, 20_000, 300_000] {
            let distinct = of(0..count, true);
            let error = (distinct.count() as f64 / f64::from(count) - 1.0).abs();
            assert!(error < 0.05, "{count}: {}", distinct.count());
            assert!(distinct.heap() <= 4096);
        }
    }

    #[test]
    fn values_of_two_are_those_of_either() {
        for (left, right) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut both = of(0..6_000, left);
            both.merge(&of(4_000..10_000, right));
            let error = (both.count() as f64 / 10_000.0 - 1.0).abs();
            assert!(error < 0.05, "{left} {right}: {}", both.count());
            assert!(left || right || both.count() == 10_000);
        }
    }
}
