//! The bytes of a page: from the operating system where they are many, so that giving them back is
//! more than a promise.
//!
//! Memory that an allocator frees in the middle of its heap stays resident; a mapping that is dropped does not. A
//! mapping is resident only where it was touched, too, so a page that is half full takes half of its length.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};

use memmap2::MmapMut;

/// The length from which on a buffer is a mapping of its own.
pub(super) const MAPPED_LEN: usize = 64 << 10;

// Bound (Tables): pages of a tree in memory = 64 KiB; 98,304 of them mappings, in all tables.
/// Linux allows a process 65,530 areas, and its host needs some. Mappings side by side are one area, and being of one length
/// they fill each other's holes: of so many, half at most stand alone.
const MAPPED_MAX: usize = 96 << 10;

/// Bytes that the system gives and takes at a time, as [`Buffer::resident_len`] reckons them.
const SYSTEM_PAGE: usize = 4 << 10;

static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// Zeros, to be written to.
pub(super) enum Buffer {
    Mapped(MmapMut),
    Allocated(Box<[u8]>),
}

impl Buffer {
    /// A mapping of [`MAPPED_LEN`] bytes; `None` where the system, or our own bound, denies it.
    pub(super) fn mapped() -> Option<Buffer> {
        if MAPPED.fetch_add(1, Ordering::Relaxed) < MAPPED_MAX
            && let Ok(map) = MmapMut::map_anon(MAPPED_LEN)
        {
            return Some(Buffer::Mapped(map));
        }
        MAPPED.fetch_sub(1, Ordering::Relaxed);
        None
    }

    /// `len` bytes from the allocator.
    pub(super) fn allocated(len: usize) -> Buffer {
        Buffer::Allocated(vec![0; len].into_boxed_slice())
    }

    /// Another one of this length and kind, still zeros; `None` where there are too many mappings.
    pub(super) fn another(&self) -> Option<Buffer> {
        match self {
            Buffer::Mapped(_) => Buffer::mapped(),
            Buffer::Allocated(bytes) => Some(Buffer::allocated(bytes.len())),
        }
    }

    /// Memory that it takes when all but its `untouched` bytes were written to.
    pub(super) fn resident_len(&self, untouched: std::ops::Range<usize>) -> usize {
        match self {
            Buffer::Mapped(map) => {
                let front = untouched.start.next_multiple_of(SYSTEM_PAGE);
                let back = untouched.end / SYSTEM_PAGE * SYSTEM_PAGE;
                map.len() - back.saturating_sub(front)
            }
            Buffer::Allocated(bytes) => bytes.len(),
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Buffer::Mapped(_) = self {
            MAPPED.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Buffer::Mapped(map) => map,
            Buffer::Allocated(bytes) => bytes,
        }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Buffer::Mapped(map) => map,
            Buffer::Allocated(bytes) => bytes,
        }
    }
}
