//! Functions of DuckDB's C interface for extensions. DuckDB hands over their addresses as the struct `duckdb_ext_api_v1`, whose
//! order never changes from version 1.2.0 on: later versions have more of them behind.

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// An object of DuckDB's.
pub(super) type Handle = *mut c_void;
/// Text that ends with a zero byte.
type Text = *const c_char;
/// Data of the extension that DuckDB keeps.
type Data = *mut c_void;
type Free = Option<unsafe extern "C" fn(Data)>;

/// The version of the interface, which DuckDB 1.2 and all later ones have.
pub(super) const VERSION: &CStr = c"v1.2.0";

/// Functions of the struct up to the last that is used here.
const COUNT: usize = 277;

static FUNCTIONS: [AtomicPtr<c_void>; COUNT] = [const { AtomicPtr::new(null_mut()) }; COUNT];

/// Keeps the addresses of the functions. Returns false where another DuckDB in the process has loaded the extension, of which there
/// is one copy.
///
/// # Safety
/// `api` points to the struct of version 1.2.0 or later.
pub(super) unsafe fn keep(api: *const *mut c_void) -> bool {
    // SAFETY: the caller's promise; the struct has more functions than these.
    let found = unsafe { std::slice::from_raw_parts(api, COUNT) };
    FUNCTIONS.iter().zip(found).all(|(kept, found)| {
        let known = kept.compare_exchange(null_mut(), *found, Relaxed, Relaxed);
        known.map_or_else(|known| known == *found, |_| true)
    })
}

/// Declares functions of the struct. Each line is a type, and behind it the place in the struct and the name, without `duckdb_`, of
/// each function of that type. A name becomes a function that returns DuckDB's.
macro_rules! functions {
    ($($arguments:tt -> $result:ty { $($place:literal $name:ident),* })*) => { $($(
        /// # Safety
        /// DuckDB has loaded the extension. What is returned is called as its header `duckdb.h` says.
        #[inline]
        pub(super) unsafe fn $name() -> unsafe extern "C" fn $arguments -> $result {
            // SAFETY: `keep` has put the function that stands at this place of the struct there, which has this type.
            unsafe { transmute::<*mut c_void, _>(FUNCTIONS[$place].load(Relaxed)) }
        }
    )*)* };
}

functions! {
    () -> Handle { 242 create_table_function }
    () -> u64 { 26 vector_size }
    (Data) -> () { 25 free }
    (*mut Handle) -> () { 6 disconnect, 92 destroy_value, 184 destroy_logical_type, 243 destroy_table_function }
    (Handle) -> () { 196 vector_ensure_validity_writable }
    (Handle) -> bool { 149 is_null_value }
    (Handle) -> u32 { 166 get_type_id }
    (Handle) -> u64 { 151 get_list_size, 265 init_get_column_count }
    (Handle) -> *mut u64 { 195 vector_get_validity }
    (Handle) -> *mut c_char { 142 get_varchar }
    (Handle) -> Handle { 136 get_value_type, 159 create_list_type, 199 list_vector_get_child }
    (Handle) -> Data { 194 vector_get_data, 254 bind_get_extra_info, 263 init_get_bind_data, 271 function_get_init_data }
    (Handle, bool) -> () { 252 table_function_supports_projection_pushdown }
    (Handle, u64) -> () { 192 data_chunk_set_size }
    (Handle, u64) -> u32 { 201 list_vector_set_size, 202 list_vector_reserve }
    (Handle, u64) -> u64 { 266 init_get_column_index }
    (Handle, u64) -> Handle { 152 get_list_child, 190 data_chunk_get_vector, 203 struct_vector_get_child, 257 bind_get_parameter }
    (Handle, u64, Text, u64) -> () { 198 vector_assign_string_element_len }
    (Handle, Handle) -> () { 245 table_function_add_parameter, 276 replacement_scan_add_parameter }
    (Handle, Handle) -> u32 { 253 register_table_function }
    (Handle, Handle) -> Handle { 161 create_map_type }
    (Handle, *mut Handle) -> u32 { 3 connect }
    (Handle, Text) -> () { 244 table_function_set_name, 261 bind_set_error, 268 init_set_error, 273 function_set_error, 275 replacement_scan_set_function_name }
    (Handle, Text) -> Handle { 258 bind_get_named_parameter }
    (Handle, Text, Handle) -> () { 246 table_function_add_named_parameter, 255 bind_add_result_column }
    (Handle, Data, Free) -> () { 247 table_function_set_extra_info, 259 bind_set_bind_data, 264 init_set_init_data }
    (Handle, unsafe extern "C" fn(Handle)) -> () { 248 table_function_set_bind, 249 table_function_set_init }
    (Handle, unsafe extern "C" fn(Handle, Handle)) -> () { 251 table_function_set_function }
    (Handle, unsafe extern "C" fn(Handle, Text, Data), Data, Free) -> () { 274 add_replacement_scan }
    (*mut Handle, *mut Text, u64) -> Handle { 163 create_struct_type }
    (Text) -> Handle { 93 create_varchar }
    (u32) -> Handle { 156 create_logical_type }
}
