//! TreeRoots of a tree: the newest commit, which is in memory that all processes share, and the one that a power cut leaves.
//!
//! The words that the processes share have the newest root in one of two places; a counter says in which. A root is
//! written to the other place, and then counts.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use super::pointer::{PagePointer, TreeRoot};
use crate::table::file::sharing::Sharing;

/// Counter of the roots that were published; its lowest bit says where the newest one is.
const COUNTER: usize = 0;
/// The two places of a root.
const PLACES: [usize; 2] = [8, 16];
/// The roots that the two places of the file's header have, or will have. A generation of 0 stands for one that nobody needs.
const IN_HEADER: [usize; 2] = [24, 40];
/// Place of the durable root in the header.
const DURABLE_PLACE: usize = 44;
/// Generation of the durable root.
const DURABLE_GENERATION: usize = 28;
/// Lowest generation that no page has yet.
const NEXT_GENERATION: usize = 29;
/// Seed of the table.
const SEED: usize = 30;
/// First word of the state of the allocator.
pub(super) const ALLOCATOR: usize = 48;

/// Words that the processes share, as the tree uses them.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreeRoots<'w> {
    pub(super) words: &'w [AtomicU64],
}

impl Sharing {
    #[inline]
    pub(super) fn roots(&self) -> TreeRoots<'_> {
        TreeRoots { words: self.words() }
    }
}

/// Returns true if a power cut would leave all commits.
pub(super) fn is_settled(words: &[AtomicU64]) -> bool {
    let roots = TreeRoots { words };
    roots.newest().0.generation == roots.durable_generation()
}

impl TreeRoots<'_> {
    /// Begins with the root that the file has.
    pub(super) fn begin(&self, root: TreeRoot, place: usize, seed: u64) {
        for word in self.words {
            word.store(0, Relaxed);
        }
        self.words[SEED].store(seed, Relaxed);
        self.write(IN_HEADER[place & 1], root);
        self.set_durable(root, place);
        // Commits that a power cut took away may have left pages of the generations that come next.
        self.words[NEXT_GENERATION].store(((root.generation >> 32) + 1) << 32, Relaxed);
        self.publish(root);
    }

    pub(super) fn seed(&self) -> u64 {
        self.words[SEED].load(Relaxed)
    }

    /// Returns the counter of commits: as long as it is the same, so is the root.
    #[inline]
    pub(super) fn counter(&self) -> u64 {
        self.words[COUNTER].load(SeqCst)
    }

    /// Returns the newest root, and the counter that belongs to it.
    #[inline]
    pub(super) fn newest(&self) -> (TreeRoot, u64) {
        loop {
            let counter = self.counter();
            let root = self.read(PLACES[(counter & 1) as usize]);
            if self.counter() == counter {
                return (root, counter);
            }
        }
    }

    /// Makes `root` the newest.
    pub(super) fn publish(&self, root: TreeRoot) {
        let counter = self.counter() + 1;
        self.write(PLACES[(counter & 1) as usize], root);
        self.words[COUNTER].store(counter, SeqCst);
    }

    /// Returns the generation of the root that survives a power cut. No page of an earlier one is without its check.
    #[inline]
    pub(super) fn durable_generation(&self) -> u64 {
        self.words[DURABLE_GENERATION].load(SeqCst)
    }

    /// Sets the generation from which on pages have no check yet.
    pub(super) fn set_durable_generation(&self, generation: u64) {
        self.words[DURABLE_GENERATION].store(generation, SeqCst);
    }

    /// Returns the place of the durable root in the header. Only for who has the turn to sync.
    pub(super) fn durable_place(&self) -> usize {
        (self.words[DURABLE_PLACE].load(SeqCst) & 1) as usize
    }

    /// Returns the roots whose trees a power cut can leave.
    pub(super) fn in_header(&self) -> impl Iterator<Item = TreeRoot> {
        IN_HEADER.into_iter().map(|at| self.read(at)).filter(|root| root.generation > 0)
    }

    /// Keeps the tree of `root` before the header gets the root at `place`.
    pub(super) fn will_be_durable(&self, root: TreeRoot, place: usize) {
        self.write(IN_HEADER[place & 1], root);
    }

    /// Says that the header has `root` at `place`, and lets go of the one before.
    pub(super) fn set_durable(&self, root: TreeRoot, place: usize) {
        self.words[DURABLE_PLACE].store(place as u64, SeqCst);
        self.words[DURABLE_GENERATION].store(root.generation, SeqCst);
        self.words[IN_HEADER[1 - (place & 1)]].store(0, SeqCst);
    }

    /// Takes a generation that no page has.
    pub(super) fn take_generation(&self) -> u64 {
        self.words[NEXT_GENERATION].fetch_add(1, SeqCst)
    }

    fn read(&self, at: usize) -> TreeRoot {
        let word = |place: usize| self.words[at + place].load(SeqCst);
        let page = PagePointer { page: word(1) as u32, generation: word(2) };
        TreeRoot { generation: word(0), page, len: word(3) }
    }

    /// Writes a root, its generation last: without it, there is none.
    fn write(&self, at: usize, root: TreeRoot) {
        self.words[at].store(0, SeqCst);
        let words = [u64::from(root.page.page), root.page.generation, root.len];
        for (place, word) in words.into_iter().enumerate() {
            self.words[at + 1 + place].store(word, SeqCst);
        }
        self.words[at].store(root.generation, SeqCst);
    }
}
