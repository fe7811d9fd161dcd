//! Records in memory that is never zeroed and never moves while in use.
//!
//! A [`RecordHeap`] appends records to segments and never changes one in place. A record that is
//! released leaves dead bytes. [`RecordHeap::next_to_move`] returns the records of mostly dead segments one by
//! one; their owner moves the live ones, and the segment is freed, so that memory follows the live records. A pin ([`Pin`],
//! [`HeapSnapshot`]) keeps the bytes of records in place: the records move as copies, and the segment is freed with its
//! last pin.
//!
//! It is not a table: it does not know which record has which key. Its owner stores the addresses.

mod cleaning;
mod memory;
mod order;
mod prefetch;
pub mod record;
mod segment;

use std::ops::Range;
use std::sync::Arc;

use cleaning::Cleaning;
use memory::{Pool, SLOT_LEN};
use order::Order;
pub use prefetch::prefetch;
use record::{EntryLengths, HeapRecord, entry_len};
use segment::{Filled, HeapSegment};

use crate::error::{Error, Result};
use crate::wire::Reader;

/// A record longer than this has a segment of its own.
const SHARED_LEN_MAX: usize = 16 << 10;

/// The shortest segment that records share. Segments grow with what is alive, up to [`SLOT_LEN`].
const FIRST_LEN: usize = 512;

/// Segments that an address can name.
const SEGMENTS_MAX: usize = 1 << 24;

/// Place of a record: 24 bits for the segment, 16 for the place in it. It takes [`Address::BITS`] bits and
/// is never all ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address(u64);

impl Address {
    /// Bits that an address takes.
    pub const BITS: u32 = 40;

    const PLACE_BITS: u32 = 16;

    #[inline]
    fn new(segment: usize, place: usize) -> Address {
        debug_assert!(segment < SEGMENTS_MAX - 1 && place < 1 << Self::PLACE_BITS);
        Address((segment as u64) << Self::PLACE_BITS | place as u64)
    }

    /// The address with the number that [`Address::number`] gave.
    #[inline]
    pub fn from_number(number: u64) -> Address {
        Address(number)
    }

    /// Its number, below `1 << BITS`.
    #[inline]
    pub fn number(self) -> u64 {
        self.0
    }

    #[inline]
    fn segment(self) -> usize {
        (self.0 >> Self::PLACE_BITS) as usize
    }

    #[inline]
    fn place(self) -> usize {
        (self.0 & ((1 << Self::PLACE_BITS) - 1)) as usize
    }
}

/// Records in segments, in the order in which they were appended.
#[derive(Debug, Default)]
pub struct RecordHeap {
    pool: Arc<Pool>,
    /// By number. Numbers of segments that are gone are given again.
    segments: Vec<Option<HeldSegment>>,
    free_numbers: Vec<u32>,
    order: Order,
    /// The segment that is appended to.
    open: Option<u32>,
    /// In its segment, no record before this one is alive.
    front: Option<Address>,
    cleaning: Cleaning,
    live_bytes: usize,
    /// Bytes of memory that the segments take.
    resident_bytes: usize,
}

/// A segment of the heap, and how much of it is dead.
#[derive(Debug)]
struct HeldSegment {
    segment: HeapSegment,
    dead_bytes: usize,
}

impl HeldSegment {
    fn live_bytes(&self) -> usize {
        self.segment.filled_len() - self.dead_bytes
    }

    fn resident_len(&self) -> usize {
        self.segment.resident_len(self.segment.filled_len())
    }
}

impl RecordHeap {
    /// An empty heap, which takes no memory.
    pub fn new() -> RecordHeap {
        RecordHeap::default()
    }

    /// Appends a record. [`crate::ErrorKind::Limit`] where there are too many segments.
    pub fn append(&mut self, key: &[u8], value: &[u8]) -> Result<Address> {
        let len = entry_len(key.len(), value.len());
        let number = match self.open {
            Some(number) if len <= SHARED_LEN_MAX && self.room(number) >= len => number,
            _ => {
                self.close_open();
                self.add_open(len)?
            }
        };
        self.append_to(number, key, value)
    }

    /// Appends no more to the open segment, so that what comes elsewhere comes after it.
    fn close_open(&mut self) {
        let Some(number) = self.open.take() else { return };
        if let Some(held) = self.held(number) {
            held.segment.release_room();
            if held.live_bytes() == 0 {
                self.cleaning.note_empty(number);
            }
        }
    }

    /// A last segment for a record of `len` bytes, and for more where the record is not long.
    fn add_open(&mut self, len: usize) -> Result<u32> {
        if len > SHARED_LEN_MAX {
            return self.add_segment(len, self.order.last());
        }
        let number = self.add_segment(self.shared_len().max(len), self.order.last())?;
        self.open = Some(number);
        Ok(number)
    }

    /// The length of the next segment: as much again as is alive.
    fn shared_len(&self) -> usize {
        match self.live_bytes {
            SLOT_LEN.. => SLOT_LEN,
            live => (live.max(FIRST_LEN)).next_power_of_two().min(SLOT_LEN),
        }
    }

    fn room(&self, number: u32) -> usize {
        self.held(number).map_or(0, |held| held.segment.room())
    }

    #[inline]
    fn held(&self, number: u32) -> Option<&HeldSegment> {
        self.segments.get(number as usize)?.as_ref()
    }

    /// Puts an empty segment into the order behind `before`.
    fn add_segment(&mut self, capacity: usize, before: Option<u32>) -> Result<u32> {
        let number = match self.free_numbers.pop() {
            Some(number) => number,
            None if self.segments.len() < SEGMENTS_MAX - 1 => {
                self.segments.push(None);
                self.segments.len() as u32 - 1
            }
            None => {
                let found = self.segments.len() as u64 + 1;
                return Err(Error::limit("segments of a table", SEGMENTS_MAX as u64 - 1, found));
            }
        };
        let held = HeldSegment { segment: HeapSegment::new(&self.pool, capacity), dead_bytes: 0 };
        self.resident_bytes += held.resident_len();
        self.segments[number as usize] = Some(held);
        self.order.insert_after(before, number);
        Ok(number)
    }

    /// Appends a record to the segment `number`, which has room for it.
    #[inline]
    fn append_to(&mut self, number: u32, key: &[u8], value: &[u8]) -> Result<Address> {
        let Some(held) = self.segments[number as usize].as_mut() else {
            return Err(Error::internal("a segment to append to is gone"));
        };
        let lengths = EntryLengths::of(key, value);
        let before = held.resident_len();
        let filled = held.segment.filled_len();
        let place = held.segment.append([lengths.as_ref(), key, value]);
        self.live_bytes += held.segment.filled_len() - filled;
        self.resident_bytes += held.resident_len() - before;
        Ok(Address::new(number as usize, place))
    }

    /// The key and the value of the record at `address`, which is the heap's and alive, or was
    /// released since nothing was moved.
    #[inline]
    pub fn record(&self, address: Address) -> (&[u8], &[u8]) {
        let held = self.segments.get(address.segment()).and_then(Option::as_ref);
        entry_at(held.map_or(&[], |held| held.segment.bytes()), address.place())
    }

    /// The first record that `is_alive`, which is asked for its address and key. Who takes records
    /// out from the front and asks again does not go over the dead ones again.
    pub fn first(&mut self, is_alive: impl Fn(Address, &[u8]) -> bool) -> Option<Address> {
        for number in self.order.iter() {
            let Some(held) = self.held(number).filter(|held| held.live_bytes() > 0) else {
                continue;
            };
            let number = number as usize;
            let front = self.front.filter(|front| front.segment() == number);
            let begin = front.map_or(0, Address::place);
            let rest = held.segment.bytes().get(begin..).unwrap_or_default();
            let mut reader = Reader::new(rest);
            let mut place = begin;
            while let Some(record) = HeapRecord::take(&mut reader) {
                let address = Address::new(number, place);
                if is_alive(address, record.key()) {
                    self.front = Some(address);
                    return Some(address);
                }
                place = begin + reader.position_in(rest);
            }
        }
        None
    }

    /// [Prefetches](prefetch) the beginning of the record at `address`.
    #[inline]
    pub fn prefetch(&self, address: Address) {
        let held = self.segments.get(address.segment()).and_then(Option::as_ref);
        if let Some(first) = held.and_then(|held| held.segment.bytes().get(address.place())) {
            prefetch(first);
        }
    }

    /// Says that the record at `address` is of no use any more.
    pub fn release(&mut self, address: Address) {
        let (key, value) = self.record(address);
        let len = entry_len(key.len(), value.len());
        if let Some(Some(held)) = self.segments.get_mut(address.segment()) {
            held.dead_bytes += len;
            self.live_bytes -= len;
            if held.live_bytes() == 0 {
                self.cleaning.note_empty(address.segment() as u32);
            }
        }
    }

    /// Takes [`RecordHeap::release`] back, which is possible until something is moved or freed.
    pub fn revive(&mut self, address: Address) {
        let (key, value) = self.record(address);
        let len = entry_len(key.len(), value.len());
        if let Some(Some(held)) = self.segments.get_mut(address.segment()) {
            held.dead_bytes -= len;
            self.live_bytes += len;
        }
        self.front = None;
    }

    /// The value of the record at `address`, to keep: its bytes stay where they are, whatever becomes
    /// of the record.
    pub fn pin_value(&self, address: Address) -> Option<Pin> {
        let held = self.segments.get(address.segment())?.as_ref()?;
        let (key, value) = self.record(address);
        let begin = address.place() + entry_len(key.len(), value.len()) - value.len();
        Some(Pin { filled: held.segment.filled(), place: begin..begin + value.len() })
    }

    /// All records as they are now, the dead ones too, in their order.
    pub fn snapshot(&self) -> HeapSnapshot {
        let held = |held: &Option<HeldSegment>| {
            held.as_ref().map(|held| (held.segment.filled(), held.dead_bytes > 0))
        };
        HeapSnapshot {
            segments: self.segments.iter().map(held).collect(),
            order: self.order.iter().collect(),
        }
    }

    /// Bytes of the records that are alive, their lengths included.
    pub fn live_bytes(&self) -> usize {
        self.live_bytes
    }

    /// Bytes of memory that are the heap's and that no live record takes.
    pub fn dead_bytes(&self) -> usize {
        self.resident_bytes - self.live_bytes
    }

    /// Bytes of memory that the heap has let go of, and that pins and snapshots keep.
    pub fn pinned_bytes(&self) -> usize {
        let all = self.segments.iter().flatten();
        let own: usize = all.map(|held| held.segment.room() + held.segment.filled_len()).sum();
        self.pool.taken_bytes().saturating_sub(own)
    }

    /// Bytes of memory that it takes, what pins keep not among them.
    pub fn memory_bytes(&self) -> usize {
        self.resident_bytes
            + self.segments.capacity() * size_of::<Option<HeldSegment>>()
            + self.order.memory_bytes()
    }
}

/// The key and the value of the record that begins at `place` of a segment's `bytes`.
#[inline]
fn entry_at(bytes: &[u8], place: usize) -> (&[u8], &[u8]) {
    let bytes = bytes.get(place..).unwrap_or_default();
    match HeapRecord::take(&mut Reader::new(bytes)) {
        Some(HeapRecord::Entry { key, value }) => (key, value),
        _ => {
            debug_assert!(false, "an address leads to a record");
            (&[], &[])
        }
    }
}

/// The bytes of a value that stay where they are for as long as this lives.
#[derive(Debug, Clone)]
pub struct Pin {
    filled: Filled,
    place: Range<usize>,
}

impl AsRef<[u8]> for Pin {
    fn as_ref(&self) -> &[u8] {
        self.filled.bytes().get(self.place.clone()).unwrap_or_default()
    }
}

/// A heap's records as they were, in their order. It pins all of them.
#[derive(Debug, Clone)]
pub struct HeapSnapshot {
    /// By number, with whether any of their records were dead.
    segments: Vec<Option<(Filled, bool)>>,
    order: Vec<u32>,
}

impl HeapSnapshot {
    fn bytes(&self, number: usize) -> &[u8] {
        let segment = self.segments.get(number).and_then(Option::as_ref);
        segment.map_or(&[], |(filled, _)| filled.bytes())
    }

    /// Returns true if the record at `address` may have been dead: one beside it was.
    #[inline]
    pub fn may_be_dead(&self, address: Address) -> bool {
        let segment = self.segments.get(address.segment()).and_then(Option::as_ref);
        segment.is_some_and(|(_, has_dead)| *has_dead)
    }

    /// The key and the value of the record at `address`, which is one of these.
    pub fn record(&self, address: Address) -> (&[u8], &[u8]) {
        entry_at(self.bytes(address.segment()), address.place())
    }

    /// The record behind `cursor`, which moves past it; `None` after the last. Dead records come, too.
    #[inline]
    pub fn next(&self, cursor: &mut HeapCursor) -> Option<(Address, &[u8], &[u8])> {
        loop {
            let number = *self.order.get(cursor.segment)? as usize;
            let rest = self.bytes(number).get(cursor.place..).unwrap_or_default();
            let mut reader = Reader::new(rest);
            if let Some(HeapRecord::Entry { key, value }) = HeapRecord::take(&mut reader) {
                let address = Address::new(number, cursor.place);
                cursor.place += reader.position_in(rest);
                return Some((address, key, value));
            }
            *cursor = HeapCursor { segment: cursor.segment + 1, place: 0 };
        }
    }
}

/// A place between two records of a [`HeapSnapshot`], at first before all of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct HeapCursor {
    segment: usize,
    place: usize,
}
