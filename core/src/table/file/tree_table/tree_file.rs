//! File of a tree: its pages, each checked when it is read first, and its two durable roots.

#![allow(unsafe_code)]

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::checked_pages::CheckedPages;
use super::header::TreeHeader;
use super::node::{CHECK_AT, GENERATION_AT, Node};
use super::node_edit::NodeEditor;
use super::pointer::{PagePointer, PageRun, TreeRoot, offset_of};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{PAGE_LEN, PageMap, PageNumber, Storage};
use crate::heap::prefetch;
use crate::table::file::sharing::{AREA_PAGE, Sharing};

/// Number by which salts of neighbouring pages differ: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Pages of a tree in a file, or in memory that is written to a [`Storage`] when it is synced.
#[derive(Debug)]
pub(super) struct TreeFile {
    pub(super) map: Arc<PageMap>,
    // Bound (Tables): memory of the process for an ordered table's file, which is mapped = 8 bytes for each of its
    // pages; where the file may not be written, also the pages that were read.
    checked: CheckedPages,
    pub(super) storage: Arc<dyn Storage>,
    /// True if the pages are those of the file; otherwise they are copies, read when they are needed.
    pub(super) is_mapped: bool,
    /// Held by the one who reads a page into its copy.
    loading: Mutex<()>,
    /// Bytes that the file had when somebody looked.
    known_len: AtomicU64,
    pub(super) sharing: Sharing,
    pub(super) header: TreeHeader,
    /// Held by the one who syncs.
    pub(super) syncing: Mutex<()>,
    pub(super) name: String,
}

/// Computes what a page, or a run that begins there, has in the place of its check until it is synced. A sync gives checks to
/// the pages of the newest tree alone: one that only a snapshot has keeps this.
fn unsynced_mark(seed: u64, first: PagePointer) -> u64 {
    check_of(seed, first.page, &first.generation.to_le_bytes())
}

/// Computes the check of a page, or of a run that begins there.
pub(super) fn check_of(seed: u64, page: PageNumber, checked: &[u8]) -> u64 {
    xxh3_64_with_seed(checked, seed.wrapping_add(u64::from(page)).wrapping_mul(SPREAD))
}

impl TreeFile {
    /// The pages of a storage, as copies that are read when they are needed.
    pub(super) fn copied(
        storage: Arc<dyn Storage>,
        header: TreeHeader,
        sharing: Sharing,
        name: &str,
    ) -> TreeFile {
        let map = Arc::new(PageMap::anonymous());
        TreeFile { is_mapped: false, ..Self::mapped(storage, header, sharing, map, name) }
    }

    /// The pages of a file that is mapped.
    pub(super) fn mapped(
        storage: Arc<dyn Storage>,
        header: TreeHeader,
        sharing: Sharing,
        map: Arc<PageMap>,
        name: &str,
    ) -> TreeFile {
        TreeFile {
            map,
            checked: CheckedPages::default(),
            storage,
            is_mapped: true,
            loading: Mutex::default(),
            known_len: AtomicU64::new(0),
            sharing,
            header,
            syncing: Mutex::default(),
            name: name.to_owned(),
        }
    }

    /// Returns the newest root, and the counter that belongs to it. Fails if the words that the processes share were cut off
    /// the file: what is there then is zeros.
    #[inline]
    pub(super) fn newest(&self) -> Result<(TreeRoot, u64)> {
        let roots = self.sharing.roots();
        let newest = roots.newest();
        self.check_reached(AREA_PAGE, 1)?;
        // Where they are gone, so is the seed.
        match roots.seed() == self.header.seed {
            true => Ok(newest),
            false => Err(self.without_shared_words()),
        }
    }

    #[cold]
    fn without_shared_words(&self) -> Error {
        self.corrupt(1, "what processes share of the table", "a file that was cut")
    }

    /// Makes the error of bytes that are not what was written.
    pub(super) fn corrupt(&self, page: PageNumber, expected: &str, found: &str) -> Error {
        let message = format!("expected {expected}, found {found}");
        Error::new(ErrorKind::Corrupt, message).at(offset_of(page)).in_file(&self.name)
    }

    /// Makes the error of a page whose content makes no sense.
    #[cold]
    pub(super) fn senseless(&self, page: PageNumber) -> Error {
        self.corrupt(page, "a page of the tree", "fields that do not fit together")
    }

    pub(super) fn failed(&self, action: &str, error: &std::io::Error) -> Error {
        Error::io(action, error).in_file(&self.name)
    }

    #[inline]
    fn page_bytes(&self, page: PageNumber) -> Result<&[u8; PAGE_LEN]> {
        let bytes = self.map.bytes(page, 1).map_err(|error| self.failed("map", &error))?;
        bytes.first_chunk().ok_or_else(|| self.senseless(page))
    }

    /// Returns true if the page was found to be what was written.
    #[inline]
    fn is_checked(&self, pointer: PagePointer) -> bool {
        let word = self.checked.get(pointer.page);
        word.is_some_and(|word| word.load(Acquire) == pointer.generation)
    }

    fn checked_word(&self, page: PageNumber) -> Result<&AtomicU64> {
        self.checked.word(page).map_err(|error| self.failed("map", &error))
    }

    /// The page that `pointer` leads to.
    #[inline]
    pub(super) fn node(&self, pointer: PagePointer) -> Result<Node<'_>> {
        if self.is_checked(pointer) {
            let node = Node::new(self.page_bytes(pointer.page)?);
            if node.generation() == pointer.generation {
                return Ok(node);
            }
        }
        self.check(PageRun { first: pointer, count: 1 }, PAGE_LEN - 8)?;
        Ok(Node::new(self.page_bytes(pointer.page)?))
    }

    /// Asks for the memory that a search in the page begins with.
    #[inline]
    pub(super) fn prefetch(&self, pointer: PagePointer) -> Result<()> {
        if let Some(word) = self.checked.get(pointer.page) {
            prefetch(word);
            Node::new(self.page_bytes(pointer.page)?).prefetch_slots();
        }
        Ok(())
    }

    /// The page that `pointer` leads to, which the caller has read before. It can have been cut since.
    #[inline]
    pub(super) fn node_again(&self, pointer: PagePointer) -> Result<Node<'_>> {
        let node = Node::new(self.page_bytes(pointer.page)?);
        match node.generation() == pointer.generation {
            true => Ok(node),
            false => self.node(pointer),
        }
    }

    /// The bytes of a run, of which the last are its generation and check.
    pub(super) fn run(&self, run: PageRun) -> Result<&[u8]> {
        if self.is_checked(run.first) {
            let bytes = self.run_bytes(run)?;
            if generation_of(bytes) == Some(run.first.generation) {
                return Ok(bytes);
            }
        }
        self.check(run, run.byte_len().saturating_sub(8))?;
        self.run_bytes(run)
    }

    /// Fails if a page that [`TreeFile::node`] returned is not there any more: its bytes may have become zeros while
    /// somebody made something of them, because the file was cut.
    #[inline]
    pub(super) fn check_still(&self, pointer: PagePointer) -> Result<()> {
        self.check_run_still(PageRun { first: pointer, count: 1 })
    }

    /// As [`TreeFile::check_still`], for a page at hand.
    #[inline]
    pub(super) fn check_node_still(&self, pointer: PagePointer, node: Node<'_>) -> Result<()> {
        self.check_reached(pointer.page, 1)?;
        // What was read of the bytes was read before their generation is.
        fence(Acquire);
        let place = node.bytes[GENERATION_AT..CHECK_AT].as_ptr().cast::<[u8; 8]>();
        // SAFETY: these are 8 bytes of the page. They are read anew because a cut may have changed them, which the compiler
        // must not take for impossible; any bytes are a value.
        let generation = u64::from_le_bytes(unsafe { place.read_volatile() });
        match generation == pointer.generation {
            true => Ok(()),
            false => Err(self.cut_away(pointer.page)),
        }
    }

    /// Fails if a run is not there any more, as [`TreeFile::check_still`] does.
    #[inline]
    pub(super) fn check_run_still(&self, run: PageRun) -> Result<()> {
        self.check_reached(run.first.page, run.count)?;
        if run.count > 1 && self.map.was_cut() {
            self.compare_run(run)?;
        }
        // What was read of the bytes was read before their generation is.
        fence(Acquire);
        let last = run.first.page.saturating_add(run.count.saturating_sub(1));
        let words = self.map.words(last).map_err(|error| self.failed("map", &error))?;
        match u64::from_le(words[GENERATION_AT / 8].load(Relaxed)) == run.first.generation {
            true => Ok(()),
            false => Err(self.cut_away(run.first.page)),
        }
    }

    /// Fails if the file did not reach behind these pages when they were read. The part of a page that is cut off becomes zeros
    /// before its generation does, which counts only after this.
    #[inline]
    fn check_reached(&self, first: PageNumber, count: u32) -> Result<()> {
        match self.map.reaches(offset_of(first) + u64::from(count) * PAGE_LEN as u64) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.cut_away(first)),
            Err(error) => Err(self.failed("read", &error)),
        }
    }

    /// Fails if the map has other bytes of a run than the file: zeros, where a page was not in the file for a while.
    #[cold]
    fn compare_run(&self, run: PageRun) -> Result<()> {
        let mut in_file = [0; PAGE_LEN];
        for (page, in_map) in (run.first.page..).zip(self.run_bytes(run)?.chunks(PAGE_LEN)) {
            match self.storage.read_at(offset_of(page), &mut in_file) {
                Ok(()) if in_file == in_map => {}
                _ => return Err(self.cut_away(page)),
            }
        }
        Ok(())
    }

    /// Fails if a page that was needed was not in the file any more: what was written since may be nowhere.
    pub(super) fn check_uncut(&self) -> Result<()> {
        match self.map.was_cut() {
            false => Ok(()),
            true => {
                let message = "expected a file as long as it was, found one that was cut or cannot be read; open it again \
                               to write";
                Err(Error::new(ErrorKind::Corrupt, message).in_file(&self.name))
            }
        }
    }

    /// Fails if the file ends before `end`: of a page that was cut in the middle, the rest would be lost.
    pub(super) fn check_reaches(&self, end: u64) -> Result<()> {
        let len = self.storage.len().map_err(|error| self.failed("read", &error))?;
        match len >= end || !self.is_mapped {
            true => Ok(()),
            false => Err(self.corrupt(
                (len / PAGE_LEN as u64) as PageNumber,
                "a page",
                "the end of the file",
            )),
        }
    }

    #[cold]
    fn cut_away(&self, page: PageNumber) -> Error {
        self.corrupt(page, "a page", "a file that was cut")
    }

    fn run_bytes(&self, run: PageRun) -> Result<&[u8]> {
        let bytes = self.map.bytes(run.first.page, run.count);
        bytes.map_err(|_| self.senseless(run.first.page))
    }

    /// Checks the pages of a run, or one page, and remembers that they are what was written.
    #[cold]
    fn check(&self, run: PageRun, checked_len: usize) -> Result<()> {
        let (page, generation) = (run.first.page, run.first.generation);
        if run.count == 0 || generation == 0 {
            return Err(self.senseless(page));
        }
        // Before anything is mapped for a page that there may not be.
        if self.is_mapped || self.checked.get(page).is_none() {
            self.check_bounds(run)?;
        }
        let word = self.checked_word(page)?;
        if !self.is_mapped {
            let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
            if word.load(Acquire) == 0 {
                self.load(run)?;
            }
        }
        let bytes = self.run_bytes(run)?;
        if generation_of(bytes) != Some(generation) {
            let expected = format!("a page of generation {generation}");
            let found = match self.map.was_cut() {
                true => "a file that was cut or cannot be read",
                false => "another one",
            };
            return Err(self.corrupt(page, &expected, found));
        }
        // What was written since the last sync has no check yet, and has been in memory ever since.
        if generation <= self.sharing.roots().durable_generation() {
            let (checked, check) = bytes.split_at(checked_len);
            let is_written = check_of(self.header.seed, page, checked).to_le_bytes() == *check
                || unsynced_mark(self.header.seed, run.first).to_le_bytes() == *check;
            if !is_written {
                return Err(self.corrupt(page, "a page", "bytes that do not match their checksum"));
            }
        }
        word.store(generation, Release);
        Ok(())
    }

    /// Fails if the file ends before `run` does.
    fn check_bounds(&self, run: PageRun) -> Result<()> {
        let end = offset_of(run.first.page) + run.byte_len() as u64;
        if end <= self.known_len.load(Relaxed) {
            return Ok(());
        }
        let len = self.storage.len().map_err(|error| self.failed("read", &error))?;
        self.known_len.store(len, Relaxed);
        match end <= len {
            true => Ok(()),
            false => Err(self.corrupt(run.first.page, "a page", "the end of the file")),
        }
    }

    /// Reads a run into its copy. The caller has the lock, and nobody has read it before.
    fn load(&self, run: PageRun) -> Result<()> {
        self.check_bounds(run)?;
        let page = run.first.page;
        // The copy of a page that nobody has read yet is borrowed by nobody.
        let bytes = self.bytes_to_load(run)?;
        self.storage.read_at(offset_of(page), bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                self.corrupt(page, "a page", "the end of the file")
            }
            _ => self.failed("read", &error),
        })
    }

    /// Gives a run, or a page, that was written since the last sync its check, and the storage its bytes if those are
    /// copies.
    pub(super) fn seal(&self, run: PageRun) -> Result<()> {
        let (page, bytes) = (run.first.page, self.run_bytes(run)?);
        let check = check_of(self.header.seed, page, &bytes[..bytes.len() - 8]);
        let last = page + run.count - 1;
        let words = self.map.words(last).map_err(|error| self.failed("map", &error))?;
        words[CHECK_AT / 8].store(check.to_le(), Relaxed);
        if self.is_mapped {
            return Ok(());
        }
        let bytes = self.run_bytes(run)?;
        let written = self.storage.write_at(offset_of(page), bytes);
        written.map_err(|error| self.failed("write", &error))
    }

    /// Remembers that the one who writes has written a run, or a page.
    pub(super) fn was_written(&self, run: PageRun) -> Result<()> {
        let words = self.map.words(run.first.page + run.count - 1);
        let words = words.map_err(|error| self.failed("map", &error))?;
        let mark = unsynced_mark(self.header.seed, run.first);
        words[CHECK_AT / 8].store(mark.to_le(), Relaxed);
        self.checked_word(run.first.page)?.store(run.first.generation, Release);
        Ok(())
    }

    /// Bytes of pages that only the caller knows.
    ///
    /// # Safety
    ///
    /// The caller has the turn to write, or is the only one to load pages, and no pointer that anybody else can follow
    /// leads to these pages.
    #[allow(clippy::mut_from_ref, reason = "other pages are borrowed meanwhile")]
    pub(super) unsafe fn bytes_mut(&self, first: PageNumber, count: u32) -> Result<&mut [u8]> {
        // SAFETY: as the caller promises, nobody else borrows these pages.
        let bytes = unsafe { self.map.bytes_mut(first, count) };
        bytes.map_err(|error| self.failed("map", &error))
    }

    #[allow(clippy::mut_from_ref, reason = "nobody has borrowed a copy that nobody has read")]
    fn bytes_to_load(&self, run: PageRun) -> Result<&mut [u8]> {
        // SAFETY: only the one who has the lock `loading` loads pages, and those that nobody has loaded or written
        // are borrowed by nobody.
        unsafe { self.bytes_mut(run.first.page, run.count) }
    }

    /// Edits a page that only the caller knows.
    ///
    /// # Safety
    ///
    /// As for [`TreeFile::bytes_mut`].
    pub(super) unsafe fn edit(&self, page: PageNumber) -> Result<NodeEditor<'_>> {
        // SAFETY: as the caller promises.
        let bytes = unsafe { self.bytes_mut(page, 1)? };
        let page_bytes = bytes.first_chunk_mut().ok_or_else(|| self.senseless(page))?;
        Ok(NodeEditor::new(page_bytes))
    }
}

/// Returns the generation at the end of a page or a run.
#[inline]
fn generation_of(bytes: &[u8]) -> Option<u64> {
    let trailer = bytes.last_chunk::<{ PageRun::TRAILER_LEN }>()?;
    let (generation, _) = trailer.split_first_chunk::<8>()?;
    Some(u64::from_le_bytes(*generation))
}
