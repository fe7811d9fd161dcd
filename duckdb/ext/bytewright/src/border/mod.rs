//! The way in and out: what DuckDB calls, and all of the face's `unsafe`. No panic leaves it.

#![allow(unsafe_code)]

mod api;
mod types;
mod vectors;

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use bytewright::host::guard;
use bytewright::options::Settings;
use bytewright::{Error, ErrorKind, Result, panics};

use crate::functions::TableFunction;
use crate::reading::{BoundCall, Reading};
use api::Handle;
use types::{ANY, c_text, texts_of, type_of};

/// Calls that DuckDB lends while it loads an extension (`duckdb_extension_access`).
#[repr(C)]
struct Access {
    set_error: unsafe extern "C" fn(info: Handle, text: *const c_char),
    get_database: unsafe extern "C" fn(info: Handle) -> *mut Handle,
    get_api: unsafe extern "C" fn(info: Handle, version: *const c_char) -> *const *mut c_void,
}

/// Adds the table functions to a database, for `LOAD`.
///
/// # Safety
/// DuckDB calls it, with what it hands to each extension of the type `C_STRUCT`.
#[unsafe(no_mangle)]
unsafe extern "C" fn bytewright_init_c_api(info: Handle, access: &Access) -> bool {
    panics::catch_all();
    // SAFETY: the caller's promise. Where DuckDB has no such version, the answer is null.
    let work = || unsafe {
        let functions = (access.get_api)(info, api::VERSION.as_ptr());
        let database = (access.get_database)(info);
        if functions.is_null() || database.is_null() || !api::keep(functions) {
            let message = "expected one DuckDB in the process, 1.2 or later, found another";
            return Err(Error::new(ErrorKind::Argument, message));
        }
        add_functions(*database)
    };
    // SAFETY: the caller's promise.
    unsafe { guarded(info, access.set_error, work) }
}

/// # Safety
/// `database` is one.
unsafe fn add_functions(database: Handle) -> Result<()> {
    let mut connection = null_mut();
    // SAFETY: the caller's promise. Names and types are copied.
    unsafe {
        let mut is_added = api::connect()(database, &mut connection) == 0;
        // Any type: the core reads settings from text, which any value has.
        let mut any = api::create_logical_type()(ANY);
        for function in TableFunction::all() {
            let mut table = api::create_table_function()();
            api::table_function_set_name()(table, c_text(&function.name()).as_ptr());
            api::table_function_add_parameter()(table, any);
            for option in function.tables().iter().copied().flatten() {
                api::table_function_add_named_parameter()(table, c_text(option.name).as_ptr(), any);
            }
            let info = kept(function);
            api::table_function_set_extra_info()(table, info, Some(free::<TableFunction>));
            api::table_function_set_bind()(table, bind);
            api::table_function_set_init()(table, init);
            api::table_function_set_function()(table, run);
            api::table_function_supports_projection_pushdown()(table, true);
            is_added &= api::register_table_function()(connection, table) == 0;
            api::destroy_table_function()(&mut table);
        }
        api::destroy_logical_type()(&mut any);
        api::disconnect()(&mut connection);
        api::add_replacement_scan()(database, replace, null_mut(), None);
        is_added.then_some(()).ok_or_else(|| Error::internal("a function that has no place"))
    }
}

/// Frees a `T` that DuckDB kept.
unsafe extern "C" fn free<T>(data: *mut c_void) {
    // SAFETY: it was made by [`kept`], and DuckDB frees it once.
    drop(panics::catch(|| drop(unsafe { Box::from_raw(data.cast::<T>()) })));
}

/// A value for DuckDB to keep, until it calls [`free`].
fn kept<T>(value: T) -> *mut c_void {
    Box::into_raw(Box::new(value)).cast()
}

/// Does the work of a call of DuckDB's, and tells it the error by `set_error`. Returns false where there was one.
///
/// # Safety
/// `info` is what DuckDB passed, and of the kind that `set_error` takes.
unsafe fn guarded(
    info: Handle,
    set_error: unsafe extern "C" fn(Handle, *const c_char),
    work: impl FnOnce() -> Result<()>,
) -> bool {
    let done = guard(work);
    if let Err(error) = &done {
        // SAFETY: the caller's promise. The text is copied.
        unsafe { set_error(info, c_text(&error.to_string()).as_ptr()) }
    }
    done.is_ok()
}

/// Reads the arguments of a call in a query, and tells its columns.
unsafe extern "C" fn bind(info: Handle) {
    // SAFETY: DuckDB passes what it binds, with what `add_functions` has set. It copies what it is told.
    let work = || unsafe {
        let function = *api::bind_get_extra_info()(info).cast::<TableFunction>();
        let mut settings = Settings::of(function.tables());
        for option in function.tables().iter().copied().flatten() {
            let name = c_text(option.name);
            for text in texts_of(api::bind_get_named_parameter()(info, name.as_ptr())) {
                settings.give_text(option.name, &text)?;
            }
        }
        let paths = texts_of(api::bind_get_parameter()(info, 0));
        let bound = BoundCall::new(function.ask(&paths, &settings)?)?;
        for field in bound.schema.fields() {
            let mut column_type = type_of(field);
            api::bind_add_result_column()(info, c_text(field.name()).as_ptr(), column_type);
            api::destroy_logical_type()(&mut column_type);
        }
        api::bind_set_bind_data()(info, kept(bound), Some(free::<BoundCall>));
        Ok(())
    };
    // SAFETY: it is a bind.
    unsafe { guarded(info, api::bind_set_error(), work) };
}

/// Begins to read, for the columns that a query needs.
unsafe extern "C" fn init(info: Handle) {
    // SAFETY: DuckDB passes what it begins, with what `bind` has set.
    let work = || unsafe {
        let bound = &*api::init_get_bind_data()(info).cast::<BoundCall>();
        let columns = 0..api::init_get_column_count()(info);
        let reading = bound.begin(columns.map(|at| api::init_get_column_index()(info, at)))?;
        api::init_set_init_data()(info, kept(reading), Some(free::<Reading>));
        Ok(())
    };
    // SAFETY: it is an init.
    unsafe { guarded(info, api::init_set_error(), work) };
}

/// Fills a chunk with the next rows; one without rows is the end.
unsafe extern "C" fn run(info: Handle, chunk: Handle) {
    // SAFETY: DuckDB passes what `init` has set, from one thread unless that asks for more, and a chunk with room for a vector's rows.
    let work = || unsafe {
        let reading = &mut *api::function_get_init_data()(info).cast::<Reading>();
        let (columns, rows) = reading.next(api::vector_size()() as usize)?;
        for (at, column) in columns {
            vectors::fill(api::data_chunk_get_vector()(chunk, at), column, rows.clone());
        }
        api::data_chunk_set_size()(chunk, rows.len() as u64);
        Ok(())
    };
    // SAFETY: it is a function that runs.
    unsafe { guarded(info, api::function_set_error(), work) };
}

/// Reads a capture that stands in the place of a table: `FROM 'web.pcap.gz'`.
unsafe extern "C" fn replace(info: Handle, table: *const c_char, _data: *mut c_void) {
    // SAFETY: DuckDB passes the name, and copies what it is told.
    unsafe {
        let name = CStr::from_ptr(table).to_bytes().to_ascii_lowercase();
        let plain = name.strip_suffix(b".gz").or(name.strip_suffix(b".zst")).unwrap_or(&name);
        if plain.ends_with(b".pcap") || plain.ends_with(b".pcapng") {
            api::replacement_scan_set_function_name()(info, c"read_packets".as_ptr());
            let mut path = api::create_varchar()(table);
            api::replacement_scan_add_parameter()(info, path);
            api::destroy_value()(&mut path);
        }
    }
}
