//! From a message's tape to objects.

use bytewright::error::excerpt;
use bytewright::thrift::{Collection, StructId, StructKind, TapeCursor, TapeValue};
use bytewright::{Error, ErrorKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::frozenset::PyFrozenSetBuilder;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PySet, PyString, PyTuple};

use super::codec::{Element, FieldDefault, Layout, Shape, TextErrors, ThriftCodec};
use crate::border::{Fresh, list};
use crate::error::{argument, to_python};
use crate::shown::class_name;
use crate::values;

/// A message of which objects are made.
pub(super) struct Building<'a, 'py> {
    py: Python<'py>,
    codec: &'a ThriftCodec,
    cursor: TapeCursor<'a>,
    message: &'a [u8],
    /// Beginning of the message in the input, for errors.
    start: u64,
    nothing: Bound<'py, PyTuple>,
}

impl<'a, 'py> Building<'a, 'py> {
    /// `cursor` is that of `message`, which begins at `start` of the input.
    pub(super) fn new(
        py: Python<'py>,
        codec: &'a ThriftCodec,
        cursor: TapeCursor<'a>,
        message: &'a [u8],
        start: u64,
    ) -> Self {
        Building { py, codec, cursor, message, start, nothing: PyTuple::empty(py) }
    }

    /// The object of the message.
    pub(super) fn object(mut self) -> PyResult<Bound<'py, PyAny>> {
        match self.cursor.value() {
            TapeValue::Struct(id) => self.structure(id, 1),
            TapeValue::Union { id, field_count } => self.structure(id, field_count),
            _ => Ok(self.py.None().into_bound(self.py)),
        }
    }

    /// The values of a projection's paths, of which the lists that they go through and the shapes are given; None for those that the
    /// message does not have.
    pub(super) fn plucked(
        mut self,
        shapes: &[(usize, Option<&'a Shape>)],
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mut values = vec![self.py.None().into_bound(self.py); shapes.len()];
        self.cursor.value();
        while let Some((path, value)) = self.cursor.field() {
            let (levels, shape) = shapes.get(path).copied().unwrap_or((0, None));
            let shape = shape.unwrap_or(&Shape::Bytes);
            let object = match levels {
                0 => self.value(value, shape)?,
                levels => self.listed(value, levels, shape)?,
            };
            if let Some(place) = values.get_mut(path) {
                *place = object;
            }
        }
        PyTuple::new(self.py, values)
    }

    /// Values in so many lists in each other.
    fn listed(
        &mut self,
        value: TapeValue<'a>,
        levels: usize,
        shape: &Shape,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match (levels, value) {
            (_, TapeValue::Null) => Ok(py.None().into_bound(py)),
            (0, value) => self.value(value, shape),
            (_, TapeValue::List(count)) => list(py, count, |_| {
                let value = self.cursor.value();
                self.listed(value, levels - 1, shape)
            }),
            _ => Ok(py.None().into_bound(py)),
        }
    }

    fn structure(&mut self, id: StructId, field_count: u8) -> PyResult<Bound<'py, PyAny>> {
        let codec = self.codec;
        let Some(layout) = codec.layouts.get(id.0 as usize) else { return Err(self.cleared()) };
        if layout.calls_class {
            return self.called(layout);
        }
        let fresh = layout.maker.make(&self.nothing)?;
        let mut seen = Seen::of(layout.fields.len());
        while let Some((number, value)) = self.cursor.field() {
            let Some(field) = layout.fields.get(number) else { continue };
            let object = self.value(value, &field.shape)?;
            fresh.set(number, object)?;
            seen.set(number);
        }
        if !seen.is_all() {
            self.complete(layout, &fresh, &seen)?;
        }
        if codec.compat.is_strict && layout.kind == StructKind::Union && field_count != 1 {
            return Err(self.refused(format!(
                "expected one field of the union {}, found {field_count}",
                excerpt(&layout.name)
            )));
        }
        Ok(fresh.done())
    }

    /// Gives the fields that the message does not have what they have without one.
    fn complete(&self, layout: &Layout, fresh: &Fresh<'_, 'py>, seen: &Seen) -> PyResult<()> {
        for (number, field) in layout.fields.iter().enumerate() {
            if seen.has(number) {
                continue;
            }
            if self.codec.compat.is_strict && field.is_required {
                return Err(self.refused(format!(
                    "expected the required field {}, found none",
                    layout.place_of(field)
                )));
            }
            fresh.set(number, self.default(&field.default)?)?;
        }
        Ok(())
    }

    /// An object of a class whose `__init__` is not the generated one.
    #[cold]
    fn called(&mut self, layout: &Layout) -> PyResult<Bound<'py, PyAny>> {
        let fresh = layout.maker.adopt(layout.maker.class(self.py).call0()?)?;
        while let Some((number, value)) = self.cursor.field() {
            let Some(field) = layout.fields.get(number) else { continue };
            let object = self.value(value, &field.shape)?;
            fresh.set(number, object)?;
        }
        Ok(fresh.done())
    }

    fn default(&self, default: &FieldDefault) -> PyResult<Bound<'py, PyAny>> {
        match default {
            FieldDefault::Nothing => Ok(self.py.None().into_bound(self.py)),
            FieldDefault::Shared(object) => Ok(object.bind(self.py).clone()),
            FieldDefault::Made(function) => function.bind(self.py).call0(),
        }
    }

    #[inline]
    fn value(&mut self, value: TapeValue<'a>, shape: &Shape) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        Ok(match value {
            TapeValue::Bool(truth) => boolean(py, truth),
            TapeValue::Int(number) => match shape {
                Shape::Enum(members) => match members.get(&number) {
                    Some(member) => member.bind(py).clone(),
                    None => PyInt::new(py, number).into_any(),
                },
                _ => PyInt::new(py, number).into_any(),
            },
            TapeValue::Double(number) => PyFloat::new(py, number).into_any(),
            TapeValue::String(bytes) => self.text(bytes)?,
            TapeValue::Binary(bytes) => PyBytes::new(py, bytes).into_any(),
            TapeValue::Struct(id) => self.structure(id, 1)?,
            TapeValue::Union { id, field_count } => self.structure(id, field_count)?,
            TapeValue::Null => self.of_others(shape),
            TapeValue::Uuid(bytes) => self.uuid(bytes)?,
            contained => self.container(contained, shape)?,
        })
    }

    /// Makes the object for a container that has elements of another type than the schema says.
    #[cold]
    fn of_others(&self, shape: &Shape) -> Bound<'py, PyAny> {
        match shape {
            Shape::List(_) | Shape::Set(_) if self.codec.compat.empties_others => {
                PyList::empty(self.py).into_any()
            }
            _ => self.py.None().into_bound(self.py),
        }
    }

    fn container(&mut self, value: TapeValue<'a>, shape: &Shape) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        if let (TapeValue::Map(count), Shape::Map(entry)) = (value, shape) {
            return self.entries(count, &entry.0, &entry.1);
        }
        let (Shape::List(element) | Shape::Set(element)) = shape else {
            return Ok(py.None().into_bound(py));
        };
        let (kind, count) = match &value {
            TapeValue::List(count) => (Collection::List, *count),
            TapeValue::Set(count) => (Collection::Set, *count),
            TapeValue::Ints(kind, numbers) => (*kind, numbers.len()),
            TapeValue::Doubles(kind, numbers) => (*kind, numbers.iter().len()),
            TapeValue::Bools(kind, truths) => (*kind, truths.len()),
            TapeValue::Empty(kind) => (*kind, 0),
            _ => return Ok(py.None().into_bound(py)),
        };
        let is_frozen = element.is_frozen;
        match value {
            TapeValue::Ints(_, numbers) => {
                self.collection(kind, count, is_frozen, |building, place| {
                    let number = numbers.get(place).copied().unwrap_or_default();
                    building.value(TapeValue::Int(number), &element.shape)
                })
            }
            TapeValue::Doubles(_, numbers) => {
                let mut left = numbers.iter();
                self.collection(kind, count, is_frozen, |_, _| {
                    Ok(PyFloat::new(py, left.next().unwrap_or_default()).into_any())
                })
            }
            TapeValue::Bools(_, truths) => self.collection(kind, count, is_frozen, |_, place| {
                Ok(boolean(py, truths.get(place).is_some_and(|one| *one != 0)))
            }),
            _ if kind == Collection::Set => {
                self.collection(kind, count, is_frozen, |building, _| building.key(&element.shape))
            }
            _ => self.collection(kind, count, is_frozen, |building, _| {
                let value = building.cursor.value();
                building.value(value, &element.shape)
            }),
        }
    }

    /// A list or a set of so many elements, or one of their kin that do not change.
    #[inline]
    fn collection(
        &mut self,
        kind: Collection,
        count: usize,
        is_frozen: bool,
        mut element: impl FnMut(&mut Self, usize) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let is_set = kind == Collection::Set && !self.codec.compat.sets_as_lists;
        if !is_set {
            let elements = list(py, count, |place| element(self, place))?;
            return match is_frozen {
                false => Ok(elements),
                true => py.get_type::<PyTuple>().call1((elements,)),
            };
        }
        // A set that grows by its elements is cheaper than one of a list that is made for it.
        if is_frozen {
            let mut set = PyFrozenSetBuilder::new(py)?;
            for place in 0..count {
                let one = element(self, place)?;
                set.add(&one).map_err(|error| self.unhashable(&one, error))?;
            }
            return Ok(set.finalize().into_any());
        }
        let set = PySet::empty(py)?;
        for place in 0..count {
            let one = element(self, place)?;
            set.add(&one).map_err(|error| self.unhashable(&one, error))?;
        }
        Ok(set.into_any())
    }

    /// The error for the key of a map or the element of a set that has no hash: an object of a generated class.
    #[cold]
    fn unhashable(&self, object: &Bound<'py, PyAny>, error: PyErr) -> PyErr {
        match object.hash() {
            _ if !error.is_instance_of::<PyTypeError>(self.py) => return error,
            Ok(_) => return error,
            Err(other) if !other.is_instance_of::<PyTypeError>(self.py) => return other,
            Err(_) => (),
        }
        let class = class_name(object);
        argument(
            self.py,
            format!(
                "expected a class with __hash__ for keys of maps and elements of sets, found {class}; define __hash__ in it"
            ),
        )
    }

    /// The next value, which is the key of a map or in a set: such texts come again in other messages.
    #[inline]
    fn key(&mut self, shape: &Shape) -> PyResult<Bound<'py, PyAny>> {
        let value = self.cursor.value();
        if let TapeValue::String(bytes) = value
            && let Some(text) = self.codec.names.with(self.py, |py, names| {
                // The error for bytes that are no text may let others have the names.
                names.try_borrow_mut().ok()?.text(py, bytes)
            })
        {
            return Ok(text.into_any());
        }
        self.value(value, shape)
    }

    fn entries(
        &mut self,
        count: usize,
        key: &Element,
        value: &Element,
    ) -> PyResult<Bound<'py, PyAny>> {
        let dict = PyDict::new(self.py);
        for _ in 0..count {
            let name = self.key(&key.shape)?;
            let found = self.cursor.value();
            let object = self.value(found, &value.shape)?;
            dict.set_item(&name, object).map_err(|error| self.unhashable(&name, error))?;
        }
        match key.is_frozen {
            false => Ok(dict.into_any()),
            true => self.codec.frozen_dict.bind(self.py).call1((dict,)),
        }
    }

    #[inline]
    fn text(&self, bytes: &'a [u8]) -> PyResult<Bound<'py, PyAny>> {
        match PyString::from_bytes(self.py, bytes) {
            Ok(text) => Ok(text.into_any()),
            Err(_) => self.no_text(bytes),
        }
    }

    /// Makes the object for a string that is not UTF-8.
    #[cold]
    fn no_text(&self, bytes: &'a [u8]) -> PyResult<Bound<'py, PyAny>> {
        match self.codec.compat.text {
            TextErrors::Replace => {
                let bytes = PyBytes::new(self.py, bytes);
                bytes.call_method1("decode", ("utf-8", "replace"))
            }
            TextErrors::Keep => Ok(PyBytes::new(self.py, bytes).into_any()),
            TextErrors::Refuse => {
                let valid =
                    std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), |_| 0);
                let found = bytes.get(valid).copied().unwrap_or_default();
                let begins = (bytes.as_ptr() as usize).wrapping_sub(self.message.as_ptr() as usize);
                let message = format!("expected UTF-8 in a string, found {found:#04x}");
                let error = Error::new(ErrorKind::Format, message);
                Err(to_python(self.py, &error.at(self.start + (begins + valid) as u64)))
            }
        }
    }

    fn uuid(&self, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let bytes = <[u8; 16]>::try_from(bytes).unwrap_or_default();
        values::object(self.py, bytewright::batch::Value::Uuid(bytes))
    }

    #[cold]
    fn refused(&self, message: String) -> PyErr {
        to_python(self.py, &Error::new(ErrorKind::Format, message).at(self.start))
    }

    #[cold]
    fn cleared(&self) -> PyErr {
        to_python(self.py, &Error::internal("classes that the garbage collector has taken"))
    }
}

#[inline]
fn boolean(py: Python<'_>, truth: bool) -> Bound<'_, PyAny> {
    PyBool::new(py, truth).to_owned().into_any()
}

/// Fields of a struct that were set.
struct Seen {
    count: usize,
    first: u64,
    /// Those from the 65th on.
    others: Vec<u64>,
}

impl Seen {
    #[inline]
    fn of(count: usize) -> Seen {
        let others = if count > 64 { vec![0; count.div_ceil(64) - 1] } else { Vec::new() };
        Seen { count, first: 0, others }
    }

    #[inline]
    fn set(&mut self, number: usize) {
        match (number / 64).checked_sub(1) {
            None => self.first |= 1 << number,
            Some(place) => {
                if let Some(word) = self.others.get_mut(place) {
                    *word |= 1 << (number % 64);
                }
            }
        }
    }

    fn has(&self, number: usize) -> bool {
        let word = match (number / 64).checked_sub(1) {
            None => Some(self.first),
            Some(place) => self.others.get(place).copied(),
        };
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Returns true if all were; of many fields that is not looked at.
    #[inline]
    fn is_all(&self) -> bool {
        self.count <= 64 && self.first.count_ones() as usize == self.count
    }
}
