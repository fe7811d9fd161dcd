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
use super::file_end::FileEnd;
use super::page_chunk::PageChunk;

/// Bytes of a page.
pub(crate) const PAGE_LEN: usize = 4096;

/// Words of a page.
const WORD_COUNT: usize = PAGE_LEN / size_of::<AtomicU64>();

// Bound (Tables): length of an ordered table's file = 2^32 pages of 4 KiB: 16 TiB.
/// Number of a page, from 0.
pub(crate) type PageNumber = u32;

/// Pages of one file, or of memory of our own, that never move.
///
/// Words of a map that does not write may be loaded only: a store ends the process.
#[derive(Debug)]
pub(crate) struct PageMap {
    /// The first byte of each chunk, null if it is not mapped yet.
    chunks: [AtomicPtr<u8>; PageChunk::COUNT],
    /// None for memory of our own.
    file: Option<File>,
    writes: bool,
    was_cut: Arc<AtomicBool>,
    end: FileEnd,
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
        PageMap {
            chunks: Default::default(),
            file,
            writes,
            was_cut: Arc::default(),
            end: FileEnd::default(),
        }
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

    /// Bytes from `from` on, borrowed as [`bytes`](Self::bytes) are, of which nothing around them is; `None` if they do not lie
    /// in one chunk, or it cannot be mapped.
    #[inline]
    pub(crate) fn range(&self, from: u64, len: usize) -> Option<&[u8]> {
        let last = from.checked_add(len.checked_sub(1)? as u64)?;
        let [first, last] = [from, last].map(|at| PageNumber::try_from(at / PAGE_LEN as u64).ok());
        let first = first?;
        if PageChunk::of(first) != PageChunk::of(last?) {
            return None;
        }
        let start = self.place(first).ok()?;
        // SAFETY: as in `bytes`: all of the range is in the chunk that is mapped there, and none of ours changes it.
        Some(unsafe {
            let start = start.add((from % PAGE_LEN as u64) as usize);
            slice::from_raw_parts(start.as_ptr(), len)
        })
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

    /// Returns true if the file had all bytes before `end` when the caller read them. If it was cut since and is as long again, the
    /// cut has made the end of its page zero by now.
    ///
    /// # Errors
    /// Returns the system's error if it does not say how long the file is.
    #[inline]
    pub(crate) fn reaches(&self, end: u64) -> io::Result<bool> {
        match &self.file {
            Some(file) => self.end.is_behind(end, file),
            None => Ok(true),
        }
    }

    /// Calls `cut`, which makes the file `len` bytes long: for its owner, who has nothing of value behind.
    pub(crate) fn while_cut<T>(&self, len: u64, cut: impl FnOnce() -> T) -> T {
        match &self.file {
            Some(file) => self.end.while_cut(len, file, cut),
            None => cut(),
        }
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
        let chunk = PageChunk::of(page);
        let start = match NonNull::new(self.chunks[chunk.index].load(Acquire)) {
            Some(start) => start,
            None => self.map_chunk(chunk.index)?,
        };
        let pages_before = (page - chunk.first) as usize;
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
                let from = u64::from(PageChunk::at(chunk).first) * PAGE_LEN as u64;
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
        for chunk in 0..PageChunk::COUNT {
            if let Some(start) = NonNull::new(*self.chunks[chunk].get_mut()) {
                // SAFETY: the chunk was put there by `map_chunk`, and pages are borrowed from `self`, so none are any more.
                unsafe { self.unmap(start, chunk) };
            }
        }
    }
}

/// Returns true if `count` pages from `first` on are in one chunk, so that they can be had as one slice.
#[inline]
fn is_run(first: PageNumber, count: u32) -> bool {
    let last = count.checked_sub(1).and_then(|further| first.checked_add(further));
    last.is_some_and(|last| PageChunk::of(first) == PageChunk::of(last))
}

/// Returns the bytes of a chunk, where the addresses of this machine can count them.
fn chunk_len(chunk: usize) -> io::Result<usize> {
    let len = u64::from(PageChunk::at(chunk).len) * PAGE_LEN as u64;
    usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    //! Goal: pages are where they belong, others see them, and a file that is cut ends nothing.

    use std::os::unix::fs::FileExt;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::Ordering::Relaxed;

    use super::super::file_room::reserve;
    use super::*;

    /// The path of a file that goes with it.
    struct TestFile(PathBuf);

    impl TestFile {
        fn new(name: &str, page_count: u64) -> TestFile {
            let name = format!("bytewright_page_map_{name}_{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            File::create(&path).unwrap().set_len(page_count * PAGE_LEN as u64).unwrap();
            TestFile(path)
        }

        fn open(&self) -> File {
            open(&self.0)
        }

        fn map(&self) -> PageMap {
            PageMap::of_file(self.open(), true).unwrap()
        }
    }

    impl Drop for TestFile {
        fn drop(&mut self) {
            std::fs::remove_file(&self.0).unwrap();
        }
    }

    fn open(path: &Path) -> File {
        File::options().read(true).write(true).open(path).unwrap()
    }

    #[test]
    fn words_that_one_map_writes_are_read_in_another() {
        let file = TestFile::new("shared", 4);
        let (ours, theirs) = (file.map(), file.map());
        let reader = PageMap::of_file(File::open(&file.0).unwrap(), false).unwrap();
        ours.words(2).unwrap()[511].store(7, Relaxed);
        assert_eq!(theirs.words(2).unwrap()[511].load(Relaxed), 7);
        assert_eq!(reader.words_of(1, 3).unwrap()[1023].load(Relaxed), 7);
        theirs.words_of(1, 2).unwrap()[0].store(9, Relaxed);
        assert_eq!(ours.bytes(1, 1).unwrap()[..2], [9, 0]);
        // SAFETY: nobody refers to the page.
        unsafe { ours.bytes_mut(3, 1) }.unwrap().fill(5);
        assert_eq!(reader.bytes(2, 2).unwrap()[PAGE_LEN..], [5; PAGE_LEN]);
        // SAFETY: as above.
        let refused = unsafe { reader.bytes_mut(3, 1) }.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        let mut bytes = [0; PAGE_LEN];
        file.open().read_exact_at(&mut bytes, 3 * PAGE_LEN as u64).unwrap();
        assert_eq!(bytes, [5; PAGE_LEN]);
        assert!(!ours.was_cut() && !theirs.was_cut() && !reader.was_cut());
    }

    #[test]
    fn a_map_is_there_before_its_file_is_so_long() {
        let file = TestFile::new("grows", 0);
        let (ours, theirs) = (file.map(), file.map());
        reserve(&file.open(), 0, 3 * PAGE_LEN as u64).unwrap();
        ours.words(2).unwrap()[1].store(7, Relaxed);
        assert_eq!(theirs.words(2).unwrap()[1].load(Relaxed), 7);
        assert!(!ours.was_cut() && !theirs.was_cut());
    }

    #[test]
    fn pages_of_each_chunk_are_at_their_place_in_the_file() {
        let numbers = [0_u32, (1 << 18) - 1, 1 << 18, (1 << 19) - 1, 1 << 19, (1 << 19) + 5];
        let file = TestFile::new("chunks", (1 << 19) + 6);
        let map = file.map();
        for number in numbers {
            file.open().write_all_at(&number.to_le_bytes(), u64::from(number) * 4096).unwrap();
        }
        for number in numbers {
            assert_eq!(map.words(number).unwrap()[0].load(Relaxed), u64::from(number));
            map.words(number).unwrap()[511].store(!u64::from(number), Relaxed);
        }
        for number in numbers {
            let mut bytes = [0; 8];
            file.open().read_exact_at(&mut bytes, u64::from(number) * 4096 + 4088).unwrap();
            assert_eq!(u64::from_le_bytes(bytes), !u64::from(number));
        }
        let places = numbers.map(|number| map.words(number).unwrap().as_ptr());
        assert_eq!(places, numbers.map(|number| map.words(number).unwrap().as_ptr()));
        assert!(!map.was_cut());
    }

    #[test]
    fn a_run_of_pages_is_in_one_chunk() {
        assert!(is_run(0, 1 << 18) && is_run(1 << 18, 1 << 18) && is_run(1 << 31, 1 << 31));
        let map = PageMap::anonymous();
        for (first, count) in
            [(0, 0), (9, 0), (0, (1 << 18) + 1), ((1 << 18) - 1, 2), (u32::MAX, 2)]
        {
            assert!(!is_run(first, count));
            let errors = [map.words_of(first, count).err(), map.bytes(first, count).err()];
            assert!(errors.iter().flatten().all(|e| e.kind() == io::ErrorKind::InvalidInput));
            assert_eq!(errors.iter().flatten().count(), 2);
        }
    }

    #[test]
    fn pages_of_our_own_are_zero_and_one_for_all_threads() {
        let map = PageMap::anonymous();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for page in [0, 77, 1 << 18, 3 << 18] {
                        map.words(page).unwrap()[5].fetch_add(1, Relaxed);
                    }
                });
            }
        });
        for page in [0, 77, 1 << 18, 3 << 18] {
            let words = map.words(page).unwrap().each_ref().map(|word| word.load(Relaxed));
            assert_eq!((words[4], words[5], words[6]), (0, 4, 0));
        }
        assert!(!map.was_cut());
    }

    #[test]
    fn a_file_that_cannot_be_mapped_is_refused() {
        let folder = File::open(std::env::temp_dir()).unwrap();
        assert!(PageMap::of_file(folder, false).is_err());
        let file = TestFile::new("unwritable", 1);
        let refused = PageMap::of_file(File::open(&file.0).unwrap(), true).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_child_of_a_fork_uses_the_map() {
        let file = TestFile::new("forked", 2);
        let map = file.map();
        map.words(1).unwrap()[0].store(7, Relaxed);
        // SAFETY: the child only loads and stores words, and ends without what the test harness has to do at the end.
        let status = unsafe {
            match libc::fork() {
                0 => {
                    let words = map.words(1);
                    let is_there = words.is_ok_and(|words| words[0].swap(8, Relaxed) == 7);
                    libc::_exit(i32::from(!is_there));
                }
                child => {
                    let mut status = -1;
                    assert_eq!(libc::waitpid(child, &mut status, 0), child);
                    status
                }
            }
        };
        assert_eq!((status, map.words(1).unwrap()[0].load(Relaxed)), (0, 8));
    }

    /// Pages of a file that holds ones, which is cut to one page while the test goes on.
    const CUT: u32 = 64;

    fn cut_file(name: &str) -> TestFile {
        let file = TestFile::new(name, 0);
        file.open().write_all_at(&vec![1; CUT as usize * PAGE_LEN], 0).unwrap();
        file
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_is_cut_gives_readers_zeros() {
        const ONES: u64 = u64::from_le_bytes([1; 8]);
        for round in 0..20 {
            let file = cut_file("cut");
            let map = PageMap::of_file(File::open(&file.0).unwrap(), false).unwrap();
            let copied = |page| map.bytes(page, 1).unwrap().to_vec();
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let (map, copied) = (&map, &copied);
                    scope.spawn(move || {
                        while !map.was_cut() {
                            for page in (0..CUT).rev() {
                                let word = map.words(page).unwrap()[thread].load(Relaxed);
                                assert!(word == ONES || word == 0 && page > 0);
                            }
                        }
                        for page in 1..CUT {
                            assert!(copied(page).iter().all(|byte| *byte == 0));
                        }
                    });
                }
                std::thread::sleep(std::time::Duration::from_millis(round / 4));
                file.open().set_len(PAGE_LEN as u64).unwrap();
            });
            assert_eq!(copied(0), [1; PAGE_LEN]);
            assert!(map.was_cut());
            let other = file.map();
            assert_eq!(other.words(0).unwrap()[0].load(Relaxed), ONES);
            assert!(!other.was_cut(), "it never saw the pages that are gone");
        }
    }

    #[test]
    fn a_file_reaches_as_far_as_it_is_long_whoever_cuts_it() {
        let page = rustix::param::page_size() as u64;
        let file = TestFile::new("reaches", 64 * page / PAGE_LEN as u64);
        let map = file.map();
        let reaches = |end| map.reaches(end).unwrap();
        assert!(reaches(0) && reaches(page) && reaches(63 * page) && reaches(64 * page));
        assert!(!reaches(64 * page + 1));
        // Its owner cuts it: the page that is looked at is another one before.
        map.while_cut(40 * page, || file.open().set_len(40 * page).unwrap());
        assert!(reaches(39 * page) && reaches(40 * page) && !reaches(40 * page + 1));
        assert!(!map.end.was_cut());
        file.open().set_len(80 * page).unwrap();
        assert!(reaches(79 * page) && reaches(80 * page) && !reaches(81 * page));
        // Somebody else does.
        file.open().set_len(10 * page + 9).unwrap();
        assert!(reaches(10 * page) && !reaches(11 * page) && reaches(10 * page + 9));
        assert!(!map.was_cut(), "that is said of pages that were to be read");
        file.open().set_len(0).unwrap();
        assert!(!reaches(1) && reaches(0));
        assert!(PageMap::anonymous().reaches(u64::MAX).unwrap());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_page_is_looked_at_while_another_one_takes_its_place() {
        let page = rustix::param::page_size() as u64;
        let file = TestFile::new("moves", 8 * page / PAGE_LEN as u64);
        let (map, is_over) = (file.map(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Relaxed) {
                        assert!(map.reaches(page).unwrap() && !map.reaches(100 * page).unwrap());
                    }
                });
            }
            for round in 0..5000 {
                let len = (2 + round % 60) * page;
                map.while_cut(len, || file.open().set_len(len).unwrap());
            }
            is_over.store(true, Relaxed);
        });
        assert!(!map.end.was_cut() && !map.was_cut());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_is_cut_under_a_writer_only_loses_what_it_writes() {
        let file = cut_file("cut_writer");
        let map = file.map();
        file.open().set_len(PAGE_LEN as u64).unwrap();
        assert!(!map.was_cut());
        map.words(9).unwrap()[3].store(7, Relaxed);
        assert!(map.was_cut());
        assert_eq!(map.words(9).unwrap()[3].load(Relaxed), 7);
        // SAFETY: nobody refers to the pages.
        unsafe { map.bytes_mut(10, 5) }.unwrap().fill(5);
        assert_eq!(map.words(0).unwrap()[0].load(Relaxed), u64::from_le_bytes([1; 8]));
        assert_eq!(file.open().metadata().unwrap().len(), PAGE_LEN as u64);
        file.open().set_len(u64::from(CUT) * PAGE_LEN as u64).unwrap();
        let again = file.map();
        assert_eq!(again.words(9).unwrap()[3].load(Relaxed), 0);
        assert!(!again.was_cut() && map.was_cut());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_of_the_library_survives_a_cut() {
        let file = cut_file("cut_thread");
        let map = file.map();
        file.open().set_len(0).unwrap();
        let read = move || (map.words(5).unwrap()[0].load(Relaxed), map.was_cut());
        assert_eq!(crate::threads::spawn("bytewright", read).unwrap().join().unwrap(), (0, true));
    }
}
