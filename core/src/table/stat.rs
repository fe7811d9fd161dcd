//! Counts and sizes of a table.

use crate::batch::schema::record_fields;
use crate::batch::{DataType, Value};

/// Counts and sizes of a table, in bytes where not said otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// Entries.
    pub records: u64,
    /// Entries with their lengths, as stored.
    pub live_bytes: u64,
    /// Overwritten and deleted entries that still take space, which compacting frees.
    pub dead_bytes: u64,
    /// Kept only because a view, a snapshot or a scan uses it.
    pub pinned_bytes: u64,
    /// The index that finds entries.
    pub index_bytes: u64,
    /// Memory of all this, without the file.
    pub memory_bytes: u64,
    /// The file's length; 0 in memory.
    pub file_bytes: u64,
}

record_fields! { "A count or a size of a table." "tables" StatField {
    Records "records" required DataType::U64, "Entries.";
    LiveBytes "live_bytes" required DataType::U64, "Entries with their lengths, as stored.";
    DeadBytes "dead_bytes" required DataType::U64, "Overwritten and deleted entries that still take space, which compacting frees.";
    PinnedBytes "pinned_bytes" required DataType::U64, "Kept only because a view, a snapshot or a scan uses it.";
    IndexBytes "index_bytes" required DataType::U64, "The index that finds entries.";
    MemoryBytes "memory_bytes" required DataType::U64, "Memory of all this, without the file.";
    FileBytes "file_bytes" required DataType::U64, "The file's length; 0 in memory.";
} }

impl Stat {
    /// The value of `field`.
    pub fn value(&self, field: StatField) -> Value<'static> {
        Value::Unsigned(match field {
            StatField::Records => self.records,
            StatField::LiveBytes => self.live_bytes,
            StatField::DeadBytes => self.dead_bytes,
            StatField::PinnedBytes => self.pinned_bytes,
            StatField::IndexBytes => self.index_bytes,
            StatField::MemoryBytes => self.memory_bytes,
            StatField::FileBytes => self.file_bytes,
        })
    }
}
