//! The log beside the table: commits that are not in the table's file yet, so that the death of the
//! process loses none of them. `docs/tree-table-file.md` draws it.
//!
//! ```text
//! header:  magic 8   format 4   0 4   session 16   base session 16   base number 8   0 4   check 4
//! frames:  those of `files::commit_log`, each of one commit   0 0..7
//! ```
//!
//! A commit is in the file when the call that makes it returns, because the file is mapped, or because it is written
//! there; nothing is synced. Commits are numbered, and a commit of redb says which [`Position`] it has: all up to this
//! number is in it. So frames are done again only where they follow what the table holds.
//!
//! When redb has synced all frames, the next ones overwrite them from the beginning, and the header says which commit they
//! follow. That is a part of the salt, so that no record of an earlier pass counts, not even behind the header of a frame
//! that a crash kept from being written whole.
//!
//! A position has the session of its writer, which is a random number. A log of another table, or one
//! that belongs to an earlier copy of this one, has a session and a base that do not match.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::changes::ChangedEntries;
use super::log_mark::LogMarkPlace;
use super::table_files::{TreeTableFiles, is_refused};
use crate::error::{Error, Result};
use crate::files::{
    CommitFrame, CommitLog, Displaced, FileKind, FileOwner, FrameBuffer, FrameFlags, HEADER_LEN,
    LogHeader, LogReader, Mapping, Salt, Storage, begins_like,
};
use crate::heap::record::HeapRecord;
use crate::table::file::random::random_number;

const MAGIC: &[u8; 8] = b"\x89BWL\r\n\x1a\n";
const KIND: FileKind = FileKind { name: "a log", magic: MAGIC, format: 1 };

/// A frame begins at a multiple of this, and a mapping is written by as much.
const WORD_LEN: usize = size_of::<u64>();

/// Words of a log that are mapped at least: 64 KiB.
const MAPPED_WORDS_MIN: usize = (64 << 10) / WORD_LEN;

/// Offset of the first frame.
const LOG_START: u64 = HEADER_LEN as u64;

/// The longest payload. A longer commit goes to the table's file at once.
const PAYLOAD_LEN_MAX: usize = 8 << 20;

/// Beyond this, what the log has goes to the table's file.
const END_MAX: u64 = 16 << 20;

/// Bytes that are read of a log at most.
const LOG_LEN_MAX: u64 = 2 * END_MAX;

/// A commit among all that were ever made to tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// A random number of the handle that committed it.
    pub(super) session: u128,
    /// Commits of the table up to it, in all sessions.
    pub(super) number: u64,
}

impl Position {
    pub(super) const LEN: usize = 24;

    /// Position of a new table.
    pub(super) fn first() -> Position {
        let session = u128::from(random_number()) << 64 | u128::from(random_number());
        Position { session, number: 0 }
    }

    /// Position of a writer that finds `base`.
    pub(super) fn after(base: Position) -> Position {
        Position { number: base.number, ..Position::first() }
    }

    pub(super) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..16].copy_from_slice(&self.session.to_le_bytes());
        bytes[16..].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Position> {
        let (session, number) = bytes.split_first_chunk::<16>()?;
        let number = u64::from_le_bytes(number.try_into().ok()?);
        Some(Position { session: u128::from_le_bytes(*session), number })
    }
}

/// The log of a process that writes.
#[derive(Debug)]
pub(super) struct RedoLog {
    files: TreeTableFiles,
    /// The file of the table.
    table: Arc<dyn Storage>,
    /// Position of the table when the session began.
    base: Position,
    header: RedoHeader,
    file: LogFile,
    end: u64,
    frame: FrameBuffer,
    mark: LogMarkPlace,
    /// The last commit that only the log has.
    unwritten: Option<u64>,
}

#[derive(Debug)]
enum LogFile {
    /// There is none before there is something to write.
    None,
    Open(MappedFile),
    /// The directory must not be written.
    Refused,
}

/// A file that is written through a mapping where it can be, which takes no call of the system.
#[derive(Debug)]
struct MappedFile {
    file: Box<dyn Storage>,
    mapping: Option<Mapping>,
}

impl MappedFile {
    /// Writes `bytes` at a place of whole words, and zeros up to the next.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let Some(words) = self.words(offset as usize, bytes.len())? else {
            return self.file.write_at(offset, bytes);
        };
        let (whole, rest) = bytes.as_chunks::<WORD_LEN>();
        for (word, bytes) in words.iter().zip(whole) {
            word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
        if let Some(word) = words.get(whole.len()) {
            let mut bytes = [0; WORD_LEN];
            bytes[..rest.len()].copy_from_slice(rest);
            word.store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
        }
        Ok(())
    }

    /// The mapped words of this part of the file.
    fn words(&mut self, offset: usize, len: usize) -> io::Result<Option<&[AtomicU64]>> {
        let range = offset / WORD_LEN..(offset + len).div_ceil(WORD_LEN);
        let mapped = self.mapping.as_ref().map_or(0, |mapping| mapping.len());
        if mapped < range.end {
            let count = range.end.next_power_of_two().max(MAPPED_WORDS_MIN);
            // Where the room cannot be had beforehand, a write finds out whether there is enough.
            let file = self.file.file();
            self.mapping = file.and_then(|file| Mapping::shared(file, count).ok());
        }
        let Some(mapping) = &self.mapping else { return Ok(None) };
        // A page that somebody cut off the file cannot be touched.
        if self.file.len()? < (mapping.len() * WORD_LEN) as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(mapping.get(range))
    }
}

impl RedoLog {
    /// The log of the session at `position`, which found or made the table at `base`.
    pub(super) fn new(
        files: TreeTableFiles,
        table: Arc<dyn Storage>,
        mark: LogMarkPlace,
        base: Position,
        position: Position,
    ) -> RedoLog {
        let header = RedoHeader { session: position.session, base };
        let (file, end, frame) = (LogFile::None, LOG_START, FrameBuffer::default());
        RedoLog { files, table, base, header, file, end, frame, mark, unwritten: None }
    }

    /// Appends a commit of one change, and says whether it did: one that is too long, or a directory
    /// without the right to make files, is none for a log.
    pub(super) fn append_one(&mut self, number: u64, record: &HeapRecord<'_>) -> Result<bool> {
        if record.len() > PAYLOAD_LEN_MAX || !self.is_open()? {
            return Ok(false);
        }
        self.begin_frame(number);
        self.frame.put(record);
        self.write_frame(number)
    }

    /// Appends the commit of a transaction, and says whether it did, as [`RedoLog::append_one`] does.
    pub(super) fn append(&mut self, number: u64, changes: &ChangedEntries) -> Result<bool> {
        if !self.is_open()? {
            return Ok(false);
        }
        self.begin_frame(number);
        for (key, value) in changes.iter() {
            let record = match value {
                Some(value) => HeapRecord::Entry { key, value },
                None => HeapRecord::Deletion { key },
            };
            if self.frame.payload_len_with(&record) > PAYLOAD_LEN_MAX {
                return Ok(false);
            }
            self.frame.put(&record);
        }
        self.write_frame(number)
    }

    fn begin_frame(&mut self, number: u64) {
        if self.end > LOG_START {
            return self.frame.begin_next(self.end);
        }
        let before = number - 1;
        if self.header.base.number != before {
            self.header.base = Position { session: self.header.session, number: before };
        }
        self.frame.begin(LOG_START, self.header.salt());
    }

    fn write_frame(&mut self, number: u64) -> Result<bool> {
        let LogFile::Open(file) = &mut self.file else { return Ok(false) };
        if self.unwritten.is_none() {
            let marked = self.mark.write(self.header.session, self.base, u64::MAX);
            marked.map_err(|error| Error::io("write the table", &error))?;
        }
        let frame =
            self.frame.finish(FrameFlags { commits: true, ..FrameFlags::default() }, number);
        let header = match frame.offset {
            LOG_START => file.write(0, &self.header.to_bytes()),
            _ => Ok(()),
        };
        match header.and_then(|()| file.write(frame.offset, self.frame.bytes())) {
            // Somebody has cut the file off.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            written => written.map_err(|error| Error::io("write the table's log", &error))?,
        }
        self.end = next_frame(frame.end());
        self.unwritten = Some(number);
        self.frame.release(1 << 20);
        Ok(true)
    }

    /// Returns true if each commit goes to the table's file at once, because there can be no log.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self.file, LogFile::Refused)
    }

    /// Returns true if what it has should go to the table's file.
    pub(super) fn is_full(&self) -> bool {
        self.end > END_MAX
    }

    /// Says in the table's file where the commits end that only the log has, before they are written there: who finds the
    /// table at the last of them needs no log.
    pub(super) fn mark_end(&self) -> Result<()> {
        let Some(last) = self.unwritten else { return Ok(()) };
        let marked = self.mark.write(self.header.session, self.base, last);
        marked.map_err(|error| Error::io("write the table", &error))
    }

    /// Begins anew, because the table's file has all of it. A log that somebody changed is replaced.
    pub(super) fn restart(&mut self) {
        (self.end, self.unwritten) = (LOG_START, None);
        if let LogFile::Open(MappedFile { file, mapping }) = &self.file {
            let mapped = mapping.as_ref().map_or(0, |mapping| mapping.len() * WORD_LEN) as u64;
            if file.status().is_ok_and(|status| status.len < mapped || status.name_count == 0) {
                self.file = LogFile::None;
            }
        }
    }

    /// Takes away the file of an earlier session, because the table's file has all of it.
    pub(super) fn discard(files: &TreeTableFiles) {
        // One that stays is never done again.
        let _ = files.directory.remove(&files.log_name());
    }

    /// Takes the file away, because the table's file has all of it.
    pub(super) fn remove(&mut self) {
        if let LogFile::Open(file) = std::mem::replace(&mut self.file, LogFile::None)
            && let (Ok(own), name) = (file.file.id(), self.files.log_name())
            && matches!(self.files.directory.id(&name), Ok(named) if named == own)
        {
            Self::discard(&self.files);
        }
    }

    /// Makes the file to write to, unless there is one; returns false if the directory refuses.
    fn is_open(&mut self) -> Result<bool> {
        if matches!(self.file, LogFile::None) {
            self.file = match self.create() {
                Ok(file) => LogFile::Open(MappedFile { file, mapping: None }),
                Err(error) if is_refused(error.kind()) => LogFile::Refused,
                Err(error) => return Err(error),
            };
        }
        Ok(matches!(self.file, LogFile::Open(_)))
    }

    /// A new file, of the owner of the table. A log that is there belongs to another table, or to a state of this one
    /// that is no more; a process may have it open.
    fn create(&self) -> Result<Box<dyn Storage>> {
        let (name, directory) = (self.files.log_name(), &self.files.directory);
        let is_taken = Self::check_place(&self.files, &*self.table)?;
        let create = || -> io::Result<Box<dyn Storage>> {
            if is_taken {
                directory.remove(&name)?;
            }
            let owner = self.table.file().map(FileOwner::of).transpose()?;
            let file = directory.create_unnamed(&name, owner)?;
            file.write_at(0, &self.header.to_bytes())?;
            directory.publish(&*file, &name, Displaced::Nothing)?;
            // The mark in the table's file must not outlive the name of the log in a power cut.
            directory.sync()?;
            Ok(file)
        };
        create().map_err(|error| {
            Error::io("create the table's log", &error).in_file(&self.files.shown_log())
        })
    }

    /// Returns true if the name of the log has a log, which may be removed when its commits are in the table's file.
    /// Returns an error if something else has it.
    pub(super) fn check_place(files: &TreeTableFiles, table: &dyn Storage) -> Result<bool> {
        let Some(file) = files.open_log(table)? else { return Ok(false) };
        let is_log = is_log(&*file).map_err(|error| error.in_file(&files.shown_log()))?;
        if is_log {
            return Ok(true);
        }
        let found = "another file, which was left alone; give that another name";
        let expected = "the log of a table or no file of that name";
        Err(Error::format(expected, found).in_file(&files.shown_log()))
    }
}

/// Returns the place of the frame behind one that ends at `end`.
fn next_frame(end: u64) -> u64 {
    end.next_multiple_of(WORD_LEN as u64)
}

/// Header of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RedoHeader {
    session: u128,
    /// The commit that the first frame follows: another one with each pass.
    base: Position,
}

impl LogHeader for RedoHeader {
    const READ: &'static str = "read the table's log";

    fn salt(&self) -> Salt {
        Salt::of(&Position { session: self.session, ..self.base }.to_bytes())
    }
}

impl RedoHeader {
    fn to_bytes(self) -> [u8; HEADER_LEN] {
        KIND.header(&[&self.session.to_le_bytes(), &self.base.to_bytes()])
    }

    /// Reads it; `None` if a process died when it wrote it.
    fn read(file: &dyn Storage) -> Result<Option<RedoHeader>> {
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = vec![0; file.len()?.min(LOG_START) as usize];
            file.read_at(0, &mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error| Error::io(Self::READ, &error))?;
        let Some(mut fields) = KIND.fields(&bytes)? else { return Ok(None) };
        let session = fields.array().map(u128::from_le_bytes);
        let base = fields.take(Position::LEN).and_then(Position::from_bytes);
        Ok(session.zip(base).map(|(session, base)| RedoHeader { session, base }))
    }
}

/// Commits of a log that the table's file does not have.
#[derive(Debug)]
pub(super) struct Tail {
    /// Position of the table's file.
    base: Position,
    /// The last commit.
    pub(super) end: Position,
    pub(super) changes: Arc<ChangedEntries>,
}

impl Tail {
    /// Commits from `base` to `end` that have these `changes`.
    pub(super) fn new(base: Position, end: Position, changes: ChangedEntries) -> Tail {
        Tail { base, end, changes: Arc::new(changes) }
    }

    /// Returns true if a table at `position`, with these changes, is the table at the end: it has none of the commits
    /// yet, or the first ones.
    pub(super) fn fits(&self, position: Position) -> bool {
        let is_within = position.session == self.end.session;
        position == self.base || is_within && position.number <= self.end.number
    }

    /// Returns true if the table's file has all of the commits already.
    pub(super) fn is_empty(&self) -> bool {
        self.end.number == self.base.number
    }

    /// Reads the log of the table of `files`, whose file is `table` and at `base`. `None` where there is none that
    /// belongs to it.
    pub(super) fn read(
        files: &TreeTableFiles,
        table: &dyn Storage,
        base: Position,
    ) -> Result<Option<Tail>> {
        let Some(file) = files.open_log(table)? else { return Ok(None) };
        let name = files.shown_log();
        let read = || match is_log(&*file)? {
            true => Self::of_log(file, &name, base),
            false => Ok(None),
        };
        read().map_err(|error| error.in_file(&name))
    }

    fn of_log(file: Box<dyn Storage>, name: &str, base: Position) -> Result<Option<Tail>> {
        let Some(header) = RedoHeader::read(&*file)? else {
            // A process died when it made it.
            return Ok(Some(Tail::new(base, base, ChangedEntries::default())));
        };
        let is_of_session = header.session == base.session && header.base.number <= base.number;
        if header.base != base && !is_of_session {
            return Ok(None);
        }
        let log = Arc::new(CommitLog::new(file, header, name.into()));
        let tail = Self::follow(&log, base);
        // A writer that overwrites the frames meanwhile has put them into the table's file before.
        if RedoHeader::read(&*log.storage)? == Some(header) { tail.map(Some) } else { Ok(None) }
    }

    /// Takes in the commits of `log` behind `base`.
    fn follow(log: &Arc<CommitLog<RedoHeader>>, base: Position) -> Result<Tail> {
        let len = log.storage.len().map_err(|error| log.system_error(RedoHeader::READ, &error))?;
        let mut reader = LogReader::new(log.clone(), len.min(LOG_LEN_MAX));
        let (mut changes, mut chain) = (ChangedEntries::default(), Vec::new());
        let mut last = log.header.base.number;
        let mut at = LOG_START;
        while reader.commit(at, last.saturating_add(1), &mut chain, &|_| ())?.is_none() {
            last = last.saturating_add(1);
            for frame in &chain {
                if last > base.number {
                    redo(&mut changes, &mut reader, frame)?;
                }
                at = next_frame(frame.end());
            }
        }
        let end = Position { session: log.header.session, number: last.max(base.number) };
        Ok(Tail::new(base, end, changes))
    }
}

/// Returns true if a file that has the name is a log.
fn is_log(file: &dyn Storage) -> Result<bool> {
    begins_like(file, MAGIC).map_err(|error| Error::io("read the table's log", &error))
}

/// Does the changes of one frame, which is whole.
fn redo(
    changes: &mut ChangedEntries,
    reader: &mut LogReader<RedoHeader>,
    frame: &CommitFrame,
) -> Result<()> {
    reader.each_record(frame, |record, _| {
        match record {
            HeapRecord::Entry { key, value } => changes.set(key, Some(value)),
            HeapRecord::Deletion { key } => changes.set(key, None),
        }
        Ok(())
    })
}
