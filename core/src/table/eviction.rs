//! Result of evicting entries of a table.

/// Entries that were gone over to evict those that are not wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Eviction {
    /// Entries that are gone.
    pub evicted: u64,
    /// Entries that were written again.
    pub kept: u64,
}

/// Judge of an entry, which is given its key, its value and the number of its uses: true if it is to be kept.
pub type EvictionJudge<'j> = dyn FnMut(&[u8], &[u8], u8) -> bool + 'j;
