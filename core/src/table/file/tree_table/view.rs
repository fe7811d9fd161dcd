//! Tree as one commit, or an open transaction, left it: snapshots and scans.

use std::ops::Bound;
use std::sync::Arc;

use super::check_process;
use super::node::NodeKind;
use super::pointer::{PagePointer, PageRun, TreeRoot};
use super::search::DEPTH_MAX;
use super::tree_file::TreeFile;
use crate::error::{Error, Result};
use crate::files::ProcessMark;
use crate::table::file::sharing::{PinnedState, ShortPin};
use crate::table::{KeyRange, OrderedSnapshot, Scan, Snapshot};

impl TreeFile {
    /// Pins the newest commit, and returns its root.
    pub(super) fn pin_newest(&self) -> Result<(TreeRoot, PinnedState)> {
        self.pin_newest_by(|root| self.sharing.pin(root.state()))
    }

    #[inline]
    fn pin_newest_by(
        &self,
        pin: impl Fn(TreeRoot) -> Result<PinnedState>,
    ) -> Result<(TreeRoot, PinnedState)> {
        let roots = self.sharing.roots();
        if self.sharing.follows() {
            self.follow()?;
        }
        loop {
            let (root, counter) = self.newest()?;
            let pinned = pin(root)?;
            // A commit meanwhile may not have seen the pin.
            if roots.counter() == counter {
                return Ok((root, pinned));
            }
            self.sharing.unpin(pinned);
        }
    }

    /// Calls `read` with the newest commit, which stays what it is meanwhile.
    #[inline]
    fn read_newest<T>(&self, read: impl FnOnce(TreeRoot) -> Result<T>) -> Result<T> {
        let (root, pinned) = self.pin_newest_by(|root| self.sharing.pin_shortly(root.state()))?;
        let _pinned = ShortPin::new(&self.sharing, pinned);
        read(root)
    }

    /// Calls `found` with the value of `key` in the newest commit, and returns whether there is one.
    #[inline]
    pub(super) fn get_newest(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        if self.sharing.follows() {
            return self.get_following(key, found);
        }
        self.read_newest(|root| self.get(root.page, key, found))
    }

    /// Calls `found` for each key with its index and its value in the newest commit.
    pub(super) fn get_many_newest(
        &self,
        keys: &[&[u8]],
        found: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        if self.sharing.follows() {
            return self.get_many_following(keys, found);
        }
        self.read_newest(|root| self.get_many(root.page, keys, found))
    }
}

/// Root that nobody takes the pages of away.
#[derive(Debug)]
struct PinnedRoot {
    file: Arc<TreeFile>,
    root: TreeRoot,
    pin: Option<PinnedState>,
    process: ProcessMark,
}

impl Drop for PinnedRoot {
    fn drop(&mut self) {
        if let Some(pin) = self.pin.take().filter(|_| self.process.is_here()) {
            self.file.sharing.unpin(pin);
        }
    }
}

/// View of a tree that stays what it is.
#[derive(Debug)]
pub(super) struct TreeView {
    pinned: Arc<PinnedRoot>,
}

impl TreeView {
    pub(super) fn new(file: &Arc<TreeFile>, root: TreeRoot, pin: PinnedState) -> TreeView {
        let process = ProcessMark::new();
        let pinned = PinnedRoot { file: file.clone(), root, pin: Some(pin), process };
        TreeView { pinned: Arc::new(pinned) }
    }

    pub(super) fn root(&self) -> TreeRoot {
        self.pinned.root
    }

    pub(super) fn scan(&self, range: &KeyRange) -> Result<TreeScan> {
        check_process(self.pinned.process)?;
        TreeScan::new(&self.pinned, range)
    }
}

impl Snapshot for TreeView {
    fn len(&self) -> Result<u64> {
        check_process(self.pinned.process)?;
        Ok(self.pinned.root.len)
    }

    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        check_process(self.pinned.process)?;
        self.pinned.file.get(self.pinned.root.page, key, found)
    }

    fn get_many(&self, keys: &[&[u8]], found: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<()> {
        check_process(self.pinned.process)?;
        self.pinned.file.get_many(self.pinned.root.page, keys, found)
    }

    fn scan(&self) -> Result<Box<dyn Scan>> {
        Ok(Box::new(TreeView::scan(self, &KeyRange::ALL)?))
    }
}

impl OrderedSnapshot for TreeView {
    fn scan_range(&self, range: &KeyRange) -> Result<Box<dyn Scan>> {
        Ok(Box::new(TreeView::scan(self, range)?))
    }
}

/// Leaf that a scan is in, and the slots of it that are left.
#[derive(Debug, Clone, Copy)]
struct LeafRange {
    leaf: PagePointer,
    from: usize,
    to: usize,
    /// True if the range ends in this leaf.
    is_last: bool,
}

/// Entries of a range, in the order of their keys or against it.
#[derive(Debug)]
pub(super) struct TreeScan {
    pinned: Arc<PinnedRoot>,
    range: KeyRange,
    /// Branches above the leaf, each with the slot that leads to it.
    path: Vec<(PagePointer, usize)>,
    leaf: Option<LeafRange>,
    /// Entries that can follow: a damaged tree may lead back to where it came from.
    left: u64,
    /// Key that stands in several places of the file.
    long_key: Vec<u8>,
    /// Value that was copied, of a file that others may write over.
    value: Vec<u8>,
    /// Run of the entry that the caller has, who may have found zeros there.
    shown: Option<PageRun>,
}

impl TreeScan {
    fn new(pinned: &Arc<PinnedRoot>, range: &KeyRange) -> Result<TreeScan> {
        let mut scan = TreeScan {
            pinned: pinned.clone(),
            range: range.clone(),
            path: Vec::new(),
            leaf: None,
            left: pinned.root.len,
            long_key: Vec::new(),
            value: Vec::new(),
            shown: None,
        };
        if !range.is_empty() {
            scan.go_down(pinned.root.page, true)?;
        }
        Ok(scan)
    }

    /// Goes down from `pointer` to the leaf where the scan goes on: the one of the range's beginning if `is_first`.
    fn go_down(&mut self, mut pointer: PagePointer, is_first: bool) -> Result<()> {
        let pinned = self.pinned.clone();
        let file = &*pinned.file;
        let start = if self.range.reverse { &self.range.to } else { &self.range.from };
        for _ in 0..DEPTH_MAX {
            let node = file.node(pointer)?;
            if file.kind(pointer, node)? == NodeKind::Leaf {
                self.leaf = Some(self.range_in(pointer)?);
                return Ok(());
            }
            let last = node.count().checked_sub(1).ok_or_else(|| file.senseless(pointer.page))?;
            let slot = match start {
                Bound::Included(key) | Bound::Excluded(key) if is_first => {
                    file.child_slot(pointer, node, key)?
                }
                _ if self.range.reverse => last,
                _ => 0,
            };
            self.path.push((pointer, slot));
            let child = file.branch_cell(pointer, node, slot)?.child;
            file.check_still(pointer)?;
            pointer = child;
        }
        Err(file.senseless(pointer.page))
    }

    /// Returns the slots of a leaf that are in the range.
    fn range_in(&self, leaf: PagePointer) -> Result<LeafRange> {
        // Once for each leaf: a child that goes on with its parent's scan reads what the parent has pinned.
        check_process(self.pinned.process)?;
        let file = &self.pinned.file;
        let from = file.slot_at(leaf, self.range.from.as_ref().map(Vec::as_slice), false)?;
        let to = file.slot_at(leaf, self.range.to.as_ref().map(Vec::as_slice), true)?;
        let node = file.node(leaf)?;
        node.prefetch();
        let count = node.count();
        file.check_still(leaf)?;
        let is_last = if self.range.reverse { from > 0 } else { to < count };
        Ok(LeafRange { leaf, from, to: to.max(from), is_last })
    }

    /// Goes on to the next leaf, and returns whether there is one.
    fn go_on(&mut self) -> Result<bool> {
        let file = self.pinned.file.clone();
        while let Some((branch, slot)) = self.path.pop() {
            let node = file.node(branch)?;
            let next = match self.range.reverse {
                true => slot.checked_sub(1),
                false => Some(slot + 1).filter(|next| *next < node.count()),
            };
            file.check_still(branch)?;
            if let Some(next) = next {
                self.path.push((branch, next));
                let child = file.branch_cell(branch, node, next)?.child;
                file.check_still(branch)?;
                self.go_down(child, false)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Ends the scan by an error.
    fn end(&mut self, error: Error) -> Error {
        self.leaf = None;
        match self.pinned.file.sharing.follows() {
            true => self.pinned.file.explained(error, self.pinned.root),
            false => error,
        }
    }

    /// Copies an entry of a page that others may write over.
    fn copy_entry(&mut self, leaf: PagePointer, slot: usize) -> Result<()> {
        let file = &self.pinned.file;
        let mut long_key = Vec::new();
        let (key, value, run) = entry_at(file, leaf, slot, &mut long_key)?;
        let (key, value) = (key.to_vec(), value.to_vec());
        // Whoever writes over a page changes its generation first.
        run.map_or(Ok(()), |run| file.check_run_still(run))?;
        file.check_still(leaf)?;
        (self.long_key, self.value) = (key, value);
        Ok(())
    }

    /// Fails if the file was cut while the caller had the entry of the last call of [`Scan::advance`]: it may have found
    /// zeros in it.
    pub(super) fn check_shown(&mut self) -> Result<()> {
        self.check_shown_run()?;
        self.leaf.map_or(Ok(()), |found| self.pinned.file.check_still(found.leaf))
    }

    #[inline]
    fn check_shown_run(&mut self) -> Result<()> {
        self.shown.take().map_or(Ok(()), |run| self.pinned.file.check_run_still(run))
    }

    /// Finds the next entry.
    fn step(&mut self) -> Result<Option<(PagePointer, usize)>> {
        self.check_shown_run()?;
        loop {
            let Some(found) = &mut self.leaf else { return Ok(None) };
            if found.from < found.to {
                let slot = match self.range.reverse {
                    true => {
                        found.to -= 1;
                        found.to
                    }
                    false => {
                        found.from += 1;
                        found.from - 1
                    }
                };
                let leaf = found.leaf;
                // Bound (Tables): entries that a scan of an ordered table in a file finds = as many as the root counts;
                // more end it with an error.
                self.left = self.left.checked_sub(1).ok_or_else(|| {
                    let expected = format!("a tree of {} entries", self.pinned.root.len);
                    self.pinned.file.corrupt(leaf.page, &expected, "more")
                })?;
                return Ok(Some((leaf, slot)));
            }
            let (leaf, is_last) = (found.leaf, found.is_last);
            // Each entry of a leaf is read after a look at it, the last one before this look.
            self.pinned.file.check_still(leaf)?;
            if is_last || !self.go_on()? {
                self.leaf = None;
            }
        }
    }
}

impl Scan for TreeScan {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let (leaf, slot) = match self.step() {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(error) => return Err(self.end(error)),
        };
        if self.pinned.file.sharing.follows() {
            return match self.copy_entry(leaf, slot) {
                Ok(()) => Ok(Some((&self.long_key, &self.value))),
                Err(error) => Err(self.end(error)),
            };
        }
        let TreeScan { pinned, long_key, leaf: place, shown, .. } = self;
        match entry_at(&pinned.file, leaf, slot, long_key) {
            Ok((key, value, run)) => {
                *shown = run;
                Ok(Some((key, value)))
            }
            Err(error) => {
                *place = None;
                Err(error)
            }
        }
    }
}

/// Returns the entry of a slot, and its run. Its key is put into `long_key` if it stands in several places.
#[inline]
fn entry_at<'e>(
    file: &'e TreeFile,
    leaf: PagePointer,
    slot: usize,
    long_key: &'e mut Vec<u8>,
) -> Result<(&'e [u8], &'e [u8], Option<PageRun>)> {
    let cell = file.leaf_cell(leaf, file.node_again(leaf)?, slot)?;
    let (value, run) = (file.value(&cell)?, cell.run());
    if cell.key.inline.len() == cell.key.len {
        return Ok((cell.key.inline, value, run));
    }
    long_key.clear();
    file.put_key(cell.key, run, long_key)?;
    Ok((long_key.as_slice(), value, run))
}
