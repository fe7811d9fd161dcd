//! Nested objects of Python as CBOR: those of Python's own classes, which come back as they are.

use bytewright::table::cache::NestedTag;
use bytewright::wire::{CborItem, Reader};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};

use crate::border::{changed, each_entry};
use crate::shown::{class_name, shown};

/// Object of a class that is not kept.
pub(super) struct Unfit {
    /// Indices that lead to it, the innermost first.
    place: Vec<String>,
    reason: String,
}

impl Unfit {
    #[cold]
    fn new(reason: String) -> Unfit {
        Unfit { place: Vec::new(), reason }
    }

    /// It, in the element `index` of another object.
    fn inside(mut self, index: String) -> Unfit {
        self.place.push(index);
        self
    }

    /// The `TypeError` for a `what`.
    #[cold]
    pub(super) fn raised(&self, what: &str) -> PyErr {
        let place: String = self.place.iter().rev().map(|index| format!("[{index}]")).collect();
        PyTypeError::new_err(format!(
            "a cache keeps str, bytes, int, float, bool and None, and lists, tuples, dicts and sets of these: {what}{place} {}; \
             convert it, or open the cache with pickle_key",
            self.reason
        ))
    }
}

/// Reason for which an entry of a dict is not appended.
enum Refused {
    Unfit(Unfit),
    Raised(PyErr),
}

impl From<PyErr> for Refused {
    fn from(error: PyErr) -> Refused {
        Refused::Raised(error)
    }
}

/// Appends an object to `bytes`.
pub(super) fn put_object(
    given: &Bound<'_, PyAny>,
    bytes: &mut Vec<u8>,
    depth: usize,
) -> PyResult<Result<(), Unfit>> {
    let py = given.py();
    if let Ok(text) = given.cast_exact::<PyString>() {
        CborItem::Text(text.to_str()?).put(bytes);
    } else if given.is_none() {
        CborItem::Null.put(bytes);
    } else if let Ok(value) = given.cast_exact::<PyBool>() {
        CborItem::Bool(value.is_true()).put(bytes);
    } else if given.is_exact_instance_of::<PyInt>() {
        match given.extract::<i64>() {
            Ok(integer) => CborItem::integer(integer).put(bytes),
            Err(_) => put_long(given, bytes)?,
        }
    } else if let Ok(number) = given.cast_exact::<PyFloat>() {
        CborItem::Float(number.value()).put(bytes);
    } else if let Ok(data) = given.cast_exact::<PyBytes>() {
        CborItem::Bytes(data.as_bytes()).put(bytes);
    } else if depth == NestedTag::DEPTH_MAX {
        return Ok(Err(Unfit::new(format!("is {} objects deep", NestedTag::DEPTH_MAX))));
    } else if let Ok(list) = given.cast_exact::<PyList>() {
        return put_elements(list.as_any(), list.len(), None, bytes, depth);
    } else if let Ok(dict) = given.cast_exact::<PyDict>() {
        return put_dict(dict, bytes, depth);
    } else if let Ok(tuple) = given.cast_exact::<PyTuple>() {
        return put_elements(tuple.as_any(), tuple.len(), Some(NestedTag::Tuple), bytes, depth);
    } else if let Ok(set) = given.cast_exact::<PySet>() {
        return put_elements(set.as_any(), set.len(), Some(NestedTag::Set), bytes, depth);
    } else if given.get_type().is(py.get_type::<PyFrozenSet>()) {
        return put_elements(given, given.len()?, Some(NestedTag::FrozenSet), bytes, depth);
    } else {
        return Ok(Err(Unfit::new(format!("is {} {}", class_name(given), shown(given)?))));
    }
    Ok(Ok(()))
}

/// Appends an integer of more than 64 bits.
#[cold]
fn put_long(given: &Bound<'_, PyAny>, bytes: &mut Vec<u8>) -> PyResult<()> {
    let is_negative = given.lt(0)?;
    let positive = if is_negative { given.call_method0("__invert__")? } else { given.clone() };
    let len = positive.call_method0("bit_length")?.extract::<usize>()?.div_ceil(8);
    let digits = positive.call_method1("to_bytes", (len, "big"))?;
    let tag = if is_negative { NestedTag::LongNegative } else { NestedTag::Long };
    tag.put(bytes);
    CborItem::Bytes(digits.cast::<PyBytes>()?.as_bytes()).put(bytes);
    Ok(())
}

fn put_elements(
    given: &Bound<'_, PyAny>,
    len: usize,
    tag: Option<NestedTag>,
    bytes: &mut Vec<u8>,
    depth: usize,
) -> PyResult<Result<(), Unfit>> {
    if let Some(tag) = tag {
        tag.put(bytes);
    }
    CborItem::Array(len as u64).put(bytes);
    let mut count = 0;
    for element in given.try_iter()? {
        if let Err(unfit) = put_object(&element?, bytes, depth + 1)? {
            return Ok(Err(unfit.inside(count.to_string())));
        }
        count += 1;
    }
    // Of a list; a set says so itself.
    if count == len { Ok(Ok(())) } else { Err(changed("list")) }
}

fn put_dict(
    dict: &Bound<'_, PyDict>,
    bytes: &mut Vec<u8>,
    depth: usize,
) -> PyResult<Result<(), Unfit>> {
    let count = dict.len();
    CborItem::Map(count as u64).put(bytes);
    let walked = each_entry(dict, count, |key, element| {
        for part in [&key, &element] {
            if let Err(unfit) = put_object(part, bytes, depth + 1)? {
                return Err(Refused::Unfit(unfit.inside(shown(&key)?)));
            }
        }
        Ok(())
    });
    match walked {
        Ok(()) => Ok(Ok(())),
        Err(Refused::Unfit(unfit)) => Ok(Err(unfit)),
        Err(Refused::Raised(error)) => Err(error),
    }
}

/// Takes an object from `reader`; `None` where there is none.
pub(super) fn take_object<'py>(
    py: Python<'py>,
    reader: &mut Reader<'_>,
    depth: usize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if depth > NestedTag::DEPTH_MAX {
        return Ok(None);
    }
    let Some(item) = CborItem::take(reader) else { return Ok(None) };
    Ok(Some(match item {
        CborItem::Text(text) => PyString::new(py, text).into_any(),
        CborItem::Unsigned(number) => PyInt::new(py, number).into_any(),
        CborItem::Negative(number) => PyInt::new(py, -1 - i128::from(number)).into_any(),
        CborItem::Float(number) => PyFloat::new(py, number).into_any(),
        CborItem::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        CborItem::Null => py.None().into_bound(py),
        CborItem::Bytes(data) => PyBytes::new(py, data).into_any(),
        CborItem::Array(count) => match take_list(py, count, reader, depth)? {
            Some(list) => list.into_any(),
            None => return Ok(None),
        },
        CborItem::Map(count) => {
            let dict = PyDict::new(py);
            for _ in 0..count {
                let Some(key) = take_object(py, reader, depth + 1)? else { return Ok(None) };
                let Some(element) = take_object(py, reader, depth + 1)? else { return Ok(None) };
                dict.set_item(key, element)?;
            }
            dict.into_any()
        }
        CborItem::Tag(tag) => return take_tagged(py, tag, reader, depth),
    }))
}

/// Takes the elements of an array.
fn take_list<'py>(
    py: Python<'py>,
    count: u64,
    reader: &mut Reader<'_>,
    depth: usize,
) -> PyResult<Option<Bound<'py, PyList>>> {
    let list = PyList::empty(py);
    for _ in 0..count {
        let Some(element) = take_object(py, reader, depth + 1)? else { return Ok(None) };
        list.append(element)?;
    }
    Ok(Some(list))
}

fn take_tagged<'py>(
    py: Python<'py>,
    number: u64,
    reader: &mut Reader<'_>,
    depth: usize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    // No tag behind a tag, so that no chain of them goes deeper.
    let (Some(tag), Some(item)) = (NestedTag::of_number(number), CborItem::take(reader)) else {
        return Ok(None);
    };
    let list = match (tag, item) {
        (NestedTag::Name, CborItem::Text(name)) => {
            return Ok(Some(PyString::new(py, name).into_any()));
        }
        (NestedTag::Long | NestedTag::LongNegative, CborItem::Bytes(digits)) => {
            let int = py.get_type::<PyInt>();
            let positive = int.call_method1("from_bytes", (PyBytes::new(py, digits), "big"))?;
            return match tag {
                NestedTag::Long => Ok(Some(positive)),
                _ => positive.call_method0("__invert__").map(Some),
            };
        }
        (_, CborItem::Array(count)) => take_list(py, count, reader, depth)?,
        _ => None,
    };
    let Some(list) = list else { return Ok(None) };
    Ok(match tag {
        NestedTag::Tuple => Some(list.to_tuple().into_any()),
        NestedTag::Set => Some(PySet::new(py, list.iter())?.into_any()),
        NestedTag::FrozenSet => Some(PyFrozenSet::new(py, list.iter())?.into_any()),
        NestedTag::Long | NestedTag::LongNegative | NestedTag::Name => None,
    })
}
