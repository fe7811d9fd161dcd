//! Tables of byte strings: keys to values, hashed or in the order of their keys, in memory or in one
//! file.
//!
//! All four do what [`Table`] says; those that keep order also do what [`OrderedTable`] says. What
//! keys and values mean is the caller's business.
//!
//! | | hashed | ordered |
//! |---|---|---|
//! | in memory | `memory::HashTable` | [`memory::TreeTable`] |
//! | in a file | [`file::HashTable`] | [`file::TreeTable`] |
//!
//! Files of [Tokyo Cabinet](tokyo_cabinet) can be read, and become tables by conversion.

mod backup;
mod convert;
mod cursor;
mod entry;
pub mod file;
mod foreign;
pub mod memory;
mod new_file;
mod ordered;
mod origin;
mod packed;
mod same;
mod selection;
mod stat;
pub mod tokyo_cabinet;
mod values;
mod view;

pub use backup::{Backup, BackupFile, BackupOptions};
pub use convert::{ConvertOptions, Converted, Duplicates, convert};
pub use cursor::Cursor;
pub use entry::{KEY_LEN_MAX, VALUE_LEN_MAX, check_entry};
pub use ordered::{KeyRange, OrderedSnapshot, OrderedTable};
pub use origin::Origin;
pub use packed::{PackedEntries, PackedScan};
pub use same::{hash_of_entries, have_same_entries};
pub use selection::Selection;
pub use stat::{Stat, StatField};
pub use values::{Values, add_integer, integer_of, integer_value};
pub use view::View;

use crate::error::{Error, ErrorKind, Result};

/// A table: what every kind of it can do.
///
/// A change is seen by later calls at once. Outside of [`Table::begin`] and [`Table::commit`] each
/// change is a transaction of its own. Who shares a table between threads puts a lock around it.
pub trait Table: Send {
    /// Number of entries.
    fn len(&self) -> Result<u64>;

    /// Whether there is no entry.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Shows `found` the value of `key`, and says whether there is one. The bytes are the table's: it
    /// cannot be changed meanwhile, and nothing is copied.
    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// Shows `found` the place in `keys` and the value of each key, one after another, or nothing where
    /// it has none. Takes less time than a [`Table::get_with`] for each.
    fn get_many(&self, keys: &[&[u8]], found: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<()> {
        for (place, key) in keys.iter().enumerate() {
            if !self.get_with(key, &mut |value| found(place, Some(value)))? {
                found(place, None);
            }
        }
        Ok(())
    }

    /// A copy of the value of `key`.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = None;
        self.get_with(key, &mut |bytes| value = Some(bytes.to_vec()))?;
        Ok(value)
    }

    /// Whether there is an entry for `key`.
    fn contains(&self, key: &[u8]) -> Result<bool> {
        self.get_with(key, &mut |_| ())
    }

    /// The value of `key`, to keep, without a copy where the table can.
    fn view(&self, key: &[u8]) -> Result<Option<View>> {
        Ok(self.get(key)?.map(View::copied))
    }

    /// Sets the value of `key`. [`ErrorKind::Limit`] above [`KEY_LEN_MAX`] or [`VALUE_LEN_MAX`].
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Takes the entry of `key` out, and says whether there was one.
    fn delete(&mut self, key: &[u8]) -> Result<bool>;

    /// Takes the first entry out, which a scan would give first, shows it to `taken`, and says whether
    /// there was one.
    fn shift(&mut self, taken: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        let mut scan = self.snapshot()?.scan()?;
        let Some((key, value)) = scan.advance()? else { return Ok(false) };
        taken(key, value);
        let key = key.to_vec();
        // Pages and segments that a scan uses would be copied for the change.
        drop(scan);
        self.delete(&key)
    }

    /// Puts all remaining entries of `entries`, or none.
    fn put_all(&mut self, entries: &mut dyn Scan) -> Result<()> {
        self.begin()?;
        match self.put_each(entries) {
            Ok(()) => self.commit(),
            Err(error) => self.abort().and(Err(error)),
        }
    }

    /// Puts the entries that are still ahead of `entries` one after another; those before an error stay.
    fn put_each(&mut self, entries: &mut dyn Scan) -> Result<()> {
        while let Some((key, value)) = entries.advance()? {
            self.put(key, value)?;
        }
        Ok(())
    }

    /// Takes all entries out.
    fn clear(&mut self) -> Result<()>;

    /// The table as it is now, which later changes do not change. Its cost does not depend on the
    /// length of the entries.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>>;

    /// Begins a transaction, or inside of one a part of it (a savepoint) that can be taken back by
    /// itself.
    fn begin(&mut self) -> Result<()>;

    /// Ends what [`Table::begin`] began last, and keeps its changes.
    /// [`ErrorKind::Argument`] without one.
    fn commit(&mut self) -> Result<()>;

    /// Ends what [`Table::begin`] began last, and takes its changes back.
    /// [`ErrorKind::Argument`] without one.
    fn abort(&mut self) -> Result<()>;

    /// How many times [`Table::begin`] was called without its end.
    fn depth(&self) -> usize;

    /// Returns when everything committed so far will survive a power cut. Memory has nothing to do.
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    /// Whether a change made now may wait for a disk, or for a thread that does. A host language lets
    /// its other threads run meanwhile. The end of a transaction may wait where this is false:
    /// [`file::SyncMode`] tells.
    fn waits_for_disk(&self) -> bool {
        false
    }

    /// Whether to read now would wait for a thread that waits for a disk.
    fn is_busy(&self) -> bool {
        false
    }

    /// Returns when everything committed will survive a power cut, or says why it will not. The table is
    /// then to be dropped; a transaction that is still open goes with it.
    fn close(&mut self) -> Result<()> {
        self.sync()
    }

    /// Gives back the space of entries that are gone, all of it, however long that takes.
    fn compact(&mut self) -> Result<()>;

    /// What the values are, as a file has it. A table in memory does not know.
    fn values(&self) -> Values {
        Values::BYTES
    }

    /// How much there is, and what it takes.
    fn stat(&self) -> Result<Stat>;

    /// Sets the value of `key` where it has none, and says whether it did.
    fn create(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        if self.contains(key)? {
            return Ok(false);
        }
        self.put(key, value)?;
        Ok(true)
    }

    /// Puts `bytes` at the end of the value of `key`, which is empty where there is none.
    fn append(&mut self, key: &[u8], bytes: &[u8]) -> Result<()> {
        let mut value = self.get(key)?.unwrap_or_default();
        value.extend_from_slice(bytes);
        self.put(key, &value)
    }

    /// Adds `by` to the value of `key`, a whole number in decimal digits that is 0 where there is
    /// none, and gives the sum. [`ErrorKind::Argument`] where the value is no such number, or the sum
    /// is beyond 64 bits.
    fn increment(&mut self, key: &[u8], by: i64) -> Result<i64> {
        let value = self.get(key)?.unwrap_or_else(|| b"0".to_vec());
        let number: i64 = std::str::from_utf8(&value)
            .ok()
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| {
            let found = String::from_utf8_lossy(&value[..value.len().min(32)]).into_owned();
            Error::new(
                ErrorKind::Argument,
                format!("expected a whole number to increment, found {found:?}"),
            )
        })?;
        let sum = number.checked_add(by).ok_or_else(|| values::is_beyond_64_bits(number, by))?;
        self.put(key, sum.to_string().as_bytes())?;
        Ok(sum)
    }
}

/// A table as it was when this was taken.
pub trait Snapshot: Send {
    /// Number of entries.
    fn len(&self) -> Result<u64>;

    /// Whether there was no entry.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Shows `found` the value of `key`, and says whether there is one.
    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// All entries: of a hashed table in the order of their last write, of an ordered one in that of
    /// their keys.
    fn scan(&self) -> Result<Box<dyn Scan>>;
}

/// Entries one after another.
pub trait Scan: Send {
    /// The next entry's key and value, which are there until the next call. After an error, and after
    /// the end, it is over.
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>>;

    /// The key of an entry that is still to come, so that its place can be made ready: each once and in their order. None
    /// behind the last, and always from those that cannot tell.
    fn look_ahead(&mut self) -> Option<&[u8]> {
        None
    }
}
