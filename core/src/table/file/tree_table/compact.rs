//! Room given back: pages moved to the beginning of the file, its end cut off, and free pages made holes.

use super::allocator::{FIRST_PAGE, PageAllocator};
use super::check;
use super::node::NodeKind;
use super::pointer::PagePointer;
use super::search::DEPTH_MAX;
use super::transaction::{self, TreeTransaction};
use super::tree_file::TreeFile;
use crate::error::Result;
use crate::files::PageNumber;

/// Returns the page below which all pages of the tree are to be.
pub(super) fn limit(transaction: &TreeTransaction) -> Result<PageNumber> {
    let counts = check::count(&transaction.file, transaction.root)?;
    let pages = PageNumber::try_from(counts.pages).unwrap_or(PageNumber::MAX);
    Ok(FIRST_PAGE.saturating_add(pages))
}

/// Moves the pages of the tree that are not below `limit` to free ones, the lowest first.
pub(super) fn move_below(transaction: &mut TreeTransaction, limit: PageNumber) -> Result<()> {
    let root = moved(transaction, transaction.root.page, limit, DEPTH_MAX)?;
    transaction.root.page = root;
    Ok(())
}

fn moved(
    transaction: &mut TreeTransaction,
    pointer: PagePointer,
    limit: PageNumber,
    depth: usize,
) -> Result<PagePointer> {
    let file = transaction.file.clone();
    let depth = depth.checked_sub(1).ok_or_else(|| file.senseless(pointer.page))?;
    let node = file.node(pointer)?;
    let is_branch = file.kind(pointer, node)? == NodeKind::Branch;
    let mut here = pointer;
    for slot in 0..node.count() {
        let run = node.run(slot).ok_or_else(|| file.senseless(pointer.page))?;
        if let Some(run) = run.filter(|run| run.first.page.saturating_add(run.count) > limit) {
            here = transaction.make_writable(here)?;
            let new = transaction.copy_run(run)?;
            transaction.edit(here)?.set_run(slot, new);
        }
        if is_branch {
            let child = file.branch_cell(pointer, node, slot)?.child;
            let new = moved(transaction, child, limit, depth)?;
            if new != child {
                here = transaction.make_writable(here)?;
                transaction.edit(here)?.set_child(slot, new);
            }
        }
    }
    match here == pointer && pointer.page >= limit {
        true => transaction.make_writable(pointer),
        false => Ok(here),
    }
}

/// Cuts the free end of the file off, and makes holes of free pages. The caller has the turn to write.
pub(super) fn shrink(file: &TreeFile, all: bool) -> Result<()> {
    let allocator = PageAllocator { file };
    if !allocator.is_ready() {
        return Ok(());
    }
    transaction::give_all_back(file)?;
    allocator.shrink(all)
}
