//! Scalars of a Marshal stream as Ruby objects, and Ruby objects as such scalars, without a copy.

use bytewright::marshal::{CommonEncoding, Scalar};
use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::{RString, Ruby, Value, prelude::*};
use rb_sys::{VALUE, ruby_value_type};

use super::tables::{bytes, new_string};

/// The object that loading the scalar makes, a new one where it is a String. Nothing where Ruby may
/// refuse to make it.
pub(crate) fn object_of(ruby: &Ruby, scalar: Scalar<'_>) -> Option<Value> {
    Some(match scalar {
        Scalar::Nil => ruby.qnil().as_value(),
        Scalar::Bool(true) => ruby.qtrue().as_value(),
        Scalar::Bool(false) => ruby.qfalse().as_value(),
        Scalar::Integer(number) => ruby.integer_from_i64(number).as_value(),
        Scalar::Float(number) => ruby.float_from_f64(number).as_value(),
        Scalar::String(text, encoding) => string(text, encoding).as_value(),
        Scalar::Symbol(text, encoding) => {
            // Ruby refuses a Symbol of text that is no text.
            if encoding != CommonEncoding::Binary && std::str::from_utf8(text).is_err() {
                return None;
            }
            let text = string(text, encoding);
            // SAFETY: a String of valid text is made a Symbol without an exception.
            unsafe { Value::from_raw(rb_sys::rb_str_intern(text.as_raw())) }
        }
    })
}

/// Makes a key of a Hash: Strings are frozen, and one for each text.
pub(crate) fn key_of(ruby: &Ruby, scalar: Scalar<'_>) -> Option<Value> {
    let key = object_of(ruby, scalar)?;
    Some(RString::from_value(key).map_or(key, |text| text.to_interned_str().as_value()))
}

fn string(text: &[u8], encoding: CommonEncoding) -> RString {
    // SAFETY: asking for the number of an encoding that each Ruby has answers a constant; making the
    // String moves no bytes that Rust has, and what it makes is a String.
    unsafe {
        let encoding = match encoding {
            CommonEncoding::Binary => rb_sys::rb_ascii8bit_encindex(),
            CommonEncoding::UsAscii => rb_sys::rb_usascii_encindex(),
            CommonEncoding::Utf8 => rb_sys::rb_utf8_encindex(),
        };
        let string = Value::from_raw(new_string(text, encoding));
        RString::from_value(string).unwrap_or_else(|| std::process::abort())
    }
}

/// Shows `look` the scalar that dumping the object writes, or nothing if that is no scalar. `look`
/// calls nothing of Ruby's.
pub(crate) fn with_scalar<R>(object: Value, look: impl FnOnce(Option<Scalar<'_>>) -> R) -> R {
    let raw = object.as_raw();
    // SAFETY: the type of an object says what may be asked of it: of a Fixnum its number, of a Float
    // in a word its number, of a Symbol its name, of a String its encoding. None of this raises. The
    // caller's object keeps the bytes, which stay as they are while nothing of Ruby's runs.
    let scalar = unsafe {
        if rb_sys::NIL_P(raw) {
            Some(Scalar::Nil)
        } else if raw == rb_sys::Qtrue as VALUE || raw == rb_sys::Qfalse as VALUE {
            Some(Scalar::Bool(raw == rb_sys::Qtrue as VALUE))
        } else if rb_sys::FIXNUM_P(raw) {
            Some(Scalar::Integer(rb_sys::FIX2LONG(raw)))
        } else if rb_sys::FLONUM_P(raw) {
            Some(Scalar::Float(rb_sys::rb_float_value(raw)))
        } else if is_symbol(raw) {
            let name = rb_sys::rb_sym2str(raw);
            let text = bytes(name);
            let encoding =
                if text.is_ascii() { Some(CommonEncoding::Binary) } else { encoding(name) };
            encoding.map(|encoding| Scalar::Symbol(text, encoding))
        } else if is_plain_string(raw) {
            encoding(raw).map(|encoding| Scalar::String(bytes(raw), encoding))
        } else {
            None
        }
    };
    look(scalar)
}

/// Returns true if the object is of a kind that has no identity beside its content.
pub(crate) fn is_immediate(object: Value) -> bool {
    let raw = object.as_raw();
    // SAFETY: it looks at the word, and at the type of the object where that is one.
    unsafe { rb_sys::SPECIAL_CONST_P(raw) || is_symbol(raw) }
}

/// Returns true if the object is a String, of that class itself, without instance variables or methods of its
/// own.
pub(crate) fn is_string(object: Value) -> bool {
    // SAFETY: as for any object.
    unsafe { is_plain_string(object.as_raw()) }
}

/// # Safety
/// `object` must be one of Ruby's.
unsafe fn is_symbol(object: VALUE) -> bool {
    // SAFETY: as the caller promises.
    unsafe { rb_sys::RB_TYPE_P(object, ruby_value_type::RUBY_T_SYMBOL) }
}

/// # Safety
/// `object` must be one of Ruby's.
unsafe fn is_plain_string(object: VALUE) -> bool {
    const HAS_VARIABLES: VALUE = rb_sys::ruby_fl_type::RUBY_FL_EXIVAR as VALUE;
    // SAFETY: what is a String begins with the header that all objects begin with.
    unsafe {
        rb_sys::RB_TYPE_P(object, ruby_value_type::RUBY_T_STRING)
            && (*(object as *const rb_sys::RBasic)).klass == rb_sys::rb_cString
            && (*(object as *const rb_sys::RBasic)).flags & HAS_VARIABLES == 0
    }
}

/// The encoding of a String, if it is a frequent one.
///
/// # Safety
/// `string` must be a String.
unsafe fn encoding(string: VALUE) -> Option<CommonEncoding> {
    // SAFETY: a String has an encoding; the others are constants.
    unsafe {
        match rb_sys::rb_enc_get_index(string) {
            index if index == rb_sys::rb_utf8_encindex() => Some(CommonEncoding::Utf8),
            index if index == rb_sys::rb_usascii_encindex() => Some(CommonEncoding::UsAscii),
            index if index == rb_sys::rb_ascii8bit_encindex() => Some(CommonEncoding::Binary),
            _ => None,
        }
    }
}
