//! Keys and values of a cache as the bytes of a table.
//!
//! ```text
//! key:    text as it is; of another kind: ff   kind 1   bytes
//! value:  kind, 64 if it expires, 128 if it has a tag 1   milliseconds since 1970 of its expiry 8
//!         length of the tag 4   tag, as a key   bytes
//! ```
//!
//! Numbers are little-endian. No text begins with the byte ff. What there is not of expiry and tag takes no bytes.

use crate::error::{Error, Result};
use crate::wire::{Endian, Reader};

/// First byte of keys that are not text.
const NOT_TEXT: u8 = 0xff;

const EXPIRES: u8 = 64;
const HAS_TAG: u8 = 128;

/// Kind of a key, a tag or a value of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheKind {
    /// Bytes.
    Bytes,
    /// Text in UTF-8.
    Text,
    /// An integer of 64 bits with a sign, in 8 bytes, little-endian.
    Integer,
    /// A number of IEEE 754 in 8 bytes, little-endian.
    Float,
    /// Nested data in CBOR (RFC 8949), with the tags of [`NestedTag`](super::NestedTag).
    Nested,
    /// Bytes that the program makes of its objects, behind a check of its own.
    Sealed,
}

impl CacheKind {
    const ALL: [CacheKind; 6] = [
        CacheKind::Bytes,
        CacheKind::Text,
        CacheKind::Integer,
        CacheKind::Float,
        CacheKind::Nested,
        CacheKind::Sealed,
    ];

    /// Returns the number that stands for it in a file.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the kind that `code` stands for.
    pub fn of_code(code: u8) -> Option<CacheKind> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// Data of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheData<'a> {
    /// Kind of the bytes.
    pub kind: CacheKind,
    /// Bytes as the kind has them.
    pub bytes: &'a [u8],
}

impl<'a> CacheData<'a> {
    /// Data of `kind` in `bytes`.
    pub fn new(kind: CacheKind, bytes: &'a [u8]) -> CacheData<'a> {
        CacheData { kind, bytes }
    }

    /// Data of bytes of which the caller does not know whether they are text: text if they are UTF-8.
    pub fn of_bytes(bytes: &'a [u8]) -> CacheData<'a> {
        let is_text = std::str::from_utf8(bytes).is_ok();
        CacheData::new(if is_text { CacheKind::Text } else { CacheKind::Bytes }, bytes)
    }

    /// Returns the key of a table that stands for it.
    pub fn to_key(&self) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.bytes.len() + 2);
        self.put_key(&mut key);
        key
    }

    fn put_key(&self, key: &mut Vec<u8>) {
        if self.kind != CacheKind::Text {
            key.extend([NOT_TEXT, self.kind.code()]);
        }
        key.extend_from_slice(self.bytes);
    }

    /// Reads the data that `key` of a table stands for. [`ErrorKind::Format`](crate::ErrorKind::Format) if no cache wrote it.
    pub fn of_key(key: &'a [u8]) -> Result<CacheData<'a>> {
        match key {
            [NOT_TEXT, code, bytes @ ..] => {
                let kind = CacheKind::of_code(*code).filter(|kind| *kind != CacheKind::Text);
                let kind = kind.ok_or_else(|| Error::format("a key of a cache", "other bytes"))?;
                Ok(CacheData { kind, bytes })
            }
            _ => Ok(CacheData { kind: CacheKind::Text, bytes: key }),
        }
    }
}

/// Value of a cache, and how long it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheEntry<'a> {
    /// Value.
    pub value: CacheData<'a>,
    /// Milliseconds since 1970 from which on it is gone.
    pub expires_at: Option<u64>,
    /// Name by which entries are evicted together.
    pub tag: Option<CacheData<'a>>,
}

impl<'a> CacheEntry<'a> {
    /// Returns true if it counts at `now`, in milliseconds since 1970.
    pub fn counts(&self, now: u64) -> bool {
        self.expires_at.is_none_or(|expires_at| now < expires_at)
    }

    /// Returns the value of a table that stands for it.
    pub fn to_value(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.value.bytes.len() + 16);
        let expires = if self.expires_at.is_some() { EXPIRES } else { 0 };
        let tagged = if self.tag.is_some() { HAS_TAG } else { 0 };
        bytes.push(self.value.kind.code() | expires | tagged);
        if let Some(expires_at) = self.expires_at {
            bytes.extend(expires_at.to_le_bytes());
        }
        if let Some(tag) = self.tag {
            let tag = tag.to_key();
            bytes.extend((tag.len() as u32).to_le_bytes());
            bytes.extend(tag);
        }
        bytes.extend_from_slice(self.value.bytes);
        bytes
    }

    /// Reads what `value` of a table stands for. [`ErrorKind::Format`](crate::ErrorKind::Format) if no cache wrote it.
    pub fn of_value(value: &'a [u8]) -> Result<CacheEntry<'a>> {
        Self::take(&mut Reader::new(value))
            .ok_or_else(|| Error::format("a value of a cache", "other bytes"))
    }

    fn take(fields: &mut Reader<'a>) -> Option<CacheEntry<'a>> {
        let first = fields.u8()?;
        let kind = CacheKind::of_code(first & (EXPIRES - 1))?;
        let expires_at = match first & EXPIRES {
            0 => None,
            _ => Some(fields.u64(Endian::Little)?),
        };
        let tag = match first & HAS_TAG {
            0 => None,
            _ => {
                let len = fields.u32(Endian::Little)?;
                Some(CacheData::of_key(fields.take(usize::try_from(len).ok()?)?).ok()?)
            }
        };
        Some(CacheEntry { value: CacheData { kind, bytes: fields.rest() }, expires_at, tag })
    }

    /// Returns true if the value of a table counts at `now`, which is read no further than that needs.
    pub(super) fn value_counts(value: &[u8], now: u64) -> bool {
        let mut fields = Reader::new(value);
        match fields.u8() {
            Some(first) if first & EXPIRES != 0 => {
                fields.u64(Endian::Little).is_some_and(|expires_at| now < expires_at)
            }
            first => first.is_some(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let tags = [None, Some(CacheData::new(CacheKind::Integer, &[1, 0, 0, 0, 0, 0, 0, 0]))];
        for kind in CacheKind::ALL {
            for bytes in [&b""[..], b"\xff\0", b"text"] {
                let data = CacheData::new(kind, bytes);
                if kind != CacheKind::Text || bytes != b"\xff\0" {
                    assert_eq!(CacheData::of_key(&data.to_key()).unwrap(), data);
                }
                for (tag, expires_at) in tags.into_iter().zip([None, Some(77)]) {
                    let entry = CacheEntry { value: data, expires_at, tag };
                    let value = entry.to_value();
                    assert_eq!(CacheEntry::of_value(&value).unwrap(), entry);
                    assert!(CacheEntry::value_counts(&value, 76) && entry.counts(76));
                    assert_eq!(CacheEntry::value_counts(&value, 77), entry.counts(77));
                    assert_eq!(entry.counts(77), expires_at.is_none());
                }
            }
        }
    }

    #[test]
    fn bytes_that_no_cache_wrote_are_refused() {
        for key in [&b"\xff"[..], b"\xff\x01a", b"\xff\x06"] {
            assert!(CacheData::of_key(key).is_err() == (key.len() > 1), "{key:?}");
        }
        for value in [&b""[..], b"\x06", b"\x40\0\0", b"\x80\x09\0\0\0ab", b"\x80\xff\xff\xff\xff"]
        {
            assert!(CacheEntry::of_value(value).is_err(), "{value:?}");
        }
        assert!(!CacheEntry::value_counts(b"", 0) && !CacheEntry::value_counts(b"\x40\0", 0));
    }
}
