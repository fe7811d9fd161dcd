//! Tables: byte strings by key, in memory or in a file.

use std::ffi::{OsStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytewright::host;
use bytewright::host::adb::{AbstractDatabase, OpenedTable, Strings};
use bytewright::host::table::{Attempt, wait_for_writer};
use bytewright::table::file::{self, FileTable, OpenOptions, TableKind};
use bytewright::table::{OrderedTable, Table, ValueType, memory};
use bytewright::{Error, ErrorKind, Result, panics};

use crate::buffer::{
    Place, bw_buffer, bw_found, bw_slice, bytes, given, handle, held, held_mut, room, take_back,
};
use crate::error::{bw_error, bw_status, guard, guard_raw};
use crate::host::CallerHost;
use crate::in_use::InUse;
use crate::options::{bw_open_options, kind};
use crate::text;

/// A table. One thread at a time may use it.
pub struct bw_table {
    content: FileTable,
    /// Form of the values that a table in memory is told; a file has it.
    pub(crate) values: ValueType,
    pub(crate) is_in_file: bool,
    /// Path of the file, which no output of this table replaces.
    pub(crate) path: Option<PathBuf>,
    /// The database that it is the table of, where it was opened by a name of Tokyo Cabinet's.
    database: Option<Box<AbstractDatabase>>,
    /// Longest wait for another process that writes the file.
    timeout: Duration,
    host: CallerHost,
}

impl bw_table {
    fn new(content: FileTable, is_in_file: bool) -> bw_table {
        let values = content.as_table().values();
        let (timeout, host) = (Duration::ZERO, CallerHost::default());
        bw_table { content, values, is_in_file, path: None, database: None, timeout, host }
    }

    /// An empty table in memory.
    pub(crate) fn in_memory(kind: TableKind) -> bw_table {
        let content = match kind {
            TableKind::Hashed => FileTable::Hashed(Box::new(memory::HashTable::new())),
            TableKind::Ordered => FileTable::Ordered(Box::new(memory::TreeTable::new())),
        };
        bw_table::new(content, false)
    }

    /// The table in the file at `path`. Another process that has it for itself is waited for.
    pub(crate) fn in_file(
        path: &Path,
        kind: Option<TableKind>,
        options: OpenOptions,
        host: CallerHost,
    ) -> Result<bw_table> {
        let opened = wait_for_writer(&host, options.timeout, |slice| {
            Ok(Attempt::of(file::open(path, kind, OpenOptions { timeout: slice, ..options }))?)
        });
        let mut content = opened.map_err(|failure| failure.into_host(&host))?;
        content.as_table_mut().set_timeout(options.timeout);
        let mut table = bw_table::new(content, true);
        (table.timeout, table.host) = (options.timeout, host);
        table.note_path(path);
        Ok(table)
    }

    /// The table of a database, as a handle.
    pub(crate) fn of_database(database: AbstractDatabase, opened: OpenedTable) -> *mut bw_table {
        let mut table = match opened {
            OpenedTable::InMemory(kind) => bw_table::in_memory(kind),
            OpenedTable::InFile(file, _) => bw_table::new(file, true),
        };
        if table.is_in_file {
            table.note_path(Path::new(OsStr::from_bytes(database.path())));
        }
        table.database = Some(Box::new(database));
        handle(table)
    }

    /// Notes where the file is, wherever the process goes afterwards.
    fn note_path(&mut self, path: &Path) {
        self.path = std::path::absolute(path).ok();
    }

    /// Does `work` in a turn to write the file. Another process that has it is waited for.
    pub(crate) fn in_turn<R>(
        &mut self,
        work: impl FnOnce(&mut bw_table) -> Result<R>,
    ) -> Result<R> {
        let host = self.host;
        let taken = wait_for_writer(&host, self.timeout, |slice| {
            Ok(Attempt::of(self.table_mut().take_turn(Some(slice)))?)
        });
        taken.map_err(|failure| failure.into_host(&host))?;
        let outcome = host::guard(|| work(self));
        self.table_mut().give_turn_back();
        outcome
    }

    /// Takes back what is open of a transaction, and closes it.
    pub(crate) fn close(&mut self) -> Result<()> {
        while self.table().depth() > 0 {
            self.table_mut().abort()?;
        }
        self.table_mut().close()
    }

    /// Calls a method of the database that goes with it.
    pub(crate) fn call_database(
        &mut self,
        method: &str,
        arguments: &[&[u8]],
    ) -> Result<Option<Strings>> {
        let Some(database) = &self.database else {
            let message = "expected a table that bw_adb_open opened, found another one";
            return Err(Error::new(ErrorKind::Argument, message));
        };
        database.call(&mut self.content, method, arguments)
    }

    /// Keeps within the bounds that its name sets, after entries were added.
    #[inline]
    fn keep_bounds(&mut self) -> Result<()> {
        match &self.database {
            Some(database) if database.has_bounds() => {
                database.keep_bounds(self.content.as_table_mut())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn kind(&self) -> TableKind {
        self.content.kind()
    }

    pub(crate) fn table(&self) -> &dyn Table {
        self.content.as_table()
    }

    pub(crate) fn table_mut(&mut self) -> &mut dyn Table {
        self.content.as_table_mut()
    }

    pub(crate) fn content_mut(&mut self) -> &mut FileTable {
        &mut self.content
    }

    pub(crate) fn ordered(&self) -> Result<&dyn OrderedTable> {
        match &self.content {
            FileTable::Ordered(table) => Ok(&**table),
            FileTable::Hashed(_) => {
                let message = "expected an ordered table (BW_TABLE_KIND_TREE), found a hashed one";
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }
}

pub(crate) fn done((): ()) -> bw_status {
    bw_status::Ok
}

pub(crate) fn found(is_found: bool) -> bw_status {
    match is_found {
        true => bw_status::Ok,
        false => bw_status::None,
    }
}

/// Makes an empty table in memory. `kind` is `BW_TABLE_KIND_HASH` or `BW_TABLE_KIND_TREE`. Close it with
/// `bw_table_close`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_table_new(
    table_kind: u32,
    out: Option<&mut MaybeUninit<*mut bw_table>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    let work = || {
        let out = given(out, "a place for the table")?;
        let Some(kind) = kind(table_kind)? else {
            let message = "expected the kind of a table in memory, found BW_TABLE_KIND_ANY";
            return Err(Error::new(ErrorKind::Argument, message));
        };
        out.write(handle(bw_table::in_memory(kind)));
        Ok(bw_status::Ok)
    };
    // No other code of this process panics through this library's copy of the standard library.
    panics::catch_all();
    guard(error, work)
}

/// Opens the table in the file at `path`, which ends with a zero byte and may be in any encoding. `options` may be null
/// for `BW_OPEN_OPTIONS_INIT`. Close it with `bw_table_close`.
///
/// # Safety
/// `path` is text, and `options` is initialized and has texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_open(
    path: *const c_char,
    options: *const bw_open_options,
    out: Option<&mut MaybeUninit<*mut bw_table>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `path` and `options`.
    let (path, options) = unsafe { (text::path(path), bw_open_options::of_core(options)) };
    let work = || {
        let out = given(out, "a place for the table")?;
        let (kind, options, host) = options?;
        out.write(handle(bw_table::in_file(path?, kind, options, host)?));
        Ok(bw_status::Ok)
    };
    panics::catch_all();
    guard(error, work)
}

/// Closes a table and frees its handle, whatever it returns: `BW_STATUS_OK` when everything that was committed survives
/// a power cut. A transaction that is open is taken back. Scans, cursors and snapshots of it stay usable. Null is
/// allowed.
///
/// # Safety
/// `table` is a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_close(
    table: *mut bw_table,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `table`.
    let table = unsafe { take_back(table, "a table") };
    guard(error, || {
        if let Some(mut table) = table? {
            table.close()?;
        }
        Ok(bw_status::Ok)
    })
}

/// Does the work of a call that changes the table only.
#[inline]
pub(crate) fn change(
    table: Result<&mut bw_table>,
    error: Option<&mut bw_error>,
    work: impl FnOnce(&mut dyn Table) -> Result<bw_status>,
) -> bw_status {
    guard(error, || table?.in_turn(|table| work(table.table_mut())))
}

/// Does the work of a call that may add entries.
#[inline]
pub(crate) fn add(
    table: Result<&mut bw_table>,
    error: Option<&mut bw_error>,
    work: impl FnOnce(&mut bw_table) -> Result<bw_status>,
) -> bw_status {
    guard(error, || {
        table?.in_turn(|table| {
            let status = work(table)?;
            table.keep_bounds()?;
            Ok(status)
        })
    })
}

/// Removes all entries.
///
/// # Safety
/// `table` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_clear(
    table: *mut bw_table,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `table`.
    let table = unsafe { held_mut(table, "a table") };
    change(table, error, |table| table.clear().map(done))
}

/// Number of entries.
#[unsafe(no_mangle)]
pub extern "C" fn bw_table_len(
    table: Option<&bw_table>,
    len: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let count = held(table, "a table")?.table().len()?;
        given(len, "a place for the length")?.write(count);
        Ok(bw_status::Ok)
    })
}

/// Copies the value of a key into `value`. `BW_STATUS_NONE` where there is none; the buffer is unchanged then.
///
/// # Safety
/// `key` is bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_get(
    table: Option<&bw_table>,
    key: *const u8,
    key_len: usize,
    value: Option<&mut bw_buffer>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `key`.
    let key = unsafe { bytes(key, key_len) };
    guard(error, || {
        let table = held(table, "a table")?.table();
        let value = given(value, "a buffer")?;
        table.get_with(key?, &mut |bytes| value.fill(bytes)).map(found)
    })
}

/// Copies as much of the value of a key as fits into the `capacity` bytes at `value`, and sets `value_len` to the length of
/// the whole value. `BW_STATUS_NONE` where there is none.
///
/// # Safety
/// `key` is bytes, and `value` has room for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_get_into(
    table: Option<&bw_table>,
    key: *const u8,
    key_len: usize,
    value: *mut u8,
    capacity: usize,
    value_len: Option<&mut MaybeUninit<usize>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `key` and `value`.
    let (key, room) =
        unsafe { (bytes(key, key_len), room(value, capacity, "a place for the value")) };
    guard(error, || {
        let table = held(table, "a table")?.table();
        let len = given(value_len, "a place for the length")?;
        let room = room?;
        let mut copy = |bytes: &[u8]| {
            for (place, byte) in room.iter_mut().zip(bytes) {
                place.write(*byte);
            }
            len.write(bytes.len());
        };
        table.get_with(key?, &mut copy).map(found)
    })
}

/// Shows the value of a key to `show`, with the place 0, without copying it. `BW_STATUS_NONE` where there is none; nothing is
/// shown then.
///
/// # Safety
/// `key` is bytes, `error` is null or an error, and `show` keeps the promises of `bw_found`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_get_with(
    table: Option<&bw_table>,
    key: *const u8,
    key_len: usize,
    show: bw_found,
    context: *mut c_void,
    error: *mut bw_error,
) -> bw_status {
    let work = || {
        let table = held(table, "a table")?;
        let show = given(show, "a function that takes the value")?;
        let _in_use = InUse::mark_shared(table);
        // SAFETY: the caller's promise about `key`.
        let key = unsafe { bytes(key, key_len) }?;
        // SAFETY: the caller's promise about `show`.
        let mut found_value = |value: &[u8]| unsafe { show(context, 0, &bw_slice::of(value)) };
        table.table().get_with(key, &mut found_value).map(found)
    };
    // SAFETY: the caller's promise about `error`.
    unsafe { guard_raw(error, work) }
}

/// Looks for an entry with a key: `BW_STATUS_OK` if there is one, else `BW_STATUS_NONE`.
///
/// # Safety
/// `key` is bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_contains(
    table: Option<&bw_table>,
    key: *const u8,
    key_len: usize,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `key`.
    let key = unsafe { bytes(key, key_len) };
    guard(error, || {
        let table = held(table, "a table")?.table();
        table.contains(key?).map(found)
    })
}

/// Sets the value of a key.
///
/// # Safety
/// `table` is a handle, and `key` and `value` are bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_put(
    table: *mut bw_table,
    key: *const u8,
    key_len: usize,
    value: *const u8,
    value_len: usize,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `table`, `key` and `value`.
    let (table, key, value) =
        unsafe { (held_mut(table, "a table"), bytes(key, key_len), bytes(value, value_len)) };
    add(table, error, |table| table.table_mut().put(key?, value?).map(done))
}

/// Sets the value of a key that has none; `BW_STATUS_NONE` where it has one, which stays.
///
/// # Safety
/// `table` is a handle, and `key` and `value` are bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_create(
    table: *mut bw_table,
    key: *const u8,
    key_len: usize,
    value: *const u8,
    value_len: usize,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `table`, `key` and `value`.
    let (table, key, value) =
        unsafe { (held_mut(table, "a table"), bytes(key, key_len), bytes(value, value_len)) };
    add(table, error, |table| table.table_mut().create(key?, value?).map(found))
}

/// Adds bytes to the end of the value of a key, which is empty where there is none. The values must be strings.
///
/// # Safety
/// `table` is a handle, and `key` and `value` are bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_append(
    table: *mut bw_table,
    key: *const u8,
    key_len: usize,
    value: *const u8,
    value_len: usize,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `table`, `key` and `value`.
    let (table, key, value) =
        unsafe { (held_mut(table, "a table"), bytes(key, key_len), bytes(value, value_len)) };
    add(table, error, |table| {
        let (key, value) = (key?, value?);
        table.values.append(table.table_mut(), key, value).map(done)
    })
}

/// Removes the entry of a key; `BW_STATUS_NONE` where there was none.
///
/// # Safety
/// `table` is a handle, and `key` is bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_delete(
    table: *mut bw_table,
    key: *const u8,
    key_len: usize,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `table` and `key`.
    let (table, key) = unsafe { (held_mut(table, "a table"), bytes(key, key_len)) };
    change(table, error, |table| table.delete(key?).map(found))
}

/// Takes the entry of a key out, and copies its value into `value`. `BW_STATUS_NONE` where there is none; the buffer is
/// unchanged then. No other process changes the entry between.
///
/// # Safety
/// `table` is a handle, `key` is bytes, and `value` is a buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_take(
    table: *mut bw_table,
    key: *const u8,
    key_len: usize,
    value: *mut bw_buffer,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `table`, `key` and `value`.
    let (table, key, value) =
        unsafe { (held_mut(table, "a table"), bytes(key, key_len), Place::at(value, "a buffer")) };
    change(table, error, |table| {
        let (key, value) = (key?, value?);
        let is_there = table.get_with(key, &mut |found_value| value.fill(found_value))?;
        Ok(found(is_there && table.delete(key)?))
    })
}

/// Takes the first entry out, which a scan would give first, and copies it into `key` and `value`. `BW_STATUS_NONE` where
/// the table is empty; the buffers are unchanged then.
///
/// # Safety
/// `table` is a handle, `key` and `value` are buffers, which may be the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_shift(
    table: *mut bw_table,
    key: *mut bw_buffer,
    value: *mut bw_buffer,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `table`, `key` and `value`.
    let (table, key, value) = unsafe {
        (held_mut(table, "a table"), Place::at(key, "a buffer"), Place::at(value, "a buffer"))
    };
    change(table, error, |table| {
        let (key, value) = (key?, value?);
        let mut copy = |found_key: &[u8], found_value: &[u8]| {
            key.fill(found_key);
            value.fill(found_value);
        };
        table.shift(&mut copy).map(found)
    })
}

/// Adds `by` to the value of a key, which is 0 where there is none, and sets `sum`. The values are integers, or strings
/// that are whole numbers in decimal digits.
///
/// # Safety
/// `table` is a handle, and `key` is bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_increment(
    table: *mut bw_table,
    key: *const u8,
    key_len: usize,
    by: i64,
    sum: Option<&mut MaybeUninit<i64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `table` and `key`.
    let (table, key) = unsafe { (held_mut(table, "a table"), bytes(key, key_len)) };
    add(table, error, |table| {
        let sum = given(sum, "a place for the sum")?;
        sum.write(table.values.increment(table.table_mut(), key?, by)?);
        Ok(bw_status::Ok)
    })
}
