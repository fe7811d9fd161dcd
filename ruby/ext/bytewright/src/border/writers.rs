//! A writer as a Ruby object, and the methods of it that programs call most: a value goes behind the gathered
//! bytes, and nothing else happens where there is room.

use std::ffi::{CString, c_int};

use bytewright::host::{self, GATHERED_MAX};
use bytewright::wire::{U24, VARINT_LEN_MAX, to_zigzag, write_varint};
use magnus::rb_sys::FromRawValue;
use magnus::{Error, Integer, RClass, Ruby, TryConvert, Value, prelude::*};
use rb_sys::VALUE;

use super::define::{self, OneArgument};
use super::tables::bytes;
use super::{adjust_memory_usage, inside, or_raise};
use crate::error::refusal;
use crate::turn::{Sharing, Strand, TurnMutex};

/// A stream that is written.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::WriterStream", free_immediately, mark, size)]
pub(crate) struct WriterObject {
    pub(crate) writer: host::HostWriter<Strand>,
    mutex: TurnMutex,
}

impl magnus::DataTypeFunctions for WriterObject {
    fn mark(&self, marker: &magnus::gc::Marker) {
        self.mutex.mark(marker, self.writer.turn());
    }

    fn size(&self) -> usize {
        size_of::<Self>() + GATHERED_MAX
    }
}

impl Drop for WriterObject {
    fn drop(&mut self) {
        adjust_memory_usage(-(GATHERED_MAX as isize));
    }
}

impl WriterObject {
    pub(crate) fn new(writer: host::HostWriter<Strand>) -> WriterObject {
        adjust_memory_usage(GATHERED_MAX as isize);
        WriterObject { writer, mutex: TurnMutex::default() }
    }

    /// Ruby as the host of the writer in `object`.
    pub(crate) fn host<'a>(&'a self, ruby: &'a Ruby, object: Value) -> Sharing<'a> {
        Sharing::of_stream(ruby, &self.mutex, object, None)
    }
}

/// Puts the bytes of a value behind those that are gathered.
///
/// # Safety
/// Ruby must keep `object` alive, and nothing that needs dropping may be.
#[inline]
unsafe fn put(object: VALUE, value: &[u8]) {
    // SAFETY: as the caller promises.
    unsafe {
        if !inside::<WriterObject>(object).writer.try_put(value) {
            put_slow(object, value);
        }
    }
}

/// # Safety
/// As for [`put`].
#[cold]
unsafe fn put_slow(object: VALUE, value: &[u8]) {
    or_raise(|ruby| {
        // SAFETY: as the caller promises.
        let (this, receiver): (&WriterObject, _) =
            unsafe { (inside(object), Value::from_raw(object)) };
        this.writer.put(&this.host(ruby, receiver), value)
    });
}

/// The number that a program gives, between `least` and `most`. It raises for any other.
///
/// # Safety
/// As for [`put`]. It may run Ruby code.
#[inline]
unsafe fn number(given: VALUE, least: i64, most: u64, what: &str) -> u64 {
    // SAFETY: as the caller promises.
    unsafe {
        if rb_sys::FIXNUM_P(given) {
            let number = rb_sys::FIX2LONG(given) as i64;
            if number >= least && (number < 0 || number as u64 <= most) {
                return number as u64;
            }
        }
        large_number(given, least, most, what)
    }
}

/// # Safety
/// As for [`number`].
#[cold]
unsafe fn large_number(given: VALUE, least: i64, most: u64, what: &str) -> u64 {
    or_raise(|ruby| {
        // SAFETY: as the caller promises.
        let given = unsafe { Value::from_raw(given) };
        let integer = Integer::try_convert(given)?;
        let found = match integer.to_u64() {
            Ok(number) => (number <= most).then_some(number),
            Err(_) => integer.to_i64().ok().filter(|number| *number >= least).map(|n| n as u64),
        };
        found.ok_or_else(|| {
            refusal(ruby, ruby.exception_range_error(), integer.as_value(), |found| {
                format!("expected {least}..{most} for {what}, found {found}")
            })
        })
    })
}

/// Writes a method for each number of a fixed length: `u16le u16 to_le_bytes` becomes the method
/// `u16le(value)`. `NUMBERS` lists them.
macro_rules! numbers {
    ($($name:ident $type:ident $encode:ident;)*) => {
        $(
            unsafe extern "C" fn $name(object: VALUE, given: VALUE) -> VALUE {
                // SAFETY: Ruby keeps the receiver and the argument of a method alive while it runs.
                unsafe {
                    let (least, most) = ($type::MIN as i64, $type::MAX as u64);
                    let number = number(given, least, most, stringify!($name)) as $type;
                    put(object, &number.$encode());
                }
                object
            }
        )*

        const NUMBERS: &[(&str, OneArgument)] = &[$((stringify!($name), $name)),*];
    };
}

numbers! {
    u8 u8 to_le_bytes;
    u16le u16 to_le_bytes;
    u16be u16 to_be_bytes;
    u32le u32 to_le_bytes;
    u32be u32 to_be_bytes;
    u64le u64 to_le_bytes;
    u64be u64 to_be_bytes;
    i8 i8 to_le_bytes;
    i16le i16 to_le_bytes;
    i16be i16 to_be_bytes;
    i32le i32 to_le_bytes;
    i32be i32 to_be_bytes;
    i64le i64 to_le_bytes;
    i64be i64 to_be_bytes;
}

/// The nearest float of 32 bits. It raises for a number beyond them, which would become infinity.
fn single(number: f64, what: &str) -> f32 {
    let single = number as f32;
    if single.is_infinite() && number.is_finite() {
        or_raise::<()>(|ruby| {
            let message =
                format!("expected -{max:e}..{max:e} for {what}, found {number:e}", max = f32::MAX);
            Err(Error::new(ruby.exception_range_error(), message))
        });
    }
    single
}

/// Any number that a Float of Ruby is.
fn double(number: f64, _: &str) -> f64 {
    number
}

/// Defines the methods that write floats.
macro_rules! floats {
    ($($name:ident $narrow:ident $encode:ident;)*) => {
        $(
            unsafe extern "C" fn $name(object: VALUE, given: VALUE) -> VALUE {
                // SAFETY: as for numbers.
                unsafe {
                    let number = $narrow(rb_sys::rb_num2dbl(given), stringify!($name));
                    put(object, &number.$encode());
                }
                object
            }
        )*

        const FLOATS: &[(&str, OneArgument)] = &[$((stringify!($name), $name)),*];
    };
}

floats! {
    f32le single to_le_bytes;
    f32be single to_be_bytes;
    f64le double to_le_bytes;
    f64be double to_be_bytes;
}

unsafe extern "C" fn u24le(object: VALUE, given: VALUE) -> VALUE {
    // SAFETY: as for numbers.
    unsafe {
        let number = number(given, 0, U24::MAX.into(), "u24le") as u32;
        put(object, &U24::new(number).map(U24::to_le_bytes).unwrap_or_default());
    }
    object
}

unsafe extern "C" fn u24be(object: VALUE, given: VALUE) -> VALUE {
    // SAFETY: as for numbers.
    unsafe {
        let number = number(given, 0, U24::MAX.into(), "u24be") as u32;
        put(object, &U24::new(number).map(U24::to_be_bytes).unwrap_or_default());
    }
    object
}

unsafe extern "C" fn varint(object: VALUE, given: VALUE) -> VALUE {
    // SAFETY: as for numbers.
    unsafe { put_varint(object, number(given, 0, u64::MAX, "varint")) }
}

unsafe extern "C" fn zigzag(object: VALUE, given: VALUE) -> VALUE {
    // SAFETY: as for numbers.
    unsafe {
        let number = number(given, i64::MIN, i64::MAX as u64, "zigzag") as i64;
        put_varint(object, to_zigzag(number))
    }
}

/// # Safety
/// As for [`put`].
unsafe fn put_varint(object: VALUE, number: u64) -> VALUE {
    let mut encoded = [0; VARINT_LEN_MAX];
    let len = write_varint(&mut encoded, number);
    // SAFETY: as the caller promises.
    unsafe { put(object, encoded.get(..len).unwrap_or_default()) };
    object
}

/// Puts the bytes of an object that is to be written behind those that are gathered: of a String, or of
/// what `to_s` gives. It answers how many.
///
/// # Safety
/// As for [`put`]. It may run Ruby code.
unsafe fn put_object(object: VALUE, given: VALUE) -> usize {
    // SAFETY: as the caller promises. A String that nobody changes is made of it, which costs nothing
    // where there are many bytes; between two parts of it other threads may have their turn.
    unsafe {
        let string = rb_sys::rb_obj_as_string(given);
        if inside::<WriterObject>(object).writer.try_put(bytes(string)) {
            return bytes(string).len();
        }
        let string = rb_sys::rb_str_new_frozen(string);
        let len = bytes(string).len();
        for begin in (0..len.max(1)).step_by(GATHERED_MAX) {
            let part = bytes(string);
            put(object, part.get(begin..len.min(begin + GATHERED_MAX)).unwrap_or_default());
        }
        std::hint::black_box(string);
        len
    }
}

/// `writer.write(*objects)`
unsafe extern "C" fn write(count: c_int, arguments: *const VALUE, object: VALUE) -> VALUE {
    // SAFETY: Ruby keeps the receiver and the arguments alive, and gives as many as it says.
    unsafe {
        let mut written = 0;
        for at in 0..count as usize {
            written += put_object(object, *arguments.add(at));
        }
        rb_sys::rb_ull2inum(written as u64)
    }
}

/// `writer << object`
unsafe extern "C" fn append(object: VALUE, given: VALUE) -> VALUE {
    // SAFETY: as for `write`.
    unsafe { put_object(object, given) };
    object
}

/// Defines the methods of this file.
pub(crate) fn define_writer_methods(class: RClass) {
    for (name, method) in NUMBERS.iter().chain(FLOATS) {
        let Ok(name) = CString::new(*name) else { continue };
        define::one(class, &name, *method);
    }
    define::one(class, c"u24le", u24le);
    define::one(class, c"u24be", u24be);
    define::one(class, c"varint", varint);
    define::one(class, c"zigzag", zigzag);
    define::one(class, c"<<", append);
    define::any(class, c"write", write);
}
