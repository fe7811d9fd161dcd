//! Memory that one writer fills from its beginning, and many read as far as it is filled.
#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::Arc;

use super::memory::{Memory, Pool};

/// A run of memory and the one who fills it. What was filled in never changes and never moves.
#[derive(Debug)]
pub(super) struct HeapSegment {
    /// The memory's address, here so that reading takes one step less.
    base: NonNull<u8>,
    filled_len: usize,
    memory: Arc<Memory>,
}

// SAFETY: it is an `Arc` of memory that may be sent and shared, and the same memory's address.
unsafe impl Send for HeapSegment {}
// SAFETY: as above.
unsafe impl Sync for HeapSegment {}

impl HeapSegment {
    /// An empty segment with room for `capacity` bytes, which is not 0.
    pub(super) fn new(pool: &Arc<Pool>, capacity: usize) -> HeapSegment {
        let memory = pool.take(capacity);
        HeapSegment { base: memory.base(), filled_len: 0, memory: Arc::new(memory) }
    }

    /// Bytes that it has memory for.
    #[inline]
    pub(super) fn capacity(&self) -> usize {
        self.memory.capacity()
    }

    /// Bytes that there is room for still.
    #[inline]
    pub(super) fn room(&self) -> usize {
        self.memory.capacity() - self.filled_len
    }

    /// Bytes filled in.
    #[inline]
    pub(super) fn filled_len(&self) -> usize {
        self.filled_len
    }

    /// Bytes of memory that `filled` bytes in it take.
    pub(super) fn resident_len(&self, filled: usize) -> usize {
        self.memory.resident_len(filled)
    }

    /// Appends `parts`, for which there is room, and gives the place where they begin.
    #[inline]
    pub(super) fn append(&mut self, parts: [&[u8]; 3]) -> usize {
        let begin = self.filled_len;
        let len: usize = parts.iter().map(|part| part.len()).sum();
        assert!(len <= self.room(), "a segment has room for what is appended");
        let mut at = begin;
        for part in parts {
            // SAFETY: the assertion keeps the range inside of the memory. It lies behind
            // `filled_len`, so no slice of `bytes` or of a `Filled` reaches into it, and `&mut self`
            // is the only way to write: `HeapSegment` cannot be cloned. `part` is a live slice, which
            // cannot overlap the range for the same reason.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    part.as_ptr(),
                    self.base.as_ptr().add(at),
                    part.len(),
                );
            }
            at += part.len();
        }
        self.filled_len = at;
        begin
    }

    /// The bytes filled in.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `memory` keeps these bytes alive and in place, `append` has written each of the
        // first `filled_len`, and nothing writes to them again.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.filled_len) }
    }

    /// Returns the bytes filled in now, to keep and to share.
    pub(super) fn filled(&self) -> Filled {
        Filled { len: self.filled_len, memory: Arc::clone(&self.memory) }
    }

    /// Returns true while somebody holds a [`Filled`] of it.
    pub(super) fn is_pinned(&self) -> bool {
        Arc::strong_count(&self.memory) > 1
    }

    /// Gives the memory that is not filled back to the system, until it is.
    pub(super) fn release_room(&self) {
        self.memory.release_behind(self.filled_len);
    }
}

/// The first bytes of a segment as they were filled in. It pins them: they stay where they are for as
/// long as it lives, though the segment's owner may be gone.
#[derive(Debug, Clone)]
pub(super) struct Filled {
    len: usize,
    memory: Arc<Memory>,
}

impl Filled {
    /// The bytes.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `memory` keeps these bytes alive and in place. `len` was the segment's
        // `filled_len`, so each byte has been written, and nothing writes to them again.
        unsafe { std::slice::from_raw_parts(self.memory.base().as_ptr(), self.len) }
    }
}
