//! Reading a file here and there with few reads of the file.

use std::ops::Range;
use std::sync::Arc;

use super::DatabaseFile;
use crate::error::{Error, Result};

/// A stretch of the file in memory. It moves to what is asked for, and grows to what is larger than
/// it usually is.
#[derive(Debug)]
pub(super) struct Window {
    file: Arc<DatabaseFile>,
    /// Bytes to read at once, where fewer are asked for.
    ahead_len: usize,
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    pub(super) fn new(file: Arc<DatabaseFile>, ahead_len: usize) -> Window {
        Window { file, ahead_len, start: 0, bytes: Vec::new() }
    }

    /// The bytes from `offset` on: `len`, or as many as the file has.
    pub(super) fn up_to(&mut self, offset: u64, len: usize) -> Result<&[u8]> {
        let there = self.file.len.saturating_sub(offset).min(len as u64) as usize;
        let range = self.show(offset, there)?;
        Ok(self.bytes(range))
    }

    /// Moves to the `len` bytes at `offset`, which the caller knows to be in the file, and says where
    /// [`Window::bytes`] has them until the next move.
    pub(super) fn show(&mut self, offset: u64, len: usize) -> Result<Range<usize>> {
        let end = offset.saturating_add(len as u64);
        if offset < self.start || end > self.start + self.bytes.len() as u64 {
            let left = self.file.len.saturating_sub(offset);
            let wanted = len.max(self.ahead_len.min(usize::try_from(left).unwrap_or(usize::MAX)));
            self.bytes.resize(wanted, 0);
            self.start = offset;
            if let Err(error) = self.file.storage.read_at(offset, &mut self.bytes) {
                self.bytes.clear();
                return Err(Error::io("read", &error).at(offset));
            }
        }
        let at = (offset - self.start) as usize;
        Ok(at..at + len)
    }

    /// Returns the bytes that [`Window::show`] moved to.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }
}
