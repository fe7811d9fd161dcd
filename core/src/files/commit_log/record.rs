//! Record of a log: one of the heap's, and the place of the one before it.
//!
//! ```text
//! varint distance back to the record that this one replaces, 0 if there is none    record
//! ```
//!
//! So all versions of a key are a chain, from the newest to the oldest.

use crate::heap::record::HeapRecord;
use crate::wire::{Reader, put_varint};

/// The most bytes that the distance takes.
const DISTANCE_LEN_MAX: usize = 10;

/// Record of a log, which knows the record before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogRecord<'a> {
    pub(crate) record: HeapRecord<'a>,
    /// Place of the record of the same key that this one replaces; 0 if there is none.
    pub(crate) replaced: u64,
}

impl<'a> LogRecord<'a> {
    /// Takes the record at `offset` of a log from `reader`; `None` where it ends before the record does.
    #[inline]
    pub(super) fn take(offset: u64, reader: &mut Reader<'a>) -> Option<LogRecord<'a>> {
        let replaced = match reader.varint()? {
            0 => 0,
            distance => offset.checked_sub(distance)?,
        };
        Some(LogRecord { record: HeapRecord::take(reader)?, replaced })
    }

    /// Appends it to `bytes`, for a place at `offset`.
    pub(super) fn put(&self, offset: u64, bytes: &mut Vec<u8>) {
        let distance = if self.replaced == 0 { 0 } else { offset - self.replaced };
        put_varint(bytes, distance);
        self.record.put(bytes);
    }

    /// Returns the most bytes that it takes anywhere.
    pub(super) fn len_max(&self) -> usize {
        DISTANCE_LEN_MAX + self.record.len()
    }

    pub(crate) fn key(&self) -> &'a [u8] {
        self.record.key()
    }

    pub(crate) fn is_deletion(&self) -> bool {
        matches!(self.record, HeapRecord::Deletion { .. })
    }
}
