//! `Bytewright::Packet`: one packet's fields, made into Ruby objects only when they are asked for.

use std::cell::RefCell;
use std::sync::Arc;

use bytewright::batch;
use bytewright::packet::{Field, Packet, Status};
use bytewright::scan::FrameBatch;
use magnus::typed_data::Obj;
use magnus::value::Opaque;
use magnus::{Error, RHash, Ruby, Symbol, TryConvert, Value, method, prelude::*};

use crate::address_texts::AddressTexts;
use crate::border;
use crate::fields::field_named;
use crate::record::object_of;

/// A packet. While a capture is iterated it is a cursor that moves on; a copy stays.
#[derive(magnus::TypedData)]
#[magnus(class = "Bytewright::Packet", free_immediately, mark, size)]
pub(crate) struct PacketCursor {
    place: RefCell<Place>,
    texts: Opaque<Obj<AddressTexts>>,
}

/// Where a packet is.
enum Place {
    Nowhere,
    /// In the batch that is being iterated, at an index.
    Batch(Arc<FrameBatch>, usize),
    /// In a copy of its own, with the bytes that were captured.
    Own(Box<Packet>, Arc<[u8]>),
}

impl magnus::DataTypeFunctions for PacketCursor {
    fn mark(&self, marker: &magnus::gc::Marker) {
        marker.mark(self.texts);
    }

    fn size(&self) -> usize {
        let own = match &*self.place.borrow() {
            Place::Own(_, bytes) => size_of::<Packet>() + bytes.len(),
            _ => 0,
        };
        size_of::<Self>() + own
    }
}

impl PacketCursor {
    pub(crate) fn new(texts: Obj<AddressTexts>) -> Self {
        PacketCursor { place: RefCell::new(Place::Nowhere), texts: texts.into() }
    }

    /// Gives up the batch it moves over, if nobody else looks into it.
    pub(crate) fn take_batch(&self) -> Option<FrameBatch> {
        match self.place.replace(Place::Nowhere) {
            Place::Batch(batch, _) => Arc::try_unwrap(batch).ok(),
            _ => None,
        }
    }

    /// Moves to `batch`; says how many packets it holds.
    pub(crate) fn enter_batch(&self, batch: FrameBatch) -> usize {
        let len = batch.len();
        self.place.replace(Place::Batch(Arc::new(batch), 0));
        len
    }

    /// Keeps the packet it is at as a copy of its own, and gives up the batch.
    pub(crate) fn settle(&self) {
        let own = match &*self.place.borrow() {
            Place::Batch(batch, index) => batch.packet(*index).map(|packet| {
                let bytes = batch.captured(*index).unwrap_or_default();
                Place::Own(Box::new(*packet), Arc::from(bytes))
            }),
            Place::Nowhere | Place::Own(..) => return,
        };
        self.place.replace(own.unwrap_or(Place::Nowhere));
    }

    /// Moves to the packet at `index` of its batch.
    #[inline]
    pub(crate) fn point(&self, index: usize) {
        if let Place::Batch(_, at) = &mut *self.place.borrow_mut() {
            *at = index;
        }
    }

    /// Shows the packet to `look`.
    #[inline]
    pub(crate) fn with_packet<T>(&self, look: impl FnOnce(&Packet) -> T) -> T {
        let place = self.place.borrow();
        let packet = match &*place {
            Place::Nowhere => None,
            Place::Batch(batch, index) => batch.packet(*index),
            Place::Own(packet, _) => Some(&**packet),
        };
        match packet {
            Some(packet) => look(packet),
            None => look(&Packet::default()),
        }
    }

    /// The value of one field.
    #[inline]
    pub(crate) fn field(&self, field: Field) -> batch::Value<'static> {
        self.with_packet(|packet| packet.value(field))
    }

    /// The cache of address texts that it shares with its pass.
    #[inline]
    pub(crate) fn texts(&self) -> Opaque<Obj<AddressTexts>> {
        self.texts
    }

    /// A copy that stays as it is, with its own copy of the bytes.
    fn copy(ruby: &Ruby, this: &Self) -> Obj<PacketCursor> {
        let bytes = this.with_captured(|bytes| Arc::from(bytes));
        let packet = this.with_packet(|packet| Box::new(*packet));
        ruby.obj_wrap(PacketCursor {
            place: RefCell::new(Place::Own(packet, bytes)),
            texts: this.texts,
        })
    }

    fn with_captured<T>(&self, look: impl FnOnce(&[u8]) -> T) -> T {
        match &*self.place.borrow() {
            Place::Nowhere => look(&[]),
            Place::Batch(batch, index) => look(batch.captured(*index).unwrap_or_default()),
            Place::Own(_, bytes) => look(bytes),
        }
    }

    fn data(ruby: &Ruby, this: &Self) -> Value {
        this.with_captured(|bytes| ruby.str_from_slice(bytes)).as_value()
    }

    fn payload(ruby: &Ruby, this: &Self) -> Option<Value> {
        let range = this.with_packet(Packet::payload_range)?;
        let string =
            this.with_captured(|bytes| bytes.get(range).map(|part| ruby.str_from_slice(part)))?;
        Some(string.as_value())
    }

    fn value(ruby: &Ruby, this: &Self, field: Field) -> Result<Value, Error> {
        object_of(ruby, this.field(field), Some(&ruby.get_inner(this.texts)))
    }

    fn fetch(ruby: &Ruby, this: &Self, name: Symbol) -> Result<Value, Error> {
        Self::value(ruby, this, field_named(ruby, name)?)
    }

    fn values_at(ruby: &Ruby, this: &Self, names: &[Value]) -> Result<Value, Error> {
        let values = ruby.ary_new_capa(names.len());
        for name in names {
            let name = Symbol::from_value(*name).ok_or_else(|| {
                let message = format!("expected field names as Symbols, found {}", name.class());
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

    fn is_equal(&self, other: Value) -> bool {
        let Ok(other) = <&PacketCursor>::try_convert(other) else { return false };
        let bytes = self.with_captured(<[u8]>::to_vec);
        let packet = self.with_packet(|packet| *packet);
        other.with_packet(|other| packet == *other) && other.with_captured(|other| bytes == other)
    }

    fn has_status(&self, status: Status) -> bool {
        self.with_packet(|packet| packet.status().has(status))
    }
}

/// Declares the questions about the status bits: `name STATUS` becomes a method `name?`.
macro_rules! define_status {
    ($class:ident: $($name:ident $status:ident,)*) => {
        $({
            fn $name(this: &PacketCursor) -> bool {
                this.has_status(Status::$status)
            }
            $class.define_method(concat!(stringify!($name), "?"), method!($name, 0))?;
        })*
    };
}

pub(crate) fn init(ruby: &Ruby) -> Result<(), Error> {
    let class = crate::class::define::<PacketCursor>(ruby, "Packet")?;
    border::define_field_getters(class);
    define_status! { class:
        truncated TRUNCATED, bad_header BAD_HEADER, fragment FRAGMENT, tunnel TUNNEL,
        bad_time BAD_TIME, unknown_link UNKNOWN_LINK,
    }
    class.define_method("data", method!(PacketCursor::data, 0))?;
    class.define_method("payload", method!(PacketCursor::payload, 0))?;
    class.define_method("[]", method!(PacketCursor::fetch, 1))?;
    class.define_method("values_at", method!(PacketCursor::values_at, -1))?;
    class.define_method("to_h", method!(PacketCursor::to_hash, 0))?;
    class.define_method("dup", method!(PacketCursor::copy, 0))?;
    class.define_method("clone", method!(PacketCursor::copy, 0))?;
    class.define_method("==", method!(PacketCursor::is_equal, 1))?;
    Ok(())
}
