//! Sequence numbers that were sent and not acknowledged.

/// Ranges that are kept: more gaps than these are in no window of a connection that works.
pub(super) const RANGES_MAX: usize = 32;

/// The numbers, as ranges: one, but for gaps.
#[derive(Debug, Default)]
pub(super) struct Unacknowledged {
    /// The first number and the one behind the last of each, none next to another.
    ranges: Vec<(u32, u32)>,
}

impl Unacknowledged {
    /// Returns true if all numbers from `start` up to `end` were sent.
    pub(super) fn has(&self, start: u32, end: u32) -> bool {
        self.ranges.iter().any(|range| at_most(range.0, start) && at_most(end, range.1))
    }

    /// Adds the numbers from `start` up to `end`; of too many ranges the oldest goes.
    pub(super) fn add(&mut self, mut start: u32, mut end: u32) {
        if let Some(last) = self.ranges.last_mut().filter(|last| last.1 == start) {
            last.1 = end;
            return;
        }
        self.ranges.retain(|range| {
            let meets = at_most(range.0, end) && at_most(start, range.1);
            if meets {
                start = if at_most(range.0, start) { range.0 } else { start };
                end = if at_most(end, range.1) { range.1 } else { end };
            }
            !meets
        });
        if self.ranges.len() == RANGES_MAX {
            self.ranges.remove(0);
        }
        self.ranges.push((start, end));
    }

    /// Forgets the numbers before `ack`.
    pub(super) fn forget_before(&mut self, ack: u32) {
        self.ranges.retain_mut(|range| {
            if at_most(range.0, ack) {
                range.0 = ack;
            }
            !at_most(range.1, ack)
        });
    }
}

/// Compares two sequence numbers, of which none is more than half of all before the other (RFC 9293, section 3.4).
fn at_most(number: u32, other: u32) -> bool {
    other.wrapping_sub(number).cast_signed() >= 0
}
