//! Entries put into a tree and taken out of it.

use super::node::{
    BranchCell, CELL_LEN_MAX, FIELDS_START, KEY_INLINE_MAX, LeafCell, Node, NodeKind, SLOT_LEN,
};
use super::node_edit::{branch_cell, put_leaf_cell, shared_len};
use super::pointer::{PagePointer, PageRun};
use super::search::{DEPTH_MAX, inline_part};
use super::transaction::TreeTransaction;
use crate::error::Result;
use crate::wire::varint_len;

/// A page with less than this in use is put together with a neighbour, if both fit in one page then.
const USED_LEN_MIN: usize = FIELDS_START / 4;

/// The most that two pages that are put together may have in use: room for entries to come is left.
const JOINED_LEN_MAX: usize = FIELDS_START * 3 / 4;

/// Branches above a leaf, the root first, each with the slot that leads on. All pages are of the transaction.
type Path = Vec<(PagePointer, usize)>;

impl TreeTransaction {
    /// Sets the value of `key`. An error leaves the tree as it was.
    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let cell = self.new_cell(key, value)?;
        let (mut path, leaf) = self.writable_path(key)?;
        // A split of each level, and a new root.
        self.ensure_spare(path.len() + 2)?;
        let node = self.file.node(leaf)?;
        let (slot, is_found) = self.file.search(leaf, node, 0, key)?;
        if is_found {
            let old = self.file.leaf_cell(leaf, node, slot)?.run();
            self.edit(leaf)?.remove(slot);
            if let Some(run) = old {
                self.free_run(run)?;
            }
        } else {
            self.root.len += 1;
        }
        self.insert(&mut path, leaf, slot, &cell)
    }

    /// Makes the cell of an entry, and the run that it may need.
    fn new_cell(&mut self, key: &[u8], value: &[u8]) -> Result<Vec<u8>> {
        let lens = varint_len(key.len() as u64) + varint_len((value.len() as u64) << 1);
        let is_short = key.len() <= KEY_INLINE_MAX
            && lens.saturating_add(key.len()).saturating_add(value.len()) <= CELL_LEN_MAX;
        let run = match is_short {
            true => None,
            false => Some(self.put_run(&[&key[inline_part(key).len()..], value])?),
        };
        let mut cell = Vec::with_capacity(lens + key.len().min(KEY_INLINE_MAX) + CELL_LEN_MAX);
        put_leaf_cell(&mut cell, key, value, run);
        Ok(cell)
    }

    /// Makes all pages from the root to the leaf of `key` pages of this transaction.
    fn writable_path(&mut self, key: &[u8]) -> Result<(Path, PagePointer)> {
        let mut path = Path::new();
        let mut pointer = self.make_writable(self.root.page)?;
        self.root.page = pointer;
        for _ in 0..DEPTH_MAX {
            let node = self.file.node(pointer)?;
            if self.file.kind(pointer, node)? == NodeKind::Leaf {
                return Ok((path, pointer));
            }
            let slot = self.file.child_slot(pointer, node, key)?;
            let child = self.file.branch_cell(pointer, node, slot)?.child;
            let copy = self.make_writable(child)?;
            if copy != child {
                self.edit(pointer)?.set_child(slot, copy);
            }
            path.push((pointer, slot));
            pointer = copy;
        }
        Err(self.file.senseless(pointer.page))
    }

    /// Puts `cell` before a slot of a page, and splits what has no room.
    fn insert(
        &mut self,
        path: &mut Path,
        page: PagePointer,
        slot: usize,
        cell: &[u8],
    ) -> Result<()> {
        let (mut page, mut slot, mut cell) = (page, slot, cell.to_vec());
        while !self.edit(page)?.insert(slot, &cell) {
            let is_last = path.iter().all(|(branch, slot)| {
                self.file.node(*branch).is_ok_and(|node| *slot + 1 == node.count())
            });
            let (right, separator) = self.split(page, slot, &cell, is_last)?;
            let (parent, parent_slot) = match path.pop() {
                Some(above) => above,
                None => (self.new_root(page)?, 0),
            };
            cell = separator.with_child(right);
            (page, slot) = (parent, parent_slot + 1);
        }
        Ok(())
    }

    /// Makes a root above `page`, its only child.
    fn new_root(&mut self, page: PagePointer) -> Result<PagePointer> {
        let root = self.new_node(NodeKind::Branch)?;
        self.edit(root)?.insert(0, &branch_cell(page, &[], 0, None));
        self.root.page = root;
        Ok(root)
    }

    /// Moves the upper cells of a page, with `cell` before `slot`, to a new page, and returns it with the key that
    /// tells them apart.
    fn split(
        &mut self,
        page: PagePointer,
        slot: usize,
        cell: &[u8],
        is_last: bool,
    ) -> Result<(PagePointer, KeySeparator)> {
        let bytes = *self.file.node(page)?.bytes;
        self.file.check_still(page)?;
        let node = Node::new(&bytes);
        let kind = self.file.kind(page, node)?;
        let mut cells = Vec::with_capacity(node.count() + 1);
        for slot in 0..node.count() {
            cells.push(node.cell(slot).ok_or_else(|| self.file.senseless(page.page))?);
        }
        cells.insert(slot, cell);
        let middle = match is_last && slot + 1 == cells.len() {
            // Keys that come in their order fill their pages.
            true => slot,
            false => middle_of(&cells),
        };
        let separator = match kind {
            NodeKind::Leaf => self.leaf_separator(page, cells[middle - 1], cells[middle])?,
            NodeKind::Branch => KeySeparator::of_branch(cells[middle])
                .ok_or_else(|| self.file.senseless(page.page))?,
        };
        let right = self.new_node(kind)?;
        let first = match kind {
            NodeKind::Leaf => cells[middle].to_vec(),
            // Its key stands in the branch above from now on.
            NodeKind::Branch => branch_cell(separator.child, &[], 0, None),
        };
        let mut upper = cells.split_off(middle);
        upper[0] = &first;
        self.edit(right)?.build(kind, right.generation, &upper);
        self.edit(page)?.build(kind, page.generation, &cells);
        Ok((right, separator))
    }

    /// Makes the shortest key that is above the entry `below` and not above the entry `above`.
    fn leaf_separator(
        &mut self,
        page: PagePointer,
        below: &[u8],
        above: &[u8],
    ) -> Result<KeySeparator> {
        let mut keys = [Vec::new(), Vec::new()];
        for (cell, key) in [below, above].into_iter().zip(&mut keys) {
            let cell = LeafCell::parse(cell);
            let cell = cell.ok_or_else(|| self.file.senseless(page.page))?;
            self.file.put_key(cell.key, cell.run(), key)?;
        }
        let [below, above] = keys;
        let key = &above[..(shared_len(&below, &above) + 1).min(above.len())];
        let inline = inline_part(key);
        let run = match inline.len() < key.len() {
            true => Some(self.put_run(&[&key[inline.len()..]])?),
            false => None,
        };
        let nowhere = PagePointer { page: 0, generation: 0 };
        Ok(KeySeparator { inline: inline.to_vec(), key_len: key.len(), run, child: nowhere })
    }

    /// Deletes the entry of `key`, and returns whether there was one.
    pub(super) fn delete(&mut self, key: &[u8]) -> Result<bool> {
        if !self.file.get(self.root.page, key, &mut |_| ())? {
            return Ok(false);
        }
        let (mut path, leaf) = self.writable_path(key)?;
        let node = self.file.node(leaf)?;
        let (slot, _) = self.file.search(leaf, node, 0, key)?;
        let run = self.file.leaf_cell(leaf, node, slot)?.run();
        self.edit(leaf)?.remove(slot);
        self.root.len = self.root.len.saturating_sub(1);
        if let Some(run) = run {
            self.free_run(run)?;
        }
        self.join(&mut path, leaf)?;
        Ok(true)
    }

    /// Puts a page with little in it together with a neighbour, and so on upwards.
    fn join(&mut self, path: &mut Path, page: PagePointer) -> Result<()> {
        let mut page = page;
        while let Some((parent, slot)) = path.pop() {
            let node = self.file.node(page)?;
            if node.used_len() >= USED_LEN_MIN {
                return Ok(());
            }
            let is_empty = node.count() == 0;
            let count = self.file.node(parent)?.count();
            let is_joined = (slot + 1 < count && self.join_with_right(parent, slot, page)?)
                || (slot > 0 && self.join_with_left(parent, slot, page)?);
            if !is_joined && is_empty && count > 1 {
                self.remove_child(parent, slot)?;
                self.free(page, 1)?;
            } else if !is_joined {
                return Ok(());
            }
            page = parent;
        }
        self.lower_root()
    }

    /// Takes roots off that have one child.
    fn lower_root(&mut self) -> Result<()> {
        loop {
            let root = self.root.page;
            let node = self.file.node(root)?;
            if self.file.kind(root, node)? == NodeKind::Leaf || node.count() > 1 {
                return Ok(());
            }
            self.root.page = self.file.branch_cell(root, node, 0)?.child;
            self.free(root, 1)?;
        }
    }

    /// Moves the cells of the right neighbour to the page in `slot`, if they fit.
    fn join_with_right(
        &mut self,
        parent: PagePointer,
        slot: usize,
        page: PagePointer,
    ) -> Result<bool> {
        let right = self.child(parent, slot + 1)?;
        let Some(cells) = self.joined(parent, page, right, slot + 1)? else { return Ok(false) };
        self.build_joined(page, &cells)?;
        self.remove_joined(parent, slot + 1)?;
        self.free(right, 1)?;
        Ok(true)
    }

    /// Moves the cells of the left neighbour to the page in `slot`, which takes its place, if they fit.
    fn join_with_left(
        &mut self,
        parent: PagePointer,
        slot: usize,
        page: PagePointer,
    ) -> Result<bool> {
        let left = self.child(parent, slot - 1)?;
        let Some(cells) = self.joined(parent, left, page, slot)? else { return Ok(false) };
        self.build_joined(page, &cells)?;
        self.edit(parent)?.set_child(slot - 1, page);
        self.remove_joined(parent, slot)?;
        self.free(left, 1)?;
        Ok(true)
    }

    fn child(&self, parent: PagePointer, slot: usize) -> Result<PagePointer> {
        Ok(self.file.branch_cell(parent, self.file.node(parent)?, slot)?.child)
    }

    /// Returns the cells of two neighbours, of which the right one is in slot `right_slot` of `parent`, if they fit in
    /// one page.
    fn joined(
        &self,
        parent: PagePointer,
        left: PagePointer,
        right: PagePointer,
        right_slot: usize,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let nodes = [self.file.node(left)?, self.file.node(right)?];
        let kind = self.file.kind(left, nodes[0])?;
        let separator = self.file.branch_cell(parent, self.file.node(parent)?, right_slot)?;
        let used: usize = nodes.iter().map(|node| node.used_len()).sum();
        if used + separator.len > JOINED_LEN_MAX || self.file.kind(right, nodes[1])? != kind {
            return Ok(None);
        }
        let mut cells = Vec::with_capacity(nodes[0].count() + nodes[1].count());
        for (pointer, node) in [left, right].into_iter().zip(nodes) {
            for slot in 0..node.count() {
                let cell = node.cell(slot).ok_or_else(|| self.file.senseless(pointer.page))?;
                cells.push(cell.to_vec());
            }
            self.file.check_still(pointer)?;
        }
        if kind == NodeKind::Branch {
            // The first child of the right page gets the key that told the pages apart.
            let place = nodes[0].count();
            let first = cells.get(place).and_then(|cell| BranchCell::parse(cell));
            let child = first.ok_or_else(|| self.file.senseless(right.page))?.child;
            let key = separator.key;
            cells[place] = branch_cell(child, key.inline, key.len, separator.run);
        }
        Ok(Some(cells))
    }

    fn build_joined(&mut self, page: PagePointer, cells: &[Vec<u8>]) -> Result<()> {
        let kind = self.file.kind(page, self.file.node(page)?)?;
        let cells: Vec<&[u8]> = cells.iter().map(Vec::as_slice).collect();
        self.edit(page)?.build(kind, page.generation, &cells);
        Ok(())
    }

    /// Takes the slot of a page out whose cells another page has now. The run of its key went with them if that is a
    /// branch.
    fn remove_joined(&mut self, parent: PagePointer, slot: usize) -> Result<()> {
        let cell = self.file.branch_cell(parent, self.file.node(parent)?, slot)?;
        let (child, run) = (cell.child, cell.run);
        let is_leaf = self.file.kind(child, self.file.node(child)?)? == NodeKind::Leaf;
        self.edit(parent)?.remove(slot);
        match run {
            Some(run) if is_leaf => self.free_run(run),
            _ => Ok(()),
        }
    }

    /// Takes the slot of an empty page out.
    fn remove_child(&mut self, parent: PagePointer, slot: usize) -> Result<()> {
        let node = self.file.node(parent)?;
        let keyed = self.file.branch_cell(parent, node, slot.max(1))?;
        let (child, run) = (keyed.child, keyed.run);
        if slot == 0 {
            // The second child is the first from now on.
            self.edit(parent)?.set_child(0, child);
        }
        self.edit(parent)?.remove(slot.max(1));
        run.map_or(Ok(()), |run| self.free_run(run))
    }

    /// Deletes all entries.
    pub(super) fn clear(&mut self) -> Result<()> {
        let root = self.new_node(NodeKind::Leaf)?;
        self.free_tree(self.root.page)?;
        (self.root.page, self.root.len) = (root, 0);
        Ok(())
    }

    fn free_tree(&mut self, root: PagePointer) -> Result<()> {
        let mut open = vec![root];
        while let Some(pointer) = open.pop() {
            let node = self.file.node(pointer)?;
            let is_branch = self.file.kind(pointer, node)? == NodeKind::Branch;
            let mut runs = Vec::new();
            for slot in 0..node.count() {
                let run = node.run(slot).ok_or_else(|| self.file.senseless(pointer.page))?;
                runs.extend(run);
                if is_branch {
                    open.push(self.file.branch_cell(pointer, node, slot)?.child);
                }
            }
            runs.into_iter().try_for_each(|run| self.free_run(run))?;
            self.free(pointer, 1)?;
        }
        Ok(())
    }
}

/// Key that tells two pages apart.
struct KeySeparator {
    inline: Vec<u8>,
    key_len: usize,
    run: Option<PageRun>,
    /// The child that stood there, in a branch.
    child: PagePointer,
}

impl KeySeparator {
    fn of_branch(cell: &[u8]) -> Option<KeySeparator> {
        let BranchCell { child, key, run, .. } = BranchCell::parse(cell)?;
        Some(KeySeparator { inline: key.inline.to_vec(), key_len: key.len, run, child })
    }

    fn with_child(&self, child: PagePointer) -> Vec<u8> {
        branch_cell(child, &self.inline, self.key_len, self.run)
    }
}

/// Returns where the cells of a page are to be split: in the middle of their bytes, and so that both pages have some.
fn middle_of(cells: &[&[u8]]) -> usize {
    let total: usize = cells.iter().map(|cell| cell.len() + SLOT_LEN).sum();
    let mut before = 0;
    for (place, cell) in cells.iter().enumerate() {
        before += cell.len() + SLOT_LEN;
        if before * 2 >= total {
            return place.clamp(1, cells.len() - 1);
        }
    }
    cells.len() - 1
}
