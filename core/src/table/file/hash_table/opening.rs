//! Opening of a hashed table's file: how it is shared, and where its index comes from.
//!
//! | the words that processes share | |
//! |---|---|
//! | are in use | nothing is to be done |
//! | were left by processes that were killed | the next to write takes in what they had committed and not published yet |
//! | do not count, and the last frame is that of a clean close | it says where the index is |
//! | do not count otherwise, as after a power cut | the index is made anew from the log |
//!
//! Who may not write the file, or only reads and would have to change more than these words, has an index of its own, made
//! from the log. So has a storage that is no file of the system.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::closing::ClosedIndex;
use super::extent::LogExtent;
use super::hash_file::HashFile;
use super::header::{HEADERS_LEN, HashLogHeader, LOG_START, Log, LogReader, MAGIC};
use super::index_writer::IndexWriter;
use super::replay::{Rest, replay, survey};
use super::state::{self, TableState};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{self, Attachment, FoundArea, PAGE_LEN, PageMap, Storage};
use crate::table::file::sharing::{AREA_PAGE, AreaMap, Sharing};
use crate::table::foreign::described;

/// Way in which a file is opened.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FileUse {
    /// It is to be read only.
    pub(super) reads: bool,
    /// All of it is checked first.
    pub(super) verifies: bool,
    /// A reader's index is to be its own.
    pub(super) is_apart: bool,
}

/// Opens the file in `storage`, which errors call `name`.
pub(super) fn open(storage: Box<dyn Storage>, name: &Arc<str>, usage: FileUse) -> Result<HashFile> {
    let header = read_header(&*storage)?;
    // Bound (Tables): index of a hashed table's file in memory of the process = none; all of it for who may not write
    // the file.
    let is_shared = is_writable(&*storage) && !usage.is_apart;
    let mut log = Log::new(storage, header, name.clone());
    let failed = |error| Error::io("map the table", &error);
    let map = match log.storage.file().filter(|_| is_shared) {
        Some(file) => {
            let (start, end) = (u64::from(AREA_PAGE) * PAGE_LEN as u64, LOG_START);
            check_length(&*log.storage, &header)?;
            files::reserve(file, start, end).map_err(|error| Error::io("write", &error))?;
            let file = file.try_clone().map_err(failed)?;
            Some(Arc::new(PageMap::of_file(file, true).map_err(failed)?))
        }
        None => None,
    };
    if let Some(map) = &map {
        log = log.mapped(map.clone());
    }
    let opening = FileOpening { log: Arc::new(log), usage };
    match map {
        Some(map) => match opening.attach(&map) {
            Err(error) if usage.reads && is_about_sharing(error.kind()) => opening.read_apart(),
            attached => attached,
        },
        None => opening.read_apart(),
    }
}

/// Makes a file of the next generation of a table in `storage`, which is empty. It has no entries.
pub(super) fn create(
    storage: Box<dyn Storage>,
    header: HashLogHeader,
    name: &Arc<str>,
) -> Result<HashFile> {
    let header = HashLogHeader { closed_len: 0, ..header };
    header.write_new(&*storage).map_err(|error| Error::io("write the compacted table", &error))?;
    open(storage, name, FileUse::default())
}

/// Joins those who have the file of `log` open, which nobody but them can use; none where nobody has, or where it cannot be told.
pub(super) fn join_readers(log: &Log) -> Option<Sharing> {
    let file = log.storage.file().filter(|_| is_writable(&*log.storage))?;
    if log.storage.len().ok()? < LOG_START {
        return None;
    }
    let map = Arc::new(PageMap::of_file(file.try_clone().ok()?, true).ok()?);
    let attachment =
        Attachment::join(file.try_clone().ok()?, Arc::new(AreaMap(map)), |found, words| {
            match found == FoundArea::Used && TableState::of(words).is_of(log.header.identity()) {
                true => Ok(()),
                // It is left as it is: nothing could be read of it.
                false => Err(needs_writer()),
            }
        });
    attachment.ok().map(|attachment| Sharing::attached(attachment, state::is_settled))
}

/// Returns true if an error of joining those who share the file is none of the table.
fn is_about_sharing(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::Lock | ErrorKind::Io(_))
}

/// Returns true if the storage is a file of the system that may be written.
pub(super) fn is_writable(storage: &dyn Storage) -> bool {
    let flags = storage.file().and_then(|file| rustix::fs::fcntl_getfl(file).ok());
    flags.is_some_and(|flags| flags.contains(rustix::fs::OFlags::RDWR))
}

/// Fails if the file is shorter than it was when it was closed.
fn check_length(storage: &dyn Storage, header: &HashLogHeader) -> Result<u64> {
    let len = storage.len().map_err(|error| Error::io("read the table", &error))?;
    if len >= header.closed_len.max(LOG_START) {
        return Ok(len);
    }
    let message = format!(
        "expected the {} bytes that the table had when it was closed, found a file that was cut; \
         `bytewright table check --repair FILE` keeps what is there",
        header.closed_len.max(LOG_START)
    );
    Err(Error::new(ErrorKind::Corrupt, message).at(len))
}

struct FileOpening {
    log: Arc<Log>,
    usage: FileUse,
}

impl FileOpening {
    /// The file beside others who use it.
    fn attach(&self, map: &Arc<PageMap>) -> Result<HashFile> {
        let failed = |error| Error::io("map the table", &error);
        let file = self.log.storage.file();
        let file = file.ok_or_else(|| Error::internal("a shared table without a file"))?;
        let opened = file.try_clone().map_err(failed)?;
        let area = Arc::new(AreaMap(map.clone()));
        let identity = self.log.header.identity();
        let mut is_verified = false;
        let attachment = Attachment::join(opened, area, |found, words| match found {
            FoundArea::Anew => {
                is_verified = true;
                self.begin(words, map)
            }
            _ if !TableState::of(words).is_of(identity) => Err(Error::new(
                ErrorKind::Corrupt,
                "expected what processes share of this table, found that of another one",
            )),
            FoundArea::Left => self.go_on(words, map),
            FoundArea::Used => Ok(()),
        })?;
        let sharing = Sharing::attached(attachment, state::is_settled);
        let file = HashFile::new(self.log.clone(), map.clone(), sharing, false);
        let end = file.newest()?.end;
        if self.usage.verifies && !is_verified {
            self.verify(end)?;
        }
        Ok(file)
    }

    /// A file with words of its own, as they are before it is shared.
    fn apart(&self, map: &Arc<PageMap>, is_index_own: bool) -> Result<HashFile> {
        let sharing = Sharing::alone(is_index_own && self.usage.reads);
        let sharing = sharing.map_err(|error| Error::io("get memory", &error))?;
        Ok(HashFile::new(self.log.clone(), map.clone(), sharing, is_index_own))
    }

    /// Goes on with the words of processes that were killed. What one of them left behind the newest state is for the next
    /// one to write: an index changes only along with these words.
    fn go_on(&self, words: &[AtomicU64], map: &Arc<PageMap>) -> Result<()> {
        let file = self.apart(map, false)?;
        copy_words(words, file.sharing.words());
        let mut reader = LogReader::new(self.log.clone(), self.len()?);
        let newest = file.newest()?;
        let state = TableState::of(words);
        // Unless somebody wrote a copy over the file that was made while they used it.
        if state.is_index_damaged() || !ends_with_its_frame(&newest, &mut reader)? {
            return self.begin(words, map);
        }
        if reader.end() != newest.end {
            state.set_unfinished(true);
        }
        Ok(())
    }

    /// Begins with what is in the file.
    fn begin(&self, words: &[AtomicU64], map: &Arc<PageMap>) -> Result<()> {
        let file = self.apart(map, false)?;
        // It may have been closed since it was opened.
        let header = read_header(&*self.log.storage)?;
        let len = check_length(&*self.log.storage, &header)?;
        let is_found = ClosedIndex::find(&file, header.closed_len, len)?;
        if is_found && (!self.usage.verifies || file.verify_index().is_ok()) {
            if self.usage.verifies {
                self.verify(len)?;
            }
        } else if self.usage.reads {
            return Err(needs_writer());
        } else {
            make_index(&file, &header)?;
        }
        copy_words(file.sharing.words(), words);
        Ok(())
    }

    fn len(&self) -> Result<u64> {
        self.log.storage.len().map_err(|error| self.log.system_error("read the table", &error))
    }

    /// Checks the log up to `end`.
    fn verify(&self, end: u64) -> Result<()> {
        let mut reader = LogReader::new(self.log.clone(), end);
        let mut extent = LogExtent::beginning(&mut reader)?;
        match survey(&mut extent, &mut reader, &mut |_| ())? {
            Rest::Nothing => Ok(()),
            Rest::NotWhole(offset) => Err(damaged(&self.log, offset)),
        }
    }

    /// The file with an index of this process.
    fn read_apart(&self) -> Result<HashFile> {
        let file = self.apart(&Arc::new(PageMap::anonymous()), true)?;
        let state = file.sharing.state();
        let (log, header) = (&self.log, &self.log.header);
        let len = check_length(&*log.storage, header)?;
        let mut reader = LogReader::new(log.clone(), len);
        let mut extent = LogExtent::beginning(&mut reader)?;
        state.begin(&extent, header.identity());
        let mut writer = IndexWriter::begin(&file, (extent.start, u64::MAX), extent.end, 0);
        writer.begin_index()?;
        let rest = replay(&file, &mut extent, &mut reader, &mut writer)?;
        check_rest(&mut reader, rest, header.closed_len)?;
        state.publish(&extent);
        if !self.usage.reads && len > extent.end {
            cut_tail(log, extent.end)?;
        }
        Ok(file)
    }
}

fn needs_writer() -> Error {
    Error::new(ErrorKind::Lock, "expected a table with its index, found one that has to be written")
}

fn copy_words(from: &[AtomicU64], to: &[AtomicU64]) {
    for (from, to) in from.iter().zip(to) {
        to.store(from.load(Relaxed), Relaxed);
    }
}

/// Makes the index of `file`, which nobody else uses, anew from all of its log, whose header is `header`. What a crash has left
/// of a transaction is cut off.
pub(super) fn make_index(file: &HashFile, header: &HashLogHeader) -> Result<()> {
    let (log, state) = (&file.log, file.sharing.state());
    let len = log.storage.len().map_err(|error| log.system_error("read the table", &error))?;
    let (mut reader, mut rooms) = (LogReader::new(log.clone(), len), Vec::new());
    let beginning = LogExtent::beginning(&mut reader)?;
    let mut whole = beginning;
    let rest = survey(&mut whole, &mut reader, &mut |room| rooms.push(*room))?;
    check_rest(&mut reader, rest, header.closed_len)?;
    if len > whole.end {
        cut_tail(log, whole.end)?;
    }
    let mut extent = beginning;
    state.begin(&extent, header.identity());
    // The index that was among it is gone.
    let freed_bytes = log.free(LOG_START, beginning.end);
    state.set_trimmed(beginning.end, freed_bytes);
    file.check_reaches(whole.end)?;
    log.read_mapped_to(whole.end);
    let mut writer = IndexWriter::begin(file, (extent.start, u64::MAX), whole.end, 0);
    rooms.iter().try_for_each(|room| writer.reuse_room(room))?;
    state.set_room_bytes(rooms.iter().map(|room| room.end() - room.offset).sum());
    writer.begin_index()?;
    let mut reader = LogReader::new(log.clone(), whole.end);
    replay(file, &mut extent, &mut reader, &mut writer)?;
    extent.end = writer.end;
    state.publish(&extent);
    Ok(())
}

/// Makes the index of `file`, which others use meanwhile, anew from its log. The caller has the turn.
pub(super) fn replace_index(file: &HashFile) -> Result<()> {
    roll_forward(file)?;
    let (log, state) = (&file.log, file.sharing.state());
    let newest = state.newest();
    let sharing = Sharing::alone(false).map_err(|error| Error::io("get memory", &error))?;
    let apart = HashFile::new(log.clone(), file.map.clone(), sharing, file.is_index_own);
    let mut reader = LogReader::new(log.clone(), newest.end);
    let mut extent = LogExtent::beginning(&mut reader)?;
    apart.sharing.state().begin(&extent, log.header.identity());
    apart.sharing.state().set_room_bytes(state.room_bytes());
    apart.sharing.state().set_trimmed(state.trimmed_end(), state.freed_bytes());
    // What others have pinned stays in the new index, too.
    let (mut states, mut pins) = (Vec::new(), Vec::new());
    file.sharing.read_states(&mut states);
    states.push((newest.end, newest.start));
    for pinned in states {
        pins.push(apart.sharing.pin(pinned)?);
    }
    let mut writer =
        IndexWriter::begin(&apart, (extent.start, newest.end), newest.end, newest.next_transaction);
    writer.begin_index()?;
    replay(&apart, &mut extent, &mut reader, &mut writer)?;
    extent.end = writer.end;
    state.publish(&extent);
    state.take_index(&apart.sharing.state());
    state.set_index_damaged(false);
    Ok(())
}

/// Takes in what a writer that died had committed and not published yet, and cuts off the rest. The caller has the turn, or
/// nobody else uses the file.
pub(super) fn roll_forward(file: &HashFile) -> Result<()> {
    let (log, state) = (&file.log, file.sharing.state());
    let len = log.storage.len().map_err(|error| log.system_error("read the table", &error))?;
    let mut extent = file.newest()?;
    let mut whole = extent;
    survey(&mut whole, &mut LogReader::new(log.clone(), len), &mut |_| ())?;
    if len > whole.end {
        cut_tail(log, whole.end)?;
    }
    if whole.end == extent.end {
        return Ok(());
    }
    let committed = (extent.start, extent.end);
    let mut writer = IndexWriter::begin(file, committed, whole.end, whole.next_transaction);
    let mut reader = LogReader::new(log.clone(), whole.end);
    replay(file, &mut extent, &mut reader, &mut writer)?;
    extent.end = writer.end;
    state.publish(&extent);
    Ok(())
}

/// Cuts off what a crash has left of a transaction. The cut has to last before anything is written behind it: else what was
/// cut could come back behind what follows, and look as if it belonged there.
fn cut_tail(log: &Log, end: u64) -> Result<()> {
    let cut = log.storage.set_len(end).and_then(|()| log.storage.sync());
    cut.map_err(|error| log.system_error("cut an unfinished transaction off the table", &error))
}

/// Returns true if the last frame that was taken in is there: a writer whose write failed may have cut it off, and
/// another may have written something else there.
pub(super) fn ends_with_its_frame(extent: &LogExtent, reader: &mut LogReader) -> Result<bool> {
    if extent.last_frame == 0 {
        return Ok(true);
    }
    let frame = reader.frame(extent.last_frame)?;
    Ok(frame.is_some_and(|frame| {
        frame.end() <= extent.end && frame.number.checked_add(1) == Some(extent.next_transaction)
    }))
}

/// Fails if what is not whole at the end of a log was whole once.
fn check_rest(reader: &mut LogReader, rest: Rest, closed_len: u64) -> Result<()> {
    match rest {
        Rest::NotWhole(offset) if offset < closed_len || reader.lasted_beyond(offset)? => {
            Err(damaged(reader.log(), offset))
        }
        _ => Ok(()),
    }
}

fn damaged(log: &Log, offset: u64) -> Error {
    let message = "expected a frame as it was written, found damage, and whole frames behind it, which \
                   `bytewright table check --repair FILE` keeps";
    Error::new(ErrorKind::Corrupt, message).at(offset).in_file(&log.name)
}

/// The header of a file that is a table.
pub(super) fn read_header(storage: &dyn Storage) -> Result<HashLogHeader> {
    let failed = |error| Error::io("read the table", &error);
    let len = storage.len().map_err(failed)?.min(HEADERS_LEN as u64);
    let mut bytes = vec![0; len as usize];
    storage.read_at(0, &mut bytes).map_err(failed)?;
    if let Some(header) = HashLogHeader::from_bytes(&bytes)? {
        return match bytes.len() {
            HEADERS_LEN => Ok(header),
            len => Err(Error::truncated("the headers", HEADERS_LEN as u64, len as u64)),
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
