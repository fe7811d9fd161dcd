//! Looks at every byte of a hashed table's file, and saves what is whole from a damaged one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::HashTable;
use super::extent::LogExtent;
use super::generation::NextGeneration;
use super::header::{HashLogHeader, Log, LogReader};
use super::opening::{join_readers, read_header};
use super::table_files::HashTableFiles;
use crate::error::{Error, Result};
use crate::files::{CommitFrame, Directory, FileDirectory, StorageMode};
use crate::table::file::sharing::Sharing;

/// Result of checking a table's file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Check {
    /// Whole transactions.
    pub transactions: u64,
    /// Offset of the first damage, if there is any.
    pub damaged_at: Option<u64>,
    /// Bytes that damage has cost: those that are damaged or missing, and those of transactions that
    /// are not whole without them.
    pub lost_bytes: u64,
    /// Bytes that the file had when it was closed last, and that are cut off.
    pub missing_bytes: u64,
    /// Bytes at the end, of transactions that a crash kept from being written. They were never
    /// promised to be there, and opening the table to write cuts them off.
    pub unfinished_bytes: u64,
}

impl HashTable {
    /// Checks the file at `path` as it is now, and changes nothing. Damage is no error but a result.
    pub fn check(path: impl AsRef<Path>) -> Result<Check> {
        let (files, name) = find(path.as_ref())?;
        Self::check_in(files.directory, &name)
    }

    /// Checks the file `name` of `directory`, as [`HashTable::check`] does.
    pub fn check_in(directory: Arc<dyn Directory>, name: &str) -> Result<Check> {
        let files = HashTableFiles { directory, name: file_name(name), is_exclusive: false };
        Salvage::of(&files, name, StorageMode::Follow, Duration::ZERO)?.run(|_, _| Ok(()))
    }

    /// Saves every whole transaction of the damaged file at `path` into a new file, which takes its
    /// place, and says what was left out. Where a transaction is lost, its entries are as the ones
    /// before left them. A file without damage is left as it is.
    ///
    /// It waits up to `timeout` for another writer to go.
    pub fn repair(path: impl AsRef<Path>, timeout: Duration) -> Result<Check> {
        let (files, name) = find(path.as_ref())?;
        Self::repair_in(files.directory, &name, timeout)
    }

    /// Repairs the file `name` of `directory`, as [`HashTable::repair`] does.
    pub fn repair_in(
        directory: Arc<dyn Directory>,
        name: &str,
        timeout: Duration,
    ) -> Result<Check> {
        let files = HashTableFiles { directory, name: file_name(name), is_exclusive: false };
        let checked = Salvage::of(&files, name, StorageMode::Write, timeout)?;
        let log = checked.log.clone();
        let check = checked.run(|_, _| Ok(()))?;
        if check.damaged_at.is_some() {
            save(&files, &log).map_err(|error| error.in_file(name))?;
        }
        Ok(check)
    }
}

fn file_name(name: &str) -> std::ffi::OsString {
    Path::new(name).file_name().unwrap_or_default().to_owned()
}

/// Finds the directory of the table at `path`, and the name that errors give it.
pub(super) fn find(path: &Path) -> Result<(HashTableFiles, String)> {
    let shown = path.to_string_lossy().into_owned();
    let found = FileDirectory::find(path);
    let (directory, name) = found.map_err(|error| Error::io("open", &error).in_file(&shown))?;
    Ok((HashTableFiles { directory: Arc::new(directory), name, is_exclusive: false }, shown))
}

/// Writes the whole transactions of `log` to a new file, and puts it in its place.
fn save(files: &HashTableFiles, log: &Arc<Log>) -> Result<()> {
    let header = HashLogHeader {
        generation: log.header.generation + 1,
        first_transaction: log.header.first_transaction,
        ..log.header
    };
    let storage = files.create_beside(&*log.storage)?;
    let mut generation = NextGeneration::begin(storage, header, &log.name)?;
    Salvage::new(log.clone())?.run(|reader, chain| {
        for frame in chain {
            if frame.flags.clears {
                generation.clear()?;
            }
            reader.each_record(frame, |record, _| generation.change(&record))?;
        }
        Ok(())
    })?;
    let saved = generation.finish(true)?;
    // Those who only read have no lock, and are told.
    let readers = join_readers(log);
    let told = readers.as_ref().map(Sharing::state);
    told.inspect(|state| state.set_replacing(true));
    let replaced = files.replace(log, &saved.log);
    match &replaced {
        Ok(()) => told.inspect(|state| state.set_replaced()),
        Err(_) => told.inspect(|state| state.set_replacing(false)),
    };
    replaced?;
    let synced = files.directory.sync();
    synced.map_err(|error| Error::io("rename the repaired table", &error))
}

/// A walk over all that is whole.
struct Salvage {
    log: Arc<Log>,
    reader: LogReader,
    end: u64,
    check: Check,
}

impl Salvage {
    fn of(
        files: &HashTableFiles,
        name: &str,
        mode: StorageMode,
        timeout: Duration,
    ) -> Result<Salvage> {
        let storage = files.directory.open(&files.name, mode, timeout)?;
        let header = read_header(&*storage).map_err(|error| error.in_file(name))?;
        Self::new(Arc::new(Log::new(storage, header, name.into())))
    }

    fn new(log: Arc<Log>) -> Result<Salvage> {
        let end = log.storage.len().map_err(|error| log.system_error("read the table", &error))?;
        let reader = LogReader::new(log.clone(), end);
        Ok(Salvage { log, reader, end, check: Check::default() })
    }

    /// Shows `whole` the frames of every whole transaction, in their order.
    fn run(
        mut self,
        mut whole: impl FnMut(&mut LogReader, &[CommitFrame]) -> Result<()>,
    ) -> Result<Check> {
        let mut extent = LogExtent::beginning(&mut self.reader)?;
        let mut chain = Vec::new();
        loop {
            extent.end = self.reader.pass_rooms(extent.end, &mut |_| ())?;
            if extent.end >= self.end {
                break;
            }
            let transaction = extent.next_transaction;
            let not_whole = self.reader.commit(extent.end, transaction, &mut chain, &|_| ())?;
            if let Some(offset) = not_whole {
                let is_damaged = self.check.damaged_at.is_some()
                    || offset < self.log.header.closed_len
                    || self.reader.lasted_beyond(offset)?;
                if !is_damaged {
                    self.check.unfinished_bytes = self.end - extent.end;
                    break;
                }
                self.check.damaged_at.get_or_insert(offset);
                let next = self.next_beginning(offset)?;
                self.check.lost_bytes += next.map_or(self.end, |frame| frame.offset) - extent.end;
                let Some(next) = next else { break };
                (extent.end, extent.next_transaction) = (next.offset, next.number);
                continue;
            }
            whole(&mut self.reader, &chain)?;
            self.check.transactions += 1;
            if let Some(last) = chain.last() {
                extent.commit(last);
            }
        }
        let missing_bytes = self.log.header.closed_len.saturating_sub(self.end);
        if missing_bytes > 0 {
            self.check.damaged_at.get_or_insert(self.end);
            self.check.missing_bytes = missing_bytes;
            self.check.lost_bytes += missing_bytes;
        }
        Ok(self.check)
    }

    /// The next frame behind the damage at `offset` with which a transaction begins.
    fn next_beginning(&mut self, offset: u64) -> Result<Option<CommitFrame>> {
        let mut at = match self.reader.frame(offset)? {
            None => offset + 1,
            Some(frame) if self.reader.is_whole(&frame, &|_| ())? => offset,
            // Where the beginning of a frame is whole, its length can be believed.
            Some(frame) => frame.end(),
        };
        while let Some(frame) = self.reader.next_frame(at)? {
            if !frame.flags.continues && !frame.flags.is_room {
                return Ok(Some(frame));
            }
            at = frame.end();
        }
        Ok(None)
    }
}
