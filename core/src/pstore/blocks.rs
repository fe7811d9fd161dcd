//! A hash of each block of the bytes that are kept. With them, what a change leaves as it was has its
//! hash at the cost of the blocks that it touches.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::difference::Difference;

// Bound (Marshal): hashes of the bytes of a store, beside these and its index = 8 bytes for each 4 KiB.
/// Bytes in a block; the last one may have fewer.
pub(super) const BLOCK_LEN: usize = 4096;

#[derive(Debug)]
pub(super) struct BlockHashes {
    hashes: Vec<u64>,
    len: usize,
    /// Of all blocks, each with its number mixed in.
    sum: u64,
}

impl BlockHashes {
    pub(super) fn of(bytes: &[u8]) -> BlockHashes {
        let hashes: Vec<u64> = bytes.chunks(BLOCK_LEN).map(xxh3_64).collect();
        let mixed = hashes.iter().enumerate().map(|(block, &hash)| mixed(block, hash));
        let sum = mixed.fold(0, u64::wrapping_add);
        BlockHashes { hashes, len: bytes.len(), sum }
    }

    /// The hash of bytes that lie in one block: the one that is kept, if they are all of it.
    pub(super) fn hash(&self, range: &Range<usize>, bytes: &[u8]) -> u64 {
        let block = range.start / BLOCK_LEN;
        let whole = block * BLOCK_LEN..self.len.min((block + 1) * BLOCK_LEN);
        if *range == whole { self.of_block(block) } else { xxh3_64(bytes) }
    }

    /// The hash of a block that is there.
    pub(super) fn of_block(&self, block: usize) -> u64 {
        self.hashes.get(block).copied().unwrap_or_default()
    }

    /// The sum of what `difference` leaves as it is, where these are the blocks before it: as
    /// [`unchanged_sum`] of the bytes before or after it. `bytes` are either.
    pub(super) fn unchanged_sum(&self, difference: &Difference, bytes: &[u8]) -> u64 {
        let mut sum = self.sum;
        let mut parts = ChangedParts::of(difference, bytes);
        for block in touched(difference, self.hashes.len()).into_iter().flatten() {
            sum = sum.wrapping_sub(mixed(block, self.of_block(block)));
            sum = sum.wrapping_add(parts.mixed(block));
        }
        sum
    }

    /// Keeps up with a difference, after which the bytes are these.
    pub(super) fn update(&mut self, difference: &Difference, bytes: &[u8]) {
        let count = bytes.len().div_ceil(BLOCK_LEN);
        for (block, hash) in self.hashes.drain(count.min(self.hashes.len())..).enumerate() {
            self.sum = self.sum.wrapping_sub(mixed(count + block, hash));
        }
        let touched = touched(difference, count).into_iter();
        let grown = match difference.growth().is_empty() {
            true => 0..0,
            false => difference.old_len / BLOCK_LEN..count,
        };
        for block in touched.chain([grown]).flatten() {
            let end = bytes.len().min((block + 1) * BLOCK_LEN);
            let hash = xxh3_64(&bytes[block * BLOCK_LEN..end]);
            match self.hashes.get_mut(block) {
                Some(kept) => {
                    self.sum = self.sum.wrapping_sub(mixed(block, *kept));
                    *kept = hash;
                }
                None => self.hashes.push(hash),
            }
            self.sum = self.sum.wrapping_add(mixed(block, hash));
        }
        self.len = bytes.len();
    }
}

/// The blocks that hold bytes of the ranges, or that the new end cuts, of `count`.
fn touched(difference: &Difference, count: usize) -> Vec<Range<usize>> {
    let mut touched: Vec<Range<usize>> = Vec::with_capacity(difference.ranges.len() + 1);
    let mut add = |range: Range<usize>| {
        let end = range.end.div_ceil(BLOCK_LEN).min(count);
        let start = (range.start / BLOCK_LEN).max(touched.last().map_or(0, |last| last.end));
        if start < end {
            touched.push(start..end);
        }
    };
    difference.ranges.iter().cloned().for_each(&mut add);
    if !difference.cut().is_empty() {
        add(difference.cut());
    }
    touched
}

/// A range in pieces that end where blocks do.
pub(super) fn pieces(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        let end = range.end.min((start / BLOCK_LEN + 1) * BLOCK_LEN);
        let piece = start..end;
        start = end;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The sum of what `difference` leaves as it is, of all blocks.
pub(super) fn unchanged_sum(difference: &Difference, bytes: &[u8]) -> u64 {
    let mut parts = ChangedParts::of(difference, bytes);
    let blocks = 0..difference.common_len().div_ceil(BLOCK_LEN);
    blocks.fold(0, |sum, block| sum.wrapping_add(parts.mixed(block)))
}

/// A hash that is another one for the same bytes in another place.
fn mixed(block: usize, hash: u64) -> u64 {
    let mixed = (hash ^ (block as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Parts that a difference leaves of blocks that are asked for in order.
struct ChangedParts<'a> {
    bytes: &'a [u8],
    ranges: &'a [Range<usize>],
    common_len: usize,
    left: Vec<u8>,
}

impl<'a> ChangedParts<'a> {
    fn of(difference: &'a Difference, bytes: &'a [u8]) -> Self {
        let common_len = difference.common_len();
        ChangedParts { bytes, ranges: &difference.ranges, common_len, left: Vec::new() }
    }

    /// The hash of what is left of a block; 0 if nothing is.
    fn mixed(&mut self, block: usize) -> u64 {
        let start = block * BLOCK_LEN;
        let end = self.common_len.min(start + BLOCK_LEN);
        let gone = self.ranges.iter().take_while(|range| range.end <= start).count();
        self.ranges = &self.ranges[gone..];
        self.left.clear();
        let mut from = start;
        for range in self.ranges.iter().take_while(|range| range.start < end) {
            self.left.extend_from_slice(&self.bytes[from..range.start.max(from)]);
            from = range.end.min(end).max(from);
        }
        if from == start && start < end {
            return mixed(block, xxh3_64(&self.bytes[start..end]));
        }
        if from < end {
            self.left.extend_from_slice(&self.bytes[from..end]);
        }
        if self.left.is_empty() { 0 } else { mixed(block, xxh3_64(&self.left)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chance(state: &mut u64, bound: usize) -> usize {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*state >> 33) as usize) % bound
    }

    #[test]
    fn what_is_kept_up_is_what_would_be_made_anew() {
        let state = &mut 1;
        let mut old: Vec<u8> = (0..10_000).map(|_| chance(state, 256) as u8).collect();
        let mut blocks = BlockHashes::of(&old);
        for _ in 0..300 {
            let mut new = old.clone();
            new.resize(chance(state, 5 * BLOCK_LEN) + chance(state, 2) * BLOCK_LEN, 7);
            for _ in 0..chance(state, 4) {
                let start = chance(state, new.len() + 1);
                let end = new.len().min(start + chance(state, 6_000));
                new[start..end].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
            }
            let difference = Difference::between(&old, &new);
            let before = unchanged_sum(&difference, &old);
            assert_eq!(before, unchanged_sum(&difference, &new));
            assert_eq!(before, blocks.unchanged_sum(&difference, &new));
            blocks.update(&difference, &new);
            let fresh = BlockHashes::of(&new);
            assert_eq!((&blocks.hashes, blocks.sum), (&fresh.hashes, fresh.sum));
            old = new;
        }
    }
}
