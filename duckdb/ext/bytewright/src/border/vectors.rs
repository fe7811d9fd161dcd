//! Columns of the core, copied to vectors of DuckDB's.

use std::ops::Range;

use bytewright::batch::{Column, DataType};

use super::api::{self, Handle};

/// Copies rows of a column to the beginning of a vector, whose rows are all valid so far.
///
/// # Safety
/// `vector` has the type that [`type_of`](super::types::type_of) makes of the column's field, and room for the rows.
pub(super) unsafe fn fill(vector: Handle, column: &Column, rows: Range<usize>) {
    let bytes = |row: usize| column.bytes(row);
    let bit = |row: usize| column.values().get(row / 8).map_or(0, |bits| bits >> (row % 8) & 1);
    let byte_on = |number: u128, byte: &u8| number << 8 | u128::from(*byte);
    let number = |row: usize| bytes(row).iter().rev().fold(0, byte_on);
    // SAFETY: the caller's promise. A mask has a bit for each row that there is room for.
    unsafe {
        let data = api::vector_get_data()(vector);
        if column.null_count() > 0 {
            api::vector_ensure_validity_writable()(vector);
            let mask = api::vector_get_validity()(vector);
            for (at, _) in (0..).zip(rows.clone()).filter(|(_, row)| !column.is_valid(*row)) {
                *mask.add(at / 64) &= !(1 << (at % 64));
            }
        }
        match column.data_type() {
            DataType::List | DataType::Map => fill_lists(vector, column, rows),
            DataType::Struct if !column.children().is_empty() => {
                for (place, child) in (0..).zip(column.children()) {
                    fill(api::struct_vector_get_child()(vector, place), child, rows.clone());
                }
            }
            DataType::Struct => fill_each(data, rows, |_| 1_u8),
            DataType::Bool => fill_each(data, rows, bit),
            // As a number, the highest bit turned so that numbers have the order of the text.
            DataType::Uuid => fill_each(data, rows, |row| number(row).swap_bytes() ^ 1 << 127),
            // No months, no days, and the microseconds, for which the core has seen that 63 bits are enough.
            DataType::DurationUs => fill_each(data, rows, |row| number(row) << 64),
            DataType::Text | DataType::Json | DataType::Bytes => {
                let assign = api::vector_assign_string_element_len();
                for (at, row) in (0..).zip(rows) {
                    assign(vector, at, bytes(row).as_ptr().cast(), bytes(row).len() as u64);
                }
            }
            other => {
                let width = other.width().unwrap_or_default();
                let values = column.values().get(rows.start * width..rows.end * width);
                let values = values.unwrap_or_default();
                std::ptr::copy_nonoverlapping(values.as_ptr(), data.cast(), values.len());
            }
        }
    }
}

/// # Safety
/// `data` has room for a `T` for each row.
unsafe fn fill_each<T>(data: Handle, rows: Range<usize>, value: impl Fn(usize) -> T) {
    for (at, row) in rows.enumerate() {
        // SAFETY: the caller's promise.
        unsafe { data.cast::<T>().add(at).write_unaligned(value(row)) }
    }
}

/// Lists, and maps, which are lists of structs of a key and a value.
///
/// # Safety
/// As [`fill`].
unsafe fn fill_lists(vector: Handle, column: &Column, rows: Range<usize>) {
    let offset = |row: usize| column.list_offsets().get(row).map_or(0, |offset| *offset as usize);
    let elements = offset(rows.start)..offset(rows.end);
    let place =
        |row| [offset(row) - elements.start, offset(row + 1) - offset(row)].map(|n| n as u64);
    // SAFETY: the caller's promise. An element has room once it is reserved.
    unsafe {
        api::list_vector_reserve()(vector, elements.len() as u64);
        api::list_vector_set_size()(vector, elements.len() as u64);
        fill_each(api::vector_get_data()(vector), rows, place);
        if let Some(child) = column.children().first() {
            fill(api::list_vector_get_child()(vector), child, elements.clone());
        }
    }
}
