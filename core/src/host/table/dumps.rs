//! Dumps of a table that a host shares: written while others use it, loaded in one transaction.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::failure::{Failure, Outcome};
use super::super::turn::TurnHost;
use super::{TableHandle, step_by_step};
use crate::bytes::{ByteStream, Cancel, StreamOptions};
use crate::error::Result;
use crate::export::{DumpFile, OutputOptions};
use crate::table::{Dump, DumpFormat, DumpReader};

impl<C: Clone> TableHandle<C> {
    /// Writes the entries as they are now to the file at `path`, as [`DumpFile`] does, while other callers use the table, and
    /// returns how many there are. It never replaces the table's own file, and another table, a capture or a store only with
    /// `force`.
    pub fn dump<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        path: &Path,
        format: DumpFormat,
        force: bool,
    ) -> Outcome<u64, H> {
        let options = OutputOptions::made_of(self.path.borrow().iter(), force);
        let dump = self.read(host, |content| Dump::of(content.table()?, self.kind(), format))?;
        let mut state = DumpProgress::Taken(dump);
        step_by_step(host, &mut || state.step(path, &options))?;
        Ok(state.entry_count())
    }

    /// Puts the entries of the dump at `path` in, all or none, and returns how many there were. Reading may be interrupted;
    /// the table is this caller's meanwhile.
    pub fn load<H: TurnHost<Caller = C>>(&self, host: &H, path: &Path) -> Outcome<u64, H> {
        let cancel = Cancel::new();
        let options = StreamOptions { cancel: Some(cancel.clone()), ..StreamOptions::default() };
        let stream = ByteStream::open(path, &options)?;
        let reader = Mutex::new(DumpReader::new(stream, self.values()));
        let depth = self.depth(host)?;
        self.begin(host)?;
        let loaded = self.load_from(host, &reader, &cancel);
        let ended = self.end(host, depth, loaded.is_ok());
        let count = loaded?;
        ended.map(|()| count)
    }

    fn load_from<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        reader: &Mutex<DumpReader>,
        cancel: &Cancel,
    ) -> Outcome<u64, H> {
        loop {
            let filled = host.wait(&|| lock(reader).fill(), &|| cancel.cancel());
            // Nobody calls it off any more now that the host has its lock again.
            cancel.reset();
            host.check_interrupts().map_err(Failure::Host)?;
            match filled.map_err(Failure::Host)? {
                Some(Ok(true)) => self.put_packed(host, lock(reader).ready())?,
                Some(Ok(false)) => return Ok(lock(reader).count()),
                Some(Err(error)) if !Cancel::caused(&error) => return Err(error.into()),
                Some(Err(_)) | None => (),
            }
        }
    }
}

fn lock(reader: &Mutex<DumpReader>) -> MutexGuard<'_, DumpReader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Progress of a dump.
enum DumpProgress {
    Taken(Dump),
    Begun(DumpFile),
    /// With so many entries; none where it failed.
    Ended(u64),
}

impl DumpProgress {
    /// Does some more of it, and returns true if there is more to do.
    fn step(&mut self, path: &Path, options: &OutputOptions) -> Result<bool> {
        match std::mem::replace(self, DumpProgress::Ended(0)) {
            DumpProgress::Taken(dump) => {
                *self = DumpProgress::Begun(DumpFile::create(path, dump, options)?);
                Ok(true)
            }
            DumpProgress::Begun(mut file) => {
                let has_more = file.step()?;
                *self = match has_more {
                    true => DumpProgress::Begun(file),
                    false => DumpProgress::Ended(file.written()),
                };
                Ok(has_more)
            }
            DumpProgress::Ended(_) => Ok(false),
        }
    }

    fn entry_count(&self) -> u64 {
        match self {
            DumpProgress::Ended(count) => *count,
            _ => 0,
        }
    }
}
