//! Options of opening a table in a file.

use std::str::FromStr;
use std::time::Duration;

use crate::error::excerpt;
use crate::options::{NamedOptions, OptionKind, OptionSpec, Setting, not_in_table};
use crate::table::ValueType;
use crate::{Error, Result};

/// When what was committed is made to survive a power cut. Whatever it says, commits reach the file
/// in their order and whole, and [`crate::table::Table::sync`] and closing make all of them last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncMode {
    /// Before a commit returns.
    Commit,
    /// With the first commit a second after the last time.
    #[default]
    Interval,
    /// When the operating system likes.
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

/// Options of opening a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenOptions {
    /// Make the file where it is missing or empty.
    pub create: bool,
    /// Never write to the file, and read beside others who do.
    pub read_only: bool,
    /// Check all of the file before it is used, which takes as long as reading it. Without it, damage
    /// is found when the damaged part is read.
    ///
    /// Not by default: what a crash can do to a file is found and undone without it, and a large
    /// table would take seconds to open. It is for files that come from elsewhere, from a disk that is
    /// not trusted, or from a version that kept no checks of a tree's pages.
    pub verify: bool,
    /// When commits are made to last.
    pub sync: SyncMode,
    /// Time to wait for another writer to go; none by default.
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
            verify: false,
            sync: SyncMode::Interval,
            timeout: Duration::ZERO,
            values: Some(ValueType::BYTES),
        }
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
            name: "sync",
            kind: OptionKind::Choice(SyncMode::NAMES),
            default: "interval",
            summary: "When commits are made to survive a power cut: \"interval\" (within a second, and at the latest when it is \
                      closed), \"commit\" (before each commit returns) or \"never\"",
        },
        OptionSpec {
            name: "timeout",
            kind: OptionKind::Seconds,
            default: "0",
            summary: "Seconds to wait for another writer to close the file",
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
