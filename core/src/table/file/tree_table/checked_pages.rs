//! Pages that were found to be what was written: a word for each, in memory that is taken as it is touched.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use crate::files::{Mapping, PageChunk, PageNumber};

/// For each page the generation in which it was found to be what was written; 0 where nobody looked.
#[derive(Debug, Default)]
pub(super) struct CheckedPages {
    chunks: [OnceLock<Mapping>; PageChunk::COUNT],
}

impl CheckedPages {
    /// Returns the word of a page, if any page of its chunk has one.
    #[inline]
    pub(super) fn get(&self, page: PageNumber) -> Option<&AtomicU64> {
        let chunk = PageChunk::of(page);
        self.chunks[chunk.index].get()?.get((page - chunk.first) as usize)
    }

    /// Returns the word of a page of the file.
    pub(super) fn word(&self, page: PageNumber) -> io::Result<&AtomicU64> {
        let chunk = PageChunk::of(page);
        let words = match self.chunks[chunk.index].get() {
            Some(words) => words,
            None => self.map(chunk)?,
        };
        words.get((page - chunk.first) as usize).ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    #[cold]
    fn map(&self, chunk: PageChunk) -> io::Result<&Mapping> {
        let words = Mapping::anonymous(chunk.len as usize)?;
        Ok(self.chunks[chunk.index].get_or_init(|| words))
    }
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
