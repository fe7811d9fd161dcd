//! Tables: byte strings by key, in memory or in a file.

use std::ffi::{c_char, c_void};

use bytewright::table::file::{self, FileTable, TableKind};
use bytewright::table::{OrderedTable, Table, memory};
use bytewright::{Error, ErrorKind, Result, panics};

use crate::buffer::{bw_buffer, bw_slice, bytes, handle, take_back, target};
use crate::error::{bw_error, bw_status, guard, is_null};
use crate::options::{bw_open_options, kind};
use crate::text;

/// A table. One thread at a time may use it.
pub struct bw_table {
    content: FileTable,
}

/// Counts and sizes of a table.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct bw_stat {
    /// Entries.
    pub records: u64,
    /// Bytes of entries as they are kept.
    pub live_bytes: u64,
    /// Bytes that compaction would free.
    pub dead_bytes: u64,
    /// Bytes that are kept only because a snapshot or a scan uses them.
    pub pinned_bytes: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
    /// Bytes of memory that the table takes.
    pub memory_bytes: u64,
    /// Bytes of the file; 0 in memory.
    pub file_bytes: u64,
}

/// Shows the value of a key. `value` is the table's: copy what you keep, do not use the table, and return as usual (a
/// `longjmp` or a C++ exception out of it is undefined behaviour).
pub type bw_found =
    Option<unsafe extern "C" fn(context: *mut c_void, place: usize, value: *const bw_slice)>;

impl bw_table {
    pub(crate) fn table(&self) -> &dyn Table {
        self.content.as_table()
    }

    fn table_mut(&mut self) -> &mut dyn Table {
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

fn done((): ()) -> bw_status {
    bw_status::Ok
}

fn found(is_found: bool) -> bw_status {
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
        *out = handle(bw_table { content });
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
            Some(options) => options.of_core()?,
            None => (None, file::OpenOptions::default()),
        };
        let content = file::open(path, kind, options)?;
        *out = handle(bw_table { content });
        Ok(bw_status::Ok)
    };
    panics::catch_all();
    // SAFETY: the caller's promise about the error.
    unsafe { guard(error, work) }
}

/// Closes a table and frees its handle, whatever it answers: `BW_STATUS_OK` when everything that was committed survives
/// a power cut. A transaction that is open is taken back. Scans, cursors and snapshots of it stay usable. Null is
/// allowed.
///
/// # Safety
/// As for all functions. The table is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_close(table: *mut bw_table, error: *mut bw_error) -> bw_status {
    let work = || {
        // SAFETY: the caller's promise.
        if let Some(mut table) = unsafe { take_back(table) } {
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
unsafe fn change(
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

/// Begins a transaction, or a savepoint in one.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_begin(table: *mut bw_table, error: *mut bw_error) -> bw_status {
    // SAFETY: the caller's promises are handed on.
    unsafe { change(table, error, |table| table.begin().map(done)) }
}

/// Ends what `bw_table_begin` began last, and keeps its changes.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_commit(table: *mut bw_table, error: *mut bw_error) -> bw_status {
    // SAFETY: the caller's promises are handed on.
    unsafe { change(table, error, |table| table.commit().map(done)) }
}

/// Ends what `bw_table_begin` began last, and takes its changes back.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_abort(table: *mut bw_table, error: *mut bw_error) -> bw_status {
    // SAFETY: the caller's promises are handed on.
    unsafe { change(table, error, |table| table.abort().map(done)) }
}

/// Returns when everything committed so far survives a power cut.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_sync(table: *mut bw_table, error: *mut bw_error) -> bw_status {
    // SAFETY: the caller's promises are handed on.
    unsafe { change(table, error, |table| table.sync().map(done)) }
}

/// Frees the space of entries that are gone, however long that takes.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_compact(table: *mut bw_table, error: *mut bw_error) -> bw_status {
    // SAFETY: the caller's promises are handed on.
    unsafe { change(table, error, |table| table.compact().map(done)) }
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
            *target(len, "a place for the length")? =
                target(table.cast_mut(), "a table")?.table().len()?;
            Ok(bw_status::Ok)
        })
    }
}

/// How much the table holds and takes.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_stat(
    table: *const bw_table,
    stat: *mut bw_stat,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let found = target(table.cast_mut(), "a table")?.table().stat()?;
            *target(stat, "a place for the figures")? = bw_stat {
                records: found.records,
                live_bytes: found.live_bytes,
                dead_bytes: found.dead_bytes,
                pinned_bytes: found.pinned_bytes,
                index_bytes: found.index_bytes,
                memory_bytes: found.memory_bytes,
                file_bytes: found.file_bytes,
            };
            Ok(bw_status::Ok)
        })
    }
}

/// Copies the value of a key into `value`. `BW_STATUS_NONE` where there is none; the buffer is as before then.
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
            let table = target(table.cast_mut(), "a table")?.table();
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
            let table = target(table.cast_mut(), "a table")?.table();
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
            let table = target(table.cast_mut(), "a table")?.table();
            table.contains(bytes(key, key_len)?).map(found)
        })
    }
}

/// Shows the value of each of `count` keys, in their order, to `show` with the place of the key and a null value where
/// there is none. Takes less time than a `bw_table_get` for each.
///
/// # Safety
/// `keys` points to `count` slices; `show` keeps the promises of `bw_found`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_get_many(
    table: *const bw_table,
    keys: *const bw_slice,
    count: usize,
    show: bw_found,
    context: *mut c_void,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers and the function.
    unsafe {
        guard(error, || {
            let table = target(table.cast_mut(), "a table")?.table();
            let show = show.ok_or_else(|| is_null("a function that takes the values"))?;
            let keys = slices(keys, count)?;
            table.get_many(&keys, &mut |place, value| match value {
                Some(value) => show(context, place, &bw_slice::of(value)),
                None => show(context, place, std::ptr::null()),
            })?;
            Ok(bw_status::Ok)
        })
    }
}

/// # Safety
/// `slices` points to `count` slices that stay while the answer is used.
unsafe fn slices<'a>(slices: *const bw_slice, count: usize) -> Result<Vec<&'a [u8]>> {
    if slices.is_null() && count > 0 {
        return Err(is_null("slices"));
    }
    // SAFETY: the caller's promise.
    (0..count).map(|place| unsafe { (*slices.add(place)).bytes() }).collect()
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

/// Adds bytes to the end of the value of a key, which is empty where there is none.
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
        change(table, error, |table| {
            table.append(bytes(key, key_len)?, bytes(value, value_len)?).map(done)
        })
    }
}

/// Sets the values of `count` keys, all of them or, on an error, none.
///
/// # Safety
/// `keys` and `values` point to `count` slices each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_put_many(
    table: *mut bw_table,
    keys: *const bw_slice,
    values: *const bw_slice,
    count: usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        change(table, error, |table| {
            let (keys, values) = (slices(keys, count)?, slices(values, count)?);
            table.put_all(&mut Pairs { keys, values, place: 0 }).map(done)
        })
    }
}

/// Entries that the caller has in two arrays.
struct Pairs<'a> {
    keys: Vec<&'a [u8]>,
    values: Vec<&'a [u8]>,
    place: usize,
}

impl bytewright::table::Scan for Pairs<'_> {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let entry = self.keys.get(self.place).zip(self.values.get(self.place));
        self.place += 1;
        Ok(entry.map(|(key, value)| (*key, *value)))
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

/// Adds `by` to the value of a key, a whole number in decimal digits (0 where there is none), and sets `sum`.
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
        change(table, error, |table| {
            let sum = target(sum, "a place for the sum")?;
            *sum = table.increment(bytes(key, key_len)?, by)?;
            Ok(bw_status::Ok)
        })
    }
}
