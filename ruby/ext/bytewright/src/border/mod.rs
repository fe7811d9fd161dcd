//! Border between Rust and Ruby's C API, without magnus. The files of this folder are the only ones of the
//! gem that may use `unsafe`.
//!
//! Three rules hold in all of them. A call that can raise leaves by `longjmp`, so no Rust value that
//! needs dropping is alive around one. No panic leaves an `extern "C"` function. What Rust borrows of
//! a Ruby object is used only while nothing of Ruby's can run that changes it.
//!
//! No file here uses a class above it: a trait says what a hot method needs of its object, as in `packets.rs`.
#![allow(unsafe_code)]

mod conversion;
mod define;
mod lend;
pub(crate) mod lock;
mod packets;
mod readers;
mod scalars;
mod scans;
mod tables;
mod thrift;
mod writers;

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use bytewright::error::excerpt;
use magnus::rb_sys::{AsRawValue, FromRawValue, protect, resume_error};
use magnus::{Error, RString, Ruby, TypedData, Value, prelude::*};
use rb_sys::VALUE;

pub(crate) use conversion::{Conversion, ValueObjects, value_objects};
pub(crate) use lend::lend;
pub(crate) use lock::without_lock_until_signal;
pub(crate) use packets::{
    AddressCache, PacketObject, PacketSource, ROW_FIELDS_MAX, define_field_getters,
    define_packet_loops,
};
pub(crate) use readers::{
    LineRuleObject, Operation, ReaderObject, SearchObject, TemplateObject, define_reader_methods,
    with_descriptor,
};
pub(crate) use scalars::{is_immediate, is_string, key_of, object_of, with_scalar};
pub(crate) use scans::{EntrySource, define_scan_loops};
pub(crate) use tables::{
    SharedTable, define_allocators, define_table_methods, encoding_index, encoding_object,
    pack_strings, string_of,
};
pub(crate) use thrift::{Codec, define_codec, layout_named, uuid_text, with_bytes};
pub(crate) use writers::{WriterObject, define_writer_methods};

/// Tells Ruby that nothing here is shared between Ractors.
pub(crate) fn declare_ractor_safe() {
    // SAFETY: called while the extension is loaded; it only sets a flag of the loading library.
    unsafe { rb_sys::rb_ext_ractor_safe(true) }
}

/// Tells the garbage collector of memory that it does not see, or that is gone again.
pub(crate) fn adjust_memory_usage(bytes: isize) {
    // SAFETY: it only adds to a counter, and may be called while objects are freed.
    unsafe { rb_sys::rb_gc_adjust_memory_usage(bytes as _) }
}

/// A copy of a String's bytes.
pub(crate) fn bytes_of(string: RString) -> Vec<u8> {
    // SAFETY: the bytes are copied before anything can run that changes or frees the String.
    unsafe { string.as_slice() }.to_vec()
}

/// Result of `inspect` of an object, in an encoding that errors can be in. magnus's own method drops what is raised meanwhile,
/// also an interrupt.
pub(crate) fn inspected(object: Value) -> Result<RString, Error> {
    // SAFETY: what it raises goes from C to C up to `protect`. It returns a String, whatever `inspect` does.
    let text = protect(|| unsafe { rb_sys::rb_inspect(object.as_raw()) })?;
    // SAFETY: it is that String.
    RString::try_convert(unsafe { Value::from_raw(text) })
}

/// The name of an object's class. No method of Ruby's is called for it, in which an interrupt could come.
pub(crate) fn class_name(object: Value) -> String {
    // SAFETY: the name is copied before anything can run that frees it.
    let name = unsafe { object.classname() }.into_owned();
    excerpt(&name).into_owned()
}

/// The path in a String, whatever its encoding: paths are bytes. An ArgumentError as Ruby's own where one of them
/// is zero, at which the system would cut it.
pub(crate) fn path_of(path: RString) -> Result<PathBuf, Error> {
    let bytes = bytes_of(path);
    if bytes.contains(&0) {
        let message = "string contains null byte";
        return Err(Error::new(Ruby::get_with(path).exception_arg_error(), message));
    }
    Ok(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// Raises `error`. Nothing that needs dropping may be alive in the caller.
fn raise(error: Error) -> ! {
    // SAFETY: called only from the functions below, directly under Ruby, with no live Rust values.
    unsafe { resume_error(error) }
}

/// Runs `body`, which may not raise, on behalf of an `extern "C"` function.
fn or_raise<T: Copy>(body: impl FnOnce(&Ruby) -> Result<T, Error>) -> T {
    // SAFETY: Ruby called the `extern "C"` function that calls this.
    let ruby = unsafe { Ruby::get_unchecked() };
    match crate::error::guarded(&ruby, || body(&ruby)) {
        Ok(value) => value,
        Err(error) => raise(error),
    }
}

/// The Rust value inside a Ruby object, which a TypeError is raised for where it is another's.
///
/// # Safety
/// The object must stay alive, on the stack or marked, for as long as the reference is used.
#[inline]
unsafe fn inside<'a, T: TypedData>(object: VALUE) -> &'a T {
    // SAFETY: `DataType` is a transparent wrapper around `rb_data_type_t`, and Ruby returns the
    // pointer that the object was made with, a `T` on the heap that no compaction moves. What is of this
    // very type, as nearly all is, takes no call to tell.
    unsafe {
        let data_type: *const rb_sys::rb_data_type_t = std::ptr::from_ref(T::data_type()).cast();
        let is_of_type = rb_sys::RB_TYPE_P(object, rb_sys::ruby_value_type::RUBY_T_DATA)
            && rb_sys::RTYPEDDATA_P(object)
            && rb_sys::RTYPEDDATA_TYPE(object) == data_type;
        match is_of_type {
            true => &*rb_sys::RTYPEDDATA_GET_DATA(object).cast::<T>(),
            false => &*rb_sys::rb_check_typeddata(object, data_type).cast::<T>(),
        }
    }
}

/// A method of any arity, which is how Ruby takes them.
type AnyMethod = unsafe extern "C" fn() -> VALUE;
