//! Conversion of keys and values of a table to Ruby objects, and of objects to values.

use std::ffi::c_int;

use bytewright::ErrorKind;
use bytewright::host::table::Entry;
use bytewright::table::{integer_of, integer_value};
use magnus::gc::Marker;
use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::value::{InnerValue, Opaque};
use magnus::{Error, Integer, RString, Ruby, Value, prelude::*};
use rb_sys::VALUE;

use super::tables::{bytes, encoding_index, new_string, string, string_of};
use super::{bytes_of, class_name, or_raise};
use crate::error::{refusal, to_ruby};

/// Kind of Ruby objects that the values of a table become.
#[derive(Clone, Copy)]
pub(crate) enum ValueObjects {
    Strings,
    Integers,
    /// Objects that `load` of this one makes of the Strings, and `dump` makes Strings of.
    Dumped(Opaque<Value>),
}

/// Conversion of the entries of one table.
#[derive(Clone, Copy)]
pub(crate) struct Conversion {
    /// The number of the encoding that Strings get, as Ruby counts them.
    pub(crate) encoding: c_int,
    pub(crate) values: ValueObjects,
}

impl Default for Conversion {
    fn default() -> Self {
        Conversion { encoding: encoding_index(None), values: ValueObjects::Strings }
    }
}

/// The bytes of a value that is to be put.
pub(super) enum GivenValue {
    /// Those of a String, which is kept alive.
    String(VALUE),
    Integer([u8; 8]),
}

impl GivenValue {
    /// # Safety
    /// The String must be kept alive, and no Ruby code may run while they are used.
    #[inline]
    pub(super) unsafe fn bytes(&self) -> &[u8] {
        match self {
            // SAFETY: as the caller promises.
            GivenValue::String(string) => unsafe { bytes(*string) },
            GivenValue::Integer(value) => value,
        }
    }

    /// Keeps the String alive up to here.
    #[inline]
    pub(super) fn keep(&self) {
        if let GivenValue::String(string) = self {
            std::hint::black_box(*string);
        }
    }
}

impl Conversion {
    pub(crate) fn mark(&self, marker: &Marker) {
        if let ValueObjects::Dumped(dumper) = self.values {
            marker.mark(dumper);
        }
    }

    /// The object that dumps and loads, where there is one.
    pub(crate) fn dumper(&self, ruby: &Ruby) -> Option<Value> {
        match self.values {
            ValueObjects::Dumped(dumper) => Some(dumper.get_inner_with(ruby)),
            _ => None,
        }
    }

    /// A key as a new String.
    pub(crate) fn key(&self, key: &[u8]) -> RString {
        string_of(key, self.encoding)
    }

    /// A value as an object.
    pub(crate) fn value(&self, ruby: &Ruby, value: &[u8]) -> Result<Value, Error> {
        match self.values {
            ValueObjects::Strings => Ok(string_of(value, self.encoding).as_value()),
            ValueObjects::Integers => match integer_of(value) {
                Ok(number) => Ok(ruby.integer_from_i64(number).as_value()),
                Err(error) => Err(to_ruby(ruby, &error)),
            },
            ValueObjects::Dumped(dumper) => {
                let dumped = string_of(value, self.encoding);
                dumper.get_inner_with(ruby).funcall("load", (dumped,))
            }
        }
    }

    /// A key and its value.
    pub(crate) fn entry(
        &self,
        ruby: &Ruby,
        (key, value): Entry,
    ) -> Result<(RString, Value), Error> {
        Ok((self.key(&key), self.value(ruby, &value)?))
    }

    /// The bytes of a value to put.
    pub(crate) fn value_bytes(&self, ruby: &Ruby, object: Value) -> Result<Vec<u8>, Error> {
        match self.values {
            ValueObjects::Strings => RString::try_convert(object).map(bytes_of),
            ValueObjects::Integers => {
                integer(ruby, object).map(|number| integer_value(number).to_vec())
            }
            ValueObjects::Dumped(dumper) => {
                dump(ruby, dumper.get_inner_with(ruby), object).map(bytes_of)
            }
        }
    }

    /// Makes the part of a value's object that needs no Ruby code; [`Conversion::loaded`] makes the rest of it.
    ///
    /// # Safety
    /// Called under Ruby, with nothing alive that needs dropping; `value` must stay what it is while the garbage
    /// collector runs.
    #[inline]
    pub(super) unsafe fn plain_value(&self, value: &[u8]) -> VALUE {
        match self.values {
            ValueObjects::Integers => match integer_of(value) {
                // SAFETY: making an Integer runs no Ruby code.
                Ok(number) => unsafe { rb_sys::rb_ll2inum(number) },
                Err(error) => or_raise(|ruby| Err(to_ruby(ruby, &error))),
            },
            // SAFETY: as the caller promises.
            _ => unsafe { new_string(value, self.encoding) },
        }
    }

    /// The value that was begun as `plain`. This may run Ruby code.
    ///
    /// # Safety
    /// Called under Ruby, with nothing alive that needs dropping.
    #[inline]
    pub(super) unsafe fn loaded(&self, plain: VALUE) -> VALUE {
        match self.values {
            ValueObjects::Strings | ValueObjects::Integers => plain,
            ValueObjects::Dumped(dumper) => or_raise(|ruby| {
                // SAFETY: it is on the stack of the caller, and an object.
                let dumped = unsafe { Value::from_raw(plain) };
                let object: Value = dumper.get_inner_with(ruby).funcall("load", (dumped,))?;
                Ok(object.as_raw())
            }),
        }
    }

    /// The bytes of a value to put. This may run Ruby code.
    ///
    /// # Safety
    /// Called under Ruby, with nothing alive that needs dropping; `object` must be kept alive.
    #[inline]
    pub(super) unsafe fn given_value(&self, object: VALUE) -> GivenValue {
        match self.values {
            // SAFETY: as the caller promises.
            ValueObjects::Strings => GivenValue::String(unsafe { string(object) }),
            ValueObjects::Integers => {
                // SAFETY: as the caller promises.
                let object = unsafe { Value::from_raw(object) };
                GivenValue::Integer(integer_value(or_raise(|ruby| integer(ruby, object))))
            }
            ValueObjects::Dumped(dumper) => GivenValue::String(or_raise(|ruby| {
                // SAFETY: as the caller promises.
                let object = unsafe { Value::from_raw(object) };
                dump(ruby, dumper.get_inner_with(ruby), object).map(|dumped| dumped.as_raw())
            })),
        }
    }
}

/// An Integer of 64 bits.
pub(crate) fn integer(ruby: &Ruby, object: Value) -> Result<i64, Error> {
    let number = Integer::from_value(object);
    if let Some(Ok(number)) = number.map(|number| number.to_i64()) {
        return Ok(number);
    }
    let class =
        if number.is_some() { ruby.exception_range_error() } else { ruby.exception_type_error() };
    Err(refusal(ruby, class, object, |found| {
        let found = described(object, found);
        format!("a table of integers keeps Integers from -2**63 to 2**63-1: value is {found}")
    }))
}

/// A value as errors show it: its class, and what is shown of it.
fn described(object: Value, shown: &str) -> String {
    match object.is_nil() {
        true => shown.to_owned(),
        false => format!("{} {shown}", class_name(object)),
    }
}

/// The String that `dumper` makes of an object.
fn dump(ruby: &Ruby, dumper: Value, object: Value) -> Result<RString, Error> {
    if object.is_nil() {
        let message = "a table keeps no nil as a value; delete the key instead";
        return Err(Error::new(ruby.exception_type_error(), message));
    }
    let dumped: Value = dumper.funcall("dump", (object,))?;
    RString::from_value(dumped).ok_or_else(|| {
        refusal(ruby, ruby.exception_type_error(), dumped, |found| {
            let found = described(dumped, found);
            format!("expected the dump method of values: to return a String, found {found}")
        })
    })
}

/// Returns the kind of objects that `values` and a dumper mean. ArgumentError if they do not fit.
pub(crate) fn value_objects(
    ruby: &Ruby,
    values: bytewright::table::ValueType,
    dumper: Option<Value>,
) -> Result<ValueObjects, Error> {
    use bytewright::table::ValueType;
    match dumper {
        None if values == ValueType::BYTES => Ok(ValueObjects::Strings),
        None if values == ValueType::INTEGER => Ok(ValueObjects::Integers),
        Some(dumper) if values != ValueType::BYTES && values != ValueType::INTEGER => {
            Ok(ValueObjects::Dumped(dumper.into()))
        }
        _ => {
            let message =
                format!("expected a name other than {values} for values that an object dumps");
            Err(to_ruby(ruby, &bytewright::Error::new(ErrorKind::Argument, message)))
        }
    }
}
