//! Keys found in pages.

use std::cmp::Ordering;
use std::ops::{Bound, Range};

use super::node::{BranchCell, CellContent, CellKey, KEY_INLINE_MAX, LeafCell, Node, NodeKind};
use super::pointer::{PagePointer, PageRun};
use super::tree_file::TreeFile;
use crate::error::Result;

// Bound (Tables): way from the root of an ordered table in a file to an entry = 40 pages.
/// A tree of so many levels has more pages than a file can have.
pub(super) const DEPTH_MAX: usize = 40;

/// Keys that are looked up side by side.
const KEYS_AHEAD: usize = 16;

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
        let candidates = self.candidates(pointer, node, from, key)?;
        self.search_among(pointer, node, candidates, key)
    }

    /// The slots, from `from` on, that are for `key` by what the page says of them without a look at their cells.
    #[inline]
    fn candidates(
        &self,
        pointer: PagePointer,
        node: Node<'_>,
        from: usize,
        key: &[u8],
    ) -> Result<Range<usize>> {
        let candidates = node.candidates(from, key);
        candidates.map(|(below, above)| below..above).ok_or_else(|| self.senseless(pointer.page))
    }

    /// As [`TreeFile::search`], among candidates.
    #[inline]
    fn search_among(
        &self,
        pointer: PagePointer,
        node: Node<'_>,
        candidates: Range<usize>,
        key: &[u8],
    ) -> Result<(usize, bool)> {
        let Range { start: mut below, end: mut above } = candidates;
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

    /// The page below the branch `pointer` that has `key`, if any has; none if `pointer` leads to a leaf.
    #[inline]
    fn child(&self, pointer: PagePointer, key: &[u8]) -> Result<Option<PagePointer>> {
        let node = self.node(pointer)?;
        if self.kind(pointer, node)? == NodeKind::Leaf {
            return Ok(None);
        }
        let slot = self.child_slot(pointer, node, key)?;
        let child = self.branch_cell(pointer, node, slot)?.child;
        self.check_node_still(pointer, node)?;
        Ok(Some(child))
    }

    /// The leaf that has `key`, if any has, below `pointer`.
    #[inline]
    pub(super) fn find_leaf(&self, mut pointer: PagePointer, key: &[u8]) -> Result<PagePointer> {
        for _ in 0..DEPTH_MAX {
            match self.child(pointer, key)? {
                Some(child) => pointer = child,
                None => return Ok(pointer),
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
        let candidates = self.candidates(leaf, node, 0, key)?;
        self.show(leaf, node, candidates, key, found)
    }

    /// Calls `found` with the value of `key` if it is among the candidates of a leaf, and returns whether it is.
    #[inline]
    fn show(
        &self,
        leaf: PagePointer,
        node: Node<'_>,
        candidates: Range<usize>,
        key: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool> {
        let (slot, is_found) = self.search_among(leaf, node, candidates, key)?;
        if is_found {
            let cell = self.leaf_cell(leaf, node, slot)?;
            found(self.value(&cell)?);
            cell.run().map_or(Ok(()), |run| self.check_run_still(run))?;
        }
        self.check_node_still(leaf, node)?;
        Ok(is_found)
    }

    /// Calls `found` for each key with its index and its value in the tree below `root`. Some keys go down the tree side by
    /// side: what one needs of memory comes while the others are looked at.
    pub(super) fn get_many(
        &self,
        root: PagePointer,
        keys: &[&[u8]],
        found: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        for (block, keys) in keys.chunks(KEYS_AHEAD).enumerate() {
            let mut leaves = [root; KEYS_AHEAD];
            self.descend(&mut leaves, keys)?;
            let mut candidates = [const { 0..0 }; KEYS_AHEAD];
            for ((candidates, leaf), key) in candidates.iter_mut().zip(leaves).zip(keys) {
                let node = self.node(leaf)?;
                *candidates = self.candidates(leaf, node, 0, key)?;
                node.prefetch_cell(candidates.start);
            }
            for (place, key) in keys.iter().enumerate() {
                let (leaf, candidates) = (leaves[place], candidates[place].clone());
                let node = self.node(leaf)?;
                let place = block * KEYS_AHEAD + place;
                if !self
                    .show(leaf, node, candidates, key, &mut |value| found(place, Some(value)))?
                {
                    found(place, None);
                }
            }
        }
        Ok(())
    }

    /// Goes from the root to the leaf of each key, all of them a level at a time.
    fn descend(&self, leaves: &mut [PagePointer; KEYS_AHEAD], keys: &[&[u8]]) -> Result<()> {
        for _ in 0..DEPTH_MAX {
            let mut has_branch = false;
            for (leaf, key) in leaves.iter_mut().zip(keys) {
                if let Some(child) = self.child(*leaf, key)? {
                    self.prefetch(child)?;
                    (*leaf, has_branch) = (child, true);
                }
            }
            if !has_branch {
                return Ok(());
            }
        }
        Err(self.senseless(leaves[0].page))
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
