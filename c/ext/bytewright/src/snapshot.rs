//! A table as it was.

use bytewright::table::{OrderedSnapshot, Selection, Snapshot};

use crate::buffer::{bw_buffer, bytes, free, handle, held, target};
use crate::error::{bw_error, bw_status, guard};
use crate::scan::{bw_range, bw_scan, selection_of};
use crate::table::bw_table;

/// A table as it was when this was taken, which later changes of the table do not change. One thread at a time may use it.
pub struct bw_snapshot(Content);

enum Content {
    Hashed(Box<dyn Snapshot>),
    Ordered(Box<dyn OrderedSnapshot>),
}

impl bw_snapshot {
    fn snapshot(&self) -> &dyn Snapshot {
        match &self.0 {
            Content::Hashed(snapshot) => &**snapshot,
            Content::Ordered(snapshot) => &**snapshot,
        }
    }
}

/// Takes a snapshot of a table; its cost does not depend on the table's size. Free it with `bw_snapshot_free`.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_snapshot(
    table: *const bw_table,
    out: *mut *mut bw_snapshot,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let out = target(out, "a place for the snapshot")?;
            let table = held(table, "a table")?;
            let content = match table.ordered() {
                Ok(ordered) => Content::Ordered(ordered.ordered_snapshot()?),
                Err(_) => Content::Hashed(table.table().snapshot()?),
            };
            *out = handle(bw_snapshot(content));
            Ok(bw_status::Ok)
        })
    }
}

/// Number of entries of a snapshot.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_snapshot_len(
    snapshot: *const bw_snapshot,
    len: *mut u64,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let snapshot = held(snapshot, "a snapshot")?.snapshot();
            *target(len, "a place for the length")? = snapshot.len()?;
            Ok(bw_status::Ok)
        })
    }
}

/// Copies the value of a key into `value`, as `bw_table_get` does.
///
/// # Safety
/// `value` was initialized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_snapshot_get(
    snapshot: *const bw_snapshot,
    key: *const u8,
    key_len: usize,
    value: *mut bw_buffer,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let snapshot = held(snapshot, "a snapshot")?.snapshot();
            let value = target(value, "a buffer")?;
            let is_found =
                snapshot.get_with(bytes(key, key_len)?, &mut |bytes| value.fill(bytes))?;
            Ok(if is_found { bw_status::Ok } else { bw_status::None })
        })
    }
}

/// Begins a scan over the entries of a snapshot, as `bw_table_scan` does.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_snapshot_scan(
    snapshot: *const bw_snapshot,
    range: *const bw_range,
    out: *mut *mut bw_scan,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let out = target(out, "a place for the scan")?;
            let entries = match &held(snapshot, "a snapshot")?.0 {
                Content::Ordered(snapshot) => selection_of(range)?.scan(&**snapshot)?,
                Content::Hashed(snapshot) if range.is_null() => snapshot.scan()?,
                Content::Hashed(_) => return Err(Selection::needs_order()),
            };
            *out = bw_scan::handle_of(entries);
            Ok(bw_status::Ok)
        })
    }
}

/// Frees a snapshot. Null is allowed.
///
/// # Safety
/// As for all functions. The snapshot is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_snapshot_free(snapshot: *mut bw_snapshot) {
    // SAFETY: the caller's promise; what a snapshot drops is memory only.
    unsafe { free(snapshot) };
}
