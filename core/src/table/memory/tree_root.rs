//! The tree of an ordered table, with what is known of all of it.

use super::tree_entry::EntryBody;
use super::tree_node::TreeNode;

/// A tree and what is known of all of it.
#[derive(Clone)]
pub(super) struct Root {
    pub(super) node: TreeNode,
    pub(super) len: u64,
    /// Bytes of keys and values.
    pub(super) live_bytes: u64,
}

impl Root {
    pub(super) fn new() -> Root {
        Root { node: TreeNode::new(), len: 0, live_bytes: 0 }
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let leaf = self.node.leaf_of(key);
        Some(leaf.value(leaf.search(key).ok()?))
    }

    pub(super) fn put(&mut self, key: &[u8], body: EntryBody<'_>) {
        match self.node.put_at_root(key, body) {
            Some(replaced) => self.live_bytes -= replaced as u64,
            None => {
                self.len += 1;
                self.live_bytes += key.len() as u64;
            }
        }
        self.live_bytes += body.value().len() as u64;
    }

    pub(super) fn delete(&mut self, key: &[u8]) -> bool {
        // Looking first copies nothing where there is nothing to delete.
        let Some(value_len) = self.get(key).map(<[u8]>::len) else { return false };
        self.node.remove_at_root(key);
        self.len -= 1;
        self.live_bytes -= (key.len() + value_len) as u64;
        true
    }
}
