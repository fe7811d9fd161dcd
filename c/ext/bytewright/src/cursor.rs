//! A place in an ordered table that moves both ways.

use bytewright::Result;
use bytewright::table::Cursor;

use crate::buffer::{bw_slice, bytes, free, handle, held, target};
use crate::error::{bw_error, bw_status, guard};
use crate::table::bw_table;

/// A place in an ordered table as it was when the cursor was made: at an entry, before the first, or after the last. One
/// thread at a time may use it.
pub struct bw_cursor {
    cursor: Cursor,
}

/// Makes a cursor over an ordered table, before its first entry. Free it with `bw_cursor_free`.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_cursor(
    table: *const bw_table,
    out: *mut *mut bw_cursor,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let out = target(out, "a place for the cursor")?;
            let snapshot = held(table, "a table")?.ordered()?.ordered_snapshot()?;
            let cursor = bw_cursor { cursor: Cursor::new(snapshot) };
            *out = handle(cursor);
            Ok(bw_status::Ok)
        })
    }
}

/// # Safety
/// As for all functions.
unsafe fn move_to(
    cursor: *mut bw_cursor,
    error: *mut bw_error,
    step: impl FnOnce(&mut Cursor) -> Result<bool>,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || match step(&mut target(cursor, "a cursor")?.cursor)? {
            true => Ok(bw_status::Ok),
            false => Ok(bw_status::None),
        })
    }
}

/// Moves to the entry with the lowest key. `BW_STATUS_NONE` where there is none.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cursor_first(
    cursor: *mut bw_cursor,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises are handed on.
    unsafe { move_to(cursor, error, Cursor::first) }
}

/// Moves to the entry with the highest key. `BW_STATUS_NONE` where there is none.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cursor_last(cursor: *mut bw_cursor, error: *mut bw_error) -> bw_status {
    // SAFETY: the caller's promises are handed on.
    unsafe { move_to(cursor, error, Cursor::last) }
}

/// Moves to the next entry. `BW_STATUS_NONE` where there is none.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cursor_next(cursor: *mut bw_cursor, error: *mut bw_error) -> bw_status {
    // SAFETY: the caller's promises are handed on.
    unsafe { move_to(cursor, error, Cursor::next) }
}

/// Moves to the previous entry. `BW_STATUS_NONE` where there is none.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cursor_prev(cursor: *mut bw_cursor, error: *mut bw_error) -> bw_status {
    // SAFETY: the caller's promises are handed on.
    unsafe { move_to(cursor, error, Cursor::prev) }
}

/// Moves to the entry with the lowest key that is not below `key`. `BW_STATUS_NONE` where there is none.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cursor_seek(
    cursor: *mut bw_cursor,
    key: *const u8,
    key_len: usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe { move_to(cursor, error, |cursor| cursor.seek(bytes(key, key_len)?)) }
}

/// The key and the value of the entry that a cursor is at, which are there until it moves. `BW_STATUS_NONE` where it is at no entry.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cursor_entry(
    cursor: *const bw_cursor,
    key: *mut bw_slice,
    value: *mut bw_slice,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let (key, value) =
                (target(key, "a place for the key")?, target(value, "a place for the value")?);
            let Some(entry) = held(cursor, "a cursor")?.cursor.entry() else {
                return Ok(bw_status::None);
            };
            (*key, *value) = (bw_slice::of(entry.0), bw_slice::of(entry.1));
            Ok(bw_status::Ok)
        })
    }
}

/// Frees a cursor. Null is allowed.
///
/// # Safety
/// As for all functions. The cursor is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_cursor_free(cursor: *mut bw_cursor) {
    // SAFETY: the caller's promise; what a cursor drops is memory only.
    unsafe { free(cursor) };
}
