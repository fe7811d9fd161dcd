//! Entries of flow tables as engines hand them around: sorted and merged outside of a table.

use std::sync::Mutex;

use bytewright::batch::{self, AddressForm, ExportOptions, TimeUnit, Value};
use bytewright::flow::{Flow, FlowField};
use bytewright::sums::{self, CountedCapture, FlowEntry};
use bytewright::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::rows::{Batch, entered};
use crate::error::raised;

/// What engines on the JVM take: no nanoseconds, no unsigned numbers.
const FOR_ENGINES: ExportOptions = ExportOptions {
    timestamps: TimeUnit::Microseconds,
    signed: true,
    addresses: AddressForm::Text,
};

/// Merges the entries of single captures, sorted by key and then by the place of the capture in the list.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct EntryMerge(Mutex<Merging>);

#[derive(Default)]
struct Merging {
    merge: sums::EntryMerge,
    /// Entries to which nothing can be added any more.
    merged: Vec<FlowEntry>,
}

#[pymethods]
impl EntryMerge {
    #[new]
    fn new() -> EntryMerge {
        EntryMerge(Mutex::default())
    }

    /// Adds entries, each with the content id of its capture.
    fn add(
        &self,
        py: Python<'_>,
        content_ids: Vec<Bound<'_, PyBytes>>,
        keys: Vec<Bound<'_, PyBytes>>,
        values: Vec<Bound<'_, PyBytes>>,
    ) -> PyResult<()> {
        let mut merging = entered(py, &self.0)?;
        for ((content_id, key), value) in content_ids.iter().zip(&keys).zip(&values) {
            let added = merging.merge.add(content_id.as_bytes(), key.as_bytes(), value.as_bytes());
            match added {
                Ok(merged) => merging.merged.extend(merged),
                Err(error) => {
                    drop(merging);
                    return raised(py, Err(error));
                }
            }
        }
        Ok(())
    }

    /// Ends the last entry.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let mut merging = entered(py, &self.0)?;
        let last = merging.merge.finish();
        merging.merged.extend(last);
        Ok(())
    }

    /// The entries that were merged since the last time: their keys and their values.
    fn take_entries<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let merged = std::mem::take(&mut entered(py, &self.0)?.merged);
        let (keys, values) = (PyList::empty(py), PyList::empty(py));
        for entry in &merged {
            let (key, value) = entry.encode();
            keys.append(PyBytes::new(py, &key))?;
            values.append(PyBytes::new(py, &value))?;
        }
        Ok((keys, values))
    }

    /// The flows among them as rows.
    fn take_flows(&self, py: Python<'_>) -> PyResult<Batch> {
        let merged = std::mem::take(&mut entered(py, &self.0)?.merged);
        let mut rows = batch::Batch::new(FlowField::SCHEMA);
        for entry in &merged {
            if let FlowEntry::Flow(flow) = entry {
                let value = |field: &FlowField| flow.value(*field);
                rows.push_row(|place| FlowField::ALL.get(place).map_or(Value::Null, value));
            }
        }
        Ok(Batch { rows, export: FOR_ENGINES })
    }
}

/// The capture whose entries these are, and its flows.
pub(super) fn of_capture(
    keys: &[Bound<'_, PyBytes>],
    values: &[Bound<'_, PyBytes>],
) -> bytewright::Result<(CountedCapture, Vec<Flow>)> {
    let (mut captures, mut flows) = (Vec::new(), Vec::new());
    for (key, value) in keys.iter().zip(values) {
        match FlowEntry::decode(key.as_bytes(), value.as_bytes())? {
            FlowEntry::Format => {}
            FlowEntry::Flow(flow) => flows.push(flow),
            FlowEntry::Capture(capture) => captures.push(capture),
        }
    }
    match <[CountedCapture; 1]>::try_from(captures) {
        Ok([capture]) => Ok((capture, flows)),
        Err(captures) => {
            let found = captures.len();
            let message = format!("expected the entries of one capture, found those of {found}");
            Err(Error::new(ErrorKind::Argument, message))
        }
    }
}
