//! Rows and records made of Python's values again: what was pickled of them.

use std::net::IpAddr;

use bytewright::batch::{self, DataType, ExportOptions, Value};
use bytewright::error::excerpt;
use bytewright::flow::FlowField;
use bytewright::options::{NamedOptions, Settings};
use bytewright::packet::Field;
use bytewright::rpc::CallField;
use bytewright::terminal::Harmless;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

use super::record::{Call, Flow, Packet, Restored, restoring};
use super::rows::Batch;
use crate::error::argument;
use crate::error::raised;
use crate::values::object;

/// The types that have no other names than their own.
const TYPES: [DataType; 19] = [
    DataType::TimeNs,
    DataType::TimeUs,
    DataType::DurationUs,
    DataType::Address,
    DataType::U8,
    DataType::U16,
    DataType::U32,
    DataType::U64,
    DataType::I8,
    DataType::I16,
    DataType::I32,
    DataType::I64,
    DataType::Double,
    DataType::Bool,
    DataType::Text,
    DataType::Bytes,
    DataType::Uuid,
    DataType::Json,
    DataType::TcpFlags,
];

/// A packet that was pickled.
#[pyfunction]
pub(crate) fn restored_packet(
    names: Vec<String>,
    values: &Bound<'_, PyTuple>,
    captured: Vec<u8>,
    payload: Option<(usize, usize)>,
) -> PyResult<Packet> {
    let row = row_of(Field::SCHEMA, &names, values)?;
    let payload = payload.map(|(start, end)| start..end);
    Ok(Packet::restored(Restored { row, captured, payload }))
}

/// A flow that was pickled.
#[pyfunction]
pub(crate) fn restored_flow(names: Vec<String>, values: &Bound<'_, PyTuple>) -> PyResult<Flow> {
    let row = row_of(FlowField::SCHEMA, &names, values)?;
    Ok(Flow::restored(Restored { row, captured: Vec::new(), payload: None }))
}

/// A call that was pickled.
#[pyfunction]
pub(crate) fn restored_call(names: Vec<String>, values: &Bound<'_, PyTuple>) -> PyResult<Call> {
    let row = row_of(CallField::SCHEMA, &names, values)?;
    Ok(Call::restored(Restored { row, captured: Vec::new(), payload: None }))
}

/// A batch that was pickled: the name of its schema; name, type, whether there are nulls, and meaning of each field; the rows; and how
/// it leaves for Arrow.
#[pyfunction]
pub(crate) fn restored_batch(
    py: Python<'_>,
    name: String,
    fields: Vec<(String, String, bool, String)>,
    rows: Vec<Bound<'_, PyTuple>>,
    export: (String, bool, String),
) -> PyResult<Batch> {
    let (timestamps, signed, addresses) = export;
    let mut settings = Settings::of(const { &[ExportOptions::OPTIONS] });
    let texts = [("timestamps", &timestamps), ("addresses", &addresses)];
    raised(py, texts.into_iter().try_for_each(|(name, text)| settings.give_text(name, text)))?;
    let export = ExportOptions { signed, ..raised(py, settings.take())? };
    let field = |(name, kind, is_nullable, meaning): (String, String, bool, String)| {
        let data_type = type_named(py, &name, &kind)?;
        Ok(batch::Field::new(name, data_type, is_nullable, meaning))
    };
    let fields: Vec<batch::Field> = fields.into_iter().map(field).collect::<PyResult<_>>()?;
    let mut made = batch::Batch::new(batch::Schema::new(name, fields));
    for row in &rows {
        let values: Vec<Bound<'_, PyAny>> = row.iter().collect();
        push(&mut made, &values)?;
    }
    Ok(Batch { rows: made, export })
}

/// Function and arguments of which `pickle` makes a batch again.
pub(super) type ReducedBatch<'py> = (
    Bound<'py, PyAny>,
    (
        String,
        Vec<(String, &'static str, bool, String)>,
        Vec<Bound<'py, PyTuple>>,
        (&'static str, bool, &'static str),
    ),
);

/// Returns the arguments that make a batch again: see [`restored_batch`].
pub(super) fn reduced_batch<'py>(py: Python<'py>, batch: &Batch) -> PyResult<ReducedBatch<'py>> {
    let schema = batch.rows.schema();
    let described = schema.fields().iter().map(|field| {
        let (name, meaning) = (field.name().to_owned(), field.meaning().to_owned());
        (name, field.data_type().name(), field.is_nullable(), meaning)
    });
    let row = |row: usize| {
        let columns = 0..schema.fields().len();
        let values = columns.map(|column| object(py, batch.rows.value(row, column)));
        PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)
    };
    let rows = (0..batch.rows.len()).map(row).collect::<PyResult<_>>()?;
    let ExportOptions { timestamps, signed, addresses } = batch.export;
    let export = (timestamps.name(), signed, addresses.name());
    let given = (schema.name().to_owned(), described.collect(), rows, export);
    Ok((restoring(py, "restored_batch")?, given))
}

/// The one row of values by their names; what is not named is null.
fn row_of(
    schema: batch::Schema,
    names: &[String],
    values: &Bound<'_, PyTuple>,
) -> PyResult<batch::Batch> {
    let mut row = vec![values.py().None().into_bound(values.py()); schema.fields().len()];
    for (name, value) in names.iter().zip(values.iter()) {
        if let Some(slot) = schema.find(name).and_then(|place| row.get_mut(place)) {
            *slot = value;
        }
    }
    let mut made = batch::Batch::new(schema);
    push(&mut made, &row)?;
    Ok(made)
}

fn push(made: &mut batch::Batch, row: &[Bound<'_, PyAny>]) -> PyResult<()> {
    let schema = made.schema().clone();
    let typed = row.iter().zip(schema.fields());
    let values: Vec<Value<'_>> =
        typed.map(|(value, field)| value_of(value, field.data_type())).collect::<PyResult<_>>()?;
    made.push_row(|place| values.get(place).copied().unwrap_or(Value::Null));
    Ok(())
}

/// The type of a field. Numbers that stand for names have the names that the fields of captures give them.
fn type_named(py: Python<'_>, field: &str, name: &str) -> PyResult<DataType> {
    let schemas = [Field::SCHEMA, FlowField::SCHEMA, CallField::SCHEMA];
    let known = schemas.iter().flat_map(|schema| schema.fields());
    let named = known.filter(|known| known.name() == field).map(batch::Field::data_type);
    let found = named.chain(TYPES).find(|data_type| data_type.name() == name);
    found.ok_or_else(|| {
        argument(py, format!("expected the type of a column, found {}", excerpt(name)))
    })
}

/// Returns the value of which [`object`] made an object, in a column of that type.
fn value_of<'a>(object: &'a Bound<'_, PyAny>, data_type: DataType) -> PyResult<Value<'a>> {
    if object.is_none() {
        return Ok(Value::Null);
    }
    Ok(match data_type {
        DataType::TimeNs | DataType::TimeUs => Value::Time(object.extract()?),
        DataType::DurationUs => Value::Duration(object.extract()?),
        DataType::Address => Value::Address(address(object)?),
        DataType::U8 => object.extract::<u8>()?.into(),
        DataType::U16 | DataType::TcpFlags => object.extract::<u16>()?.into(),
        DataType::U32 => object.extract::<u32>()?.into(),
        DataType::U64 => object.extract::<u64>()?.into(),
        DataType::I8 => object.extract::<i8>()?.into(),
        DataType::I16 => object.extract::<i16>()?.into(),
        DataType::I32 => object.extract::<i32>()?.into(),
        DataType::I64 => object.extract::<i64>()?.into(),
        DataType::Double => object.extract::<f64>()?.into(),
        DataType::Bool => object.extract::<bool>()?.into(),
        DataType::Bytes => Value::Bytes(object.cast::<PyBytes>()?.as_bytes()),
        DataType::Json => Value::Json(object.cast::<PyString>()?.to_str()?),
        DataType::Text => match object.cast::<PyBytes>() {
            Ok(bytes) => Value::Bytes(bytes.as_bytes()),
            Err(_) => Value::Text(object.cast::<PyString>()?.to_str()?),
        },
        DataType::Uuid => Value::Uuid(object.getattr("bytes")?.extract()?),
        DataType::Enumeration(names) => match object.cast::<PyString>() {
            Ok(name) => Value::from(names.number(name.to_str()?)),
            Err(_) => object.extract::<u8>()?.into(),
        },
    })
}

fn address(object: &Bound<'_, PyAny>) -> PyResult<IpAddr> {
    let text = object.cast::<PyString>()?.to_str()?;
    text.parse().map_err(|_| {
        argument(
            object.py(),
            format!("expected an IP address, found {}", Harmless::line(&excerpt(text))),
        )
    })
}
