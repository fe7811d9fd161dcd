//! Layout of a record in memory and in a log: lengths, then bytes, without gaps.
//!
//! ```text
//! entry:    varint key length * 2      varint value length    key    value
//! deletion: varint key length * 2 + 1  key
//! ```
//!
//! A varint has seven bits to a byte, the low ones first; the high bit says that more follow
//! (LEB128). Deletions stand in logs only.

use crate::wire::{Reader, put_varint, varint_len, write_varint};

/// A record where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeapRecord<'a> {
    /// A key has this value from now on.
    Entry {
        /// Its key.
        key: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// A key has no value any more.
    Deletion {
        /// The key.
        key: &'a [u8],
    },
}

impl<'a> HeapRecord<'a> {
    /// Takes the next record from `reader`; `None` where it ends before the record does.
    #[inline]
    pub fn take(reader: &mut Reader<'a>) -> Option<HeapRecord<'a>> {
        let head = reader.varint()?;
        let key_len = usize::try_from(head >> 1).ok()?;
        if head & 1 == 1 {
            return Some(HeapRecord::Deletion { key: reader.take(key_len)? });
        }
        let value_len = usize::try_from(reader.varint()?).ok()?;
        Some(HeapRecord::Entry { key: reader.take(key_len)?, value: reader.take(value_len)? })
    }

    /// Its key.
    #[inline]
    pub fn key(&self) -> &'a [u8] {
        match self {
            HeapRecord::Entry { key, .. } | HeapRecord::Deletion { key } => key,
        }
    }

    /// Bytes that it takes.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            HeapRecord::Entry { key, value } => entry_len(key.len(), value.len()),
            HeapRecord::Deletion { key } => varint_len(key.len() as u64 * 2) + key.len(),
        }
    }

    /// Returns false: every record takes bytes.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Appends it to `bytes`.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        match self {
            HeapRecord::Entry { key, value } => {
                bytes.extend_from_slice(EntryLengths::of(key, value).as_ref());
                bytes.extend_from_slice(key);
                bytes.extend_from_slice(value);
            }
            HeapRecord::Deletion { key } => {
                put_varint(bytes, key.len() as u64 * 2 + 1);
                bytes.extend_from_slice(key);
            }
        }
    }
}

/// The two lengths before an entry's key.
pub(super) struct EntryLengths {
    bytes: [u8; 20],
    len: usize,
}

impl EntryLengths {
    #[inline]
    pub(super) fn of(key: &[u8], value: &[u8]) -> EntryLengths {
        let mut bytes = [0; 20];
        let mut len = write_varint(&mut bytes, key.len() as u64 * 2);
        len += write_varint(&mut bytes[len..], value.len() as u64);
        EntryLengths { bytes, len }
    }
}

impl AsRef<[u8]> for EntryLengths {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Bytes that an entry with a key and a value of these lengths takes.
#[inline]
pub fn entry_len(key_len: usize, value_len: usize) -> usize {
    varint_len(key_len as u64 * 2) + varint_len(value_len as u64) + key_len + value_len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_put_and_takes_the_bytes_it_says() {
        let long = vec![7; 70_000];
        let records = [
            HeapRecord::Entry { key: b"", value: b"" },
            HeapRecord::Entry { key: b"key", value: b"value" },
            HeapRecord::Deletion { key: b"key" },
            HeapRecord::Entry { key: &long[..63], value: &long[..127] },
            HeapRecord::Entry { key: &long[..64], value: &long },
            HeapRecord::Deletion { key: &long[..20_000] },
        ];
        let mut bytes = Vec::new();
        for record in &records {
            let before = bytes.len();
            record.put(&mut bytes);
            assert_eq!(bytes.len() - before, record.len());
        }
        let mut reader = Reader::new(&bytes);
        for record in &records {
            assert_eq!(HeapRecord::take(&mut reader), Some(*record));
        }
        assert_eq!(reader.remaining(), 0);
    }

    #[test]
    fn a_record_that_is_cut_anywhere_is_none() {
        let mut bytes = Vec::new();
        HeapRecord::Entry { key: &[1; 100], value: &[2; 200] }.put(&mut bytes);
        for len in 0..bytes.len() {
            assert_eq!(HeapRecord::take(&mut Reader::new(&bytes[..len])), None, "{len} bytes");
        }
    }
}
