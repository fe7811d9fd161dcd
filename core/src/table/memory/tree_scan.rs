//! Walking a tree in the order of its keys, from either end.

use std::ops::Bound;
use std::sync::Arc;

use super::tree_node::{InnerNode, TreeNode};
use super::tree_page::Page;
use super::tree_root::Root;
use crate::error::Result;
use crate::table::{KeyRange, Scan};

/// The entries of a range, one after another. It holds on to the tree as it was at the beginning.
pub(super) struct TreeScan {
    /// Kept for [`super::TreeTable`] to know what is held.
    _root: Arc<Root>,
    range: KeyRange,
    /// The nodes above the leaf, with the number of the child below each.
    path: Vec<(Arc<InnerNode>, usize)>,
    /// The leaf, and which of its entries are still to come.
    leaf: Option<(Arc<Page>, std::ops::Range<usize>)>,
    /// True if the end of the range is in this leaf.
    is_last: bool,
    key: Vec<u8>,
}

impl TreeScan {
    pub(super) fn new(root: Arc<Root>, range: &KeyRange) -> TreeScan {
        let mut scan = TreeScan {
            range: range.clone(),
            path: Vec::new(),
            leaf: None,
            is_last: false,
            key: Vec::new(),
            _root: Arc::clone(&root),
        };
        if !range.is_empty() {
            scan.begin(&root.node);
        }
        scan
    }

    /// Goes down to where the range begins, from the end that comes first.
    fn begin(&mut self, root: &TreeNode) {
        let reverse = self.range.reverse;
        let bound = if reverse { &self.range.to } else { &self.range.from };
        let bound = match bound {
            Bound::Included(key) | Bound::Excluded(key) => Some(key.clone()),
            Bound::Unbounded => None,
        };
        self.descend(root.clone(), |inner| match &bound {
            Some(key) => inner.child_of(key),
            None if reverse => inner.children().len() - 1,
            None => 0,
        });
    }

    fn descend(&mut self, mut node: TreeNode, child_of: impl Fn(&InnerNode) -> usize) {
        loop {
            match node {
                TreeNode::Leaf(page) => return self.enter(page),
                TreeNode::Inner(inner) => {
                    let at = child_of(&inner);
                    node = inner.children()[at].clone();
                    self.path.push((inner, at));
                }
            }
        }
    }

    fn enter(&mut self, page: Arc<Page>) {
        let begin = match &self.range.from {
            Bound::Unbounded => 0,
            Bound::Included(key) => page.search(key).unwrap_or_else(|at| at),
            Bound::Excluded(key) => page.search(key).map_or_else(|at| at, |at| at + 1),
        };
        let end = match &self.range.to {
            Bound::Unbounded => page.count(),
            Bound::Included(key) => page.search(key).map_or_else(|at| at, |at| at + 1),
            Bound::Excluded(key) => page.search(key).unwrap_or_else(|at| at),
        };
        self.is_last = if self.range.reverse { begin > 0 } else { end < page.count() };
        self.leaf = Some((page, begin..end));
    }

    /// The number of the next entry of a leaf, going on to other leaves where this one is used up.
    fn next_in_leaf(&mut self) -> Option<usize> {
        loop {
            let (_, left) = self.leaf.as_mut()?;
            let next = if self.range.reverse { left.next_back() } else { left.next() };
            if next.is_some() {
                return next;
            }
            self.leaf = None;
            if self.is_last {
                return None;
            }
            self.next_leaf();
        }
    }

    fn next_leaf(&mut self) {
        let reverse = self.range.reverse;
        while let Some((inner, at)) = self.path.pop() {
            let next = if reverse { at.checked_sub(1) } else { Some(at + 1) };
            let Some(next) = next.filter(|next| *next < inner.children().len()) else { continue };
            let node = inner.children()[next].clone();
            self.path.push((inner, next));
            self.descend(node, |inner| if reverse { inner.children().len() - 1 } else { 0 });
            return;
        }
    }
}

impl Scan for TreeScan {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let Some(at) = self.next_in_leaf() else { return Ok(None) };
        let Some((page, _)) = &self.leaf else { return Ok(None) };
        let entry = page.entry(at);
        entry.copy_key(&mut self.key);
        Ok(Some((&self.key, entry.body.value())))
    }
}
