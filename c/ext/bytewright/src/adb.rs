//! Tokyo Cabinet's abstract database over tables.

use std::ffi::{c_char, c_void};

use bytewright::host::adb;
use bytewright::panics;

use crate::buffer::{Place, bw_found, bw_slice, held_mut};
use crate::bulk::slices;
use crate::error::{bw_error, bw_status, guard_raw};
use crate::host::{CallerHost, Context, bw_interrupted};
use crate::table::{bw_table, found};
use crate::text::{text, text_bytes};

/// Opens what a name of Tokyo Cabinet's abstract database stands for: `*` for a hashed and `+` for an ordered table in memory,
/// or the path of a .bwh or .bwt file, and behind it tuning, each parameter as `#key=value`: `mode` (`w` writes, `r` reads, `c`
/// creates, `t` empties, `f` does not wait for another writer; `wc` by default), `capnum` and `capsiz` (entries and bytes that
/// are kept in memory, perhaps with a binary prefix: `100m`), `sync` (`commit`, `interval`, `never`). Another parameter does
/// nothing.
///
/// The table is one for all functions of tables: `bw_table_put`, `bw_table_create`, `bw_table_append`, `bw_table_delete`,
/// `bw_table_get` and `bw_table_len` do what the methods put, putkeep, putcat, out, get and rnum do. Close it with
/// `bw_table_close`. Until then no other call of this process opens its file by such a name: that returns `BW_STATUS_LOCK`.
///
/// While another process writes the file, the call waits, and asks `interrupted`, which may be null, whether to go on.
///
/// # Safety
/// `name` is text, `interrupted` keeps the rules of `bw_interrupted`, `table` is a place, and `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_adb_open(
    name: *const c_char,
    interrupted: bw_interrupted,
    context: *mut c_void,
    table: *mut *mut bw_table,
    error: *mut bw_error,
) -> bw_status {
    let work = || {
        // SAFETY: the caller's promises about `table` and `name`.
        let (out, name) =
            unsafe { (Place::at(table, "a place for the table")?, text_bytes(name, "a name")?) };
        let host = CallerHost {
            interrupted,
            interrupted_context: Context(context),
            ..CallerHost::default()
        };
        let (database, opened) =
            adb::open(&host, name).map_err(|failure| failure.into_host(&host))?;
        out.write(bw_table::of_database(database, opened));
        Ok(bw_status::Ok)
    };
    panics::catch_all();
    // SAFETY: the caller's promise about `error`.
    unsafe { guard_raw(error, work) }
}

/// Calls a method of Tokyo Cabinet's abstract database by its name, of a table that `bw_adb_open` gave, and then shows `show`,
/// which may be null, each string that it answers, with its place. `BW_STATUS_NONE` where the original answers false or nothing
/// and there is no error, also for a name that it does not know.
///
/// `fwmkeys` (a prefix, and perhaps how many), `addint` and `adddouble` (a key and the bytes of the int or double, and answers
/// those of the sum), `iterinit` (perhaps a key), `iternext`, `sync`, `optimize`, `vanish`, `copy` (a path), `tranbegin`,
/// `trancommit`, `tranabort`, `size`, and `misc`, whose first argument is the name of a function: `put`, `putkeep`, `putcat`,
/// `out`, `get`, `putlist`, `outlist`, `getlist`, `getpart`, `iterinit`, `iternext` (with the value), `sync`, `optimize`,
/// `vanish`, of an ordered table `range`, and of a file `error` (the name of a status in small letters and the system's number,
/// or nothing), `cacheclear`, `defrag`. Numbers are decimal digits. `regex` is for languages that have patterns.
///
/// # Safety
/// `table` is a handle, `method` is text, `arguments` points to `count` slices, `show` keeps the promises of `bw_found`, and
/// `error` is null or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_adb_call(
    table: *mut bw_table,
    method: *const c_char,
    arguments: *const bw_slice,
    count: usize,
    show: bw_found,
    context: *mut c_void,
    error: *mut bw_error,
) -> bw_status {
    let work = || {
        // SAFETY: the caller's promises about `table`, `method` and `arguments`.
        let (table, method, arguments) = unsafe {
            (held_mut(table, "a table")?, text(method, "a method")?, slices(arguments, count)?)
        };
        let answer = table.call_database(method, &arguments)?;
        // The table is in use no more: a function of the program may use it.
        for (place, string) in answer.iter().flatten().enumerate() {
            if let Some(show) = show {
                // SAFETY: the caller's promise about `show`.
                unsafe { show(context, place, &bw_slice::of(string)) };
            }
        }
        Ok(found(answer.is_some()))
    };
    // SAFETY: the caller's promise about `error`.
    unsafe { guard_raw(error, work) }
}
