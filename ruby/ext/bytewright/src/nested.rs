//! Nested objects of Ruby as CBOR: those of Ruby's own classes, which come back as they are.

use bytewright::marshal::{CommonEncoding, Scalar};
use bytewright::table::cache::NestedTag;
use bytewright::wire::{CborItem, Reader};
use magnus::r_hash::ForEach;
use magnus::{Error, Float, Integer, RArray, RClass, RHash, RString, Ruby, Value, prelude::*};

use crate::border::{class_name, object_of, with_scalar};
use crate::cache_data::text_of;
use crate::error::shown;

/// Reason for which an object has no bytes.
pub(crate) enum PutError {
    /// It is of a class that is not kept.
    Unfit(Unfit),
    /// Ruby raised this meanwhile.
    Raised(Error),
}

impl From<Error> for PutError {
    fn from(error: Error) -> PutError {
        PutError::Raised(error)
    }
}

/// Object of a class that is not kept.
pub(crate) struct Unfit {
    /// Indices that lead to it, the innermost first.
    place: Vec<String>,
    reason: String,
}

impl Unfit {
    /// The TypeError for a `what`.
    pub(crate) fn raised(&self, ruby: &Ruby, what: &str) -> Error {
        let place: String = self.place.iter().rev().map(|index| format!("[{index}]")).collect();
        let reason = &self.reason;
        Error::new(
            ruby.exception_type_error(),
            format!(
                "a cache keeps String, Symbol, Integer, Float, true, false and nil, and Array, Hash and Set of these: \
                 {what}{place} {reason}; convert it, or open the cache with marshal_key"
            ),
        )
    }
}

fn unfit(reason: String) -> PutError {
    PutError::Unfit(Unfit { place: Vec::new(), reason })
}

/// Adds the index of the element that an error is about.
fn inside(error: PutError, index: impl FnOnce() -> Result<String, Error>) -> PutError {
    match error {
        PutError::Unfit(mut unfit) => match index() {
            Ok(index) => {
                unfit.place.push(index);
                PutError::Unfit(unfit)
            }
            Err(raised) => PutError::Raised(raised),
        },
        raised => raised,
    }
}

/// Appends an object to `bytes`.
pub(crate) fn put_object(
    ruby: &Ruby,
    object: Value,
    bytes: &mut Vec<u8>,
    depth: usize,
) -> Result<(), PutError> {
    if with_scalar(object, |scalar| scalar.is_some_and(|scalar| put_scalar(scalar, bytes))) {
        return Ok(());
    }
    if let Some(number) = Integer::from_value(object) {
        return match number.to_i64() {
            Ok(number) => {
                CborItem::integer(number).put(bytes);
                Ok(())
            }
            Err(_) => put_long(number, bytes),
        };
    }
    if let Some(number) = Float::from_value(object) {
        CborItem::Float(number.to_f64()).put(bytes);
        return Ok(());
    }
    if depth == NestedTag::DEPTH_MAX {
        return Err(unfit(format!("is {depth} objects deep")));
    }
    let class = object.class();
    if let Some(array) = RArray::from_value(object).filter(|_| is(class, ruby.class_array())) {
        put_array(ruby, array, bytes, depth)
    } else if let Some(hash) = RHash::from_value(object).filter(|_| is(class, ruby.class_hash())) {
        put_hash(ruby, hash, bytes, depth)
    } else if is(class, set_class(ruby)?) {
        NestedTag::Set.put(bytes);
        put_array(ruby, object.funcall("to_a", ())?, bytes, depth)
    } else {
        Err(unfit(unfit_reason(ruby, object)?))
    }
}

fn is(class: RClass, other: RClass) -> bool {
    class.eql(other).unwrap_or(false)
}

fn set_class(ruby: &Ruby) -> Result<RClass, Error> {
    ruby.class_object().const_get("Set")
}

/// Appends a scalar; false if it is none that is kept.
fn put_scalar(scalar: Scalar<'_>, bytes: &mut Vec<u8>) -> bool {
    match scalar {
        Scalar::Nil => CborItem::Null.put(bytes),
        Scalar::Bool(value) => CborItem::Bool(value).put(bytes),
        Scalar::Integer(number) => CborItem::integer(number).put(bytes),
        Scalar::Float(number) => CborItem::Float(number).put(bytes),
        Scalar::String(data, CommonEncoding::Binary) => CborItem::Bytes(data).put(bytes),
        Scalar::String(text, encoding) => match text_of(text, encoding) {
            Some(text) => CborItem::Text(text).put(bytes),
            None => return false,
        },
        Scalar::Symbol(name, _) => match std::str::from_utf8(name) {
            Ok(name) => {
                NestedTag::Name.put(bytes);
                CborItem::Text(name).put(bytes);
            }
            Err(_) => return false,
        },
    }
    true
}

/// Reason for which an object is not kept.
fn unfit_reason(ruby: &Ruby, object: Value) -> Result<String, Error> {
    if let Some(string) =
        RString::from_value(object).filter(|_| is(object.class(), ruby.class_string()))
    {
        let encoding: Value = string.funcall("encoding", ())?;
        return Ok(format!("is a String in {encoding} that is no valid text in UTF-8"));
    }
    Ok(format!("is {} {}", class_name(object), shown(ruby, object)?))
}

/// Appends an integer of more than 64 bits.
fn put_long(number: Integer, bytes: &mut Vec<u8>) -> Result<(), PutError> {
    let is_negative: bool = number.funcall("negative?", ())?;
    let positive: Integer = if is_negative { number.funcall("~", ())? } else { number };
    let hex: String = positive.funcall("to_s", (16,))?;
    let padded = if hex.len() % 2 == 1 { format!("0{hex}") } else { hex };
    let digit = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
    let digits: Vec<u8> =
        padded.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
    let tag = if is_negative { NestedTag::LongNegative } else { NestedTag::Long };
    tag.put(bytes);
    CborItem::Bytes(&digits).put(bytes);
    Ok(())
}

fn put_array(
    ruby: &Ruby,
    array: RArray,
    bytes: &mut Vec<u8>,
    depth: usize,
) -> Result<(), PutError> {
    let len = array.len();
    CborItem::Array(len as u64).put(bytes);
    let mut index = 0;
    while index < array.len() {
        put_object(ruby, array.entry(index as isize)?, bytes, depth + 1)
            .map_err(|error| inside(error, || Ok(index.to_string())))?;
        index += 1;
    }
    whole(ruby, index == len)
}

fn put_hash(ruby: &Ruby, hash: RHash, bytes: &mut Vec<u8>, depth: usize) -> Result<(), PutError> {
    let default: Value = hash.funcall("default", ())?;
    let default_proc: Value = hash.funcall("default_proc", ())?;
    if !default.is_nil() || !default_proc.is_nil() {
        return Err(unfit("is a Hash with a default".to_owned()));
    }
    if hash.funcall("compare_by_identity?", ())? {
        return Err(unfit("is a Hash that compares by identity".to_owned()));
    }
    let len = hash.len();
    CborItem::Map(len as u64).put(bytes);
    let (mut count, mut outcome) = (0, Ok(()));
    hash.foreach(|key: Value, element: Value| {
        count += 1;
        outcome = put_object(ruby, key, bytes, depth + 1)
            .and_then(|()| put_object(ruby, element, bytes, depth + 1))
            .map_err(|error| inside(error, || shown(ruby, key)));
        Ok(if outcome.is_ok() { ForEach::Continue } else { ForEach::Stop })
    })?;
    outcome?;
    whole(ruby, count == len)
}

/// Fails for an object that another thread, or its own methods, changed meanwhile.
fn whole(ruby: &Ruby, is_whole: bool) -> Result<(), PutError> {
    match is_whole {
        true => Ok(()),
        false => {
            let message = "expected an object that stays as it is while it is set in a cache, found it changed";
            Err(Error::new(ruby.exception_runtime_error(), message).into())
        }
    }
}

/// Takes an object from `reader`; `None` where there is none.
pub(crate) fn take_object(
    ruby: &Ruby,
    reader: &mut Reader<'_>,
    depth: usize,
) -> Result<Option<Value>, Error> {
    if depth > NestedTag::DEPTH_MAX {
        return Ok(None);
    }
    let Some(item) = CborItem::take(reader) else { return Ok(None) };
    Ok(Some(match item {
        CborItem::Text(text) => ruby.str_new(text).as_value(),
        CborItem::Bytes(data) => ruby.str_from_slice(data).as_value(),
        CborItem::Unsigned(number) => ruby.integer_from_u64(number).as_value(),
        CborItem::Negative(number) => ruby.integer_from_u64(number).funcall("~", ())?,
        CborItem::Float(number) => ruby.float_from_f64(number).as_value(),
        CborItem::Bool(true) => ruby.qtrue().as_value(),
        CborItem::Bool(false) => ruby.qfalse().as_value(),
        CborItem::Null => ruby.qnil().as_value(),
        CborItem::Array(count) => match take_array(ruby, count, reader, depth)? {
            Some(array) => array.as_value(),
            None => return Ok(None),
        },
        CborItem::Map(count) => {
            let hash = ruby.hash_new();
            for _ in 0..count {
                let Some(key) = take_object(ruby, reader, depth + 1)? else { return Ok(None) };
                let Some(element) = take_object(ruby, reader, depth + 1)? else { return Ok(None) };
                hash.aset(key, element)?;
            }
            hash.as_value()
        }
        CborItem::Tag(number) => return take_tagged(ruby, number, reader, depth),
    }))
}

fn take_array(
    ruby: &Ruby,
    count: u64,
    reader: &mut Reader<'_>,
    depth: usize,
) -> Result<Option<RArray>, Error> {
    let array = ruby.ary_new();
    for _ in 0..count {
        let Some(element) = take_object(ruby, reader, depth + 1)? else { return Ok(None) };
        array.push(element)?;
    }
    Ok(Some(array))
}

fn take_tagged(
    ruby: &Ruby,
    number: u64,
    reader: &mut Reader<'_>,
    depth: usize,
) -> Result<Option<Value>, Error> {
    let Some(tag) = NestedTag::of_number(number) else { return Ok(None) };
    if tag == NestedTag::Name {
        let Some(CborItem::Text(name)) = CborItem::take(reader) else { return Ok(None) };
        return Ok(object_of(ruby, Scalar::Symbol(name.as_bytes(), CommonEncoding::Utf8)));
    }
    if matches!(tag, NestedTag::Long | NestedTag::LongNegative) {
        let Some(CborItem::Bytes(digits)) = CborItem::take(reader) else { return Ok(None) };
        let hex: String = digits.iter().map(|byte| format!("{byte:02x}")).collect();
        let positive: Integer = ruby.str_new(&hex).funcall("to_i", (16,))?;
        return match tag {
            NestedTag::Long => Ok(Some(positive.as_value())),
            _ => positive.funcall("~", ()).map(Some),
        };
    }
    // No other item, so that no chain of tags goes deeper.
    let Some(CborItem::Array(count)) = CborItem::take(reader) else { return Ok(None) };
    let Some(array) = take_array(ruby, count, reader, depth)? else { return Ok(None) };
    let object = match tag {
        NestedTag::Tuple => array.as_value(),
        _ => set_class(ruby)?.funcall("new", (array,))?,
    };
    if tag != NestedTag::Set {
        object.freeze();
    }
    Ok(Some(object))
}
