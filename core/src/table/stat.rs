//! What a table holds and takes.

/// Counts and sizes of a table, in bytes where not said otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// Entries.
    pub records: u64,
    /// Entries with their lengths, as they are kept.
    pub live_bytes: u64,
    /// Kept still, though overwritten or deleted: what compacting gives back.
    pub dead_bytes: u64,
    /// Kept only because a view, a snapshot or a scan uses it.
    pub pinned_bytes: u64,
    /// What finds an entry.
    pub index_bytes: u64,
    /// Memory taken by all of this that is not the file's.
    pub memory_bytes: u64,
    /// The file's length; 0 in memory.
    pub file_bytes: u64,
}
