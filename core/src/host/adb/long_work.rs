//! Work that reads many entries, in steps between which a host can be interrupted.

use std::path::PathBuf;

use super::Strings;
use super::name::DatabaseName;
use crate::error::{Error, ErrorKind, Result, excerpt_of_bytes};
use crate::host::table::BackupProgress;
use crate::table::file::{self, OpenOptions, SyncMode};
use crate::table::{BackupOptions, Scan};

/// Entries that are looked at in one step.
const STEP_LEN: usize = 64;

/// Work on entries as they are when it begins.
pub(super) enum LongWork {
    /// Looking for entries.
    Search {
        entries: Box<dyn Scan>,
        prefix: Vec<u8>,
        /// The number that is still wanted.
        left: usize,
        /// Their values are listed, too.
        has_values: bool,
        found: Strings,
    },
    /// A copy of a file.
    Copy(BackupProgress, PathBuf),
    /// Entries of a table in memory, on their way into a file.
    Fill(Box<dyn Scan>, Box<DatabaseName>),
}

impl LongWork {
    /// Looks for entries whose keys begin with `prefix`, `count_max` at most.
    pub(super) fn search(
        entries: Box<dyn Scan>,
        prefix: &[u8],
        count_max: Option<usize>,
        has_values: bool,
    ) -> LongWork {
        let left = count_max.unwrap_or(usize::MAX);
        LongWork::Search { entries, prefix: prefix.to_vec(), left, has_values, found: Vec::new() }
    }

    /// Puts entries of a table in memory into the file that a name stands for.
    pub(super) fn fill(entries: Box<dyn Scan>, name: DatabaseName) -> Result<LongWork> {
        if name.is_in_memory {
            let found = excerpt_of_bytes(&name.path);
            let message = format!("expected the name of a file, found {found}");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        Ok(LongWork::Fill(entries, Box::new(name)))
    }

    /// Does some of the work, and says whether there is more.
    pub(super) fn step(&mut self) -> Result<bool> {
        match self {
            LongWork::Search { entries, prefix, left, has_values, found } => {
                search(entries.as_mut(), prefix, left, *has_values, found)
            }
            LongWork::Copy(writing, path) => writing.step(path, BackupOptions { replace: true }),
            LongWork::Fill(entries, name) => fill(entries.as_mut(), name).map(|()| false),
        }
    }

    /// The strings that were found.
    pub(super) fn found(self) -> Strings {
        match self {
            LongWork::Search { found, .. } => found,
            _ => Vec::new(),
        }
    }
}

fn search(
    entries: &mut dyn Scan,
    prefix: &[u8],
    left: &mut usize,
    has_values: bool,
    found: &mut Strings,
) -> Result<bool> {
    for _ in 0..STEP_LEN {
        if *left == 0 {
            return Ok(false);
        }
        let Some((key, value)) = entries.advance()? else { return Ok(false) };
        if !key.starts_with(prefix) {
            continue;
        }
        *left -= 1;
        found.push(key.to_vec());
        if has_values {
            found.push(value.to_vec());
        }
    }
    Ok(true)
}

fn fill(entries: &mut dyn Scan, name: &DatabaseName) -> Result<()> {
    let options = OpenOptions {
        create: true,
        read_only: false,
        sync: SyncMode::Never,
        timeout: std::time::Duration::ZERO,
        ..name.options
    };
    let mut file = file::open(super::path_of(&name.path), Some(name.kind), options)?;
    file.as_table_mut().put_all(entries)?;
    file.as_table_mut().close()
}
