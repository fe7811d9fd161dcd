//! Page of a tree, as it is read.
//!
//! ```text
//! 0      cells, in any order
//! …      room
//! …      slots of 6 bytes, the last one first: 4 bytes of the key, place of the cell 2
//! 4064   kind 1   0 1   number of slots 2   end of the cells 2   bytes of cells that nothing uses 2
//!        bytes that all keys begin with 2   the first of these, and zeros 6   generation 8   check 8
//! ```
//!
//! The fields stand at the end of the page, because a file that is cut loses its end: a page that was cut in the middle
//! has no generation. Slots are in the order of the keys. The 4 bytes of a slot are those behind the bytes that all keys
//! of the page begin with, zeros behind a shorter key; they tell most keys apart without a look at their cells. The
//! bytes in common are those that the keys begin with at least: a page may say fewer.
//!
//! A cell of a leaf is an entry, one of a branch a child:
//!
//! ```text
//! leaf:    key length varint   2 × value length + (1 with a run) varint   key   value
//! branch:  child 12   2 × key length + (1 with a run) varint   key
//! ```
//!
//! A key of more than [`KEY_INLINE_MAX`] bytes goes on in a run of pages. So does a value whose cell would have more
//! than [`CELL_LEN_MAX`] bytes; the run stands in its place then, and begins with the rest of the key. The first child
//! of a branch has the empty key: all that is below the second.

use std::cmp::Ordering;

use super::pointer::{PagePointer, PageRun};
use crate::files::PAGE_LEN;
use crate::heap::prefetch;
use crate::wire::Reader;

/// Bytes of a page before its fields.
pub(super) const FIELDS_START: usize = PAGE_LEN - 32;

/// Place of the generation.
pub(super) const GENERATION_AT: usize = PAGE_LEN - 16;

/// Place of the check, which covers all before.
pub(super) const CHECK_AT: usize = PAGE_LEN - 8;

/// Place of the first bytes that all keys begin with.
pub(super) const PREFIX_AT: usize = FIELDS_START + 10;

/// Bytes that a key has there.
pub(super) const PREFIX_LEN: usize = GENERATION_AT - PREFIX_AT;

/// Bytes that memory is read in.
const LINE_LEN: usize = 64;

/// Lines of the end of a page that are asked for before it is searched: its fields, and some forty slots.
const SLOT_LINES_AHEAD: usize = 4;

/// Lines of a cell that are asked for before it is read.
const CELL_LINES_AHEAD: usize = 3;

/// Bytes of a slot.
pub(super) const SLOT_LEN: usize = 6;

// Bound (Tables): key and value in a page of an ordered table's file = 400 bytes of a key; 1,010 bytes of an entry;
// longer ones stand in pages of their own.
/// The longest part of a key that stands in a page.
pub(super) const KEY_INLINE_MAX: usize = 400;

/// The longest cell of a leaf: four of them fit in a page.
pub(super) const CELL_LEN_MAX: usize = (FIELDS_START - 4 * SLOT_LEN) / 4;

/// The kinds of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    /// Its cells are entries.
    Leaf = 1,
    /// Its cells are children.
    Branch = 2,
}

/// Page of a tree. Its bytes may be anything: whoever reads them gets `None` where they make no sense.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'p> {
    pub(super) bytes: &'p [u8; PAGE_LEN],
}

/// Key in a cell: all of it, or the beginning of one that goes on in a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellKey<'p> {
    pub(super) inline: &'p [u8],
    pub(super) len: usize,
}

impl CellKey<'_> {
    /// Compares with `key`, as far as the part in the page tells; `None` if the rest of the key is needed.
    pub(super) fn cmp_inline(&self, key: &[u8]) -> Option<Ordering> {
        if self.inline.len() == self.len {
            return Some(self.inline.cmp(key));
        }
        let there = key.len().min(self.inline.len());
        match self.inline[..there].cmp(&key[..there]) {
            Ordering::Equal if key.len() > self.inline.len() => None,
            Ordering::Equal => Some(Ordering::Greater),
            told => Some(told),
        }
    }
}

/// Entry in a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeafCell<'p> {
    pub(super) key: CellKey<'p>,
    pub(super) value_len: usize,
    pub(super) content: CellContent<'p>,
    /// Bytes of the cell.
    pub(super) len: usize,
}

/// The rest of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum CellContent<'p> {
    /// The value.
    Inline(&'p [u8]),
    /// Pages with the rest of the key, and the value.
    Run(PageRun),
}

impl<'p> LeafCell<'p> {
    /// Reads the cell that `bytes` begin with.
    #[inline]
    pub(super) fn parse(bytes: &'p [u8]) -> Option<LeafCell<'p>> {
        let mut reader = Reader::new(bytes);
        let key_len = usize::try_from(reader.varint()?).ok()?;
        let tagged = reader.varint()?;
        let value_len = usize::try_from(tagged >> 1).ok()?;
        let inline = reader.take(key_len.min(KEY_INLINE_MAX))?;
        let content = match tagged & 1 {
            0 if key_len == inline.len() => CellContent::Inline(reader.take(value_len)?),
            1 => CellContent::Run(PageRun::take(&mut reader)?),
            _ => return None,
        };
        let len = bytes.len() - reader.remaining();
        Some(LeafCell { key: CellKey { inline, len: key_len }, value_len, content, len })
    }

    pub(super) fn run(&self) -> Option<PageRun> {
        match self.content {
            CellContent::Run(run) => Some(run),
            CellContent::Inline(_) => None,
        }
    }
}

/// Child in a branch.
#[derive(Debug, Clone, Copy)]
pub(super) struct BranchCell<'p> {
    pub(super) child: PagePointer,
    pub(super) key: CellKey<'p>,
    /// Pages with the rest of the key.
    pub(super) run: Option<PageRun>,
    /// Bytes of the cell.
    pub(super) len: usize,
}

impl<'p> BranchCell<'p> {
    /// Reads the cell that `bytes` begin with.
    #[inline]
    pub(super) fn parse(bytes: &'p [u8]) -> Option<BranchCell<'p>> {
        let mut reader = Reader::new(bytes);
        let child = PagePointer::take(&mut reader)?;
        let tagged = reader.varint()?;
        let key_len = usize::try_from(tagged >> 1).ok()?;
        let inline = reader.take(key_len.min(KEY_INLINE_MAX))?;
        let run = match tagged & 1 {
            0 if key_len == inline.len() => None,
            1 => Some(PageRun::take(&mut reader)?),
            _ => return None,
        };
        let len = bytes.len() - reader.remaining();
        Some(BranchCell { child, key: CellKey { inline, len: key_len }, run, len })
    }
}

impl<'p> Node<'p> {
    pub(super) fn new(bytes: &'p [u8; PAGE_LEN]) -> Node<'p> {
        Node { bytes }
    }

    /// Asks for all lines of the page, whose cells are in any order.
    pub(super) fn prefetch(self) {
        for line in self.bytes.chunks_exact(LINE_LEN) {
            prefetch(&line[0]);
        }
    }

    /// Asks for the fields of the page, and for the first slots: a search reads these whatever it looks for.
    #[inline]
    pub(super) fn prefetch_slots(self) {
        for line in self.bytes.rchunks_exact(LINE_LEN).take(SLOT_LINES_AHEAD) {
            prefetch(&line[0]);
        }
    }

    /// Asks for the beginning of a cell, with the key and a short value. The slot may be that behind the last.
    #[inline]
    pub(super) fn prefetch_cell(self, slot: usize) {
        let cell = self.cell_bytes(slot).unwrap_or_default();
        for line in cell.chunks(LINE_LEN).take(CELL_LINES_AHEAD) {
            prefetch(&line[0]);
        }
    }

    #[inline]
    fn u16_at(self, at: usize) -> usize {
        usize::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]))
    }

    #[inline]
    pub(super) fn generation(self) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.bytes[GENERATION_AT..CHECK_AT]);
        u64::from_le_bytes(bytes)
    }

    #[inline]
    pub(super) fn kind(self) -> Option<NodeKind> {
        match self.bytes[FIELDS_START] {
            1 => Some(NodeKind::Leaf),
            2 => Some(NodeKind::Branch),
            _ => None,
        }
    }

    /// Returns the number of slots, which are never more than fit.
    #[inline]
    pub(super) fn count(self) -> usize {
        self.u16_at(FIELDS_START + 2).min(FIELDS_START / SLOT_LEN)
    }

    /// Returns the place behind the cells.
    pub(super) fn cells_end(self) -> usize {
        self.u16_at(FIELDS_START + 4)
    }

    /// Returns the bytes of cells that nothing uses any more.
    pub(super) fn unused_len(self) -> usize {
        self.u16_at(FIELDS_START + 6)
    }

    /// Returns the number of bytes that all keys begin with.
    #[inline]
    pub(super) fn common_len(self) -> usize {
        self.u16_at(FIELDS_START + 8)
    }

    /// Returns the bytes between the cells and the slots.
    pub(super) fn room(self) -> usize {
        (FIELDS_START - self.count() * SLOT_LEN).saturating_sub(self.cells_end())
    }

    /// Returns the bytes that cells and slots in use take.
    pub(super) fn used_len(self) -> usize {
        (self.cells_end() + self.count() * SLOT_LEN).saturating_sub(self.unused_len())
    }

    #[inline]
    fn slot_at(slot: usize) -> usize {
        FIELDS_START - (slot + 1) * SLOT_LEN
    }

    /// Returns the bytes of the key that a slot has. The slot must be below [`Node::count`].
    #[inline]
    fn head(self, slot: usize) -> u32 {
        let at = Self::slot_at(slot);
        u32::from_be_bytes([
            self.bytes[at],
            self.bytes[at + 1],
            self.bytes[at + 2],
            self.bytes[at + 3],
        ])
    }

    /// Returns the place of a cell.
    #[inline]
    pub(super) fn cell_at(self, slot: usize) -> usize {
        self.u16_at(Self::slot_at(slot) + 4)
    }

    fn cell_bytes(self, slot: usize) -> Option<&'p [u8]> {
        (slot < self.count()).then(|| self.bytes.get(self.cell_at(slot)..FIELDS_START)).flatten()
    }

    #[inline]
    pub(super) fn leaf_cell(self, slot: usize) -> Option<LeafCell<'p>> {
        LeafCell::parse(self.cell_bytes(slot)?)
    }

    #[inline]
    pub(super) fn branch_cell(self, slot: usize) -> Option<BranchCell<'p>> {
        BranchCell::parse(self.cell_bytes(slot)?)
    }

    /// Returns the bytes of the cell of a slot.
    pub(super) fn cell(self, slot: usize) -> Option<&'p [u8]> {
        let len = match self.kind()? {
            NodeKind::Leaf => self.leaf_cell(slot)?.len,
            NodeKind::Branch => self.branch_cell(slot)?.len,
        };
        self.cell_bytes(slot)?.get(..len)
    }

    /// Returns the key of a slot.
    pub(super) fn key(self, slot: usize) -> Option<CellKey<'p>> {
        match self.kind()? {
            NodeKind::Leaf => Some(self.leaf_cell(slot)?.key),
            NodeKind::Branch => Some(self.branch_cell(slot)?.key),
        }
    }

    /// Returns the run of a slot.
    pub(super) fn run(self, slot: usize) -> Option<Option<PageRun>> {
        match self.kind()? {
            NodeKind::Leaf => Some(self.leaf_cell(slot)?.run()),
            NodeKind::Branch => Some(self.branch_cell(slot)?.run),
        }
    }

    /// Returns the slots, from `from` on, that are for `key` by their heads: those before are below it, those behind
    /// above.
    #[inline]
    pub(super) fn candidates(self, from: usize, key: &[u8]) -> Option<(usize, usize)> {
        let (count, common) = (self.count(), self.common_len());
        if from >= count {
            return Some((from, from));
        }
        if common > 0 {
            match self.compare_prefix(from, key, common)? {
                Ordering::Less => return Some((from, from)),
                Ordering::Greater => return Some((count, count)),
                Ordering::Equal => {}
            }
        }
        let head = head_of(key, common);
        let below = self.first_slot(from, count, |found| found >= head);
        let above = match below < count && self.head(below) == head {
            true => self.first_slot(below, count, |found| found > head),
            false => below,
        };
        Some((below, above))
    }

    /// Compares the beginning of `key` with the bytes that all keys of the page begin with. The first of them stand beside the
    /// slots: a look at a cell takes another line of memory.
    #[inline]
    fn compare_prefix(self, from: usize, key: &[u8], common: usize) -> Option<Ordering> {
        let there = common.min(PREFIX_LEN);
        let told = key[..there.min(key.len())].cmp(&self.bytes[PREFIX_AT..PREFIX_AT + there]);
        if told != Ordering::Equal || common <= PREFIX_LEN {
            return Some(told);
        }
        let first = self.key(from)?.inline.get(..common)?;
        Some(key[..common.min(key.len())].cmp(first))
    }

    /// Returns the first slot of `from..to` whose head is as `is_wanted` says, which all behind it are, too.
    #[inline]
    fn first_slot(self, from: usize, to: usize, is_wanted: impl Fn(u32) -> bool) -> usize {
        let (mut from, mut to) = (from, to);
        while from < to {
            let middle = (from + to) / 2;
            match is_wanted(self.head(middle)) {
                true => to = middle,
                false => from = middle + 1,
            }
        }
        from
    }
}

/// Returns the 4 bytes of `key` that its slot has, in a page whose keys have `common` bytes in common.
#[inline]
pub(super) fn head_of(key: &[u8], common: usize) -> u32 {
    let rest = key[..key.len().min(KEY_INLINE_MAX)].get(common..).unwrap_or_default();
    match rest.first_chunk::<4>() {
        Some(bytes) => u32::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 4];
            bytes[..rest.len()].copy_from_slice(rest);
            u32::from_be_bytes(bytes)
        }
    }
}
