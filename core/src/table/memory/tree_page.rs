//! A page of the tree: entries in the order of their keys, in one buffer.
//!
//! ```text
//! prefix   slot 0   slot 1  ...  slot n-1    free    records, the latest first
//!
//! slot:    4 bytes, the head of a key: what follows the prefix, zeros where the key ends
//!          u16, little endian: where the record begins
//! record:  varint rest length * 2        varint value length     tail    value
//! or:      varint rest length * 2 + 1    u32, little endian: the place of an entry outside
//! ```
//!
//! All keys begin with the prefix. The rest of a key is what follows it, the tail what follows the
//! head. Heads, tails and lengths compare in this order as the keys do: where heads are the same and
//! a rest is shorter than a head, its tail is empty, and its length tells it from a longer one.
//!
//! Every entry takes an eighth of a page at most, longer ones stand outside. So a page that is split
//! in the middle fits in two, whatever the lengths.

use std::cmp::Ordering;
use std::sync::Arc;

use super::buffer::{Buffer, MAPPED_LEN};
use super::tree_entry::{Entry, EntryBody, HEAD_LEN, LongEntry, PARTS, PLACE_LEN, record_len};
use super::tree_split::With;
use crate::wire::{Reader, write_varint};

pub(super) const SLOT_LEN: usize = HEAD_LEN + 2;

/// A page that needs more than this is a mapping, if it may become one.
const ALLOCATED_MAX: usize = 8 << 10;

/// Shorter buffers save nothing.
const ALLOCATED_MIN: usize = 128;

/// Parts of a record, as its bytes say them.
struct PageRecord<'a> {
    rest_len: usize,
    tail: &'a [u8],
    body: EntryBody<'a>,
}

pub(super) struct Page {
    buffer: Buffer,
    /// Greatest length of the buffer.
    len_max: usize,
    prefix_len: usize,
    count: usize,
    /// The most slots that this buffer had, which tells how much of it was touched.
    count_max: usize,
    /// Offset at which records begin.
    low: usize,
    /// Bytes of records that no slot knows any more.
    dead_len: usize,
    /// Entries outside, and places that are free.
    long: Vec<Option<Arc<LongEntry>>>,
}

impl Page {
    pub(super) fn len_max(&self) -> usize {
        self.len_max
    }

    /// No entries, and as long as `len_max` when there are many.
    pub(super) fn new(len_max: usize) -> Page {
        Page::with_buffer(Buffer::allocated(0), len_max)
    }

    fn with_buffer(buffer: Buffer, len_max: usize) -> Page {
        let low = buffer.len();
        Page {
            buffer,
            len_max,
            prefix_len: 0,
            count: 0,
            count_max: 0,
            low,
            dead_len: 0,
            long: Vec::new(),
        }
    }

    /// The entries, which must be in order and fit, with little room for more.
    pub(super) fn build<'a>(
        len_max: usize,
        entries: impl DoubleEndedIterator<Item = Entry<'a>> + Clone,
    ) -> Page {
        let (prefix_len, len) = plan(len_max, entries.clone());
        let buffer = buffer_for(len, len / 8, len_max);
        Page::with_buffer(buffer, len_max).filled(prefix_len, entries)
    }

    /// The entries with room for more, where they need no more than `bound` bytes.
    pub(super) fn build_within<'a>(
        bound: usize,
        len_max: usize,
        entries: impl DoubleEndedIterator<Item = Entry<'a>> + Clone,
    ) -> Option<Page> {
        let (prefix_len, len) = plan(len_max, entries.clone());
        (len <= bound).then(|| {
            let buffer = buffer_for(len, len / 2, len_max);
            Page::with_buffer(buffer, len_max).filled(prefix_len, entries)
        })
    }

    /// This page, which is empty, with what was planned.
    fn filled<'a>(mut self, prefix_len: usize, entries: impl Iterator<Item = Entry<'a>>) -> Page {
        let mut key = Vec::new();
        for entry in entries {
            let key = match entry.body {
                EntryBody::Long(long) => long.key(),
                EntryBody::Value(_) => {
                    entry.copy_key(&mut key);
                    &key
                }
            };
            if self.count == 0 {
                self.prefix_len = prefix_len;
                self.buffer[..prefix_len].copy_from_slice(&key[..prefix_len]);
            }
            self.place(self.count, key, entry.body);
        }
        self
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    #[inline]
    pub(super) fn prefix(&self) -> &[u8] {
        &self.buffer[..self.prefix_len]
    }

    #[inline]
    fn slots(&self) -> &[[u8; SLOT_LEN]] {
        self.buffer[self.prefix_len..self.slots_end()].as_chunks().0
    }

    #[inline]
    fn slots_end(&self) -> usize {
        self.prefix_len + self.count * SLOT_LEN
    }

    /// Bytes that its entries need.
    pub(super) fn live_len(&self) -> usize {
        self.slots_end() + self.buffer.len() - self.low - self.dead_len
    }

    pub(super) fn dead_len(&self) -> usize {
        self.dead_len
    }

    /// Bytes that find its entries.
    pub(super) fn index_len(&self) -> usize {
        self.slots_end() + size_of::<Page>()
    }

    /// Memory that it takes without its entries outside.
    pub(super) fn memory_len(&self) -> usize {
        let touched = self.prefix_len + self.count_max * SLOT_LEN;
        self.buffer.resident_len(touched..self.low)
            + size_of::<Page>()
            + self.long.capacity() * size_of::<usize>()
    }

    /// Its entries outside.
    pub(super) fn outside(&self) -> impl Iterator<Item = &Arc<LongEntry>> {
        self.long.iter().flatten()
    }

    /// Returns the place of the entry of `key`, or as an error the place for it.
    #[inline]
    pub(super) fn search(&self, key: &[u8]) -> Result<usize, usize> {
        let Some(rest) = key.strip_prefix(self.prefix()) else {
            return Err(if key < self.prefix() { 0 } else { self.count });
        };
        let wanted = head_of(rest);
        let slots = self.slots();
        let first = first_not_below(slots, wanted);
        let same = match slots[first..].get(..2) {
            Some([one, _]) if head_in(one) != wanted => return Err(first),
            Some([_, two]) if head_in(two) != wanted => 1,
            _ => slots[first..].partition_point(|slot| head_in(slot) == wanted),
        };
        slots[first..first + same]
            .binary_search_by(|slot| self.record(slot).compare_rest(rest))
            .map(|at| first + at)
            .map_err(|at| first + at)
    }

    #[inline]
    fn record(&self, slot: &[u8; SLOT_LEN]) -> PageRecord<'_> {
        let place = usize::from(u16::from_le_bytes([slot[4], slot[5]]));
        let Some(record) = self.read_record(place) else {
            unreachable!("a slot that leads to no record");
        };
        record
    }

    #[inline]
    fn read_record(&self, place: usize) -> Option<PageRecord<'_>> {
        let mut reader = Reader::new(self.buffer.get(place..)?);
        let lengths = reader.varint()? as usize;
        let rest_len = lengths >> 1;
        if lengths & 1 == 1 {
            let place = u32::from_le_bytes(reader.array::<PLACE_LEN>()?) as usize;
            let entry = self.long.get(place)?.as_ref()?;
            let tail = entry.key().get(self.prefix_len + HEAD_LEN..).unwrap_or_default();
            return Some(PageRecord { rest_len, tail, body: EntryBody::Long(entry) });
        }
        let value_len = reader.varint()? as usize;
        let tail = reader.take(rest_len.saturating_sub(HEAD_LEN))?;
        Some(PageRecord { rest_len, tail, body: EntryBody::Value(reader.take(value_len)?) })
    }

    /// The entry of that number, counted from 0 in the order of keys.
    #[inline]
    pub(super) fn entry(&self, at: usize) -> Entry<'_> {
        let slot = &self.slots()[at];
        let record = self.record(slot);
        Entry {
            prefix: self.prefix(),
            head: &slot[..record.rest_len.min(HEAD_LEN)],
            tail: record.tail,
            body: record.body,
        }
    }

    pub(super) fn entries(&self) -> impl DoubleEndedIterator<Item = Entry<'_>> + Clone {
        (0..self.count).map(|at| self.entry(at))
    }

    #[inline]
    pub(super) fn value(&self, at: usize) -> &[u8] {
        self.record(&self.slots()[at]).body.value()
    }

    /// Puts an entry before that of number `at`, where its key belongs. False where the page would
    /// be too long, or so full that it had to be rewritten all the time: then it must be split.
    pub(super) fn insert(&mut self, at: usize, key: &[u8], body: EntryBody<'_>) -> bool {
        let has_prefix = key.starts_with(self.prefix());
        if has_prefix && self.count > 0 {
            let len = SLOT_LEN + record_len(key.len() - self.prefix_len, body);
            if len <= self.low - self.slots_end() {
                self.place(at, key, body);
                return true;
            }
            let crowded = self.live_len() + len > self.len_max - self.len_max / 16;
            if crowded && self.buffer.len() == self.len_max {
                return false;
            }
        }
        let with = With::new(self, at, Entry::new(key, body));
        let page = Page::build_within(self.len_max, self.len_max, with.range(0..with.count()));
        page.map(|page| *self = page).is_some()
    }

    /// Writes an entry where there is room for it, and a key with the prefix.
    #[inline]
    fn place(&mut self, at: usize, key: &[u8], body: EntryBody<'_>) {
        let rest = &key[self.prefix_len..];
        self.low -= record_len(rest.len(), body);
        self.write_record(self.low, rest, body);
        let (start, end) = (self.prefix_len + at * SLOT_LEN, self.slots_end());
        self.buffer.copy_within(start..end, start + SLOT_LEN);
        let slot = &mut self.buffer[start..start + SLOT_LEN];
        slot[..HEAD_LEN].copy_from_slice(&head_of(rest).to_be_bytes());
        slot[HEAD_LEN..].copy_from_slice(&(self.low as u16).to_le_bytes());
        self.count += 1;
        self.count_max = self.count_max.max(self.count);
    }

    #[inline]
    fn write_record(&mut self, place: usize, rest: &[u8], body: EntryBody<'_>) {
        match body {
            EntryBody::Value(value) => {
                let tail = rest.get(HEAD_LEN..).unwrap_or_default();
                let record = &mut self.buffer[place..];
                let mut len = write_varint(record, rest.len() as u64 * 2);
                len += write_varint(&mut record[len..], value.len() as u64);
                record[len..][..tail.len()].copy_from_slice(tail);
                record[len + tail.len()..][..value.len()].copy_from_slice(value);
            }
            EntryBody::Long(entry) => {
                let free = self.long.iter().position(Option::is_none).unwrap_or_else(|| {
                    self.long.push(None);
                    self.long.len() - 1
                });
                self.long[free] = Some(Arc::clone(entry));
                let record = &mut self.buffer[place..];
                let len = write_varint(record, rest.len() as u64 * 2 + 1);
                record[len..][..PLACE_LEN].copy_from_slice(&(free as u32).to_le_bytes());
            }
        }
    }

    /// Gives the entry of number `at`, which has this key, another body where its record can take it.
    pub(super) fn overwrite(&mut self, at: usize, key: &[u8], body: EntryBody<'_>) -> bool {
        let (place, old_len) = self.place_of(at);
        let rest = &key[self.prefix_len..];
        let len = record_len(rest.len(), body);
        if len > old_len {
            return false;
        }
        self.free_long(at);
        self.write_record(place, rest, body);
        self.dead_len += old_len - len;
        true
    }

    /// Takes the entry of number `at` out, and leaves the page as it is otherwise.
    pub(super) fn take_out(&mut self, at: usize) {
        self.dead_len += self.place_of(at).1;
        self.free_long(at);
        let (start, end) = (self.prefix_len + at * SLOT_LEN, self.slots_end());
        self.buffer.copy_within(start + SLOT_LEN..end, start);
        self.count -= 1;
    }

    /// Gives memory back when much of it is not needed any more, and says whether it did.
    pub(super) fn give_back(&mut self) -> bool {
        let slack = self.dead_len + (self.count_max - self.count) * SLOT_LEN;
        let is_much = slack > self.live_len() / 2 + ALLOCATED_MIN;
        if is_much {
            *self = Page::build(self.len_max, self.entries());
        }
        is_much
    }

    /// Returns the offset and the length of an entry's record.
    fn place_of(&self, at: usize) -> (usize, usize) {
        let slot = &self.slots()[at];
        let record = self.record(slot);
        let place = usize::from(u16::from_le_bytes([slot[4], slot[5]]));
        (place, record_len(record.rest_len, record.body))
    }

    fn free_long(&mut self, at: usize) {
        let place = match self.record(&self.slots()[at]).body {
            EntryBody::Value(_) => return,
            EntryBody::Long(entry) => {
                let is_it =
                    |other: &Option<_>| other.as_ref().is_some_and(|o| Arc::ptr_eq(o, entry));
                self.long.iter().position(is_it)
            }
        };
        if let Some(place) = place {
            self.long[place] = None;
        }
    }
}

/// For tests.
impl Page {
    /// Returns a fault in the way its bytes are used, if there is one.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let records: usize = (0..self.count).map(|at| self.place_of(at).1).sum();
        let long = self.entries().filter(|entry| matches!(entry.body, EntryBody::Long(_))).count();
        let has_prefix = |entry: Entry<'_>| entry.prefix.len() == self.prefix_len;
        [
            (self.slots_end() <= self.low, "slots in records"),
            (self.count <= self.count_max, "more slots than ever"),
            (records + self.dead_len == self.buffer.len() - self.low, "records and dead bytes"),
            (long == self.outside().count(), "entries outside that no slot knows"),
            (self.entries().all(has_prefix), "a key without the prefix"),
            (self.buffer.len() <= self.len_max, "a long buffer"),
        ]
        .into_iter()
        .find_map(|(holds, fault)| (!holds).then_some(fault))
    }
}

impl Clone for Page {
    /// Copies what is there, so that of a mapping the rest stays untouched.
    fn clone(&self) -> Page {
        let Some(mut buffer) = self.buffer.another() else {
            return Page::build(self.len_max, self.entries());
        };
        let (front, low) = (self.slots_end(), self.low);
        buffer[..front].copy_from_slice(&self.buffer[..front]);
        buffer[low..].copy_from_slice(&self.buffer[low..]);
        Page { buffer, long: self.long.clone(), count_max: self.count, ..*self }
    }
}

impl PageRecord<'_> {
    /// Compares the rest of its key with `rest`, which has the same head.
    #[inline]
    fn compare_rest(&self, rest: &[u8]) -> Ordering {
        let tail = rest.get(HEAD_LEN..).unwrap_or_default();
        self.tail.cmp(tail).then(self.rest_len.cmp(&rest.len()))
    }
}

/// The prefix of the entries and the bytes that they need.
fn plan<'a>(
    len_max: usize,
    mut entries: impl DoubleEndedIterator<Item = Entry<'a>> + Clone,
) -> (usize, usize) {
    let all = entries.clone();
    let Some(first) = entries.next() else { return (0, 0) };
    let last = entries.next_back().unwrap_or(first);
    let prefix_len = first.common_len(&last, len_max / PARTS);
    let len = |entry: Entry<'_>| SLOT_LEN + record_len(entry.key_len() - prefix_len, entry.body);
    (prefix_len, prefix_len + all.map(len).sum::<usize>())
}

/// A buffer for `len` bytes and some that may follow.
fn buffer_for(len: usize, room: usize, len_max: usize) -> Buffer {
    if len_max < MAPPED_LEN || len <= ALLOCATED_MAX {
        return Buffer::allocated((len + room).max(ALLOCATED_MIN).min(len_max));
    }
    // All of what is allocated is resident, so that there it must be tight.
    Buffer::mapped().unwrap_or_else(|| Buffer::allocated((len + len / 16).min(len_max)))
}

/// The number of slots with heads below `wanted`. It asks three at a time, because the answers are
/// not in the cache, and come together.
#[inline]
fn first_not_below(slots: &[[u8; SLOT_LEN]], wanted: u32) -> usize {
    let is_below = |slot: &[u8; SLOT_LEN]| usize::from(head_in(slot) < wanted);
    let (mut before, mut rest) = (0, slots);
    while rest.len() >= 8 {
        let part = rest.len() / 4;
        let parts_below = is_below(&rest[part - 1])
            + is_below(&rest[2 * part - 1])
            + is_below(&rest[3 * part - 1]);
        let end = if parts_below == 3 { rest.len() } else { (parts_below + 1) * part };
        before += parts_below * part;
        rest = &rest[parts_below * part..end];
    }
    before + rest.iter().map(is_below).sum::<usize>()
}

#[inline]
fn head_of(rest: &[u8]) -> u32 {
    match rest.first_chunk::<HEAD_LEN>() {
        Some(head) => u32::from_be_bytes(*head),
        None => rest
            .iter()
            .zip([24, 16, 8])
            .fold(0, |head, (byte, shift)| head | u32::from(*byte) << shift),
    }
}

#[inline]
fn head_in(slot: &[u8; SLOT_LEN]) -> u32 {
    u32::from_be_bytes([slot[0], slot[1], slot[2], slot[3]])
}
