//! A hashed table as it was: the log up to its end at that time, and what the index knows of it. A
//! snapshot that is taken within a transaction also has a copy of what that changed so far.

use std::collections::HashMap;
use std::sync::Arc;

use super::extent::LogExtent;
use super::header::LogReader;
use super::transaction::Transaction;
use super::view::GenerationView;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{CHECK_LEN, ProcessMark};
use crate::heap::record::HeapRecord;
use crate::table::{Scan, Snapshot};

/// A hashed table as it was when this was taken. It keeps the file of its generation open, and what
/// the index displaces since in memory.
#[derive(Debug, Clone)]
pub(super) struct HashSnapshot {
    held: Arc<HeldGeneration>,
    /// Changes that an open transaction had made.
    pending: Option<Arc<Pending>>,
    len: u64,
}

/// Keeps what a snapshot needs, as long as it or a scan of it is there.
#[derive(Debug)]
struct HeldGeneration {
    view: Arc<GenerationView>,
    extent: LogExtent,
    /// The index goes on in the process that has the table; a child sees it change, but is not told.
    process: ProcessMark,
}

impl Drop for HeldGeneration {
    fn drop(&mut self) {
        if self.process.is_here() {
            self.view.index().remove_snapshot(self.extent.end);
        }
    }
}

impl HeldGeneration {
    fn check_process(&self) -> Result<()> {
        match self.process.is_here() {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Closed,
                "expected a snapshot of this process, found one of the process that forked it: take one \
                 here",
            )
            .in_file(&self.view.log.name)),
        }
    }
}

/// The changes of a transaction, in the order in which they were made last.
#[derive(Debug, Default)]
struct Pending {
    entries: Vec<Option<(Vec<u8>, Vec<u8>)>>,
    /// Index in `entries` by key; `None` for a key without an entry.
    keys: HashMap<Vec<u8>, Option<usize>>,
}

impl Pending {
    fn add(&mut self, record: &HeapRecord<'_>) {
        let at = match record {
            HeapRecord::Entry { key, value } => {
                self.entries.push(Some((key.to_vec(), value.to_vec())));
                Some(self.entries.len() - 1)
            }
            HeapRecord::Deletion { .. } => None,
        };
        if let Some(Some(before)) = self.keys.insert(record.key().to_vec(), at) {
            self.entries[before] = None;
        }
    }
}

impl HashSnapshot {
    /// The table at `extent`, of which `transaction` has changed some.
    pub(super) fn take(
        view: &Arc<GenerationView>,
        extent: &LogExtent,
        committed: &LogExtent,
        transaction: &Transaction,
        process: ProcessMark,
    ) -> Result<HashSnapshot> {
        let start = extent.start.min(committed.end);
        let held = HeldGeneration {
            view: view.clone(),
            extent: LogExtent { start, ..*committed },
            process,
        };
        let mut index = view.index();
        index.add_snapshot(committed.end);
        for undo in transaction.changes().filter(|undo| undo.old != 0) {
            index.displace(undo.hash, undo.old, committed.end);
        }
        drop(index);
        let held = Arc::new(held);
        let pending = match transaction.is_empty() {
            true => None,
            false => Some(Arc::new(pending(view, extent, transaction)?)),
        };
        Ok(HashSnapshot { held, pending, len: extent.records })
    }

    /// All entries, in the order of their last write.
    pub(super) fn records(&self) -> HashScan {
        let HeldGeneration { view, extent, .. } = &*self.held;
        HashScan {
            reader: LogReader::new(view.log.clone(), extent.end),
            snapshot: self.clone(),
            at: extent.start,
            frame_start: extent.start,
            frame_end: extent.start,
            pending_at: 0,
            is_over: false,
        }
    }

    fn displaced(&self, key: &[u8], buffer: &mut Vec<u8>) -> Result<Option<usize>> {
        let HeldGeneration { view, extent, .. } = &*self.held;
        let hash = view.hash(key);
        let index = view.index();
        for place in index.displaced_since(hash, extent.end) {
            if let Some(value_len) = value_len_of(view, place, extent.end, key, buffer)? {
                return Ok(Some(value_len));
            }
        }
        let mut found = None;
        index.index.find(hash, |place| {
            if place < extent.end {
                found = value_len_of(view, place, extent.end, key, buffer)?;
            }
            Ok(found.is_some())
        })?;
        Ok(found)
    }
}

/// Reads the changes of `transaction` again from where they are.
fn pending(
    view: &GenerationView,
    extent: &LogExtent,
    transaction: &Transaction,
) -> Result<Pending> {
    let mut pending = Pending::default();
    let frame_to_come = transaction.frame();
    let mut reader = LogReader::new(view.log.clone(), frame_to_come.offset());
    // What is before the last clearing is gone.
    for frame in transaction.written().iter().filter(|frame| frame.offset >= extent.start) {
        reader.each_record(frame, |record, _| {
            pending.add(&record);
            Ok(())
        })?;
    }
    let mut at = frame_to_come.payload();
    while let Some((record, bytes)) = frame_to_come.record(at) {
        pending.add(&record);
        at += bytes.len() as u64;
    }
    Ok(pending)
}

/// Reads the record at `place` into `buffer`; the length of its value where it is that of `key`.
fn value_len_of(
    view: &GenerationView,
    place: u64,
    end: u64,
    key: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<Option<usize>> {
    let (record, len) = view.log.record(place, end, buffer)?;
    let value_len = match record {
        HeapRecord::Entry { key: found, value } if found == key => value.len(),
        _ => return Ok(None),
    };
    buffer.truncate(len as usize - CHECK_LEN);
    Ok(Some(value_len))
}

impl Snapshot for HashSnapshot {
    fn len(&self) -> Result<u64> {
        Ok(self.len)
    }

    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.held.check_process()?;
        if let Some(pending) = &self.pending
            && let Some(at) = pending.keys.get(key)
        {
            let entry = at.and_then(|at| pending.entries[at].as_ref());
            entry.inspect(|(_, value)| found(value));
            return Ok(entry.is_some());
        }
        let mut buffer = Vec::new();
        let value_len = self.displaced(key, &mut buffer)?;
        if let Some(len) = value_len {
            found(&buffer[buffer.len() - len..]);
        }
        Ok(value_len.is_some())
    }

    fn scan(&self) -> Result<Box<dyn Scan>> {
        self.held.check_process()?;
        Ok(Box::new(self.records()))
    }
}

/// The entries of a snapshot, in the order of their last write.
#[derive(Debug)]
pub(super) struct HashScan {
    snapshot: HashSnapshot,
    reader: LogReader,
    at: u64,
    /// The frame that this is in.
    frame_start: u64,
    frame_end: u64,
    /// The next of the entries of an open transaction.
    pending_at: usize,
    is_over: bool,
}

impl HashScan {
    /// The frame of the entry that came last. All before it are dead where that was the first.
    pub(super) fn frame_start(&self) -> u64 {
        self.frame_start
    }

    /// Goes to the next record that is alive: its place, and its length with its check.
    fn find_next(&mut self) -> Result<Option<(u64, usize)>> {
        let HeldGeneration { view, extent, .. } = &*self.snapshot.held;
        loop {
            if self.at == self.frame_end {
                if self.at >= extent.end {
                    return Ok(None);
                }
                let frame = self.reader.frame(self.at)?;
                let frame = frame.ok_or_else(|| view.log.corrupt(self.at, "a frame"))?;
                self.frame_start = self.at;
                self.frame_end = frame.end();
                self.at = frame.payload();
                continue;
            }
            let place = self.at;
            let record = self.reader.record(place, self.frame_end)?;
            let (record, len) = record.ok_or_else(|| view.log.corrupt(place, "a record"))?;
            self.at += len;
            let HeapRecord::Entry { key, .. } = record else { continue };
            let is_hidden = |pending: &Arc<Pending>| pending.keys.contains_key(key);
            if self.snapshot.pending.as_ref().is_some_and(is_hidden) {
                continue;
            }
            if view.index().was_alive(view.hash(key), place, extent.end) {
                return Ok(Some((place, len as usize)));
            }
        }
    }

    fn next_pending(&mut self) -> Option<usize> {
        let pending = self.snapshot.pending.as_ref()?;
        let left = pending.entries.get(self.pending_at..)?;
        let at = self.pending_at + left.iter().position(Option::is_some)?;
        self.pending_at = at + 1;
        Some(at)
    }
}

impl Scan for HashScan {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.is_over {
            return Ok(None);
        }
        self.is_over = true;
        self.snapshot.held.check_process()?;
        if let Some((place, len)) = self.find_next()? {
            self.is_over = false;
            return match self.reader.record_of_len(place, len)? {
                Some((HeapRecord::Entry { key, value }, _)) => Ok(Some((key, value))),
                _ => Err(Error::internal("a record in view that is gone")),
            };
        }
        let Some(at) = self.next_pending() else { return Ok(None) };
        self.is_over = false;
        let pending = self.snapshot.pending.as_ref();
        let entry = pending.and_then(|pending| pending.entries[at].as_ref());
        Ok(entry.map(|(key, value)| (&key[..], &value[..])))
    }
}
