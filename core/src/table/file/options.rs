//! How a table in a file is opened.

use std::time::Duration;

use crate::table::Values;

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

/// How a table is opened.
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
    /// How long to wait for another writer to go; not at all by default.
    pub timeout: Duration,
    /// What the values are: those of a new file, and what a file that there is must have. Without it, a new file's are
    /// bytes, and of a file any will do.
    pub values: Option<Values>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions {
            create: false,
            read_only: false,
            verify: false,
            sync: SyncMode::Interval,
            timeout: Duration::ZERO,
            values: Some(Values::BYTES),
        }
    }
}
