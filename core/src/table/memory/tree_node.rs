//! The nodes of the tree: pages of entries, and above them pages of the keys that divide them.
//!
//! A node that someone else holds, too, is copied before it is changed, so a root that is kept keeps
//! the tree as it was. All recursion is as deep as the tree, and the tree grows at its root only.

use std::sync::Arc;

use super::tree_entry::{Entry, EntryBody, LongEntry};
use super::tree_page::Page;

/// A leaf's length. A change after a snapshot copies so much at most, and a leaf wastes two pages of
/// the system at most: this is long for the one and short for the other.
pub(super) const LEAF_LEN: usize = super::buffer::MAPPED_LEN;

/// The length of a page that divides others. A copy has to count up every child.
const INNER_LEN: usize = 4 << 10;

/// A subtree.
#[derive(Clone)]
pub(super) enum TreeNode {
    Leaf(Arc<Page>),
    Inner(Arc<InnerNode>),
}

/// A node with nodes below it.
#[derive(Clone)]
pub(super) struct InnerNode {
    /// Keys without values; the one of number `i` is above all of child `i` and not above any of
    /// child `i + 1`.
    separators: Page,
    /// One more than there are separators.
    children: Vec<TreeNode>,
}

/// Result of a put.
#[derive(Default)]
pub(super) struct Put {
    /// The length of the value before, if there was one.
    pub(super) replaced: Option<usize>,
    /// Part that does not fit the node any more: the key that divides it from the node, and the subtree.
    split: Option<(Vec<u8>, TreeNode)>,
    /// True if the node became smaller, and may fit with a neighbour.
    has_shrunk: bool,
}

impl TreeNode {
    pub(super) fn new() -> TreeNode {
        TreeNode::Leaf(Arc::new(Page::new(LEAF_LEN)))
    }

    /// The leaf that has the entry of `key` if there is one.
    #[inline]
    pub(super) fn leaf_of(&self, key: &[u8]) -> &Page {
        let mut node = self;
        loop {
            match node {
                TreeNode::Leaf(page) => return page,
                TreeNode::Inner(inner) => node = &inner.children[inner.child_of(key)],
            }
        }
    }

    /// Sets the value of `key` in the tree that this is the root of.
    pub(super) fn put_at_root(&mut self, key: &[u8], body: EntryBody<'_>) -> Option<usize> {
        let put = self.put(key, body);
        if let Some((separator, second)) = put.split {
            let first = std::mem::replace(self, TreeNode::new());
            *self = TreeNode::Inner(Arc::new(InnerNode::new(first, &separator, second)));
        } else if put.has_shrunk {
            self.shorten();
        }
        put.replaced
    }

    fn put(&mut self, key: &[u8], body: EntryBody<'_>) -> Put {
        match self {
            TreeNode::Leaf(page) => put_in_leaf(Arc::make_mut(page), key, body),
            TreeNode::Inner(inner) => {
                let inner = Arc::make_mut(inner);
                let at = inner.child_of(key);
                let mut put = inner.children[at].put(key, body);
                if let Some((separator, child)) = put.split.take() {
                    put.split = inner.add_child(at, &separator, child);
                } else if put.has_shrunk {
                    inner.tidy(at);
                }
                put
            }
        }
    }

    /// Takes the entry of `key`, which must be there, out of the tree that this is the root of.
    pub(super) fn remove_at_root(&mut self, key: &[u8]) {
        self.remove(key);
        self.shorten();
    }

    /// Makes a root that has one child that child.
    fn shorten(&mut self) {
        loop {
            let TreeNode::Inner(inner) = self else { return };
            *self = match inner.children.as_slice() {
                [] => TreeNode::new(),
                [only] => only.clone(),
                _ => return,
            };
        }
    }

    fn remove(&mut self, key: &[u8]) {
        match self {
            TreeNode::Leaf(page) => {
                if let Ok(at) = page.search(key) {
                    let page = Arc::make_mut(page);
                    page.take_out(at);
                    page.give_back();
                }
            }
            TreeNode::Inner(inner) => {
                let inner = Arc::make_mut(inner);
                let at = inner.child_of(key);
                inner.children[at].remove(key);
                inner.tidy(at);
            }
        }
    }

    /// Shows `found` all leaves in their order, and drops each after it was shown.
    pub(super) fn into_leaves(self, found: &mut dyn FnMut(&Page)) {
        match self {
            TreeNode::Leaf(page) => found(&page),
            TreeNode::Inner(inner) => {
                for child in Arc::unwrap_or_clone(inner).children {
                    child.into_leaves(found);
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            TreeNode::Leaf(page) => page.count() == 0,
            TreeNode::Inner(inner) => inner.children.is_empty(),
        }
    }

    /// Returns true if it is so small that it should be one with a neighbour.
    fn is_small(&self) -> bool {
        match self {
            TreeNode::Leaf(page) => page.live_len() < LEAF_LEN / 4,
            TreeNode::Inner(inner) => inner.separators.live_len() < INNER_LEN / 4,
        }
    }

    /// Both as one where that leaves some room.
    fn merged(first: &TreeNode, separator: &[u8], second: &TreeNode) -> Option<TreeNode> {
        match (first, second) {
            (TreeNode::Leaf(first), TreeNode::Leaf(second)) => {
                if first.live_len() + second.live_len() > LEAF_LEN / 4 * 3 {
                    return None;
                }
                let entries = first.entries().chain(second.entries());
                let page = Page::build_within(LEAF_LEN / 4 * 3, LEAF_LEN, entries)?;
                Some(TreeNode::Leaf(Arc::new(page)))
            }
            (TreeNode::Inner(first), TreeNode::Inner(second)) => {
                Some(TreeNode::Inner(Arc::new(InnerNode::merged(first, separator, second)?)))
            }
            _ => None,
        }
    }
}

fn put_in_leaf(page: &mut Page, key: &[u8], body: EntryBody<'_>) -> Put {
    let mut put = Put::default();
    let at = match page.search(key) {
        Ok(at) => {
            put.replaced = Some(page.value(at).len());
            if page.overwrite(at, key, body) {
                put.has_shrunk = page.give_back();
                return put;
            }
            page.take_out(at);
            page.give_back();
            at
        }
        Err(at) => at,
    };
    if !page.insert(at, key, body) {
        let (separator, second) = page.split(at, key, body);
        put.split = Some((separator, TreeNode::Leaf(Arc::new(second))));
    }
    put
}

impl InnerNode {
    fn new(first: TreeNode, separator: &[u8], second: TreeNode) -> InnerNode {
        let mut inner = InnerNode { separators: Page::new(INNER_LEN), children: vec![first] };
        // One separator always fits.
        inner.add_child(0, separator, second);
        inner
    }

    pub(super) fn separators(&self) -> &Page {
        &self.separators
    }

    pub(super) fn children(&self) -> &[TreeNode] {
        &self.children
    }

    /// The number of the child that `key` belongs to.
    #[inline]
    pub(super) fn child_of(&self, key: &[u8]) -> usize {
        match self.separators.search(key) {
            Ok(at) => at + 1,
            Err(at) => at,
        }
    }

    /// Puts `child` behind the one of number `at`, and gives what does not fit any more.
    fn add_child(
        &mut self,
        at: usize,
        separator: &[u8],
        child: TreeNode,
    ) -> Option<(Vec<u8>, TreeNode)> {
        self.children.insert(at + 1, child);
        let long = LongEntry::for_page(INNER_LEN, separator, &[]);
        let body = long.as_ref().map_or(EntryBody::Value(&[]), EntryBody::Long);
        if self.separators.insert(at, separator, body) {
            return None;
        }
        let (divider, middle, separators) = self.separators.split_around(at, separator, body);
        let children = self.children.split_off(middle + 1);
        self.children.shrink_to_fit();
        Some((divider, TreeNode::Inner(Arc::new(InnerNode { separators, children }))))
    }

    /// Sees to the child of number `at`, from which something was taken.
    fn tidy(&mut self, at: usize) {
        if self.children[at].is_empty() {
            self.children.remove(at);
            if !self.children.is_empty() {
                self.separators.take_out(at.saturating_sub(1));
                self.separators.give_back();
            }
        } else if self.children[at].is_small() {
            // One neighbour will do: what is small for long meets the other at a later time.
            if !self.merge(at) && at > 0 {
                self.merge(at - 1);
            }
        }
    }

    /// Makes the children of numbers `at` and `at + 1` one, where they are there and fit.
    fn merge(&mut self, at: usize) -> bool {
        let Some([first, second]) = self.children.get(at..at + 2) else { return false };
        let mut separator = Vec::new();
        self.separators.entry(at).copy_key(&mut separator);
        let Some(merged) = TreeNode::merged(first, &separator, second) else { return false };
        self.children[at] = merged;
        self.children.remove(at + 1);
        self.separators.take_out(at);
        self.separators.give_back();
        true
    }

    fn merged(first: &InnerNode, separator: &[u8], second: &InnerNode) -> Option<InnerNode> {
        let len = first.separators.live_len() + second.separators.live_len();
        if len > INNER_LEN / 4 * 3 {
            return None;
        }
        let long = LongEntry::for_page(INNER_LEN, separator, &[]);
        let body = long.as_ref().map_or(EntryBody::Value(&[]), EntryBody::Long);
        let between = std::iter::once(Entry::new(separator, body));
        let separators = first.separators.entries().chain(between);
        let separators = separators.chain(second.separators.entries());
        let separators = Page::build_within(INNER_LEN / 4 * 3, INNER_LEN, separators)?;
        let children = [first.children(), second.children()].concat();
        Some(InnerNode { separators, children })
    }
}
