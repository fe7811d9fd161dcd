//! State that a transaction goes back to when it is aborted.
//!
//! One of few changes remembers what they replaced, because to hold on to a whole tree means that
//! every page has to be copied before it is changed. One of many holds on to the tree, because that
//! copies each page once, however often it is changed.

use super::tree_entry::{EntryBody, LongEntry};
use super::tree_node::LEAF_LEN;
use super::tree_root::Root;

/// Changes to remember one by one. To make a tree of them copies so many pages at once.
const CHANGES_MAX: usize = 8;

/// The state of a tree when this was made.
#[derive(Default)]
pub(super) struct Savepoint {
    /// That tree; where it is missing, the tree of today without the changes.
    tree: Option<Root>,
    changes: Vec<TreeChange>,
}

struct TreeChange {
    key: Vec<u8>,
    /// The value before, if there was an entry.
    value: Option<Vec<u8>>,
}

impl Savepoint {
    /// Must hear of every key before its entry changes in `root`.
    pub(super) fn before_change(&mut self, root: &Root, key: &[u8]) {
        if self.tree.is_some() {
            return;
        }
        let value = root.get(key);
        let len = key.len() + value.map_or(0, <[u8]>::len);
        if self.changes.len() == CHANGES_MAX || LongEntry::is_needed(LEAF_LEN, len) {
            return self.hold(root);
        }
        self.changes.push(TreeChange { key: key.to_vec(), value: value.map(<[u8]>::to_vec) });
    }

    /// Must hear before `root` is changed in another way.
    pub(super) fn hold(&mut self, root: &Root) {
        self.tree = Some(self.restored(root));
        self.changes = Vec::new();
    }

    /// The tree to go back to, where `root` is the one of today.
    pub(super) fn restored(&self, root: &Root) -> Root {
        let mut tree = self.tree.as_ref().unwrap_or(root).clone();
        for TreeChange { key, value } in self.changes.iter().rev() {
            match value {
                Some(value) => tree.put(key, EntryBody::Value(value)),
                None => _ = tree.delete(key),
            }
        }
        tree
    }

    /// Takes in what `inner`, which was made later, knows of `root`.
    pub(super) fn absorb(&mut self, mut inner: Savepoint, root: &Root) {
        if self.tree.is_some() {
            return;
        }
        if inner.tree.is_none() && self.changes.len() + inner.changes.len() <= CHANGES_MAX {
            self.changes.append(&mut inner.changes);
        } else {
            self.hold(&inner.restored(root));
        }
    }

    /// The tree that it holds on to.
    pub(super) fn tree(&self) -> Option<&Root> {
        self.tree.as_ref()
    }
}
