//! Invariants of every tree, for tests to check.

use super::tree_node::{InnerNode, TreeNode};
use super::tree_page::Page;
use crate::error::{Error, Result};

/// The number of entries and the bytes of their keys and values, where all is as it must be.
pub(super) fn check(root: &TreeNode) -> Result<(u64, u64)> {
    let mut found = Checked::default();
    let is_empty = matches!(root, TreeNode::Leaf(page) if page.count() == 0);
    if !is_empty {
        found.add(root, 0)?;
    }
    Ok((found.len, found.live_bytes))
}

/// State of a check, in the order of keys.
#[derive(Default)]
struct Checked {
    len: u64,
    live_bytes: u64,
    last_key: Option<Vec<u8>>,
    /// A separator that the next key must not be below.
    separator: Option<Vec<u8>>,
    /// Depth of the leaves.
    depth: Option<usize>,
}

impl Checked {
    fn add(&mut self, node: &TreeNode, depth: usize) -> Result<()> {
        match node {
            TreeNode::Leaf(page) => {
                if *self.depth.get_or_insert(depth) != depth {
                    return Err(broken("leaves of one depth"));
                }
                self.add_leaf(page)
            }
            TreeNode::Inner(inner) => self.add_inner(inner, depth),
        }
    }

    fn add_inner(&mut self, inner: &InnerNode, depth: usize) -> Result<()> {
        check_page(inner.separators())?;
        if inner.separators().count() + 1 != inner.children().len() {
            return Err(broken("a separator between two children"));
        }
        for (at, child) in inner.children().iter().enumerate() {
            if at > 0 {
                let mut separator = Vec::new();
                inner.separators().entry(at - 1).copy_key(&mut separator);
                if self.last_key.as_ref() >= Some(&separator) {
                    return Err(broken("a separator above the keys before it"));
                }
                self.separator = Some(separator);
            }
            self.add(child, depth + 1)?;
        }
        Ok(())
    }

    fn add_leaf(&mut self, page: &Page) -> Result<()> {
        check_page(page)?;
        if page.count() == 0 {
            return Err(broken("an entry in every leaf"));
        }
        for entry in page.entries() {
            let mut key = Vec::new();
            entry.copy_key(&mut key);
            let is_divided = self.separator.take().is_none_or(|separator| separator <= key);
            if !is_divided || self.last_key.as_ref().is_some_and(|last| *last >= key) {
                return Err(broken("keys in order"));
            }
            self.len += 1;
            self.live_bytes += (key.len() + entry.body.value().len()) as u64;
            self.last_key = Some(key);
        }
        Ok(())
    }
}

fn check_page(page: &Page) -> Result<()> {
    page.fault().map_or(Ok(()), |fault| Err(broken(format_args!("no {fault}"))))
}

pub(super) fn broken(expected: impl std::fmt::Display) -> Error {
    Error::internal(format_args!("expected {expected} in the tree"))
}
