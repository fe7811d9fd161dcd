//! Options of opening a table in a file.

use std::str::FromStr;
use std::time::Duration;

use crate::error::{ErrorKind, excerpt};
use crate::files::StorageMode;
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::table::ValueType;
use crate::{Error, Result};

/// When what was committed is made to survive a power cut. Whatever it says, commits reach the file
/// in their order and whole, and [`crate::table::Table::sync`] and closing make all of them last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncMode {
    /// Before a commit returns.
    Commit,
    /// A second after the first commit that is not synced, by a thread.
    #[default]
    Interval,
    /// When the operating system likes; an ordered table only when it is told to, or closed.
    Never,
}

impl SyncMode {
    /// Its names as an option.
    pub const NAMES: &'static [&'static str] = &["interval", "commit", "never"];
}

impl FromStr for SyncMode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "interval" => Ok(SyncMode::Interval),
            "commit" => Ok(SyncMode::Commit),
            "never" => Ok(SyncMode::Never),
            other => {
                let found = excerpt(other);
                Err(OptionKind::Choice(Self::NAMES).not("sync", format_args!("{found:?}")))
            }
        }
    }
}

/// Longest wait for another writer, where no other is asked for.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Options of opening a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenOptions {
    /// Make the file where it is missing or empty.
    pub create: bool,
    /// Never write to the file, and read beside others who do.
    pub read_only: bool,
    /// Let nobody else write to the file while it is open. Without it, all who have it open write by turns, a transaction
    /// each.
    pub exclusive: bool,
    /// Check all of the file before it is used, which takes as long as reading it. Without it, damage
    /// is found when the damaged part is read.
    ///
    /// Not by default: what a crash can do to a file is found and undone without it, and a large
    /// table would take seconds to open. It is for files that come from elsewhere, from a disk that is
    /// not trusted, or from a version that kept no checks of a tree's pages.
    pub verify: bool,
    /// When commits are made to last.
    pub sync: SyncMode,
    /// Longest wait for another writer: to end its transaction, or to close a file that it has open exclusively.
    pub timeout: Duration,
    /// Type of the values: that of a new file, and the one that an existing file must have. Without it, a new file's
    /// are bytes, and of an existing file any will do.
    pub values: Option<ValueType>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions {
            create: false,
            read_only: false,
            exclusive: false,
            verify: false,
            sync: SyncMode::Interval,
            timeout: TIMEOUT,
            values: Some(ValueType::BYTES),
        }
    }
}

impl OpenOptions {
    /// The way in which the file is opened to write.
    pub(super) fn storage_mode(self) -> StorageMode {
        if self.exclusive { StorageMode::Write } else { StorageMode::Share }
    }

    /// The options with which a forked child opens what its parent has open. What the parent has for itself it can only
    /// read.
    pub(super) fn in_child(self) -> OpenOptions {
        let read_only = self.read_only || self.exclusive;
        OpenOptions { read_only, exclusive: false, create: false, verify: false, ..self }
    }

    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if one option excludes another.
    pub(super) fn check(self) -> Result<()> {
        if self.exclusive && self.read_only {
            let message = "expected exclusive or read_only, found both: who only reads keeps nobody from writing";
            return Err(Error::new(ErrorKind::Argument, message));
        }
        Ok(())
    }
}

impl NamedOptions for OpenOptions {
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "create",
            kind: OptionKind::Flag,
            default: "true",
            summary: "Make the file where it is missing",
        },
        OptionSpec {
            name: "read_only",
            kind: OptionKind::Flag,
            default: "false",
            summary: "Read beside others who write",
        },
        OptionSpec {
            name: "exclusive",
            kind: OptionKind::Flag,
            default: "false",
            summary: "Let nobody else write while it is open",
        },
        OptionSpec {
            name: "sync",
            kind: OptionKind::Choice(SyncMode::NAMES),
            default: "interval",
            summary: "When commits are made to survive a power cut: \"interval\" (within a second, and at the latest when it is \
                      closed), \"commit\" (before each commit returns) or \"never\"",
        },
        OptionSpec {
            name: "timeout",
            kind: OptionKind::Seconds,
            default: "10",
            summary: "Longest wait in seconds for another writer: to end its transaction, or to close a file that it has for \
                      itself",
        },
        OptionSpec {
            name: "verify",
            kind: OptionKind::Flag,
            default: "false",
            summary: "Check all of the file first",
        },
    ];

    fn set(&mut self, name: &str, setting: Setting) -> Result<()> {
        match name {
            "create" => self.create = setting.flag()?,
            "read_only" => self.read_only = setting.flag()?,
            "exclusive" => self.exclusive = setting.flag()?,
            "sync" => self.sync = setting.parsed()?,
            "timeout" => {
                // A century is for ever: as long as there are times.
                self.timeout = Duration::from_secs_f64(setting.seconds()?.min(3.0e9));
            }
            "verify" => self.verify = setting.flag()?,
            _ => return Err(not_in_table(name)),
        }
        Ok(())
    }
}
