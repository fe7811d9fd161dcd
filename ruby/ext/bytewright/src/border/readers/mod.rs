//! A reader as a Ruby object, and the methods of it that programs call most: what is buffered costs a method call
//! and nothing else.
//!
//! While one of these looks at what is buffered, nothing of Ruby's runs: Ruby's lock is kept, and who
//! works without it has taken the reader's turn. What is not buffered takes an operation of the core's.

mod fill;
mod lines;
mod records;
mod rules;
mod strings;
mod values;

use std::cell::Cell;
use std::ffi::c_int;
use std::os::fd::BorrowedFd;

use bytewright::bytes::ByteStream;
use bytewright::host;
use magnus::rb_sys::{FromRawValue, protect};
use magnus::{Error, RClass, Ruby, Value};
use rb_sys::VALUE;

use self::values::unsigned;
use super::tables::new_string;
use super::{define, inside, or_raise};
use crate::memory_report::MemoryReport;
use crate::turn::{Sharing, Strand, TurnMutex};

pub(crate) use rules::{LineRuleObject, SearchObject, TemplateObject};

const NIL: VALUE = rb_sys::Qnil as VALUE;
/// The number of the encoding that bytes have.
const BINARY: c_int = 0;

/// A stream that is read.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::ReaderStream", free_immediately, mark, size)]
pub(crate) struct ReaderObject {
    pub(crate) reader: host::HostReader<Strand>,
    pub(crate) mutex: TurnMutex,
    /// The number of the encoding that lines have.
    pub(crate) encoding: c_int,
    /// True if a newline of it is one byte that is nothing else.
    pub(crate) lines_end_with_a_byte: bool,
    /// True while the turn's holder waits so that Ruby can wake it; `was_woken` is true after Ruby did.
    pub(crate) waits: Cell<bool>,
    pub(crate) was_woken: Cell<bool>,
    pub(crate) memory: MemoryReport,
}

impl magnus::DataTypeFunctions for ReaderObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.mutex.mark(marker, self.reader.turn());
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.memory.told()
    }
}

/// An operation on a reader.
pub(crate) type Operation<'a> = host::Operation<'a, Sharing<'a>>;

impl ReaderObject {
    /// Does `work` when no other operation goes on.
    pub(crate) fn operate<T>(
        &self,
        ruby: &Ruby,
        object: Value,
        work: impl FnOnce(&Operation<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        work(&self.reader.begin(&self.host(ruby, object))?)
    }

    /// Ruby as the host of the reader in `object`.
    pub(crate) fn host<'a>(&'a self, ruby: &'a Ruby, object: Value) -> Sharing<'a> {
        Sharing::of_stream(ruby, &self.mutex, object, Some(&self.memory))
    }
}

/// Does the same for a method, and raises what it fails with.
///
/// # Safety
/// `object` must be a reader that Ruby keeps alive, and nothing that needs dropping may be.
#[cold]
unsafe fn operate<T: Copy>(
    object: VALUE,
    work: impl FnOnce(&ReaderObject, &Operation<'_>) -> Result<T, Error>,
) -> T {
    or_raise(|ruby| {
        // SAFETY: as the caller promises.
        let (this, value) = unsafe { (inside::<ReaderObject>(object), Value::from_raw(object)) };
        this.operate(ruby, value, |operation| work(this, operation))
    })
}

/// Runs `work` on the descriptor with this number, which the caller keeps open.
pub(crate) fn with_descriptor<R>(number: c_int, work: impl FnOnce(BorrowedFd<'_>) -> R) -> R {
    // SAFETY: an IO of Ruby's has it open, and Ruby's lock is kept meanwhile.
    work(unsafe { BorrowedFd::borrow_raw(number) })
}

/// Returns the buffered bytes, if the reader is open and no operation goes on.
///
/// # Safety
/// The borrow must end before the stream changes or Ruby code runs.
#[inline]
unsafe fn at_rest(this: &ReaderObject) -> Option<&[u8]> {
    // SAFETY: as the caller promises.
    unsafe { stream_at_rest(this) }.map(ByteStream::buffered)
}

/// # Safety
/// As for [`at_rest`].
#[inline]
unsafe fn stream_at_rest(this: &ReaderObject) -> Option<&ByteStream> {
    // SAFETY: a guard would be lost where making a String raises. Nobody borrows it to change it while
    // Ruby's lock is here.
    unsafe { this.reader.at_rest()?.try_borrow_unguarded() }.ok()?.as_ref()
}

/// Returns the buffered bytes, for the one whose operation goes on, or while the reader is known to be at rest.
///
/// # Safety
/// As for [`at_rest`].
#[inline]
unsafe fn held(this: &ReaderObject) -> &[u8] {
    // SAFETY: as above.
    match unsafe { this.reader.stream().try_borrow_unguarded() } {
        Ok(Some(stream)) => stream.buffered(),
        _ => &[],
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
    let make = |bytes: &[u8]| protect(|| unsafe { new_string(bytes, encoding) });
    operation.take(content_len, len, make)
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
            this.reader.consume(count);
            return unsigned(count as u64);
        }
        unsigned(operate(object, |_, operation| operation.skip(count as u64)))
    }
}

/// `reader.pos`
unsafe extern "C" fn pos(object: VALUE) -> VALUE {
    // SAFETY: as for `skip`.
    unsafe {
        unsigned(match stream_at_rest(inside(object)) {
            Some(stream) => stream.position(),
            None => operate(object, |_, operation| operation.position()),
        })
    }
}

/// `reader.eof?`
unsafe extern "C" fn is_eof(object: VALUE) -> VALUE {
    // SAFETY: as for `skip`.
    let has_more = unsafe {
        at_rest(inside(object)).is_some_and(|bytes| !bytes.is_empty())
            || operate(object, |_, operation| operation.want(1)) > 0
    };
    (if has_more { rb_sys::Qfalse } else { rb_sys::Qtrue }) as VALUE
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
