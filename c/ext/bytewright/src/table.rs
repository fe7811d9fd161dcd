//! Tables: byte strings by key, in memory or in a file.

use std::ffi::{c_char, c_void};

use bytewright::table::file::{self, FileTable, TableKind};
use bytewright::table::{OrderedTable, Table, Values, memory};
use bytewright::{Error, ErrorKind, Result, panics};

use crate::buffer::{bw_buffer, bw_found, bw_slice, bytes, handle, held, take_back, target};
use crate::error::{bw_error, bw_status, guard, is_null};
use crate::in_use::InUse;
use crate::options::{bw_open_options, kind};
use crate::text;

/// A table. One thread at a time may use it.
pub struct bw_table {
    content: FileTable,
    /// What a table in memory is told; a file has it.
    pub(crate) values: Values,
    pub(crate) is_in_file: bool,
}

impl bw_table {
    fn new(content: FileTable, is_in_file: bool) -> bw_table {
        let values = content.as_table().values();
        bw_table { content, values, is_in_file }
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
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_new(
    table_kind: u32,
    out: *mut *mut bw_table,
    error: *mut bw_error,
) -> bw_status {
    let work = || {
        // SAFETY: the caller's promise about `out`.
        let out = unsafe { target(out, "a place for the table") }?;
        let content = match kind(table_kind)? {
            Some(TableKind::Hashed) => FileTable::Hashed(Box::new(memory::HashTable::new())),
            Some(TableKind::Ordered) => FileTable::Ordered(Box::new(memory::TreeTable::new())),
            None => {
                let message = "expected the kind of a table in memory, found BW_TABLE_KIND_ANY";
                return Err(Error::new(ErrorKind::Argument, message));
            }
        };
        *out = handle(bw_table::new(content, false));
        Ok(bw_status::Ok)
    };
    // No other code of this process panics through this library's copy of the standard library.
    panics::catch_all();
    // SAFETY: the caller's promise about the error.
    unsafe { guard(error, work) }
}

/// Opens the table in the file at `path`, which ends with a zero byte and may be in any encoding. `options` may be null
/// for `BW_OPEN_OPTIONS_INIT`. Close it with `bw_table_close`.
///
/// # Safety
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_open(
    path: *const c_char,
    options: *const bw_open_options,
    out: *mut *mut bw_table,
    error: *mut bw_error,
) -> bw_status {
    let work = || {
        // SAFETY: the caller's promise about `out`.
        let out = unsafe { target(out, "a place for the table") }?;
        // SAFETY: the caller's promise about `path`.
        let path = unsafe { text::path(path) }?;
        // SAFETY: the caller's promise: null, or options that were initialized.
        let (kind, options) = match unsafe { options.as_ref() } {
            // SAFETY: the same.
            Some(options) => unsafe { options.of_core() }?,
            None => (None, file::OpenOptions::default()),
        };
        let content = file::open(path, kind, options)?;
        *out = handle(bw_table::new(content, true));
        Ok(bw_status::Ok)
    };
    panics::catch_all();
    // SAFETY: the caller's promise about the error.
    unsafe { guard(error, work) }
}

/// Closes a table and frees its handle, whatever it returns: `BW_STATUS_OK` when everything that was committed survives
/// a power cut. A transaction that is open is taken back. Scans, cursors and snapshots of it stay usable. Null is
/// allowed.
///
/// # Safety
/// As for all functions. The table is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_close(table: *mut bw_table, error: *mut bw_error) -> bw_status {
    let work = || {
        // SAFETY: the caller's promise.
        if let Some(mut table) = unsafe { take_back(table, "a table") }? {
            while table.table().depth() > 0 {
                table.table_mut().abort()?;
            }
            table.table_mut().close()?;
        }
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promise about the error.
    unsafe { guard(error, work) }
}

/// Does what needs the table only.
///
/// # Safety
/// As for all functions.
#[inline]
pub(crate) unsafe fn change(
    table: *mut bw_table,
    error: *mut bw_error,
    work: impl FnOnce(&mut dyn Table) -> Result<bw_status>,
) -> bw_status {
    // SAFETY: the caller's promises about the table and the error.
    unsafe { guard(error, || work(target(table, "a table")?.table_mut())) }
}

/// Removes all entries.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_clear(table: *mut bw_table, error: *mut bw_error) -> bw_status {
    // SAFETY: the caller's promises are handed on.
    unsafe { change(table, error, |table| table.clear().map(done)) }
}

/// Number of entries.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_len(
    table: *const bw_table,
    len: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            *target(len, "a place for the length")? = held(table, "a table")?.table().len()?;
            Ok(bw_status::Ok)
        })
    }
}

/// Copies the value of a key into `value`. `BW_STATUS_NONE` where there is none; the buffer is unchanged then.
///
/// # Safety
/// `value` was initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_get(
    table: *const bw_table,
    key: *const u8,
    key_len: usize,
    value: *mut bw_buffer,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let table = held(table, "a table")?.table();
            let value = target(value, "a buffer")?;
            table.get_with(bytes(key, key_len)?, &mut |bytes| value.fill(bytes)).map(found)
        })
    }
}

/// Copies as much of the value of a key as fits into the `capacity` bytes at `value`, and sets `value_len` to the length of
/// the whole value. `BW_STATUS_NONE` where there is none.
///
/// # Safety
/// `capacity` bytes can be written at `value`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_get_into(
    table: *const bw_table,
    key: *const u8,
    key_len: usize,
    value: *mut u8,
    capacity: usize,
    value_len: *mut usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let table = held(table, "a table")?.table();
            let len = target(value_len, "a place for the length")?;
            let room = match (value.is_null(), capacity) {
                (true, 0) => &mut [],
                (true, _) => return Err(is_null("a place for the value")),
                (false, _) => std::slice::from_raw_parts_mut(value, capacity),
            };
            let mut copy = |bytes: &[u8]| {
                let copied = bytes.len().min(room.len());
                room[..copied].copy_from_slice(&bytes[..copied]);
                *len = bytes.len();
            };
            table.get_with(bytes(key, key_len)?, &mut copy).map(found)
        })
    }
}

/// Shows the value of a key to `show`, with the place 0, without copying it. `BW_STATUS_NONE` where there is none; nothing is
/// shown then.
///
/// # Safety
/// `show` keeps the promises of `bw_found`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_get_with(
    table: *const bw_table,
    key: *const u8,
    key_len: usize,
    show: bw_found,
    context: *mut c_void,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers and the function.
    unsafe {
        guard(error, || {
            let handle = table;
            let table = held(table, "a table")?.table();
            let show = show.ok_or_else(|| is_null("a function that takes the value"))?;
            let _in_use = InUse::mark_shared(handle);
            let mut found_value = |value: &[u8]| show(context, 0, &bw_slice::of(value));
            table.get_with(bytes(key, key_len)?, &mut found_value).map(found)
        })
    }
}

/// Whether there is an entry for a key: `BW_STATUS_OK` or `BW_STATUS_NONE`.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_contains(
    table: *const bw_table,
    key: *const u8,
    key_len: usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let table = held(table, "a table")?.table();
            table.contains(bytes(key, key_len)?).map(found)
        })
    }
}

/// Sets the value of a key.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_put(
    table: *mut bw_table,
    key: *const u8,
    key_len: usize,
    value: *const u8,
    value_len: usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        change(table, error, |table| {
            table.put(bytes(key, key_len)?, bytes(value, value_len)?).map(done)
        })
    }
}

/// Sets the value of a key that has none; `BW_STATUS_NONE` where it has one, which stays.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_create(
    table: *mut bw_table,
    key: *const u8,
    key_len: usize,
    value: *const u8,
    value_len: usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        change(table, error, |table| {
            table.create(bytes(key, key_len)?, bytes(value, value_len)?).map(found)
        })
    }
}

/// Adds bytes to the end of the value of a key, which is empty where there is none. The values must be strings.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_append(
    table: *mut bw_table,
    key: *const u8,
    key_len: usize,
    value: *const u8,
    value_len: usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let table = target(table, "a table")?;
            let (key, value) = (bytes(key, key_len)?, bytes(value, value_len)?);
            table.values.append(table.table_mut(), key, value).map(done)
        })
    }
}

/// Removes the entry of a key; `BW_STATUS_NONE` where there was none.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_delete(
    table: *mut bw_table,
    key: *const u8,
    key_len: usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe { change(table, error, |table| table.delete(bytes(key, key_len)?).map(found)) }
}

/// Takes the first entry out, which a scan would give first, and copies it into `key` and `value`. `BW_STATUS_NONE` where
/// the table is empty; the buffers are unchanged then.
///
/// # Safety
/// `key` and `value` were initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_shift(
    table: *mut bw_table,
    key: *mut bw_buffer,
    value: *mut bw_buffer,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        change(table, error, |table| {
            let (key, value) = (target(key, "a buffer")?, target(value, "a buffer")?);
            let mut copy = |found_key: &[u8], found_value: &[u8]| {
                key.fill(found_key);
                value.fill(found_value);
            };
            table.shift(&mut copy).map(found)
        })
    }
}

/// Adds `by` to the value of a key, which is 0 where there is none, and sets `sum`. The values are integers, or strings
/// that are whole numbers in decimal digits.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_increment(
    table: *mut bw_table,
    key: *const u8,
    key_len: usize,
    by: i64,
    sum: *mut i64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let table = target(table, "a table")?;
            let sum = target(sum, "a place for the sum")?;
            *sum = table.values.increment(table.table_mut(), bytes(key, key_len)?, by)?;
            Ok(bw_status::Ok)
        })
    }
}
