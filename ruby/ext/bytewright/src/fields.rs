//! Fields by their names, which are Symbols in Ruby.

use bytewright::packet::Field;
use magnus::{Error, RArray, RClass, Ruby, Symbol, TryConvert, prelude::*};

use crate::border::ROW_FIELDS_MAX;
use crate::error::raised;

/// Defines `FIELDS`, `DEFAULT_FIELDS` and `FIELD_TYPES`.
pub(crate) fn define_fields(ruby: &Ruby, class: RClass) -> Result<(), Error> {
    let names = |fields: &[Field]| {
        let names = ruby.ary_from_iter(fields.iter().map(|field| ruby.to_symbol(field.name())));
        names.freeze();
        names
    };
    let types = ruby.hash_new();
    for field in Field::ALL {
        types.aset(
            ruby.to_symbol(field.name()),
            ruby.to_symbol(field.data_type().storage().name()),
        )?;
    }
    types.freeze();
    class.const_set("FIELDS", names(Field::ALL))?;
    class.const_set("DEFAULT_FIELDS", names(Field::DEFAULT))?;
    class.const_set("FIELD_TYPES", types)
}

/// The field that a Symbol names.
pub(crate) fn field_named(ruby: &Ruby, name: Symbol) -> Result<Field, Error> {
    raised(ruby, Field::named(&name.name()?))
}

pub(crate) fn fields_named(ruby: &Ruby, names: RArray) -> Result<Vec<Field>, Error> {
    if names.len() > ROW_FIELDS_MAX {
        let message = format!("expected at most {ROW_FIELDS_MAX} fields, found {}", names.len());
        return Err(Error::new(ruby.exception_arg_error(), message));
    }
    names.into_iter().map(|name| field_named(ruby, Symbol::try_convert(name)?)).collect()
}
