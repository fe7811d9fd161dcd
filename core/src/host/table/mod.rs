//! A table for any host: of any kind, shared by the host's threads, which use it by turns.
//!
//! The host's lock, or one that it has for each handle, guards the handle: it is used by one thread at a time, but for work that
//! is told to run without that lock. Such work takes long, and keeps the table for its caller meanwhile ([`Turn`]); so does a
//! transaction. Whenever a method of the host is called, other threads may use the handle before it returns.

mod changes;
mod content;
mod damage;
mod dumps;
mod operations;
mod steps;
mod transaction;
mod waiting;
mod walk;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use content::{AnySnapshot, Entry, TableContent};
pub use damage::{OnDamage, is_damage, open_mending};
pub(super) use operations::BackupProgress;
pub use steps::step_by_step;
pub use transaction::{TransactionId, TriedBegin};
pub use waiting::{Attempt, wait_for_writer};
pub use walk::EntryWalk;

use damage::Clearings;
use transaction::Transactions;

use super::failure::{Failure, Outcome, guard};
use super::turn::{Taken, Turn, TurnHost};
use crate::error::{Error, ErrorKind, Result};
use crate::table::file::{self, FileTable, OpenOptions, SyncMode, TableKind};
use crate::table::{Table, ValueType};

/// Cost of an operation in time, which decides if the host's other threads run meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// No longer than a method of the host may, unless the table has to wait for a disk.
    Brief,
    /// Longer.
    Long,
}

impl Cost {
    /// Entries above which a walk over them takes long: fewer take a few milliseconds.
    const ENTRIES_MAX: u64 = 50_000;

    /// Bytes of entries above which to put them takes long.
    const BYTES_MAX: usize = 1 << 20;

    /// Of a walk over so many entries.
    pub fn of_entries(count: u64) -> Cost {
        if count > Self::ENTRIES_MAX { Cost::Long } else { Cost::Brief }
    }

    /// Of putting so many bytes.
    pub fn of_bytes(len: usize) -> Cost {
        if len > Self::BYTES_MAX { Cost::Long } else { Cost::Brief }
    }

    fn or_long_if(self, is_long: bool) -> Cost {
        if is_long { Cost::Long } else { self }
    }
}

/// A table that callers of the kind `C` share.
pub struct TableHandle<C> {
    kind: TableKind,
    content: RefCell<TableContent>,
    turn: Turn<C>,
    transactions: Transactions,
    is_in_file: Cell<bool>,
    /// Path of the file, which no output of this table replaces.
    path: RefCell<Option<PathBuf>>,
    values: Cell<ValueType>,
    /// True if the end of a transaction waits for a disk.
    commits_wait: Cell<bool>,
    /// Longest wait for another process that writes the file.
    timeout: Cell<Duration>,
    reported: Reported,
    clearings: Clearings,
}

/// Memory of a table that was reported to the host, in coarse steps: counting takes longer than a change does.
struct Reported {
    bytes: Cell<isize>,
    changes_left: Cell<u64>,
}

/// Changes after which the memory is counted again, in a table of a few entries.
const CHANGES_MIN: u64 = 1024;

impl<C: Clone> TableHandle<C> {
    /// An empty table in memory.
    pub fn in_memory(kind: TableKind) -> Self {
        Self::new(kind, TableContent::in_memory(kind))
    }

    /// The table of a file, which was opened with `options`.
    pub fn in_file(table: FileTable, options: OpenOptions) -> Self {
        let handle = Self::new(table.kind(), TableContent::Closed);
        handle.move_to_file(table, options);
        handle
    }

    fn new(kind: TableKind, content: TableContent) -> Self {
        TableHandle {
            kind,
            content: RefCell::new(content),
            turn: Turn::default(),
            transactions: Transactions::default(),
            is_in_file: Cell::new(false),
            path: RefCell::default(),
            values: Cell::new(ValueType::BYTES),
            commits_wait: Cell::new(false),
            timeout: Cell::new(Duration::ZERO),
            reported: Reported { bytes: Cell::new(0), changes_left: Cell::new(CHANGES_MIN) },
            clearings: Clearings::default(),
        }
    }

    /// Replaces the table with that of a file, which was opened with `options`.
    pub fn move_to_file(&self, mut table: FileTable, options: OpenOptions) {
        table.as_table_mut().set_timeout(options.timeout);
        self.values.set(table.as_table().values());
        self.content.replace(TableContent::File(table));
        self.is_in_file.set(true);
        self.commits_wait.set(options.sync == SyncMode::Commit);
        self.timeout.set(options.timeout);
    }

    /// Notes where the file is, wherever the process goes afterwards.
    pub fn note_path(&self, path: &Path) {
        self.path.replace(std::path::absolute(path).ok());
    }

    /// Returns the longest wait for another process that writes the file.
    pub fn timeout(&self) -> Duration {
        self.timeout.get()
    }

    /// Returns the kind of the table.
    pub fn kind(&self) -> TableKind {
        self.kind
    }

    /// Returns true if it is, or was before it was closed, in a file.
    pub fn is_in_file(&self) -> bool {
        self.is_in_file.get()
    }

    /// Returns the kind of its values.
    pub fn values(&self) -> ValueType {
        self.values.get()
    }

    /// Says what the values of a table in memory are. A file knows it of its own.
    pub fn set_values(&self, values: ValueType) {
        if !self.is_in_file.get() {
            self.values.set(values);
        }
    }

    /// Returns true after it was closed.
    pub fn is_closed(&self) -> bool {
        self.content.try_borrow().is_ok_and(|content| matches!(*content, TableContent::Closed))
    }

    /// Whose turn it is.
    #[inline]
    pub fn turn(&self) -> &Turn<C> {
        &self.turn
    }

    /// The table itself, for a face that looks entries up without any copy. Who uses it has waited for its turn, and lets
    /// nothing of the host's run meanwhile.
    #[inline]
    pub fn content(&self) -> &RefCell<TableContent> {
        &self.content
    }

    /// Returns true if the table cannot be read without waiting for another caller.
    pub fn is_in_use<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<bool, H> {
        self.turn.is_of_others(host).map_err(Failure::Host)
    }

    /// Returns when no other caller has the table for itself.
    pub fn wait<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<(), H> {
        // Another caller may have it again by the time that the host goes on.
        while self.turn.is_taken() && self.wait_for_turn(host)? {}
        Ok(())
    }

    /// Waits until nobody else has the turn; whether it was not this caller's.
    #[cold]
    fn wait_for_turn<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<bool, H> {
        let is_taken_now = self.take_turn(host)?;
        if is_taken_now {
            self.turn.give_back(host)?;
        }
        Ok(is_taken_now)
    }

    /// Takes the turn; whether it was not this caller's before.
    fn take_turn<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<bool, H> {
        let taken = self.turn.take(host)?;
        self.begin_turn(host, taken)
    }

    /// Takes the turn where nobody else has it; whether it was not this caller's before.
    fn try_take_turn<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<Option<bool>, H> {
        match self.turn.try_take(host)? {
            Some(taken) => self.begin_turn(host, taken).map(Some),
            None => Ok(None),
        }
    }

    fn begin_turn<H: TurnHost<Caller = C>>(&self, host: &H, taken: Taken) -> Outcome<bool, H> {
        match taken {
            Taken::Already => Ok(false),
            Taken::Now => Ok(true),
            Taken::AfterFork => match self.abort_after_fork() {
                Ok(()) => Ok(true),
                Err(error) => {
                    self.turn.give_back(host)?;
                    Err(error.into())
                }
            },
        }
    }

    /// Takes back the transaction of a thread that is not in this process.
    fn abort_after_fork(&self) -> Result<()> {
        let Ok(mut content) = self.content.try_borrow_mut() else {
            return Err(Error::new(
                ErrorKind::Closed,
                "expected a table that nobody was changing when the process was forked, found one that a \
                 thread of the parent was changing; open it again",
            ));
        };
        self.transactions.clear();
        let table = content.table_mut()?;
        while table.depth() > 0 {
            table.abort()?;
        }
        Ok(())
    }

    /// Returns when the table can be read at once: no other caller has it for itself, and no thread of its own works on
    /// its file. A strand of the thread whose transaction is open reads what that has changed.
    pub fn wait_until_idle<H: TurnHost<Caller = C>>(&self, host: &H) -> Outcome<(), H> {
        loop {
            while self.turn.is_taken() {
                if self.turn.is_held_by_other_strand(host).map_err(Failure::Host)? {
                    return Ok(());
                }
                if !self.wait_for_turn(host)? {
                    break;
                }
            }
            if !self.is_in_file.get() || !self.look(|content| Ok(content.table()?.is_busy()))? {
                return Ok(());
            }
            // Any lookup waits for that thread.
            self.work_in_turn(host, |content| content.table()?.contains(&[]))?;
        }
    }

    /// Asks the table something brief.
    pub fn read<H: TurnHost<Caller = C>, R>(
        &self,
        host: &H,
        work: impl FnOnce(&TableContent) -> Result<R>,
    ) -> Outcome<R, H> {
        self.wait_until_idle(host)?;
        Ok(self.look(work)?)
    }

    /// Does this with a table that this caller may use.
    fn look<R>(&self, work: impl FnOnce(&TableContent) -> Result<R>) -> Result<R> {
        let content = self.content.try_borrow().map_err(|_| used_by_itself())?;
        guard(|| work(&content))
    }

    /// Asks the table with or without the host's lock, whichever is better. As for [`Self::read`], a strand of the thread
    /// whose transaction is open need not wait.
    fn read_by_cost<H: TurnHost<Caller = C>, R: Send>(
        &self,
        host: &H,
        cost: Cost,
        mut work: impl FnMut(&dyn Table) -> Result<R> + Send,
    ) -> Outcome<R, H> {
        if cost == Cost::Brief {
            return self.read(host, |content| work(content.table()?));
        }
        let work = |content: &mut TableContent| work(content.table()?);
        match self.turn.is_held_by_other_strand(host).map_err(Failure::Host)? {
            // The turn is of this thread, so nobody uses the table meanwhile.
            true => self.work_at_length(host, work),
            false => self.work_in_turn(host, work),
        }
    }

    /// Notes a change, after which more or less memory may be in use. The answer is whether [`Self::report_memory`] is due.
    #[inline]
    pub fn note_change(&self) -> bool {
        let left = self.reported.changes_left.get();
        self.reported.changes_left.set(left.saturating_sub(1));
        left == 0
    }

    /// Tells the host how much memory the table takes.
    #[cold]
    pub fn report_memory<H: TurnHost<Caller = C>>(&self, host: &H) {
        let Ok(content) = self.content.try_borrow() else { return };
        // A file's table has its bounds, and to count it may cost each change to come.
        if self.is_in_file.get() {
            return;
        }
        let len = content.table().and_then(Table::len).unwrap_or(0);
        self.reported.changes_left.set(CHANGES_MIN.max(len / 16));
        let bytes = content.memory_bytes() as isize;
        host.adjust_memory(bytes - self.reported.bytes.replace(bytes));
    }

    /// Bytes of memory that the host was told of last.
    pub fn reported_bytes(&self) -> isize {
        self.reported.bytes.get()
    }

    /// Bytes of memory that the table takes now. While it is changed without the host's lock, what it took before.
    pub fn memory_bytes(&self) -> usize {
        match self.content.try_borrow() {
            Ok(content) => content.memory_bytes(),
            Err(_) => self.reported.bytes.get() as usize,
        }
    }
}

fn used_by_itself() -> Error {
    Error::internal("a table that is in use while it is used")
}

/// Opens the table at `path` as [`file::open`] does, without the host's lock, and so that the host can interrupt the
/// waiting for another writer.
pub fn open<H: TurnHost>(
    host: &H,
    path: &Path,
    kind: Option<TableKind>,
    options: OpenOptions,
) -> Outcome<FileTable, H> {
    wait_for_writer(host, options.timeout, |slice| {
        let options = OpenOptions { timeout: slice, ..options };
        let opened = host.wait_to_the_end(&|| file::open(path, kind, options));
        host.check_interrupts().map_err(Failure::Host)?;
        Ok(Attempt::of(opened.map_err(Failure::Host)?)?)
    })
}
