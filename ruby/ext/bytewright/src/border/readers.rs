//! The methods of a reader that programs call most: a value that is buffered costs a method call and
//! nothing else.
//!
//! While one of these looks at what is buffered, nothing of Ruby's runs: Ruby's lock is kept, and who
//! works without it has taken the reader's turn. The bytes of a String are written to with the lock only,
//! and a String that is filled in several pieces is locked while others have their turn between them.

use std::ffi::{CStr, c_int};
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

use bytewright::io::{ByteStream, Compression, Fill, Line, LineRule};
use bytewright::wire::{RecordValue, VARINT_LEN_MAX, VarintStart, from_zigzag, varint_at_start};
use magnus::rb_sys::{AsRawValue, FromRawValue, protect};
use magnus::{Error, RClass, Ruby, Value};
use rb_sys::VALUE;

use super::tables::{bytes, new_string};
use super::{AnyMethod, inside, lock, or_raise};
use crate::error::to_ruby;
use crate::reader::{LineRuleObject, PIECE, ReaderObject, TemplateObject};

const NIL: VALUE = rb_sys::Qnil as VALUE;
/// From how many bytes on a String is filled from the file itself and not from the buffer: to copy as many
/// takes as long as the system calls that the buffer spares.
const DIRECT_MIN: usize = 8 << 10;
/// The number of the encoding that bytes have.
const BINARY: c_int = 0;

/// Runs `work` on the descriptor with this number, which the caller keeps open.
pub(crate) fn with_descriptor<R>(number: c_int, work: impl FnOnce(BorrowedFd<'_>) -> R) -> R {
    // SAFETY: an IO of Ruby's has it open, and Ruby's lock is kept meanwhile.
    work(unsafe { BorrowedFd::borrow_raw(number) })
}

/// What is buffered, where the reader is open and nobody else's.
///
/// # Safety
/// What is borrowed must be gone before the stream changes or Ruby code runs.
#[inline]
unsafe fn buffered(this: &ReaderObject) -> &[u8] {
    if this.turn.is_taken() {
        return &[];
    }
    // SAFETY: a guard would be lost where making a String raises. Nobody borrows it to change it while
    // Ruby's lock is here.
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

/// The bytes of a value, taken if they are buffered.
#[inline]
fn take_buffered<const N: usize>(this: &ReaderObject) -> Option<[u8; N]> {
    if this.turn.is_taken() {
        return None;
    }
    let mut stream = this.stream.try_borrow_mut().ok()?;
    let stream = stream.as_mut()?;
    let value = *stream.buffered().first_chunk::<N>()?;
    stream.consume(N);
    Some(value)
}

/// The bytes of a value that is called `what`. It raises where there are fewer.
///
/// # Safety
/// Ruby must keep `object` alive, and nothing that needs dropping may be.
#[inline]
unsafe fn fixed<const N: usize>(object: VALUE, what: &str) -> [u8; N] {
    // SAFETY: as the caller promises.
    let this: &ReaderObject = unsafe { inside(object) };
    match take_buffered(this) {
        Some(value) => value,
        // SAFETY: as above.
        None => unsafe { fixed_slow(object, what) },
    }
}

/// # Safety
/// As for [`fixed`].
#[cold]
unsafe fn fixed_slow<const N: usize>(object: VALUE, what: &str) -> [u8; N] {
    or_raise(|ruby| {
        // SAFETY: as the caller promises.
        let this: &ReaderObject = unsafe { inside(object) };
        loop {
            // SAFETY: the receiver of a method is an object.
            this.want_value(ruby, unsafe { Value::from_raw(object) }, what, N)?;
            if let Some(value) = take_buffered(this) {
                return Ok(value);
            }
        }
    })
}

/// An Integer of any size.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping.
#[inline]
unsafe fn unsigned(number: u64) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe { rb_sys::rb_ull2inum(number) }
}

/// # Safety
/// As for [`unsigned`].
#[inline]
unsafe fn signed(number: i64) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe { rb_sys::rb_ll2inum(number) }
}

/// # Safety
/// As for [`unsigned`].
#[inline]
unsafe fn float(number: f64) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe { rb_sys::rb_float_new(number) }
}

type NoArgument = unsafe extern "C" fn(VALUE) -> VALUE;
type OneArgument = unsafe extern "C" fn(VALUE, VALUE) -> VALUE;
type TwoArguments = unsafe extern "C" fn(VALUE, VALUE, VALUE) -> VALUE;
type Arguments = unsafe extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE;

/// Writes a method for each value of a fixed length: `u16le u16 from_le_bytes unsigned` becomes the
/// method `u16le`, which takes a `u16` and makes an Integer of it. `ACCESSORS` lists them.
macro_rules! accessors {
    ($($name:ident $type:ident $decode:ident $make:ident;)*) => {
        $(
            unsafe extern "C" fn $name(object: VALUE) -> VALUE {
                // SAFETY: Ruby keeps the receiver of a method alive while it runs.
                unsafe {
                    let value = $type::$decode(fixed(object, stringify!($name)));
                    $make(value.into())
                }
            }
        )*

        const ACCESSORS: &[(&str, NoArgument)] = &[$((stringify!($name), $name)),*];
    };
}

accessors! {
    u8 u8 from_le_bytes unsigned;
    u16le u16 from_le_bytes unsigned;
    u16be u16 from_be_bytes unsigned;
    u32le u32 from_le_bytes unsigned;
    u32be u32 from_be_bytes unsigned;
    u64le u64 from_le_bytes unsigned;
    u64be u64 from_be_bytes unsigned;
    i8 i8 from_le_bytes signed;
    i16le i16 from_le_bytes signed;
    i16be i16 from_be_bytes signed;
    i32le i32 from_le_bytes signed;
    i32be i32 from_be_bytes signed;
    i64le i64 from_le_bytes signed;
    i64be i64 from_be_bytes signed;
    f32le f32 from_le_bytes float;
    f32be f32 from_be_bytes float;
    f64le f64 from_le_bytes float;
    f64be f64 from_be_bytes float;
}

/// The next varint. It raises where it is not whole, or too long.
///
/// # Safety
/// As for [`fixed`].
#[inline]
unsafe fn take_varint(object: VALUE) -> u64 {
    // SAFETY: as the caller promises; what is borrowed is gone before the stream changes.
    unsafe {
        let this: &ReaderObject = inside(object);
        match varint_at_start(buffered(this)) {
            VarintStart::Whole(number, len) => {
                consume(this, len);
                number
            }
            _ => varint_slow(object),
        }
    }
}

/// # Safety
/// As for [`fixed`].
#[cold]
unsafe fn varint_slow(object: VALUE) -> u64 {
    or_raise(|ruby| {
        // SAFETY: as the caller promises.
        let (this, value): (&ReaderObject, _) =
            unsafe { (inside(object), Value::from_raw(object)) };
        let mut wanted = 1;
        loop {
            this.want_value(ruby, value, "varint", wanted)?;
            // SAFETY: what is borrowed is gone before the stream changes.
            match varint_at_start(unsafe { buffered(this) }) {
                VarintStart::Whole(number, len) => {
                    consume(this, len);
                    return Ok(number);
                }
                VarintStart::Short => {
                    // SAFETY: as above.
                    wanted = unsafe { buffered(this) }.len().min(VARINT_LEN_MAX) + 1;
                }
                VarintStart::TooLong => {
                    let error = bytewright::Error::format(
                        "a varint of at most 64 bits in 10 bytes",
                        "one that goes on",
                    );
                    let error = error.at(this.position(ruby)?).in_file(&this.name());
                    return Err(to_ruby(ruby, &error));
                }
            }
        }
    })
}

unsafe extern "C" fn varint(object: VALUE) -> VALUE {
    // SAFETY: as for the methods of fixed length.
    unsafe { unsigned(take_varint(object)) }
}

unsafe extern "C" fn zigzag(object: VALUE) -> VALUE {
    // SAFETY: as for the methods of fixed length.
    unsafe { signed(from_zigzag(take_varint(object))) }
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

/// Makes `count` bytes buffered, or as many as there are. It answers how many of them are.
///
/// # Safety
/// As for [`fixed`].
#[inline]
unsafe fn want(object: VALUE, count: usize) -> usize {
    // SAFETY: as the caller promises.
    unsafe {
        let this: &ReaderObject = inside(object);
        match buffered(this).len() >= count {
            true if !this.closed_or_taken() => count,
            _ => or_raise(|ruby| this.want(ruby, Value::from_raw(object), count)),
        }
    }
}

/// The first of the bytes that are buffered, as a new String.
///
/// # Safety
/// As for [`fixed`].
#[inline]
unsafe fn first_bytes(this: &ReaderObject, count: usize, encoding: c_int) -> VALUE {
    // SAFETY: making a String moves nothing of what is buffered, and runs no Ruby code.
    unsafe {
        let buffered = buffered(this);
        new_string(buffered.get(..count).unwrap_or(buffered), encoding)
    }
}

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
        if into == NIL
            && let Some(string) = take_string(object, length)
        {
            return string;
        }
        if into != NIL {
            return read_to_string(object, super::tables::string(into), length);
        }
        if length >= DIRECT_MIN {
            return read_to_string(object, rb_sys::rb_str_new(std::ptr::null(), 0), length);
        }
        let there = want(object, length);
        if there == 0 && length > 0 {
            return NIL;
        }
        let this: &ReaderObject = inside(object);
        let string = first_bytes(this, there, BINARY);
        consume(this, there);
        string
    }
}

/// A new String of bytes that are buffered, all of them, taken.
///
/// # Safety
/// As for [`fixed`].
#[inline]
unsafe fn take_string(object: VALUE, length: usize) -> Option<VALUE> {
    // SAFETY: as the caller promises; making a String moves nothing of what is buffered, and runs no
    // Ruby code.
    unsafe {
        let this: &ReaderObject = inside(object);
        if length == 0 {
            return None;
        }
        let string = new_string(buffered(this).get(..length)?, BINARY);
        consume(this, length);
        Some(string)
    }
}

/// `reader.read_into(string, length)`
unsafe extern "C" fn read_into(object: VALUE, string: VALUE, length_given: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe { read_to_string(object, super::tables::string(string), length(length_given)) }
}

/// `reader.peek(length)`
unsafe extern "C" fn peek(object: VALUE, length_given: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let length = length(length_given);
        let there = want(object, length);
        if there == 0 && length > 0 {
            return NIL;
        }
        first_bytes(inside(object), there, BINARY)
    }
}

/// Puts what is left into a String, a new one where none is given.
///
/// # Safety
/// As for [`fixed`].
unsafe fn read_rest(object: VALUE, into: VALUE) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        let string = match into {
            NIL => rb_sys::rb_str_new(std::ptr::null(), 0),
            into => super::tables::string(into),
        };
        read_to_string(object, string, usize::MAX);
        rb_sys::rb_enc_associate_index(string, inside::<ReaderObject>(object).encoding);
        string
    }
}

/// Puts the next bytes into a String in place of what it has; nil at the end.
///
/// # Safety
/// As for [`fixed`]; `string` must be one.
unsafe fn read_to_string(object: VALUE, string: VALUE, length: usize) -> VALUE {
    // SAFETY: as the caller promises. Nothing that needs dropping is alive where this raises.
    unsafe {
        rb_sys::rb_str_modify(string);
        let this: &ReaderObject = inside(object);
        let there = if length < DIRECT_MIN { want(object, length) } else { 0 };
        if there > 0 || length == 0 {
            make_room(string, 0, there);
            let taken = copy_buffered(this, string, 0, there);
            rb_sys::rb_str_set_len(string, taken as _);
            return string;
        }
        // Who copied it while others had their turn has made it a shared one.
        rb_sys::rb_str_modify(string);
        rb_sys::rb_str_set_len(string, 0);
        if length < DIRECT_MIN {
            return NIL;
        }
        let count = or_raise(|ruby| {
            let filled = fill_string(ruby, this, object, string, length);
            if filled.is_err() {
                give_back(ruby, this, string);
            }
            filled
        });
        black_box(string);
        if count == 0 && length != usize::MAX { NIL } else { string }
    }
}

/// Makes room for `more` bytes behind the first `len` of a String.
///
/// # Safety
/// As for [`fixed`]; `string` must be one that may be changed.
#[inline]
unsafe fn make_room(string: VALUE, len: usize, more: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        rb_sys::rb_str_modify(string);
        if (rb_sys::rb_str_capacity(string) as usize) < len + more {
            rb_sys::rb_str_set_len(string, len as _);
            rb_sys::rb_str_modify_expand(string, more as _);
        }
    }
}

/// Takes up to `count` buffered bytes to behind the first `len` of a String, which has room for them.
///
/// # Safety
/// As for [`fixed`].
#[inline]
unsafe fn copy_buffered(this: &ReaderObject, string: VALUE, len: usize, count: usize) -> usize {
    // SAFETY: the room is there, belongs to the String alone, and is no part of our buffer.
    unsafe {
        let bytes = buffered(this);
        let count = count.min(bytes.len());
        let to = rb_sys::RSTRING_PTR(string).cast_mut().cast::<u8>().add(len);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, count);
        consume(this, count);
        count
    }
}

/// Puts up to `length` bytes into an empty String, and answers how many there were. After an error, the
/// String has those that were taken.
///
/// # Safety
/// `object` and `string` must be kept alive.
unsafe fn fill_string(
    ruby: &Ruby,
    this: &ReaderObject,
    object: VALUE,
    string: VALUE,
    length: usize,
) -> Result<usize, Error> {
    let mut len = 0;
    // SAFETY: it is an object of Ruby's.
    let value = unsafe { Value::from_raw(object) };
    let mut checked = 0;
    this.with_stream(ruby, |stream| {
        stream.look_again();
        Ok(())
    })?;
    while len < length {
        let left = length - len;
        // What a file has left is known; of what is not known, as much comes at once as has come.
        let known = this.with_stream(ruby, |stream| Ok(known_left(stream)))?;
        let room = left.min(known.map_or(0, |known| known + 1).max(len).max(PIECE));
        // SAFETY: making room may raise, which `protect` returns.
        protect(|| unsafe {
            make_room(string, len, room);
            NIL
        })?;
        // SAFETY: the String has that much room, and nothing of Ruby's runs in the step.
        let spare = unsafe {
            let begin = rb_sys::RSTRING_PTR(string).cast_mut().cast::<MaybeUninit<u8>>();
            std::slice::from_raw_parts_mut(begin.add(len), room)
        };
        let step = this.with_stream(ruby, |stream| fill_step(stream, spare))?;
        len += step.count;
        // SAFETY: so many bytes of it are written.
        unsafe { rb_sys::rb_str_set_len(string, len as _) };
        match step.fill {
            Fill::Ended => break,
            Fill::Ready if len - checked < STEP_LEN => {}
            Fill::Ready => {
                checked = len;
                let lock = LockedString::new(string)?;
                lock::check_interrupts(ruby)?;
                drop(lock);
            }
            Fill::WouldWait => {
                let lock = LockedString::new(string)?;
                this.want(ruby, value, 1)?;
                drop(lock);
            }
        }
    }
    Ok(len)
}

/// Bytes after which Ruby is asked for interrupts.
const STEP_LEN: usize = 1 << 20;

/// How many bytes came, and why there are no more.
struct FillStep {
    count: usize,
    fill: Fill,
}

fn known_left(stream: &ByteStream) -> Option<usize> {
    let len = stream.input_len().filter(|_| stream.compression() == Compression::None)?;
    usize::try_from(len.saturating_sub(stream.position())).ok()
}

/// Writes to the start of `spare` what is buffered, or what the file has without waiting.
fn fill_step(
    stream: &mut ByteStream,
    spare: &mut [MaybeUninit<u8>],
) -> bytewright::Result<FillStep> {
    let bytes = stream.buffered();
    let count = bytes.len().min(spare.len());
    if count > 0 {
        for (to, byte) in spare.iter_mut().zip(bytes) {
            to.write(*byte);
        }
        stream.consume(count);
        return Ok(FillStep { count, fill: Fill::Ready });
    }
    if spare.len() >= DIRECT_MIN
        && let Some(count) = stream.try_read_slice(spare)?
    {
        let fill = if count == 0 { Fill::Ended } else { Fill::Ready };
        return Ok(FillStep { count, fill });
    }
    Ok(FillStep { count: 0, fill: stream.try_fill(1)? })
}

/// Gives the bytes in a String back to the stream that they were taken from.
fn give_back(ruby: &Ruby, this: &ReaderObject, string: VALUE) {
    // SAFETY: the String is alive and nothing of Ruby's runs before the bytes are copied. It was
    // locked whenever others had their turn, so they are those that were taken.
    let taken = unsafe { bytes(string) };
    // Where the stream is closed there is nothing to give back to.
    let _ = this.with_stream(ruby, |stream| {
        stream.give_back(taken);
        Ok(())
    });
    // Where it cannot be emptied, because it was frozen meanwhile, the error that is being returned tells more.
    let _ = protect(|| {
        // SAFETY: it is a String, and what this raises `protect` returns.
        unsafe {
            rb_sys::rb_str_modify(string);
            rb_sys::rb_str_set_len(string, 0);
        }
        NIL
    });
}

/// A String that nobody else may change, until this is dropped.
struct LockedString(VALUE);

impl LockedString {
    fn new(string: VALUE) -> Result<Self, Error> {
        // SAFETY: it is a String, and what this raises `protect` returns.
        protect(|| unsafe { rb_sys::rb_str_locktmp(string) })?;
        Ok(LockedString(string))
    }
}

impl Drop for LockedString {
    fn drop(&mut self) {
        // SAFETY: it is locked, so this does not raise.
        unsafe { rb_sys::rb_str_unlocktmp(self.0) };
    }
}

/// `reader.skip(count)`
unsafe extern "C" fn skip(object: VALUE, count_given: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let count = length(count_given);
        let this: &ReaderObject = inside(object);
        if buffered(this).len() >= count && !this.closed_or_taken() {
            consume(this, count);
            return unsigned(count as u64);
        }
        unsigned(or_raise(|ruby| this.skip(ruby, Value::from_raw(object), count as u64)))
    }
}

/// `reader.pos`
unsafe extern "C" fn pos(object: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let this: &ReaderObject = inside(object);
        unsigned(or_raise(|ruby| this.position(ruby)))
    }
}

/// `reader.eof?`
unsafe extern "C" fn is_eof(object: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    match unsafe { want(object, 1) } {
        0 => rb_sys::Qtrue as VALUE,
        _ => rb_sys::Qfalse as VALUE,
    }
}

/// The next line as a new String.
///
/// # Safety
/// As for [`fixed`].
#[inline]
unsafe fn take_line(object: VALUE, rule: &LineRule) -> Option<VALUE> {
    // SAFETY: as the caller promises.
    unsafe {
        let this: &ReaderObject = inside(object);
        let line = match rule.buffered_line(buffered(this)) {
            Some(line) => line,
            None => or_raise(|ruby| this.line(ruby, Value::from_raw(object), rule))?,
        };
        Some(line_string(this, line))
    }
}

/// # Safety
/// As for [`fixed`].
#[inline]
unsafe fn line_string(this: &ReaderObject, line: Line) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        let string = first_bytes(this, line.content_len, this.encoding);
        consume(this, line.len);
        string
    }
}

/// Whether `$/` is what it is at first.
#[allow(deprecated, reason = "Ruby deprecates assigning to it, and has it declared with that")]
fn is_default_separator() -> bool {
    // SAFETY: both are there as long as Ruby is, and are read with Ruby's lock.
    unsafe { rb_sys::rb_rs == rb_sys::rb_default_rs }
}

/// `reader.gets`, with the arguments of `IO#gets`
unsafe extern "C" fn gets(count: c_int, arguments: *const VALUE, object: VALUE) -> VALUE {
    // SAFETY: as for `read`; the rule is kept alive by the stack.
    unsafe {
        let line = if count == 0 && is_default_separator() {
            take_line(object, &LineRule::newline())
        } else {
            let method = rb_sys::rb_intern(c"line_rule".as_ptr());
            let keywords = rb_sys::rb_keyword_given_p();
            let rule = rb_sys::rb_funcallv_kw(object, method, count, arguments, keywords);
            let line = take_line(object, &inside::<LineRuleObject>(rule).rule);
            black_box(rule);
            line
        };
        let line = line.unwrap_or(NIL);
        rb_sys::rb_lastline_set(line);
        line
    }
}

/// `each_line_by(rule, batch)`: yields each line, or where `batch` is not 0 Arrays of so many.
unsafe extern "C" fn each_line_by(object: VALUE, rule: VALUE, batch: VALUE) -> VALUE {
    // SAFETY: as for `read`. The block may raise, throw or break: nothing here needs dropping.
    unsafe {
        let batch = length(batch);
        loop {
            let line_rule = &inside::<LineRuleObject>(rule).rule;
            let lines = match batch {
                0 => take_line(object, line_rule),
                _ => take_batch(object, line_rule, batch),
            };
            match lines {
                Some(lines) => rb_sys::rb_yield(lines),
                None => return object,
            };
        }
    }
}

/// The next lines, as many as an Array is to have, or as there are. Where waiting for more could lose
/// those that were taken, because they cannot be read again, it does not wait.
///
/// # Safety
/// As for [`fixed`].
unsafe fn take_batch(object: VALUE, rule: &LineRule, batch: usize) -> Option<VALUE> {
    // SAFETY: as the caller promises.
    unsafe {
        let this: &ReaderObject = inside(object);
        let begin = or_raise(|ruby| this.position(ruby));
        let first = take_line(object, rule)?;
        let lines = rb_sys::rb_ary_new_capa(batch.min(BATCH_CAPACITY_MAX) as _);
        rb_sys::rb_ary_push(lines, first);
        while (rb_sys::RARRAY_LEN(lines) as usize) < batch {
            let line = match rule.buffered_line(buffered(this)) {
                Some(line) => Some(line),
                None => or_raise(|ruby| {
                    if !this.goes_back(ruby) && !this.has_line_now(ruby, rule)? {
                        return Ok(None);
                    }
                    let line = this.line(ruby, Value::from_raw(object), rule);
                    this.or_back_to(ruby, begin, line)
                }),
            };
            let Some(line) = line else { break };
            rb_sys::rb_ary_push(lines, line_string(this, line));
        }
        Some(lines)
    }
}

/// Elements for which an Array has room from the beginning.
const BATCH_CAPACITY_MAX: usize = 1 << 16;

/// `each_record_by(length)`: yields each record of so many bytes.
unsafe extern "C" fn each_record_by(object: VALUE, length_given: VALUE) -> VALUE {
    // SAFETY: as for `each_line_by`.
    unsafe {
        let length = length(length_given);
        while want(object, 1) > 0 {
            if want(object, length) < length {
                or_raise(|ruby| {
                    let this: &ReaderObject = inside(object);
                    this.want_value(ruby, Value::from_raw(object), "a record", length)
                });
            }
            let this: &ReaderObject = inside(object);
            let record = first_bytes(this, length, BINARY);
            consume(this, length);
            rb_sys::rb_yield(record);
        }
        object
    }
}

/// `take_record(template)`: the values of the next record as an Array; nil at the end.
unsafe extern "C" fn take_record(object: VALUE, template: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let template = inside::<TemplateObject>(template);
        let length = template.template.record_len();
        if want(object, length) < length {
            if want(object, 1) == 0 {
                return NIL;
            }
            or_raise(|ruby| {
                let this: &ReaderObject = inside(object);
                this.want_value(ruby, Value::from_raw(object), "a record", length)
            });
        }
        let this: &ReaderObject = inside(object);
        let values = record_values(this, template, length);
        consume(this, length);
        values
    }
}

/// The values of the record that is buffered.
///
/// # Safety
/// As for [`fixed`].
#[inline]
unsafe fn record_values(this: &ReaderObject, template: &TemplateObject, length: usize) -> VALUE {
    // SAFETY: as the caller promises; making objects moves nothing of what is buffered.
    unsafe {
        let record = buffered(this).get(..length).unwrap_or_default();
        let values = rb_sys::rb_ary_new_capa(template.template.value_count() as _);
        for value in template.template.values(record) {
            let value = match value {
                RecordValue::Unsigned(number) => unsigned(number),
                RecordValue::Signed(number) => signed(number),
                RecordValue::Float(number) => float(number),
                RecordValue::Bytes(bytes) => new_string(bytes, BINARY),
            };
            rb_sys::rb_ary_push(values, value);
        }
        values
    }
}

/// `take_records(template, count)`: an Array of the next records, or of all there are where `count` is nil.
unsafe extern "C" fn take_records(object: VALUE, template: VALUE, count: VALUE) -> VALUE {
    // SAFETY: as for `read`.
    unsafe {
        let count = if count == NIL { usize::MAX } else { length(count) };
        let record_len = inside::<TemplateObject>(template).template.record_len();
        let this: &ReaderObject = inside(object);
        let begin = or_raise(|ruby| {
            // How it is compressed is known when something was read. What cannot be read again is not taken
            // before all of it is there.
            let value = Value::from_raw(object);
            this.want(ruby, value, record_len.min(count))?;
            if !this.goes_back(ruby) {
                let there = this.want(ruby, value, record_len.saturating_mul(count))?;
                let cut = there % record_len;
                if cut != 0 {
                    this.want_value(ruby, value, "records", there - cut + record_len)?;
                }
            }
            this.position(ruby)
        });
        let records = rb_sys::rb_ary_new();
        while (rb_sys::RARRAY_LEN(records) as usize) < count {
            if buffered(this).len() < record_len && !wants_record(object, record_len, begin) {
                break;
            }
            let template: &TemplateObject = inside(template);
            rb_sys::rb_ary_push(records, record_values(this, template, record_len));
            consume(this, record_len);
        }
        black_box(template);
        records
    }
}

/// Makes the next record buffered; whether there is one. Where it raises, it goes back to `begin`.
///
/// # Safety
/// As for [`fixed`].
unsafe fn wants_record(object: VALUE, length: usize, begin: u64) -> bool {
    or_raise(|ruby| {
        // SAFETY: as the caller promises.
        let (this, value): (&ReaderObject, _) =
            unsafe { (inside(object), Value::from_raw(object)) };
        let wanted = this.want(ruby, value, length).and_then(|there| match there {
            0 => Ok(false),
            _ => this.want_value(ruby, value, "a record", length).map(|()| true),
        });
        this.or_back_to(ruby, begin, wanted)
    })
}

/// Defines the methods of this file.
pub(crate) fn define_reader_methods(class: RClass) {
    let class = class.as_raw();
    // SAFETY: each function takes self and as many arguments as its arity says, or with -1 their
    // count, where they are, and self; the type is erased because Ruby takes methods of any arity.
    unsafe {
        for (name, accessor) in ACCESSORS {
            let Ok(name) = std::ffi::CString::new(*name) else { continue };
            let accessor = std::mem::transmute::<NoArgument, AnyMethod>(*accessor);
            rb_sys::rb_define_method(class, name.as_ptr(), Some(accessor), 0);
        }
        let none = |name: &CStr, method: NoArgument| {
            let method = std::mem::transmute::<NoArgument, AnyMethod>(method);
            rb_sys::rb_define_method(class, name.as_ptr(), Some(method), 0);
        };
        let one = |name: &CStr, method: OneArgument| {
            let method = std::mem::transmute::<OneArgument, AnyMethod>(method);
            rb_sys::rb_define_method(class, name.as_ptr(), Some(method), 1);
        };
        let two = |name: &CStr, method: TwoArguments| {
            let method = std::mem::transmute::<TwoArguments, AnyMethod>(method);
            rb_sys::rb_define_method(class, name.as_ptr(), Some(method), 2);
        };
        let any = |name: &CStr, method: Arguments| {
            let method = std::mem::transmute::<Arguments, AnyMethod>(method);
            rb_sys::rb_define_method(class, name.as_ptr(), Some(method), -1);
        };
        none(c"varint", varint);
        none(c"zigzag", zigzag);
        none(c"pos", pos);
        none(c"eof?", is_eof);
        one(c"peek", peek);
        one(c"skip", skip);
        one(c"each_record_by", each_record_by);
        one(c"take_record", take_record);
        two(c"read_into", read_into);
        two(c"each_line_by", each_line_by);
        two(c"take_records", take_records);
        any(c"read", read);
        any(c"gets", gets);
    }
}
