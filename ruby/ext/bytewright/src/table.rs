//! `Bytewright::Table` and its two kinds: a table of the core inside of a Ruby object.
//!
//! Ruby's lock guards the table. What takes long releases that lock, and keeps the table for itself
//! meanwhile ([`Turn`]); so does a transaction.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;

use bytewright::ErrorKind;
use bytewright::table::file::TableKind;
use bytewright::table::{OrderedTable, Table, memory};
use magnus::{Error, Ruby};

use crate::border::{adjust_memory_usage, encoding_index, lock};
use crate::error::{raised, to_ruby};
use crate::turn::{Taken, Turn};

/// A table of any kind.
#[expect(clippy::large_enum_variant, reason = "a box would be one more step to each entry")]
pub(crate) enum Content {
    Hash(memory::HashTable),
    Tree(memory::TreeTable),
    HashFile(Box<dyn Table>),
    TreeFile(Box<dyn OrderedTable>),
    Closed,
}

impl Content {
    fn in_memory(kind: TableKind) -> Content {
        match kind {
            TableKind::Hashed => Content::Hash(memory::HashTable::new()),
            TableKind::Ordered => Content::Tree(memory::TreeTable::new()),
        }
    }

    pub(crate) fn table(&self) -> bytewright::Result<&dyn Table> {
        match self {
            Content::Hash(table) => Ok(table),
            Content::Tree(table) => Ok(table),
            Content::HashFile(table) => Ok(table.as_ref()),
            Content::TreeFile(table) => Ok(table.as_ref()),
            Content::Closed => Err(is_closed()),
        }
    }

    pub(crate) fn table_mut(&mut self) -> bytewright::Result<&mut dyn Table> {
        match self {
            Content::Hash(table) => Ok(table),
            Content::Tree(table) => Ok(table),
            Content::HashFile(table) => Ok(table.as_mut()),
            Content::TreeFile(table) => Ok(table.as_mut()),
            Content::Closed => Err(is_closed()),
        }
    }

    pub(crate) fn ordered(&self) -> bytewright::Result<&dyn OrderedTable> {
        match self {
            Content::Tree(table) => Ok(table),
            Content::TreeFile(table) => Ok(table.as_ref()),
            Content::Closed => Err(is_closed()),
            Content::Hash(_) | Content::HashFile(_) => {
                let message = "expected an ordered table, found a hashed one";
                Err(bytewright::Error::new(ErrorKind::Argument, message))
            }
        }
    }
}

fn is_closed() -> bytewright::Error {
    bytewright::Error::new(ErrorKind::Closed, "expected an open table, found it closed")
}

/// A table in a Ruby object.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Table", free_immediately, mark, size)]
pub(crate) struct TableObject {
    pub(crate) kind: TableKind,
    pub(crate) content: RefCell<Content>,
    pub(crate) turn: Turn,
    /// The number of the encoding that Strings get, as Ruby counts them.
    pub(crate) encoding: Cell<c_int>,
    pub(crate) is_in_file: Cell<bool>,
    /// Whether the end of a transaction waits for a disk.
    pub(crate) commits_wait: Cell<bool>,
    /// Values on their way to Strings, for as long as nothing of Ruby's runs.
    pub(crate) scratch: RefCell<Vec<u8>>,
    pressure: Pressure,
}

impl magnus::DataTypeFunctions for TableObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.turn.mark(marker);
    }

    fn size(&self) -> usize {
        // Somebody may be changing it without Ruby's lock.
        let content = match self.content.try_borrow() {
            Ok(content) => memory_bytes(&content),
            Err(_) => self.pressure.reported.get() as usize,
        };
        size_of::<Self>() + content
    }

    fn free(self: Box<Self>) {
        adjust_memory_usage(-self.pressure.reported.get());
    }
}

/// Bytes of memory that it takes. A file's table would have to read much of the file to say it.
fn memory_bytes(content: &Content) -> usize {
    match content {
        Content::Hash(table) => table.stat().map_or(0, |stat| stat.memory_bytes as usize),
        Content::Tree(table) => table.stat().map_or(0, |stat| stat.memory_bytes as usize),
        _ => 0,
    }
}

/// What Ruby's garbage collector was told of a table's memory. It is told in coarse steps: counting
/// takes longer than a change does.
#[derive(Default)]
struct Pressure {
    reported: Cell<isize>,
    changes_left: Cell<u64>,
}

/// Changes after which the memory is counted again, in a table of a few entries.
const CHANGES_MIN: u64 = 1024;

impl TableObject {
    pub(crate) fn in_memory(kind: TableKind) -> TableObject {
        Self::new(kind, Content::in_memory(kind))
    }

    pub(crate) fn new(kind: TableKind, content: Content) -> TableObject {
        TableObject {
            kind,
            is_in_file: Cell::new(matches!(content, Content::HashFile(_) | Content::TreeFile(_))),
            content: RefCell::new(content),
            turn: Turn::default(),
            encoding: Cell::new(encoding_index(None)),
            commits_wait: Cell::new(false),
            scratch: RefCell::default(),
            pressure: Pressure { reported: Cell::new(0), changes_left: Cell::new(CHANGES_MIN) },
        }
    }

    /// Notes a change, after which there may be more or less memory in use.
    #[inline]
    pub(crate) fn note_change(&self) {
        match self.pressure.changes_left.get().checked_sub(1) {
            Some(left) => self.pressure.changes_left.set(left),
            None => self.report_memory(),
        }
    }

    #[cold]
    fn report_memory(&self) {
        let Ok(content) = self.content.try_borrow() else { return };
        // A file's table has its bounds, and to count it may cost each change to come.
        if self.is_in_file.get() {
            return;
        }
        let len = content.table().and_then(Table::len).unwrap_or(0);
        self.pressure.changes_left.set(CHANGES_MIN.max(len / 16));
        let bytes = memory_bytes(&content) as isize;
        adjust_memory_usage(bytes - self.pressure.reported.replace(bytes));
    }

    /// Returns when no other fiber has the table for itself.
    pub(crate) fn wait(&self, ruby: &Ruby) -> Result<(), Error> {
        if !self.turn.is_taken() || self.turn.is_mine(ruby) {
            return Ok(());
        }
        self.take_turn(ruby)?;
        self.turn.give_back(ruby)
    }

    /// Takes the turn; whether it was not this fiber's before.
    pub(crate) fn take_turn(&self, ruby: &Ruby) -> Result<bool, Error> {
        match self.turn.take(ruby)? {
            Taken::Already => Ok(false),
            Taken::Now => Ok(true),
            Taken::FromTheGone => {
                self.clear_up(ruby)?;
                Ok(true)
            }
        }
    }

    /// Takes back the transaction of a thread that is not in this process.
    fn clear_up(&self, ruby: &Ruby) -> Result<(), Error> {
        let cleared = match self.content.try_borrow_mut() {
            Ok(mut content) => content.table_mut().and_then(abort_all),
            Err(_) => Err(bytewright::Error::new(
                ErrorKind::Closed,
                "expected a table that nobody was changing when the process was forked, found one that a \
                 thread of the parent was; open it again",
            )),
        };
        if let Err(error) = cleared {
            self.turn.give_back(ruby)?;
            return Err(to_ruby(ruby, &error));
        }
        Ok(())
    }

    /// Returns when the table can be read at once: no other fiber has it for itself, and no thread of
    /// its own works on its file. A fiber of the thread whose transaction is open reads what that has
    /// changed: so do external enumerators, which run in a fiber of their own.
    pub(crate) fn wait_until_idle(&self, ruby: &Ruby) -> Result<(), Error> {
        if self.turn.is_taken() && !self.turn.is_mine(ruby) {
            if self.turn.is_of_suspended_fiber(ruby)? {
                return Ok(());
            }
            self.wait(ruby)?;
        }
        while self.is_in_file.get() && self.look(ruby, |content| Ok(content.table()?.is_busy()))? {
            // To look for anything waits for that thread.
            self.change_unlocked(ruby, |content| content.table()?.contains(&[]))?;
        }
        Ok(())
    }

    /// Whether the table cannot be read without waiting for another fiber.
    pub(crate) fn is_in_use(&self, ruby: &Ruby) -> Result<bool, Error> {
        let is_others = self.turn.is_taken() && !self.turn.is_mine(ruby);
        Ok(is_others && !self.turn.is_of_suspended_fiber(ruby)?)
    }

    /// Asks the table something that takes no longer than a Ruby method may.
    pub(crate) fn read<R>(
        &self,
        ruby: &Ruby,
        work: impl FnOnce(&Content) -> bytewright::Result<R>,
    ) -> Result<R, Error> {
        self.wait_until_idle(ruby)?;
        self.look(ruby, work)
    }

    /// The same of a table that this fiber may use.
    fn look<R>(
        &self,
        ruby: &Ruby,
        work: impl FnOnce(&Content) -> bytewright::Result<R>,
    ) -> Result<R, Error> {
        let content = self.content.try_borrow().map_err(|_| used_by_itself(ruby))?;
        raised(ruby, work(&content))
    }

    /// Changes the table, which takes no longer than a Ruby method may.
    pub(crate) fn change<R>(
        &self,
        ruby: &Ruby,
        work: impl FnOnce(&mut dyn Table) -> bytewright::Result<R>,
    ) -> Result<R, Error> {
        self.wait(ruby)?;
        let mut content = self.content.try_borrow_mut().map_err(|_| used_by_itself(ruby))?;
        let outcome = content.table_mut().and_then(work);
        drop(content);
        self.note_change();
        raised(ruby, outcome)
    }

    /// Changes the table without Ruby's lock, while nobody else can use it. What `work` uses of Ruby's
    /// must be a copy.
    pub(crate) fn change_unlocked<R>(
        &self,
        ruby: &Ruby,
        mut work: impl FnMut(&mut Content) -> bytewright::Result<R>,
    ) -> Result<R, Error> {
        let is_taken_now = self.take_turn(ruby)?;
        let outcome = self.work_unlocked(ruby, &mut work);
        if is_taken_now {
            self.turn.give_back(ruby)?;
        }
        self.report_memory();
        raised(ruby, outcome?)
    }

    fn work_unlocked<R>(
        &self,
        ruby: &Ruby,
        work: &mut impl FnMut(&mut Content) -> bytewright::Result<R>,
    ) -> Result<bytewright::Result<R>, Error> {
        let mut content = self.content.try_borrow_mut().map_err(|_| used_by_itself(ruby))?;
        lock::to_the_end(ruby, || work(&mut content))
    }

    /// Changes the table with or without Ruby's lock, whichever is better.
    pub(crate) fn change_either_way<R>(
        &self,
        ruby: &Ruby,
        takes_long: bool,
        mut work: impl FnMut(&mut dyn Table) -> bytewright::Result<R>,
    ) -> Result<R, Error> {
        self.wait(ruby)?;
        match takes_long || self.look(ruby, |content| Ok(content.table()?.waits_for_disk()))? {
            true => self.change_unlocked(ruby, |content| work(content.table_mut()?)),
            false => self.change(ruby, work),
        }
    }
}

fn abort_all(table: &mut dyn Table) -> bytewright::Result<()> {
    while table.depth() > 0 {
        table.abort()?;
    }
    Ok(())
}

fn used_by_itself(ruby: &Ruby) -> Error {
    to_ruby(ruby, &bytewright::Error::internal("a table that is in use while it is used"))
}

/// Entries from which on some work is done without Ruby's lock: less takes a few milliseconds.
pub(crate) const MANY_ENTRIES: u64 = 50_000;
