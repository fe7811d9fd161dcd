//! The hash of a flow's key, under a secret of each table.

use crate::packet::{IpAddress, Key};

/// The secret of one table's hash, so that nobody can prepare packets that all collide.
#[derive(Clone, Copy)]
pub(super) struct Seed([u64; 6]);

impl Seed {
    pub(super) fn random() -> Self {
        use std::hash::{BuildHasher, RandomState};
        Seed(std::array::from_fn(|word| RandomState::new().hash_one(word)))
    }
}

/// The 128-bit product of two words, folded into one: the mixing step of wyhash.
#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// Address in the form that [`hash_of`] needs.
pub(super) trait Mix: IpAddress {
    /// A word that stands for a pair of addresses under `seed`.
    fn mix(pair: [Self; 2], seed: &Seed) -> u64;
}

impl Mix for [u8; 4] {
    #[inline]
    fn mix(pair: [Self; 2], _: &Seed) -> u64 {
        u64::from(u32::from_ne_bytes(pair[0])) << 32 | u64::from(u32::from_ne_bytes(pair[1]))
    }
}

impl Mix for [u8; 16] {
    #[inline]
    fn mix(pair: [Self; 2], seed: &Seed) -> u64 {
        let [first, second] = pair.map(u128::from_ne_bytes);
        let first = fold(first as u64 ^ seed.0[2], (first >> 64) as u64 ^ seed.0[3]);
        let second = fold(second as u64 ^ seed.0[4], (second >> 64) as u64 ^ seed.0[5]);
        first ^ second
    }
}

/// The hash of a key.
#[inline]
pub(super) fn hash_of<A: Mix>(key: &Key<A>, seed: &Seed) -> u64 {
    let [first, second] = key.ports.map(u64::from);
    let rest = first << 48 | second << 32 | u64::from(key.proto) << 8 | u64::from(key.has_ports);
    fold(A::mix(key.addresses, seed) ^ seed.0[0], rest ^ seed.0[1])
}
