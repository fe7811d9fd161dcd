//! View of a table at one moment: changes that are not in the file yet, laid over what is below them. Snapshots and
//! scans are views that stay.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use redb::{ReadableTable, ReadableTableMetadata, WriteTransaction};

use super::changes::ChangedEntries;
use super::database::{CommitReading, Guard, Range, TABLE, Writing, bounds, look_at, some_entries};
use super::fork_guard::{ForkGuard, check_process};
use super::redb_backend::guarded;
use super::uses::{InUse, UseKind, Uses};
use crate::error::{Error, ErrorKind, Result};
use crate::files::ProcessMark;
use crate::table::{KeyRange, OrderedSnapshot, Scan, Snapshot};

/// Entries of an open transaction of redb that are fetched at a time.
const FETCH_COUNT: usize = 64;

/// The part of a transaction that became too much for memory: a transaction of redb that is not
/// committed yet. As long as a view shows it, it is not changed.
pub(super) struct Spill {
    writing: Mutex<Writing>,
    name: String,
}

impl Spill {
    pub(super) fn new(writing: Writing, name: &str) -> Spill {
        Spill { writing: Mutex::new(writing), name: name.to_owned() }
    }

    /// Does `work` with the transaction, unless it has ended.
    pub(super) fn with<T>(&self, work: impl FnOnce(&WriteTransaction) -> Result<T>) -> Result<T> {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let writing = writing.checked().map_err(|_| {
            let message = "expected the transaction of this snapshot or scan to be open, found \
                           it ended";
            Error::new(ErrorKind::Closed, message).in_file(&self.name)
        })?;
        work(writing)
    }

    /// Takes the transaction out to end it.
    pub(super) fn end(&self) -> Result<Writing> {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Ok(ForkGuard::new(writing))
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.with(|writing| {
            guarded(&self.name, || {
                let table = writing.open_table(TABLE)?;
                let value = table.get(key)?.map(|value| value.value().to_vec());
                Ok::<_, redb::Error>(value)
            })
        })
    }

    fn len(&self) -> Result<u64> {
        self.with(|writing| {
            guarded(&self.name, || Ok::<_, redb::Error>(writing.open_table(TABLE)?.len()?))
        })
    }
}

/// Base that the changes in memory are laid over.
#[derive(Clone)]
pub(super) enum Below {
    Reading(Arc<CommitReading>),
    Spill(Arc<Spill>),
}

impl Below {
    fn find(&self, key: &[u8]) -> Result<FoundValue> {
        Ok(match self {
            Below::Reading(reading) => {
                reading.get(key)?.map_or(FoundValue::Nothing, FoundValue::Page)
            }
            Below::Spill(spill) => spill.get(key)?.map_or(FoundValue::Nothing, FoundValue::Copy),
        })
    }

    fn len(&self) -> Result<u64> {
        match self {
            Below::Reading(reading) => reading.len(),
            Below::Spill(spill) => spill.len(),
        }
    }
}

/// The value of a key, in the layer that has it.
pub(super) enum FoundValue {
    Nothing,
    Change(Arc<ChangedEntries>),
    Page(Guard),
    Copy(Vec<u8>),
}

impl FoundValue {
    /// Shows the value of `key`, which this was found for, and says whether there is one.
    pub(super) fn show(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> bool {
        match self {
            FoundValue::Nothing => return false,
            FoundValue::Change(changes) => match changes.get(key) {
                Some(Some(value)) => found(value),
                _ => return false,
            },
            FoundValue::Page(value) => found(value.value()),
            FoundValue::Copy(value) => found(value),
        }
        true
    }

    pub(super) fn is_there(&self) -> bool {
        !matches!(self, FoundValue::Nothing)
    }
}

/// Finds the value of `key` in `layers`, of which the last is the newest, or below them.
pub(super) fn find(
    layers: &[Arc<ChangedEntries>],
    below: impl FnOnce() -> Result<Below>,
    key: &[u8],
) -> Result<FoundValue> {
    for layer in layers.iter().rev() {
        match layer.get(key) {
            Some(Some(_)) => return Ok(FoundValue::Change(layer.clone())),
            Some(None) => return Ok(FoundValue::Nothing),
            None => {}
        }
    }
    below()?.find(key)
}

/// Steps of a scan between two looks whether this is still the process that began it. A child that has
/// not looked yet sees what is in memory: beyond that, its reads fail.
const STEPS_PER_CHECK: u32 = 32;

/// A table at one moment.
pub(super) struct TreeView {
    process: ProcessMark,
    /// The last is the newest; none is empty.
    layers: Vec<Arc<ChangedEntries>>,
    below: Below,
    in_use: InUse,
}

impl TreeView {
    pub(super) fn new(
        layers: &[Arc<ChangedEntries>],
        below: Below,
        process: ProcessMark,
        uses: &Arc<Uses>,
    ) -> TreeView {
        let layers = layers.iter().filter(|layer| !layer.is_empty()).cloned().collect();
        TreeView { process, layers, below, in_use: InUse::new(uses, UseKind::Snapshot) }
    }

    pub(super) fn find(&self, key: &[u8]) -> Result<FoundValue> {
        find(&self.layers, || Ok(self.below.clone()), key)
    }

    pub(super) fn scan(&self, range: &KeyRange) -> Result<TreeScan> {
        check_process(self.process)?;
        let is_over = range.is_empty();
        let below = match &self.below {
            _ if is_over => Pages::Over,
            Below::Reading(reading) => match reading.range(range)? {
                Some(range) => {
                    let range = Box::new(ForkGuard::new(range));
                    Pages::Reading { range, _reading: reading.clone() }
                }
                None => Pages::Over,
            },
            Below::Spill(spill) => {
                Pages::Spill { spill: spill.clone(), left: range.clone(), fetched: VecDeque::new() }
            }
        };
        let name = match &self.below {
            Below::Reading(reading) => reading.name().to_owned(),
            Below::Spill(spill) => spill.name.clone(),
        };
        let layers = if is_over { Vec::new() } else { self.layers.clone() };
        Ok(TreeScan {
            process: self.process,
            steps: 1,
            layers,
            below,
            left: range.clone(),
            peeked: None,
            current: None,
            name,
            _in_use: self.in_use.another(UseKind::Scan),
        })
    }
}

impl Snapshot for TreeView {
    fn len(&self) -> Result<u64> {
        check_process(self.process)?;
        let mut len = self.below.len()?;
        for (number, layer) in self.layers.iter().enumerate() {
            let newer = &self.layers[number + 1..];
            for (key, value) in layer.iter() {
                if newer.iter().any(|layer| layer.get(key).is_some()) {
                    continue;
                }
                match (value.is_some(), self.below.find(key)?.is_there()) {
                    (true, false) => len += 1,
                    (false, true) => len = len.saturating_sub(1),
                    _ => {}
                }
            }
        }
        Ok(len)
    }

    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool> {
        check_process(self.process)?;
        Ok(self.find(key)?.show(key, found))
    }

    fn scan(&self) -> Result<Box<dyn Scan>> {
        self.scan_range(&KeyRange::ALL)
    }
}

impl OrderedSnapshot for TreeView {
    fn scan_range(&self, range: &KeyRange) -> Result<Box<dyn Scan>> {
        Ok(Box::new(self.scan(range)?))
    }
}

/// Entries from below, one after another.
enum Pages {
    /// A range, and what it is of, which keeps the file open behind the table.
    Reading {
        range: Box<ForkGuard<Range>>,
        _reading: Arc<CommitReading>,
    },
    Spill {
        spill: Arc<Spill>,
        left: KeyRange,
        fetched: VecDeque<(Vec<u8>, Vec<u8>)>,
    },
    Over,
}

/// An entry from below. What a page holds is in memory, so that a child may look at it, too; and it
/// ends no reading, which the range beside it keeps.
enum PageEntry {
    Page(Guard, Guard),
    Copy(Vec<u8>, Vec<u8>),
}

impl PageEntry {
    fn get(&self) -> (&[u8], &[u8]) {
        match self {
            PageEntry::Page(key, value) => (key.value(), value.value()),
            PageEntry::Copy(key, value) => (key, value),
        }
    }
}

impl Pages {
    fn next(&mut self, reverse: bool, name: &str) -> Result<Option<PageEntry>> {
        match self {
            Pages::Over => Ok(None),
            Pages::Reading { range, .. } => {
                let range = range.checked_mut()?;
                let entry = guarded(name, || {
                    let entry = if reverse { range.next_back() } else { range.next() };
                    entry.transpose().map(|entry| {
                        entry.inspect(|(key, value)| {
                            look_at(key);
                            look_at(value);
                        })
                    })
                })?;
                Ok(entry.map(|(key, value)| PageEntry::Page(key, value)))
            }
            Pages::Spill { spill, left, fetched } => {
                if fetched.is_empty() && !left.is_empty() {
                    fetched.extend(spill.with(|w| some_entries(w, left, FETCH_COUNT, name))?);
                    if let Some((last, _)) = fetched.back() {
                        pass(left, last);
                    }
                }
                Ok(fetched.pop_front().map(|(key, value)| PageEntry::Copy(key, value)))
            }
        }
    }
}

/// Takes `key` and what comes before it out of a range.
fn pass(range: &mut KeyRange, key: &[u8]) {
    let passed = Bound::Excluded(key.to_vec());
    match range.reverse {
        true => range.to = passed,
        false => range.from = passed,
    }
}

/// Place of the entry that a scan gave last.
enum Current {
    /// In the layer of this number, at this key.
    Change(usize, Vec<u8>),
    Page(PageEntry),
}

/// The entries of a view in the order of their keys.
pub(super) struct TreeScan {
    process: ProcessMark,
    steps: u32,
    layers: Vec<Arc<ChangedEntries>>,
    below: Pages,
    /// The keys that no layer has shown yet.
    left: KeyRange,
    /// The next entry from below, read ahead to compare it.
    peeked: Option<PageEntry>,
    current: Option<Current>,
    name: String,
    _in_use: InUse,
}

impl TreeScan {
    /// The layer with the next changed key, and the key; the newest layer of those that have it.
    fn next_change(&self) -> Option<(usize, &[u8], bool)> {
        if self.left.is_empty() {
            return None;
        }
        let (from, to) = bounds(&self.left);
        let mut best: Option<(usize, &[u8], bool)> = None;
        for (number, layer) in self.layers.iter().enumerate().rev() {
            let Some((key, value)) = layer.next(from, to, self.left.reverse) else { continue };
            if best.is_none_or(|(_, best, _)| is_before(key, best, self.left.reverse)) {
                best = Some((number, key, value.is_some()));
            }
        }
        best
    }

    /// Finds the next entry.
    fn step(&mut self) -> Result<Option<Current>> {
        loop {
            if self.peeked.is_none() {
                self.peeked = self.below.next(self.left.reverse, &self.name)?;
            }
            let Some((number, key, is_there)) = self.next_change() else {
                return Ok(self.peeked.take().map(Current::Page));
            };
            if let Some(entry) = &self.peeked {
                let (below, _) = entry.get();
                if is_before(below, key, self.left.reverse) {
                    return Ok(self.peeked.take().map(Current::Page));
                }
            }
            let key = key.to_vec();
            // The change stands for what is below of the same key.
            if self.peeked.as_ref().is_some_and(|entry| entry.get().0 == key) {
                self.peeked = None;
            }
            pass(&mut self.left, &key);
            if is_there {
                return Ok(Some(Current::Change(number, key)));
            }
        }
    }

    fn end(&mut self) {
        self.layers.clear();
        self.below = Pages::Over;
        self.peeked = None;
    }
}

fn is_before(a: &[u8], b: &[u8], reverse: bool) -> bool {
    if reverse { a > b } else { a < b }
}

impl Scan for TreeScan {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        self.current = None;
        self.steps = self.steps.wrapping_add(1);
        if self.steps % STEPS_PER_CHECK == 1 {
            check_process(self.process)?;
        }
        match self.step() {
            Ok(current) => self.current = current,
            Err(error) => {
                self.end();
                return Err(error);
            }
        }
        match &self.current {
            None => Ok(None),
            Some(Current::Page(entry)) => Ok(Some(entry.get())),
            Some(Current::Change(number, key)) => {
                let value = self.layers.get(*number).and_then(|layer| layer.get(key)).flatten();
                Ok(value.map(|value| (key.as_slice(), value)))
            }
        }
    }
}
