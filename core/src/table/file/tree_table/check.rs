//! Whole trees read: counts of what they hold, and whether their pages fit together.

use super::node::{Node, NodeKind};
use super::pointer::{PagePointer, TreeRoot};
use super::search::DEPTH_MAX;
use super::tree_file::TreeFile;
use crate::error::Result;

/// Sizes of a tree.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TreeCounts {
    /// Bytes of entries with their lengths.
    pub(super) cell_bytes: u64,
    pub(super) pages: u64,
}

/// Counts what a tree holds.
pub(super) fn count(file: &TreeFile, root: TreeRoot) -> Result<TreeCounts> {
    let mut walk = TreeCheck { file, counts: TreeCounts::default(), entries: 0, last_key: None };
    walk.visit(root.page, DEPTH_MAX)?;
    Ok(walk.counts)
}

/// Reads all of a tree, checks each page, the order of its keys and the number of its entries.
pub(super) fn verify(file: &TreeFile, root: TreeRoot) -> Result<()> {
    let last_key = Some(Vec::new());
    let mut walk = TreeCheck { file, counts: TreeCounts::default(), entries: 0, last_key };
    walk.visit(root.page, DEPTH_MAX)?;
    match walk.entries == root.len {
        true => Ok(()),
        false => {
            let expected = format!("a tree of {} entries", root.len);
            Err(file.corrupt(root.page.page, &expected, &walk.entries.to_string()))
        }
    }
}

struct TreeCheck<'f> {
    file: &'f TreeFile,
    counts: TreeCounts,
    entries: u64,
    /// The last key, if the order is to be checked.
    last_key: Option<Vec<u8>>,
}

impl TreeCheck<'_> {
    fn visit(&mut self, pointer: PagePointer, depth: usize) -> Result<()> {
        let senseless = || self.file.senseless(pointer.page);
        let depth = depth.checked_sub(1).ok_or_else(senseless)?;
        let node = self.file.node(pointer)?;
        self.counts.pages += 1;
        match self.file.kind(pointer, node)? {
            NodeKind::Leaf => self.visit_entries(pointer, node),
            NodeKind::Branch => {
                if node.count() == 0 {
                    return Err(senseless());
                }
                for slot in 0..node.count() {
                    let cell = self.file.branch_cell(pointer, node, slot)?;
                    self.counts.pages += cell.run.map_or(0, |run| u64::from(run.count));
                    self.visit(cell.child, depth)?;
                }
                Ok(())
            }
        }
    }

    fn visit_entries(&mut self, pointer: PagePointer, node: Node<'_>) -> Result<()> {
        for slot in 0..node.count() {
            let cell = self.file.leaf_cell(pointer, node, slot)?;
            self.entries += 1;
            let lens = cell.len - cell.key.inline.len();
            self.counts.cell_bytes += match cell.run() {
                None => cell.len as u64,
                Some(run) => {
                    self.counts.pages += u64::from(run.count);
                    (lens + cell.key.len + cell.value_len) as u64
                }
            };
            let Some(last_key) = &self.last_key else { continue };
            self.file.value(&cell)?;
            let mut key = Vec::new();
            self.file.put_key(cell.key, cell.run(), &mut key)?;
            if self.entries > 1 && *last_key >= key {
                return Err(self.file.senseless(pointer.page));
            }
            self.last_key = Some(key);
        }
        Ok(())
    }
}
