//! Many entries in one call.

use std::ffi::c_void;

use bytewright::Result;

use crate::buffer::{bw_found, bw_slice, held};
use crate::error::{bw_error, bw_status, guard, is_null};
use crate::in_use::InUse;
use crate::table::{bw_table, change, done};

/// Shows the value of each of `count` keys, in their order, to `show` with the place of the key and a null value where
/// there is none. Takes less time than a `bw_table_get` for each.
///
/// # Safety
/// `keys` points to `count` slices; `show` keeps the promises of `bw_found`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_get_many(
    table: *const bw_table,
    keys: *const bw_slice,
    count: usize,
    show: bw_found,
    context: *mut c_void,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers and the function.
    unsafe {
        guard(error, || {
            let handle = table;
            let table = held(table, "a table")?.table();
            let show = show.ok_or_else(|| is_null("a function that takes the values"))?;
            let keys = slices(keys, count)?;
            let _in_use = InUse::mark_shared(handle);
            table.get_many(&keys, &mut |place, value| match value {
                Some(value) => show(context, place, &bw_slice::of(value)),
                None => show(context, place, std::ptr::null()),
            })?;
            Ok(bw_status::Ok)
        })
    }
}

/// # Safety
/// `slices` points to `count` slices that stay while the answer is used.
unsafe fn slices<'a>(slices: *const bw_slice, count: usize) -> Result<Vec<&'a [u8]>> {
    if slices.is_null() && count > 0 {
        return Err(is_null("slices"));
    }
    // SAFETY: the caller's promise.
    (0..count).map(|place| unsafe { (*slices.add(place)).bytes() }).collect()
}

/// Sets the values of `count` keys, all of them or, on an error, none.
///
/// # Safety
/// `keys` and `values` point to `count` slices each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_put_many(
    table: *mut bw_table,
    keys: *const bw_slice,
    values: *const bw_slice,
    count: usize,
    error: *mut bw_error,
) -> bw_status {
    // SAFETY: the caller's promises about the pointers.
    unsafe {
        change(table, error, |table| {
            let (keys, values) = (slices(keys, count)?, slices(values, count)?);
            table.put_all(&mut Pairs { keys, values, place: 0 }).map(done)
        })
    }
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
