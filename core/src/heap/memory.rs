//! Source of the memory of segments, and its fate when the last of its users lets go.
//!
//! Segments of the usual length are slots of large mappings. A slot that comes back is used again as
//! it is, never zeroed; beyond a few, the pages of free slots go back to the system, so that a heap
//! that shrinks takes less. Other lengths are allocated one by one.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Bytes of a slot.
pub(super) const SLOT_LEN: usize = 64 << 10;

/// Bytes that the system gives and takes at a time.
pub(super) const PAGE_LEN: usize = 4 << 10;

/// Slots of the first mapping; each further one has twice as many, up to the most.
const FIRST_SLOTS: usize = 16;
const MOST_SLOTS: usize = 1024;

/// Free slots that keep their pages, for segments to come.
const WARM_SLOTS: usize = 4;

/// Memory that a segment may be made of, its bytes undefined at first.
///
/// It stays where it is until it is dropped; what is written and read through [`Memory::base`] is the
/// segment's business.
#[derive(Debug)]
pub(super) struct Memory {
    base: NonNull<u8>,
    capacity: usize,
    pool: Arc<Pool>,
}

// SAFETY: `Memory` owns its bytes, as a `Box` does, and gives out no more than their address.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Returns the address of its first byte.
    pub(super) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Returns the number of its bytes.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Bytes that the first `used` make the system keep.
    pub(super) fn resident_len(&self, used: usize) -> usize {
        match self.capacity {
            SLOT_LEN => used.next_multiple_of(PAGE_LEN).min(SLOT_LEN),
            capacity => capacity,
        }
    }

    /// Gives the pages of a slot behind the first `used` bytes back to the system, whose content is
    /// undefined from then on. The caller has written nothing there that it needs.
    pub(super) fn release_behind(&self, used: usize) {
        if self.capacity == SLOT_LEN {
            let kept = self.resident_len(used);
            release_pages(self.base, kept, SLOT_LEN - kept);
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.pool.give_back(self.base, self.capacity);
    }
}

/// Gives memory out, and gets it back.
#[derive(Debug, Default)]
pub(super) struct Pool {
    slots: Mutex<MemorySlots>,
    taken_bytes: AtomicUsize,
}

#[derive(Debug, Default)]
struct MemorySlots {
    mappings: Vec<SlotMapping>,
    /// Slots of the last mapping that were never used.
    fresh: usize,
    /// Free slots that have their pages still.
    warm: Vec<FreeSlot>,
    /// Free slots without pages.
    cold: Vec<FreeSlot>,
}

#[derive(Debug)]
struct FreeSlot(NonNull<u8>);

// SAFETY: a free slot is memory that nobody else refers to.
unsafe impl Send for FreeSlot {}

#[derive(Debug)]
struct SlotMapping {
    base: NonNull<u8>,
    slots: usize,
}

// SAFETY: a mapping is memory of the process, not of a thread.
unsafe impl Send for SlotMapping {}

impl Pool {
    /// Memory of `capacity` bytes, which is not 0.
    pub(super) fn take(self: &Arc<Pool>, capacity: usize) -> Memory {
        let base = match capacity {
            SLOT_LEN if !cfg!(bytewright_asan) => {
                self.slots.lock().unwrap_or_else(PoisonError::into_inner).take()
            }
            _ => allocate(capacity),
        };
        self.taken_bytes.fetch_add(capacity, Relaxed);
        Memory { base, capacity, pool: Arc::clone(self) }
    }

    fn give_back(&self, base: NonNull<u8>, capacity: usize) {
        self.taken_bytes.fetch_sub(capacity, Relaxed);
        match capacity {
            SLOT_LEN if !cfg!(bytewright_asan) => {
                let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
                slots.give_back(FreeSlot(base));
            }
            // SAFETY: `allocate` gave it for this length, and `Memory`, its one owner, is going.
            _ => unsafe { dealloc(base.as_ptr(), layout(capacity)) },
        }
    }

    /// Bytes given out and not given back.
    pub(super) fn taken_bytes(&self) -> usize {
        self.taken_bytes.load(Relaxed)
    }
}

impl MemorySlots {
    fn take(&mut self) -> NonNull<u8> {
        if let Some(FreeSlot(base)) = self.warm.pop().or_else(|| self.cold.pop()) {
            return base;
        }
        if self.fresh == 0 {
            let slots = (FIRST_SLOTS << self.mappings.len().min(10)).min(MOST_SLOTS);
            self.mappings.push(SlotMapping { base: map(slots * SLOT_LEN), slots });
            self.fresh = slots;
        }
        let Some(mapping) = self.mappings.last() else { return allocate(SLOT_LEN) };
        let used = mapping.slots - self.fresh;
        self.fresh -= 1;
        // SAFETY: `used` is below the number of slots that the mapping was made for.
        unsafe { mapping.base.add(used * SLOT_LEN) }
    }

    fn give_back(&mut self, slot: FreeSlot) {
        if self.warm.len() < WARM_SLOTS {
            self.warm.push(slot);
        } else {
            release_pages(slot.0, 0, SLOT_LEN);
            self.cold.push(slot);
        }
    }
}

impl Drop for MemorySlots {
    fn drop(&mut self) {
        for mapping in &self.mappings {
            // SAFETY: `map` made it of this length. Every `Memory` holds the pool, so none is left.
            // The system refuses this only where the arguments are wrong.
            let _ = unsafe { munmap(mapping.base.as_ptr().cast(), mapping.slots * SLOT_LEN) };
        }
    }
}

fn layout(capacity: usize) -> Layout {
    // Lengths come from `check_entry`'s bounds or from `SLOT_LEN`, far below the layout's own.
    Layout::array::<u8>(capacity).unwrap_or(Layout::new::<u8>())
}

/// Memory that is not zeroed. Where there is none left, the process ends, as with any allocation.
fn allocate(capacity: usize) -> NonNull<u8> {
    let layout = layout(capacity);
    // SAFETY: the length is not 0, as `Pool::take` asks for.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Memory of `len` bytes from the system, which gives its pages when they are touched.
fn map(len: usize) -> NonNull<u8> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the system chooses a place where nothing is.
    let mapped = unsafe {
        mmap_anonymous(std::ptr::null_mut(), len, access, MapFlags::PRIVATE | MapFlags::NORESERVE)
    };
    let base = mapped.ok().and_then(|base| NonNull::new(base.cast::<u8>()));
    base.unwrap_or_else(|| handle_alloc_error(layout(len)))
}

/// Tells the system that the content of some pages of a slot is of no use any more.
fn release_pages(slot: NonNull<u8>, from: usize, len: usize) {
    if len == 0 || cfg!(bytewright_asan) {
        return;
    }
    // Elsewhere than on Linux the advice means something else, and the pages stay.
    #[cfg(target_os = "linux")]
    // SAFETY: the range lies within the slot, at page borders, and its owner needs no byte of it.
    // If the system refuses, the pages stay.
    let _ = unsafe {
        use rustix::mm::{Advice, madvise};
        madvise(slot.add(from).as_ptr().cast(), len, Advice::LinuxDontNeed)
    };
}
