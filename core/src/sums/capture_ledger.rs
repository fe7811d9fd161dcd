//! An ordered table whose entries add up over captures, none of which is counted twice: what tables of flows and of
//! calls have in common. They say what is added up, and how.
//!
//! A capture is counted in one transaction, which also makes an entry for it. `docs/flow-table.md` draws the entries that
//! all such tables have.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::ThreadId;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::files::ProcessMark;
use crate::table::file::{self, OpenOptions, TreeTable};
use crate::table::memory;
use crate::table::{KeyRange, OrderedSnapshot, OrderedTable};
use crate::wire::{Endian::Little, Reader};

/// The first byte of the key of the entry that says what the table holds.
pub(super) const FORMAT_KEY: u8 = 0;

/// The first byte of the key of a capture.
pub(super) const CAPTURE_KEY: u8 = 0xc0;

/// The first byte of the value of a capture.
const CAPTURE_VERSION: u8 = 1;

/// The bit of a capture's second byte.
const HAS_PACKETS: u8 = 1;

/// Lengths of a capture's content id.
const CONTENT_ID_LEN: std::ops::RangeInclusive<usize> = 8..=64;

/// Format and names of a kind of table.
#[derive(Debug)]
pub(super) struct StoreKind {
    /// The value of the entry that says so.
    pub(super) format: &'static str,
    /// Beginning of the format in every version.
    pub(super) format_of_any_version: &'static str,
    /// One of the entries: "flow".
    pub(super) entry: &'static str,
    /// The page that draws them.
    pub(super) page: &'static str,
}

impl StoreKind {
    /// The error of an entry that is not as it was written.
    pub(super) fn damaged(&self, what: &str) -> Error {
        let page = self.page;
        let message = format!("expected a {what} in the layout of {page}, found other bytes");
        Error::new(ErrorKind::Corrupt, message)
    }
}

/// A table of sums.
///
/// Threads may share it. What is read while a capture is being counted is what was there before.
#[derive(Debug)]
pub(super) struct CountedTable {
    kind: &'static StoreKind,
    state: Mutex<LedgerState>,
    /// Rung when a capture was counted, or was not.
    ended: Condvar,
    name: String,
    /// A forked child finds locks taken, and captures begun, by threads that it has not got.
    opener: ProcessMark,
}

struct LedgerState {
    /// Table with the sums; an empty table in memory until the file is made.
    table: Box<dyn OrderedTable>,
    /// The file that the first capture makes, and how long to wait for another process that writes it.
    unmade: Option<(PathBuf, Duration)>,
    counting: Option<Counting>,
    /// The file that the capture being counted has made, with the same timeout.
    made: Option<(PathBuf, Duration)>,
}

/// A capture is being counted.
struct Counting {
    thread: ThreadId,
    /// The table without it.
    before: Box<dyn OrderedSnapshot>,
}

/// Entries of a table in which nothing was counted: the one that says what it holds.
const ENTRIES_OF_NEW: u64 = 1;

impl LedgerState {
    /// Removes the file that was made for a capture that was not counted. As before, an empty table in memory stands for it.
    fn take_made_back(&mut self) {
        let Some(made) = self.made.take() else { return };
        let mut table = std::mem::replace(&mut self.table, Box::new(memory::TreeTable::new()));
        // Where that fails, an empty table is left, and the error that ended the count is the one to tell.
        let closed = table.close();
        drop(table);
        let _ = closed.and_then(|()| file::remove_untouched(&made.0, ENTRIES_OF_NEW));
        self.unmade = Some(made);
    }
}

impl std::fmt::Debug for LedgerState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LedgerState").finish_non_exhaustive()
    }
}

/// A capture that is in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedCapture {
    /// Identifier of its content.
    pub content_id: Vec<u8>,
    /// Its name when it was counted.
    pub name: String,
    /// Packets in it, where they were counted.
    pub packets: Option<u64>,
}

impl CountedTable {
    /// Opens the table in the file at `path`, and makes it where it is missing. It waits so long for another process that
    /// writes it.
    pub(super) fn open(path: &Path, timeout: Duration, kind: &'static StoreKind) -> Result<Self> {
        let options =
            OpenOptions { create: true, exclusive: true, timeout, ..OpenOptions::default() };
        Self::open_with(path, options, kind)
    }

    /// Opens the table in the file at `path`. Where it is missing or empty, it is made when the first
    /// capture begins to be counted; until then another process may make it.
    pub(super) fn open_to_count(
        path: &Path,
        timeout: Duration,
        kind: &'static StoreKind,
    ) -> Result<Self> {
        if file::holds_something(path)? {
            return Self::open(path, timeout, kind);
        }
        let table = Box::new(memory::TreeTable::new());
        let state = LedgerState {
            table,
            unmade: Some((path.to_owned(), timeout)),
            counting: None,
            made: None,
        };
        Ok(Self::with(state, &path.to_string_lossy(), kind))
    }

    /// Opens the table in the file at `path` to read it, beside others who do.
    pub(super) fn open_read_only(path: &Path, kind: &'static StoreKind) -> Result<Self> {
        let options = OpenOptions { read_only: true, ..OpenOptions::default() };
        Self::open_with(path, options, kind)
    }

    fn open_with(path: &Path, options: OpenOptions, kind: &'static StoreKind) -> Result<Self> {
        let table = Box::new(TreeTable::open(path, options)?);
        Self::of(table, &path.to_string_lossy(), options.read_only, kind)
    }

    fn with(state: LedgerState, name: &str, kind: &'static StoreKind) -> Self {
        let (state, name) = (Mutex::new(state), name.to_owned());
        CountedTable { kind, state, ended: Condvar::new(), name, opener: ProcessMark::new() }
    }

    /// The sums that `table`, which errors call `name`, holds; an empty table becomes one of such.
    pub(super) fn of(
        mut table: Box<dyn OrderedTable>,
        name: &str,
        read_only: bool,
        kind: &'static StoreKind,
    ) -> Result<Self> {
        match table.get(&[FORMAT_KEY])? {
            Some(found) if found == kind.format.as_bytes() => {}
            None if table.is_empty()? => {
                if !read_only {
                    table.put(&[FORMAT_KEY], kind.format.as_bytes())?;
                }
            }
            Some(found) if found.starts_with(kind.format_of_any_version.as_bytes()) => {
                return Err(Error::format(
                    format_args!("the {} table format {}", kind.entry, kind.format),
                    format_args!("{}, which a newer Bytewright wrote", found.escape_ascii()),
                )
                .in_file(name));
            }
            _ => {
                let expected = format_args!("a table of {}s", kind.entry);
                return Err(Error::format(expected, "a table of something else").in_file(name));
            }
        }
        Ok(Self::with(LedgerState { table, unmade: None, counting: None, made: None }, name, kind))
    }

    fn state(&self) -> MutexGuard<'_, LedgerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the state; returns an error in a forked child if its copy of the lock is taken.
    fn state_here(&self) -> Result<MutexGuard<'_, LedgerState>> {
        if self.opener.is_here() {
            return Ok(self.state());
        }
        match self.state.try_lock() {
            Ok(state) => Ok(state),
            Err(TryLockError::Poisoned(state)) => Ok(state.into_inner()),
            Err(TryLockError::WouldBlock) => Err(self.inherited()),
        }
    }

    #[cold]
    fn inherited(&self) -> Error {
        let entry = self.kind.entry;
        let message = format!(
            "expected the process that opened the {entry} store, found one forked from it: open it again here"
        );
        Error::new(ErrorKind::Closed, message).in_file(&self.name)
    }

    /// Begins to count a capture. It waits for one that another thread counts; of this thread,
    /// [`ErrorKind::Lock`](crate::ErrorKind::Lock).
    pub(super) fn begin(&self) -> Result<Count<'_>> {
        if !self.opener.is_here() {
            return Err(self.inherited());
        }
        let thread = std::thread::current().id();
        let mut state = self.state();
        while let Some(counting) = &state.counting {
            if counting.thread == thread {
                return Err(Error::new(
                    ErrorKind::Lock,
                    "expected no capture that is being counted, found one that this thread began",
                )
                .in_file(&self.name));
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some((path, timeout)) = state.unmade.clone() {
            let is_new = !path.exists();
            let opened = Self::open(&path, timeout, self.kind)?.state.into_inner();
            *state = opened.unwrap_or_else(PoisonError::into_inner);
            state.made = is_new.then_some((path, timeout));
        }
        let before = state.table.ordered_snapshot()?;
        state.table.begin()?;
        state.counting = Some(Counting { thread, before });
        Ok(Count { table: self, is_open: true })
    }

    /// Reads what was counted.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&dyn OrderedSnapshot) -> Result<T>,
    ) -> Result<T> {
        let state = self.state_here()?;
        match &state.counting {
            Some(counting) => read(&*counting.before),
            None => read(&*state.table.ordered_snapshot()?),
        }
    }

    /// The value of a key.
    pub(super) fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = None;
        self.read(|table| table.get_with(key, &mut |bytes| value = Some(bytes.to_vec())))?;
        Ok(value)
    }

    /// The capture with that content, if it was counted.
    pub(super) fn capture(&self, content_id: &[u8]) -> Result<Option<CountedCapture>> {
        let value = self.value(&capture_key(content_id)?)?;
        value.map(|value| self.captured(content_id, &value)).transpose()
    }

    /// The captures that were counted, in the order of their content ids.
    pub(super) fn captures(&self) -> Result<Vec<CountedCapture>> {
        let mut scan = self.read(|table| table.scan_range(&KeyRange::prefix(&[CAPTURE_KEY])))?;
        let mut captures = Vec::new();
        while let Some((key, value)) = scan.advance()? {
            captures.push(self.captured(&key[1..], value)?);
        }
        Ok(captures)
    }

    fn captured(&self, content_id: &[u8], value: &[u8]) -> Result<CountedCapture> {
        decode_capture(content_id, value).ok_or_else(|| self.damaged("capture"))
    }

    /// Returns the first of these captures if all of them were counted in this table, `None` if none was.
    ///
    /// # Errors
    /// `Argument` if only some of them were: what they have added to the sums of the other table cannot be told from
    /// the rest.
    pub(super) fn held(&self, captures: &[CountedCapture]) -> Result<Option<CountedCapture>> {
        let mut held = Vec::new();
        for capture in captures {
            held.extend(self.capture(&capture.content_id)?);
        }
        match held.first() {
            Some(first) if held.len() < captures.len() => {
                let message = format!(
                    "expected a table of captures that are all new or all counted, found {} of {} counted, {} among \
                     them; their sums cannot be told apart, so merge the captures themselves",
                    held.len(),
                    captures.len(),
                    first.name
                );
                Err(Error::new(ErrorKind::Argument, message).in_file(&self.name))
            }
            _ => Ok(held.into_iter().next()),
        }
    }

    /// Number of entries beside those that all such tables have.
    pub(super) fn len(&self) -> Result<u64> {
        let entries = self.read(|table| table.len())?;
        Ok(entries.saturating_sub(1 + self.captures()?.len() as u64))
    }

    /// The error of an entry that is not as it was written.
    pub(super) fn damaged_entry(&self) -> Error {
        self.damaged(self.kind.entry)
    }

    fn damaged(&self, what: &str) -> Error {
        self.kind.damaged(what).in_file(&self.name)
    }
}

/// A capture being counted. Dropped without a commit, it leaves the table as it was.
#[derive(Debug)]
pub(super) struct Count<'t> {
    table: &'t CountedTable,
    /// True while the table's transaction is to be taken back.
    is_open: bool,
}

impl<'t> Count<'t> {
    /// The table that it is counted in.
    pub(super) fn table(&self) -> &'t CountedTable {
        self.table
    }

    /// Changes entries.
    pub(super) fn change<T>(
        &mut self,
        change: impl FnOnce(&mut dyn OrderedTable) -> Result<T>,
    ) -> Result<T> {
        change(&mut *self.table.state().table)
    }

    /// Ends the capture, whose content is known by now. `change` makes the last changes. All of it is on disk when it
    /// returns, unless that content was counted before: then it answers when, and nothing changes.
    pub(super) fn commit(
        mut self,
        content_id: &[u8],
        name: &str,
        packets: Option<u64>,
        change: impl FnOnce(&mut dyn OrderedTable) -> Result<()>,
    ) -> Result<Option<CountedCapture>> {
        let key = capture_key(content_id)?;
        let counted = self.table.state().table.get(&key)?;
        if let Some(value) = counted {
            return self.table.captured(content_id, &value).map(Some);
        }
        self.end(|table| {
            change(table)?;
            table.put(&key, &encode_capture(name, packets))
        })?;
        Ok(None)
    }

    /// Ends the same for captures of another table, none of which was counted before.
    pub(super) fn commit_all(
        mut self,
        captures: &[CountedCapture],
        change: impl FnOnce(&mut dyn OrderedTable) -> Result<()>,
    ) -> Result<()> {
        self.end(|table| {
            change(table)?;
            captures.iter().try_for_each(|capture| {
                let value = encode_capture(&capture.name, capture.packets);
                table.put(&capture_key(&capture.content_id)?, &value)
            })
        })
    }

    /// Makes the last changes, and has all of it on disk.
    fn end(&mut self, change: impl FnOnce(&mut dyn OrderedTable) -> Result<()>) -> Result<()> {
        let mut state = self.table.state();
        change(&mut *state.table)?;
        self.is_open = false;
        state.made = None;
        state.table.commit()?;
        state.table.sync()
    }
}

impl Drop for Count<'_> {
    fn drop(&mut self) {
        let mut state = self.table.state();
        if self.is_open {
            // It fails only where the table is closed by an earlier failure, which was told.
            let _ = state.table.abort();
        }
        state.counting = None;
        state.take_made_back();
        self.table.ended.notify_one();
    }
}

fn capture_key(content_id: &[u8]) -> Result<Vec<u8>> {
    if !CONTENT_ID_LEN.contains(&content_id.len()) {
        let message =
            format!("expected a content id of 8 to 64 bytes, found {} bytes", content_id.len());
        return Err(Error::new(ErrorKind::Argument, message));
    }
    Ok([&[CAPTURE_KEY], content_id].concat())
}

pub(super) fn encode_capture(name: &str, packets: Option<u64>) -> Vec<u8> {
    let mut value = vec![CAPTURE_VERSION, if packets.is_some() { HAS_PACKETS } else { 0 }];
    value.extend(packets.unwrap_or_default().to_le_bytes());
    value.extend(name.as_bytes());
    value
}

pub(super) fn decode_capture(content_id: &[u8], value: &[u8]) -> Option<CountedCapture> {
    let mut value = Reader::new(value);
    let (version, bits) = (value.u8()?, value.u8()?);
    if version != CAPTURE_VERSION || bits > HAS_PACKETS {
        return None;
    }
    let packets = value.u64(Little)?;
    let name = std::str::from_utf8(value.rest()).ok()?.to_owned();
    let packets = (bits & HAS_PACKETS != 0).then_some(packets);
    Some(CountedCapture { content_id: content_id.to_vec(), name, packets })
}
