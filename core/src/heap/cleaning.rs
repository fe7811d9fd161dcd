//! Emptying segments that are mostly dead, a few records at a time.
//!
//! Live records move to the end of the segment before theirs, or to a new one in its place, so that
//! the order of the records stays. One segment is emptied at a time; how fast is for the owner of the
//! records to decide, when it asks for the next one.

use super::memory::PAGE_LEN;
use super::record::{HeapRecord, entry_len};
use super::{Address, FIRST_LEN, HeldSegment, RecordHeap, SLOT_LEN};
use crate::error::{Error, Result};
use crate::wire::Reader;

/// Segments looked at when one to be emptied is sought.
const CANDIDATES: usize = 64;

/// Dead bytes that are never worth the work.
const SLACK_LEN: usize = 4 << 10;

/// State of the emptying of segments.
#[derive(Debug, Default)]
pub(super) struct Cleaning {
    victim: Option<Victim>,
    /// Segments that may have no live record left.
    empty: Vec<u32>,
    /// The segment that the next search begins at.
    hand: usize,
    /// Segments looked at in vain since one was found.
    in_vain: usize,
    /// Dead bytes below which no search is made, after one that found nothing.
    idle_below: usize,
}

#[derive(Debug, Clone, Copy)]
struct Victim {
    number: u32,
    /// Place of its next record.
    place: usize,
}

impl Cleaning {
    pub(super) fn note_empty(&mut self, number: u32) {
        self.empty.push(number);
    }
}

impl RecordHeap {
    /// The next record of a segment that is worth emptying, dead or alive, and `None` where no segment
    /// is. If the record is alive, its owner must call [`RecordHeap::move_record`] before it asks again.
    pub fn next_to_move(&mut self) -> Option<Address> {
        self.free_empty();
        loop {
            let victim = match self.cleaning.victim {
                Some(victim) => victim,
                None => Victim { number: self.pick_victim()?, place: 0 },
            };
            let bytes = self.held(victim.number).map_or(&[][..], |held| held.segment.bytes());
            let rest = bytes.get(victim.place..).unwrap_or_default();
            let mut reader = Reader::new(rest);
            if HeapRecord::take(&mut reader).is_some() {
                let place = victim.place + reader.position_in(rest);
                self.cleaning.victim = Some(Victim { place, ..victim });
                return Some(Address::new(victim.number as usize, victim.place));
            }
            self.cleaning.victim = None;
            self.finish(victim.number);
        }
    }

    /// Copies the record that [`RecordHeap::next_to_move`] gave to where it shall stay, and releases it
    /// where it was.
    pub fn move_record(&mut self, from: Address) -> Result<Address> {
        let source = from.segment();
        let (key, value) = self.record(from);
        let len = entry_len(key.len(), value.len());
        let number = self.survivors(source as u32, len)?;
        let both = self.segments.get_disjoint_mut([source, number as usize]);
        let Ok([Some(source), Some(target)]) = both else {
            return Err(Error::internal("a segment to move from or to is gone"));
        };
        let bytes = source.segment.bytes();
        let record = bytes.get(from.place()..from.place() + len).unwrap_or_default();
        let before = target.resident_len();
        let place = target.segment.append([record, &[], &[]]);
        self.resident_bytes += target.resident_len() - before;
        source.dead_bytes += len;
        Ok(Address::new(number as usize, place))
    }

    /// The segment for what is alive in `victim`: the one before it, or a new one behind that.
    fn survivors(&mut self, victim: u32, len: usize) -> Result<u32> {
        let before = self.order.before(victim);
        match before {
            Some(before) if self.room(before) >= len => Ok(before),
            _ => {
                let capacity = self.held(victim).map_or(SLOT_LEN, survivors_capacity);
                self.add_segment(capacity, before)
            }
        }
    }

    /// Frees a segment whose records have all moved on.
    fn finish(&mut self, number: u32) {
        if let Some(before) = self.order.before(number).and_then(|before| self.held(before)) {
            before.segment.release_room();
        }
        self.free_if_empty(number);
    }

    /// Frees the segments that have lost their last live record.
    fn free_empty(&mut self) {
        while let Some(number) = self.cleaning.empty.pop() {
            if self.open != Some(number)
                && self.cleaning.victim.is_none_or(|victim| victim.number != number)
            {
                self.free_if_empty(number);
            }
        }
    }

    fn free_if_empty(&mut self, number: u32) {
        let Some(held) = self.held(number).filter(|held| held.live_bytes() == 0) else { return };
        self.resident_bytes -= held.resident_len();
        self.segments[number as usize] = None;
        // The number may be given to another segment.
        self.front = self.front.filter(|front| front.segment() != number as usize);
        self.order.remove(number);
        self.free_numbers.push(number);
    }

    /// A segment that is worth emptying: of some, the one that gives most for what must be copied.
    fn pick_victim(&mut self) -> Option<u32> {
        let dead = self.resident_bytes - self.live_bytes;
        // Bound (Tables): dead bytes of a table in memory = a third of what is alive and 4 KiB, and what pins keep.
        if dead < self.live_bytes / 3 + SLACK_LEN || dead < self.cleaning.idle_below {
            return None;
        }
        let mut best: Option<(u32, usize, usize)> = None;
        for _ in 0..CANDIDATES.min(self.segments.len()) {
            self.cleaning.hand = (self.cleaning.hand + 1) % self.segments.len();
            let number = self.cleaning.hand as u32;
            let Some((gain, cost)) = self.worth(number) else { continue };
            // Compares gain / cost without a division.
            if best.is_none_or(|(_, best_gain, best_cost)| gain * best_cost > best_gain * cost) {
                best = Some((number, gain, cost));
            }
        }
        self.cleaning.in_vain += CANDIDATES;
        if best.is_some() {
            self.cleaning.in_vain = 0;
            self.cleaning.idle_below = 0;
        } else if self.cleaning.in_vain > self.segments.len() {
            self.cleaning.in_vain = 0;
            self.cleaning.idle_below = dead + dead / 16 + SLACK_LEN;
        }
        best.map(|(number, ..)| number)
    }

    /// Returns the bytes that emptying a segment gives back and those that it copies, if it is worth that.
    fn worth(&self, number: u32) -> Option<(usize, usize)> {
        let held = self.held(number).filter(|_| self.open != Some(number))?;
        let live = held.live_bytes();
        let before = self.order.before(number).and_then(|before| self.held(before));
        let grown = match before {
            Some(before) if before.segment.room() >= live => {
                let filled = before.segment.filled_len();
                before.segment.resident_len(filled + live) - before.segment.resident_len(filled)
            }
            _ => match survivors_capacity(held) {
                SLOT_LEN => live.next_multiple_of(PAGE_LEN),
                capacity => capacity,
            },
        };
        let resident = held.resident_len();
        let gain = resident.checked_sub(grown)?;
        // A pinned segment gives nothing back until its pins are gone.
        let least = if held.segment.is_pinned() { resident / 2 } else { resident / 4 };
        (gain > 0 && gain >= least).then_some((gain, live + 1))
    }
}

/// The capacity of a segment for what is alive in another. A slot has room for the survivors of the
/// next segments, too, and takes no more memory than is filled.
fn survivors_capacity(held: &HeldSegment) -> usize {
    match held.live_bytes() {
        live if live > SLOT_LEN => live,
        _ if held.segment.capacity() >= SLOT_LEN => SLOT_LEN,
        live => live.next_power_of_two().clamp(FIRST_LEN, SLOT_LEN),
    }
}
