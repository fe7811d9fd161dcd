//! The loop that yields one packet after another, and the getters of its fields.
//!
//! The packets of a batch stay in Rust. One Ruby object moves from packet to packet, and a field becomes a Ruby value when it
//! is asked for.

use std::net::IpAddr;

use bytewright::batch;
use bytewright::packet::Field;
use magnus::rb_sys::AsRawValue;
use magnus::typed_data::Obj;
use magnus::value::Opaque;
use magnus::{Error, RArray, RClass, Ruby, TypedData, Value};
use rb_sys::VALUE;

use super::{AnyMethod, inside, or_raise};

/// Interface that the getters need of a packet's object.
pub(crate) trait PacketObject: TypedData {
    /// The cache of address texts that it marks.
    type Texts: AddressCache;

    /// The value of a field that packets hold; `None` of an object that is at no packet any more.
    fn field(&self, field: Field) -> Option<batch::Value<'static>>;

    /// The exception for an object that is at no packet any more.
    fn left(&self, ruby: &Ruby) -> Error;

    /// The value of a field that is read from the packet's bytes.
    fn value_of_frame(&self, ruby: &Ruby, field: Field) -> Result<Value, Error>;

    /// The cache; none of a packet that was loaded by itself.
    fn texts(&self) -> Option<Opaque<Obj<Self::Texts>>>;

    /// Moves to the packet at `index` of its batch.
    fn point(&self, index: usize);
}

/// Texts of addresses, made once.
pub(crate) trait AddressCache: TypedData {
    /// Returns the index of the text of `address` in [`AddressCache::array`], if it is there.
    fn find(&self, address: IpAddr) -> Option<usize>;

    /// The texts.
    fn array(&self, ruby: &Ruby) -> RArray;

    /// The text of `address`.
    fn text(&self, ruby: &Ruby, address: IpAddr) -> Result<Value, Error>;

    /// The text of an address that is in no cache.
    fn new_text(ruby: &Ruby, address: IpAddr) -> Value;
}

/// Interface that the loops need of the object that gives packets.
pub(crate) trait PacketSource: TypedData {
    /// The object that is moved over them.
    type Packet: PacketObject;

    /// Moves `packet` to the next batch; says how many packets there are, 0 at the end.
    fn next_batch(&self, ruby: &Ruby, packet: &Self::Packet) -> Result<usize, Error>;

    /// The fields of a row.
    fn fields(&self) -> &[Field];
}

/// The value of `field` of a packet, as a Ruby object.
#[inline]
fn field_object(packet: &impl PacketObject, field: Field) -> VALUE {
    use batch::Value as Read;
    if !field.is_in_packet() {
        return or_raise(|ruby| packet.value_of_frame(ruby, field)).as_raw();
    }
    let Some(value) = packet.field(field) else {
        return or_raise::<Value>(|ruby| Err(packet.left(ruby))).as_raw();
    };
    match value {
        // SAFETY: this makes an Integer; it cannot raise, and nothing here needs dropping.
        Read::Unsigned(number) => unsafe { rb_sys::rb_ull2inum(number) },
        // SAFETY: as above.
        Read::Time(number) => unsafe { rb_sys::rb_ll2inum(number) },
        Read::Address(address) => address_object(packet, address),
        // Null; of the others, a packet has none.
        _ => rb_sys::Qnil as VALUE,
    }
}

/// The text of an address, nearly always one that was made before.
#[inline]
fn address_object<P: PacketObject>(packet: &P, address: IpAddr) -> VALUE {
    let Some(texts) = packet.texts() else {
        return or_raise(|ruby| Ok(P::Texts::new_text(ruby, address))).as_raw();
    };
    // SAFETY: Ruby called the `extern "C"` function that calls this; the packet marks its cache.
    let (ruby, texts) = unsafe {
        let ruby = Ruby::get_unchecked();
        let texts = ruby.get_inner(texts);
        (ruby, inside::<P::Texts>(texts.as_raw()))
    };
    match texts.find(address) {
        // SAFETY: reading an element of an Array cannot raise.
        Some(slot) => unsafe {
            rb_sys::rb_ary_entry(texts.array(&ruby).as_raw(), slot as std::ffi::c_long)
        },
        None => or_raise(|ruby| texts.text(ruby, address)).as_raw(),
    }
}

/// The getter of the field with number `FIELD`.
unsafe extern "C" fn get<P: PacketObject, const FIELD: usize>(packet: VALUE) -> VALUE {
    // SAFETY: Ruby keeps the receiver of a method alive while it runs.
    let packet: &P = unsafe { inside(packet) };
    Field::ALL.get(FIELD).map_or(rb_sys::Qnil as VALUE, |field| field_object(packet, *field))
}

/// `source.each_packet(packet) { |packet| }`: yields the packet once per packet, moved on.
unsafe extern "C" fn each_packet<S: PacketSource>(source: VALUE, object: VALUE) -> VALUE {
    // SAFETY: both objects are on the stack until this returns.
    let (this, packet): (&S, &S::Packet) = unsafe { (inside(source), inside(object)) };
    loop {
        let count = or_raise(|ruby| this.next_batch(ruby, packet));
        if count == 0 {
            return source;
        }
        for index in 0..count {
            packet.point(index);
            // SAFETY: the block may raise, throw or break: nothing above needs dropping.
            unsafe { rb_sys::rb_yield(object) };
        }
    }
}

/// Fields that one row may have, and getters; above the number of fields that there are.
pub(crate) const ROW_FIELDS_MAX: usize = 64;

/// `source.each_row(packet) { |array| }`: yields an Array of field values per packet.
unsafe extern "C" fn each_row<S: PacketSource>(source: VALUE, object: VALUE) -> VALUE {
    // SAFETY: both objects are on the stack until this returns.
    let (this, packet): (&S, &S::Packet) = unsafe { (inside(source), inside(object)) };
    loop {
        let count = or_raise(|ruby| this.next_batch(ruby, packet));
        if count == 0 {
            return source;
        }
        for index in 0..count {
            packet.point(index);
            // Values on the stack are found and kept by the garbage collector.
            let mut row = [rb_sys::Qnil as VALUE; ROW_FIELDS_MAX];
            for (slot, field) in row.iter_mut().zip(this.fields()) {
                *slot = field_object(packet, *field);
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

/// Defines the loops as methods of `class`, whose objects are sources.
pub(crate) fn define_packet_loops<S: PacketSource>(class: RClass) {
    type Loop = unsafe extern "C" fn(VALUE, VALUE) -> VALUE;
    for (name, function) in
        [(c"each_packet", each_packet::<S> as Loop), (c"each_row", each_row::<S>)]
    {
        // SAFETY: Ruby calls a method of arity 1 with self and one argument, which is what the
        // function takes; the type is erased because rb_define_method takes methods of any arity.
        unsafe {
            let function = std::mem::transmute::<Loop, AnyMethod>(function);
            rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(function), 1);
        }
    }
}

type Getter = unsafe extern "C" fn(VALUE) -> VALUE;

/// Lists the getters: `get::<P, 0>, get::<P, 1>, ...`.
macro_rules! getters {
    ($($number:literal)*) => {
        /// Getters by the number of their field: as many as a row may have fields, of which the first ones are used.
        fn getters<P: PacketObject>() -> [Getter; ROW_FIELDS_MAX] {
            [$(get::<P, $number>),*]
        }
    };
}

getters! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
}

const _: () = assert!(Field::ALL.len() <= ROW_FIELDS_MAX, "a field without a getter");

/// Defines a method for each field, of its name, that answers its value. The objects of `class` are packets.
pub(crate) fn define_field_getters<P: PacketObject>(class: RClass) {
    for (field, getter) in Field::ALL.iter().zip(getters::<P>()) {
        let Ok(name) = std::ffi::CString::new(field.name()) else { continue };
        // SAFETY: Ruby calls a method of arity 0 with self alone, which is what the function takes,
        // and copies the name.
        unsafe {
            let getter = std::mem::transmute::<Getter, AnyMethod>(getter);
            rb_sys::rb_define_method(class.as_raw(), name.as_ptr(), Some(getter), 0);
        }
    }
}
