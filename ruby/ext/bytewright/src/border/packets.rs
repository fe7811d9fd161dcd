//! The loop that yields one packet after another, and the getters of its fields.

use std::net::IpAddr;

use bytewright::batch;
use bytewright::packet::Field;
use magnus::rb_sys::AsRawValue;
use magnus::{RClass, Ruby};
use rb_sys::VALUE;

use super::{AnyMethod, inside, or_raise};
use crate::address_texts::AddressTexts;
use crate::packet::PacketCursor;
use crate::reading::Reading;

/// The value of `field` of the packet that `cursor` is at, as a Ruby object.
#[inline]
fn field_object(cursor: &PacketCursor, field: Field) -> VALUE {
    use batch::Value as Read;
    match cursor.field(field) {
        // SAFETY: this makes an Integer; it cannot raise, and nothing here needs dropping.
        Read::Unsigned(number) => unsafe { rb_sys::rb_ull2inum(number) },
        // SAFETY: as above.
        Read::Time(number) => unsafe { rb_sys::rb_ll2inum(number) },
        Read::Address(address) => address_object(cursor, address),
        // Null; of the others, a packet has none.
        _ => rb_sys::Qnil as VALUE,
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
