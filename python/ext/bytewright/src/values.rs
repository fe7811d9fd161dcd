//! Values of rows as Python's objects.

use bytewright::batch::{Batch, DataType, NestedValue, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

/// The object for a value. Times are nanoseconds since 1970-01-01 00:00 UTC, durations microseconds, addresses text. A list is a
/// list, a struct a dict, and a map a dict, or a list of pairs if its keys are no single values.
pub(crate) fn object<'py>(py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Unsigned(number) | Value::Duration(number) => PyInt::new(py, number).into_any(),
        Value::Signed(number) | Value::Time(number) => PyInt::new(py, number).into_any(),
        Value::Double(number) => PyFloat::new(py, number).into_any(),
        Value::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Value::Address(address) => PyString::new(py, &address.to_string()).into_any(),
        Value::Text(text) | Value::Json(text) => PyString::new(py, text).into_any(),
        Value::ShortText(text) => PyString::new(py, text.as_str()).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Uuid(bytes) => {
            py.import("uuid")?.getattr("UUID")?.call1((py.None(), PyBytes::new(py, &bytes)))?
        }
        Value::Nested(nested) => self::nested(py, nested)?,
    })
}

fn nested<'py>(py: Python<'py>, value: NestedValue<'_>) -> PyResult<Bound<'py, PyAny>> {
    if value.data_type() == DataType::Struct {
        let dict = PyDict::new(py);
        for (field, inside) in value.fields() {
            dict.set_item(field.name(), object(py, inside)?)?;
        }
        return Ok(dict.into_any());
    }
    let pair = |(key, inside)| Ok((object(py, key)?, object(py, inside)?));
    match value.data_type() {
        DataType::Map if value.entries().any(|(key, _)| matches!(key, Value::Nested(_))) => {
            let pairs = value.entries().map(pair).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, pairs)?.into_any())
        }
        DataType::Map => {
            let dict = PyDict::new(py);
            for entry in value.entries() {
                let (key, inside) = pair(entry)?;
                dict.set_item(key, inside)?;
            }
            Ok(dict.into_any())
        }
        _ => {
            let elements = value.elements().map(|element| object(py, element));
            Ok(PyList::new(py, elements.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
    }
}

/// The values of a row by the names of its fields.
pub(crate) fn row_to_dict<'py>(
    py: Python<'py>,
    batch: &Batch,
    row: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (place, field) in batch.schema().fields().iter().enumerate() {
        dict.set_item(field.name(), object(py, batch.value(row, place))?)?;
    }
    Ok(dict)
}
