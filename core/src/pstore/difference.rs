//! Differences between the bytes that a file holds and those that it is to hold.

use std::ops::Range;

/// Ranges that are closer than this are one: a write of its own costs more than some bytes.
const GAP: usize = 512;

/// Bytes that are compared at once.
const STEP: usize = 512;

/// A change of a file: bytes in some ranges become others, and the file ends elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Bytes before and after.
    pub(super) old_len: usize,
    pub(super) new_len: usize,
    /// Ranges in which bytes that are there before and after differ; in order, apart, none empty.
    pub(super) ranges: Vec<Range<usize>>,
}

impl Difference {
    pub(super) fn new(old_len: usize, new_len: usize) -> Self {
        Difference { old_len, new_len, ranges: Vec::new() }
    }

    /// All that differs.
    pub(super) fn between(old: &[u8], new: &[u8]) -> Self {
        let mut difference = Self::new(old.len(), new.len());
        let common = difference.common_len();
        difference.compare(0, &old[..common], &new[..common]);
        difference
    }

    /// Adds what differs from `start` on, which is behind all that was added before.
    pub(super) fn compare(&mut self, start: usize, old: &[u8], new: &[u8]) {
        for (step, (old, new)) in old.chunks(STEP).zip(new.chunks(STEP)).enumerate() {
            if old == new {
                continue;
            }
            let differs = |(old, new): (&u8, &u8)| old != new;
            let first = old.iter().zip(new).position(differs).unwrap_or(0);
            let last = old.iter().zip(new).rposition(differs).unwrap_or(0);
            let start = start + step * STEP;
            add(&mut self.ranges, start + first..start + last + 1);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.old_len == self.new_len
    }

    /// Bytes that are there before and after.
    pub(super) fn common_len(&self) -> usize {
        self.old_len.min(self.new_len)
    }

    /// Returns the range of bytes that are added behind the old end.
    pub(super) fn growth(&self) -> Range<usize> {
        self.common_len()..self.new_len
    }

    /// Returns the range of bytes that are removed behind the new end.
    pub(super) fn cut(&self) -> Range<usize> {
        self.common_len()..self.old_len
    }
}

/// Adds a range behind the others, as part of the last one if there is little between them.
pub(super) fn add(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if range.start <= last.end + GAP => last.end = last.end.max(range.end),
        _ => ranges.push(range),
    }
}
