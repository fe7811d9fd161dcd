//! Memory of the nodes of trees, each counted once however many trees have it.

use std::collections::HashSet;
use std::sync::Arc;

use super::tree_node::{InnerNode, TreeNode};
use super::tree_page::Page;

/// Memory that an allocation of a node takes beside the node: two counts, and the allocator's own.
const NODE_OVERHEAD: usize = 4 * size_of::<usize>();

/// Sums in bytes.
#[derive(Default)]
pub(super) struct Sizes {
    /// All memory.
    pub(super) memory: usize,
    /// Of it, what finds an entry.
    pub(super) index: usize,
    /// Of it, what belonged to entries that are gone or changed.
    pub(super) dead: usize,
    /// Addresses of what was counted.
    seen: HashSet<usize>,
}

impl Sizes {
    /// Adds what of `node` was not counted yet. All nodes below one that was counted were, too.
    pub(super) fn add(&mut self, node: &TreeNode) {
        match node {
            TreeNode::Leaf(page) => {
                if self.seen.insert(Arc::as_ptr(page).addr()) {
                    self.index += page.index_len();
                    self.add_page(page);
                }
            }
            TreeNode::Inner(inner) => {
                if self.seen.insert(Arc::as_ptr(inner).addr()) {
                    self.add_inner(inner);
                    inner.children().iter().for_each(|child| self.add(child));
                }
            }
        }
    }

    fn add_inner(&mut self, inner: &InnerNode) {
        let before = self.memory;
        self.add_page(inner.separators());
        self.memory += size_of::<InnerNode>() - size_of::<Page>();
        self.memory += size_of_val(inner.children());
        self.index += self.memory - before;
    }

    fn add_page(&mut self, page: &Page) {
        self.memory += page.memory_len() + NODE_OVERHEAD;
        self.dead += page.dead_len();
        for entry in page.outside() {
            if self.seen.insert(Arc::as_ptr(entry).addr()) {
                self.memory += entry.memory_len();
            }
        }
    }
}
