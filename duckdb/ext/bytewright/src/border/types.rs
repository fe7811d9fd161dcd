//! Types of columns, and values that a query gives.

use std::ffi::{CStr, CString, c_char};

use bytewright::batch::{DataType, Field};

use super::api::{self, Handle};

/// Numbers of DuckDB's types.
pub(super) const ANY: u32 = 34;
const BOOLEAN: u32 = 1;
const LIST: u32 = 24;

/// Text for DuckDB, which ends with a zero byte.
pub(super) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default()
}

/// The type of the column of a field, as it leaves the core for other programs; `destroy_logical_type` frees it.
///
/// # Safety
/// DuckDB has loaded the extension.
pub(super) unsafe fn type_of(field: &Field) -> Handle {
    let parts = match (field.data_type(), field.children()) {
        (DataType::Map, [entry]) => entry.children(),
        (_, children) => children,
    };
    let names: Vec<CString> = parts.iter().map(|part| c_text(part.name())).collect();
    let mut names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    // SAFETY: the caller's promise. The types of the parts and their names are copied.
    unsafe {
        let mut types: Vec<Handle> = parts.iter().map(|part| type_of(part)).collect();
        let count = types.len() as u64;
        let made = match (field.data_type(), types.as_mut_slice()) {
            (DataType::List, [element]) => api::create_list_type()(*element),
            (DataType::Map, [key, value]) => api::create_map_type()(*key, *value),
            (DataType::Struct, types @ [_, ..]) => {
                api::create_struct_type()(types.as_mut_ptr(), names.as_mut_ptr(), count)
            }
            (data_type, _) => api::create_logical_type()(number(data_type)),
        };
        types.iter_mut().for_each(|part| api::destroy_logical_type()(part));
        made
    }
}

/// The number of the type that keeps values as such a column does.
fn number(data_type: DataType) -> u32 {
    match data_type {
        // DuckDB has no struct without fields: it is true where there is one.
        DataType::Bool | DataType::Struct => BOOLEAN,
        DataType::I8 => 2,
        DataType::I16 => 3,
        DataType::I32 => 4,
        DataType::I64 => 5,
        DataType::U8 | DataType::Enumeration(_) => 6,
        DataType::U16 | DataType::TcpFlags => 7,
        DataType::U32 => 8,
        DataType::U64 => 9,
        DataType::Double => 11,
        // An interval, which has microseconds.
        DataType::DurationUs => 15,
        DataType::Bytes => 18,
        // A time in nanoseconds; one with a zone would lose them.
        DataType::TimeNs => 22,
        DataType::Uuid => 27,
        _ => 17,
    }
}

/// The texts that a value or the values of a list mean, none for null. It is freed.
///
/// # Safety
/// `value` is null or a value, which is not used again.
pub(super) unsafe fn texts_of(mut value: Handle) -> Vec<String> {
    let mut texts = Vec::new();
    // SAFETY: the caller's promise. What DuckDB makes of the value is freed here, but for the type, which is the value's.
    unsafe {
        let is_given = !value.is_null() && !api::is_null_value()(value);
        if is_given && api::get_type_id()(api::get_value_type()(value)) == LIST {
            for place in 0..api::get_list_size()(value) {
                texts.extend(texts_of(api::get_list_child()(value, place)));
            }
        } else if is_given {
            let text = api::get_varchar()(value);
            texts.push(CStr::from_ptr(text).to_string_lossy().into_owned());
            api::free()(text.cast());
        }
        api::destroy_value()(&mut value);
    }
    texts
}
