//! Maintenance and statistics of a whole table.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use bytewright::export::{DumpFile, OutputOptions};
use bytewright::table::{
    Backup, BackupOptions, Dump, DumpFormat, DumpReader, KeyRange, Origin, ValueType,
};
use bytewright::{Error, ErrorKind, panics};

use crate::buffer::{bw_buffer, given, held, held_mut};
use crate::error::{bw_error, bw_status, guard};
use crate::table::{add, bw_table, change, done};
use crate::text::{self, text, text_or_none};

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

/// Tells how much the table holds and takes.
#[unsafe(no_mangle)]
pub extern "C" fn bw_table_stat(
    table: Option<&bw_table>,
    stat: Option<&mut MaybeUninit<bw_stat>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let found = held(table, "a table")?.table().stat()?;
        given(stat, "a place for the figures")?.write(bw_stat {
            records: found.records,
            live_bytes: found.live_bytes,
            dead_bytes: found.dead_bytes,
            pinned_bytes: found.pinned_bytes,
            index_bytes: found.index_bytes,
            memory_bytes: found.memory_bytes,
            file_bytes: found.file_bytes,
        });
        Ok(bw_status::Ok)
    })
}

/// Returns when everything committed so far survives a power cut.
///
/// # Safety
/// `table` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_sync(
    table: *mut bw_table,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `table`.
    let table = unsafe { held_mut(table, "a table") };
    // Others may write meanwhile.
    guard(error, || table?.table_mut().sync().map(done))
}

/// Frees the space of entries that are gone, however long that takes.
///
/// # Safety
/// `table` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_compact(
    table: *mut bw_table,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `table`.
    let table = unsafe { held_mut(table, "a table") };
    change(table, error, |table| table.compact().map(done))
}

/// Writes a copy of a table as it is now to the file at `path`, a table of the same kind whatever its name. A table file that
/// has the name already is replaced, or an error without `replace`. The file has its name when it is whole.
///
/// # Safety
/// `path` is text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_backup(
    table: Option<&bw_table>,
    path: *const c_char,
    replace: bool,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `path`.
    let path = unsafe { text::path(path) };
    guard(error, || {
        let table = held(table, "a table")?;
        let backup = Backup::of(table.table(), table.kind())?.with_values(table.values);
        backup.write(path?, BackupOptions { replace })?;
        Ok(bw_status::Ok)
    })
}

/// Writes the entries of a table as they are now as text that other programs read to the file at `path`, which has its name when
/// it is whole, and sets `count` to their number. `format` is "db" or null (for `db_load` of Berkeley DB), "lmdb" (for `mdb_load`
/// of LMDB) or "sql" (for `sqlite3`). The table's own file is never replaced, and another table, a capture or a store only with
/// `force`.
///
/// # Safety
/// `path` is text, and `format` is text or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_dump(
    table: Option<&bw_table>,
    path: *const c_char,
    format: *const c_char,
    force: bool,
    count: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `path` and `format`.
    let (path, format) = unsafe { (text::path(path), text_or_none(format, "a format")) };
    guard(error, || {
        let table = held(table, "a table")?;
        let count = given(count, "a place for the number of entries")?;
        let format = format?.map_or(Ok(DumpFormat::Db), DumpFormat::by_name)?;
        let dump = Dump::of(table.table(), table.kind(), format)?;
        let options = OutputOptions::made_of(table.path.iter(), force);
        count.write(DumpFile::create(path?, dump, &options)?.write()?);
        Ok(bw_status::Ok)
    })
}

/// Puts the entries of the dump at `path` into a table, all of them or, on an error, none, and sets `count` to their number. The
/// dump is one of `bw_table_dump`, `db_dump`, `mdb_dump`, or of `sqlite3` of a table of two columns, compressed or not.
///
/// # Safety
/// `table` is a handle, and `path` is text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_load(
    table: *mut bw_table,
    path: *const c_char,
    count: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `table` and `path`.
    let (table, path) = unsafe { (held_mut(table, "a table"), text::path(path)) };
    add(table, error, |table| {
        let count = given(count, "a place for the number of entries")?;
        let mut dump = DumpReader::open(path?, table.values)?;
        table.table_mut().put_all(&mut dump)?;
        count.write(dump.count());
        Ok(bw_status::Ok)
    })
}

/// Reads and checks all of the table file at `path`, also one of Tokyo Cabinet's (.tch, .tcb). Sets `records` to the number of
/// entries that can be read, also if it returns damage.
///
/// # Safety
/// `path` is text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_check(
    path: *const c_char,
    records: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `path`.
    let path = unsafe { text::path(path) };
    panics::catch_all();
    guard(error, || {
        let records = given(records, "a place for the number of entries")?;
        let records = records.write(0);
        let origin = Origin::open(path?, true)?;
        let mut entries = origin.scan(&KeyRange::ALL)?;
        while entries.advance()?.is_some() {
            *records += 1;
        }
        Ok(bw_status::Ok)
    })
}

/// Writes what the values of a table are into `name`: "string", "integer", or what its maker said.
#[unsafe(no_mangle)]
pub extern "C" fn bw_table_values(
    table: Option<&bw_table>,
    name: Option<&mut bw_buffer>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let table = held(table, "a table")?;
        given(name, "a buffer")?.fill(table.values.name().as_bytes());
        Ok(bw_status::Ok)
    })
}

/// Says what the values of a table in memory are, as `bw_open_options.values` does of a file. `BW_STATUS_ARGUMENT` for a file
/// whose values are others.
///
/// # Safety
/// `table` is a handle, and `name` is text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_set_values(
    table: *mut bw_table,
    name: *const c_char,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `table` and `name`.
    let (table, name) = unsafe { (held_mut(table, "a table"), text(name, "a name of values")) };
    guard(error, || {
        let table = table?;
        let values = ValueType::by_name(name?)?;
        if values != table.values && table.is_in_file {
            let found = table.values;
            let message = format!("expected the values of the file ({found}), found {values}");
            return Err(Error::new(ErrorKind::Argument, message));
        }
        table.values = values;
        Ok(bw_status::Ok)
    })
}
