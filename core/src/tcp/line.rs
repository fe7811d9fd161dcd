//! Connections that wait for something, so that the one that has waited for the longest time is found when memory is
//! short.
//!
//! Each stands in the line once, with the time since when it waited when it came there. Whoever is met at the front
//! and waits since later, as what it waited for has come meanwhile, goes back to where it belongs; who does not wait
//! any more leaves. So nothing is to be done when a wait is over.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Entries above which those that are over are looked for, if there are twice as many as the last time.
const ENTRIES_MIN: usize = 64;

/// Where a connection is kept: its slot, and its number, as another one has the slot after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(super) slot: usize,
    pub(super) number: u64,
}

/// Connections in the order in which they began to wait.
#[derive(Debug, Default)]
pub(crate) struct Line {
    entries: BinaryHeap<Reverse<(u64, Place)>>,
    /// How many there were when those that are over had left.
    checked_len: usize,
}

impl Line {
    /// Adds a connection that waits since `since` and does not stand in the line. `waits_since` answers for any other
    /// whether it waits, and since when; to whom it answers that it does not, leaves.
    pub(crate) fn push(
        &mut self,
        place: Place,
        since: u64,
        mut waits_since: impl FnMut(Place) -> Option<u64>,
    ) {
        if self.entries.len() >= ENTRIES_MIN.max(2 * self.checked_len) {
            self.entries.retain(|Reverse((_, place))| waits_since(*place).is_some());
            self.checked_len = self.entries.len();
        }
        self.entries.push(Reverse((since, place)));
    }

    /// The connection that has waited longest, which stays in the line.
    pub(crate) fn oldest(
        &mut self,
        mut waits_since: impl FnMut(Place) -> Option<u64>,
    ) -> Option<Place> {
        loop {
            let mut first = self.entries.peek_mut()?;
            let Reverse((since, place)) = *first;
            match waits_since(place) {
                Some(now) if now == since => return Some(place),
                // Nobody waits since earlier than when it came, so that who is found so waits longest of all.
                Some(now) => *first = Reverse((now, place)),
                None => {
                    std::collections::binary_heap::PeekMut::pop(first);
                }
            }
        }
    }
}
