//! Memory that all connections together keep for messages, within its bounds, and counts of their bytes.

// Bound (Flows): Thrift message in a connection = its header; inside its struct, 24 bytes for each level, 64 MiB for
// all.
/// Enough for a struct in every direction of as many connections as there may be. A walk that would go beyond it is given up.
const LEVELS_MAX: usize = 64 << 20;

/// Counts of the bytes of connections. Once everything is over, each byte that came is in a message that was told, or
/// outside of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByteCounts {
    /// Bytes that came, in order.
    pub seen: u64,
    /// Bytes between them that are not in the capture.
    pub missing: u64,
    /// Bytes of messages that were told.
    pub in_messages: u64,
    /// Bytes that are in no message, or in one that was not told.
    pub outside: u64,
    /// Bytes among those outside in which no message was looked for: what stands before them looks like messages again
    /// and again, each of which fails far on.
    pub not_searched: u64,
    /// Bytes that were walked of what then was no message. It is the work that misleading bytes make, and in bounded
    /// proportion to all that came.
    pub walked_in_vain: u64,
}

/// Memory in use, and counts of bytes.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) counts: ByteCounts,
    /// Memory of structs, of messages that come in and of calls that wait.
    structs: usize,
    structs_max: usize,
    /// Memory of walks.
    levels: usize,
}

impl Ledger {
    pub(super) fn new(structs_max: usize) -> Self {
        Ledger { counts: ByteCounts::default(), structs: 0, structs_max, levels: 0 }
    }

    /// Memory that is kept.
    pub(super) fn memory_bytes(&self) -> usize {
        self.structs + self.levels
    }

    /// Appends to a struct that is kept, of `len_max` bytes at most. Where there is no room for it, it is not kept any
    /// more.
    pub(super) fn keep(&mut self, kept: &mut Option<Vec<u8>>, bytes: &[u8], len_max: usize) {
        let Some(body) = kept else { return };
        let len = body.len() + bytes.len();
        if len > body.capacity() {
            let room = len.max(2 * body.capacity()).min(len_max);
            let others = self.structs.saturating_sub(body.capacity());
            if len > len_max || others.saturating_add(room) > self.structs_max {
                return self.forget(kept);
            }
            body.reserve_exact(room - body.len());
            self.structs = others + body.capacity();
        }
        body.extend_from_slice(bytes);
    }

    /// Gives back what a struct that is whole does not need.
    pub(super) fn shrink(&mut self, kept: &mut Option<Vec<u8>>) {
        let Some(body) = kept else { return };
        self.structs = self.structs.saturating_sub(body.capacity());
        body.shrink_to_fit();
        self.structs += body.capacity();
    }

    /// Drops a struct.
    pub(super) fn forget(&mut self, kept: &mut Option<Vec<u8>>) {
        self.hand_over(kept.as_ref());
        *kept = None;
    }

    /// A struct is somebody else's from now on.
    pub(super) fn hand_over(&mut self, kept: Option<&Vec<u8>>) {
        self.structs = self.structs.saturating_sub(kept.map_or(0, Vec::capacity));
    }

    /// The memory of a walk has changed; whether there is room for it.
    pub(super) fn levels(&mut self, before: usize, now: usize) -> bool {
        self.levels = self.levels.saturating_sub(before) + now;
        self.levels <= LEVELS_MAX
    }
}
