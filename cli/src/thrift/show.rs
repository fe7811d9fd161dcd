//! Values of a message as text: as people read them, or as JSON.

mod json;
mod people;

use bytewright::thrift::{Schema, Type};

pub(crate) use json::json;
pub(super) use people::{line, people};

/// The type of the elements of a list or a set.
fn element(of: &Type) -> &Type {
    match of {
        Type::List(element) | Type::Set(element) => element,
        other => other,
    }
}

/// The types of the keys and the values of a map.
fn entry(of: &Type) -> (&Type, &Type) {
    match of {
        Type::Map(key, value) => (key, value),
        other => (other, other),
    }
}

/// The name of a number, where it is of an enum that has one for it.
fn enum_name<'s>(schema: &'s Schema, of: &Type, number: i64) -> Option<&'s str> {
    let Type::Enum(id) = of else { return None };
    schema.get_enum(*id)?.name_of(i32::try_from(number).ok()?)
}
