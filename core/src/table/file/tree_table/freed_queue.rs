//! Pages that no newer tree has, in the order in which they were freed, until nobody reads a tree that has them.
//!
//! The queue stands in pages of the file that are allocated for it, and counts only as long as the allocator's bits do.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::allocator::{PageAllocator, QUEUE};
use super::tree_file::TreeFile;
use crate::error::Result;
use crate::files::PageNumber;

/// Words of a page of the queue before its entries: the next page.
const LINK_LEN: u64 = 1;

/// Words of an entry.
const ENTRY_LEN: u64 = 3;

/// Entries in a page.
const ENTRIES_IN_PAGE: u64 = (512 - LINK_LEN) / ENTRY_LEN;

mod word {
    pub(super) const HEAD_PAGE: usize = 0;
    pub(super) const HEAD_ENTRY: usize = 1;
    pub(super) const TAIL_PAGE: usize = 2;
    pub(super) const TAIL_ENTRY: usize = 3;
}

/// Pages that a commit freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FreedPages {
    pub(super) first: PageNumber,
    pub(super) count: u32,
    /// Generation that wrote them.
    pub(super) born: u64,
    /// Generation from which on no tree has them.
    pub(super) freed: u64,
}

impl FreedPages {
    /// Returns true if a tree of one of `states`, which are in order, has these pages.
    pub(super) fn are_in(&self, states: &[u64]) -> bool {
        let next = states.partition_point(|state| *state < self.born);
        states.get(next).is_some_and(|state| *state < self.freed)
    }
}

/// Queue of freed pages. Only the one who has the turn to write uses it.
#[derive(Debug, Clone, Copy)]
pub(super) struct FreedQueue<'f> {
    pub(super) file: &'f TreeFile,
}

impl<'f> FreedQueue<'f> {
    fn state(&self, place: usize) -> &'f AtomicU64 {
        &self.file.sharing.words()[QUEUE + place]
    }

    fn get(&self, place: usize) -> u64 {
        self.state(place).load(Relaxed)
    }

    fn set(&self, place: usize, number: u64) {
        self.state(place).store(number, Relaxed);
    }

    fn words(&self, page: u64) -> Result<&'f [AtomicU64; 512]> {
        let words = self.file.map.words(page as PageNumber);
        words.map_err(|error| self.file.failed("map", &error))
    }

    /// Forgets all entries, without giving their pages back.
    pub(super) fn clear(&self) {
        for place in [word::HEAD_PAGE, word::HEAD_ENTRY, word::TAIL_PAGE, word::TAIL_ENTRY] {
            self.set(place, 0);
        }
    }

    /// Appends an entry.
    pub(super) fn push(&self, freed: FreedPages) -> Result<()> {
        let (tail, entry) = (self.get(word::TAIL_PAGE), self.get(word::TAIL_ENTRY));
        let (page, entry) = match tail {
            0 => {
                let page = u64::from(PageAllocator { file: self.file }.take()?);
                self.set(word::HEAD_PAGE, page);
                self.set(word::HEAD_ENTRY, 0);
                (page, 0)
            }
            _ if entry == ENTRIES_IN_PAGE => {
                let page = u64::from(PageAllocator { file: self.file }.take()?);
                self.words(tail)?[0].store(page, Relaxed);
                (page, 0)
            }
            _ => (tail, entry),
        };
        let words = self.words(page)?;
        if entry == 0 {
            words[0].store(0, Relaxed);
        }
        let at = (LINK_LEN + entry * ENTRY_LEN) as usize;
        words[at].store(u64::from(freed.first) << 32 | u64::from(freed.count), Relaxed);
        words[at + 1].store(freed.born, Relaxed);
        words[at + 2].store(freed.freed, Relaxed);
        self.set(word::TAIL_PAGE, page);
        self.set(word::TAIL_ENTRY, entry + 1);
        Ok(())
    }

    /// Takes the oldest entry out if no tree of `states` has its pages.
    pub(super) fn pop_unless_in(&self, states: &[u64]) -> Result<Option<FreedPages>> {
        let (mut head, mut entry) = (self.get(word::HEAD_PAGE), self.get(word::HEAD_ENTRY));
        if head == 0 {
            return Ok(None);
        }
        let tail = (self.get(word::TAIL_PAGE), self.get(word::TAIL_ENTRY));
        if (head, entry) == tail {
            self.clear();
            PageAllocator { file: self.file }.free(head as PageNumber, 1)?;
            return Ok(None);
        }
        if entry == ENTRIES_IN_PAGE {
            let next = self.words(head)?[0].load(Relaxed);
            if next == 0 {
                return Err(self.file.senseless(head as PageNumber));
            }
            PageAllocator { file: self.file }.free(head as PageNumber, 1)?;
            (head, entry) = (next, 0);
            self.set(word::HEAD_PAGE, head);
            self.set(word::HEAD_ENTRY, 0);
        }
        let (words, at) = (self.words(head)?, (LINK_LEN + entry * ENTRY_LEN) as usize);
        let place = words[at].load(Relaxed);
        let freed = FreedPages {
            first: (place >> 32) as PageNumber,
            count: place as u32,
            born: words[at + 1].load(Relaxed),
            freed: words[at + 2].load(Relaxed),
        };
        if freed.count == 0 {
            // The page was cut off the file.
            return Err(self.file.senseless(head as PageNumber));
        }
        if freed.are_in(states) {
            return Ok(None);
        }
        self.set(word::HEAD_ENTRY, entry + 1);
        Ok(Some(freed))
    }
}
