//! Page of a tree, as it is changed by the one writer that can see it.

use super::node::{
    BranchCell, CHECK_AT, FIELDS_START, GENERATION_AT, KEY_INLINE_MAX, LeafCell, Node, NodeKind,
    PREFIX_AT, PREFIX_LEN, SLOT_LEN, head_of,
};
use super::pointer::{PagePointer, PageRun};
use crate::files::PAGE_LEN;
use crate::wire::put_varint;

/// Page that its writer changes.
#[derive(Debug)]
pub(super) struct NodeEditor<'p> {
    bytes: &'p mut [u8; PAGE_LEN],
}

impl<'p> NodeEditor<'p> {
    pub(super) fn new(bytes: &'p mut [u8; PAGE_LEN]) -> NodeEditor<'p> {
        NodeEditor { bytes }
    }

    /// Makes it a page without cells.
    pub(super) fn clear(&mut self, kind: NodeKind, generation: u64) {
        // The generation first: whoever reads the page without having pinned it learns that it is another one.
        self.set_generation(generation);
        self.bytes[FIELDS_START..GENERATION_AT].fill(0);
        self.bytes[FIELDS_START] = kind as u8;
    }

    pub(super) fn set_generation(&mut self, generation: u64) {
        self.bytes[GENERATION_AT..CHECK_AT].copy_from_slice(&generation.to_le_bytes());
    }

    /// Makes it a copy of `node` in another generation.
    pub(super) fn copy_from(&mut self, node: Node<'_>, generation: u64) {
        self.set_generation(generation);
        self.bytes[..GENERATION_AT].copy_from_slice(&node.bytes[..GENERATION_AT]);
    }

    pub(super) fn node(&self) -> Node<'_> {
        Node::new(self.bytes)
    }

    fn set_u16(&mut self, at: usize, number: usize) {
        self.bytes[at..at + 2].copy_from_slice(&(number as u16).to_le_bytes());
    }

    fn set_count(&mut self, count: usize) {
        self.set_u16(FIELDS_START + 2, count);
    }

    fn set_cells_end(&mut self, end: usize) {
        self.set_u16(FIELDS_START + 4, end);
    }

    fn set_unused_len(&mut self, len: usize) {
        self.set_u16(FIELDS_START + 6, len);
    }

    /// Sets the number of bytes that all keys begin with, as `key` does.
    fn set_common(&mut self, len: usize, key: &[u8]) {
        self.set_u16(FIELDS_START + 8, len);
        let there = len.min(PREFIX_LEN);
        let place = &mut self.bytes[PREFIX_AT..PREFIX_AT + PREFIX_LEN];
        place[..there].copy_from_slice(&key[..there]);
        place[there..].fill(0);
    }

    fn set_slot(&mut self, slot: usize, head: u32, cell_at: usize) {
        let at = FIELDS_START - (slot + 1) * SLOT_LEN;
        self.bytes[at..at + 4].copy_from_slice(&head.to_be_bytes());
        self.set_u16(at + 4, cell_at);
    }

    /// The first slot whose key counts: that of the first child of a branch does not.
    fn first_key(&self) -> usize {
        usize::from(self.node().kind() == Some(NodeKind::Branch))
    }

    /// Puts `cell` before the cell of `slot`, and returns whether there is room.
    pub(super) fn insert(&mut self, slot: usize, cell: &[u8]) -> bool {
        if self.node().room() < cell.len() + SLOT_LEN {
            if self.node().room() + self.node().unused_len() < cell.len() + SLOT_LEN {
                return false;
            }
            self.compact();
        }
        let (count, cell_at) = (self.node().count(), self.node().cells_end());
        // A page that was cut off the file meanwhile has none.
        let slot = slot.min(count);
        self.bytes[cell_at..cell_at + cell.len()].copy_from_slice(cell);
        self.set_cells_end(cell_at + cell.len());
        let slots_end = FIELDS_START - count * SLOT_LEN;
        let moved = slots_end..FIELDS_START - slot * SLOT_LEN;
        self.bytes.copy_within(moved, slots_end - SLOT_LEN);
        self.set_count(count + 1);
        self.set_slot(slot, 0, cell_at);
        self.set_head(slot, cell);
        true
    }

    /// Sets the head of a slot whose cell was just put, and those of all where the keys have less in common now.
    fn set_head(&mut self, slot: usize, cell: &[u8]) {
        let first = self.first_key();
        if slot < first {
            return;
        }
        let Some(key) = inline_key(self.node(), cell) else { return };
        let old = self.node().common_len();
        let other = if slot == first { slot + 1 } else { first };
        let shared = self.node().key(other).map(|other| shared_len(other.inline, key).min(old));
        let common = shared.unwrap_or(key.len());
        let head = head_of(key, common);
        let cell_at = self.node().cell_at(slot);
        self.set_slot(slot, head, cell_at);
        if shared != Some(old) {
            self.set_common(common, key);
            self.set_heads();
        }
    }

    /// Sets the heads of all slots anew.
    fn set_heads(&mut self) {
        let common = self.node().common_len();
        for slot in self.first_key()..self.node().count() {
            let Some(key) = self.node().key(slot) else { continue };
            let (head, cell_at) = (head_of(key.inline, common), self.node().cell_at(slot));
            self.set_slot(slot, head, cell_at);
        }
    }

    /// Takes the cell of `slot` out, if the page has it still: one that was cut off the file has none.
    pub(super) fn remove(&mut self, slot: usize) {
        let node = self.node();
        let (count, len) = (node.count(), node.cell(slot).map_or(0, <[u8]>::len));
        if slot >= count {
            return;
        }
        let unused = node.unused_len() + len;
        let slots_end = FIELDS_START - count * SLOT_LEN;
        let moved = slots_end..FIELDS_START - (slot + 1) * SLOT_LEN;
        self.bytes.copy_within(moved, slots_end + SLOT_LEN);
        self.set_count(count - 1);
        match count - 1 {
            0 => {
                self.set_cells_end(0);
                self.set_unused_len(0);
            }
            _ => self.set_unused_len(unused),
        }
    }

    /// Sets the child of a slot of a branch.
    pub(super) fn set_child(&mut self, slot: usize, child: PagePointer) {
        let at = self.node().cell_at(slot);
        if let Some(bytes) = self.bytes.get_mut(at..at + PagePointer::LEN) {
            bytes.copy_from_slice(&child.to_bytes());
        }
    }

    /// Sets the run of a slot that has one.
    pub(super) fn set_run(&mut self, slot: usize, run: PageRun) {
        let Some(len) = self.node().cell(slot).map(<[u8]>::len) else { return };
        let end = self.node().cell_at(slot) + len;
        let place = end.checked_sub(PageRun::LEN).and_then(|at| self.bytes.get_mut(at..end));
        if let Some(bytes) = place {
            bytes.copy_from_slice(&run.to_bytes());
        }
    }

    /// Moves the cells together.
    fn compact(&mut self) {
        let copy = *self.bytes;
        let node = Node::new(&copy);
        if node.generation() == 0 {
            // It was cut off the file meanwhile.
            return;
        }
        let mut end = 0;
        for slot in 0..node.count() {
            let Some(cell) = node.cell(slot) else { continue };
            self.bytes[end..end + cell.len()].copy_from_slice(cell);
            let at = FIELDS_START - (slot + 1) * SLOT_LEN;
            self.set_u16(at + 4, end);
            end += cell.len();
        }
        self.set_cells_end(end);
        self.set_unused_len(0);
    }

    /// Makes it a page of these cells, which fit.
    pub(super) fn build(&mut self, kind: NodeKind, generation: u64, cells: &[&[u8]]) {
        self.clear(kind, generation);
        let first = self.first_key();
        let mut end = 0;
        for (slot, cell) in cells.iter().enumerate() {
            self.bytes[end..end + cell.len()].copy_from_slice(cell);
            self.set_slot(slot, 0, end);
            end += cell.len();
        }
        self.set_count(cells.len());
        self.set_cells_end(end);
        let node = self.node();
        let ends = (node.key(first), cells.len().checked_sub(1).and_then(|last| node.key(last)));
        let (common, beginning) = match ends {
            (Some(lowest), Some(highest)) if cells.len() > first => {
                (shared_len(lowest.inline, highest.inline), lowest.inline.to_vec())
            }
            _ => (0, Vec::new()),
        };
        self.set_common(common, &beginning);
        self.set_heads();
    }
}

/// Returns the part in the page of the key of a cell.
fn inline_key<'c>(node: Node<'_>, cell: &'c [u8]) -> Option<&'c [u8]> {
    match node.kind()? {
        NodeKind::Leaf => Some(LeafCell::parse(cell)?.key.inline),
        NodeKind::Branch => Some(BranchCell::parse(cell)?.key.inline),
    }
}

/// Returns the number of bytes that both begin with.
pub(super) fn shared_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Writes the cell of an entry: its value, or the run that has it.
pub(super) fn put_leaf_cell(cell: &mut Vec<u8>, key: &[u8], value: &[u8], run: Option<PageRun>) {
    cell.clear();
    put_varint(cell, key.len() as u64);
    put_varint(cell, (value.len() as u64) << 1 | u64::from(run.is_some()));
    cell.extend_from_slice(&key[..key.len().min(KEY_INLINE_MAX)]);
    match run {
        Some(run) => cell.extend_from_slice(&run.to_bytes()),
        None => cell.extend_from_slice(value),
    }
}

/// Makes the cell of a child. `key_len` is that of the whole key, of which `inline` stands in the page.
pub(super) fn branch_cell(
    child: PagePointer,
    inline: &[u8],
    key_len: usize,
    run: Option<PageRun>,
) -> Vec<u8> {
    let mut cell = child.to_bytes().to_vec();
    put_varint(&mut cell, (key_len as u64) << 1 | u64::from(run.is_some()));
    cell.extend_from_slice(inline);
    if let Some(run) = run {
        cell.extend_from_slice(&run.to_bytes());
    }
    cell
}
