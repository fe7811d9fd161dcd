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
pub mod cache;
mod change;
mod convert;
mod cursor;
mod dump;
mod entry;
mod eviction;
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
mod uses;
mod values;
mod view;

pub use backup::{Backup, BackupFile, BackupOptions};
pub use change::{Change, ChangePosition, Changes};
pub use convert::{ConvertOptions, Converted, Duplicates, convert};
pub use cursor::Cursor;
pub use dump::{Dump, DumpDecoder, DumpFormat, DumpReader, load};
pub use entry::{KEY_LEN_MAX, VALUE_LEN_MAX, check_entry};
pub use eviction::{Eviction, EvictionJudge};
pub(crate) use foreign::kept_format;
pub use ordered::{KeyRange, OrderedSnapshot, OrderedTable};
pub use origin::Origin;
pub use packed::{PackedEntries, PackedPlace, PackedScan};
pub use same::{hash_of_entries, have_same_entries};
pub use selection::Selection;
pub use stat::{Stat, StatField};
pub use values::{ValueType, add_integer, integer_of, integer_value};
pub use view::View;

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};

/// The operations of every table.
///
/// A change is seen by later calls at once. Outside of [`Table::begin`] and [`Table::commit`] each
/// change is a transaction of its own. To share a table between threads, put it behind a lock.
pub trait Table: Send {
    /// Number of entries.
    fn len(&self) -> Result<u64>;

    /// Returns true if there is no entry.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Calls `found` with the value of `key`, and returns whether there is one. The bytes are borrowed from
    /// the table: nothing is copied, and the table cannot be changed meanwhile.
    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// Calls `found` for each key with its index in `keys` and its value, or nothing without one. All values are those of
    /// one moment, also beside a process that writes. Takes less time than a [`Table::get_with`] for each.
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

    /// Returns true if there is an entry for `key`.
    fn contains(&self, key: &[u8]) -> Result<bool> {
        self.get_with(key, &mut |_| ())
    }

    /// The value of `key` as a view that stays valid, without a copy if the table supports it.
    fn view(&self, key: &[u8]) -> Result<Option<View>> {
        Ok(self.get(key)?.map(View::copied))
    }

    /// Sets the value of `key`. [`ErrorKind::Limit`] above [`KEY_LEN_MAX`] or [`VALUE_LEN_MAX`].
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Deletes the entry of `key`, and returns whether there was one.
    fn delete(&mut self, key: &[u8]) -> Result<bool>;

    /// Deletes the first entry of the table's order, calls `taken` with it, and returns whether there was
    /// one.
    fn shift(&mut self, taken: &mut dyn FnMut(&[u8], &[u8])) -> Result<bool> {
        in_turn(self, |table| {
            let mut scan = table.snapshot()?.scan()?;
            let Some((key, value)) = scan.advance()? else { return Ok(false) };
            taken(key, value);
            let key = key.to_vec();
            // Pages and segments that a scan uses would be copied for the change.
            drop(scan);
            table.delete(&key)
        })
    }

    /// Puts all remaining entries of `entries`, or none.
    fn put_all(&mut self, entries: &mut dyn Scan) -> Result<()> {
        self.begin()?;
        match self.put_each(entries) {
            Ok(()) => self.commit(),
            Err(error) => self.abort().and(Err(error)),
        }
    }

    /// Puts the remaining entries of `entries` one after another; those before an error stay.
    fn put_each(&mut self, entries: &mut dyn Scan) -> Result<()> {
        while let Some((key, value)) = entries.advance()? {
            self.put(key, value)?;
        }
        Ok(())
    }

    /// Deletes all entries.
    fn clear(&mut self) -> Result<()>;

    /// The table as it is now; later changes do not affect it. The cost does not depend on the length of the
    /// entries.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>>;

    /// Begins a transaction, or inside of one a savepoint, which can be rolled back by itself.
    fn begin(&mut self) -> Result<()>;

    /// Ends the innermost transaction or savepoint, and keeps its changes.
    /// [`ErrorKind::Argument`] without one.
    fn commit(&mut self) -> Result<()>;

    /// Ends the innermost transaction or savepoint, and rolls its changes back.
    /// [`ErrorKind::Argument`] without one.
    fn abort(&mut self) -> Result<()>;

    /// Returns the number of open transactions and savepoints.
    fn depth(&self) -> usize;

    /// Takes the turn to write among all who have the file open, and keeps it until [`Table::give_turn_back`]: nobody else
    /// changes meanwhile what this table has read. A turn in a turn is the same one. A transaction, and a change outside of
    /// one, take it by themselves; a table that nobody else can change has nothing to take.
    ///
    /// Waits up to `timeout`, or as long as the options of the table say. [`ErrorKind::Lock`] if
    /// another one keeps the turn for longer.
    fn take_turn(&mut self, timeout: Option<Duration>) -> Result<()> {
        let _ = timeout;
        Ok(())
    }

    /// Gives the turn back that was taken last.
    fn give_turn_back(&mut self) {}

    /// Returns what waits until the turn to write may be free, if another one has it, while this table is used: it is called
    /// with the longest time to wait. [`Table::take_turn`] tells who gets it then.
    fn turn_waiter(&self) -> Option<Box<dyn Fn(Duration) + Send + Sync>> {
        None
    }

    /// Sets the longest wait for another writer of the file.
    fn set_timeout(&mut self, timeout: Duration) {
        let _ = timeout;
    }

    /// Makes everything committed so far durable. A table in memory does nothing.
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    /// Returns true if a change made now may wait for a disk, or for a thread that does. A host language lets its other
    /// threads run meanwhile. The end of a transaction may wait if this is false: [`file::SyncMode`] tells.
    fn waits_for_disk(&self) -> bool {
        false
    }

    /// Returns true if a read would wait now for a thread that waits for a disk.
    fn is_busy(&self) -> bool {
        false
    }

    /// Makes everything committed durable, or returns why it cannot. Drop the table then; an open
    /// transaction is rolled back.
    fn close(&mut self) -> Result<()> {
        self.sync()
    }

    /// Frees all space of deleted and overwritten entries, however long that takes.
    fn compact(&mut self) -> Result<()>;

    /// Puts an empty table in the place of one that is damaged, and returns true; false if another process has done so already, or,
    /// unless `even_whole`, all of it can be read. All who have the file open go on with the new one. [`ErrorKind::Argument`] in a
    /// transaction, and for what is no hashed table in a file.
    fn start_anew(&mut self, even_whole: bool) -> Result<bool> {
        let _ = even_whole;
        let message = "expected a hashed table in a file to be replaced, found another one";
        Err(Error::new(ErrorKind::Argument, message))
    }

    /// Returns the type of the values, as a file has it. A table in memory does not know.
    fn values(&self) -> ValueType {
        ValueType::BYTES
    }

    /// Counts and sizes.
    fn stat(&self) -> Result<Stat>;

    /// Counts the uses of entries from now on, for [`Table::evict`]: the table is to have `bytes` or less. Only caches do so.
    fn count_uses(&mut self, bytes: u64) -> Result<()> {
        let _ = bytes;
        Ok(())
    }

    /// Goes over the entries that were written first of all, `bytes` of them or a little more, with the number of their uses:
    /// evicts those that `keeps` does not want, and writes the others again, with one use less. Those of the last commit stay
    /// in any case. [`ErrorKind::Argument`] in a transaction, and in an ordered table.
    fn evict(&mut self, bytes: u64, keeps: &mut EvictionJudge<'_>) -> Result<Eviction> {
        let _ = (bytes, keeps);
        Err(Error::new(
            ErrorKind::Argument,
            "expected a hashed table to evict its oldest entries, found an ordered one",
        ))
    }

    /// Returns the bytes that the table takes, in its file or in memory, to be compared with a limit: of a file without what is
    /// given back next.
    fn used_bytes(&self) -> Result<u64> {
        let stat = self.stat()?;
        Ok(stat.file_bytes.max(stat.memory_bytes))
    }

    /// Returns the changes that were committed behind `since`, up to now: a log has them, so only a hashed table in a file.
    /// [`ErrorKind::Argument`] for other tables, and for a position of another one.
    fn changes_since(&self, since: Option<&ChangePosition>) -> Result<Box<dyn Changes>> {
        let _ = since;
        Err(ChangePosition::needs_log())
    }

    /// Sets the value of `key` if it has none, and returns whether it did.
    fn create(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        in_turn(self, |table| {
            let is_new = !table.contains(key)?;
            if is_new {
                table.put(key, value)?;
            }
            Ok(is_new)
        })
    }

    /// Appends `bytes` to the value of `key`; a missing value counts as empty.
    fn append(&mut self, key: &[u8], bytes: &[u8]) -> Result<()> {
        in_turn(self, |table| {
            let mut value = table.get(key)?.unwrap_or_default();
            value.extend_from_slice(bytes);
            table.put(key, &value)
        })
    }

    /// Adds `by` to the value of `key`, an integer in decimal digits, and returns the sum; a missing value
    /// counts as 0. [`ErrorKind::Argument`] if the value is not such a number, or the sum needs more than
    /// 64 bits.
    fn increment(&mut self, key: &[u8], by: i64) -> Result<i64> {
        in_turn(self, |table| {
            let value = table.get(key)?.unwrap_or_else(|| b"0".to_vec());
            let sum = values::add(values::number_in_digits(&value)?, by)?;
            table.put(key, sum.to_string().as_bytes())?;
            Ok(sum)
        })
    }
}

/// Does `work` in one turn to write the table, for changes that depend on what it has.
pub fn in_turn<T: Table + ?Sized, R>(
    table: &mut T,
    work: impl FnOnce(&mut T) -> Result<R>,
) -> Result<R> {
    table.take_turn(None)?;
    let held = HeldTurn { table };
    work(&mut *held.table)
}

/// Turn that is given back however the work in it ends.
struct HeldTurn<'t, T: Table + ?Sized> {
    table: &'t mut T,
}

impl<T: Table + ?Sized> Drop for HeldTurn<'_, T> {
    fn drop(&mut self) {
        self.table.give_turn_back();
    }
}

/// A table at one moment.
pub trait Snapshot: Send {
    /// Number of entries.
    fn len(&self) -> Result<u64>;

    /// Returns true if there are no entries.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Calls `found` with the value of `key`, and returns whether there is one.
    fn get_with(&self, key: &[u8], found: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// Calls `found` for each key with its index in `keys` and its value, or nothing without one.
    fn get_many(&self, keys: &[&[u8]], found: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<()> {
        for (place, key) in keys.iter().enumerate() {
            if !self.get_with(key, &mut |value| found(place, Some(value)))? {
                found(place, None);
            }
        }
        Ok(())
    }

    /// All entries: of a hashed table in the order of their last write, of an ordered one in that of
    /// their keys.
    fn scan(&self) -> Result<Box<dyn Scan>>;
}

/// Entries one after another.
pub trait Scan: Send {
    /// The key and value of the next entry, borrowed until the next call. An error ends the scan.
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>>;

    /// The key of a later entry, so that its place can be prefetched: each key once, in the order of the entries. None after
    /// the last one, and always from scans that cannot look ahead.
    fn look_ahead(&mut self) -> Option<&[u8]> {
        None
    }
}
