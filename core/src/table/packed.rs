//! Entries in one piece of memory, for whoever hands many to a table at once.

use super::Scan;
use crate::error::Result;

/// Entries one after another, each behind the lengths of its key and its value.
#[derive(Debug, Default)]
pub struct PackedEntries {
    lengths: Vec<(usize, usize)>,
    bytes: Vec<u8>,
}

impl PackedEntries {
    /// Puts an entry behind the others.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.lengths.push((key.len(), value.len()));
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
    }

    /// Bytes of all keys and values.
    pub fn bytes_len(&self) -> usize {
        self.bytes.len()
    }

    /// The entries from the first on, as often as asked.
    pub fn scan(&self) -> PackedScan<'_> {
        PackedScan { lengths: self.lengths.iter(), bytes: &self.bytes }
    }
}

/// The entries of [`PackedEntries`].
#[derive(Debug)]
pub struct PackedScan<'a> {
    lengths: std::slice::Iter<'a, (usize, usize)>,
    bytes: &'a [u8],
}

impl Scan for PackedScan<'_> {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let Some((key_len, value_len)) = self.lengths.next() else { return Ok(None) };
        let (key, rest) = self.bytes.split_at(*key_len);
        let (value, rest) = rest.split_at(*value_len);
        self.bytes = rest;
        Ok(Some((key, value)))
    }
}
