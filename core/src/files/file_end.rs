//! Last page of a file that is mapped, which tells at a touch that the file was not cut before it.
//!
//! A cut within a page raises no SIGBUS for that page. The system fills the rest of it with zeros while others read it, its last
//! bytes last: a reader of zeros may find those intact. Before that, the system takes the pages behind away. So a reader touches the
//! last page of the file after the bytes. If that page is there, the file reached as far when the bytes were read. (XFS fills the
//! page first. There, zeros of the very moment of the cut can pass for an answer.)
//!
//! A file that is shorter than it was raises SIGBUS at that touch also where its owners cut free room off it. So the page is mapped
//! by itself, with a flag of its own, and after a fault the system is asked for the length, by a call each time.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{SeekFrom, seek};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

use super::bus_guard;

/// Bits of a place that say where in the file the page is. The others count its moves.
const PLACE: u64 = !0xfff;

/// Page at the end of one file.
#[derive(Debug, Default)]
pub(super) struct FileEnd {
    /// Its first byte; null as long as none is mapped.
    start: AtomicPtr<u8>,
    /// Its place in the file, a multiple of the system's pages, and in the lowest bits a count of its moves; 0 for none.
    place: AtomicU64,
    was_cut: Arc<AtomicBool>,
    /// Held by the one who maps another page.
    moving: Mutex<()>,
}

impl FileEnd {
    /// Returns true if the file still reached to `end` when what the caller has read of it before was read.
    ///
    /// # Errors
    /// Returns the system's error if it does not say how long the file is.
    #[inline]
    pub(super) fn is_behind(&self, end: u64, file: &File) -> io::Result<bool> {
        if self.is_there(end) { Ok(true) } else { self.ask(end, file) }
    }

    /// Touches the page, if it is behind `end`, and returns true if it is in the file.
    #[inline]
    fn is_there(&self, end: u64) -> bool {
        let place = self.place.load(Acquire);
        if place & PLACE < end.max(1) {
            return false;
        }
        // What was read before is not read after this, nor the flag before.
        fence(Acquire);
        // SAFETY: a place is stored after its page was mapped there, which stays mapped, to other pages perhaps, as long as
        // `self`. Any byte is a value, also that of a page which others write.
        unsafe { self.start.load(Relaxed).read_volatile() };
        fence(Acquire);
        !self.was_cut() && self.place.load(Relaxed) == place
    }

    /// Asks the system for the length, and maps the last page if it tells more than the one before.
    #[cold]
    fn ask(&self, end: u64, file: &File) -> io::Result<bool> {
        let len = file_len(file)?;
        if bus_guard::IS_THERE
            && last_page(len) >= end
            && !self.was_cut()
            && let Ok(_moving) = self.moving.try_lock()
        {
            // Its owner does not cut it now.
            self.move_to(last_page(file_len(file)?), file);
        }
        Ok(len >= end)
    }

    /// Calls `cut`, by which the owner of the file makes it shorter: `len` bytes. Whoever touches the page meanwhile finds one that
    /// stays.
    pub(super) fn while_cut<T>(&self, len: u64, file: &File, cut: impl FnOnce() -> T) -> T {
        let _moving = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        if self.place.load(Relaxed) & PLACE > last_page(len) {
            self.move_to(last_page(len), file);
        }
        cut()
    }

    /// Returns true once the page was not there when somebody touched it: it tells nothing any more.
    pub(super) fn was_cut(&self) -> bool {
        self.was_cut.load(Acquire)
    }

    /// Has the page at `place` mapped, or none if it cannot be. Only for who has the lock.
    fn move_to(&self, place: u64, file: &File) {
        let before = self.place.load(Relaxed);
        if before & PLACE == place {
            return;
        }
        let moves = (before + 1) & !PLACE;
        // Until the other page is there, nobody is told by this one.
        self.place.store(moves, Relaxed);
        fence(Release);
        if self.map(place, file).is_ok() {
            self.place.store(place | moves, Release);
        }
    }

    /// Maps the page at `place` of the file where the one before was. Only for who has the lock.
    fn map(&self, place: u64, file: &File) -> io::Result<()> {
        let (len, protection) = (page_size(), ProtFlags::READ);
        let start = self.start.load(Relaxed);
        if !start.is_null() {
            // SAFETY: the page there is ours, and whoever touches it finds the one or the other.
            unsafe {
                mmap(
                    start.cast(),
                    len,
                    protection,
                    MapFlags::SHARED | MapFlags::FIXED,
                    file,
                    place,
                )?
            };
            return Ok(());
        }
        // SAFETY: without an address and MAP_FIXED the kernel takes a place where nothing is.
        let start =
            unsafe { mmap(ptr::null_mut(), len, protection, MapFlags::SHARED, file, place)? };
        let page = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: the page is mapped until `drop`, which takes the guard away first, and nobody makes anything of its bytes.
        let guarded = unsafe { bus_guard::guard(page, len, false, Arc::clone(&self.was_cut)) };
        if let Err(error) = guarded {
            // SAFETY: the page was mapped here, and nobody has seen it.
            let _ = unsafe { munmap(start, len) };
            return Err(error);
        }
        self.start.store(page.as_ptr(), Release);
        Ok(())
    }
}

impl Drop for FileEnd {
    fn drop(&mut self) {
        let Some(page) = NonNull::new(*self.start.get_mut()) else { return };
        bus_guard::unguard(page);
        // SAFETY: the page was mapped by `map`, and nobody touches it any more.
        let unmapped = unsafe { munmap(page.as_ptr().cast(), page_size()) };
        debug_assert!(unmapped.is_ok(), "a page of ours can be unmapped");
    }
}

/// Returns the place of the last page of a file of `len` bytes.
fn last_page(len: u64) -> u64 {
    let page = page_size() as u64;
    len.saturating_sub(1) / page * page
}

fn file_len(file: &File) -> io::Result<u64> {
    Ok(seek(file, SeekFrom::End(0))?)
}
