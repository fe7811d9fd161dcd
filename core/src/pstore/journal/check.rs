//! Checks that a file is as the writing that a journal tells of may have left it, and that nobody has
//! written since.
//!
//! A process writes in one order: the growth, the ranges from the first to the last, the new end. So
//! where it died there are new bytes before one place and old ones behind it. After the death of the
//! system, or where the writing was being undone, the order says nothing, and each byte may be old or
//! new; behind the old end and behind the new one it may also be 0.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::format::{Evidence, Journal, JournalState, cut_hash_of};
use crate::pstore::blocks::{BLOCK_LEN, unchanged_sum};

/// Order in which bytes of a file may have become new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteOrder {
    AsWritten,
    Any,
}

impl Journal {
    /// Returns true if the file may be brought to its new state, judged by `file`, its bytes, and `boot`, the
    /// run of the system.
    pub(in crate::pstore) fn fits(&self, file: &[u8], boot: u128) -> bool {
        let is_same_run = boot == self.header.boot && boot != 0;
        let order = match self.state {
            JournalState::Live if is_same_run => WriteOrder::AsWritten,
            _ => WriteOrder::Any,
        };
        let difference = &self.difference;
        let lens = difference.common_len()..=difference.old_len.max(difference.new_len);
        lens.contains(&file.len())
            && self.growth_fits(file, order)
            && self.cut_fits(file, order)
            && self.ranges_fit(file, order)
            && unchanged_sum(difference, file) == self.header.unchanged
    }

    fn growth_fits(&self, file: &[u8], order: WriteOrder) -> bool {
        let growth = self.difference.growth();
        let new = self.new_bytes().last().map_or(&[][..], |(_, new)| new);
        let there = file.get(growth.start..file.len().min(growth.end)).unwrap_or_default();
        let is_any = order == WriteOrder::Any;
        there.iter().zip(new).all(|(byte, new)| byte == new || (is_any && *byte == 0))
    }

    fn cut_fits(&self, file: &[u8], order: WriteOrder) -> bool {
        let cut = self.difference.cut();
        let there = file.get(cut.start..).unwrap_or_default();
        if cut.is_empty() || there.is_empty() {
            return true;
        }
        let old = self.cut_evidence();
        match order {
            WriteOrder::AsWritten if there.len() != cut.len() => false,
            WriteOrder::AsWritten if self.header.old_whole => there == old,
            WriteOrder::Any if self.header.old_whole => {
                there.iter().zip(old).all(|(byte, old)| byte == old || *byte == 0)
            }
            _ => cut_hash_of(cut.start, there).to_le_bytes() == old,
        }
    }

    fn ranges_fit(&self, file: &[u8], order: WriteOrder) -> bool {
        // True if only old bytes may follow, as the new ones end before.
        let mut is_old = order == WriteOrder::AsWritten && self.is_before_ranges(file);
        for ((evidence, held), (range, new)) in self.evidence().zip(self.new_bytes()) {
            let mut look = Look { file, range, new, order, is_old, torn: 0 };
            if !look.at(&evidence, held) {
                return false;
            }
            is_old = look.is_old;
        }
        // The end is cut when all ranges are written.
        let is_cut = !self.difference.cut().is_empty() && file.len() == self.difference.new_len;
        order == WriteOrder::Any || !is_cut || !is_old
    }

    /// Returns true if the growth is not all there, before which no range is written.
    fn is_before_ranges(&self, file: &[u8]) -> bool {
        !self.difference.growth().is_empty() && file.len() < self.difference.new_len
    }
}

/// A look at one range of the file.
struct Look<'a> {
    file: &'a [u8],
    range: Range<usize>,
    new: &'a [u8],
    order: WriteOrder,
    is_old: bool,
    /// Blocks that are neither old nor new, as only the one may be in which writing stopped.
    torn: usize,
}

impl Look<'_> {
    fn at(&mut self, evidence: &Evidence, held: &[u8]) -> bool {
        let (head, rest) = held.split_at(evidence.head.len());
        let (hashes, tail) = rest.split_at(8 * evidence.blocks.len());
        self.bytes(&evidence.head, head)
            && evidence
                .blocks
                .clone()
                .zip(hashes.chunks_exact(8))
                .all(|(block, hash)| self.block(block * BLOCK_LEN..(block + 1) * BLOCK_LEN, hash))
            && self.bytes(&evidence.tail, tail)
            && self.torn <= 1
    }

    fn new_in(&self, part: &Range<usize>) -> &[u8] {
        &self.new[part.start - self.range.start..part.end - self.range.start]
    }

    /// Returns true if bytes fit, given the old ones.
    fn bytes(&mut self, part: &Range<usize>, old: &[u8]) -> bool {
        let (there, new) = (&self.file[part.clone()], self.new_in(part));
        if self.order == WriteOrder::Any {
            return there
                .iter()
                .zip(new)
                .zip(old)
                .all(|((byte, new), old)| byte == new || byte == old);
        }
        let mut from = 0;
        if !self.is_old {
            from = there.iter().zip(new).take_while(|(byte, new)| byte == new).count();
        }
        let is_old = from < there.len() || self.is_old;
        let fits = there[from..] == old[from..];
        self.is_old = is_old;
        fits
    }

    /// Returns true if a block fits, given the hash of its old bytes.
    fn block(&mut self, part: Range<usize>, hash: &[u8]) -> bool {
        let there = &self.file[part.clone()];
        if !self.is_old && there == self.new_in(&part) {
            return true;
        }
        if xxh3_64(there).to_le_bytes() == hash {
            self.is_old |= self.order == WriteOrder::AsWritten;
            return true;
        }
        self.torn += 1;
        let may_be_torn = !self.is_old;
        self.is_old |= self.order == WriteOrder::AsWritten;
        may_be_torn
    }
}
