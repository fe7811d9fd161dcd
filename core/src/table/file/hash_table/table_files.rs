//! The name of a hashed table's file, and how the file is made. A table and its next generation have no name before they are
//! whole.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::super::options::OpenOptions;
use super::super::random::random_number;
use super::super::sharing::is_refused;
use super::header::{HashLogHeader, Log};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{Directory, Displaced, FileAccess, Storage, StorageMode};
use crate::table::ValueType;

/// `ENOENT`.
const NOT_FOUND: i32 = 2;

/// Number of times to look for the file, while others make it and take it away.
const MAKING_TRIES: usize = 100;

/// Least time to wait for another process that makes the same table.
const PATIENCE: Duration = Duration::from_secs(1);

/// File of a hashed table: its directory and its name.
#[derive(Debug, Clone)]
pub(super) struct HashTableFiles {
    pub(super) directory: Arc<dyn Directory>,
    pub(super) name: OsString,
    /// True if nobody else is to write the file, and the one that takes its place.
    pub(super) is_exclusive: bool,
}

impl HashTableFiles {
    /// Opens the file as the options want it, and makes it where they want that and it is missing or empty. No moment of the
    /// making leaves a part of a table under its name.
    pub(super) fn open(&self, options: &OpenOptions) -> Result<Box<dyn Storage>> {
        let open = |mode, timeout| self.directory.open(&self.name, mode, timeout);
        if options.read_only {
            // A reader tells others what it reads in the file, if it may write there.
            return match open(StorageMode::Join, options.timeout) {
                Err(error) if is_refused(error.kind()) => {
                    open(StorageMode::Follow, options.timeout)
                }
                opened => opened,
            };
        }
        if !options.create {
            return open(options.storage_mode(), options.timeout);
        }
        let values = options.values.unwrap_or(ValueType::BYTES);
        let failed = |error| Error::io("make the table", &error);
        for _ in 0..MAKING_TRIES {
            match open(options.storage_mode(), options.timeout) {
                Err(error) if error.kind() == ErrorKind::Io(Some(NOT_FOUND)) => {}
                opened => {
                    let storage = opened?;
                    if storage.len().map_err(failed)? > 0 {
                        return Ok(storage);
                    }
                    drop(storage);
                    // The one who has it alone makes a table of it.
                    let empty = open(StorageMode::Write, options.timeout.max(PATIENCE))?;
                    if empty.len().map_err(failed)? == 0 {
                        write_header(&*empty, values).map_err(failed)?;
                    }
                    continue;
                }
            }
            if let Some(storage) = self.make(values)? {
                return Ok(storage);
            }
        }
        // What has the name cannot be opened, as a link that leads nowhere.
        let storage = open(StorageMode::Create, options.timeout)?;
        write_header(&*storage, values).map_err(failed)?;
        Ok(storage)
    }

    /// Makes the file without a name, and gives it the one of the table; `None` where somebody else has made that meanwhile.
    fn make(&self, values: ValueType) -> Result<Option<Box<dyn Storage>>> {
        let put_in_place = || -> io::Result<Box<dyn Storage>> {
            let storage = self.directory.create_unnamed(&self.name, None)?;
            // Who makes the table has its lock before anybody else finds it.
            self.lock(&*storage)?;
            write_header(&*storage, values)?;
            self.directory.publish(&*storage, &self.name, Displaced::Nothing)?;
            self.directory.sync()?;
            Ok(storage)
        };
        match put_in_place() {
            Ok(storage) => Ok(Some(storage)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(Error::io("make the table", &error)),
        }
    }

    /// Locks a file that nobody else has found yet, as the table is locked.
    fn lock(&self, storage: &dyn Storage) -> io::Result<()> {
        match storage.file() {
            Some(file) if self.is_exclusive => Ok(file.try_lock()?),
            Some(file) => Ok(file.try_lock_shared()?),
            None => Ok(()),
        }
    }

    /// Returns true if another file has the name of `log`.
    pub(super) fn is_named_otherwise(&self, log: &Log) -> Result<bool> {
        let failed = |error| log.system_error("find the table", &error);
        let named = self.directory.id(&self.name).map_err(failed)?;
        let own = log.storage.id().map_err(failed)?;
        // Where nothing has the name, the table was removed: it can be read as long as it is open.
        Ok(named.is_some() && named != own)
    }

    /// Fails where another file has the name of `log`, or none: it is not ours to be replaced.
    pub(super) fn check_named(&self, log: &Log) -> Result<()> {
        let failed = |error| log.system_error("find the table", &error);
        let own = log.storage.id().map_err(failed)?;
        let found = match self.directory.id(&self.name).map_err(failed)? {
            None => "no file of its name",
            named if own.is_none() || own == named => return Ok(()),
            Some(_) => "another file in its place",
        };
        let message = format!("expected the table that was opened, found {found}; open it again");
        Err(Error::new(ErrorKind::Lock, message).in_file(&log.name))
    }

    /// Replaces `log` with `next`, the file of the next generation.
    pub(super) fn replace(&self, log: &Log, next: &Log) -> Result<()> {
        self.check_named(log)?;
        let published = self.directory.publish(&*next.storage, &self.name, Displaced::Any);
        published.map_err(|error| log.system_error("rename the compacted table", &error))
    }

    /// A new, empty file without a name, for those who may use `log`. It is locked as `log` is.
    pub(super) fn create_beside(&self, log: &dyn Storage) -> Result<Box<dyn Storage>> {
        let failed =
            |action: &str, error| Error::io(action, &error).in_file(&self.name.to_string_lossy());
        let like = log.file().map(FileAccess::of).transpose();
        let like = like.map_err(|error| failed("read the mode of the table", error))?;
        // Nobody else may open it before it is as it should be.
        let owner = like.as_ref().map(|like| like.owner().private());
        let file = self.directory.create_unnamed(&self.name, owner);
        let file = file.map_err(|error| failed("create a file beside", error))?;
        if let Some((like, opened)) = like.zip(file.file()) {
            let given = like.give_to(opened).and_then(|()| self.lock(&*file));
            given
                .map_err(|error| failed("give the table's owner and mode to a new file", error))?;
        }
        Ok(file)
    }
}

/// Makes a table without entries of a file that is empty.
fn write_header(storage: &dyn Storage, values: ValueType) -> io::Result<()> {
    let seed = random_number();
    let header = HashLogHeader { seed, generation: 1, first_transaction: 1, closed_len: 0, values };
    header.write_new(storage)?;
    storage.sync()
}
