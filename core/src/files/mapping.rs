//! Words of memory that the operating system gives by the page: from a file, whose pages are then the
//! page cache's and no memory of the process, or from nowhere.
//!
//! A mapping is a slice of atomic words, because another process may have the same file mapped: what
//! it writes is then seen or not, but never makes our own reads undefined.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

/// Bytes of a word.
const WORD_LEN: usize = size_of::<AtomicU64>();

/// Words in memory, 0 where nothing was written, until it is dropped.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<AtomicU64>,
    word_count: usize,
}

// SAFETY: a mapping owns its pages until it is dropped, whatever thread that happens on.
unsafe impl Send for Mapping {}
// SAFETY: a shared mapping gives `&[AtomicU64]` and nothing else, which threads may share.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Words of our own, all 0.
    pub fn anonymous(word_count: usize) -> io::Result<Mapping> {
        let len = byte_len(word_count)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: without an address and MAP_FIXED the kernel takes a place where nothing is.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), len, protection, MapFlags::PRIVATE)? };
        Self::at(start, word_count)
    }

    /// The words that begin `file`, which grows to hold them and gets what is changed here. The
    /// system takes back memory for them as it likes. The file must not become shorter while it is
    /// mapped, so it should have no name; its room on the disk is taken beforehand, so that it cannot
    /// be missing later.
    pub fn shared(file: &File, word_count: usize) -> io::Result<Mapping> {
        fallocate(file, FallocateFlags::empty(), 0, byte_len(word_count)? as u64)?;
        Self::of_file(file, word_count)
    }

    fn of_file(file: &File, word_count: usize) -> io::Result<Mapping> {
        let len = byte_len(word_count)?;
        // A page beyond the end of its file cannot be touched.
        if file.metadata()?.len() < len as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: without an address and MAP_FIXED the kernel takes a place where nothing is.
        let start = unsafe { mmap(ptr::null_mut(), len, protection, MapFlags::SHARED, file, 0)? };
        Self::at(start, word_count)
    }

    fn at(start: *mut std::ffi::c_void, word_count: usize) -> io::Result<Mapping> {
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { start, word_count })
    }

    /// Clears the words in a forked child.
    #[cfg(target_os = "linux")]
    pub fn wipe_on_fork(&self) -> io::Result<()> {
        use rustix::mm::{Advice, madvise};
        // SAFETY: the pages from `start` on are this mapping's, and the advice changes them in
        // another process only, where the words are atomic, too, and 0 is a value of theirs.
        unsafe {
            let len = self.word_count * WORD_LEN;
            Ok(madvise(self.start.as_ptr().cast(), len, Advice::LinuxWipeOnFork)?)
        }
    }

    /// Clears the words in a forked child; not available on this system.
    #[cfg(not(target_os = "linux"))]
    pub fn wipe_on_fork(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The length of so many words, where the kernel could map them.
fn byte_len(word_count: usize) -> io::Result<usize> {
    let len = word_count.checked_mul(WORD_LEN).filter(|len| *len <= isize::MAX as usize);
    len.filter(|len| *len > 0).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

impl Deref for Mapping {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: `start` is the beginning of `word_count` words that are mapped, readable and
        // writable, until `self` is dropped, at the beginning of a page and so aligned; any bytes are
        // a value of an atomic word, and the slice is borrowed from `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.word_count) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: these are the pages that were mapped for it, and slices of them are borrowed from
        // `self`, so there are none any more.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.word_count * WORD_LEN) };
        debug_assert!(unmapped.is_ok(), "a mapping of ours can be unmapped");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn shared_words_are_in_the_file() {
        let path = std::env::temp_dir().join(format!("bytewright_mapping_{}", std::process::id()));
        let mut options = File::options();
        let file = options.create(true).truncate(true).read(true).write(true).open(&path).unwrap();
        let shared = Mapping::shared(&file, 1000).unwrap();
        assert_eq!((shared.len(), file.metadata().unwrap().len()), (1000, 8000));
        shared[999].store(7, Relaxed);
        drop(shared);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((bytes[0], bytes[7992]), (0, 7));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn words_of_our_own_are_zero_and_may_be_written_by_threads() {
        let words = Mapping::anonymous(1 << 12).unwrap();
        assert!(words.iter().all(|word| word.load(Relaxed) == 0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for word in words.iter() {
                        word.fetch_add(1, Relaxed);
                    }
                });
            }
        });
        assert!(words.iter().all(|word| word.load(Relaxed) == 4));
        assert!(Mapping::anonymous(0).is_err());
        assert!(Mapping::anonymous(usize::MAX).is_err());
    }
}
