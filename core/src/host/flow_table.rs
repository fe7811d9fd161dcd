//! A file of flows, as a host has it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::background::Outlet;
use super::pass::{Item, Pass, Passes};
use super::pass_host::Host;
use crate::ask::{self, Answer};
use crate::bytes::Cancel;
use crate::flow::Flow;
use crate::forks::ProcessLock;
use crate::sums::{CountedCapture, EntryOrigin, EntryRows, FlowStore, Merged};
use crate::{Error, ErrorKind, Result};

/// Flows that are handed to a host together.
const BATCH_LEN: usize = 1024;

/// Batches of flows that a pass over a store may be ahead of the host.
const AHEAD: usize = 2;

/// A flow table file that is open until it is closed, with the passes over it.
pub struct FlowTableFile {
    name: String,
    store: ProcessLock<Option<Arc<FlowStore>>>,
    passes: Passes,
}

impl FlowTableFile {
    /// As [`FlowStore::open`].
    ///
    /// # Errors
    /// Those of [`FlowStore::open`].
    pub fn open(path: &Path) -> Result<Self> {
        FlowStore::open(path).map(|store| Self::of(path, store))
    }

    /// As [`FlowStore::open_to_count`].
    ///
    /// # Errors
    /// Those of [`FlowStore::open_to_count`].
    pub fn open_to_count(path: &Path) -> Result<Self> {
        FlowStore::open_to_count(path).map(|store| Self::of(path, store))
    }

    /// As [`FlowStore::open_read_only`].
    ///
    /// # Errors
    /// Those of [`FlowStore::open_read_only`].
    pub fn open_read_only(path: &Path) -> Result<Self> {
        FlowStore::open_read_only(path).map(|store| Self::of(path, store))
    }

    fn of(path: &Path, store: FlowStore) -> Self {
        let store = ProcessLock::new(Some(Arc::new(store)));
        FlowTableFile {
            name: path.display().to_string(),
            store,
            passes: Passes::over("flow store"),
        }
    }

    /// Its path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true after it was closed.
    pub fn is_closed(&self) -> bool {
        self.opened().is_err()
    }

    /// Closes it: ends the passes that only read it, and waits until those that merge into it have ended, too.
    ///
    /// # Errors
    /// Those of the host; it is closed nevertheless.
    pub fn close<H: Host>(&self, host: &H) -> Result<(), H::Error> {
        // Taken first, so that no pass begins while others are waited for.
        let store = self.store.lock().take();
        let ended = self.passes.close(host);
        drop(store);
        ended
    }

    /// Number of flows.
    ///
    /// # Errors
    /// `Closed`, and those of reading the table.
    pub fn len(&self) -> Result<u64> {
        self.opened()?.len()
    }

    /// Returns true if it has no flow.
    ///
    /// # Errors
    /// Those of [`FlowTableFile::len`].
    pub fn is_empty(&self) -> Result<bool> {
        self.opened()?.is_empty()
    }

    /// Every capture that was counted.
    ///
    /// # Errors
    /// Those of [`FlowTableFile::len`].
    pub fn captures(&self) -> Result<Vec<CountedCapture>> {
        self.opened()?.captures()
    }

    /// Counts a capture whose flows were summed up elsewhere, in one transaction. They are on disk when it returns.
    ///
    /// # Errors
    /// `Closed`, and those of [`FlowStore::begin`](crate::sums::FlowStore::begin) and of writing the table.
    pub fn count(
        &self,
        capture: &CountedCapture,
        flows: impl IntoIterator<Item = Flow>,
    ) -> Result<Merged> {
        let store = self.opened()?;
        let mut count = store.begin()?;
        count.merge(flows)?;
        count.commit(&capture.content_id, &capture.name, capture.packets)
    }

    /// The entries of the one capture that was counted, whose content this is.
    ///
    /// # Errors
    /// `Closed`, and those of reading the table.
    pub fn entries(&self, content_id: &[u8], origin: EntryOrigin) -> Result<EntryRows> {
        EntryRows::new(&*self.opened()?, content_id, origin)
    }

    /// A pass that gives the flows as [`Answer::Flows`], in the order of addresses.
    ///
    /// # Errors
    /// `Closed`; `Io` where the system gives no thread.
    pub fn flows(&self) -> Result<Pass> {
        let store = self.opened()?;
        self.passes.start(Cancel::new(), AHEAD, move |outlet, _| send_stored(&store, outlet))
    }

    /// A pass that merges table files of flows, one after another, and gives [`Item::TableMerge`] for each when it is on
    /// disk.
    ///
    /// # Errors
    /// `Closed`; `Io` where the system gives no thread.
    pub fn merge(&self, paths: Vec<PathBuf>) -> Result<Pass> {
        let (store, cancel) = (self.opened()?, Cancel::new());
        self.passes.start(cancel.clone(), AHEAD, move |outlet, _| {
            for path in paths {
                let merge = ask::merge_table(&path, &store, || cancel.check())?;
                outlet.send(Item::TableMerge(Box::new(merge)))?;
            }
            Ok(())
        })
    }

    /// The store, `Closed` without one.
    pub(super) fn opened(&self) -> Result<Arc<FlowStore>> {
        self.store.lock().clone().ok_or_else(|| {
            Error::new(ErrorKind::Closed, "expected an open flow store, found it closed")
        })
    }
}

fn send_stored(store: &FlowStore, outlet: &Outlet<Item>) -> Result<()> {
    let mut flows = store.flows()?.peekable();
    while flows.peek().is_some() {
        let batch = flows.by_ref().take(BATCH_LEN).collect::<Result<Vec<_>>>()?;
        outlet.send(Item::Answer(Answer::Flows(batch)))?;
    }
    Ok(())
}
