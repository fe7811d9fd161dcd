//! Opening of a hashed table, and how a reader follows the writer.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::super::options::OpenOptions;
use super::super::random::random_number;
use super::checkpoint;
use super::engine::{Engine, LogDurability, TableAccess};
use super::extent::LogExtent;
use super::header::{HashLogHeader, LOG_START, Log, LogReader, MAGIC};
use super::log_index::{LogIndex, Words};
use super::replay::{Rest, replay};
use super::table_files::{HashTableFiles, ReaderWords};
use super::transaction::Transaction;
use super::view::GenerationView;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{Displaced, FileStatus, FrameBuffer, ProcessMark, Storage, StorageMode};
use crate::table::ValueType;
use crate::table::foreign::described;

/// `ENOENT`.
const NOT_FOUND: i32 = 2;

/// Number of times that a reader looks at a log that changes, before it believes that it is damaged.
const READING_TRIES: u32 = 200;

/// Time that a reader waits before it looks again.
const READING_PAUSE: Duration = Duration::from_millis(2);

/// Bytes that are compared where damage is found twice.
const BYTES_COMPARED: u64 = 256;

/// Content of a log, as it was found.
struct LogContent {
    view: Arc<GenerationView>,
    extent: LogExtent,
    checkpoint_end: u64,
    seen: FileStatus,
}

impl Engine {
    /// Opens the table of `files`, which errors call `name`.
    pub(super) fn open(files: HashTableFiles, name: &str, options: OpenOptions) -> Result<Engine> {
        let name: Arc<str> = name.into();
        let storage = match (options.read_only, options.create) {
            (true, _) => files.directory.open(&files.name, StorageMode::Follow, options.timeout)?,
            (false, false) => {
                files.directory.open(&files.name, StorageMode::Write, options.timeout)?
            }
            (false, true) => {
                open_or_make(&files, &options).map_err(|error| error.in_file(&name))?
            }
        };
        let header = read_header(&*storage).and_then(|header| {
            header.values.check(options.values)?;
            Ok(header)
        });
        let header = header.map_err(|error| error.in_file(&name))?;
        let log = Arc::new(Log::new(storage, header, name.clone()));
        let content = match options.read_only {
            true => read_beside_writer(&files, &log, &options)?,
            false => read_content(&files, log, &options)?,
        };
        let mut engine = Engine {
            files,
            access: if options.read_only { TableAccess::Read } else { TableAccess::Write },
            options,
            name,
            view: content.view,
            extent: content.extent,
            transaction: Transaction::default(),
            seen: content.seen,
            process: ProcessMark::new(),
            durability: LogDurability::new(content.extent.end),
            checkpoint_end: content.checkpoint_end,
            compactor: None,
            compaction_put_off_until: 0,
            retired: Vec::new(),
            frame: FrameBuffer::default(),
            scratch: Vec::new(),
        };
        if !options.read_only && content.seen.len > engine.extent.end {
            engine.cut_tail()?;
        }
        // Who compacts may have put another file in its place before we looked at the one that we opened, which
        // would then never show a change.
        if options.read_only && engine.is_replaced()? {
            engine.reopen()?;
        }
        Ok(engine)
    }

    /// Cuts off what a crash has left of a transaction.
    fn cut_tail(&mut self) -> Result<()> {
        let log = &self.view.log;
        // The cut has to last before anything is written behind it: else what was cut could come back
        // behind what follows, and look as if it belonged there.
        let cut = log.storage.set_len(self.extent.end).and_then(|()| log.storage.sync());
        cut.map_err(|error| {
            log.system_error("cut an unfinished transaction off the table", &error)
        })?;
        self.durability.was_synced();
        Ok(())
    }

    /// Takes in what the writer has committed since, before a reader reads.
    pub(super) fn follow(&mut self) -> Result<()> {
        if !self.process.is_here() {
            self.leave_parent()?;
        }
        if !matches!(self.access, TableAccess::Read | TableAccess::Forked) {
            return Ok(());
        }
        let log = self.view.log.clone();
        let status = log.storage.status().map_err(|e| log.system_error("read the table", &e))?;
        if status == self.seen {
            return Ok(());
        }
        if status.name_count != self.seen.name_count && self.is_replaced()? {
            return self.reopen();
        }
        let mut reader = LogReader::new(log.clone(), status.len);
        if status.len < self.extent.end || !self.still_ends_with_its_frame(&mut reader)? {
            return self.reopen();
        }
        match replay(&mut self.view, &mut self.extent, &mut reader) {
            Ok(_) => {
                self.seen = status;
                Ok(())
            }
            // A part may have been taken in of what is gone.
            Err(error) if error.kind() == ErrorKind::Corrupt => self.reopen(),
            Err(error) => Err(error),
        }
    }

    /// Opens the table again for a reader that has found damage because a writer has cut the log meanwhile; returns
    /// true if it did.
    pub(super) fn follows_anew(&mut self) -> bool {
        let is_reader = matches!(self.access, TableAccess::Read | TableAccess::Forked);
        let mut reader = LogReader::new(self.view.log.clone(), self.extent.end);
        is_reader
            && !self.still_ends_with_its_frame(&mut reader).unwrap_or(false)
            && self.reopen().is_ok()
    }

    /// Returns true if another file has the name of this one.
    fn is_replaced(&self) -> Result<bool> {
        let failed = |error| self.view.log.system_error("find the table", &error);
        let named = self.files.directory.id(&self.files.name).map_err(failed)?;
        let own = self.view.log.storage.id().map_err(failed)?;
        // Where nothing has the name, the table was removed: it can be read as long as it is open.
        Ok(named.is_some() && named != own)
    }

    /// Returns true if the last frame that was taken in is there: a writer whose write failed may have cut it off, and
    /// another may have written something else there.
    fn still_ends_with_its_frame(&self, reader: &mut LogReader) -> Result<bool> {
        if self.extent.last_frame == 0 {
            return Ok(true);
        }
        let frame = reader.frame(self.extent.last_frame)?;
        Ok(frame.is_some_and(|frame| {
            frame.end() == self.extent.end
                && frame.number.checked_add(1) == Some(self.extent.next_transaction)
        }))
    }

    /// Reads the table anew, from the file that has the name now.
    fn reopen(&mut self) -> Result<()> {
        let options = OpenOptions { read_only: true, verify: false, ..self.options };
        let opened = Engine::open(self.files.clone(), &self.name, options)?;
        self.retired.push(Arc::downgrade(&self.view));
        self.retired.retain(|view| view.strong_count() > 0);
        (self.view, self.extent, self.seen) = (opened.view.clone(), opened.extent, opened.seen);
        Ok(())
    }

    /// In a forked child: what writes is the parent's, and so is the index that it goes on changing.
    fn leave_parent(&mut self) -> Result<()> {
        if matches!(self.access, TableAccess::Write | TableAccess::Failed(..)) {
            self.reopen()?;
            self.transaction = Transaction::default();
            self.compactor = None;
            self.access = TableAccess::Forked;
        }
        self.process = ProcessMark::new();
        Ok(())
    }
}

/// Reads what the log holds, while another process may be writing it. That may cut off a torn end and
/// write other frames there between two reads of ours, which together would look like damage. So damage
/// is what is found twice in the same place, with the same bytes there.
fn read_beside_writer(
    files: &HashTableFiles,
    log: &Arc<Log>,
    options: &OpenOptions,
) -> Result<LogContent> {
    let mut seen_before = None;
    let mut tries = 1;
    loop {
        let error = match read_content(files, log.clone(), options) {
            Err(error) if error.kind() == ErrorKind::Corrupt && tries < READING_TRIES => error,
            content => return content,
        };
        // No writer makes it shorter than that.
        if log.storage.len().is_ok_and(|len| len < log.header.closed_len) {
            return Err(error);
        }
        let seen = error.offset().and_then(|offset| bytes_at(log, offset).zip(Some(offset)));
        if seen.is_some() && seen == seen_before {
            return Err(error);
        }
        seen_before = seen;
        tries += 1;
        thread::sleep(READING_PAUSE);
    }
}

/// The first bytes at `offset`; `None` where the log ends.
fn bytes_at(log: &Log, offset: u64) -> Option<Vec<u8>> {
    let room = log.storage.len().ok()?.saturating_sub(offset).min(BYTES_COMPARED);
    let mut bytes = vec![0; room as usize];
    log.storage.read_at(offset, &mut bytes).ok()?;
    (room > 0).then_some(bytes)
}

/// Reads what the log holds: the checkpoint, and what comes after it.
fn read_content(
    files: &HashTableFiles,
    log: Arc<Log>,
    options: &OpenOptions,
) -> Result<LogContent> {
    let words: Arc<dyn Words> = match options.read_only {
        true => Arc::new(ReaderWords(files.clone())),
        false => Arc::new(files.clone()),
    };
    let seen = log.storage.status().map_err(|error| log.system_error("read the table", &error))?;
    if seen.len < log.header.closed_len {
        return Err(is_cut(&log, seen.len));
    }
    let closed_len = log.header.closed_len;
    let (index, mut extent) = match checkpoint::load(files, &log, seen.len, &*words) {
        Some(found) => found,
        None => (LogIndex::with_room(0, &*words)?, LogExtent::empty(&log.header)),
    };
    let checkpoint_end = extent.end;
    let mut view = Arc::new(GenerationView::new(log.clone(), index, words));
    let mut reader = LogReader::new(log, seen.len);
    if options.verify {
        verify(&mut reader, checkpoint_end)?;
    }
    let rest = replay(&mut view, &mut extent, &mut reader)?;
    if let Rest::NotWhole(offset) = rest
        && (offset < closed_len || reader.lasted_beyond(offset)?)
    {
        return Err(damaged(&reader, offset));
    }
    Ok(LogContent { view, extent, checkpoint_end, seen })
}

/// Checks the part of the log that nobody has to read, because a checkpoint knows it.
fn verify(reader: &mut LogReader, end: u64) -> Result<()> {
    let mut extent = LogExtent::empty(&reader.log().header);
    let mut chain = Vec::new();
    while extent.end < end {
        let transaction = extent.next_transaction;
        if let Some(offset) = reader.commit(extent.end, transaction, &mut chain, &|_| ())? {
            return Err(damaged(reader, offset));
        }
        if let Some(last) = chain.last() {
            extent.commit(last);
        }
    }
    Ok(())
}

fn damaged(reader: &LogReader, offset: u64) -> Error {
    let message = "expected a frame as it was written, found damage, and whole frames behind it, which \
                   `bytewright table check --repair FILE` keeps";
    Error::new(ErrorKind::Corrupt, message).at(offset).in_file(&reader.log().name)
}

/// The file is shorter than it was.
fn is_cut(log: &Log, len: u64) -> Error {
    let message = format!(
        "expected the {} bytes that the table had when it was closed, found a file that was cut; \
         `bytewright table check --repair FILE` keeps what is there",
        log.header.closed_len
    );
    Error::new(ErrorKind::Corrupt, message).at(len).in_file(&log.name)
}

/// As many of the first bytes as there are of a file's two headers.
fn beginning(storage: &dyn Storage) -> Result<Vec<u8>> {
    let failed = |error| Error::io("read the table", &error);
    let len = storage.len().map_err(failed)?.min(LOG_START);
    let mut bytes = vec![0; len as usize];
    storage.read_at(0, &mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// The header of a file that is a table.
pub(super) fn read_header(storage: &dyn Storage) -> Result<HashLogHeader> {
    let bytes = beginning(storage)?;
    if let Some(header) = HashLogHeader::from_bytes(&bytes)? {
        return match bytes.len() as u64 {
            LOG_START => Ok(header),
            len => Err(Error::truncated("the headers", LOG_START, len)),
        };
    }
    let expected = "a hashed table of Bytewright";
    if bytes.is_empty() {
        return Err(Error::format(expected, "an empty file"));
    }
    if bytes.starts_with(MAGIC) || bytes.get(64..).is_some_and(|copy| copy.starts_with(MAGIC)) {
        let message = "expected an intact header, found two that do not match their checksums";
        return Err(Error::new(ErrorKind::Corrupt, message).at(0));
    }
    let found = match bytes.iter().all(|byte| *byte == 0) {
        true => "zeros: a table whose creation was interrupted can be deleted".to_owned(),
        false => described(&bytes),
    };
    Err(Error::format(expected, found).at(0))
}

/// Number of times to look for the file, while others make it and take it away.
const MAKING_TRIES: usize = 100;

/// Opens the file to write, and makes it where it is missing or empty. No moment of the making leaves a
/// part of a table under its name.
fn open_or_make(files: &HashTableFiles, options: &OpenOptions) -> Result<Box<dyn Storage>> {
    let (directory, timeout) = (&files.directory, options.timeout);
    let values = options.values.unwrap_or(ValueType::BYTES);
    let failed = |error| Error::io("make the table", &error);
    for _ in 0..MAKING_TRIES {
        match directory.open(&files.name, StorageMode::Write, timeout) {
            Err(error) if error.kind() == ErrorKind::Io(Some(NOT_FOUND)) => {}
            opened => {
                let storage = opened?;
                if storage.len().map_err(failed)? == 0 {
                    write_header(&*storage, values).map_err(failed)?;
                }
                return Ok(storage);
            }
        }
        if let Some(storage) = make(files, values)? {
            return Ok(storage);
        }
    }
    // What has the name cannot be opened, as a link that leads nowhere.
    let storage = directory.open(&files.name, StorageMode::Create, timeout)?;
    write_header(&*storage, values).map_err(failed)?;
    Ok(storage)
}

/// Makes the file without a name, and gives it the one of the table; `None` where somebody else has made that meanwhile.
fn make(files: &HashTableFiles, values: ValueType) -> Result<Option<Box<dyn Storage>>> {
    let directory = &files.directory;
    let put_in_place = || -> std::io::Result<Box<dyn Storage>> {
        let storage = directory.create_unnamed(&files.name, None)?;
        // Who makes the table has its lock before anybody else finds it.
        if let Some(file) = storage.file() {
            file.try_lock()?;
        }
        write_header(&*storage, values)?;
        directory.publish(&*storage, &files.name, Displaced::Nothing)?;
        directory.sync()?;
        Ok(storage)
    };
    match put_in_place() {
        Ok(storage) => Ok(Some(storage)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(Error::io("make the table", &error)),
    }
}

/// Makes a table without entries of a file that is empty.
fn write_header(storage: &dyn Storage, values: ValueType) -> std::io::Result<()> {
    let seed = random_number();
    let header = HashLogHeader { seed, generation: 1, first_transaction: 1, closed_len: 0, values };
    storage.write_at(0, &header.to_bytes())?;
    storage.sync()
}
