//! Tokyo Cabinet's abstract database over our tables: what its names, tuning and methods mean, for every face.
//!
//! A face has the table itself for what is called most: put, get, out and the number of entries are the table's own. All
//! else is a method that is called by its name, with arguments and answers as byte strings. An answer of `None` is the
//! original's for a failure that is no error: false, or nothing.

mod iteration;
mod long_work;
mod method;
mod name;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use iteration::Iteration;
use long_work::LongWork;
use method::Called;
use name::DatabaseName;

use super::failure::{Failure, Outcome, guard};
use super::table::{self, TableContent, TableHandle, step_by_step};
use super::turn::TurnHost;
use crate::error::{Error, Result};
use crate::table::file::{Claim, FileTable, OpenOptions, TableKind};
use crate::table::{OrderedTable, Table};

/// Byte strings that a method answers.
pub type Strings = Vec<Vec<u8>>;

/// A database: what it is beside its table.
pub struct AbstractDatabase {
    name: DatabaseName,
    iteration: Mutex<Option<Iteration>>,
    /// Changes of a table with a bound.
    changes: AtomicU64,
    /// Its file: one object of a process has it, as with Tokyo Cabinet.
    claim: Mutex<Option<Claim>>,
}

/// The table of a database, as it was opened.
pub enum OpenedTable {
    /// An empty one in memory.
    InMemory(TableKind),
    /// That of a file.
    InFile(FileTable, OpenOptions),
}

/// Opens what a name stands for: `*` or `+`, or the path of a .bwh or .bwt file, and behind it tuning, each parameter as
/// `#key=value`. Waiting for another process can be interrupted.
///
/// [`ErrorKind::Lock`](crate::ErrorKind::Lock) where another object of this process has the file.
pub fn open<H: TurnHost>(host: &H, name: &[u8]) -> Outcome<(AbstractDatabase, OpenedTable), H> {
    let database = AbstractDatabase::new(DatabaseName::parse(name)?);
    let (name, kind) = (&database.name, database.name.kind);
    if name.is_in_memory {
        return Ok((database, OpenedTable::InMemory(kind)));
    }
    let (path, options) = (path_of(&name.path), name.options);
    // To wait for another object of this process could take for ever.
    *locked(&database.claim) = Some(Claim::of(path)?);
    let mut file = table::open(host, path, Some(kind), options)?;
    if name.truncates {
        let file = Mutex::new(&mut file);
        let clear = || guard(|| locked(&file).as_table_mut().clear());
        host.wait_to_the_end(&clear).map_err(Failure::Host)??;
    }
    Ok((database, OpenedTable::InFile(file, options)))
}

impl AbstractDatabase {
    fn new(name: DatabaseName) -> AbstractDatabase {
        AbstractDatabase {
            name,
            iteration: Mutex::default(),
            changes: AtomicU64::new(0),
            claim: Mutex::default(),
        }
    }

    /// The name without its tuning.
    pub fn path(&self) -> &[u8] {
        &self.name.path
    }

    /// Says whether the table is in memory.
    pub fn is_in_memory(&self) -> bool {
        self.name.is_in_memory
    }

    /// Says whether [`Self::keep_bounds`] has anything to do.
    pub fn has_bounds(&self) -> bool {
        self.name.capnum > 0 || self.name.capsiz > 0
    }

    /// Ends what goes with the open table, which is closed: the next object may have its file.
    pub fn release(&self) {
        locked(&self.iteration).take();
        locked(&self.claim).take();
    }

    /// Calls a method over a table that callers share.
    pub fn call_shared<C: Clone, H: TurnHost<Caller = C>>(
        &self,
        (handle, host): (&TableHandle<C>, &H),
        method: &str,
        arguments: &[&[u8]],
    ) -> Outcome<Option<Strings>, H> {
        let Some(called) = Called::of(method, arguments) else { return Ok(None) };
        if let "tranbegin" | "trancommit" | "tranabort" = method {
            return self.call_transaction((handle, host), method);
        }
        if called.changes() {
            let cost = called.cost(handle.len(host)?, handle.is_in_file());
            return handle.change_by_cost(host, cost, |table| self.change(table, &called));
        }
        let ask =
            |content: &TableContent| self.ask(content.table()?, content.ordered().ok(), &called);
        match handle.read(host, ask)? {
            Reply::Given(answer) => Ok(answer),
            Reply::Later(mut work) => {
                step_by_step(host, &mut || work.step())?;
                Ok(Some(work.found()))
            }
        }
    }

    fn call_transaction<C: Clone, H: TurnHost<Caller = C>>(
        &self,
        (handle, host): (&TableHandle<C>, &H),
        method: &str,
    ) -> Outcome<Option<Strings>, H> {
        let depth = handle.depth(host)?;
        match method {
            "tranbegin" if self.may_begin(depth) => handle.begin(host).map(|_| DONE),
            "trancommit" | "tranabort" if depth > 0 => {
                handle.end(host, 0, method == "trancommit").map(|()| DONE)
            }
            _ => Ok(None),
        }
    }

    /// Calls a method over a table that one thread uses.
    pub fn call(
        &self,
        file: &mut FileTable,
        method: &str,
        arguments: &[&[u8]],
    ) -> Result<Option<Strings>> {
        let Some(called) = Called::of(method, arguments) else { return Ok(None) };
        if called.changes() {
            return self.change(file.as_table_mut(), &called);
        }
        let file = &*file;
        let ordered: Option<&dyn OrderedTable> = match file {
            FileTable::Ordered(table) => Some(&**table),
            FileTable::Hashed(_) => None,
        };
        match self.ask(file.as_table(), ordered, &called)? {
            Reply::Given(answer) => Ok(answer),
            Reply::Later(mut work) => {
                while work.step()? {}
                Ok(Some(work.found()))
            }
        }
    }

    /// Keeps a table in memory within the tuning `capnum`, entries, and `capsiz`, bytes, after a change: what comes first in
    /// the table's order goes first, which of a hashed table is what was not written for longest.
    pub fn keep_bounds(&self, table: &mut dyn Table) -> Result<()> {
        /// Between this many changes the bytes are counted, which takes longer than a change.
        const CHANGES_BETWEEN_COUNTS: u64 = 256;
        let DatabaseName { capnum, capsiz, .. } = self.name;
        while capnum > 0 && table.len()? > capnum && table.shift(&mut |_, _| ())? {}
        if capsiz == 0
            || !self.changes.fetch_add(1, Ordering::Relaxed).is_multiple_of(CHANGES_BETWEEN_COUNTS)
        {
            return Ok(());
        }
        while bytes_of_entries(table)? > capsiz && table.shift(&mut |_, _| ())? {}
        Ok(())
    }

    fn may_begin(&self, depth: usize) -> bool {
        depth == 0 && !self.name.is_in_memory && !self.name.options.read_only
    }
}

/// The answer of a method that has done its work and has nothing to tell.
const DONE: Option<Strings> = Some(Vec::new());

/// The answer of a method that only reads.
enum Reply {
    Given(Option<Strings>),
    /// Given when this is done, beside others that use the table.
    Later(LongWork),
}

fn bytes_of_entries(table: &dyn Table) -> Result<u64> {
    let stat = table.stat()?;
    Ok(stat.live_bytes + stat.index_bytes)
}

fn path_of(name: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(name))
}

fn shown(name: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(name)
}

fn size_of_file(path: &[u8]) -> Result<u64> {
    let path = path_of(path);
    let metadata = std::fs::metadata(path);
    let metadata = metadata.map_err(|error| Error::io("read the table", &error));
    Ok(metadata.map_err(|error| error.in_file(&path.to_string_lossy()))?.len())
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
