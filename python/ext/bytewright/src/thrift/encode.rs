//! From objects to the bytes of a message.

use bytewright::error::excerpt;
use bytewright::thrift::{
    BinaryWriter, CompactWriter, Encoding, ProtocolError, Strictness, StructKind, Write,
};
use bytewright::{Error, ErrorKind};
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyAttributeError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyList, PyMemoryView, PyString, PyTuple,
};

use super::codec::{Element, FieldLayout, Layout, Shape, ThriftCodec};
use crate::border::each_entry;
use crate::error::to_python;
use crate::shown::{class_name, shown};

/// The message of an object, whose struct has that number.
pub(super) fn encode<'py>(
    codec: &ThriftCodec,
    encoding: Encoding,
    object: &Bound<'py, PyAny>,
    root: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    match encoding {
        Encoding::Binary => written(codec, BinaryWriter::new(Strictness::Strict), object, root),
        Encoding::Compact => written(codec, CompactWriter::new(), object, root),
    }
}

fn written<'py, W: Write>(
    codec: &ThriftCodec,
    writer: W,
    object: &Bound<'py, PyAny>,
    root: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut walk = Walk { codec, writer, py: object.py() };
    walk.structure(object, root).map_err(|refusal| refusal.raised("the object"))?;
    Ok(PyBytes::new(object.py(), walk.writer.bytes()))
}

/// An object being written.
struct Walk<'a, 'py, W> {
    codec: &'a ThriftCodec,
    writer: W,
    py: Python<'py>,
}

/// Reason for which a value cannot be written.
enum Refusal {
    /// It is of another class: what was expected, and what is there.
    Type(&'static str, String),
    /// A number does not fit its bits.
    Range(u32, String),
    /// It was refused already, with its place.
    Raised(PyErr),
}

type Outcome = Result<(), Refusal>;

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Refusal {
        Refusal::Raised(error)
    }
}

impl Refusal {
    /// The exception for a value at `place`.
    #[cold]
    fn raised(self, place: &str) -> PyErr {
        match self {
            Refusal::Type(expected, found) => {
                PyTypeError::new_err(format!("{place}: expected {expected}, found {found}"))
            }
            Refusal::Range(bits, found) => PyOverflowError::new_err(format!(
                "{place}: expected a number of {bits} bits, found {found}"
            )),
            Refusal::Raised(error) => error,
        }
    }
}

#[cold]
fn wrong(expected: &'static str, found: &Bound<'_, PyAny>) -> Refusal {
    match shown(found) {
        Ok(shown) => Refusal::Type(expected, format!("{} {shown}", class_name(found))),
        Err(error) => Refusal::Raised(error),
    }
}

/// Reason why an object cannot do what is asked of it: an error of class `E` says that it is another one than expected.
#[cold]
fn unfit<E: PyTypeInfo>(expected: &'static str, found: &Bound<'_, PyAny>, error: PyErr) -> Refusal {
    if error.is_instance_of::<E>(found.py()) { wrong(expected, found) } else { error.into() }
}

impl<'py, W: Write> Walk<'_, 'py, W> {
    fn structure(&mut self, object: &Bound<'py, PyAny>, number: u32) -> Outcome {
        let codec = self.codec;
        let Some(layout) = codec.layouts.get(number as usize) else {
            let error = Error::internal("classes that the garbage collector has taken");
            return Err(to_python(self.py, &error).into());
        };
        let is_own = layout.maker.is_class_of(object);
        if codec.compat.is_strict && !is_own && !object.is_instance(layout.maker.class(self.py))? {
            return Err(wrong("an object of the field's class", object));
        }
        self.begun(|writer| writer.struct_begin())?;
        let mut count = 0;
        for (number, field) in layout.fields.iter().enumerate() {
            let value = self.field_value(layout, object, number)?;
            if value.is_none() {
                if codec.compat.is_strict && field.is_required {
                    return Err(self.missing(layout, field));
                }
                continue;
            }
            count += 1;
            self.writer.field(field.wire, field.id);
            self.value(&value, &field.shape)
                .map_err(|refusal| refusal.raised(&layout.place_of(field)))?;
        }
        if codec.compat.is_strict && layout.kind == StructKind::Union && count != 1 {
            return Err(self.refused(format!(
                "expected one field of the union {}, found {count}",
                excerpt(&layout.name)
            )));
        }
        self.writer.struct_end();
        Ok(())
    }

    /// The value of an attribute; one that is not there is None, as in a generated class that was not initialized.
    #[inline]
    fn field_value(
        &self,
        layout: &Layout,
        object: &Bound<'py, PyAny>,
        number: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        match layout.maker.get(object, number) {
            Err(error)
                if error.is_instance_of::<PyAttributeError>(self.py)
                    && layout.maker.is_class_of(object) =>
            {
                Ok(self.py.None().into_bound(self.py))
            }
            found => found,
        }
    }

    #[cold]
    fn missing(&self, layout: &Layout, field: &FieldLayout) -> Refusal {
        self.refused(format!("expected the required field {}, found None", layout.place_of(field)))
    }

    #[cold]
    fn refused(&self, message: String) -> Refusal {
        to_python(self.py, &Error::new(ErrorKind::Argument, message)).into()
    }

    fn begun(&mut self, begin: impl FnOnce(&mut W) -> Result<(), ProtocolError>) -> Outcome {
        begin(&mut self.writer).map_err(|error| to_python(self.py, error.error()).into())
    }

    #[inline]
    fn value(&mut self, value: &Bound<'py, PyAny>, shape: &Shape) -> Outcome {
        match shape {
            Shape::Bool => match value.cast::<PyBool>() {
                Ok(truth) => self.writer.bool(truth.is_true()),
                // Also a numpy.bool, which is no bool.
                Err(_) => match value.extract::<bool>() {
                    Ok(truth) => self.writer.bool(truth),
                    Err(_) if self.codec.compat.is_strict => return Err(wrong("bool", value)),
                    Err(_) => self.writer.bool(value.is_truthy()?),
                },
            },
            Shape::Int(8) => self.writer.byte(number_in(value, 8)? as i8),
            Shape::Int(16) => self.writer.i16(number_in(value, 16)? as i16),
            Shape::Int(32) | Shape::Enum(_) => self.writer.i32(number_in(value, 32)? as i32),
            Shape::Int(_) => self.writer.i64(number_in(value, 64)?),
            Shape::Double => self.writer.double(double(value)?),
            Shape::Text => self.text(value)?,
            Shape::Bytes => self.bytes(value)?,
            Shape::Uuid => self.writer.uuid(&uuid(value)?),
            Shape::Struct(number) => self.structure(value, *number)?,
            Shape::List(element) => self.elements(value, element, "list")?,
            Shape::Set(element) => self.elements(value, element, "set")?,
            Shape::Map(entry) => self.entries(value, &entry.0, &entry.1)?,
        }
        Ok(())
    }

    #[inline]
    fn text(&mut self, value: &Bound<'py, PyAny>) -> Outcome {
        match value.cast::<PyString>() {
            Ok(text) => {
                let text = text.to_str()?;
                self.begun(|writer| writer.string(text.as_bytes()))
            }
            Err(_) if self.codec.compat.is_strict => Err(wrong("str", value)),
            Err(_) => self.bytes(value),
        }
    }

    fn bytes(&mut self, value: &Bound<'py, PyAny>) -> Outcome {
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return self.begun(|writer| writer.string(bytes.as_bytes()));
        }
        if let Ok(text) = value.cast::<PyString>()
            && !self.codec.compat.is_strict
        {
            let text = text.to_str()?;
            return self.begun(|writer| writer.string(text.as_bytes()));
        }
        if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
            let copy = PyMemoryView::from(value)?.call_method0("tobytes")?;
            return self.bytes(&copy);
        }
        Err(wrong("bytes", value))
    }

    /// A list or a set, of any object with a length that can be gone through.
    fn elements(
        &mut self,
        value: &Bound<'py, PyAny>,
        element: &Element,
        what: &'static str,
    ) -> Outcome {
        if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
            return Err(wrong(what, value));
        }
        let count = value.len().map_err(|error| unfit::<PyTypeError>(what, value, error))?;
        self.begun(|writer| match what {
            "set" => writer.set(element.wire, count),
            _ => writer.list(element.wire, count),
        })?;
        let mut left = count;
        if let Ok(list) = value.cast::<PyList>() {
            for place in 0..count {
                let Ok(found) = list.get_item(place) else { break };
                self.value(&found, &element.shape)?;
                left -= 1;
            }
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            for found in tuple.iter() {
                self.value(&found, &element.shape)?;
                left -= 1;
            }
        } else {
            let found = value.try_iter();
            for found in found.map_err(|error| unfit::<PyTypeError>(what, value, error))? {
                let found = found?;
                let Some(fewer) = left.checked_sub(1) else { return Err(self.changed(what)) };
                left = fewer;
                self.value(&found, &element.shape)?;
            }
        }
        if left > 0 {
            return Err(self.changed(what));
        }
        self.writer.container_end();
        Ok(())
    }

    #[cold]
    fn changed(&self, what: &str) -> Refusal {
        self.refused(format!(
            "expected a {what} of as many elements as its length says, found another number"
        ))
    }

    fn entries(&mut self, value: &Bound<'py, PyAny>, key: &Element, of_key: &Element) -> Outcome {
        let copy;
        let dict = match value.cast::<PyDict>() {
            Ok(dict) => dict,
            Err(_) => {
                if value.is_instance_of::<PyString>() || !value.hasattr("keys")? {
                    return Err(wrong("dict", value));
                }
                copy = PyDict::new(self.py);
                copy.update(value.cast().map_err(|_| wrong("dict", value))?)?;
                &copy
            }
        };
        let count = dict.len();
        self.begun(|writer| writer.map(key.wire, of_key.wire, count))?;
        each_entry(dict, count, |name, found| {
            self.value(&name, &key.shape).and_then(|()| self.value(&found, &of_key.shape))
        })?;
        self.writer.container_end();
        Ok(())
    }
}

/// A number of so many bits, also of a class that has `__index__`.
#[inline]
fn number_in(value: &Bound<'_, PyAny>, bits: u32) -> Result<i64, Refusal> {
    let number = match value.extract::<i64>() {
        Ok(number) => number,
        Err(error) => return Err(no_number(value, bits, error)),
    };
    if number >> (bits - 1) != number >> 63 { Err(out_of_range(value, bits)) } else { Ok(number) }
}

/// Refuses a value that is no number of 64 bits: it is a larger one, or none, or its `__index__` raised.
#[cold]
fn no_number(value: &Bound<'_, PyAny>, bits: u32, error: PyErr) -> Refusal {
    let py = value.py();
    match error.is_instance_of::<PyOverflowError>(py) {
        true => out_of_range(value, bits),
        false => not_converted(value, "int", &["__index__"], error),
    }
}

/// Refuses a value that did not become a number: its own method for that raised, or it has none.
#[cold]
fn not_converted(
    value: &Bound<'_, PyAny>,
    expected: &'static str,
    methods: &[&str],
    error: PyErr,
) -> Refusal {
    let class = value.get_type();
    match methods.iter().any(|method| class.hasattr(*method).unwrap_or(false)) {
        true => error.into(),
        false => wrong(expected, value),
    }
}

#[cold]
fn out_of_range(value: &Bound<'_, PyAny>, bits: u32) -> Refusal {
    match shown(value) {
        Ok(shown) => Refusal::Range(bits, shown),
        Err(error) => Refusal::Raised(error),
    }
}

#[inline]
fn double(value: &Bound<'_, PyAny>) -> Result<f64, Refusal> {
    match value.cast::<PyFloat>() {
        Ok(number) => Ok(number.value()),
        Err(_) => value
            .extract::<f64>()
            .map_err(|error| not_converted(value, "float", &["__float__", "__index__"], error)),
    }
}

fn uuid(value: &Bound<'_, PyAny>) -> Result<[u8; 16], Refusal> {
    let bytes = value.getattr("bytes");
    let bytes = bytes.map_err(|error| unfit::<PyAttributeError>("uuid.UUID", value, error))?;
    let bytes = bytes.cast::<PyBytes>().map_err(|_| wrong("uuid.UUID", value))?;
    <[u8; 16]>::try_from(bytes.as_bytes()).map_err(|_| wrong("uuid.UUID", value))
}
