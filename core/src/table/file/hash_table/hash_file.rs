//! File of one generation of a table: its log and its index, as all who use it share them.
//!
//! Nothing that was committed changes, so a state is the end of the log at its time. What the index leads to may be newer;
//! then the record tells which one it replaced, and so on, back to one that belongs to the state.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst, fence};
use std::sync::{Arc, Mutex};

use super::extent::LogExtent;
use super::far_versions::{FarVersion, FarVersions};
use super::header::{LOG_START, Log};
use super::index::IndexLookup;
use super::segment::KeyHash;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{LogRecord, PAGE_LEN, PageMap};
use crate::heap::record::HeapRecord;
use crate::table::ValueType;
use crate::table::file::sharing::{PinnedState, Sharing, ShortPin};

/// File of a table that is open.
#[derive(Debug)]
pub(super) struct HashFile {
    pub(super) log: Arc<Log>,
    /// Pages of the index: those of the file, or memory of this process.
    pub(super) map: Arc<PageMap>,
    pub(super) sharing: Sharing,
    /// True if the index is in memory of this process.
    pub(super) is_index_own: bool,
    /// Locked by the thread of this process that makes the log last.
    pub(super) syncing: Mutex<()>,
    /// Bytes that the file had when somebody looked.
    known_len: AtomicU64,
}

/// Version of a key, as a look-up finds it.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundVersion {
    pub(super) place: u64,
    /// Its length with its check.
    pub(super) len: u64,
    pub(super) is_deletion: bool,
}

impl HashFile {
    pub(super) fn new(
        log: Arc<Log>,
        map: Arc<PageMap>,
        sharing: Sharing,
        is_index_own: bool,
    ) -> HashFile {
        let (syncing, known_len) = (Mutex::default(), AtomicU64::new(0));
        HashFile { log, map, sharing, is_index_own, syncing, known_len }
    }

    #[inline]
    pub(super) fn hash(&self, key: &[u8]) -> KeyHash {
        KeyHash::new(key, self.log.header.seed)
    }

    /// Returns the bytes of the log that are neither records nor frames: those of the index, and those that were given back.
    pub(super) fn other_bytes(&self) -> u64 {
        let state = self.sharing.state();
        let room_bytes = if self.is_index_own { 0 } else { state.room_bytes() };
        room_bytes + state.freed_bytes()
    }

    /// Returns the newest state. Fails if the words of the processes or a part of the log were cut off the file.
    #[inline]
    pub(super) fn newest(&self) -> Result<LogExtent> {
        let state = self.sharing.state();
        let newest = state.newest();
        self.check_reached(LOG_START)?;
        if !state.is_of(self.log.header.identity()) {
            return Err(self.cut("what processes share of the table"));
        }
        if newest.end > self.log.mapped_end() {
            self.log.read_mapped_to(newest.end);
        }
        Ok(newest)
    }

    /// Returns the newest state, which is pinned.
    pub(super) fn pin_newest(&self) -> Result<(LogExtent, PinnedState)> {
        self.pin_newest_by(|state| self.sharing.pin(state))
    }

    /// Returns the newest state to read something of it: pinned, where what it has may be given back to the disk.
    #[inline]
    fn newest_to_read(&self) -> Result<(LogExtent, Option<ShortPin<'_>>)> {
        if self.log.header.values != ValueType::CACHE {
            return Ok((self.newest()?, None));
        }
        let (newest, pinned) = self.pin_newest_by(|state| self.sharing.pin_shortly(state))?;
        Ok((newest, Some(ShortPin::new(&self.sharing, pinned))))
    }

    #[inline]
    fn pin_newest_by(
        &self,
        pin: impl Fn((u64, u64)) -> Result<PinnedState>,
    ) -> Result<(LogExtent, PinnedState)> {
        loop {
            let counter = self.sharing.state().counter();
            let newest = self.newest()?;
            let pin = pin((newest.end, newest.start))?;
            fence(SeqCst);
            if self.sharing.state().counter() == counter {
                return Ok((newest, pin));
            }
            self.sharing.unpin(pin);
        }
    }

    /// Fails if the file ends before `end`.
    #[inline]
    pub(super) fn check_reaches(&self, end: u64) -> Result<()> {
        if end <= self.known_len.load(Relaxed) {
            return Ok(());
        }
        self.check_length(end)
    }

    /// Fails if the file ends before `end` now.
    #[cold]
    pub(super) fn check_length(&self, end: u64) -> Result<()> {
        let len = self.log.storage.len();
        let len = len.map_err(|error| self.log.system_error("read the table", &error))?;
        self.known_len.store(len, Relaxed);
        if end <= len { Ok(()) } else { Err(self.cut("the rest of the table").at(len)) }
    }

    /// Fails if a part that was read was not in the file any more.
    #[inline]
    pub(super) fn check_uncut(&self) -> Result<()> {
        match self.map.was_cut() {
            false => Ok(()),
            true => Err(self.cut("a file as long as it was")),
        }
    }

    /// Fails if the file did not reach to `end` when a part before was read: the rest of a page that is cut becomes zeros while it
    /// is read.
    #[inline]
    pub(super) fn check_reached(&self, end: u64) -> Result<()> {
        if self.is_index_own {
            return Ok(());
        }
        match self.map.reaches(end) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.cut("a file as long as it was")),
            Err(error) => Err(self.log.system_error("read the table", &error)),
        }
    }

    #[cold]
    fn cut(&self, expected: &str) -> Error {
        let message = format!(
            "expected {expected}, found a file that was cut or cannot be read; open it again"
        );
        Error::new(ErrorKind::Corrupt, message).in_file(&self.log.name)
    }

    /// Fails if the pages of the index up to `end` cannot be there.
    #[inline]
    pub(super) fn check_pages(&self, end: u64) -> Result<()> {
        if self.is_index_own { Ok(()) } else { self.check_reaches(end * PAGE_LEN as u64) }
    }

    /// Reads the record at `place`, which may be behind the newest state.
    #[inline]
    pub(super) fn record<'b>(
        &'b self,
        place: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(LogRecord<'b>, u64)> {
        let known_end = self.log.mapped_end();
        if place < known_end {
            return self.log.record(place, known_end, buffer);
        }
        let len = self.log.storage.len();
        let len = len.map_err(|error| self.log.system_error("read the table", &error))?;
        self.log.record(place, len, buffer)
    }

    /// Reads the record at `place`; none if it is of another key.
    #[inline]
    fn record_of<'b>(
        &'b self,
        key: &[u8],
        place: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Option<(LogRecord<'b>, u64)>> {
        let (record, len) = self.record(place, buffer)?;
        if record.key() == key {
            return Ok(Some((record, len)));
        }
        self.check_reached(place + len)?;
        Ok(None)
    }

    /// Looks for the version of `key` that belongs to `state`, and shows `found` the value of an entry. `far` has what was found
    /// before in that state.
    pub(super) fn version(
        &self,
        state: &LogExtent,
        (key, hash): (&[u8], KeyHash),
        far: Option<&FarVersions>,
        buffer: &mut Vec<u8>,
        found: &mut dyn FnMut(&[u8], FoundVersion),
    ) -> Result<IndexLookup<()>> {
        self.find(hash, |entry| {
            if entry.place < state.start {
                return Ok(None);
            }
            let Some(place) = self.go_back(state, (key, hash), entry.place, far, buffer)? else {
                return Ok(None);
            };
            let Some((record, len)) = self.record_of(key, place, buffer)? else { return Ok(None) };
            let is_deletion = record.is_deletion();
            let value = match record.record {
                HeapRecord::Entry { value, .. } => value,
                HeapRecord::Deletion { .. } => &[],
            };
            found(value, FoundVersion { place, len, is_deletion });
            self.check_reached(place + len)?;
            Ok(Some(()))
        })
    }

    /// Goes back from the version of a key at `place` to the one that belongs to `state`; none if it had none then, or if it is
    /// not a version of `key`.
    #[inline]
    fn go_back(
        &self,
        state: &LogExtent,
        (key, hash): (&[u8], KeyHash),
        place: u64,
        far: Option<&FarVersions>,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<u64>> {
        if place < state.end {
            return Ok(Some(place));
        }
        let (mut at, mut steps) = (place, 0);
        if let Some(known) = far.and_then(|far| far.get(hash))
            && self.record_of(key, known.newer, buffer)?.is_some()
        {
            return Ok(Some(known.place));
        }
        while at >= state.end {
            let Some((record, _)) = self.record_of(key, at, buffer)? else { return Ok(None) };
            (at, steps) = (record.replaced, steps + 1);
        }
        if at < state.start {
            // It may be an entry beside one that was there before all were taken out.
            return Ok(None);
        }
        if let Some(far) = far {
            far.note(hash, FarVersion { place: at, newer: place }, steps);
        }
        Ok(Some(at))
    }

    /// Looks for `key` in the newest state.
    pub(super) fn get(
        &self,
        key: &[u8],
        buffer: &mut Vec<u8>,
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool> {
        let hash = self.hash(key);
        loop {
            let (state, _pin) = self.newest_to_read()?;
            let mut is_there = false;
            let shown = &mut |value: &[u8], version: FoundVersion| {
                is_there = !version.is_deletion;
                if is_there {
                    self.note_use(version.place);
                    found(value);
                }
            };
            match self.version(&state, (key, hash), None, buffer, shown)? {
                IndexLookup::Moved => {}
                IndexLookup::Found(()) | IndexLookup::Absent => {
                    self.check_uncut()?;
                    return Ok(is_there);
                }
            }
        }
    }

    /// Returns true if the record at `place` is the version of its key that belongs to `state`, which is pinned or cannot
    /// change.
    pub(super) fn is_version(
        &self,
        state: &LogExtent,
        (key, hash): (&[u8], KeyHash),
        place: u64,
        far: &FarVersions,
        buffer: &mut Vec<u8>,
    ) -> Result<bool> {
        if place < state.start {
            return Ok(false);
        }
        loop {
            let lookup = self.find(hash, |entry| {
                let is_it = entry.place == place
                    || entry.place >= state.end
                        && self.go_back(state, (key, hash), entry.place, Some(far), buffer)?
                            == Some(place);
                Ok(is_it.then_some(()))
            })?;
            match lookup {
                IndexLookup::Found(()) => return Ok(true),
                IndexLookup::Absent => return Ok(false),
                IndexLookup::Moved => {}
            }
        }
    }
}
