//! Objects whose getters are fields, as the core names them: a flow, a call.

use bytewright::flow::FieldValue;
use magnus::{Error, RArray, RHash, Ruby, Symbol, Value, prelude::*};

/// An object with fields.
pub(crate) trait Record {
    /// Which fields there are.
    type Field: Copy + 'static;

    /// Every one, in the order of the documentation.
    const ALL: &'static [Self::Field];

    /// The name that a field has in Ruby.
    fn name(field: Self::Field) -> &'static str;

    /// The value of a field.
    fn field(&self, field: Self::Field) -> FieldValue;

    /// The value of a field, as Ruby has it.
    fn get(ruby: &Ruby, this: &Self, field: Self::Field) -> Value {
        match this.field(field) {
            FieldValue::Null => ruby.qnil().as_value(),
            FieldValue::Unsigned(number) => ruby.integer_from_u64(number).as_value(),
            FieldValue::Signed(number) => ruby.integer_from_i64(number).as_value(),
            FieldValue::Address(address) => frozen(ruby, &address.to_string()),
            FieldValue::Text(text) => frozen(ruby, &text),
        }
    }

    /// `self[name]`
    fn fetch(ruby: &Ruby, this: &Self, name: Symbol) -> Result<Value, Error> {
        let name = name.name()?;
        let field = Self::ALL.iter().find(|field| Self::name(**field) == name);
        let field = field.ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|field| Self::name(*field)).collect();
            let message = format!("expected a field ({}), found :{name}", known.join(", "));
            Error::new(ruby.exception_arg_error(), message)
        })?;
        Ok(Self::get(ruby, this, *field))
    }

    /// All fields by their names.
    fn to_hash(ruby: &Ruby, this: &Self) -> Result<RHash, Error> {
        let hash = ruby.hash_new();
        for field in Self::ALL {
            hash.aset(ruby.to_symbol(Self::name(*field)), Self::get(ruby, this, *field))?;
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

fn frozen(ruby: &Ruby, text: &str) -> Value {
    let text = ruby.str_new(text);
    text.freeze();
    text.as_value()
}

/// Declares the getters of an object that are fields: `name Field` becomes a method `name`.
macro_rules! define_getters {
    ($class:ident $object:ident $fields:ident: $($name:ident $field:ident,)*) => {
        $({
            fn $name(ruby: &Ruby, this: &$object) -> Value {
                $object::get(ruby, this, $fields::$field)
            }
            $class.define_method(stringify!($name), method!($name, 0))?;
        })*
    };
}

pub(crate) use define_getters;
