//! Pages that were found to be what was written: a word for each, in memory that is taken as it is touched.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use crate::files::{Mapping, PageNumber};

/// Binary digits of the number of pages in the first chunk. Each further chunk has as many pages as all before it.
const FIRST_CHUNK_BITS: u32 = 18;

/// Chunks that a file can have.
const CHUNK_COUNT: usize = (PageNumber::BITS - FIRST_CHUNK_BITS) as usize + 1;

/// For each page the generation in which it was found to be what was written; 0 where nobody looked.
#[derive(Debug, Default)]
pub(super) struct CheckedPages {
    chunks: [OnceLock<Mapping>; CHUNK_COUNT],
}

impl CheckedPages {
    /// Returns the word of a page, if any page of its chunk has one.
    #[inline]
    pub(super) fn get(&self, page: PageNumber) -> Option<&AtomicU64> {
        let (chunk, first) = place_of(page);
        self.chunks[chunk].get()?.get((page - first) as usize)
    }

    /// Returns the word of a page of the file.
    pub(super) fn word(&self, page: PageNumber) -> io::Result<&AtomicU64> {
        let (chunk, first) = place_of(page);
        let words = match self.chunks[chunk].get() {
            Some(words) => words,
            None => self.map(chunk, first)?,
        };
        words.get((page - first) as usize).ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    #[cold]
    fn map(&self, chunk: usize, first: PageNumber) -> io::Result<&Mapping> {
        let len = first.max(1 << FIRST_CHUNK_BITS) as usize;
        let words = Mapping::anonymous(len)?;
        Ok(self.chunks[chunk].get_or_init(|| words))
    }
}

/// Returns the chunk of a page, and its first page.
#[inline]
fn place_of(page: PageNumber) -> (usize, PageNumber) {
    let chunk = (PageNumber::BITS - (page >> FIRST_CHUNK_BITS).leading_zeros()) as usize;
    (chunk, if chunk == 0 { 0 } else { 1 << (FIRST_CHUNK_BITS as usize + chunk - 1) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn each_page_has_a_word_of_its_own() {
        let checked = CheckedPages::default();
        let places = [0, 1, (1 << 18) - 1, 1 << 18, (1 << 19) - 1, 1 << 19, (1 << 24) + 7];
        assert!(checked.get(5).is_none());
        for page in places {
            checked.word(page).unwrap().store(u64::from(page) + 1, Relaxed);
        }
        for page in places {
            assert_eq!(checked.get(page).unwrap().load(Relaxed), u64::from(page) + 1);
        }
    }
}
