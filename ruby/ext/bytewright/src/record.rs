//! Objects whose getters are fields, as the core names them: a flow, a call.

use std::borrow::Cow;

use bytewright::batch::{self, Batch, DataType, Field};
use magnus::{Error, RArray, RHash, Ruby, Symbol, Value, prelude::*};

use crate::address_texts::AddressTexts;
use crate::border::{AddressCache, encoding_index, string_of, uuid_text};
use crate::error::raised;

/// An object with fields.
pub(crate) trait Record {
    /// Enum of the fields.
    type Field: Copy + 'static;

    /// Every one, in the order of the documentation.
    const ALL: &'static [Self::Field];

    /// The name that a field has in Ruby.
    fn name(field: Self::Field) -> &'static str;

    /// The name of the method that gives a field.
    fn getter_name(field: Self::Field) -> &'static str {
        Self::name(field)
    }

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

    /// The fields that it has, of all that there are.
    fn fields(&self) -> Cow<'static, [Self::Field]> {
        Cow::Borrowed(Self::ALL)
    }

    /// The fields that it has, by their names.
    fn to_hash(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let hash = ruby.hash_new();
        for field in this.fields().iter() {
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

/// Refuses bytes that Marshal gives to `_load` and no object of the class gave to it.
pub(crate) fn not_dumped(ruby: &Ruby, class: &str) -> Error {
    let message =
        format!("expected what Marshal dumps of a Bytewright::{class}, found other bytes");
    Error::new(ruby.exception_arg_error(), message)
}

/// A value as a Ruby object: text and addresses are frozen Strings, the latter from `texts` where there is such a
/// cache. A list is an Array, a struct and a map are Hashes, the former with Symbols.
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
        Read::Nested(nested) => nested_object(ruby, nested, texts)?,
    })
}

fn nested_object(
    ruby: &Ruby,
    nested: batch::NestedValue<'_>,
    texts: Option<&AddressTexts>,
) -> Result<Value, Error> {
    let fields = nested.children();
    match (nested.data_type(), fields.first().map(Field::children)) {
        (DataType::Struct, _) => {
            let hash = ruby.hash_new();
            for (field, value) in nested.fields() {
                let object = inner_object(ruby, value, field, texts)?;
                hash.aset(ruby.to_symbol(field.name()), object)?;
            }
            Ok(hash.as_value())
        }
        (DataType::Map, Some([key_field, value_field])) => {
            let hash = ruby.hash_new();
            for (key, value) in nested.entries() {
                let key = inner_object(ruby, key, key_field, texts)?;
                hash.aset(key, inner_object(ruby, value, value_field, texts)?)?;
            }
            Ok(hash.as_value())
        }
        _ => {
            let elements = ruby.ary_new_capa(nested.elements().len());
            for (value, field) in nested.elements().zip(fields.iter().cycle()) {
                elements.push(inner_object(ruby, value, field, texts)?)?;
            }
            Ok(elements.as_value())
        }
    }
}

/// The object for a value in another. Text has the encoding of text, whatever its bytes are.
fn inner_object(
    ruby: &Ruby,
    value: batch::Value<'_>,
    field: &Field,
    texts: Option<&AddressTexts>,
) -> Result<Value, Error> {
    match value {
        batch::Value::Bytes(bytes) if field.data_type() == DataType::Text => {
            Ok(string_of(bytes, encoding_index(None)).as_value())
        }
        value => object_of(ruby, value, texts),
    }
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

/// Fields of a record at most.
pub(crate) const FIELDS_MAX: usize = 80;

/// Defines a method for each field of a record. Ruby wants a function for each, so they are made by places.
macro_rules! define_getters {
    ($class:ident $object:ident) => {
        const { assert!(<$object as Record>::ALL.len() <= crate::record::FIELDS_MAX) };
        define_getters! { $class $object
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
            32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
            64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79
        }
    };
    ($class:ident $object:ident $($place:literal)*) => {
        $(if let Some(field) = $object::ALL.get($place) {
            fn getter(ruby: &Ruby, this: &$object) -> Result<Value, Error> {
                let field = $object::ALL.get($place);
                field.map_or(Ok(ruby.qnil().as_value()), |field| $object::get(ruby, this, *field))
            }
            $class.define_method($object::getter_name(*field), method!(getter, 0))?;
        })*
    };
}

pub(crate) use define_getters;
