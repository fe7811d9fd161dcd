//! Rows and records made of Python's values again: what was pickled of them.

use std::net::IpAddr;

use bytewright::batch::{self, Column, DataType, ExportOptions, Value};
use bytewright::error::excerpt;
use bytewright::flow::{FeatureSet, FlowField};
use bytewright::options::{NamedOptions, Settings};
use bytewright::packet::Field;
use bytewright::rpc::CallField;
use bytewright::terminal::Harmless;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

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
    Ok(Packet::restored(Restored { row, captured, payload, features: FeatureSet::NONE }))
}

/// A flow that was pickled.
#[pyfunction]
pub(crate) fn restored_flow(
    names: Vec<String>,
    values: &Bound<'_, PyTuple>,
    features: u8,
) -> PyResult<Flow> {
    let row = row_of(FlowField::SCHEMA, &names, values)?;
    let Some(features) = FeatureSet::of_bits(features) else {
        let found = format!("expected features of a flow, found bits {features:#x}");
        return Err(argument(values.py(), found));
    };
    Ok(Flow::restored(Restored { row, captured: Vec::new(), payload: None, features }))
}

/// A call that was pickled.
#[pyfunction]
pub(crate) fn restored_call(names: Vec<String>, values: &Bound<'_, PyTuple>) -> PyResult<Call> {
    let row = row_of(CallField::SCHEMA, &names, values)?;
    let features = FeatureSet::NONE;
    Ok(Call::restored(Restored { row, captured: Vec::new(), payload: None, features }))
}

/// A batch that was pickled: the name of its schema; name, type, whether there are nulls, meaning, and the fields inside, of each
/// field; the rows; and how it leaves for Arrow.
#[pyfunction]
pub(crate) fn restored_batch(
    py: Python<'_>,
    name: String,
    fields: Vec<Bound<'_, PyTuple>>,
    rows: Vec<Bound<'_, PyTuple>>,
    export: (String, bool, String),
) -> PyResult<Batch> {
    let (timestamps, signed, addresses) = export;
    let mut settings = Settings::of(const { &[ExportOptions::OPTIONS] });
    let texts = [("timestamps", &timestamps), ("addresses", &addresses)];
    raised(py, texts.into_iter().try_for_each(|(name, text)| settings.give_text(name, text)))?;
    let export = ExportOptions { signed, ..raised(py, settings.take())? };
    let fields = fields.iter().map(field_described).collect::<PyResult<_>>()?;
    let mut made = batch::Batch::new(batch::Schema::new(name, fields));
    for row in &rows {
        let values: Vec<Bound<'_, PyAny>> = row.iter().collect();
        push(&mut made, &values)?;
    }
    Ok(Batch::exported(made, export))
}

/// The field that [`described`] told.
fn field_described(told: &Bound<'_, PyTuple>) -> PyResult<batch::Field> {
    type Told<'py> = (String, String, bool, String, Vec<Bound<'py, PyTuple>>);
    let (name, kind, is_nullable, meaning, inside) = told.extract::<Told<'_>>()?;
    let mut inside = inside.iter().map(field_described);
    let mut next = || {
        let no_more =
            || argument(told.py(), "expected a field inside of another, found none".to_owned());
        inside.next().ok_or_else(no_more)?
    };
    Ok(match kind.as_str() {
        "list" => batch::Field::list(name, next()?, is_nullable),
        "map" => batch::Field::map(name, next()?, next()?, is_nullable),
        "struct" => batch::Field::structure(name, inside.collect::<PyResult<_>>()?, is_nullable),
        kind => {
            let data_type = type_named(told.py(), &name, kind)?;
            batch::Field::new(name, data_type, is_nullable, meaning)
        }
    })
}

/// Name, type, whether there are nulls, and meaning of a field, and the same of those inside; of a map the key and the value.
fn described<'py>(py: Python<'py>, field: &batch::Field) -> PyResult<Bound<'py, PyTuple>> {
    let inside = match (field.data_type(), field.children()) {
        (DataType::Map, [entries]) => entries.children(),
        (_, inside) => inside,
    };
    let inside = inside.iter().map(|field| described(py, field)).collect::<PyResult<Vec<_>>>()?;
    let kind = field.data_type().name();
    (field.name(), kind, field.is_nullable(), field.meaning(), inside).into_pyobject(py)
}

/// Function and arguments of which `pickle` makes a batch again.
pub(super) type ReducedBatch<'py> = (
    Bound<'py, PyAny>,
    (
        String,
        Vec<Bound<'py, PyTuple>>,
        Vec<Bound<'py, PyTuple>>,
        (&'static str, bool, &'static str),
    ),
);

/// Returns the arguments that make a batch again: see [`restored_batch`].
pub(super) fn reduced_batch<'py>(py: Python<'py>, batch: &Batch) -> PyResult<ReducedBatch<'py>> {
    let schema = batch.rows.schema();
    let fields = schema.fields().iter().map(|field| described(py, field));
    let fields = fields.collect::<PyResult<_>>()?;
    let row = |row: usize| {
        let columns = 0..schema.fields().len();
        let values = columns.map(|column| object(py, batch.rows.value(row, column)));
        PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)
    };
    let rows = (0..batch.rows.len()).map(row).collect::<PyResult<_>>()?;
    let ExportOptions { timestamps, signed, addresses } = batch.export;
    let export = (timestamps.name(), signed, addresses.name());
    let given = (schema.name().to_owned(), fields, rows, export);
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
    let mut columns: Vec<Column> = schema.fields().iter().map(Column::of).collect();
    for ((object, field), column) in row.iter().zip(schema.fields()).zip(&mut columns) {
        push_object(column, field, object)?;
    }
    made.push_row(|place| columns.get(place).map_or(Value::Null, |column| column.value(0)));
    Ok(())
}

/// Appends the value that [`object`] made an object of.
fn push_object(
    column: &mut Column,
    field: &batch::Field,
    object: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let fields = field.children();
    match (field.data_type(), column.children_mut()) {
        (data_type, _) if object.is_none() || !data_type.is_nested() => {
            column.push(value_of(object, data_type)?);
        }
        (DataType::Struct, columns) => {
            let dict = object.cast::<PyDict>()?;
            for (field, column) in fields.iter().zip(columns) {
                if let Some(inside) = dict.get_item(field.name())? {
                    push_object(column, field, &inside)?;
                }
            }
            column.end_struct();
        }
        (DataType::Map, [entries]) => {
            let pairs = match object.cast::<PyDict>() {
                Ok(dict) => dict.items().into_any(),
                Err(_) => object.clone(),
            };
            for pair in pairs.try_iter()? {
                push_entry(entries, fields, &pair?.extract()?)?;
            }
            raised(object.py(), column.end_list())?;
        }
        (_, elements) => {
            for inside in object.try_iter()? {
                if let (Some(field), Some(column)) = (fields.first(), elements.first_mut()) {
                    push_object(column, field, &inside?)?;
                }
            }
            raised(object.py(), column.end_list())?;
        }
    }
    Ok(())
}

fn push_entry(
    entries: &mut Column,
    fields: &[batch::Field],
    (key, value): &(Bound<'_, PyAny>, Bound<'_, PyAny>),
) -> PyResult<()> {
    let inside = fields.first().map(batch::Field::children).unwrap_or_default();
    for ((field, column), object) in inside.iter().zip(entries.children_mut()).zip([key, value]) {
        push_object(column, field, object)?;
    }
    entries.end_struct();
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
        // Values of several values are appended part by part.
        DataType::List | DataType::Struct | DataType::Map => Value::Null,
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
