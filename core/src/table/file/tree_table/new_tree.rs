//! A table without entries, as its file begins.

use std::io;

use super::allocator::FIRST_PAGE;
use super::header::TreeHeader;
use super::node::{CHECK_AT, NodeKind};
use super::node_edit::NodeEditor;
use super::pointer::{PagePointer, TreeRoot, offset_of};
use super::tree_file::check_of;
use crate::files::{PAGE_LEN, Storage};
use crate::table::ValueType;
use crate::table::file::random::random_number;

/// Bytes that are written last of a table that is made in place.
const BEGINNING_LEN: usize = 512;

/// The pages of a new table that have something in them. Those between are holes.
pub(super) struct NewTree {
    header: Vec<u8>,
    root: [u8; PAGE_LEN],
}

impl NewTree {
    /// A table whose values are to be these, or bytes.
    pub(super) fn new(values: Option<ValueType>) -> NewTree {
        let values = values.unwrap_or(ValueType::BYTES);
        let header = TreeHeader { seed: random_number(), values };
        let page = PagePointer { page: FIRST_PAGE, generation: 1 };
        let mut root = [0; PAGE_LEN];
        NodeEditor::new(&mut root).clear(NodeKind::Leaf, page.generation);
        let (checked, check) = root.split_at_mut(CHECK_AT);
        check.copy_from_slice(&check_of(header.seed, page.page, checked).to_le_bytes());
        let header = header.to_page(TreeRoot { generation: page.generation, page, len: 0 });
        NewTree { header, root }
    }

    /// Writes the whole file, which lasts when this returns.
    pub(super) fn write(&self, file: &dyn Storage) -> io::Result<()> {
        file.set_len(0)?;
        file.write_at(0, &self.header)?;
        file.write_at(offset_of(FIRST_PAGE), &self.root)?;
        file.sync()
    }

    /// Writes the whole file, to last, that others may find meanwhile: until it is whole, it begins with zeros.
    pub(super) fn write_in_place(&self, file: &dyn Storage) -> io::Result<()> {
        let (beginning, rest) = self.header.split_at(BEGINNING_LEN);
        file.write_at(offset_of(FIRST_PAGE), &self.root)?;
        file.write_at(BEGINNING_LEN as u64, rest)?;
        file.sync()?;
        file.write_at(0, beginning)?;
        file.sync()
    }
}
