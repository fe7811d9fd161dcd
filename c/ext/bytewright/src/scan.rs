//! Entries one after another.

use bytewright::Result;
use bytewright::table::{KeyRange, Scan, Selection};

use crate::buffer::{bw_slice, free, handle, held, target};
use crate::error::{bw_error, bw_status, guard};
use crate::table::bw_table;

/// Which entries, and in which order. Initialize it with `BW_RANGE_INIT`, which selects all of them, and change what you
/// need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_range {
    /// The lowest key.
    pub first: bw_slice,
    /// The highest key.
    pub last: bw_slice,
    /// What all keys begin with.
    pub prefix: bw_slice,
    /// Whether `first` applies.
    pub has_first: bool,
    /// Whether `last` applies.
    pub has_last: bool,
    /// Whether `last` is itself left out.
    pub excludes_last: bool,
    /// Whether the highest key comes first.
    pub reverse: bool,
    /// How many entries at most; 0 for all.
    pub limit: u64,
}

impl bw_range {
    /// # Safety
    /// The slices are as for all functions.
    unsafe fn selection(&self) -> Result<Selection> {
        // SAFETY: the caller's promise.
        let (first, last, prefix) =
            unsafe { (self.first.bytes()?, self.last.bytes()?, self.prefix.bytes()?) };
        let mut range = match prefix.is_empty() {
            true => KeyRange::ALL,
            false => KeyRange::prefix(prefix),
        };
        if self.has_first {
            range = range.starting_at(first);
        }
        if self.has_last {
            range = match self.excludes_last {
                true => range.ending_before(last),
                false => range.ending_with(last),
            };
        }
        range.reverse = self.reverse;
        Ok(Selection { range, limit: (self.limit > 0).then_some(self.limit) })
    }
}

/// Entries of a table as it was when the scan began. One thread at a time may use it.
pub struct bw_scan {
    entries: Box<dyn Scan>,
}

/// Begins a scan over the entries of a table: of a hashed one in the order of their last write, of an ordered one in that
/// of their keys. `range` may be null for all entries, and must be for a hashed table. Free it with `bw_scan_free`.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_scan(
    table: *const bw_table,
    range: *const bw_range,
    out: *mut *mut bw_scan,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let out = target(out, "a place for the scan")?;
            let table = held(table, "a table")?;
            let entries = match range.is_null() {
                true => table.table().snapshot()?.scan()?,
                false => selection_of(range)?.scan(&*table.ordered()?.ordered_snapshot()?)?,
            };
            *out = bw_scan::handle_of(entries);
            Ok(bw_status::Ok)
        })
    }
}

impl bw_scan {
    pub(crate) fn handle_of(entries: Box<dyn Scan>) -> *mut bw_scan {
        handle(bw_scan { entries })
    }
}

/// # Safety
/// `range` is null or points to a range whose slices are as for all functions.
pub(crate) unsafe fn selection_of(range: *const bw_range) -> Result<Selection> {
    // SAFETY: the caller's promise.
    match unsafe { range.as_ref() } {
        // SAFETY: the same.
        Some(range) => unsafe { range.selection() },
        None => Ok(Selection { range: KeyRange::ALL, limit: None }),
    }
}

/// Moves to the next entry; `BW_STATUS_NONE` after the last. Key and value are there until the next call with this scan.
///
/// # Safety
/// As for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_scan_next(
    scan: *mut bw_scan,
    key: *mut bw_slice,
    value: *mut bw_slice,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        guard(error, || {
            let (key, value) =
                (target(key, "a place for the key")?, target(value, "a place for the value")?);
            let Some(entry) = target(scan, "a scan")?.entries.advance()? else {
                return Ok(bw_status::None);
            };
            (*key, *value) = (bw_slice::of(entry.0), bw_slice::of(entry.1));
            Ok(bw_status::Ok)
        })
    }
}

/// Frees a scan. Null is allowed.
///
/// # Safety
/// As for all functions. The scan is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_scan_free(scan: *mut bw_scan) {
    // SAFETY: the caller's promise; what a scan drops is memory only.
    unsafe { free(scan) };
}
