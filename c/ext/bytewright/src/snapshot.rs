//! A table as it was.

use std::mem::MaybeUninit;

use bytewright::table::{OrderedSnapshot, Selection, Snapshot};

use crate::buffer::{bw_buffer, bytes, given, handle, held};
use crate::error::{bw_error, bw_status, guard};
use crate::scan::{ALL, bw_range, bw_scan, selection_of};
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
#[unsafe(no_mangle)]
pub extern "C" fn bw_table_snapshot(
    table: Option<&bw_table>,
    out: Option<&mut MaybeUninit<*mut bw_snapshot>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let out = given(out, "a place for the snapshot")?;
        let table = held(table, "a table")?;
        let content = match table.ordered() {
            Ok(ordered) => Content::Ordered(ordered.ordered_snapshot()?),
            Err(_) => Content::Hashed(table.table().snapshot()?),
        };
        out.write(handle(bw_snapshot(content)));
        Ok(bw_status::Ok)
    })
}

/// Number of entries of a snapshot.
#[unsafe(no_mangle)]
pub extern "C" fn bw_snapshot_len(
    snapshot: Option<&bw_snapshot>,
    len: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    guard(error, || {
        let snapshot = given(snapshot, "a snapshot")?.snapshot();
        let count = snapshot.len()?;
        given(len, "a place for the length")?.write(count);
        Ok(bw_status::Ok)
    })
}

/// Copies the value of a key into `value`, as `bw_table_get` does.
///
/// # Safety
/// `key` is bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_snapshot_get(
    snapshot: Option<&bw_snapshot>,
    key: *const u8,
    key_len: usize,
    value: Option<&mut bw_buffer>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `key`.
    let key = unsafe { bytes(key, key_len) };
    guard(error, || {
        let snapshot = given(snapshot, "a snapshot")?.snapshot();
        let value = given(value, "a buffer")?;
        let is_found = snapshot.get_with(key?, &mut |bytes| value.fill(bytes))?;
        Ok(if is_found { bw_status::Ok } else { bw_status::None })
    })
}

/// Begins a scan over the entries of a snapshot, as `bw_table_scan` does.
///
/// # Safety
/// `range` is initialized, and its slices are bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_snapshot_scan(
    snapshot: Option<&bw_snapshot>,
    range: *const bw_range,
    out: Option<&mut MaybeUninit<*mut bw_scan>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `range`.
    let range = unsafe { selection_of(range) };
    guard(error, || {
        let out = given(out, "a place for the scan")?;
        let entries = match (&given(snapshot, "a snapshot")?.0, range) {
            (Content::Ordered(snapshot), range) => range?.unwrap_or(ALL).scan(&**snapshot)?,
            (Content::Hashed(snapshot), Ok(None)) => snapshot.scan()?,
            (Content::Hashed(_), _) => return Err(Selection::needs_order()),
        };
        out.write(bw_scan::handle_of(entries));
        Ok(bw_status::Ok)
    })
}

/// Frees a snapshot. Null is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_snapshot_free(snapshot: Option<Box<bw_snapshot>>) {
    drop(snapshot);
}
