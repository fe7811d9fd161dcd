//! The methods of a reader that programs call most: what is buffered costs a method call and nothing else.
//!
//! While one of these looks at what is buffered, nothing of Ruby's runs: Ruby's lock is kept, and who
//! works without it has taken the reader's turn. What is not buffered takes an [`Operation`].

mod fill;
mod lines;
mod records;
mod strings;
mod values;

use std::ffi::c_int;
use std::os::fd::BorrowedFd;

use bytewright::stream::ByteStream;
use magnus::rb_sys::{FromRawValue, protect};
use magnus::{Error, RClass, Value};
use rb_sys::VALUE;

use self::values::unsigned;
use super::tables::new_string;
use super::{inside, or_raise};
use crate::reader::{Operation, ReaderObject};

const NIL: VALUE = rb_sys::Qnil as VALUE;
/// The number of the encoding that bytes have.
const BINARY: c_int = 0;
/// Elements for which an Array has room from the beginning.
const ARRAY_CAPACITY_MAX: usize = 1 << 16;

type NoArgument = unsafe extern "C" fn(VALUE) -> VALUE;
type OneArgument = unsafe extern "C" fn(VALUE, VALUE) -> VALUE;
type TwoArguments = unsafe extern "C" fn(VALUE, VALUE, VALUE) -> VALUE;
type Arguments = unsafe extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE;

/// Runs `work` on the descriptor with this number, which the caller keeps open.
pub(crate) fn with_descriptor<R>(number: c_int, work: impl FnOnce(BorrowedFd<'_>) -> R) -> R {
    // SAFETY: an IO of Ruby's has it open, and Ruby's lock is kept meanwhile.
    work(unsafe { BorrowedFd::borrow_raw(number) })
}

/// What is buffered, where the reader is open and no operation goes on.
///
/// # Safety
/// As for [`stream_at_rest`].
#[inline]
unsafe fn at_rest(this: &ReaderObject) -> Option<&[u8]> {
    // SAFETY: as the caller promises.
    unsafe { stream_at_rest(this) }.map(ByteStream::buffered)
}

/// The stream, where the reader is open and no operation goes on.
///
/// # Safety
/// What is borrowed must be gone before the stream changes or Ruby code runs.
#[inline]
unsafe fn stream_at_rest(this: &ReaderObject) -> Option<&ByteStream> {
    if this.turn.is_taken() {
        return None;
    }
    // SAFETY: a guard would be lost where making a String raises. Nobody borrows it to change it while
    // Ruby's lock is here.
    match unsafe { this.stream.try_borrow_unguarded() } {
        Ok(stream) => stream.as_ref(),
        Err(_) => None,
    }
}

/// What is buffered, for the one whose operation goes on, or while the reader is known to be at rest.
///
/// # Safety
/// As for [`at_rest`].
#[inline]
unsafe fn held(this: &ReaderObject) -> &[u8] {
    // SAFETY: as above.
    match unsafe { this.stream.try_borrow_unguarded() } {
        Ok(Some(stream)) => stream.buffered(),
        _ => &[],
    }
}

/// Takes bytes that are buffered.
#[inline]
fn consume(this: &ReaderObject, count: usize) {
    if let Ok(mut stream) = this.stream.try_borrow_mut()
        && let Some(stream) = stream.as_mut()
    {
        stream.consume(count);
    }
}

/// The first `content_len` of the bytes that are buffered, as a new String; `len` of them are taken.
fn taken_string(
    operation: &Operation<'_>,
    content_len: usize,
    len: usize,
    encoding: c_int,
) -> Result<VALUE, Error> {
    // SAFETY: making a String moves nothing of what is buffered, and runs no Ruby code. What it raises
    // `protect` returns.
    let string = protect(|| unsafe {
        let bytes = held(operation.reader());
        new_string(bytes.get(..content_len).unwrap_or(bytes), encoding)
    })?;
    operation.consume(len)?;
    Ok(string)
}

/// A length that a program gives. It raises for what is none.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping. It may run Ruby code.
#[inline]
unsafe fn length(given: VALUE) -> usize {
    // SAFETY: as the caller promises.
    let number = unsafe {
        match rb_sys::FIXNUM_P(given) {
            true => rb_sys::FIX2LONG(given),
            false => rb_sys::rb_num2long(given),
        }
    };
    match usize::try_from(number) {
        Ok(length) => length,
        Err(_) => or_raise(|ruby| {
            let message = format!("negative length {number} given");
            Err(Error::new(ruby.exception_arg_error(), message))
        }),
    }
}

/// `reader.skip(count)`
unsafe extern "C" fn skip(object: VALUE, count_given: VALUE) -> VALUE {
    // SAFETY: Ruby keeps the receiver and the arguments alive.
    unsafe {
        let count = length(count_given);
        let this: &ReaderObject = inside(object);
        if at_rest(this).is_some_and(|bytes| bytes.len() >= count) {
            consume(this, count);
            return unsigned(count as u64);
        }
        unsigned(or_raise(|ruby| this.begin(ruby, Value::from_raw(object))?.skip(count as u64)))
    }
}

/// `reader.pos`
unsafe extern "C" fn pos(object: VALUE) -> VALUE {
    // SAFETY: as for `skip`.
    unsafe {
        let this: &ReaderObject = inside(object);
        unsigned(match stream_at_rest(this) {
            Some(stream) => stream.position(),
            None => or_raise(|ruby| this.begin(ruby, Value::from_raw(object))?.position()),
        })
    }
}

/// `reader.eof?`
unsafe extern "C" fn is_eof(object: VALUE) -> VALUE {
    // SAFETY: as for `skip`.
    let has_more = unsafe {
        let this: &ReaderObject = inside(object);
        at_rest(this).is_some_and(|bytes| !bytes.is_empty())
            || or_raise(|ruby| this.begin(ruby, Value::from_raw(object))?.want(1)) > 0
    };
    (if has_more { rb_sys::Qfalse } else { rb_sys::Qtrue }) as VALUE
}

/// Defines methods of one arity or another.
mod define {
    use std::ffi::CStr;

    use magnus::RClass;
    use magnus::rb_sys::AsRawValue;

    use super::{Arguments, NoArgument, OneArgument, TwoArguments};
    use crate::border::AnyMethod;

    pub(super) fn none(class: RClass, name: &CStr, method: NoArgument) {
        // SAFETY: the type is erased because Ruby takes methods of any arity; this one takes self.
        let method = unsafe { std::mem::transmute::<NoArgument, AnyMethod>(method) };
        // SAFETY: it takes as many arguments as it is defined with.
        unsafe { rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(method), 0) };
    }

    pub(super) fn one(class: RClass, name: &CStr, method: OneArgument) {
        // SAFETY: as above; this one takes self and one more.
        let method = unsafe { std::mem::transmute::<OneArgument, AnyMethod>(method) };
        // SAFETY: as above.
        unsafe { rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(method), 1) };
    }

    pub(super) fn two(class: RClass, name: &CStr, method: TwoArguments) {
        // SAFETY: as above; this one takes self and two more.
        let method = unsafe { std::mem::transmute::<TwoArguments, AnyMethod>(method) };
        // SAFETY: as above.
        unsafe { rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(method), 2) };
    }

    pub(super) fn any(class: RClass, name: &CStr, method: Arguments) {
        // SAFETY: as above; this one takes the number of arguments, where they are, and self.
        let method = unsafe { std::mem::transmute::<Arguments, AnyMethod>(method) };
        // SAFETY: as above; -1 stands for that.
        unsafe { rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(method), -1) };
    }
}

/// Defines the methods of this folder.
pub(crate) fn define_reader_methods(class: RClass) {
    values::define_methods(class);
    strings::define_methods(class);
    lines::define_methods(class);
    records::define_methods(class);
    define::one(class, c"skip", skip);
    define::none(class, c"pos", pos);
    define::none(class, c"eof?", is_eof);
}
