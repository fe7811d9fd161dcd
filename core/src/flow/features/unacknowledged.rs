//! Sequence numbers that were sent and not acknowledged.

/// Ranges that are kept: more gaps than these are in no window of a connection that works.
pub(super) const RANGES_MAX: usize = 32;

/// The numbers, as ranges, none next to another: one, but for gaps.
#[derive(Debug, Default)]
pub(super) struct Unacknowledged {
    /// The first number and the one behind the last of the range that was added last.
    last: Option<Range>,
    /// Those that were added before it, the oldest first.
    older: Vec<Range>,
}

type Range = (u32, u32);

impl Unacknowledged {
    /// Returns true if all numbers from `start` up to `end` were sent.
    pub(super) fn has(&self, start: u32, end: u32) -> bool {
        let mut ranges = self.older.iter().chain(&self.last);
        ranges.any(|range| at_most(range.0, start) && at_most(end, range.1))
    }

    /// Adds the numbers from `start` up to `end`; of too many ranges the oldest goes.
    pub(super) fn add(&mut self, start: u32, end: u32) {
        match &mut self.last {
            Some(last) if last.1 == start => last.1 = end,
            None if self.older.is_empty() => self.last = Some((start, end)),
            _ => self.add_apart((start, end)),
        }
    }

    /// Adds a range that does not go on where the last one ended.
    fn add_apart(&mut self, mut added: Range) {
        self.older.extend(self.last.take());
        self.older.retain(|range| {
            let meets = at_most(range.0, added.1) && at_most(added.0, range.1);
            if meets {
                added.0 = if at_most(range.0, added.0) { range.0 } else { added.0 };
                added.1 = if at_most(added.1, range.1) { range.1 } else { added.1 };
            }
            !meets
        });
        if self.older.len() == RANGES_MAX - 1 {
            self.older.remove(0);
        }
        self.last = Some(added);
    }

    /// Forgets the numbers before `ack`.
    pub(super) fn forget_before(&mut self, ack: u32) {
        let stays = |range: &mut Range| {
            if at_most(range.0, ack) {
                range.0 = ack;
            }
            !at_most(range.1, ack)
        };
        if !self.older.is_empty() {
            self.older.retain_mut(stays);
        }
        self.last = self.last.and_then(|mut range| stays(&mut range).then_some(range));
    }
}

/// Compares two sequence numbers, of which none is more than half of all before the other (RFC 9293, section 3.4).
fn at_most(number: u32, other: u32) -> bool {
    other.wrapping_sub(number).cast_signed() >= 0
}
