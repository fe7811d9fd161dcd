//! Transactions of a table.

use crate::buffer::held_mut;
use crate::error::{bw_error, bw_status};
use crate::table::{bw_table, change, done};

/// Begins a transaction, or a savepoint in one.
///
/// # Safety
/// `table` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_begin(
    table: *mut bw_table,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `table`.
    let table = unsafe { held_mut(table, "a table") };
    change(table, error, |table| table.begin().map(done))
}

/// Returns how many `bw_table_begin` are without their end: 0 outside of a transaction, and for null.
#[unsafe(no_mangle)]
pub extern "C" fn bw_table_depth(table: Option<&bw_table>) -> usize {
    table.map_or(0, |table| table.table().depth())
}

/// Ends what `bw_table_begin` began last, and keeps its changes.
///
/// # Safety
/// `table` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_commit(
    table: *mut bw_table,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `table`.
    let table = unsafe { held_mut(table, "a table") };
    change(table, error, |table| table.commit().map(done))
}

/// Ends what `bw_table_begin` began last, and takes its changes back.
///
/// # Safety
/// `table` is a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bw_table_abort(
    table: *mut bw_table,
    error: Option<&mut bw_error>,
) -> bw_status {
    // SAFETY: the caller's promise about `table`.
    let table = unsafe { held_mut(table, "a table") };
    change(table, error, |table| table.abort().map(done))
}
