//! What is done to a whole table, and known of it.

use std::ffi::c_char;

use bytewright::table::{Backup, BackupOptions, KeyRange, Origin, Values};
use bytewright::{Error, ErrorKind, panics};

use crate::buffer::{bw_buffer, held, target};
use crate::error::{bw_error, bw_status, guard};
use crate::table::{bw_table, change, done};
use crate::text::{self, text};

/// Counts and sizes of a table, in the order of the schema `tables`.
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
            let found = held(table, "a table")?.table().stat()?;
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

/// Writes a copy of a table as it is now to the file at `path`, a table of the same kind whatever its name. A table file that
/// has the name already is replaced, or an error without `replace`. The file has its name when it is whole.
///
/// # Safety
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_backup(
    table: *const bw_table,
    path: *const c_char,
    replace: bool,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let table = held(table, "a table")?;
            let backup = Backup::of(table.table(), table.kind())?.with_values(table.values);
            backup.write(text::path(path)?, BackupOptions { replace })?;
            Ok(bw_status::Ok)
        })
    }
}

/// Reads and checks all of the table file at `path`, also one of Tokyo Cabinet's (.tch, .tcb). Sets `records` to the number of
/// entries that can be read, also if it returns damage.
///
/// # Safety
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_check(
    path: *const c_char,
    records: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    panics::catch_all();
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let records = target(records, "a place for the number of entries")?;
            *records = 0;
            let origin = Origin::open(text::path(path)?, true)?;
            let mut entries = origin.scan(&KeyRange::ALL)?;
            while entries.advance()?.is_some() {
                *records += 1;
            }
            Ok(bw_status::Ok)
        })
    }
}

/// Writes what the values of a table are into `name`: "string", "integer", or what its maker said.
///
/// # Safety
/// `name` was initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_values(
    table: *const bw_table,
    name: *mut bw_buffer,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let table = held(table, "a table")?;
            target(name, "a buffer")?.fill(table.values.name().as_bytes());
            Ok(bw_status::Ok)
        })
    }
}

/// Says what the values of a table in memory are, as `bw_open_options.values` does of a file. `BW_STATUS_ARGUMENT` for a file
/// whose values are others.
///
/// # Safety
/// `name` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_set_values(
    table: *mut bw_table,
    name: *const c_char,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let table = target(table, "a table")?;
            let values = Values::by_name(text(name, "a name of values")?)?;
            if values != table.values && table.is_in_file {
                let found = table.values;
                let message = format!("expected the values of the file ({found}), found {values}");
                return Err(Error::new(ErrorKind::Argument, message));
            }
            table.values = values;
            Ok(bw_status::Ok)
        })
    }
}
