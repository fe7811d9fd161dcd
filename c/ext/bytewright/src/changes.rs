//! Changes of a hashed table in a file, one after another.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::ptr;

use bytewright::Error;
use bytewright::table::{Change, Changes};

use crate::buffer::{Place, bw_slice, given, handle, held};
use crate::error::{bw_error, bw_status, guard};
use crate::table::bw_table;
use crate::text::text_or_none;

/// Kind of a change.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum bw_change {
    /// All entries were deleted.
    Clear = 1,
    /// The value of a key was set.
    Put = 2,
    /// The entry of a key was deleted.
    Delete = 3,
}

/// Changes that were committed from a position on, up to the moment when these were asked for. One thread at a time may use
/// them.
pub struct bw_changes {
    changes: Box<dyn Changes>,
    position: CString,
}

/// Begins to go over the changes of a hashed table in a file that were committed behind `since`, a position that
/// `bw_changes_position` has given, up to now. They begin with `BW_CHANGE_CLEAR` and have all entries if `since` is null,
/// and if the log does not go back so far because the file was compacted or repaired. Whoever makes them to a copy of the
/// table as it was at `since` has the table as it is now. Free them with `bw_changes_free`.
///
/// # Safety
/// `since` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_changes_since(
    table: Option<&bw_table>,
    since: *const c_char,
    out: Option<&mut MaybeUninit<*mut bw_changes>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `since`.
    let since = unsafe { text_or_none(since, "a position") };
    guard(error, || {
        let out = given(out, "a place for the changes")?;
        let since = since?.map(str::parse).transpose()?;
        let changes = held(table, "a table")?.table().changes_since(since.as_ref())?;
        let position = CString::new(changes.position().to_string());
        let position = position.map_err(|_| Error::internal("a position with a zero byte"))?;
        out.write(handle(bw_changes { changes, position }));
        Ok(bw_status::Ok)
    })
}

/// Moves to the next change; `BW_STATUS_NONE` after the last. Key and value are there until the next call with these changes.
/// The key is empty if all entries were deleted, and the value is empty unless one was set.
///
/// # Safety
/// `kind`, `key` and `value` are places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_changes_next(
    changes: Option<&mut bw_changes>,
    kind: *mut bw_change,
    key: *mut bw_slice,
    value: *mut bw_slice,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `kind`, `key` and `value`.
    let (kind, key, value) = unsafe {
        (
            Place::at(kind, "a place for the kind of the change"),
            Place::at(key, "a place for the key"),
            Place::at(value, "a place for the value"),
        )
    };
    guard(error, || {
        let (kind, key, value) = (kind?, key?, value?);
        let Some(change) = given(changes, "changes")?.changes.advance()? else {
            return Ok(bw_status::None);
        };
        kind.write(match change {
            Change::Clear => bw_change::Clear,
            Change::Put { .. } => bw_change::Put,
            Change::Delete { .. } => bw_change::Delete,
        });
        key.write(bw_slice::of(change.key().unwrap_or_default()));
        value.write(bw_slice::of(change.value().unwrap_or_default()));
        Ok(bw_status::Ok)
    })
}

/// Returns the position behind the last of the changes, whatever of them was seen: text in ASCII, which is there until they
/// are freed. Null for null.
#[unsafe(no_mangle)]
pub extern "C" fn bw_changes_position(changes: Option<&bw_changes>) -> *const c_char {
    changes.map_or(ptr::null(), |changes| changes.position.as_ptr())
}

/// Frees changes. Null is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_changes_free(changes: Option<Box<bw_changes>>) {
    drop(changes);
}
