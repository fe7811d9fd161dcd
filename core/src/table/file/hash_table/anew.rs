//! Puts an empty file in the place of a damaged one, for those who can make its entries again.
//!
//! All who have the file open go on with the new one at their next call, as after a
//! compaction: a mark in the old file tells them.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::super::options::OpenOptions;
use super::super::random::random_number;
use super::HashTable;
use super::engine::{Engine, TURN_TRIES, TableAccess};
use super::hash_file::HashFile;
use super::header::{HashLogHeader, Log};
use super::opening::{self, FileUse, join_readers, read_header};
use super::repair::find;
use super::table_files::HashTableFiles;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{SharedTurn, StorageMode, TurnKind};
use crate::table::ValueType;
use crate::table::file::sharing::{AreaMap, Sharing};

/// Time between two tries to have a file alone, or beside those who use it.
const PAUSE: Duration = Duration::from_millis(2);

impl Engine {
    /// Goes on with an empty file, which takes the place of this one; false if another process has put one there already, or,
    /// unless `even_whole`, this one is not damaged.
    pub(super) fn start_anew(&mut self, even_whole: bool) -> Result<bool> {
        if !matches!(self.access, TableAccess::Failed(ErrorKind::Corrupt, _)) {
            self.check_writable()?;
        }
        if self.depth() > 0 || !self.kept_turns.is_empty() {
            let message =
                "expected no open transaction while a damaged table is replaced, found one";
            return Err(Error::new(ErrorKind::Argument, message).in_file(&self.name));
        }
        self.abandon_compaction();
        // It may have failed at the damage.
        self.flusher = None;
        self.leave_turn();
        let begun =
            self.start_anew_at_once(even_whole).map_err(|error| error.in_file(&self.name))?;
        self.access = TableAccess::Write;
        Ok(begun)
    }

    fn start_anew_at_once(&mut self, even_whole: bool) -> Result<bool> {
        let file = self.file()?.clone();
        let turns = DamagedTurns::take(&file.sharing, self.options.timeout)?;
        // The mark may be damaged, too.
        if self.is_left()? || self.files.is_named_otherwise(&file.log)? {
            drop(turns);
            return self.reopen().map(|()| false);
        }
        // The damage may have been met in a file that another process has replaced since, whose entries are in this one.
        let found = NamedFile { files: &self.files, name: &self.name, verifies: true };
        if !even_whole && !found.is_damaged()? {
            return Ok(false);
        }
        let next = replace(&self.files, &file.log, Some(&file.sharing))?;
        drop(turns);
        self.go_on_with(next).map(|()| true)
    }
}

impl HashTable {
    /// Puts an empty table in the place of the one at `path`, if that cannot be opened because it is damaged, and returns true
    /// if it did. Waits as long as `options` say for those who use the file, and cannot be told.
    pub fn start_anew_at(path: impl AsRef<Path>, options: OpenOptions) -> Result<bool> {
        let (mut files, name) = find(path.as_ref())?;
        files.is_exclusive = options.exclusive;
        let begun = DamagedFile { files, name: name.as_str().into(), options }.start_anew();
        begun.map_err(|error| error.in_file(&name))
    }
}

/// Turns to write and to replace a file, of which nothing is put right for the next one.
struct DamagedTurns<'s> {
    sharing: &'s Sharing,
    _replace: Option<SharedTurn<AreaMap>>,
}

impl<'s> DamagedTurns<'s> {
    fn take(sharing: &'s Sharing, timeout: Duration) -> Result<DamagedTurns<'s>> {
        let replace = sharing.take_turn_to(TurnKind::Replace, timeout)?;
        sharing.take_turn(timeout)?;
        Ok(DamagedTurns { sharing, _replace: replace })
    }
}

impl Drop for DamagedTurns<'_> {
    fn drop(&mut self) {
        self.sharing.give_turn_back();
    }
}

/// File that could not be opened.
struct DamagedFile {
    files: HashTableFiles,
    name: Arc<str>,
    options: OpenOptions,
}

impl DamagedFile {
    fn start_anew(&self) -> Result<bool> {
        let began = Instant::now();
        for _ in 0..TURN_TRIES {
            let left = self.options.timeout.saturating_sub(began.elapsed());
            let (log, is_shared) = match self.open(StorageMode::Write, Duration::ZERO) {
                Err(error) if error.kind() == ErrorKind::Lock => {
                    (self.open(StorageMode::Share, left)?, true)
                }
                alone => (alone?, false),
            };
            // Those who only read have no lock.
            match (join_readers(&log), is_shared) {
                (Some(sharing), _) => {
                    let _turns = DamagedTurns::take(&sharing, left)?;
                    return self.replace_if_damaged(&log, Some(&sharing));
                }
                (None, false) => return self.replace_if_damaged(&log, None),
                // They have left meanwhile, or cannot be told.
                (None, true) if left.is_zero() => break,
                (None, true) => thread::sleep(PAUSE),
            }
        }
        let message = "expected a damaged table that nobody uses, or whose header is whole, found one that others use";
        Err(Error::new(ErrorKind::Lock, message))
    }

    /// Opens the file, whose header may be damaged.
    fn open(&self, mode: StorageMode, timeout: Duration) -> Result<Log> {
        let storage = self.files.directory.open(&self.files.name, mode, timeout)?;
        let header = read_header(&*storage).or_else(|error| match error.kind() {
            ErrorKind::Corrupt | ErrorKind::Truncated { .. } => Ok(HashLogHeader {
                seed: random_number(),
                generation: 1,
                first_transaction: 1,
                closed_len: 0,
                values: self.options.values.unwrap_or(ValueType::BYTES),
            }),
            _ => Err(error),
        })?;
        header.values.check(self.options.values)?;
        Ok(Log::new(storage, header, self.name.clone()))
    }

    fn replace_if_damaged(&self, log: &Log, sharing: Option<&Sharing>) -> Result<bool> {
        let Self { files, name, options } = self;
        let found = NamedFile { files, name, verifies: options.verify };
        if files.is_named_otherwise(log)? || !found.is_damaged()? {
            return Ok(false);
        }
        replace(files, log, sharing).map(|_| true)
    }
}

/// File that has the name now. It may have been replaced since somebody met damage.
struct NamedFile<'f> {
    files: &'f HashTableFiles,
    name: &'f Arc<str>,
    /// All of it is read, and not only as much as opening needs.
    verifies: bool,
}

impl NamedFile<'_> {
    /// Returns true if it cannot be opened because it is damaged.
    fn is_damaged(&self) -> Result<bool> {
        let open = self.files.directory.open(&self.files.name, StorageMode::Join, Duration::ZERO);
        let usage = FileUse { verifies: self.verifies, ..FileUse::default() };
        match open.and_then(|storage| opening::open(storage, self.name, usage)) {
            Ok(_) => Ok(false),
            Err(error) => match error.kind() {
                ErrorKind::Corrupt | ErrorKind::Truncated { .. } => Ok(true),
                _ => Err(error),
            },
        }
    }
}

/// Puts an empty file in the place of that of `log`, and tells those who share it. The caller keeps others from doing so.
fn replace(files: &HashTableFiles, log: &Log, sharing: Option<&Sharing>) -> Result<Arc<HashFile>> {
    files.check_named(log)?;
    let header = HashLogHeader { generation: log.header.generation + 1, ..log.header };
    let next = opening::create(files.create_beside(&*log.storage)?, header, &log.name)?;
    // With its name alone, it would be a file that nobody can open.
    let synced = next.log.storage.sync();
    synced.map_err(|error| log.system_error("sync the new table", &error))?;
    let told = sharing.map(Sharing::state);
    told.inspect(|state| state.set_replacing(true));
    let replaced = files.replace(log, &next.log);
    match &replaced {
        Ok(()) => told.inspect(|state| state.set_replaced()),
        Err(_) => told.inspect(|state| state.set_replacing(false)),
    };
    replaced?;
    next.sharing.state().set_name_unsynced(true);
    Ok(Arc::new(next))
}
