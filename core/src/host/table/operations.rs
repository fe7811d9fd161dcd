//! Operations on a table, and the cost of those that may take long.

use std::path::Path;

use super::super::failure::{Failure, Outcome};
use super::super::turn::TurnHost;
use super::{AnySnapshot, Cost, Entry, TableContent, TableHandle, step_by_step, used_by_itself};
use crate::error::Result;
use crate::table::{
    Backup, BackupFile, BackupOptions, Changes, Cursor, KeyRange, PackedEntries, Scan, Selection,
    Stat, View,
};

impl<C: Clone> TableHandle<C> {
    /// Closes the table: what was committed lasts when this returns. To close it again is fine.
    pub fn close<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<(), H> {
        if self.is_closed() {
            return Ok(());
        }
        let close = |content: &mut TableContent| {
            let mut closed = std::mem::replace(content, TableContent::Closed);
            closed.table_mut().and_then(|table| table.close())
        };
        let ended = self.work_in_turn(host, close);
        // An interrupt that came before it leaves nothing open: who closes a table has no second way to do it.
        if matches!(ended, Err(Failure::Host(_))) && !self.is_in_use(host)? {
            close(&mut *self.content.try_borrow_mut().map_err(|_| used_by_itself())?)?;
        }
        ended
    }

    /// Removes all entries.
    pub fn clear<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<(), H> {
        let cost = self.cost_of_walk(host)?;
        self.change_by_cost(host, cost, |table| table.clear())
    }

    /// Deletes the selected entries, all or none, and returns how many there were.
    pub fn delete_range<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        selection: &Selection,
    ) -> Outcome<u64, H> {
        let cost = self.cost_of_walk(host)?;
        self.change_content_by_cost(host, cost, |content| content.delete_range(selection))
    }

    /// Puts all of the entries, or none.
    pub fn put_packed<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        entries: &PackedEntries,
    ) -> Outcome<(), H> {
        let cost = Cost::of_bytes(entries.bytes_len());
        self.change_by_cost(host, cost, |table| table.put_all(&mut entries.scan()))
    }

    /// Puts all entries of a scan over `count` of them, or none.
    pub fn put_scan<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        count: u64,
        mut entries: Box<dyn Scan>,
    ) -> Outcome<(), H> {
        self.change_by_cost(host, Cost::of_entries(count), |table| table.put_all(entries.as_mut()))
    }

    /// As [`Table::create`](crate::table::Table::create).
    pub fn create<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        key: &[u8],
        value: &[u8],
    ) -> Outcome<bool, H> {
        self.change_by_cost(host, Cost::Brief, |table| table.create(key, value))
    }

    /// As [`ValueType::append`](crate::table::ValueType::append).
    pub fn append<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        key: &[u8],
        bytes: &[u8],
    ) -> Outcome<(), H> {
        let values = self.values();
        self.change_by_cost(host, Cost::Brief, |table| values.append(table, key, bytes))
    }

    /// As [`ValueType::increment`](crate::table::ValueType::increment).
    pub fn increment<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        key: &[u8],
        by: i64,
    ) -> Outcome<i64, H> {
        let values = self.values();
        self.change_by_cost(host, Cost::Brief, |table| values.increment(table, key, by))
    }

    /// Removes the first entry, and gives it.
    pub fn shift<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<Option<Entry>, H> {
        self.change_by_cost(host, Cost::Brief, |table| {
            let mut taken = None;
            table.shift(&mut |key, value| taken = Some((key.to_vec(), value.to_vec())))?;
            Ok(taken)
        })
    }

    /// The first entry of a range of keys.
    pub fn first_in<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        range: &KeyRange,
    ) -> Outcome<Option<Entry>, H> {
        self.read(host, |content| {
            let mut found = None;
            content.ordered()?.first_with(range, &mut |key, value| {
                found = Some((key.to_vec(), value.to_vec()));
            })?;
            Ok(found)
        })
    }

    /// As [`Table::view`](crate::table::Table::view).
    pub fn view<H: TurnHost<Caller = C>>(&self, host: &H, key: &[u8]) -> Outcome<Option<View>, H> {
        self.read(host, |content| content.table()?.view(key))
    }

    /// The table as it is now.
    pub fn snapshot<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<AnySnapshot, H> {
        self.read(host, TableContent::snapshot)
    }

    /// The changes behind `since`, the text of a position, as [`Table::changes_since`](crate::table::Table::changes_since).
    pub fn changes_since<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        since: Option<&str>,
    ) -> Outcome<Box<dyn Changes>, H> {
        let since = since.map(str::parse).transpose()?;
        self.read(host, |content| content.table()?.changes_since(since.as_ref()))
    }

    /// A cursor over the entries as they are now, before the first.
    pub fn cursor<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<Cursor, H> {
        self.read(host, |content| Ok(Cursor::new(content.ordered()?.ordered_snapshot()?)))
    }

    /// Number of entries.
    pub fn len<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<u64, H> {
        self.read(host, |content| content.table()?.len())
    }

    /// As [`Table::stat`](crate::table::Table::stat).
    pub fn stat<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<Stat, H> {
        let cost = self.cost_of_walk(host)?.or_long_if(self.is_in_file());
        self.read_by_cost(host, cost, |table| table.stat())
    }

    /// As [`Table::sync`](crate::table::Table::sync).
    pub fn sync<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<(), H> {
        // Others may write meanwhile, so it needs no turn of theirs.
        self.work_in_turn(host, |content| content.table_mut()?.sync())
    }

    /// As [`Table::compact`](crate::table::Table::compact).
    pub fn compact<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<(), H> {
        let cost = self.cost_of_walk(host)?.or_long_if(self.is_in_file());
        self.change_by_cost(host, cost, |table| table.compact())
    }

    /// Writes the entries as they are now to the file at `path`, as [`Backup`] does, while other callers use the table, and
    /// returns how many there are.
    pub fn backup<H: TurnHost<Caller = C>>(
        &self,
        host: &H,
        path: &Path,
        options: BackupOptions,
    ) -> Outcome<u64, H> {
        let backup = self.read(host, |content| Backup::of(content.table()?, self.kind()))?;
        let backup = backup.with_values(self.values());
        let mut state = BackupProgress::Taken(backup);
        step_by_step(host, &mut || state.step(path, options))?;
        Ok(state.entry_count())
    }

    fn cost_of_walk<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<Cost, H> {
        Ok(Cost::of_entries(self.len(host)?))
    }
}

/// Progress of a backup.
pub(in super::super) enum BackupProgress {
    Taken(Backup),
    Begun(BackupFile),
    /// With so many entries; none where it failed.
    Ended(u64),
}

impl BackupProgress {
    /// Does some more of it, and says whether there is more to do.
    pub(in super::super) fn step(&mut self, path: &Path, options: BackupOptions) -> Result<bool> {
        match std::mem::replace(self, BackupProgress::Ended(0)) {
            BackupProgress::Taken(backup) => {
                *self = BackupProgress::Begun(backup.begin(path, options)?)
            }
            BackupProgress::Begun(mut file) => match file.step()? {
                true => *self = BackupProgress::Begun(file),
                false => {
                    *self = BackupProgress::Ended(file.finish()?);
                    return Ok(false);
                }
            },
            BackupProgress::Ended(_) => return Ok(false),
        }
        Ok(true)
    }

    fn entry_count(&self) -> u64 {
        match self {
            BackupProgress::Ended(count) => *count,
            _ => 0,
        }
    }
}
