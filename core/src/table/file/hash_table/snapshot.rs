//! A hashed table as it was: the end of its log at that time. A snapshot that is taken within a transaction also has a copy
//! of what that changed so far.

use std::collections::HashMap;
use std::sync::Arc;

use super::extent::LogExtent;
use super::far_versions::FarVersions;
use super::hash_file::{FoundVersion, HashFile};
use super::index::IndexLookup;
use super::log_walk::{LogWalk, SeenRecord};
use super::log_writer::LogWriter;
use super::segment::KeyHash;
use crate::error::{Error, ErrorKind, Result};
use crate::files::ProcessMark;
use crate::heap::record::HeapRecord;
use crate::table::file::sharing::PinnedState;
use crate::table::{Scan, Snapshot};

/// A hashed table as it was when this was taken. It keeps its file open.
#[derive(Debug, Clone)]
pub(super) struct HashSnapshot {
    held: Arc<HeldState>,
    /// Changes that an open transaction had made.
    pending: Option<Arc<Pending>>,
    len: u64,
}

/// Keeps what a snapshot needs, as long as it or a scan of it is there.
#[derive(Debug)]
struct HeldState {
    file: Arc<HashFile>,
    state: LogExtent,
    pin: Option<PinnedState>,
    process: ProcessMark,
    far: FarVersions,
}

impl Drop for HeldState {
    fn drop(&mut self) {
        if let Some(pin) = self.pin.take().filter(|_| self.process.is_here()) {
            self.file.sharing.unpin(pin);
        }
    }
}

impl HeldState {
    fn check_process(&self) -> Result<()> {
        match self.process.is_here() {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Closed,
                "expected a snapshot of this process, found one of the process that forked it: take one \
                 here",
            )
            .in_file(&self.file.log.name)),
        }
    }

    fn get(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let (file, hash, mut buffer) = (&self.file, self.file.hash(key), Vec::new());
        let mut is_there = false;
        let shown = &mut |value: &[u8], version: FoundVersion| {
            is_there = !version.is_deletion;
            if is_there {
                file.note_use(version.place);
                found(value);
            }
        };
        let (key, far) = ((key, hash), Some(&self.far));
        while file.version(&self.state, key, far, &mut buffer, shown)? == IndexLookup::Moved {}
        file.check_uncut()?;
        Ok(is_there)
    }
}

/// The changes of a transaction, in the order in which they were made last.
#[derive(Debug, Default)]
struct Pending {
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// Index in `entries` by key; `None` for a key without an entry.
    keys: HashMap<Vec<u8>, Option<usize>>,
    /// True if all that was committed is taken out.
    has_cleared: bool,
}

impl Pending {
    fn of(writer: &LogWriter) -> Result<Pending> {
        let changes = writer.transaction.changes();
        let mut places: Vec<u64> = changes.iter().map(|change| change.index.entry.place).collect();
        places.sort_unstable();
        let has_cleared = writer.transaction.has_cleared();
        let (mut pending, mut buffer) = (Pending { has_cleared, ..Pending::default() }, Vec::new());
        for place in places {
            let record = writer.record(place, &mut buffer)?.0.record;
            let at = match record {
                HeapRecord::Entry { key, value } => {
                    pending.entries.push((key.to_vec(), value.to_vec()));
                    Some(pending.entries.len() - 1)
                }
                HeapRecord::Deletion { .. } => None,
            };
            pending.keys.insert(record.key().to_vec(), at);
        }
        Ok(pending)
    }
}

impl HashSnapshot {
    /// The table as its own reads see it.
    pub(super) fn take(writer: &LogWriter, process: ProcessMark) -> Result<HashSnapshot> {
        // In a transaction, nobody else makes a newer state.
        let committed = Self::of_committed(&writer.file, process)?;
        if writer.transaction.depth() == 0 || writer.transaction.is_empty() {
            return Ok(committed);
        }
        let pending = Some(Arc::new(Pending::of(writer)?));
        Ok(HashSnapshot { pending, len: writer.extent.records, ..committed })
    }

    /// The table as all others see it, also within a transaction.
    pub(super) fn of_committed(file: &Arc<HashFile>, process: ProcessMark) -> Result<HashSnapshot> {
        let (state, pin) = file.pin_newest()?;
        let (file, far) = (file.clone(), FarVersions::default());
        let held = HeldState { file, state, pin: Some(pin), process, far };
        Ok(HashSnapshot { held: Arc::new(held), pending: None, len: state.records })
    }

    /// Returns the file, and the state of it that was committed.
    pub(super) fn committed(&self) -> (&Arc<HashFile>, &LogExtent) {
        (&self.held.file, &self.held.state)
    }

    /// Fails in a process that was forked since.
    pub(super) fn check_process(&self) -> Result<()> {
        self.held.check_process()
    }

    /// All entries, in the order of their last write. There are none before `first`, the place of a frame.
    pub(super) fn records_from(&self, first: u64) -> HashScan {
        let HeldState { file, state, .. } = &*self.held;
        let is_hidden = self.pending.as_ref().is_some_and(|pending| pending.has_cleared);
        let at = if is_hidden { state.end } else { state.start.max(first) };
        HashScan {
            walk: LogWalk::begin(file.log.clone(), at, state.end),
            snapshot: self.clone(),
            batch: Vec::new(),
            next: 0,
            buffer: Vec::new(),
            pending_at: 0,
            is_over: false,
        }
    }
}

impl Snapshot for HashSnapshot {
    fn len(&self) -> Result<u64> {
        Ok(self.len)
    }

    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.held.check_process()?;
        if let Some(pending) = &self.pending {
            if let Some(at) = pending.keys.get(key) {
                at.inspect(|at| found(&pending.entries[*at].1));
                return Ok(at.is_some());
            }
            if pending.has_cleared {
                return Ok(false);
            }
        }
        self.held.get(key, found)
    }

    fn scan(&self) -> Result<Box<dyn Scan>> {
        self.held.check_process()?;
        Ok(Box::new(self.records_from(0)))
    }
}

/// The entries of a snapshot, in the order of their last write.
#[derive(Debug)]
pub(super) struct HashScan {
    snapshot: HashSnapshot,
    walk: LogWalk,
    /// Records that are looked up together, and the next of them.
    batch: Vec<SeenRecord>,
    next: usize,
    buffer: Vec<u8>,
    /// The next of the entries of an open transaction.
    pending_at: usize,
    is_over: bool,
}

impl HashScan {
    /// The frame of the entry that came last. All before it are dead where that was the first.
    pub(super) fn frame_start(&self) -> u64 {
        self.next.checked_sub(1).and_then(|at| self.batch.get(at)).map_or(0, |seen| seen.frame)
    }

    /// Goes to the next record that is alive.
    fn find_next(&mut self) -> Result<Option<SeenRecord>> {
        let (held, pending) = (&self.snapshot.held, &self.snapshot.pending);
        let is_looked_up = held.state.dead_records > 0;
        loop {
            while let Some(seen) = self.batch.get(self.next).copied() {
                self.next += 1;
                if seen.is_deletion {
                    continue;
                }
                if !is_looked_up && pending.is_none() {
                    return Ok(Some(seen));
                }
                let record = self.walk.record(&seen)?;
                let is_hidden = |pending: &Arc<Pending>| pending.keys.contains_key(record.key());
                if pending.as_ref().is_some_and(is_hidden) {
                    continue;
                }
                let key = (record.key(), seen.hash);
                let (file, state) = (&held.file, &held.state);
                if !is_looked_up
                    || file.is_version(state, key, seen.place, &held.far, &mut self.buffer)?
                {
                    return Ok(Some(seen));
                }
            }
            self.next = 0;
            let file = &held.file;
            let hash = |key: &[u8]| if is_looked_up { file.hash(key) } else { KeyHash::NONE };
            self.walk.look_ahead(&mut self.batch, hash)?;
            if self.batch.is_empty() {
                return Ok(None);
            }
            if is_looked_up {
                self.batch.iter().for_each(|seen| file.prefetch(seen.hash));
            }
        }
    }
}

impl Scan for HashScan {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.is_over {
            return Ok(None);
        }
        self.is_over = true;
        self.snapshot.held.check_process()?;
        if let Some(seen) = self.find_next()? {
            self.is_over = false;
            return self.walk.entry(&seen).map(Some);
        }
        let pending = self.snapshot.pending.as_ref();
        let entry = pending.and_then(|pending| pending.entries.get(self.pending_at));
        self.pending_at += 1;
        self.is_over = entry.is_none();
        Ok(entry.map(|(key, value)| (&key[..], &value[..])))
    }
}
