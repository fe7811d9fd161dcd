//! `Bytewright::Packet`: one packet's fields, made into Ruby objects only when they are asked for.

use std::cell::{Ref, RefCell};
use std::sync::Arc;

use bytewright::batch;
use bytewright::host::HeldPacket;
use bytewright::input::FrameBatch;
use bytewright::packet::{Field, KeptFrame, Status};
use magnus::typed_data::Obj;
use magnus::value::Opaque;
use magnus::{
    Error, RHash, RString, Ruby, Symbol, TryConvert, Value, function, method, prelude::*,
};

use crate::address_texts::AddressTexts;
use crate::border::{PacketObject, bytes_of, class_name, define_field_getters};
use crate::error::closed;
use crate::fields::field_named;
use crate::record::{not_dumped, object_of};

/// A packet. While a capture is iterated it is a cursor that moves on; a copy stays.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Packet", free_immediately, mark, size)]
pub(crate) struct PacketCursor {
    held: RefCell<HeldPacket>,
    /// Of its capture; none of a packet that was loaded.
    texts: Option<Opaque<Obj<AddressTexts>>>,
}

impl magnus::DataTypeFunctions for PacketCursor {
    fn mark(&self, marker: &magnus::gc::Marker) {
        if let Some(texts) = self.texts {
            marker.mark(texts);
        }
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.held.borrow().memory_bytes()
    }
}

impl PacketCursor {
    pub(crate) fn new(texts: Obj<AddressTexts>) -> Self {
        PacketCursor { held: RefCell::default(), texts: Some(texts.into()) }
    }

    /// Gives up the batch it moves over, if nobody else looks into it.
    pub(crate) fn take_batch(&self) -> Option<FrameBatch> {
        self.held.take().into_batch()
    }

    /// Moves to `batch`; says how many packets it holds.
    pub(crate) fn enter_batch(&self, batch: FrameBatch) -> usize {
        let len = batch.len();
        self.held.replace(HeldPacket::first_of(batch));
        len
    }

    /// Keeps the packet it is at as a copy of its own, and gives up the batch.
    pub(crate) fn settle(&self) {
        let own = self.held.borrow().to_own();
        self.held.replace(own);
    }

    /// A copy that stays as it is, with its own copy of the bytes.
    fn copy(ruby: &Ruby, this: &Self) -> Result<Obj<PacketCursor>, Error> {
        let held = RefCell::new(this.at_packet(ruby)?.to_own());
        Ok(ruby.obj_wrap(PacketCursor { held, texts: this.texts }))
    }

    /// `packet._dump(depth)`, which Marshal calls.
    fn dump(ruby: &Ruby, this: &Self, _depth: Value) -> Result<RString, Error> {
        let held = this.at_packet(ruby)?;
        let bytes = held.frame().map(|frame| frame.to_kept().to_bytes()).unwrap_or_default();
        Ok(ruby.str_from_slice(&bytes))
    }

    /// `Packet._load(bytes)`, which Marshal calls.
    fn load(ruby: &Ruby, dumped: RString) -> Result<PacketCursor, Error> {
        let kept = KeptFrame::from_bytes(&bytes_of(dumped));
        let kept = kept.ok_or_else(|| not_dumped(ruby, "Packet"))?;
        Ok(PacketCursor { held: RefCell::new(HeldPacket::Own(Arc::new(kept))), texts: None })
    }

    fn data(ruby: &Ruby, this: &Self) -> Result<RString, Error> {
        Ok(ruby.str_from_slice(this.at_packet(ruby)?.captured()))
    }

    fn payload(ruby: &Ruby, this: &Self) -> Result<Option<RString>, Error> {
        Ok(this.at_packet(ruby)?.payload().map(|payload| ruby.str_from_slice(payload)))
    }

    /// The packet that it is at. After the last one of its pass there is none: nil would look like a packet without the
    /// field.
    fn at_packet(&self, ruby: &Ruby) -> Result<Ref<'_, HeldPacket>, Error> {
        let held = self.held.borrow();
        if held.packet().is_some() { Ok(held) } else { Err(self.left(ruby)) }
    }

    fn value(ruby: &Ruby, this: &Self, field: Field) -> Result<Value, Error> {
        if !field.is_in_packet() {
            return this.value_of_frame(ruby, field);
        }
        match this.field(field) {
            Some(value) => {
                let texts = this.texts.map(|texts| ruby.get_inner(texts));
                object_of(ruby, value, texts.as_deref())
            }
            None => Err(this.left(ruby)),
        }
    }

    fn fetch(ruby: &Ruby, this: &Self, name: Symbol) -> Result<Value, Error> {
        Self::value(ruby, this, field_named(ruby, name)?)
    }

    fn values_at(ruby: &Ruby, this: &Self, names: &[Value]) -> Result<Value, Error> {
        let values = ruby.ary_new_capa(names.len());
        for name in names {
            let name = Symbol::from_value(*name).ok_or_else(|| {
                let found = class_name(*name);
                let message = format!("expected field names as Symbols, found {found}");
                Error::new(ruby.exception_type_error(), message)
            })?;
            values.push(Self::fetch(ruby, this, name)?)?;
        }
        Ok(values.as_value())
    }

    fn to_hash(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let hash = ruby.hash_new();
        for field in Field::DEFAULT {
            hash.aset(ruby.to_symbol(field.name()), Self::value(ruby, this, *field)?)?;
        }
        Ok(hash)
    }

    /// Objects that are at no packet are equal to none but themselves.
    fn is_equal(&self, other: Value) -> bool {
        let Ok(other) = <&PacketCursor>::try_convert(other) else { return false };
        let (held, others) = (self.held.borrow(), other.held.borrow());
        std::ptr::eq(self, other) || (held.packet().is_some() && *held == *others)
    }

    fn has_status(&self, ruby: &Ruby, status: Status) -> Result<bool, Error> {
        Ok(self.at_packet(ruby)?.packet().is_some_and(|packet| packet.status().has(status)))
    }
}

impl PacketObject for PacketCursor {
    type Texts = AddressTexts;

    #[inline]
    fn field(&self, field: Field) -> Option<batch::Value<'static>> {
        self.held.borrow().packet().map(|packet| packet.value(field))
    }

    fn left(&self, ruby: &Ruby) -> Error {
        closed(
            ruby,
            "expected a packet of an iteration under way, found one that ended; keep packets with dup",
        )
    }

    fn value_of_frame(&self, ruby: &Ruby, field: Field) -> Result<Value, Error> {
        match self.held.borrow().frame() {
            Some(frame) => object_of(ruby, frame.value(field), None),
            None => Err(self.left(ruby)),
        }
    }

    #[inline]
    fn texts(&self) -> Option<Opaque<Obj<AddressTexts>>> {
        self.texts
    }

    #[inline]
    fn point(&self, index: usize) {
        self.held.borrow_mut().point(index);
    }
}

/// Declares the questions about the status bits: `name STATUS` becomes a method `name?`.
macro_rules! define_status {
    ($class:ident: $($name:ident $status:ident,)*) => {
        $({
            fn $name(ruby: &Ruby, this: &PacketCursor) -> Result<bool, Error> {
                this.has_status(ruby, Status::$status)
            }
            $class.define_method(concat!(stringify!($name), "?"), method!($name, 0))?;
        })*
    };
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = crate::class::define::<PacketCursor>(ruby, "Packet")?;
    define_field_getters::<PacketCursor>(class);
    define_status! { class:
        truncated TRUNCATED, bad_header BAD_HEADER, fragment FRAGMENT, tunnel TUNNEL,
        bad_time BAD_TIME, unknown_link UNKNOWN_LINK, unknown_header UNKNOWN_HEADER,
    }
    class.define_method("data", method!(PacketCursor::data, 0))?;
    class.define_method("payload", method!(PacketCursor::payload, 0))?;
    class.define_method("[]", method!(PacketCursor::fetch, 1))?;
    class.define_method("values_at", method!(PacketCursor::values_at, -1))?;
    class.define_method("to_h", method!(PacketCursor::to_hash, 0))?;
    class.define_method("dup", method!(PacketCursor::copy, 0))?;
    class.define_method("clone", method!(PacketCursor::copy, 0))?;
    class.define_method("==", method!(PacketCursor::is_equal, 1))?;
    class.define_private_method("_dump", method!(PacketCursor::dump, 1))?;
    class.define_singleton_method("_load", function!(PacketCursor::load, 1))?;
    Ok(())
}
