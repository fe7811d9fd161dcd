//! Connections that wait for something, the longest wait first: the one to evict when memory is short.
//!
//! A connection is queued once, with the start of its wait at that time. When it reaches the front, its wait may have
//! ended since: then it leaves, or moves back to the place of its present wait. So the end of a wait costs nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Entries above which ended waits are removed, if there are twice as many as after the last removal.
const ENTRIES_MIN: usize = 64;

/// A connection: its slot, and its number, because slots are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionId {
    pub(super) slot: usize,
    pub(super) number: u64,
}

/// Connections in the order in which they began to wait.
#[derive(Debug, Default)]
pub(crate) struct EvictionQueue {
    entries: BinaryHeap<Reverse<(u64, ConnectionId)>>,
    /// Entries that were left after the last removal of ended waits.
    checked_len: usize,
}

impl EvictionQueue {
    /// Adds a connection that waits since `since` and is not queued. `waits_since` returns since when another connection
    /// waits; one for which it returns nothing leaves the queue.
    pub(crate) fn push(
        &mut self,
        id: ConnectionId,
        since: u64,
        mut waits_since: impl FnMut(ConnectionId) -> Option<u64>,
    ) {
        if self.entries.len() >= ENTRIES_MIN.max(2 * self.checked_len) {
            self.entries.retain(|Reverse((_, id))| waits_since(*id).is_some());
            self.checked_len = self.entries.len();
        }
        self.entries.push(Reverse((since, id)));
    }

    /// The connection that has waited longest, which stays queued.
    pub(crate) fn oldest(
        &mut self,
        mut waits_since: impl FnMut(ConnectionId) -> Option<u64>,
    ) -> Option<ConnectionId> {
        loop {
            let mut first = self.entries.peek_mut()?;
            let Reverse((since, id)) = *first;
            match waits_since(id) {
                Some(now) if now == since => return Some(id),
                // A wait never starts earlier than its entry says, so an entry that is still right is the oldest wait.
                Some(now) => *first = Reverse((now, id)),
                None => {
                    std::collections::binary_heap::PeekMut::pop(first);
                }
            }
        }
    }
}
