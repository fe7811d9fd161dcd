//! Pages of a file in memory, which other programs write at the same time, and which somebody may cut.
//!
//! A [`PageMap`] maps a file by chunks that are twice as long each time, at their first use and also beyond the end of the
//! file: so a page never moves, a longer file needs no other map, and a table of a few pointers is enough. Addresses cost
//! nothing; memory is taken by the page that is touched.
//!
//! A page that is not in the file any more, because the file was cut or its disk fails, is a page of zeros from then on, and
//! [`PageMap::was_cut`] says so: see `bus_guard.rs`. Zeros are to carry no valid check, so that who reads them finds an error.
//! A map that was cut stays so, also if the file grows again, and what is written into such a page is lost: who wants to go
//! on opens the file again. A system call that is given such a page answers EFAULT, if nobody touched it before.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64,
    Ordering::{Acquire, Release},
};

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use super::bus_guard;

/// Bytes of a page.
pub(crate) const PAGE_LEN: usize = 4096;

/// Words of a page.
const WORD_COUNT: usize = PAGE_LEN / size_of::<AtomicU64>();

/// Number of a page, from 0.
pub(crate) type PageNumber = u32;

/// Pages of the first chunk, as a power of 2. The second has as many, each further one as many as all before it.
const FIRST_CHUNK_BITS: u32 = 18;

/// Chunks with all pages that have a number.
const CHUNK_COUNT: usize = (PageNumber::BITS - FIRST_CHUNK_BITS) as usize + 1;

/// Pages of one file, or of memory of our own, that never move.
///
/// Words of a map that does not write may be loaded only: a store ends the process.
#[derive(Debug)]
pub(crate) struct PageMap {
    /// The first byte of each chunk, null if it is not mapped yet.
    chunks: [AtomicPtr<u8>; CHUNK_COUNT],
    /// None for memory of our own.
    file: Option<File>,
    writes: bool,
    was_cut: Arc<AtomicBool>,
}

impl PageMap {
    /// Maps the pages of `file`, shared with all who map it; writable if `writes`.
    ///
    /// # Errors
    /// Returns the system's error if the file cannot be mapped, or no addresses are left, and `OutOfMemory` if the process
    /// has too many maps.
    pub(crate) fn of_file(file: File, writes: bool) -> io::Result<PageMap> {
        let map = PageMap::new(Some(file), writes);
        // Here a file that cannot be mapped is told from one that can.
        map.map_chunk(0)?;
        Ok(map)
    }

    /// Pages in memory of our own, all zero.
    pub(crate) fn anonymous() -> PageMap {
        PageMap::new(None, true)
    }

    fn new(file: Option<File>, writes: bool) -> PageMap {
        PageMap { chunks: Default::default(), file, writes, was_cut: Arc::default() }
    }

    /// Words of a page.
    ///
    /// # Errors
    /// Returns an error if the page is the first of its chunk that is used and the chunk cannot be mapped.
    #[inline]
    pub(crate) fn words(&self, page: PageNumber) -> io::Result<&[AtomicU64; WORD_COUNT]> {
        let start = self.place(page)?.cast();
        // SAFETY: a page is in one chunk, which is mapped, readable, until `self` is dropped, from which the words are
        // borrowed. It begins at a multiple of its length, so the words are aligned, and any bytes are values of theirs.
        // Nobody has a `&mut` to the page: see `bytes_mut`.
        Ok(unsafe { start.as_ref() })
    }

    /// Words of `count` pages one behind the other, which lie in one chunk: see [`is_run`].
    ///
    /// # Errors
    /// Returns `InvalidInput` for pages that do not, and otherwise an error as [`words`](Self::words) does.
    #[inline]
    pub(crate) fn words_of(&self, first: PageNumber, count: u32) -> io::Result<&[AtomicU64]> {
        let start = self.run(first, count)?.cast();
        // SAFETY: as in `words`, for all the pages, which are in one chunk.
        Ok(unsafe { slice::from_raw_parts(start.as_ptr(), count as usize * WORD_COUNT) })
    }

    /// Bytes of pages that lie in one chunk, borrowed: for pages that nobody of ours changes meanwhile. What another program
    /// does to them, or a cut, is seen or not; who reads bytes that may have changed checks what he made of them.
    ///
    /// # Errors
    /// As for [`words_of`](Self::words_of).
    #[inline]
    pub(crate) fn bytes(&self, first: PageNumber, count: u32) -> io::Result<&[u8]> {
        let start = self.run(first, count)?;
        // SAFETY: the pages are in one chunk, which is mapped, readable, until `self` is dropped, from which the bytes are
        // borrowed. That none of ours changes them is what a page is borrowed for.
        Ok(unsafe { slice::from_raw_parts(start.as_ptr(), count as usize * PAGE_LEN) })
    }

    /// Bytes of pages that lie in one chunk, to be changed.
    ///
    /// # Safety
    /// The caller alone refers to these pages: it holds the writer's turn, and no commit that others may read has them.
    ///
    /// # Errors
    /// Returns `PermissionDenied` if the map does not write, and otherwise an error as [`words_of`](Self::words_of) does.
    #[allow(clippy::mut_from_ref, reason = "other pages are borrowed meanwhile")]
    pub(crate) unsafe fn bytes_mut(&self, first: PageNumber, count: u32) -> io::Result<&mut [u8]> {
        if !self.writes {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let start = self.run(first, count)?;
        // SAFETY: the pages are in one chunk, which is mapped, writable, until `self` is dropped, from which the bytes are
        // borrowed, and nobody else refers to them, which the caller promises.
        Ok(unsafe { slice::from_raw_parts_mut(start.as_ptr(), count as usize * PAGE_LEN) })
    }

    /// Returns true once a page that was to be read was not in the file any more, or one that was to be written found no room
    /// on the disk.
    #[inline]
    pub(crate) fn was_cut(&self) -> bool {
        self.was_cut.load(Acquire)
    }

    #[inline]
    fn run(&self, first: PageNumber, count: u32) -> io::Result<NonNull<u8>> {
        if !is_run(first, count) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.place(first)
    }

    /// Returns the first byte of a page.
    #[inline]
    fn place(&self, page: PageNumber) -> io::Result<NonNull<u8>> {
        let chunk = chunk_of(page);
        let start = match NonNull::new(self.chunks[chunk].load(Acquire)) {
            Some(start) => start,
            None => self.map_chunk(chunk)?,
        };
        let pages_before = (page - first_page(chunk)) as usize;
        // SAFETY: the page is in this chunk, whose pages are mapped from `start` on.
        Ok(unsafe { start.add(pages_before * PAGE_LEN) })
    }

    /// Maps a chunk, unless another thread does so first, and returns its first byte.
    #[cold]
    fn map_chunk(&self, chunk: usize) -> io::Result<NonNull<u8>> {
        let start = self.new_chunk(chunk)?;
        let place = &self.chunks[chunk];
        match place.compare_exchange(ptr::null_mut(), start.as_ptr(), Release, Acquire) {
            Ok(_) => Ok(start),
            Err(theirs) => {
                // SAFETY: `new_chunk` returned it just now, and nobody else has seen it.
                unsafe { self.unmap(start, chunk) };
                NonNull::new(theirs).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
            }
        }
    }

    /// Maps a chunk, guarded if it is a file's, that nobody else sees yet.
    fn new_chunk(&self, chunk: usize) -> io::Result<NonNull<u8>> {
        let len = chunk_len(chunk)?;
        let mut protection = ProtFlags::READ;
        protection.set(ProtFlags::WRITE, self.writes);
        let nowhere = ptr::null_mut();
        let start = match &self.file {
            Some(file) => {
                let from = u64::from(first_page(chunk)) * PAGE_LEN as u64;
                let flags = MapFlags::SHARED | MapFlags::NORESERVE;
                // SAFETY: without an address and MAP_FIXED the kernel takes a place where nothing is.
                unsafe { mmap(nowhere, len, protection, flags, file, from)? }
            }
            None => {
                let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
                // SAFETY: as above.
                unsafe { mmap_anonymous(nowhere, len, protection, flags)? }
            }
        };
        let start: NonNull<u8> = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        if self.file.is_some() {
            // SAFETY: these pages are mapped until `unmap`, which takes the guard away first. They are shared with other
            // programs, so whoever reads them is ready for zeros.
            let guarded =
                unsafe { bus_guard::guard(start, len, self.writes, Arc::clone(&self.was_cut)) };
            if let Err(error) = guarded {
                // SAFETY: these pages were mapped here, and nobody has seen them.
                let _ = unsafe { munmap(start.as_ptr().cast(), len) };
                return Err(error);
            }
        }
        Ok(start)
    }

    /// Unmaps a chunk.
    ///
    /// # Safety
    /// `start` is what `new_chunk` returned for it, and nobody refers to its pages.
    unsafe fn unmap(&self, start: NonNull<u8>, chunk: usize) {
        if self.file.is_some() {
            // First, so that pages which somebody else gets at these addresses are never taken for ours.
            bus_guard::unguard(start);
        }
        let Ok(len) = chunk_len(chunk) else { return };
        // SAFETY: the chunk is mapped there and has this length, and the caller promises that nobody refers to it.
        let unmapped = unsafe { munmap(start.as_ptr().cast(), len) };
        debug_assert!(unmapped.is_ok(), "a chunk of ours can be unmapped");
    }
}

impl Drop for PageMap {
    fn drop(&mut self) {
        for chunk in 0..CHUNK_COUNT {
            if let Some(start) = NonNull::new(*self.chunks[chunk].get_mut()) {
                // SAFETY: the chunk was put there by `map_chunk`, and pages are borrowed from `self`, so none are any more.
                unsafe { self.unmap(start, chunk) };
            }
        }
    }
}

/// Returns true if `count` pages from `first` on are in one chunk, so that they can be had as one slice.
#[inline]
pub(crate) fn is_run(first: PageNumber, count: u32) -> bool {
    let last = count.checked_sub(1).and_then(|further| first.checked_add(further));
    last.is_some_and(|last| chunk_of(first) == chunk_of(last))
}

/// Returns the chunk of a page: 0, and then the length of the number in bits that the first chunk does not count.
#[inline]
fn chunk_of(page: PageNumber) -> usize {
    (PageNumber::BITS - (page >> FIRST_CHUNK_BITS).leading_zeros()) as usize
}

/// Returns the first page of a chunk.
#[inline]
fn first_page(chunk: usize) -> PageNumber {
    if chunk == 0 { 0 } else { 1 << (FIRST_CHUNK_BITS as usize + chunk - 1) }
}

/// Returns the bytes of a chunk, where the addresses of this machine can count them.
fn chunk_len(chunk: usize) -> io::Result<usize> {
    let len = u64::from(first_page(chunk.max(1))) * PAGE_LEN as u64;
    usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory.into())
}
