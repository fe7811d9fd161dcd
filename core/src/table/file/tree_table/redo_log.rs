//! The log beside the table: commits that are not in the table's file yet, so that the death of the
//! process loses none of them. `docs/tree-table-file.md` draws it.
//!
//! ```text
//! header:  magic 8   format 4   0 4   session 16   base session 16   base number 8   0 4   check 4
//! frame:   payload length 4   number 8   check 4   payload: records of `heap::record`   0 0..7
//! ```
//!
//! A frame is a commit. It is in the file when the call that makes it returns, because the file is
//! mapped, or because it is written there; nothing is synced. Commits are numbered, and a commit of redb
//! says which [`Position`] it has: all up to this number is in it. So frames are done again only where
//! they follow what the table holds. When redb has synced all frames, the next ones overwrite them
//! from the beginning; the numbers tell the new from the old.
//!
//! A position has the session of its writer, which is a random number. A log of another table, or one
//! that belongs to an earlier copy of this one, has a session and a base that do not match.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crc32c::crc32c_append;

use super::changes::Changes;
use super::home::{Home, is_refused};
use super::log_mark::LogMarkPlace;
use crate::error::{Error, Result};
use crate::files::{Displaced, FileOwner, Mapping, Storage, begins_like};
use crate::heap::record::Record;
use crate::table::file::random::random_number;
use crate::wire::{Endian, Reader};

const MAGIC: &[u8; 8] = b"\x89BWL\r\n\x1a\n";
const FORMAT: u32 = 1;

/// A frame begins at a multiple of this, and a mapping is written by as much.
const WORD_LEN: usize = size_of::<u64>();

/// What is mapped of a log at least: 64 KiB.
const MAPPED_WORDS_MIN: usize = (64 << 10) / WORD_LEN;

/// Where the frames begin.
const HEADER_LEN: usize = 64;

/// Bytes of a frame before its payload.
const FRAME_HEADER_LEN: usize = 16;

/// The longest payload. A longer commit goes to the table's file at once.
const PAYLOAD_LEN_MAX: usize = 8 << 20;

/// Beyond this, what the log has goes to the table's file.
const END_MAX: u64 = 16 << 20;

/// What a log can have at most.
const LOG_LEN_MAX: u64 = END_MAX + (FRAME_HEADER_LEN + PAYLOAD_LEN_MAX + WORD_LEN) as u64;

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
    home: Home,
    /// The file of the table.
    table: Arc<dyn Storage>,
    /// What the table held when the session began.
    base: Position,
    session: u128,
    salt: u32,
    file: LogFile,
    end: u64,
    frame: Vec<u8>,
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
    /// Writes `bytes`, of whole words, at a place of whole words.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self.words(offset as usize, bytes.len())? {
            None => self.file.write_at(offset, bytes),
            Some(words) => {
                for (word, bytes) in words.iter().zip(bytes.as_chunks::<WORD_LEN>().0) {
                    word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
                }
                Ok(())
            }
        }
    }

    /// The mapped words of this part of the file.
    fn words(&mut self, offset: usize, len: usize) -> io::Result<Option<&[AtomicU64]>> {
        let range = offset / WORD_LEN..(offset + len) / WORD_LEN;
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
        home: Home,
        table: Arc<dyn Storage>,
        mark: LogMarkPlace,
        base: Position,
        position: Position,
    ) -> RedoLog {
        let (file, end) = (LogFile::None, HEADER_LEN as u64);
        let (session, salt, frame) = (position.session, salt_of(position.session), Vec::new());
        RedoLog { home, table, base, session, salt, file, end, frame, mark, unwritten: None }
    }

    /// Appends a commit of one change, and says whether it did: one that is too long, or a directory
    /// without the right to make files, is none for a log.
    pub(super) fn append_one(&mut self, number: u64, record: &Record<'_>) -> Result<bool> {
        if record.len() > PAYLOAD_LEN_MAX || !self.is_open()? {
            return Ok(false);
        }
        self.begin_frame();
        record.put(&mut self.frame);
        self.end_frame(number)
    }

    /// The same for a transaction.
    pub(super) fn append(&mut self, number: u64, changes: &Changes) -> Result<bool> {
        if !self.is_open()? {
            return Ok(false);
        }
        self.begin_frame();
        for (key, value) in changes.iter() {
            let record = match value {
                Some(value) => Record::Entry { key, value },
                None => Record::Deletion { key },
            };
            if self.frame.len() + record.len() > PAYLOAD_LEN_MAX {
                return Ok(false);
            }
            record.put(&mut self.frame);
        }
        self.end_frame(number)
    }

    fn begin_frame(&mut self) {
        self.frame.clear();
        self.frame.resize(FRAME_HEADER_LEN, 0);
    }

    fn end_frame(&mut self, number: u64) -> Result<bool> {
        let LogFile::Open(file) = &mut self.file else { return Ok(false) };
        if self.unwritten.is_none() {
            let marked = self.mark.write(self.session, self.base, u64::MAX);
            marked.map_err(|error| Error::io("write the table", &error))?;
        }
        let payload_len = (self.frame.len() - FRAME_HEADER_LEN) as u32;
        self.frame[..4].copy_from_slice(&payload_len.to_le_bytes());
        self.frame[4..12].copy_from_slice(&number.to_le_bytes());
        let (head, payload) = self.frame.split_at(FRAME_HEADER_LEN);
        let check = check(self.salt, self.end, &head[..12], payload);
        self.frame[12..16].copy_from_slice(&check.to_le_bytes());
        self.frame.resize(self.frame.len().next_multiple_of(WORD_LEN), 0);
        match file.write(self.end, &self.frame) {
            // Somebody has cut the file off.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            written => written.map_err(|error| Error::io("write the table's log", &error))?,
        }
        self.end += self.frame.len() as u64;
        self.unwritten = Some(number);
        if self.frame.capacity() > 1 << 20 {
            self.frame = Vec::new();
        }
        Ok(true)
    }

    /// Whether each commit goes to the table's file at once, because there can be no log.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self.file, LogFile::Refused)
    }

    /// Whether what it has should go to the table's file.
    pub(super) fn is_full(&self) -> bool {
        self.end > END_MAX
    }

    /// Says in the table's file where the commits end that only the log has, before they are written there: who finds the
    /// table at the last of them needs no log.
    pub(super) fn mark_end(&self) -> Result<()> {
        let Some(last) = self.unwritten else { return Ok(()) };
        let marked = self.mark.write(self.session, self.base, last);
        marked.map_err(|error| Error::io("write the table", &error))
    }

    /// Begins anew, because the table's file has all of it. A log that somebody changed is replaced.
    pub(super) fn restart(&mut self) {
        (self.end, self.unwritten) = (HEADER_LEN as u64, None);
        if let LogFile::Open(MappedFile { file, mapping }) = &self.file {
            let mapped = mapping.as_ref().map_or(0, |mapping| mapping.len() * WORD_LEN) as u64;
            if file.status().is_ok_and(|status| status.len < mapped || status.name_count == 0) {
                self.file = LogFile::None;
            }
        }
    }

    /// Takes away the file of an earlier session, because the table's file has all of it.
    pub(super) fn discard(home: &Home) {
        // One that stays is never done again.
        let _ = home.directory.remove(&home.log_name());
    }

    /// Takes the file away, because the table's file has all of it.
    pub(super) fn remove(&mut self) {
        if let LogFile::Open(file) = std::mem::replace(&mut self.file, LogFile::None)
            && let (Ok(own), name) = (file.file.id(), self.home.log_name())
            && matches!(self.home.directory.id(&name), Ok(named) if named == own)
        {
            Self::discard(&self.home);
        }
    }

    /// Whether there is a file to write to, which this makes.
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
        let (name, directory) = (self.home.log_name(), &self.home.directory);
        let is_taken = Self::check_place(&self.home, &*self.table)?;
        let create = || -> io::Result<Box<dyn Storage>> {
            if is_taken {
                directory.remove(&name)?;
            }
            let owner = self.table.file().map(FileOwner::of).transpose()?;
            let file = directory.create_unnamed(&name, owner)?;
            file.write_at(0, &self.header())?;
            directory.publish(&*file, &name, Displaced::Nothing)?;
            // The mark in the table's file must not outlive the name of the log in a power cut.
            directory.sync()?;
            Ok(file)
        };
        create().map_err(|error| {
            Error::io("create the table's log", &error).in_file(&self.home.shown_log())
        })
    }

    /// Whether the name of the log has a log, which may be removed when its commits are in the table's file. An error
    /// where something else has it.
    pub(super) fn check_place(home: &Home, table: &dyn Storage) -> Result<bool> {
        let Some(file) = home.open_log(table)? else { return Ok(false) };
        let is_log = is_log(&*file).map_err(|error| error.in_file(&home.shown_log()))?;
        if is_log {
            return Ok(true);
        }
        let found = "another file, which was left alone; give that another name";
        let expected = "the log of a table or no file of that name";
        Err(Error::format(expected, found).in_file(&home.shown_log()))
    }

    fn header(&self) -> [u8; HEADER_LEN] {
        let mut header = [0; HEADER_LEN];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        header[16..32].copy_from_slice(&self.session.to_le_bytes());
        header[32..56].copy_from_slice(&self.base.to_bytes());
        let check = crc32c::crc32c(&header[..60]).to_le_bytes();
        header[60..].copy_from_slice(&check);
        header
    }
}

/// What the checks of a session's frames begin with.
fn salt_of(session: u128) -> u32 {
    crc32c::crc32c(&session.to_le_bytes())
}

/// The check of a frame, which depends on its session and place.
fn check(salt: u32, offset: u64, head: &[u8], payload: &[u8]) -> u32 {
    let place = crc32c_append(salt ^ offset as u32 ^ (offset >> 32) as u32, head);
    crc32c_append(place, payload)
}

/// Commits of a log that the table's file does not have.
#[derive(Debug)]
pub(super) struct Tail {
    /// What the table's file has.
    base: Position,
    /// The last commit.
    pub(super) end: Position,
    pub(super) changes: Arc<Changes>,
}

impl Tail {
    /// Commits from `base` to `end` that have these `changes`.
    pub(super) fn new(base: Position, end: Position, changes: Changes) -> Tail {
        Tail { base, end, changes: Arc::new(changes) }
    }

    /// Whether a table at `position`, with these changes, is the table at the end: it has none of the
    /// commits yet, or the first ones.
    pub(super) fn fits(&self, position: Position) -> bool {
        let is_within = position.session == self.end.session;
        position == self.base || is_within && position.number <= self.end.number
    }

    /// Whether the table's file has all of the commits already.
    pub(super) fn is_empty(&self) -> bool {
        self.end.number == self.base.number
    }

    /// Reads the log of the table at `home`, whose file is `table` and at `base`. `None` where there is none that
    /// belongs to it.
    pub(super) fn read(home: &Home, table: &dyn Storage, base: Position) -> Result<Option<Tail>> {
        let Some(file) = home.open_log(table)? else { return Ok(None) };
        let tail = is_log(&*file).and_then(|is_log| match is_log {
            true => Self::parse(&read_whole(&*file)?, base),
            false => Ok(None),
        });
        tail.map_err(|error| error.in_file(&home.shown_log()))
    }

    fn parse(bytes: &[u8], base: Position) -> Result<Option<Tail>> {
        let Some(header) = bytes.first_chunk::<HEADER_LEN>().filter(|header| is_whole(header))
        else {
            // A process died when it made it.
            return Ok(Some(Tail::new(base, base, Changes::default())));
        };
        if header[8..12] != FORMAT.to_le_bytes() {
            let expected = format_args!("a log in format {FORMAT}");
            return Err(Error::format(expected, "one that a newer Bytewright wrote"));
        }
        let (Some(own), Some(log_base)) =
            (Position::from_bytes(&header[16..40]), Position::from_bytes(&header[32..56]))
        else {
            return Ok(None);
        };
        let is_its_own = own.session == base.session || log_base == base;
        Ok(if is_its_own { Self::follow(bytes, own.session, base) } else { None })
    }

    /// The commits behind `base`; `None` where the first of them is missing.
    fn follow(bytes: &[u8], session: u128, base: Position) -> Option<Tail> {
        let mut changes = Changes::default();
        let (mut number, mut last): (u64, Option<u64>) = (base.number, None);
        let mut frames = Frames { bytes, offset: HEADER_LEN, salt: salt_of(session) };
        while let Some((found, payload)) = frames.next() {
            let next = last.unwrap_or(base.number).checked_add(1)?;
            match last {
                None if found > next => return None,
                Some(_) if found != next => break,
                _ => {}
            }
            last = Some(found);
            if found > base.number {
                redo(&mut changes, payload);
                number = found;
            }
        }
        Some(Tail::new(base, Position { session, number }, changes))
    }
}

/// Whether a file that has the name is a log.
fn is_log(file: &dyn Storage) -> Result<bool> {
    begins_like(file, MAGIC).map_err(|error| Error::io("read the table's log", &error))
}

/// As many bytes as a log can have.
fn read_whole(file: &dyn Storage) -> Result<Vec<u8>> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; file.len()?.min(LOG_LEN_MAX) as usize];
        file.read_at(0, &mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| Error::io("read the table's log", &error))
}

/// Whether a header is one, and matches its check.
fn is_whole(header: &[u8; HEADER_LEN]) -> bool {
    let check = crc32c::crc32c(&header[..60]).to_le_bytes();
    header.starts_with(MAGIC) && header[60..] == check
}

/// Does the changes of one commit, which matches its check.
fn redo(changes: &mut Changes, payload: &[u8]) {
    let mut reader = Reader::new(payload);
    while let Some(record) = Record::take(&mut reader) {
        match record {
            Record::Entry { key, value } => changes.set(key, Some(value)),
            Record::Deletion { key } => changes.set(key, None),
        }
    }
}

/// The frames of a log up to the first that is not whole.
struct Frames<'a> {
    bytes: &'a [u8],
    offset: usize,
    salt: u32,
}

impl<'a> Frames<'a> {
    /// The number and the payload of the next one.
    fn next(&mut self) -> Option<(u64, &'a [u8])> {
        let rest = self.bytes.get(self.offset..)?;
        let (head, rest) = rest.split_first_chunk::<FRAME_HEADER_LEN>()?;
        let mut fields = Reader::new(head);
        let payload_len = fields.u32(Endian::Little)? as usize;
        let number = fields.u64(Endian::Little)?;
        let payload = rest.get(..payload_len)?;
        let found = fields.u32(Endian::Little)?;
        if payload_len > PAYLOAD_LEN_MAX
            || check(self.salt, self.offset as u64, &head[..12], payload) != found
        {
            return None;
        }
        self.offset += (FRAME_HEADER_LEN + payload_len).next_multiple_of(WORD_LEN);
        Some((number, payload))
    }
}
