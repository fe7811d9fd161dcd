//! Many entries in one call.

use std::ffi::c_void;

use bytewright::Result;

use crate::buffer::{bw_found, bw_slice, given, held, held_mut};
use crate::error::{bw_error, bw_status, guard_raw, is_null};
use crate::in_use::InUse;
use crate::table::{add, bw_table, done};

/// Shows the value of each of `count` keys, in their order, to `show` with the place of the key and a null value where
/// there is none. Takes less time than a `bw_table_get` for each.
///
/// # Safety
/// `keys` points to `count` slices, `error` is null or an error, and `show` keeps the promises of `bw_found`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_get_many(
    table: Option<&bw_table>,
    keys: *const bw_slice,
    count: usize,
    show: bw_found,
    context: *mut c_void,
    error: *mut bw_error,
) -> bw_status {
    let work = || {
        let table = held(table, "a table")?;
        let show = given(show, "a function that takes the values")?;
        // SAFETY: the caller's promise about `keys`.
        let keys = unsafe { slices(keys, count) }?;
        let _in_use = InUse::mark_shared(table);
        table.table().get_many(&keys, &mut |place, value| {
            let value = value.map(bw_slice::of);
            let shown = value.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            // SAFETY: the caller's promise about `show`.
            unsafe { show(context, place, shown) };
        })?;
        Ok(bw_status::Ok)
    };
    // SAFETY: the caller's promise about `error`.
    unsafe { guard_raw(error, work) }
}

/// # Safety
/// `slices` points to `count` slices that stay while the answer is used.
pub(crate) unsafe fn slices<'a>(slices: *const bw_slice, count: usize) -> Result<Vec<&'a [u8]>> {
    if slices.is_null() && count > 0 {
        return Err(is_null("slices"));
    }
    // SAFETY: the caller's promise.
    (0..count).map(|place| unsafe { (*slices.add(place)).bytes() }).collect()
}

/// Sets the values of `count` keys, all of them or, on an error, none.
///
/// # Safety
/// `table` is a handle, and `keys` and `values` point to `count` slices each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_put_many(
    table: *mut bw_table,
    keys: *const bw_slice,
    values: *const bw_slice,
    count: usize,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `table`.
    let table = unsafe { held_mut(table, "a table") };
    add(table, error, |table| {
        // SAFETY: the caller's promises about `keys` and `values`.
        let (keys, values) = unsafe { (slices(keys, count)?, slices(values, count)?) };
        table.table_mut().put_all(&mut Pairs { keys, values, place: 0 }).map(done)
    })
}

/// Entries that the caller has in two arrays.
struct Pairs<'a> {
    keys: Vec<&'a [u8]>,
    values: Vec<&'a [u8]>,
    place: usize,
}

impl bytewright::table::Scan for Pairs<'_> {
    fn advance(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        let entry = self.keys.get(self.place).zip(self.values.get(self.place));
        self.place += 1;
        Ok(entry.map(|(key, value)| (*key, *value)))
    }
}
