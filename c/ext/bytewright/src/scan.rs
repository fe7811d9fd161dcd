//! Entries one after another.

use std::mem::MaybeUninit;

use bytewright::Result;
use bytewright::table::{KeyRange, Scan, Selection};

use crate::buffer::{Place, bw_slice, given, handle, held, held_mut};
use crate::error::{bw_error, bw_status, guard};
use crate::sized_struct::{self, sized_struct};
use crate::table::bw_table;

/// All entries, in their order.
pub(crate) const ALL: Selection = Selection { range: KeyRange::ALL, limit: None };

/// Range of entries, and their order. Initialize it with `BW_RANGE_INIT`, which selects all of them, and change what
/// you need.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct bw_range {
    /// Bytes of the struct, which `BW_RANGE_INIT` sets.
    pub size: usize,
    /// The lowest key.
    pub first: bw_slice,
    /// The highest key.
    pub last: bw_slice,
    /// Prefix of all keys.
    pub prefix: bw_slice,
    /// True if `first` applies.
    pub has_first: bool,
    /// True if `last` applies.
    pub has_last: bool,
    /// True if `last` is itself left out.
    pub excludes_last: bool,
    /// True if the highest key comes first.
    pub reverse: bool,
    /// Maximum number of entries; 0 for all.
    pub limit: u64,
}

sized_struct!(
    bw_range { first, last, prefix, has_first, has_last, excludes_last, reverse, limit } + {}
);

impl bw_range {
    /// # Safety
    /// The slices are bytes.
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
/// `range` is initialized, and its slices are bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_scan(
    table: Option<&bw_table>,
    range: *const bw_range,
    out: Option<&mut MaybeUninit<*mut bw_scan>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `range`.
    let range = unsafe { selection_of(range) };
    guard(error, || {
        let out = given(out, "a place for the scan")?;
        let table = held(table, "a table")?;
        let entries = match range? {
            None => table.table().snapshot()?.scan()?,
            Some(range) => range.scan(&*table.ordered()?.ordered_snapshot()?)?,
        };
        out.write(bw_scan::handle_of(entries));
        Ok(bw_status::Ok)
    })
}

/// Removes the entries of a range of an ordered table, all of them or, on an error, none, and sets `count` to how many there
/// were. `range` may be null for all entries.
///
/// # Safety
/// `table` is a handle, `range` is initialized, and its slices are bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_delete_range(
    table: *mut bw_table,
    range: *const bw_range,
    count: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promises about `table` and `range`.
    let (table, range) = unsafe { (held_mut(table, "a table"), selection_of(range)) };
    guard(error, || {
        let count = given(count, "a place for the number of entries")?;
        let selection = range?.unwrap_or(ALL);
        let deleted = table?.in_turn(|table| table.content_mut().delete_range(&selection));
        count.write(deleted?);
        Ok(bw_status::Ok)
    })
}

impl bw_scan {
    pub(crate) fn handle_of(entries: Box<dyn Scan>) -> *mut bw_scan {
        handle(bw_scan { entries })
    }
}

/// # Safety
/// `range` is initialized, and its slices are bytes.
pub(crate) unsafe fn selection_of(range: *const bw_range) -> Result<Option<Selection>> {
    // SAFETY: the caller's promise.
    let range = unsafe { sized_struct::copied(range) }?;
    // SAFETY: the same.
    range.map(|range| unsafe { range.selection() }).transpose()
}

/// Moves to the next entry; `BW_STATUS_NONE` after the last. Key and value are there until the next call with this scan.
///
/// # Safety
/// `key` and `value` are places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_scan_next(
    scan: Option<&mut bw_scan>,
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
        let Some(entry) = given(scan, "a scan")?.entries.advance()? else {
            return Ok(bw_status::None);
        };
        key.write(bw_slice::of(entry.0));
        value.write(bw_slice::of(entry.1));
        Ok(bw_status::Ok)
    })
}

/// Frees a scan. Null is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_scan_free(scan: Option<Box<bw_scan>>) {
    drop(scan);
}
