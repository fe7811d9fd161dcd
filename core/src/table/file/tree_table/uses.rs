//! Counts of what reads a table in this process, for the error of what has to wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Kind of use: a read of one commit that goes on for a while.
#[derive(Debug, Clone, Copy)]
pub(super) enum UseKind {
    Snapshot,
    Scan,
}

/// Numbers of snapshots and scans in use.
#[derive(Debug, Default)]
pub(super) struct Uses {
    snapshots: AtomicUsize,
    scans: AtomicUsize,
}

impl Uses {
    fn count(&self, kind: UseKind) -> &AtomicUsize {
        match kind {
            UseKind::Snapshot => &self.snapshots,
            UseKind::Scan => &self.scans,
        }
    }

    /// Describes what is in use, for people.
    pub(super) fn describe(&self) -> String {
        let counted = |count: &AtomicUsize, name: &str| match count.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(format!("1 {name}")),
            count => Some(format!("{count} {name}s")),
        };
        let found = [counted(&self.snapshots, "snapshot"), counted(&self.scans, "scan")];
        match found {
            [Some(snapshots), Some(scans)] => format!("{snapshots} and {scans}"),
            [Some(one), None] | [None, Some(one)] => one,
            [None, None] => "a read".to_owned(),
        }
    }
}

/// One of them, counted until it is dropped.
#[derive(Debug)]
pub(super) struct InUse {
    uses: Arc<Uses>,
    kind: UseKind,
}

impl InUse {
    pub(super) fn new(uses: &Arc<Uses>, kind: UseKind) -> InUse {
        uses.count(kind).fetch_add(1, Ordering::Relaxed);
        InUse { uses: uses.clone(), kind }
    }

    /// Another use of the same table.
    pub(super) fn another(&self, kind: UseKind) -> InUse {
        InUse::new(&self.uses, kind)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.uses.count(self.kind).fetch_sub(1, Ordering::Relaxed);
    }
}
