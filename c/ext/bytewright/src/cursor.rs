//! A place in an ordered table that moves both ways.

use std::mem::MaybeUninit;

use bytewright::Result;
use bytewright::table::Cursor;

use crate::buffer::{Place, bw_slice, bytes, given, handle, held};
use crate::error::{bw_error, bw_status, guard};
use crate::table::{bw_table, found};

/// A place in an ordered table as it was when the cursor was made: at an entry, before the first, or after the last. One
/// thread at a time may use it.
pub struct bw_cursor {
    cursor: Cursor,
}

/// Makes a cursor over an ordered table, before its first entry. Free it with `bw_cursor_free`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_table_cursor(
    table: Option<&bw_table>,
    out: Option<&mut MaybeUninit<*mut bw_cursor>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let out = given(out, "a place for the cursor")?;
        let snapshot = held(table, "a table")?.ordered()?.ordered_snapshot()?;
        let cursor = bw_cursor { cursor: Cursor::new(snapshot) };
        out.write(handle(cursor));
        Ok(bw_status::Ok)
    })
}

fn move_to(
    cursor: Option<&mut bw_cursor>,
    error: Option<&mut bw_error>,
    step: impl FnOnce(&mut Cursor) -> Result<bool>,
) -> bw_status {
    guard(error, || step(&mut given(cursor, "a cursor")?.cursor).map(found))
}

/// Moves to the entry with the lowest key. `BW_STATUS_NONE` where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_cursor_first(
    cursor: Option<&mut bw_cursor>,
    error: Option<&mut bw_error>,
) -> bw_status {
    move_to(cursor, error, Cursor::first)
}

/// Moves to the entry with the highest key. `BW_STATUS_NONE` where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_cursor_last(
    cursor: Option<&mut bw_cursor>,
    error: Option<&mut bw_error>,
) -> bw_status {
    move_to(cursor, error, Cursor::last)
}

/// Moves to the next entry. `BW_STATUS_NONE` where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_cursor_next(
    cursor: Option<&mut bw_cursor>,
    error: Option<&mut bw_error>,
) -> bw_status {
    move_to(cursor, error, Cursor::next)
}

/// Moves to the previous entry. `BW_STATUS_NONE` where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_cursor_prev(
    cursor: Option<&mut bw_cursor>,
    error: Option<&mut bw_error>,
) -> bw_status {
    move_to(cursor, error, Cursor::prev)
}

/// Moves to the entry with the lowest key that is not below `key`. `BW_STATUS_NONE` where there is none.
///
/// # Safety
/// `key` is bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cursor_seek(
    cursor: Option<&mut bw_cursor>,
    key: *const u8,
    key_len: usize,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `key`.
    let key = unsafe { bytes(key, key_len) };
    move_to(cursor, error, |cursor| cursor.seek(key?))
}

/// The key and the value of the entry that a cursor is at, which are there until it moves. `BW_STATUS_NONE` where it is at no entry.
///
/// # Safety
/// `key` and `value` are places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cursor_entry(
    cursor: Option<&bw_cursor>,
    key: *mut bw_slice,
    value: *mut bw_slice,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `key` and `value`.
    let (key, value) = unsafe {
        (Place::at(key, "a place for the key"), Place::at(value, "a place for the value"))
    };
    guard(error, || {
        let (key, value) = (key?, value?);
        let Some(entry) = given(cursor, "a cursor")?.cursor.entry() else {
            return Ok(bw_status::None);
        };
        key.write(bw_slice::of(entry.0));
        value.write(bw_slice::of(entry.1));
        Ok(bw_status::Ok)
    })
}

/// Frees a cursor. Null is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_cursor_free(cursor: Option<Box<bw_cursor>>) {
    drop(cursor);
}
