//! Objects whose getters are fields, as the core names them: a flow, a call.

use bytewright::batch::{self, Batch};
use magnus::{Error, RArray, RHash, Ruby, Symbol, Value, prelude::*};

use crate::address_texts::AddressTexts;
use crate::border::{AddressCache, string_of, uuid_text};
use crate::error::raised;

/// An object with fields.
pub(crate) trait Record {
    /// Which fields there are.
    type Field: Copy + 'static;

    /// Every one, in the order of the documentation.
    const ALL: &'static [Self::Field];

    /// The name that a field has in Ruby.
    fn name(field: Self::Field) -> &'static str;

    /// The field of that name.
    fn named(name: &str) -> bytewright::Result<Self::Field>;

    /// The value of a field.
    fn field(&self, field: Self::Field) -> batch::Value<'_>;

    /// The value of a field, as Ruby has it.
    fn get(ruby: &Ruby, this: &Self, field: Self::Field) -> Result<Value, Error> {
        object_of(ruby, this.field(field), None)
    }

    /// `self[name]`
    fn fetch(ruby: &Ruby, this: &Self, name: Symbol) -> Result<Value, Error> {
        let field = raised(ruby, Self::named(&name.name()?))?;
        Self::get(ruby, this, field)
    }

    /// All fields by their names.
    fn to_hash(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let hash = ruby.hash_new();
        for field in Self::ALL {
            hash.aset(ruby.to_symbol(Self::name(*field)), Self::get(ruby, this, *field)?)?;
        }
        Ok(hash)
    }

    /// The names of all fields, for the constant `FIELDS`.
    fn names(ruby: &Ruby) -> RArray {
        let names = Self::ALL.iter().map(|field| ruby.to_symbol(Self::name(*field)));
        let names = ruby.ary_from_iter(names);
        names.freeze();
        names
    }
}

/// A value as a Ruby object: text and addresses are frozen Strings, the latter from `texts` where there is such a
/// cache.
#[inline]
pub(crate) fn object_of(
    ruby: &Ruby,
    value: batch::Value<'_>,
    texts: Option<&AddressTexts>,
) -> Result<Value, Error> {
    use batch::Value as Read;
    Ok(match value {
        Read::Null => ruby.qnil().as_value(),
        Read::Unsigned(number) | Read::Duration(number) => ruby.integer_from_u64(number).as_value(),
        Read::Signed(number) | Read::Time(number) => ruby.integer_from_i64(number).as_value(),
        Read::Double(number) => ruby.float_from_f64(number).as_value(),
        Read::Bool(true) => ruby.qtrue().as_value(),
        Read::Bool(false) => ruby.qfalse().as_value(),
        Read::Address(address) => match texts {
            Some(texts) => texts.text(ruby, address)?,
            None => frozen(ruby, &address.to_string()),
        },
        Read::Text(text) | Read::Json(text) => frozen(ruby, text),
        Read::ShortText(text) => frozen(ruby, text.as_str()),
        Read::Bytes(bytes) => string_of(bytes, 0).as_value(),
        Read::Uuid(bytes) => uuid_text(&bytes).as_value(),
    })
}

/// The values of a row by the names of the fields.
pub(crate) fn row_to_hash(ruby: &Ruby, batch: &Batch, row: usize) -> Result<RHash, Error> {
    let hash = ruby.hash_new();
    for (place, field) in batch.schema().fields().iter().enumerate() {
        hash.aset(ruby.to_symbol(field.name()), fact_of(ruby, batch.value(row, place))?)?;
    }
    Ok(hash)
}

/// A value as an object of its own: text is a String that may be changed.
pub(crate) fn fact_of(ruby: &Ruby, value: batch::Value<'_>) -> Result<Value, Error> {
    match value.text() {
        Some(text) => Ok(ruby.str_new(text).as_value()),
        None => object_of(ruby, value, None),
    }
}

fn frozen(ruby: &Ruby, text: &str) -> Value {
    let text = ruby.str_new(text);
    text.freeze();
    text.as_value()
}

/// Declares the getters of an object that are fields: `name Field` becomes a method `name`.
macro_rules! define_getters {
    ($class:ident $object:ident $fields:ident: $($name:ident $field:ident,)*) => {
        $({
            fn $name(ruby: &Ruby, this: &$object) -> Result<Value, Error> {
                $object::get(ruby, this, $fields::$field)
            }
            $class.define_method(stringify!($name), method!($name, 0))?;
        })*
    };
}

pub(crate) use define_getters;
