//! Table between its user and the thread that syncs it: the open transaction, and what has failed.

use std::sync::Arc;
use std::time::Duration;

use super::check::{self, TreeCounts};
use super::compact::{self, ShrinkingAtRest};
use super::pointer::TreeRoot;
use super::transaction::TreeTransaction;
use super::tree_file::TreeFile;
use super::view::TreeView;
use super::write_turn::WriteTurn;
use crate::error::{Error, ErrorKind, Result};
use crate::files::PAGE_LEN;
use crate::table::Stat;
use crate::table::file::options::SyncMode;

/// State of a table. Whoever has it has its lock, and is the process that opened the table.
#[derive(Debug)]
pub(super) struct TreeState {
    pub(super) file: Arc<TreeFile>,
    sync: SyncMode,
    timeout: Duration,
    /// Turns that are kept over several changes.
    kept_turns: Vec<WriteTurn>,
    transaction: Option<TreeTransaction>,
    /// Error of a change in the transaction, which may be half done, and the depth at which that was.
    broken: Option<(Error, usize)>,
    /// True if there are commits that were not synced.
    is_unsynced: bool,
    /// Error after which nothing is written any more, and true if it was told.
    failure: Option<(Error, bool)>,
}

impl TreeState {
    pub(super) fn new(file: Arc<TreeFile>, sync: SyncMode, timeout: Duration) -> TreeState {
        TreeState {
            file,
            sync,
            timeout,
            kept_turns: Vec::new(),
            transaction: None,
            broken: None,
            is_unsynced: false,
            failure: None,
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.transaction.as_ref().map_or(0, TreeTransaction::depth)
    }

    /// Returns true if a commit was made since the last sync that this handle was asked for.
    pub(super) fn is_unsynced(&self) -> bool {
        self.is_unsynced
    }

    /// Fails after a failed write, to refuse further ones. The first time this is the error itself, which a thread in
    /// the background may have met.
    pub(super) fn check(&mut self) -> Result<()> {
        match &mut self.failure {
            None => Ok(()),
            Some((error, was_told)) if !*was_told => {
                *was_told = true;
                Err(error.clone())
            }
            // Of the kind of the first: a program that catches a full disk catches it here, too.
            Some((error, _)) => Err(Error::new(
                error.kind(),
                format!(
                    "expected a table whose writes work, found one closed by an earlier failure \
                     ({}); what was committed can be read: open it again to write",
                    error.message()
                ),
            )
            .in_file(&self.file.name)),
        }
    }

    /// Returns true if a failure was told, after which there is nothing to sync.
    pub(super) fn has_told_failure(&self) -> bool {
        matches!(self.failure, Some((_, true)))
    }

    /// Remembers that a sync failed. Nothing is written from now on: what was written since the last sync may be gone. If
    /// only somebody else kept it waiting, the next sync makes up for it.
    pub(super) fn fail(&mut self, error: &Error, is_told: bool) {
        if error.kind() == ErrorKind::Lock {
            self.is_unsynced = true;
            return;
        }
        if self.failure.is_none() {
            self.failure = Some((error.clone(), is_told));
        }
        self.is_unsynced = false;
        if let Some(transaction) = self.transaction.take() {
            let _ = transaction.abort();
        }
        self.broken = None;
    }

    /// The root that this table's own reads see while it has a transaction open.
    pub(super) fn uncommitted_root(&self) -> Option<TreeRoot> {
        self.transaction.as_ref().map(|transaction| transaction.root)
    }

    pub(super) fn view(&mut self) -> Result<TreeView> {
        let (root, pin) = match &mut self.transaction {
            Some(transaction) => {
                let root = transaction.root_to_view();
                (root, self.file.sharing.pin(root.state())?)
            }
            None => self.file.pin_newest()?,
        };
        Ok(TreeView::new(&self.file, root, pin))
    }

    pub(super) fn len(&self) -> Result<u64> {
        match self.uncommitted_root() {
            Some(root) => Ok(root.len),
            None => Ok(self.file.newest()?.0.len),
        }
    }

    pub(super) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Takes the turn to write until [`TreeState::give_turn_back`].
    pub(super) fn take_turn(&mut self, timeout: Option<Duration>) -> Result<()> {
        let turn = WriteTurn::take(&self.file, timeout.unwrap_or(self.timeout))?;
        self.kept_turns.push(turn);
        Ok(())
    }

    /// Gives the turn back that was taken last.
    pub(super) fn give_turn_back(&mut self) {
        self.kept_turns.pop();
    }

    fn begin_transaction(&mut self) -> Result<TreeTransaction> {
        TreeTransaction::begin(WriteTurn::take(&self.file, self.timeout)?)
    }

    /// Does a change: in the open transaction, or in one of its own.
    pub(super) fn change<T>(
        &mut self,
        change: impl FnOnce(&mut TreeTransaction) -> Result<T>,
    ) -> Result<T> {
        if let Some((error, _)) = &self.broken {
            return Err(error.clone());
        }
        if let Some(transaction) = &mut self.transaction {
            let depth = transaction.depth();
            return change(transaction)
                .inspect_err(|error| self.broken = Some((error.clone(), depth)));
        }
        let mut transaction = self.begin_transaction()?;
        match change(&mut transaction) {
            Ok(changed) => self.commit_transaction(transaction).map(|()| changed),
            Err(error) => {
                let _ = transaction.abort();
                Err(error)
            }
        }
    }

    fn commit_transaction(&mut self, transaction: TreeTransaction) -> Result<()> {
        if transaction.is_unchanged() {
            return transaction.abort();
        }
        if let Err(error) = self.file.check_uncut() {
            let _ = transaction.abort();
            return Err(error);
        }
        if self.sync == SyncMode::Commit {
            // What is told to be committed is there after a power cut, so nobody sees it before.
            if let Err(error) = self.file.sync_root(transaction.root, self.timeout) {
                match error.kind() {
                    // Nothing was written: another one keeps the turn to sync.
                    ErrorKind::Lock => drop(transaction.abort()),
                    _ => transaction.abandon(),
                }
                self.fail(&error, true);
                return Err(error);
            }
        } else {
            self.is_unsynced = true;
        }
        transaction.commit()
    }

    pub(super) fn begin(&mut self) -> Result<()> {
        match &mut self.transaction {
            Some(transaction) => transaction.begin_savepoint(),
            None => self.transaction = Some(self.begin_transaction()?),
        }
        Ok(())
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        if let Some((error, _)) = &self.broken {
            return Err(error.clone());
        }
        match &mut self.transaction {
            Some(transaction) if transaction.depth() > 1 => {
                transaction.end_savepoint();
                Ok(())
            }
            _ => match self.transaction.take() {
                Some(transaction) => self.commit_transaction(transaction),
                None => Err(self.without_transaction()),
            },
        }
    }

    pub(super) fn abort(&mut self) -> Result<()> {
        match &mut self.transaction {
            Some(transaction) if transaction.depth() > 1 => {
                let aborted = transaction.abort_savepoint();
                // What was half done before the savepoint still is.
                let depth = transaction.depth();
                self.broken = self.broken.take().filter(|(_, broken)| *broken <= depth);
                aborted
            }
            _ => match self.transaction.take() {
                Some(transaction) => {
                    self.broken = None;
                    transaction.abort()
                }
                // A failure has taken it back.
                None if self.failure.is_some() => Ok(()),
                None => Err(self.without_transaction()),
            },
        }
    }

    fn without_transaction(&self) -> Error {
        Error::new(ErrorKind::Argument, "expected a transaction to end, found none")
            .in_file(&self.file.name)
    }

    /// Remembers that all commits so far were synced.
    pub(super) fn has_synced(&mut self) {
        self.is_unsynced = false;
    }

    fn sync_now(&mut self) -> Result<()> {
        self.file.sync_newest(self.timeout).inspect_err(|error| self.fail(error, true))?;
        self.has_synced();
        Ok(())
    }

    pub(super) fn compact(&mut self) -> Result<()> {
        if self.transaction.is_some() {
            let message = "expected no open transaction to compact, found one";
            return Err(Error::new(ErrorKind::Argument, message).in_file(&self.file.name));
        }
        self.sync_now()?;
        let mut transaction = self.begin_transaction()?;
        let limit = compact::limit(&transaction);
        let moved = limit.and_then(|limit| compact::move_below(&mut transaction, limit));
        match moved {
            Ok(()) => self.commit_transaction(transaction)?,
            Err(error) => {
                let _ = transaction.abort();
                return Err(error);
            }
        }
        self.sync_now()?;
        self.shrink(self.timeout, true)
    }

    /// Gives the room of free pages back to the disk.
    fn shrink(&mut self, timeout: Duration, all: bool) -> Result<()> {
        compact::shrink(&WriteTurn::take(&self.file, timeout)?, all)
    }

    /// Gives room of a few free pages back to the disk, and returns true if there may be more. Who writes goes first.
    pub(super) fn shrink_some(&mut self, shrinking: &mut ShrinkingAtRest) -> Result<bool> {
        let is_used = self.transaction.is_some() || !self.kept_turns.is_empty();
        if is_used || self.failure.is_some() {
            return Ok(false);
        }
        shrinking.go_on(&WriteTurn::take(&self.file, Duration::ZERO)?)
    }

    pub(super) fn stat(&mut self) -> Result<Stat> {
        let view = self.view()?;
        let TreeCounts { cell_bytes, pages } = check::count(&self.file, view.root())?;
        let file_bytes = self.file.storage.len();
        let file_bytes = file_bytes.map_err(|error| self.file.failed("read", &error))?;
        let page_bytes = pages * PAGE_LEN as u64;
        Ok(Stat {
            records: view.root().len,
            live_bytes: cell_bytes,
            dead_bytes: file_bytes.saturating_sub(page_bytes),
            index_bytes: page_bytes.saturating_sub(cell_bytes),
            file_bytes,
            ..Stat::default()
        })
    }

    /// Gives up an open transaction, syncs what was committed, and gives free room back.
    pub(super) fn close(&mut self) {
        self.give_up();
        if self.failure.is_none() && self.file.sync_newest(self.timeout).is_ok() {
            // Who writes still does it later.
            let _ = self.shrink(Duration::ZERO, false);
        }
    }

    /// Gives an open transaction and all turns up.
    pub(super) fn give_up(&mut self) {
        self.kept_turns.clear();
        if let Some(transaction) = self.transaction.take() {
            let _ = transaction.abort();
        }
    }

    /// Returns true if a change made now is synced before it returns.
    pub(super) fn syncs_next_change(&self) -> bool {
        self.sync == SyncMode::Commit && self.transaction.is_none()
    }
}
