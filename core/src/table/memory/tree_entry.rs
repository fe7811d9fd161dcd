//! An entry as a page of the tree has it: its key in pieces, and what belongs to the key.

use std::sync::Arc;

use crate::wire::varint_len;

/// Bytes of a key, after the page's prefix, that stand in its slot.
pub(super) const HEAD_LEN: usize = 4;

/// Bytes with which the record of an entry outside of the page names its place.
pub(super) const PLACE_LEN: usize = 4;

/// The part of a page that an entry in it, or the prefix, takes at most.
pub(super) const PARTS: usize = 8;

/// An entry too long to be moved about with a page.
pub(super) struct LongEntry {
    key_len: usize,
    bytes: Box<[u8]>,
}

impl LongEntry {
    /// Returns true if an entry of `len` bytes is too long for a page of up to `page_len` bytes.
    pub(super) fn is_needed(page_len: usize, len: usize) -> bool {
        len > page_len / PARTS
    }

    /// The entry as one outside, where it is too long for a page of up to `page_len` bytes.
    pub(super) fn for_page(page_len: usize, key: &[u8], value: &[u8]) -> Option<Arc<LongEntry>> {
        LongEntry::is_needed(page_len, key.len() + value.len()).then(|| {
            let bytes = [key, value].concat().into_boxed_slice();
            Arc::new(LongEntry { key_len: key.len(), bytes })
        })
    }

    pub(super) fn key(&self) -> &[u8] {
        &self.bytes[..self.key_len]
    }

    pub(super) fn value(&self) -> &[u8] {
        &self.bytes[self.key_len..]
    }

    /// Memory that it takes.
    pub(super) fn memory_len(&self) -> usize {
        self.bytes.len() + size_of::<LongEntry>() + 4 * size_of::<usize>()
    }
}

/// Content that belongs to a key.
#[derive(Clone, Copy)]
pub(super) enum EntryBody<'a> {
    /// Its value, in the page.
    Value(&'a [u8]),
    /// Key and value, outside of the page.
    Long(&'a Arc<LongEntry>),
}

impl<'a> EntryBody<'a> {
    #[inline]
    pub(super) fn value(self) -> &'a [u8] {
        match self {
            EntryBody::Value(value) => value,
            EntryBody::Long(entry) => entry.value(),
        }
    }
}

/// An entry of a page. The pieces of its key in their order are the whole key.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) prefix: &'a [u8],
    pub(super) head: &'a [u8],
    pub(super) tail: &'a [u8],
    pub(super) body: EntryBody<'a>,
}

impl<'a> Entry<'a> {
    /// An entry that is in no page yet.
    pub(super) fn new(key: &'a [u8], body: EntryBody<'a>) -> Self {
        Entry { prefix: &[], head: &[], tail: key, body }
    }

    pub(super) fn key_len(&self) -> usize {
        self.prefix.len() + self.head.len() + self.tail.len()
    }

    /// Bytes with which both keys begin, no more than `len_max`.
    pub(super) fn common_len(&self, other: &Entry<'_>, len_max: usize) -> usize {
        let mut ours = [self.prefix, self.head, self.tail];
        let mut theirs = [other.prefix, other.head, other.tail];
        let (mut our, mut their, mut len) = (0, 0, 0);
        while our < ours.len() && their < theirs.len() && len < len_max {
            let (one, two) = (&mut ours[our], &mut theirs[their]);
            let both = one.len().min(two.len());
            let common = common_len(&one[..both], &two[..both]);
            len += common;
            if common < both {
                break;
            }
            (*one, *two) = (&one[both..], &two[both..]);
            our += usize::from(one.is_empty());
            their += usize::from(two.is_empty());
        }
        len.min(len_max)
    }

    /// The shortest key above the one of `self` that is not above the one of `next`.
    pub(super) fn divider(&self, next: &Entry<'_>) -> Vec<u8> {
        let mut divider = Vec::new();
        next.copy_key(&mut divider);
        divider.truncate(self.common_len(next, usize::MAX) + 1);
        divider.shrink_to_fit();
        divider
    }

    /// Makes `key` the whole key.
    #[inline]
    pub(super) fn copy_key(&self, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(self.prefix);
        key.extend_from_slice(self.head);
        key.extend_from_slice(self.tail);
    }
}

/// Bytes with which two strings of one length begin. Whole blocks compare faster than bytes.
fn common_len(one: &[u8], two: &[u8]) -> usize {
    const BLOCK: usize = 64;
    let blocks = one.chunks_exact(BLOCK).zip(two.chunks_exact(BLOCK));
    let len = blocks.take_while(|(one, two)| one == two).count() * BLOCK;
    let bytes = one[len..].iter().zip(&two[len..]);
    len + bytes.take_while(|(one, two)| one == two).count()
}

/// Bytes that a record takes in a page which does not repeat all but `rest_len` bytes of its key.
#[inline]
pub(super) fn record_len(rest_len: usize, body: EntryBody<'_>) -> usize {
    let lengths = varint_len(rest_len as u64 * 2);
    match body {
        EntryBody::Value(value) => {
            let tail_len = rest_len.saturating_sub(HEAD_LEN);
            lengths + varint_len(value.len() as u64) + tail_len + value.len()
        }
        EntryBody::Long(_) => lengths + PLACE_LEN,
    }
}
