//! Free pages found anew: all that no tree has.
//!
//! That takes a look at each page of the trees but takes no room, and needs nothing that a process that died may have
//! left half done.

use std::sync::atomic::Ordering::Relaxed;

use super::allocator::{FIRST_PAGE, PageAllocator};
use super::freed_queue::{FreedPages, FreedQueue};
use super::node::{GENERATION_AT, NodeKind};
use super::pointer::PagePointer;
use super::tree_file::TreeFile;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{PAGE_LEN, PageNumber};

/// Finds out which pages are free. The caller has the turn to write.
pub(super) fn mark_used_pages(file: &TreeFile) -> Result<()> {
    let allocator = PageAllocator { file };
    allocator.set_ready(false);
    let len = file.storage.len().map_err(|error| file.failed("read", &error))?;
    let end = PageNumber::try_from(len / PAGE_LEN as u64).unwrap_or(PageNumber::MAX);
    let end = end.max(FIRST_PAGE + 1);
    FreedQueue { file }.clear();
    allocator.clear(end)?;
    match mark_trees(file, end) {
        // Nobody knows what is below a damaged page: nothing is free but what is behind the end of the file.
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            allocator.mark(0, end)?;
        }
        marked => marked?,
    }
    allocator.set_ready(true);
    Ok(())
}

fn mark_trees(file: &TreeFile, end: PageNumber) -> Result<()> {
    let (newest, _) = file.newest()?;
    let mut marking = Marking { file, end, old: Vec::new(), is_newest: true };
    marking.mark_tree(newest.page)?;
    marking.is_newest = false;
    for root in file.sharing.roots().in_header() {
        marking.mark_old_tree(root.generation, root.page.page)?;
    }
    file.sharing.sweep();
    let mut states = Vec::new();
    file.sharing.read_states(&mut states);
    for (generation, page) in states {
        marking.mark_old_tree(generation, page as PageNumber)?;
    }
    let queue = FreedQueue { file };
    for mut freed in marking.old {
        freed.freed = newest.generation;
        queue.push(freed)?;
    }
    Ok(())
}

struct Marking<'f> {
    file: &'f TreeFile,
    end: PageNumber,
    /// Pages that the newest tree does not have.
    old: Vec<FreedPages>,
    is_newest: bool,
}

impl Marking<'_> {
    /// Marks the pages of a tree that somebody reads, whose root is `page`.
    fn mark_old_tree(&mut self, generation: u64, page: PageNumber) -> Result<()> {
        self.check_inside(page, 1)?;
        let words = self.file.map.words(page).map_err(|error| self.file.failed("map", &error))?;
        let written = words[GENERATION_AT / 8].load(Relaxed);
        // Otherwise it is another page by now: whoever read it has ended.
        match u64::from_le(written) <= generation {
            true => self.mark_tree(PagePointer { page, generation: u64::from_le(written) }),
            false => Ok(()),
        }
    }

    fn mark_tree(&mut self, root: PagePointer) -> Result<()> {
        let mut open = vec![root];
        while let Some(pointer) = open.pop() {
            if !self.mark(pointer, 1)? {
                continue;
            }
            let node = self.file.node(pointer)?;
            let kind = node.kind().ok_or_else(|| self.file.senseless(pointer.page))?;
            for slot in 0..node.count() {
                let senseless = || self.file.senseless(pointer.page);
                if let Some(run) = node.run(slot).ok_or_else(senseless)? {
                    self.mark(run.first, run.count)?;
                }
                if kind == NodeKind::Branch {
                    open.push(node.branch_cell(slot).ok_or_else(senseless)?.child);
                }
            }
            self.file.check_still(pointer)?;
        }
        Ok(())
    }

    fn check_inside(&self, first: PageNumber, count: u32) -> Result<()> {
        let is_inside = first.checked_add(count).is_some_and(|end| end <= self.end);
        if !is_inside || first < FIRST_PAGE {
            let message = format!("expected a page of the file, found page {first}");
            return Err(Error::new(ErrorKind::Corrupt, message).in_file(&self.file.name));
        }
        Ok(())
    }

    /// Marks pages, and returns true if they were not marked before.
    fn mark(&mut self, first: PagePointer, count: u32) -> Result<bool> {
        self.check_inside(first.page, count)?;
        let is_new = PageAllocator { file: self.file }.mark(first.page, count)?;
        if is_new && !self.is_newest {
            let (page, born) = (first.page, first.generation);
            self.old.push(FreedPages { first: page, count, born, freed: 0 });
        }
        Ok(is_new)
    }
}
