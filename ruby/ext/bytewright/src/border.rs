//! Where Rust meets Ruby's C API without magnus: waiting without Ruby's lock, and the loop that
//! yields one packet after another. The only file of the gem that may use `unsafe`.
//!
//! Two rules hold everywhere below. A call that can raise leaves by `longjmp`, so no Rust value
//! that needs dropping is alive around one. No panic leaves an `extern "C"` function.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use magnus::rb_sys::{AsRawValue, FromRawValue, resume_error};
use magnus::{Error, RClass, RString, Ruby, Value};
use rb_sys::VALUE;

use crate::reading;

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

/// `reading.each_packet(cursor) { |cursor| }`: yields the cursor once per packet.
unsafe extern "C" fn each_packet(reading: VALUE, cursor: VALUE) -> VALUE {
    // SAFETY: Ruby passes live values, and the stack keeps them marked and in place.
    let (this, packet) = unsafe { (Value::from_raw(reading), Value::from_raw(cursor)) };
    loop {
        let count = or_raise(|ruby| reading::next_frames(ruby, this, packet));
        if count == 0 {
            return reading;
        }
        for index in 0..count {
            or_raise(|_| reading::point(packet, index));
            // SAFETY: the block may raise, throw or break: nothing above needs dropping.
            unsafe { rb_sys::rb_yield(cursor) };
        }
    }
}

/// Fields that one row may have; far above the number of fields there are.
pub(crate) const ROW_FIELDS_MAX: usize = 64;

/// `reading.each_row(cursor) { |array| }`: yields an Array of field values per packet.
unsafe extern "C" fn each_row(reading: VALUE, cursor: VALUE) -> VALUE {
    // SAFETY: as in `each_packet`.
    let (this, packet) = unsafe { (Value::from_raw(reading), Value::from_raw(cursor)) };
    loop {
        let count = or_raise(|ruby| reading::next_frames(ruby, this, packet));
        if count == 0 {
            return reading;
        }
        for index in 0..count {
            // Values on the stack are found and kept by the garbage collector.
            let mut row = [rb_sys::Qnil as VALUE; ROW_FIELDS_MAX];
            let fields = or_raise(|ruby| {
                reading::point(packet, index)?;
                let mut put = |at: usize, value: Value| {
                    if let Some(slot) = row.get_mut(at) {
                        *slot = value.as_raw();
                    }
                };
                reading::row(ruby, this, packet, &mut put)
            });
            // SAFETY: `fields` values were put at the start of `row`; making an Array and yielding
            // may raise, and nothing here needs dropping.
            unsafe {
                let array = rb_sys::rb_ary_new_from_values(fields as _, row.as_ptr());
                rb_sys::rb_yield(array);
            }
        }
    }
}

/// Defines the loops as private methods of `class`.
pub(crate) fn define_loops(class: RClass) {
    type Loop = unsafe extern "C" fn(VALUE, VALUE) -> VALUE;
    type Method = unsafe extern "C" fn() -> VALUE;
    for (name, function) in [(c"each_packet", each_packet as Loop), (c"each_row", each_row)] {
        // SAFETY: Ruby calls a method of arity 1 with self and one argument, which is what the
        // function takes; the type is erased because rb_define_method takes methods of any arity.
        unsafe {
            let function = std::mem::transmute::<Loop, Method>(function);
            rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(function), 1);
        }
    }
}
