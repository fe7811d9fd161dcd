//! Transaction that writes: its pages, and what becomes of them when it ends.
//!
//! A page that a tree has is never changed. The transaction copies it, once, and changes the copy, which nobody else can
//! see before the commit publishes the root. A savepoint, or a view of what was not committed yet, begins a generation:
//! pages of an earlier one are copied again.

#![allow(unsafe_code)]

use std::sync::Arc;

use super::allocator::PageAllocator;
use super::freed_queue::{FreedPages, FreedQueue};
use super::marking;
use super::node::NodeKind;
use super::node_edit::NodeEditor;
use super::pointer::{PagePointer, PageRun, TreeRoot};
use super::tree_file::TreeFile;
use super::write_turn::WriteTurn;
use crate::error::Result;
use crate::files::PageNumber;

/// Freed pages of earlier commits that a commit may give back, beside as many as it freed itself.
const GIVEN_BACK: usize = 64;

/// Transaction, or savepoint in it.
#[derive(Debug, Clone, Copy)]
struct Level {
    root: TreeRoot,
    allocated: usize,
    freed: usize,
}

/// Changes of a tree that nobody else sees yet.
#[derive(Debug)]
pub(super) struct TreeTransaction {
    pub(super) file: Arc<TreeFile>,
    _turn: WriteTurn,
    pub(super) root: TreeRoot,
    /// Pages of this generation or a later one may be changed in place.
    floor: u64,
    /// TreeRoots at the beginning of the transaction and its savepoints.
    levels: Vec<Level>,
    // Bound (Tables): open transaction of an ordered table in a file = 8 bytes for each page that it writes, 24 for
    // each that it frees; the pages are in the file.
    allocated: Vec<(PageNumber, u32)>,
    freed: Vec<FreedPages>,
    /// Pages for a change that must not fail halfway.
    spare: Vec<PageNumber>,
    /// True if a view of what was not committed has been taken.
    was_viewed: bool,
}

impl TreeTransaction {
    /// Begins.
    pub(super) fn begin(turn: WriteTurn) -> Result<TreeTransaction> {
        let file = turn.file();
        file.check_uncut()?;
        if turn.is_unsettled() || !(PageAllocator { file }).is_ready() {
            marking::mark_used_pages(file)?;
            file.sharing.mend();
        }
        let (root, _) = file.newest()?;
        let generation = file.sharing.roots().take_generation();
        Ok(TreeTransaction {
            file: file.clone(),
            _turn: turn,
            root: TreeRoot { generation, ..root },
            floor: generation,
            levels: vec![Level { root, allocated: 0, freed: 0 }],
            allocated: Vec::new(),
            freed: Vec::new(),
            spare: Vec::new(),
            was_viewed: false,
        })
    }

    /// Returns the number of open transactions and savepoints.
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Returns true if nothing was changed.
    pub(super) fn is_unchanged(&self) -> bool {
        self.levels.first().is_some_and(|level| level.root.page == self.root.page)
    }

    /// Begins a savepoint.
    pub(super) fn begin_savepoint(&mut self) {
        let (allocated, freed) = (self.allocated.len(), self.freed.len());
        self.levels.push(Level { root: self.root, allocated, freed });
        self.begin_generation();
    }

    /// Keeps all pages as they are now from being changed.
    fn begin_generation(&mut self) {
        self.root.generation = self.file.sharing.roots().take_generation();
        self.floor = self.root.generation;
    }

    /// Returns the root of what was changed so far. Its pages stay what they are.
    pub(super) fn root_to_view(&mut self) -> TreeRoot {
        let root = self.root;
        self.was_viewed = true;
        self.begin_generation();
        root
    }

    /// Keeps the changes of the innermost savepoint.
    pub(super) fn end_savepoint(&mut self) {
        self.levels.pop();
    }

    /// Takes the changes of the innermost savepoint back.
    pub(super) fn abort_savepoint(&mut self) -> Result<()> {
        let Some(level) = self.levels.pop() else { return Ok(()) };
        self.take_back(level)?;
        self.root = level.root;
        self.begin_generation();
        Ok(())
    }

    /// Gives all that was allocated back.
    pub(super) fn abort(mut self) -> Result<()> {
        self.levels.truncate(1);
        match self.levels.pop() {
            Some(level) => self.take_back(level),
            None => Ok(()),
        }
    }

    /// Gives nothing back: a power cut may leave this tree, which was being synced. The next transaction finds out what is free.
    pub(super) fn abandon(self) {
        self.allocator().set_ready(false);
    }

    fn take_back(&mut self, level: Level) -> Result<()> {
        let roots = self.file.sharing.roots();
        let allocator = PageAllocator { file: &self.file };
        for page in self.spare.drain(..) {
            allocator.free(page, 1)?;
        }
        self.freed.truncate(level.freed);
        let taken: Vec<_> = self.allocated.drain(level.allocated..).collect();
        if !self.was_viewed {
            return taken.iter().try_for_each(|(first, count)| allocator.free(*first, *count));
        }
        // A page can be there several times: freed within the transaction, and allocated again.
        let mut pages: Vec<PageNumber> =
            taken.into_iter().flat_map(|(first, count)| first..first + count).collect();
        pages.sort_unstable();
        pages.dedup();
        let mut used = Vec::new();
        for page in pages {
            if allocator.is_used(page)? {
                used.push(page);
            }
        }
        let states = states(&self.file);
        let (born, freed) = (level.root.generation + 1, roots.take_generation());
        for first in used {
            give_back(&self.file, FreedPages { first, count: 1, born, freed }, &states)?;
        }
        Ok(())
    }

    /// Publishes the changes, and gives back what nobody reads any more.
    pub(super) fn commit(self) -> Result<()> {
        let allocator = PageAllocator { file: &self.file };
        for page in &self.spare {
            allocator.free(*page, 1)?;
        }
        self.file.sharing.roots().publish(self.root);
        if self.give_freed_back().is_err() {
            // The commit counts. The next transaction finds out anew which pages are free.
            allocator.set_ready(false);
        }
        Ok(())
    }

    /// Gives back what only trees had that nobody reads any more.
    fn give_freed_back(&self) -> Result<()> {
        // Those who begin to read from now on read the new tree.
        let states = states(&self.file);
        for freed in &self.freed {
            give_back(&self.file, *freed, &states)?;
        }
        let queue = FreedQueue { file: &self.file };
        for _ in 0..self.freed.len() + GIVEN_BACK {
            match queue.pop_unless_in(&states)? {
                Some(freed) => self.allocator().free(freed.first, freed.count)?,
                None => break,
            }
        }
        Ok(())
    }

    fn allocator(&self) -> PageAllocator<'_> {
        PageAllocator { file: &self.file }
    }

    /// Makes sure that `count` pages can be allocated without fail.
    pub(super) fn ensure_spare(&mut self, count: usize) -> Result<()> {
        while self.spare.len() < count {
            let page = self.allocator().take()?;
            self.spare.push(page);
        }
        Ok(())
    }

    /// Allocates a page.
    fn allocate(&mut self) -> Result<PagePointer> {
        let page = match self.spare.pop() {
            Some(page) => page,
            None => self.allocator().take()?,
        };
        self.allocated.push((page, 1));
        Ok(PagePointer { page, generation: self.root.generation })
    }

    /// Edits a page of this transaction: one that [`TreeTransaction::new_node`] or
    /// [`TreeTransaction::make_writable`] returned.
    pub(super) fn edit(&mut self, pointer: PagePointer) -> Result<NodeEditor<'_>> {
        debug_assert!(pointer.generation >= self.floor, "a page of this transaction");
        // SAFETY: there is one transaction, which has the turn to write. A page of a generation from `floor` on was
        // allocated by it, after the last root that anybody else, a view or a savepoint, can follow; and the editor
        // borrows the transaction, through which nodes of these pages are borrowed.
        unsafe { self.file.edit(pointer.page) }
    }

    /// Makes a page of this transaction of one that may be of an earlier one, and returns where it is.
    pub(super) fn make_writable(&mut self, pointer: PagePointer) -> Result<PagePointer> {
        if pointer.generation >= self.floor {
            return Ok(pointer);
        }
        self.file.node(pointer)?;
        let copy = self.allocate()?;
        let node = self.file.node(pointer)?;
        // SAFETY: as in `edit`: the page was allocated just now, and `node` is another one.
        unsafe { self.file.edit(copy.page)? }.copy_from(node, copy.generation);
        self.file.was_written(PageRun { first: copy, count: 1 })?;
        self.file.check_still(pointer)?;
        self.free(pointer, 1)?;
        Ok(copy)
    }

    /// Makes an empty page.
    pub(super) fn new_node(&mut self, kind: NodeKind) -> Result<PagePointer> {
        let pointer = self.allocate()?;
        self.edit(pointer)?.clear(kind, pointer.generation);
        self.file.was_written(PageRun { first: pointer, count: 1 })?;
        Ok(pointer)
    }

    /// Frees pages that the tree has no more.
    pub(super) fn free(&mut self, first: PagePointer, count: u32) -> Result<()> {
        if first.generation >= self.floor {
            return self.allocator().free(first.page, count);
        }
        let (born, freed) = (first.generation, self.root.generation);
        self.freed.push(FreedPages { first: first.page, count, born, freed });
        Ok(())
    }

    pub(super) fn free_run(&mut self, run: PageRun) -> Result<()> {
        self.free(run.first, run.count)
    }

    /// Makes another run of the content of one, which is freed.
    pub(super) fn copy_run(&mut self, run: PageRun) -> Result<PageRun> {
        let file = self.file.clone();
        let bytes = file.run(run)?;
        let copy = self.put_run(&[&bytes[..bytes.len() - PageRun::TRAILER_LEN]])?;
        self.file.check_run_still(run)?;
        self.free_run(run)?;
        Ok(copy)
    }

    /// Writes `parts` one behind the other into a new run.
    pub(super) fn put_run(&mut self, parts: &[&[u8]]) -> Result<PageRun> {
        let len = parts.iter().map(|part| part.len()).sum();
        let count = PageRun::count_for(len);
        let page = self.allocator().take_run(count)?;
        self.allocated.push((page, count));
        let first = PagePointer { page, generation: self.root.generation };
        // SAFETY: as in `edit`: the pages were allocated just now.
        let bytes = unsafe { self.file.bytes_mut(page, count)? };
        let trailer = bytes.len() - PageRun::TRAILER_LEN;
        bytes[trailer..trailer + 8].copy_from_slice(&first.generation.to_le_bytes());
        let mut at = 0;
        for part in parts {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        bytes[at..trailer].fill(0);
        let run = PageRun { first, count };
        self.file.was_written(run)?;
        Ok(run)
    }
}

/// Gives back up to `max` entries of freed pages that nobody reads any more, and returns how many they were. The caller has the
/// turn to write.
pub(super) fn give_back_unread(file: &TreeFile, max: usize) -> Result<usize> {
    file.sharing.sweep();
    let states = states(file);
    for count in 0..max {
        match (FreedQueue { file }).pop_unless_in(&states)? {
            Some(freed) => PageAllocator { file }.free(freed.first, freed.count)?,
            None => return Ok(count),
        }
    }
    Ok(max)
}

/// Gives pages back at once if no tree of `states` has them, and later otherwise.
fn give_back(file: &TreeFile, freed: FreedPages, states: &[u64]) -> Result<()> {
    match freed.are_in(states) {
        true => FreedQueue { file }.push(freed),
        false => PageAllocator { file }.free(freed.first, freed.count),
    }
}

/// Returns the generations of the trees that somebody reads, or that a power cut would leave, in order.
fn states(file: &TreeFile) -> Vec<u64> {
    let mut read = Vec::new();
    file.sharing.read_states(&mut read);
    let mut states: Vec<u64> = read.into_iter().map(|(generation, _)| generation).collect();
    states.extend(file.sharing.roots().in_header().map(|root| root.generation));
    states.sort_unstable();
    states
}
