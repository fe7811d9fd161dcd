//! Keys found in pages.

use std::cmp::Ordering;
use std::ops::Bound;

use super::node::{BranchCell, CellContent, CellKey, KEY_INLINE_MAX, LeafCell, Node, NodeKind};
use super::pointer::{PagePointer, PageRun};
use super::tree_file::TreeFile;
use crate::error::Result;

/// The longest way from a root to a leaf. A tree of so many levels has more pages than a file can have.
pub(super) const DEPTH_MAX: usize = 40;

impl TreeFile {
    /// The entry of a slot of the leaf that `page` is.
    #[inline]
    pub(super) fn leaf_cell<'p>(
        &self,
        pointer: PagePointer,
        node: Node<'p>,
        slot: usize,
    ) -> Result<LeafCell<'p>> {
        node.leaf_cell(slot).ok_or_else(|| self.senseless(pointer.page))
    }

    /// The child of a slot of the branch that `page` is.
    #[inline]
    pub(super) fn branch_cell<'p>(
        &self,
        pointer: PagePointer,
        node: Node<'p>,
        slot: usize,
    ) -> Result<BranchCell<'p>> {
        node.branch_cell(slot).ok_or_else(|| self.senseless(pointer.page))
    }

    #[inline]
    pub(super) fn kind(&self, pointer: PagePointer, node: Node<'_>) -> Result<NodeKind> {
        node.kind().ok_or_else(|| self.senseless(pointer.page))
    }

    /// Finds the first slot, from `from` on, whose key is not below `key`, and whether it is `key`.
    #[inline]
    pub(super) fn search(
        &self,
        pointer: PagePointer,
        node: Node<'_>,
        from: usize,
        key: &[u8],
    ) -> Result<(usize, bool)> {
        let candidates = node.candidates(from, key);
        let (mut below, mut above) = candidates.ok_or_else(|| self.senseless(pointer.page))?;
        while below < above {
            let middle = (below + above) / 2;
            match self.compare(pointer, node, middle, key)? {
                Ordering::Less => below = middle + 1,
                Ordering::Equal => return Ok((middle, true)),
                Ordering::Greater => above = middle,
            }
        }
        Ok((below, false))
    }

    fn compare(
        &self,
        pointer: PagePointer,
        node: Node<'_>,
        slot: usize,
        key: &[u8],
    ) -> Result<Ordering> {
        let found = node.key(slot).ok_or_else(|| self.senseless(pointer.page))?;
        if let Some(told) = found.cmp_inline(key) {
            return Ok(told);
        }
        let run = node.run(slot).flatten().ok_or_else(|| self.senseless(pointer.page))?;
        let told = self.rest_of_key(found, run)?.cmp(&key[found.inline.len()..]);
        self.check_run_still(run)?;
        Ok(told)
    }

    /// The part of a key that stands in its run.
    fn rest_of_key(&self, key: CellKey<'_>, run: PageRun) -> Result<&[u8]> {
        let rest = self.run(run)?.get(..key.len - key.inline.len());
        rest.ok_or_else(|| self.senseless(run.first.page))
    }

    /// Returns the slot of the child of a branch that has `key`, if anyone has.
    #[inline]
    pub(super) fn child_slot(
        &self,
        pointer: PagePointer,
        node: Node<'_>,
        key: &[u8],
    ) -> Result<usize> {
        let (slot, is_found) = self.search(pointer, node, 1, key)?;
        Ok(if is_found { slot } else { slot - 1 })
    }

    /// Appends a whole key to `into`.
    pub(super) fn put_key(
        &self,
        key: CellKey<'_>,
        run: Option<PageRun>,
        into: &mut Vec<u8>,
    ) -> Result<()> {
        into.extend_from_slice(key.inline);
        if let Some(run) = run.filter(|_| key.inline.len() < key.len) {
            into.extend_from_slice(self.rest_of_key(key, run)?);
            self.check_run_still(run)?;
        }
        Ok(())
    }

    /// The value of an entry.
    #[inline]
    pub(super) fn value<'p>(&'p self, cell: &LeafCell<'p>) -> Result<&'p [u8]> {
        match cell.content {
            CellContent::Inline(value) => Ok(value),
            CellContent::Run(run) => {
                let from = cell.key.len - cell.key.inline.len();
                let value = self.run(run)?.get(from..from + cell.value_len);
                value.ok_or_else(|| self.senseless(run.first.page))
            }
        }
    }

    /// The leaf that has `key`, if any has, below `pointer`.
    #[inline]
    pub(super) fn find_leaf(&self, mut pointer: PagePointer, key: &[u8]) -> Result<PagePointer> {
        for _ in 0..DEPTH_MAX {
            let node = self.node(pointer)?;
            match self.kind(pointer, node)? {
                NodeKind::Leaf => return Ok(pointer),
                NodeKind::Branch => {
                    let slot = self.child_slot(pointer, node, key)?;
                    let child = self.branch_cell(pointer, node, slot)?.child;
                    self.check_node_still(pointer, node)?;
                    pointer = child;
                }
            }
        }
        Err(self.senseless(pointer.page))
    }

    /// Calls `found` with the value of `key` in the tree below `root`, and returns whether there is one. An error may come
    /// after the call: the value counts only without.
    #[inline]
    pub(super) fn get(
        &self,
        root: PagePointer,
        key: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool> {
        let leaf = self.find_leaf(root, key)?;
        let node = self.node(leaf)?;
        let (slot, is_found) = self.search(leaf, node, 0, key)?;
        if is_found {
            let cell = self.leaf_cell(leaf, node, slot)?;
            found(self.value(&cell)?);
            cell.run().map_or(Ok(()), |run| self.check_run_still(run))?;
        }
        self.check_node_still(leaf, node)?;
        Ok(is_found)
    }

    /// Calls `found` for each key with its index and its value in the tree below `root`.
    pub(super) fn get_many(
        &self,
        root: PagePointer,
        keys: &[&[u8]],
        found: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        for (place, key) in keys.iter().enumerate() {
            if !self.get(root, key, &mut |value| found(place, Some(value)))? {
                found(place, None);
            }
        }
        Ok(())
    }

    /// Returns the first slot of a leaf that `from` allows, or, of those that `to` allows, the one behind the last.
    pub(super) fn slot_at(
        &self,
        leaf: PagePointer,
        bound: Bound<&[u8]>,
        is_end: bool,
    ) -> Result<usize> {
        let node = self.node(leaf)?;
        let slot = match bound {
            Bound::Unbounded if is_end => node.count(),
            Bound::Unbounded => 0,
            Bound::Included(key) | Bound::Excluded(key) => {
                let (slot, is_found) = self.search(leaf, node, 0, key)?;
                let is_behind = is_found && matches!(bound, Bound::Included(_)) == is_end;
                slot + usize::from(is_behind)
            }
        };
        self.check_still(leaf)?;
        Ok(slot)
    }
}

/// Returns the part of `key` that stands in a page.
pub(super) fn inline_part(key: &[u8]) -> &[u8] {
    &key[..key.len().min(KEY_INLINE_MAX)]
}
