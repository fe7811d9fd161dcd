//! Where Rust meets Ruby's C API without magnus: waiting without Ruby's lock, and the loop that
//! yields one packet after another. The only file of the gem that may use `unsafe`.
//!
//! Two rules hold everywhere below. A call that can raise leaves by `longjmp`, so no Rust value
//! that needs dropping is alive around one. No panic leaves an `extern "C"` function.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::net::IpAddr;
use std::os::unix::ffi::OsStringExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use bytewright::packet::{Field, Value as FieldValue};
use magnus::rb_sys::{AsRawValue, resume_error};
use magnus::{Error, RClass, RString, Ruby, TypedData};
use rb_sys::VALUE;

use crate::address_texts::AddressTexts;
use crate::packet::PacketCursor;
use crate::reading::Reading;

/// What runs without the lock: the work, how to wake it, and its result.
struct Unlocked<'a, T> {
    work: &'a dyn Fn() -> T,
    wake: &'a dyn Fn(),
    result: Option<T>,
}

/// Runs `work` without Ruby's lock, so that other Ruby threads run meanwhile. `wake` is called from
/// another thread when this one is to be interrupted; it must make `work` return soon. The answer is
/// `None` when an interrupt was pending and `work` did not run, or panicked.
pub(crate) fn without_lock<T>(work: &dyn Fn() -> T, wake: &dyn Fn()) -> Option<T> {
    unsafe extern "C" fn run<T>(data: *mut c_void) -> *mut c_void {
        // SAFETY: `data` is the `Unlocked` below, which outlives the call and is used by nothing
        // else while `run` has it: `wake` only reads its own field.
        let unlocked = unsafe { &mut *data.cast::<Unlocked<'_, T>>() };
        unlocked.result = catch_unwind(AssertUnwindSafe(unlocked.work)).ok();
        std::ptr::null_mut()
    }
    unsafe extern "C" fn wake_up(data: *mut c_void) {
        // SAFETY: `data` points to the `&dyn Fn()` below, which outlives the call.
        let wake = unsafe { &*data.cast::<&dyn Fn()>() };
        // A panic here would abort the process; nothing can be told about it either.
        let _ = catch_unwind(AssertUnwindSafe(wake));
    }
    let mut unlocked = Unlocked { work, wake, result: None };
    let mut wake = unlocked.wake;
    // SAFETY: both functions have the C signatures that rb_nogvl wants and do not touch Ruby; their
    // data live in this frame until it returns. With INTR_FAIL it returns instead of raising, so no
    // frame of ours is jumped over.
    unsafe {
        rb_sys::rb_nogvl(
            Some(run::<T>),
            (&raw mut unlocked).cast(),
            Some(wake_up),
            (&raw mut wake).cast(),
            rb_sys::RB_NOGVL_INTR_FAIL as c_int,
        );
    }
    unlocked.result
}

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

/// The path in a String, whatever its encoding: paths are bytes.
pub(crate) fn path_of(path: RString) -> PathBuf {
    PathBuf::from(std::ffi::OsString::from_vec(bytes_of(path)))
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
    // pointer that the object was made with, a `T` on the heap that no compaction moves.
    unsafe {
        let data_type: *const rb_sys::rb_data_type_t = std::ptr::from_ref(T::data_type()).cast();
        &*rb_sys::rb_check_typeddata(object, data_type).cast::<T>()
    }
}

/// The value of `field` of the packet that `cursor` is at, as a Ruby object.
#[inline]
fn field_object(cursor: &PacketCursor, field: Field) -> VALUE {
    match cursor.field(field) {
        FieldValue::Null => rb_sys::Qnil as VALUE,
        // SAFETY: this makes an Integer; it cannot raise, and nothing here needs dropping.
        FieldValue::Unsigned(number) => unsafe { rb_sys::rb_ull2inum(number) },
        // SAFETY: as above.
        FieldValue::Signed(number) => unsafe { rb_sys::rb_ll2inum(number) },
        FieldValue::Address(address) => address_object(cursor, address),
    }
}

/// The text of an address, nearly always one that was made before.
#[inline]
fn address_object(cursor: &PacketCursor, address: IpAddr) -> VALUE {
    // SAFETY: Ruby called the `extern "C"` function that calls this; the cursor marks its cache.
    let (ruby, texts) = unsafe {
        let ruby = Ruby::get_unchecked();
        let texts = ruby.get_inner(cursor.texts());
        (ruby, inside::<AddressTexts>(texts.as_raw()))
    };
    match texts.find(address) {
        // SAFETY: reading an element of an Array cannot raise.
        Some(slot) => unsafe {
            rb_sys::rb_ary_entry(texts.texts(&ruby).as_raw(), slot as std::ffi::c_long)
        },
        None => or_raise(|ruby| texts.text(ruby, address)).as_raw(),
    }
}

/// The getter of the field with number `FIELD`.
unsafe extern "C" fn get<const FIELD: usize>(packet: VALUE) -> VALUE {
    // SAFETY: Ruby keeps the receiver of a method alive while it runs.
    let cursor: &PacketCursor = unsafe { inside(packet) };
    Field::ALL.get(FIELD).map_or(rb_sys::Qnil as VALUE, |field| field_object(cursor, *field))
}

/// `reading.each_packet(cursor) { |cursor| }`: yields the cursor once per packet.
unsafe extern "C" fn each_packet(reading: VALUE, packet: VALUE) -> VALUE {
    // SAFETY: both objects are on the stack until this returns.
    let (this, cursor): (&Reading, &PacketCursor) = unsafe { (inside(reading), inside(packet)) };
    loop {
        let count = or_raise(|ruby| this.next_frames(ruby, cursor));
        if count == 0 {
            return reading;
        }
        for index in 0..count {
            cursor.point(index);
            // SAFETY: the block may raise, throw or break: nothing above needs dropping.
            unsafe { rb_sys::rb_yield(packet) };
        }
    }
}

/// Fields that one row may have; far above the number of fields there are.
pub(crate) const ROW_FIELDS_MAX: usize = 64;

/// `reading.each_row(cursor) { |array| }`: yields an Array of field values per packet.
unsafe extern "C" fn each_row(reading: VALUE, packet: VALUE) -> VALUE {
    // SAFETY: both objects are on the stack until this returns.
    let (this, cursor): (&Reading, &PacketCursor) = unsafe { (inside(reading), inside(packet)) };
    loop {
        let count = or_raise(|ruby| this.next_frames(ruby, cursor));
        if count == 0 {
            return reading;
        }
        for index in 0..count {
            cursor.point(index);
            // Values on the stack are found and kept by the garbage collector.
            let mut row = [rb_sys::Qnil as VALUE; ROW_FIELDS_MAX];
            for (slot, field) in row.iter_mut().zip(this.fields()) {
                *slot = field_object(cursor, *field);
            }
            let len = this.fields().len().min(ROW_FIELDS_MAX);
            // SAFETY: the first `len` values of `row` are objects; making an Array and yielding may
            // raise, and nothing here needs dropping.
            unsafe {
                let array = rb_sys::rb_ary_new_from_values(len as _, row.as_ptr());
                rb_sys::rb_yield(array);
            }
        }
    }
}

type AnyMethod = unsafe extern "C" fn() -> VALUE;

/// Defines the loops as methods of `class`.
pub(crate) fn define_loops(class: RClass) {
    type Loop = unsafe extern "C" fn(VALUE, VALUE) -> VALUE;
    for (name, function) in [(c"each_packet", each_packet as Loop), (c"each_row", each_row)] {
        // SAFETY: Ruby calls a method of arity 1 with self and one argument, which is what the
        // function takes; the type is erased because rb_define_method takes methods of any arity.
        unsafe {
            let function = std::mem::transmute::<Loop, AnyMethod>(function);
            rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(function), 1);
        }
    }
}

/// Lists the getters: `get::<0>, get::<1>, ...`, one per field, checked against their number.
macro_rules! getters {
    ($($number:literal)*) => {
        /// A getter for each field, in the order of the fields.
        const GETTERS: [unsafe extern "C" fn(VALUE) -> VALUE; Field::ALL.len()] =
            [$(get::<$number>),*];
    };
}

getters! { 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 }

/// Defines a method for each field, of its name, that answers its value.
pub(crate) fn define_field_getters(class: RClass) {
    type Getter = unsafe extern "C" fn(VALUE) -> VALUE;
    for (field, getter) in Field::ALL.iter().zip(GETTERS) {
        let Ok(name) = std::ffi::CString::new(field.name()) else { continue };
        // SAFETY: Ruby calls a method of arity 0 with self alone, which is what the function takes,
        // and copies the name.
        unsafe {
            let getter = std::mem::transmute::<Getter, AnyMethod>(getter);
            rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(getter), 0);
        }
    }
}
