//! Commits made to survive a power cut.
//!
//! The pages of a commit get their checks and are synced; then its root is written over the older one of the two in the
//! file's header, and synced. So whatever a power cut leaves of these writes, one of the roots leads to a whole tree:
//! its pages are not used again before the next root is there.

use std::sync::PoisonError;
use std::time::Duration;

use super::node::NodeKind;
use super::pointer::{PagePointer, PageRun, TreeRoot, offset_of};
use super::tree_file::TreeFile;
use crate::error::Result;
use crate::files::{PAGE_LEN, TurnKind};

impl TreeFile {
    /// Makes the newest commit survive a power cut. Another one that syncs is waited for up to `timeout`.
    pub(super) fn sync_newest(&self, timeout: Duration) -> Result<()> {
        let (root, pin) = self.pin_newest()?;
        let synced = self.sync_root(root, timeout);
        self.sharing.unpin(pin);
        synced
    }

    /// Makes the tree of `root`, whose pages nobody changes meanwhile, survive a power cut. [`ErrorKind::Lock`] if another
    /// one syncs for longer than `timeout`, before anything is written.
    ///
    /// [`ErrorKind::Lock`]: crate::ErrorKind::Lock
    pub(super) fn sync_root(&self, root: TreeRoot, timeout: Duration) -> Result<()> {
        let _syncing = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        // One that died with the turn has left a header that has one of the roots that the words name.
        let _turn = self.sharing.take_turn_to(TurnKind::Sync, timeout)?;
        let roots = self.sharing.roots();
        let durable = roots.durable_generation();
        self.check_uncut()?;
        self.check_reaches(offset_of(root.page.page) + PAGE_LEN as u64)?;
        if durable >= root.generation {
            return Ok(());
        }
        let end = self.seal_tree(root.page, durable)?;
        self.check_uncut()?;
        self.check_reaches(end)?;
        self.storage.sync().map_err(|error| self.failed("sync", &error))?;
        let other = 1 - roots.durable_place();
        roots.will_be_durable(root, other);
        self.write_root(root, other)?;
        self.storage.sync().map_err(|error| self.failed("sync", &error))?;
        roots.set_durable(root, other);
        // Damage to one of the two costs nothing from now on.
        self.write_root(root, 1 - other)
    }

    /// Writes the newest root to both places of the header.
    pub(super) fn write_both_roots(&self, timeout: Duration) -> Result<()> {
        self.sync_newest(timeout)?;
        let (root, place) = (self.sharing.roots().newest().0, self.sharing.roots().durable_place());
        for place in [1 - place, place] {
            self.write_root(root, place)?;
            self.storage.sync().map_err(|error| self.failed("sync", &error))?;
        }
        Ok(())
    }

    fn write_root(&self, root: TreeRoot, place: usize) -> Result<()> {
        let written = self.header.write_root(&*self.storage, root, place);
        written.map_err(|error| self.failed("write", &error))
    }

    /// Seals the pages below `root` that are later than `durable`, and returns where the last of them ends. What is below an
    /// earlier page is earlier, too.
    fn seal_tree(&self, root: PagePointer, durable: u64) -> Result<u64> {
        let (mut open, mut end) = (vec![root], 0);
        while let Some(pointer) = open.pop() {
            if pointer.generation <= durable {
                continue;
            }
            let node = self.node(pointer)?;
            let is_branch = self.kind(pointer, node)? == NodeKind::Branch;
            for slot in 0..node.count() {
                let run = node.run(slot).ok_or_else(|| self.senseless(pointer.page))?;
                if let Some(run) = run.filter(|run| run.first.generation > durable) {
                    self.run(run)?;
                    self.seal(run)?;
                    end = end.max(offset_of(run.first.page) + run.byte_len() as u64);
                }
                if is_branch {
                    open.push(self.branch_cell(pointer, node, slot)?.child);
                }
            }
            self.check_still(pointer)?;
            let page = PageRun { first: pointer, count: 1 };
            self.seal(page)?;
            end = end.max(offset_of(pointer.page) + page.byte_len() as u64);
        }
        Ok(end)
    }
}
