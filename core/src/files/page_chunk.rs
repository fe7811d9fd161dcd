//! Chunks of a file's pages: what is mapped at once, and what a run of pages does not leave.

use super::page_map::PageNumber;

/// Pages of the first chunk, as a power of 2. The second has as many, each further one as many as all before it.
const FIRST_BITS: u32 = 18;

/// Chunk of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageChunk {
    /// Its place among the chunks, from 0.
    pub(crate) index: usize,
    /// Its first page.
    pub(crate) first: PageNumber,
    /// Number of its pages.
    pub(crate) len: u32,
}

impl PageChunk {
    /// Chunks with all pages that have a number.
    pub(crate) const COUNT: usize = (PageNumber::BITS - FIRST_BITS) as usize + 1;

    /// Pages of the first chunk.
    pub(crate) const FIRST_LEN: u32 = 1 << FIRST_BITS;

    /// Returns the chunk of a page: 0, and then the length of the number in bits that the first chunk does not count.
    #[inline]
    pub(crate) const fn of(page: PageNumber) -> PageChunk {
        Self::at((PageNumber::BITS - (page >> FIRST_BITS).leading_zeros()) as usize)
    }

    /// Returns the chunk in a place.
    #[inline]
    pub(crate) const fn at(index: usize) -> PageChunk {
        match index {
            0 => PageChunk { index, first: 0, len: Self::FIRST_LEN },
            _ => {
                let first = 1 << (FIRST_BITS as usize + index - 1);
                PageChunk { index, first, len: first }
            }
        }
    }

    /// Returns the page behind it; 2^32 has no number of a page.
    pub(crate) fn end(self) -> u64 {
        u64::from(self.first) + u64::from(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chunk_begins_where_the_one_before_ends() {
        let places = [0, (1 << 18) - 1, 1 << 18, (1 << 19) - 1, 1 << 19, 1 << 31, u32::MAX];
        assert_eq!(places.map(|page| PageChunk::of(page).index), [0, 0, 1, 1, 2, 14, 14]);
        for index in 1..PageChunk::COUNT {
            let chunk = PageChunk::at(index);
            assert_eq!(PageChunk::of(chunk.first), chunk);
            assert_eq!(PageChunk::of(chunk.first - 1).index, index - 1);
            assert_eq!(PageChunk::at(index - 1).end(), u64::from(chunk.first));
        }
        assert_eq!(PageChunk::at(PageChunk::COUNT - 1).end(), 1 << 32);
    }
}
