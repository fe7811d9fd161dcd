//! Counts of the uses of a cache's entries, by their places in the log, in a room of the file that all processes map.
//!
//! Entries that are alive are near each other in the log of a table that evicts the oldest ones, so the counts go round and
//! round, and each entry has one of its own, or shares it with a short one beside it.

use super::engine::Engine;
use super::hash_file::HashFile;
use super::index_writer::IndexWriter;
use crate::error::Result;
use crate::files::PAGE_LEN;
use crate::table::ValueType;
use crate::table::uses::{COUNTS_IN_WORD, UseCount};

/// Bytes of log that have one count.
const PLACE_LEN: u64 = 128;

/// Counts in a page.
const COUNTS_IN_PAGE: u64 = COUNTS_IN_WORD * (PAGE_LEN / size_of::<u64>()) as u64;

/// The most pages of counts, which are one frame of the log.
const PAGES_MAX: u64 = 1 << 17;

/// Room of the counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UsesRoom {
    /// First page; 0 without a room.
    pub(super) page: u32,
    /// Number of pages, a power of two.
    pub(super) pages: u32,
}

impl UsesRoom {
    pub(super) fn of_word(word: u64) -> UsesRoom {
        UsesRoom { page: word as u32, pages: (word >> 32) as u32 }
    }

    pub(super) fn word(self) -> u64 {
        u64::from(self.page) | u64::from(self.pages) << 32
    }
}

impl HashFile {
    /// Returns the count of the entry at `place` of the log, if uses are counted.
    #[inline]
    pub(super) fn uses(&self, place: u64) -> Option<UseCount<'_>> {
        let UsesRoom { page, pages } = self.sharing.state().uses_room();
        if page == 0 || self.is_index_own {
            return None;
        }
        let number = place / PLACE_LEN % (u64::from(pages) * COUNTS_IN_PAGE);
        let words = self.map.words(page + (number / COUNTS_IN_PAGE) as u32).ok()?;
        let word = words.get((number % COUNTS_IN_PAGE / COUNTS_IN_WORD) as usize)?;
        Some(UseCount::new(word, number))
    }

    /// Counts a use of the entry at `place`.
    #[inline]
    pub(super) fn note_use(&self, place: u64) {
        if self.log.header.values == ValueType::CACHE
            && let Some(count) = self.uses(place)
        {
            count.note();
        }
    }

    /// Begins the count of an entry that is written to `place`.
    #[inline]
    pub(super) fn forget_uses(&self, place: u64) {
        if self.log.header.values == ValueType::CACHE
            && let Some(count) = self.uses(place)
        {
            count.set(0);
        }
    }
}

impl Engine {
    /// Counts the uses of entries from now on, in a log of `len` bytes, unless that is done already. The room for it is taken
    /// from the disk.
    pub(super) fn count_uses(&mut self, len: u64) -> Result<()> {
        let file = self.file()?;
        let is_counted = file.is_index_own || file.sharing.state().uses_room().page != 0;
        if is_counted || file.log.header.values != ValueType::CACHE {
            return Ok(());
        }
        self.keep_turn(None)?;
        let counted = self.add_uses_room(len);
        self.kept_turns.pop();
        counted.map_err(|error| error.in_file(&self.name))
    }

    fn add_uses_room(&mut self, len: u64) -> Result<()> {
        let file = self.file()?.clone();
        let state = file.sharing.state();
        if state.uses_room().page != 0 {
            return Ok(());
        }
        let pages = len.div_ceil(PLACE_LEN * COUNTS_IN_PAGE).next_power_of_two().min(PAGES_MAX);
        let mut extent = file.newest()?;
        let committed = (extent.start, extent.end);
        let mut writer = IndexWriter::begin(&file, committed, extent.end, extent.next_transaction);
        let (first, _) = writer.add_room(pages)?;
        extent.end = writer.end;
        state.publish(&extent);
        state.set_uses_room(UsesRoom { page: first as u32, pages: pages as u32 });
        Ok(())
    }
}
