//! Free pages of a file, as bits in pages of the file that all processes map.
//!
//! The pages of a file are in chunks of which each is as long as all before it, but the first, which has 2^18 pages.
//! A chunk begins with its bits: one bit for each page, 1 if it is in use, and behind these one bit for each page, 1 if
//! it has room on the disk. Pages that are free may be holes in the file.
//!
//! The bits count only as long as the system runs, and are made anew from the tree after that, or when a process died
//! with the turn to write ([`super::marking`]). So nothing is lost at whatever instruction that happens.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::pointer::offset_of;
use super::roots::ALLOCATOR;
use super::tree_file::TreeFile;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{PAGE_LEN, PageChunk, PageNumber, punch, reserve};

/// Pages whose bits fill a page.
const PAGES_IN_PAGE: u32 = (PAGE_LEN * 8) as u32;

/// First page with bits: behind the header and what the processes share.
const FIRST_BITS: PageNumber = 17;

/// First page of a file that can be of the tree.
pub(super) const FIRST_PAGE: PageNumber = FIRST_BITS + 2 * (PageChunk::FIRST_LEN / PAGES_IN_PAGE);

// Bound (Tables): room that an ordered table's file takes ahead = an eighth of its length, at least 256 KiB and at most
// 16 MiB; on the disk 256 KiB at a time.
/// The least and the most pages by which a file grows.
const GROWTH: std::ops::RangeInclusive<u32> = 64..=4096;

/// Pages that get room on the disk together: those of one word.
const BACKED_TOGETHER: u32 = u64::BITS;

/// Place of a word of the state among those of the allocator.
mod word {
    /// 1 if the bits count.
    pub(super) const IS_READY: usize = 0;
    /// No page before this one is free.
    pub(super) const HINT: usize = 1;
    /// Page behind the last one that may be allocated.
    pub(super) const END: usize = 2;
    /// Pages that are not in use.
    pub(super) const FREE: usize = 3;
}

/// First word of the queue of freed pages.
pub(super) const QUEUE: usize = ALLOCATOR + 8;

/// Chunk of a file, and where its bits are.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    start: PageNumber,
    /// Page behind it; 2^32 has no number of a page.
    end: u64,
    /// First page of the bits.
    bits: PageNumber,
    bits_len: u32,
}

impl Chunk {
    fn of(page: PageNumber) -> Chunk {
        let chunk = PageChunk::of(page);
        let bits = if chunk.first == 0 { FIRST_BITS } else { chunk.first };
        let bits_len = chunk.len / PAGES_IN_PAGE;
        Chunk { start: chunk.first, end: chunk.end(), bits, bits_len }
    }

    /// First page that can be of the tree.
    fn first_page(self) -> PageNumber {
        self.bits + 2 * self.bits_len
    }
}

/// The two bits of a page.
#[derive(Debug, Clone, Copy)]
enum Bit {
    IsUsed,
    IsBacked,
}

/// Allocator of pages. Only the one who has the turn to write uses it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageAllocator<'f> {
    pub(super) file: &'f TreeFile,
}

impl<'f> PageAllocator<'f> {
    fn state(&self, place: usize) -> &'f AtomicU64 {
        &self.file.sharing.words()[ALLOCATOR + place]
    }

    /// Makes the bits count no more, which are in a file with these words.
    pub(super) fn forget(words: &[AtomicU64]) {
        words[ALLOCATOR + word::IS_READY].store(0, Relaxed);
    }

    pub(super) fn is_ready(&self) -> bool {
        self.state(word::IS_READY).load(Relaxed) == 1
    }

    pub(super) fn set_ready(&self, is_ready: bool) {
        self.state(word::IS_READY).store(u64::from(is_ready), Relaxed);
    }

    /// Returns the page behind the last one that may be in use.
    pub(super) fn end(&self) -> PageNumber {
        self.state(word::END).load(Relaxed) as u32
    }

    pub(super) fn set_end(&self, end: PageNumber) {
        self.state(word::END).store(u64::from(end), Relaxed);
    }

    /// Returns the number of pages that are not in use.
    pub(super) fn free_count(&self) -> u64 {
        self.state(word::FREE).load(Relaxed)
    }

    fn hint(&self) -> PageNumber {
        self.state(word::HINT).load(Relaxed) as u32
    }

    fn set_hint(&self, page: PageNumber) {
        self.state(word::HINT).store(u64::from(page), Relaxed);
    }

    /// The word with the bit of `page`, which is bit `page % 64` of it.
    fn word(&self, page: PageNumber, bit: Bit) -> Result<&'f AtomicU64> {
        let chunk = Chunk::of(page);
        let place = page - chunk.start;
        let behind = match bit {
            Bit::IsUsed => 0,
            Bit::IsBacked => chunk.bits_len,
        };
        let words = self.file.map.words(chunk.bits + behind + place / PAGES_IN_PAGE);
        let words = words.map_err(|error| self.file.failed("map", &error))?;
        Ok(&words[(place % PAGES_IN_PAGE / u64::BITS) as usize])
    }

    pub(super) fn is_used(&self, page: PageNumber) -> Result<bool> {
        Ok(self.word(page, Bit::IsUsed)?.load(Relaxed) & mask(page) != 0)
    }

    /// Marks pages as used, and returns true if the first of them was free.
    pub(super) fn mark(&self, first: PageNumber, count: u32) -> Result<bool> {
        let was_free = !self.is_used(first)?;
        for page in first..first.saturating_add(count) {
            self.set(page, true)?;
            let backed = self.word(page, Bit::IsBacked)?;
            backed.store(backed.load(Relaxed) | mask(page), Relaxed);
        }
        Ok(was_free)
    }

    fn set(&self, page: PageNumber, is_used: bool) -> Result<()> {
        let word = self.word(page, Bit::IsUsed)?;
        let (old, free) = (word.load(Relaxed), self.free_count());
        let (new, free) = match (old & mask(page) != 0, is_used) {
            (false, true) => (old | mask(page), free.saturating_sub(1)),
            (true, false) => (old & !mask(page), free + 1),
            _ => return Ok(()),
        };
        word.store(new, Relaxed);
        self.state(word::FREE).store(free, Relaxed);
        Ok(())
    }

    /// Gives pages back. Those that are free already stay so.
    pub(super) fn free(&self, first: PageNumber, count: u32) -> Result<()> {
        for page in first..first.saturating_add(count) {
            self.set(page, false)?;
        }
        self.set_hint(self.hint().min(first));
        Ok(())
    }

    /// Makes all pages of a file of `end` pages free, and gives the bits of all of them room.
    pub(super) fn clear(&self, end: PageNumber) -> Result<()> {
        let mut start = 0;
        while start < u64::from(end) {
            let chunk = Chunk::of(start as u32);
            let pages = (u64::from(end).min(chunk.end) - start) as u32;
            self.back_bits(chunk, pages)?;
            for page in 0..pages.div_ceil(PAGES_IN_PAGE) {
                for bits in [chunk.bits + page, chunk.bits + chunk.bits_len + page] {
                    let words = self.file.map.words(bits);
                    let words = words.map_err(|error| self.file.failed("map", &error))?;
                    words.iter().for_each(|word| word.store(0, Relaxed));
                }
            }
            start = chunk.end;
        }
        self.state(word::FREE).store(u64::from(end), Relaxed);
        self.set_end(end);
        self.set_hint(FIRST_PAGE);
        start = 0;
        while start < u64::from(end) {
            let chunk = Chunk::of(start as u32);
            self.mark(chunk.start, (chunk.first_page() - chunk.start).min(end - chunk.start))?;
            start = chunk.end;
        }
        Ok(())
    }

    /// Allocates a page.
    pub(super) fn take(&self) -> Result<PageNumber> {
        loop {
            let end = self.end();
            let mut start = self.hint() / u64::BITS * u64::BITS;
            while start < end {
                let free = !self.word(start, Bit::IsUsed)?.load(Relaxed);
                let page = start.saturating_add(free.trailing_zeros());
                if free != 0 && page < end {
                    self.back(page)?;
                    self.set(page, true)?;
                    self.set_hint(page);
                    return Ok(page);
                }
                start = match start.checked_add(u64::BITS) {
                    Some(next) => next,
                    None => break,
                };
            }
            self.set_hint(end);
            let growth = (end / 8).clamp(*GROWTH.start(), *GROWTH.end());
            self.grow(end, growth)?;
        }
    }

    /// Allocates pages one behind the other, all in one chunk.
    pub(super) fn take_run(&self, count: u32) -> Result<PageNumber> {
        if count == 1 {
            return self.take();
        }
        let first = match self.find_run(count)? {
            Some(first) => first,
            None => self.grow_for_run(count)?,
        };
        self.reserve(first, count)?;
        self.mark(first, count)?;
        Ok(first)
    }

    /// Finds free pages one behind the other.
    fn find_run(&self, count: u32) -> Result<Option<PageNumber>> {
        if self.free_count() < u64::from(count) {
            return Ok(None);
        }
        let (mut page, end, mut found) = (self.hint(), self.end(), 0);
        while page < end {
            let used = self.word(page, Bit::IsUsed)?.load(Relaxed) >> (page % u64::BITS);
            let left = u64::BITS - page % u64::BITS;
            let free = used.trailing_zeros().min(left).min(end - page);
            found += free;
            if found >= count {
                return Ok(Some(page + free - found));
            }
            if free < left {
                found = 0;
                let skipped = (used >> free).trailing_ones().min(left - free);
                page = page.saturating_add(free + skipped.max(1));
            } else {
                page = page.saturating_add(free);
            }
        }
        Ok(None)
    }

    /// Makes the file longer by a run that may begin with the free pages at its end.
    fn grow_for_run(&self, count: u32) -> Result<PageNumber> {
        let end = self.end();
        let mut first = end;
        while first > FIRST_PAGE && !self.is_used(first - 1)? {
            first -= 1;
        }
        let too_long = || {
            let message =
                format!("expected room for {count} pages, found a table as long as one can be");
            Error::new(ErrorKind::Limit, message).in_file(&self.file.name)
        };
        loop {
            let chunk = Chunk::of(first);
            let run_end = u64::from(first) + u64::from(count);
            if run_end <= chunk.end {
                if run_end > u64::from(end) {
                    self.grow(end, (run_end - u64::from(end)) as u32)?;
                }
                return Ok(first);
            }
            let next = u32::try_from(chunk.end).map_err(|_| too_long())?;
            first = Chunk::of(next).first_page();
        }
    }

    /// Makes `count` pages more than `end` free to be allocated.
    fn grow(&self, end: PageNumber, count: u32) -> Result<()> {
        let new_end = end.checked_add(count).ok_or_else(|| {
            let message = "expected room for a page, found a table as long as one can be";
            Error::new(ErrorKind::Limit, message).in_file(&self.file.name)
        })?;
        let mut start = u64::from(end);
        while start < u64::from(new_end) {
            let chunk = Chunk::of(start as u32);
            let pages = (u64::from(new_end).min(chunk.end) - u64::from(chunk.start)) as u32;
            self.back_bits(chunk, pages)?;
            start = chunk.end;
        }
        let free = self.free_count() + u64::from(count);
        self.state(word::FREE).store(free, Relaxed);
        self.set_end(new_end);
        start = u64::from(end);
        while start < u64::from(new_end) {
            let chunk = Chunk::of(start as u32);
            if start == u64::from(chunk.start) && start > 0 {
                let reserved = chunk.first_page() - chunk.start;
                self.mark(chunk.start, reserved)?;
                if new_end < chunk.first_page() {
                    self.set_end(chunk.first_page());
                }
            }
            start = chunk.end;
        }
        Ok(())
    }

    /// Gives the bits of the first `pages` of a chunk room on the disk.
    fn back_bits(&self, chunk: Chunk, pages: u32) -> Result<()> {
        let count = pages.div_ceil(PAGES_IN_PAGE);
        self.reserve(chunk.bits, count)?;
        self.reserve(chunk.bits + chunk.bits_len, count)
    }

    /// Gives a page, and its free neighbours, room on the disk.
    fn back(&self, page: PageNumber) -> Result<()> {
        let backed = self.word(page, Bit::IsBacked)?;
        if backed.load(Relaxed) & mask(page) != 0 {
            return Ok(());
        }
        let first = page / BACKED_TOGETHER * BACKED_TOGETHER;
        if self.reserve(first, BACKED_TOGETHER).is_ok() {
            backed.store(u64::MAX, Relaxed);
            return Ok(());
        }
        // The disk is nearly full.
        self.reserve(page, 1)?;
        backed.store(backed.load(Relaxed) | mask(page), Relaxed);
        Ok(())
    }

    /// Returns the number of free pages that have room on the disk, as far as the bits know.
    pub(super) fn count_idle(&self) -> Result<u32> {
        let (mut page, end, mut count) = (FIRST_PAGE, self.end(), 0);
        while page < end {
            let idle = self.word(page, Bit::IsBacked)?.load(Relaxed)
                & !self.word(page, Bit::IsUsed)?.load(Relaxed);
            count += (idle >> (page % u64::BITS)).count_ones();
            page = (page / u64::BITS + 1).saturating_mul(u64::BITS);
        }
        Ok(count)
    }

    /// Cuts free pages off the end of the file.
    pub(super) fn cut_end(&self) -> Result<()> {
        let end = self.end();
        let mut new_end = end;
        while new_end > FIRST_PAGE && !self.is_used(new_end - 1)? {
            new_end -= 1;
        }
        // Room was made for whole words: also behind the end, where no page is free yet.
        let words_end = end.checked_next_multiple_of(BACKED_TOGETHER).unwrap_or(PageNumber::MAX);
        for page in new_end..words_end {
            let backed = self.word(page, Bit::IsBacked)?;
            backed.store(backed.load(Relaxed) & !mask(page), Relaxed);
        }
        self.set_end(new_end);
        let free = self.free_count().saturating_sub(u64::from(end - new_end));
        self.state(word::FREE).store(free, Relaxed);
        self.set_hint(self.hint().min(new_end));
        // One page more, of which the disk has nothing: readers see by it that the last one is whole.
        let new_len = offset_of(new_end) + PAGE_LEN as u64;
        let cut = self.file.map.while_cut(new_len, || self.file.storage.set_len(new_len));
        cut.map_err(|error| self.file.failed("cut", &error))
    }

    /// Makes up to `max` holes of free pages from `page` on: of `all`, or of those that got room since the bits were made anew.
    /// Returns the page to go on from.
    pub(super) fn punch_holes(
        &self,
        mut page: PageNumber,
        max: usize,
        all: bool,
    ) -> Result<PageNumber> {
        let end = self.end();
        let Some(file) = self.file.storage.file().filter(|_| self.file.is_mapped) else {
            return Ok(end);
        };
        let mut holes = 0;
        while page < end && holes < max {
            let (first, mut has_room) = (page, all);
            while page < end && !self.is_used(page)? {
                let backed = self.word(page, Bit::IsBacked)?;
                has_room |= backed.fetch_and(!mask(page), Relaxed) & mask(page) != 0;
                page += 1;
            }
            if has_room && first < page {
                punch(file, offset_of(first), offset_of(page));
                holes += 1;
            }
            page += u32::from(first == page);
        }
        Ok(page)
    }

    /// Gives pages room on the disk, so that a store into the map finds it.
    fn reserve(&self, first: PageNumber, count: u32) -> Result<()> {
        if !self.file.is_mapped {
            return Ok(());
        }
        let (from, to) = (offset_of(first), offset_of(first) + u64::from(count) * PAGE_LEN as u64);
        let file = self.file.storage.file().ok_or_else(|| Error::internal("a map of no file"))?;
        let reserved = reserve(file, from, to);
        reserved.map_err(|error| self.file.failed("write", &error))
    }
}

fn mask(page: PageNumber) -> u64 {
    1 << (page % u64::BITS)
}
