//! Entries in one piece of memory, for callers that hand many to a table at once.

use super::Scan;
use crate::error::Result;

/// Entries one after another, each behind the lengths of its key and its value.
#[derive(Debug, Default)]
pub struct PackedEntries {
    lengths: Vec<(usize, usize)>,
    bytes: Vec<u8>,
}

impl PackedEntries {
    /// None yet, with room for the lengths of so many.
    pub fn with_capacity(count: usize) -> Self {
        PackedEntries { lengths: Vec::with_capacity(count), bytes: Vec::new() }
    }

    /// Puts an entry behind the others.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.lengths.push((key.len(), value.len()));
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
    }

    /// Takes all entries out, and keeps the memory.
    pub fn clear(&mut self) {
        self.lengths.clear();
        self.bytes.clear();
    }

    /// Returns true if there is no entry behind `place`.
    pub fn is_at_end(&self, place: PackedPlace) -> bool {
        place.index >= self.lengths.len()
    }

    /// The entry at `place`, which moves behind it; nothing at the end.
    pub fn next_from(&self, place: &mut PackedPlace) -> Option<(&[u8], &[u8])> {
        let (key_len, value_len) = self.lengths.get(place.index)?;
        let (key, rest) = self.bytes.get(place.offset..)?.split_at(*key_len);
        place.index += 1;
        place.offset += key_len + value_len;
        Some((key, &rest[..*value_len]))
    }

    /// Bytes of all keys and values.
    pub fn bytes_len(&self) -> usize {
        self.bytes.len()
    }

    /// The entries from the first on, as often as asked.
    pub fn scan(&self) -> PackedScan<'_> {
        let left = Left { lengths: self.lengths.iter(), bytes: &self.bytes };
        PackedScan { ahead: left.clone(), left }
    }
}

/// Place in front of one of [`PackedEntries`], at first in front of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PackedPlace {
    index: usize,
    offset: usize,
}

/// The entries of [`PackedEntries`].
#[derive(Debug)]
pub struct PackedScan<'a> {
    left: Left<'a>,
    /// Those of which nobody was told the key.
    ahead: Left<'a>,
}

/// Entries up to the last.
#[derive(Debug, Clone)]
struct Left<'a> {
    lengths: std::slice::Iter<'a, (usize, usize)>,
    bytes: &'a [u8],
}

impl<'a> Iterator for Left<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (key_len, value_len) = self.lengths.next()?;
        let (key, rest) = self.bytes.split_at(*key_len);
        let (value, rest) = rest.split_at(*value_len);
        self.bytes = rest;
        Some((key, value))
    }
}

impl Scan for PackedScan<'_> {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let next = self.left.next();
        if self.ahead.lengths.len() > self.left.lengths.len() {
            self.ahead = self.left.clone();
        }
        Ok(next)
    }

    fn look_ahead(&mut self) -> Option<&[u8]> {
        self.ahead.next().map(|(key, _)| key)
    }
}
