//! Numbers: a value that is buffered costs a method call and nothing else.

use std::ffi::{CString, c_long};

use bytewright::wire::{U24, VarintStart, from_zigzag, varint_at_start};
use magnus::RClass;
use rb_sys::VALUE;

use super::{NIL, ReaderObject, at_rest, operate};
use crate::border::define::{self, NoArgument};
use crate::border::inside;

/// The bytes of a value that is called `what`. It raises where there are fewer.
///
/// # Safety
/// Ruby must keep `object` alive, and nothing that needs dropping may be.
#[inline]
unsafe fn fixed<const N: usize>(object: VALUE, what: &str) -> [u8; N] {
    // SAFETY: as the caller promises.
    let this: &ReaderObject = unsafe { inside(object) };
    match this.reader.take_array() {
        Some(value) => value,
        // SAFETY: as above.
        None => unsafe { operate(object, |_, operation| operation.array(what)) },
    }
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
        let byte = match inside::<ReaderObject>(object).reader.take_array::<1>() {
            Some([byte]) => Some(byte),
            None => operate(object, |_, operation| operation.byte()),
        };
        byte.map_or(NIL, |byte| unsigned(byte.into()))
    }
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
                this.reader.consume(len);
                number
            }
            _ => operate(object, |_, operation| operation.varint()),
        }
    }
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
