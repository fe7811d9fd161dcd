//! Bytes of a stream that its reader has not taken, before those that a thread has decompressed.

/// Bytes before those that a thread has decompressed: they move into the room of its buffer, so that a buffer as long as this
/// is handed over as it is.
pub(super) const HEADROOM: usize = 16 << 10;

/// Returns the room before the bytes at a position: no stream has bytes before its first.
pub(super) fn headroom_at(position: u64) -> usize {
    usize::try_from(position).map_or(HEADROOM, |position| position.min(HEADROOM))
}

/// Buffer of a stream, and the bytes of it that are to be kept: those from `start` on.
pub(super) struct UnreadBytes<'s> {
    pub(super) buffer: &'s mut Vec<u8>,
    pub(super) start: usize,
    /// Offset in the decompressed stream of the first of them.
    pub(super) position: u64,
}

impl UnreadBytes<'_> {
    /// Exchanges the buffer for `filled`, of which the bytes from `begin` on follow: the kept ones are put before these.
    /// Returns their place; none where they do not fit.
    pub(super) fn exchange(self, filled: &mut Vec<u8>, begin: usize) -> Option<usize> {
        let kept = self.buffer.get(self.start..)?;
        let start = begin.checked_sub(kept.len())?;
        // No stream begins before its first byte.
        (start as u64 <= self.position).then_some(())?;
        filled.get_mut(start..begin)?.copy_from_slice(kept);
        std::mem::swap(self.buffer, filled);
        filled.clear();
        Some(start)
    }
}
