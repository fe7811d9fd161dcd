//! Bytes as Strings: new ones, and such as are used again.

use std::ffi::c_int;
use std::hint::black_box;

use bytewright::host::DIRECT_MIN;
use magnus::rb_sys::protect;
use magnus::{Error, RClass};
use rb_sys::VALUE;

use super::fill::{FilledString, replace};
use super::{BINARY, NIL, ReaderObject, at_rest, length, operate, taken_string};
use crate::border::tables::{bytes, new_string, string};
use crate::border::{define, inside, or_raise};
use crate::error::end_of_file;

/// `reader.read`, `reader.read(length)`, `reader.read(length, string)`
unsafe extern "C" fn read(count: c_int, arguments: *const VALUE, object: VALUE) -> VALUE {
    // SAFETY: Ruby keeps the receiver and the arguments alive, and gives as many as it says.
    unsafe {
        if !(0..=2).contains(&count) {
            rb_sys::rb_error_arity(count, 0, 2);
        }
        let argument = |at: usize| if at < count as usize { *arguments.add(at) } else { NIL };
        let (given, into) = (argument(0), argument(1));
        if given == NIL {
            return read_rest(object, into);
        }
        let length = length(given);
        match into {
            NIL => read_new(object, length),
            into => read_to_string(object, string(into), length),
        }
    }
}

/// The next bytes as a new String; nil at the end.
///
/// # Safety
/// Ruby must keep `object` alive, and nothing that needs dropping may be.
#[inline]
unsafe fn read_new(object: VALUE, length: usize) -> VALUE {
    // SAFETY: as the caller promises; making a String moves nothing of what is buffered, and runs no
    // Ruby code.
    unsafe {
        let this: &ReaderObject = inside(object);
        if let Some(bytes) = at_rest(this).and_then(|bytes| bytes.get(..length)) {
            let string = new_string(bytes, BINARY);
            this.reader.consume(length);
            return string;
        }
        if length >= DIRECT_MIN {
            return read_to_string(object, rb_sys::rb_str_new(std::ptr::null(), 0), length);
        }
        slow_string(object, length, true)
    }
}

/// As many of the next bytes as a new String; nil at the end.
///
/// # Safety
/// As for [`read_new`].
unsafe fn slow_string(object: VALUE, length: usize, is_taken: bool) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        operate(object, |_, operation| match operation.want(length)? {
            0 if length > 0 => Ok(NIL),
            there => taken_string(operation, there, if is_taken { there } else { 0 }, BINARY),
        })
    }
}

/// `reader.readpartial(length)`, `reader.readpartial(length, string)`: what there is, and only where there
/// is nothing, what comes next.
unsafe extern "C" fn readpartial(count: c_int, arguments: *const VALUE, object: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        if !(1..=2).contains(&count) {
            rb_sys::rb_error_arity(count, 1, 2);
        }
        let length = length(*arguments);
        let into = if count == 2 { *arguments.add(1) } else { NIL };
        let into = if into == NIL { NIL } else { string(into) };
        let this: &ReaderObject = inside(object);
        let Some(bytes) = at_rest(this).filter(|bytes| length == 0 || !bytes.is_empty()) else {
            return readpartial_slow(object, length, into);
        };
        let there = bytes.get(..length).unwrap_or(bytes);
        let taken = match into {
            NIL => new_string(there, BINARY),
            into => {
                replace(into, there);
                into
            }
        };
        this.reader.consume(there.len());
        taken
    }
}

/// Waits for bytes, and takes what there is then. At the end it raises EOFError, and `into` is empty.
///
/// # Safety
/// As for [`read_new`]; `into` must be a String or nil.
#[cold]
unsafe fn readpartial_slow(object: VALUE, length: usize, into: VALUE) -> VALUE {
    // SAFETY: as the caller promises; what is raised while an operation goes on `protect` returns.
    unsafe {
        if into != NIL {
            rb_sys::rb_str_modify(into);
        }
        let taken = operate(object, |_, operation| {
            if length > 0 {
                operation.want(1)?;
            }
            let there = operation.with_stream(|stream| Ok(stream.buffered().len().min(length)))?;
            match into {
                NIL if there == 0 && length > 0 => Ok(NIL),
                NIL => taken_string(operation, there, there, BINARY),
                into => operation.take(there, there, |bytes| replace_protected(into, bytes)),
            }
        });
        if taken == NIL || length > 0 && into != NIL && bytes(into).is_empty() {
            or_raise::<()>(|ruby| Err(end_of_file(ruby, "end of file reached")));
        }
        black_box(into);
        taken
    }
}

/// `reader.read_into(string, length)`
unsafe extern "C" fn read_into(object: VALUE, into: VALUE, length_given: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe { read_to_string(object, string(into), length(length_given)) }
}

/// `reader.peek(length)`
unsafe extern "C" fn peek(object: VALUE, length_given: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let length = length(length_given);
        if let Some(bytes) = at_rest(inside(object)).and_then(|bytes| bytes.get(..length)) {
            return new_string(bytes, BINARY);
        }
        slow_string(object, length, false)
    }
}

/// Puts what is left into a String, a new one where none is given.
///
/// # Safety
/// As for [`read_new`].
unsafe fn read_rest(object: VALUE, into: VALUE) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        let string = match into {
            NIL => rb_sys::rb_str_new(std::ptr::null(), 0),
            into => string(into),
        };
        read_to_string(object, string, usize::MAX);
        rb_sys::rb_enc_associate_index(string, inside::<ReaderObject>(object).encoding);
        string
    }
}

/// Puts the next bytes into a String in place of what it has; nil at the end.
///
/// # Safety
/// As for [`read_new`]; `string` must be one.
unsafe fn read_to_string(object: VALUE, string: VALUE, length: usize) -> VALUE {
    // SAFETY: as the caller promises. Nothing that needs dropping is alive where this raises.
    unsafe {
        let this: &ReaderObject = inside(object);
        let buffered = at_rest(this);
        if length < DIRECT_MIN
            && let Some(bytes) = buffered.and_then(|bytes| bytes.get(..length))
        {
            replace(string, bytes);
            this.reader.consume(length);
            return string;
        }
        rb_sys::rb_str_modify(string);
        let is_empty = length >= DIRECT_MIN && buffered.is_some();
        if is_empty {
            rb_sys::rb_str_set_len(string, 0);
        }
        let count = operate(object, |_, operation| {
            if length < DIRECT_MIN {
                let there = operation.want(length)?;
                operation.take(there, there, |bytes| replace_protected(string, bytes))?;
                return Ok(there);
            }
            let mut filled = FilledString::new(string);
            if !is_empty {
                // Others may have used it, and copied it, while this one waited for its turn.
                filled.empty()?;
            }
            operation.fill(&mut filled, length)
        });
        black_box(string);
        if count == 0 && length > 0 && length != usize::MAX { NIL } else { string }
    }
}

/// Gives a String other bytes while an operation goes on; answers the String.
///
/// # Safety
/// Ruby must keep `string` alive, which must be one.
unsafe fn replace_protected(string: VALUE, bytes: &[u8]) -> Result<VALUE, Error> {
    // SAFETY: as the caller promises; what this raises `protect` returns.
    protect(|| unsafe {
        replace(string, bytes);
        string
    })
}

/// Defines the methods of this file.
pub(super) fn define_methods(class: RClass) {
    define::any(class, c"read", read);
    define::any(class, c"readpartial", readpartial);
    define::two(class, c"read_into", read_into);
    define::one(class, c"peek", peek);
}
