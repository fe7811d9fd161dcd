//! Numbers: a value that is buffered costs a method call and nothing else.

use std::ffi::{CString, c_long};

use bytewright::wire::{U24, VARINT_LEN_MAX, VarintStart, from_zigzag, varint_at_start};
use magnus::rb_sys::FromRawValue;
use magnus::{RClass, Value};
use rb_sys::VALUE;

use super::{NIL, NoArgument, at_rest, consume, define, held};
use crate::border::{inside, or_raise};
use crate::error::to_ruby;
use crate::reader::ReaderObject;

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
        // SAFETY: the receiver of a method is an object, and as the caller promises.
        let (this, value): (&ReaderObject, _) =
            unsafe { (inside(object), Value::from_raw(object)) };
        let operation = this.begin(ruby, value)?;
        operation.want_value(what, N)?;
        let mut bytes = [0; N];
        operation.with_stream(|stream| {
            if let Some(first) = stream.buffered().first_chunk::<N>() {
                bytes = *first;
            }
            stream.consume(N);
            Ok(())
        })?;
        Ok(bytes)
    })
}

/// An Integer of any size. Those that are no objects, as nearly all, take no call.
///
/// # Safety
/// Called under Ruby, with nothing alive that needs dropping.
#[inline]
pub(super) unsafe fn unsigned(number: u64) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        match c_long::try_from(number) {
            Ok(number) if rb_sys::FIXABLE(number) => rb_sys::LONG2FIX(number),
            _ => rb_sys::rb_ull2inum(number),
        }
    }
}

/// # Safety
/// As for [`unsigned`].
#[inline]
pub(super) unsafe fn signed(number: i64) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe {
        match c_long::try_from(number) {
            Ok(number) if rb_sys::FIXABLE(number) => rb_sys::LONG2FIX(number),
            _ => rb_sys::rb_ll2inum(number),
        }
    }
}

/// # Safety
/// As for [`unsigned`].
#[inline]
pub(super) unsafe fn float(number: f64) -> VALUE {
    // SAFETY: as the caller promises.
    unsafe { rb_sys::rb_float_new(number) }
}

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
    u24le U24 from_le_bytes unsigned;
    u24be U24 from_be_bytes unsigned;
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

/// `reader.getbyte`
unsafe extern "C" fn getbyte(object: VALUE) -> VALUE {
    // SAFETY: as for the methods of fixed length.
    unsafe {
        let this: &ReaderObject = inside(object);
        match take_buffered::<1>(this) {
            Some([byte]) => unsigned(byte.into()),
            None => getbyte_slow(object),
        }
    }
}

/// # Safety
/// As for [`fixed`].
#[cold]
unsafe fn getbyte_slow(object: VALUE) -> VALUE {
    let byte = or_raise(|ruby| {
        // SAFETY: as the caller promises.
        let (this, value): (&ReaderObject, _) =
            unsafe { (inside(object), Value::from_raw(object)) };
        let operation = this.begin(ruby, value)?;
        operation.want(1)?;
        operation.with_stream(|stream| {
            let byte = stream.buffered().first().copied();
            stream.consume(byte.iter().len());
            Ok(byte)
        })
    });
    // SAFETY: as the caller promises.
    byte.map_or(NIL, |byte| unsafe { unsigned(byte.into()) })
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
        match at_rest(this).map(varint_at_start) {
            Some(VarintStart::Whole(number, len)) => {
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
        let operation = this.begin(ruby, value)?;
        let mut wanted = 1;
        loop {
            operation.want_value("varint", wanted)?;
            // SAFETY: what is borrowed is gone before the stream changes.
            let (start, there) = unsafe { (varint_at_start(held(this)), held(this).len()) };
            match start {
                VarintStart::Whole(number, len) => {
                    operation.consume(len)?;
                    return Ok(number);
                }
                VarintStart::Short => wanted = there.min(VARINT_LEN_MAX) + 1,
                VarintStart::TooLong => {
                    let error = bytewright::Error::format(
                        "a varint of at most 64 bits in 10 bytes",
                        "one that goes on",
                    );
                    let error = error.at(operation.position()?).in_file(&this.name());
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

/// Defines the methods of this file.
pub(super) fn define_methods(class: RClass) {
    for (name, accessor) in ACCESSORS {
        let Ok(name) = CString::new(*name) else { continue };
        define::none(class, &name, *accessor);
    }
    define::none(class, c"getbyte", getbyte);
    define::none(class, c"varint", varint);
    define::none(class, c"zigzag", zigzag);
}
