//! Tasks for every native engine of the tables' benches, and how they are measured. An engine
//! only says how it puts and gets; the loops, the clocks and the answers are here, so that they are
//! the same for all.
//!
//! `tables.rb` beside this folder is the same for Ruby.

mod churn;
mod command;
mod commits;
mod growth;
mod memory;
mod process;
mod records;
mod report;
mod stored;
mod times;

pub use command::{Engines, StoredTask, Task, main_with};
pub use process::{Resident, processor_s};
use records::{Loaded, Records};
pub use report::{Checksum, Report};

/// Any failure ends the program with its text.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A table in memory.
pub trait Engine {
    /// Sets the value of `key`.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Shows `found` the value of `key`, and says whether there is one.
    fn get(&self, key: &[u8], found: impl FnMut(&[u8])) -> Result<bool>;

    /// Takes out `key` and its value.
    fn delete(&mut self, key: &[u8]) -> Result<()>;

    /// Number of records.
    fn len(&self) -> Result<u64>;

    /// Returns true if there is no record.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// A table in a file.
pub trait StoredEngine {
    /// Sets values, all in one transaction.
    fn put_all(&mut self, records: &mut dyn Iterator<Item = (&[u8], &[u8])>) -> Result<()>;

    /// Sets one value, as a program does that knows of no transactions.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.put_all(&mut std::iter::once((key, value)))
    }

    /// Shows `found` the value of each key, all read in one view of the table where it has views.
    fn get_all(
        &self,
        keys: &mut dyn Iterator<Item = &[u8]>,
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<()>;

    /// Shows `seen` each key with its value, all of one view of the table.
    fn scan(&self, seen: &mut dyn FnMut(&[u8], &[u8])) -> Result<()>;

    /// Takes out keys and their values, all in one transaction.
    fn delete_all(&mut self, keys: &mut dyn Iterator<Item = &[u8]>) -> Result<()>;

    /// Number of records.
    fn count(&self) -> Result<u64>;

    /// Makes what was put last, then gives back what the file can do without. An engine that cannot
    /// only does the first.
    fn finish(&mut self) -> Result<()>;
}
