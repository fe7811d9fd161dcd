//! Keys, tags and values of a cache as objects of Ruby, and their bytes.

use bytewright::marshal::{CommonEncoding, Scalar};
use bytewright::table::cache::{CacheData, CacheKind};
use bytewright::wire::Reader;
use magnus::gc::Marker;
use magnus::value::{InnerValue, Opaque};
use magnus::{Error, Float, Integer, RString, Ruby, Value, prelude::*};

use crate::border::{bytes_of, with_scalar};
use crate::error::raised;
use crate::nested::{PutError, put_object, take_object};

/// Means to keep objects that a cache does not keep by itself.
pub(crate) struct ObjectForms {
    /// Object that dumps and loads them behind a check, if the program wants that.
    marshal: Option<Opaque<Value>>,
}

/// Bytes of an object.
pub(crate) struct ObjectBytes {
    kind: CacheKind,
    bytes: Vec<u8>,
}

impl ObjectBytes {
    pub(crate) fn data(&self) -> CacheData<'_> {
        CacheData::new(self.kind, &self.bytes)
    }
}

/// Object of data, which [`ObjectForms::object`] makes ready.
pub(crate) enum FoundObject {
    Ready(Value),
    Nested(Vec<u8>),
    Sealed(RString),
    /// Bytes that are none of their kind.
    Other,
}

impl FoundObject {
    /// Takes data over. It runs no Ruby code.
    pub(crate) fn of(ruby: &Ruby, data: CacheData<'_>) -> FoundObject {
        let ready = match data.kind {
            CacheKind::Bytes => Some(ruby.str_from_slice(data.bytes).as_value()),
            CacheKind::Text => {
                std::str::from_utf8(data.bytes).ok().map(|text| ruby.str_new(text).as_value())
            }
            CacheKind::Integer => data
                .bytes
                .try_into()
                .ok()
                .map(|bytes| ruby.integer_from_i64(i64::from_le_bytes(bytes)).as_value()),
            CacheKind::Float => data
                .bytes
                .try_into()
                .ok()
                .map(|bytes| ruby.float_from_f64(f64::from_le_bytes(bytes)).as_value()),
            CacheKind::Nested => return FoundObject::Nested(data.bytes.to_vec()),
            CacheKind::Sealed => return FoundObject::Sealed(ruby.str_from_slice(data.bytes)),
        };
        ready.map_or(FoundObject::Other, FoundObject::Ready)
    }
}

impl ObjectForms {
    pub(crate) fn new(marshal: Option<Value>) -> ObjectForms {
        ObjectForms { marshal: marshal.map(Into::into) }
    }

    pub(crate) fn mark(&self, marker: &Marker) {
        if let Some(marshal) = self.marshal {
            marker.mark(marshal);
        }
    }

    /// Makes the bytes of an object, which errors call `what`.
    pub(crate) fn bytes(
        &self,
        ruby: &Ruby,
        object: Value,
        what: &str,
    ) -> Result<ObjectBytes, Error> {
        let plain = with_scalar(object, |scalar| scalar.and_then(plain_bytes));
        match plain.or_else(|| number_bytes(object)) {
            Some(plain) => Ok(plain),
            None => self.made_bytes(ruby, object, what),
        }
    }

    fn made_bytes(&self, ruby: &Ruby, object: Value, what: &str) -> Result<ObjectBytes, Error> {
        let mut bytes = Vec::new();
        let unfit = match put_object(ruby, object, &mut bytes, 0) {
            Ok(()) => return Ok(ObjectBytes { kind: CacheKind::Nested, bytes }),
            Err(PutError::Raised(error)) => return Err(error),
            Err(PutError::Unfit(unfit)) => unfit,
        };
        let Some(marshal) = self.marshal else { return Err(unfit.raised(ruby, what)) };
        let sealed: RString = marshal.get_inner_with(ruby).funcall("dump", (object,))?;
        Ok(ObjectBytes { kind: CacheKind::Sealed, bytes: bytes_of(sealed) })
    }

    /// Makes an object ready. This may run Ruby code.
    pub(crate) fn object(&self, ruby: &Ruby, found: FoundObject) -> Result<Value, Error> {
        match (found, self.marshal) {
            (FoundObject::Ready(object), _) => Ok(object),
            (FoundObject::Nested(bytes), _) => nested_object(ruby, &bytes),
            (FoundObject::Sealed(sealed), Some(marshal)) => {
                marshal.get_inner_with(ruby).funcall("load", (sealed,))
            }
            (FoundObject::Sealed(_), None) => Err(Error::new(
                ruby.exception_arg_error(),
                "expected a value that is not marshalled, found one that is; open the cache with marshal_key to read it, if \
                 you trust all who have that key",
            )),
            (FoundObject::Other, _) => Err(other_bytes(ruby)),
        }
    }

    /// Makes the object that a key of the table stands for.
    pub(crate) fn object_of_key(&self, ruby: &Ruby, key: &[u8]) -> Result<Value, Error> {
        self.object(ruby, FoundObject::of(ruby, raised(ruby, CacheData::of_key(key))?))
    }
}

/// Bytes of a scalar that has a kind of its own.
fn plain_bytes(scalar: Scalar<'_>) -> Option<ObjectBytes> {
    let (kind, bytes) = match scalar {
        Scalar::String(bytes, CommonEncoding::Binary) => (CacheKind::Bytes, bytes.to_vec()),
        Scalar::String(bytes, encoding) => {
            (CacheKind::Text, text_of(bytes, encoding)?.as_bytes().to_vec())
        }
        Scalar::Integer(number) => (CacheKind::Integer, number.to_le_bytes().to_vec()),
        Scalar::Float(number) => (CacheKind::Float, number.to_le_bytes().to_vec()),
        _ => return None,
    };
    Some(ObjectBytes { kind, bytes })
}

/// Text of a String in UTF-8 or ASCII; `None` if it is none.
pub(crate) fn text_of(bytes: &[u8], encoding: CommonEncoding) -> Option<&str> {
    match encoding {
        CommonEncoding::Utf8 => std::str::from_utf8(bytes).ok(),
        // It comes back in UTF-8, in which it is equal.
        CommonEncoding::UsAscii if bytes.is_ascii() => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// Bytes of a number that is an object of its own, because it fits no word.
fn number_bytes(object: Value) -> Option<ObjectBytes> {
    let (kind, bytes) = match Float::from_value(object) {
        Some(float) => (CacheKind::Float, float.to_f64().to_le_bytes()),
        None => (CacheKind::Integer, Integer::from_value(object)?.to_i64().ok()?.to_le_bytes()),
    };
    Some(ObjectBytes { kind, bytes: bytes.to_vec() })
}

fn nested_object(ruby: &Ruby, bytes: &[u8]) -> Result<Value, Error> {
    let mut reader = Reader::new(bytes);
    match take_object(ruby, &mut reader, 0)? {
        Some(object) if reader.remaining() == 0 => Ok(object),
        _ => Err(other_bytes(ruby)),
    }
}

fn other_bytes(ruby: &Ruby) -> Error {
    let error = bytewright::Error::format("bytes as their kind has them in a cache", "others");
    crate::error::to_ruby(ruby, &error)
}
