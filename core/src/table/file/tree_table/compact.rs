//! Room given back: pages moved to the beginning of the file, its end cut off, and free pages made holes.

use super::allocator::{FIRST_PAGE, PageAllocator};
use super::check;
use super::node::NodeKind;
use super::pointer::PagePointer;
use super::search::DEPTH_MAX;
use super::transaction::{self, TreeTransaction};
use super::write_turn::WriteTurn;
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

/// Cuts the free end of the file off, and makes holes of free pages.
pub(super) fn shrink(turn: &WriteTurn, all: bool) -> Result<()> {
    let Some(allocator) = settled_allocator(turn) else { return Ok(()) };
    transaction::give_back_unread(turn.file(), usize::MAX)?;
    allocator.cut_end()?;
    allocator.punch_holes(FIRST_PAGE, usize::MAX, all)?;
    Ok(())
}

/// Returns the allocator, if its bits and the queue of freed pages are whole: not after one who died while it wrote.
fn settled_allocator(turn: &WriteTurn) -> Option<PageAllocator<'_>> {
    let allocator = PageAllocator { file: turn.file() };
    (allocator.is_ready() && !turn.is_unsettled()).then_some(allocator)
}

/// Free room of a table at rest that is given back a little at a time, where it is much.
#[derive(Debug, Default)]
pub(super) enum ShrinkingAtRest {
    /// Freed pages that wait may be free now.
    #[default]
    Queue,
    /// Holes are made from this page on.
    Holes(PageNumber),
}

impl ShrinkingAtRest {
    /// Freed pages that are given back with one turn.
    const FREED_MAX: usize = 4096;

    /// Holes that are made with one turn.
    const HOLES_MAX: usize = 128;

    /// Least number of pages that are worth it: 1 MiB.
    const WORTH_MIN: u32 = 256;

    /// Part of the file that is worth it. Less is soon used again by those who go on writing.
    const WORTH_PART: u32 = 4;

    /// Goes on, and returns true if there may be more to do.
    pub(super) fn go_on(&mut self, turn: &WriteTurn) -> Result<bool> {
        let Some(allocator) = settled_allocator(turn) else { return Ok(false) };
        match *self {
            ShrinkingAtRest::Queue => {
                if transaction::give_back_unread(turn.file(), Self::FREED_MAX)? == Self::FREED_MAX {
                    return Ok(true);
                }
                let worth = (allocator.end() / Self::WORTH_PART).max(Self::WORTH_MIN);
                if allocator.count_idle()? < worth {
                    return Ok(false);
                }
                allocator.cut_end()?;
                *self = ShrinkingAtRest::Holes(FIRST_PAGE);
                Ok(true)
            }
            ShrinkingAtRest::Holes(from) => {
                let next = allocator.punch_holes(from, Self::HOLES_MAX, false)?;
                *self = ShrinkingAtRest::Holes(next);
                Ok(next < allocator.end())
            }
        }
    }
}
