//! Entries of flow tables as engines hand them around: sorted and merged outside of a table.

use std::sync::Mutex;

use bytewright::batch::{self, AddressForm, ExportOptions, TimeUnit, Value};
use bytewright::flow::{Flow, FlowField};
use bytewright::sums::{self, CountedCapture, EntryOrigin, EntryRows, FlowEntry};
use bytewright::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::rows::{Batch, try_enter};
use crate::error::{guarded, raised};

/// Types that engines on the JVM take: no nanoseconds, no unsigned numbers.
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

impl Merging {
    /// Adds the rows of three columns: content ids, keys and values.
    fn add(&mut self, columns: [&(PyBackedBytes, PyBackedBytes); 3]) -> bytewright::Result<()> {
        let columns = columns.map(|(offsets, data)| BytesColumn { offsets, data });
        for row in 0..columns[0].len() {
            let [content_id, key, value] =
                [columns[0].get(row)?, columns[1].get(row)?, columns[2].get(row)?];
            self.merged.extend(self.merge.add(content_id, key, value)?);
        }
        Ok(())
    }
}

/// A column of bytes in Arrow's layout: 32-bit offsets, one more than rows, into the bytes of all rows.
struct BytesColumn<'a> {
    offsets: &'a [u8],
    data: &'a [u8],
}

impl<'a> BytesColumn<'a> {
    fn len(&self) -> usize {
        (self.offsets.len() / 4).saturating_sub(1)
    }

    fn get(&self, row: usize) -> bytewright::Result<&'a [u8]> {
        let value = self.offset(row).zip(self.offset(row + 1));
        value.and_then(|(from, to)| self.data.get(from..to)).ok_or_else(|| {
            let message = format!(
                "expected a column with {} rows of bytes, found no bytes for row {row}",
                self.len()
            );
            Error::new(ErrorKind::Argument, message)
        })
    }

    fn offset(&self, place: usize) -> Option<usize> {
        let bytes = self.offsets.get(place * 4..place * 4 + 4)?;
        usize::try_from(i32::from_le_bytes(bytes.try_into().ok()?)).ok()
    }
}

/// The entries of one capture as batches of columns.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct EntryBatches {
    entries: Mutex<EntryRows>,
    rows_max: usize,
}

impl EntryBatches {
    pub(super) fn new(entries: EntryRows, rows_max: usize) -> EntryBatches {
        EntryBatches { entries: Mutex::new(entries), rows_max }
    }
}

#[pymethods]
impl EntryBatches {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let mut entries = try_enter(py, &self.entries)?;
        let rows = &mut *entries;
        let read = py.detach(|| guarded(|| rows.next(self.rows_max)));
        drop(entries);
        Ok(raised(py, read)?.map(|rows| Batch::exported(rows, FOR_ENGINES)))
    }
}

/// The one row of a file that is no capture.
pub(super) fn without_entries(origin: &EntryOrigin) -> Batch {
    Batch::exported(origin.without_entries(), FOR_ENGINES)
}

#[pymethods]
impl EntryMerge {
    #[new]
    fn new() -> EntryMerge {
        EntryMerge(Mutex::default())
    }

    /// Adds entries, each with the content id of its capture: columns of bytes, each as its offsets and its data.
    fn add(
        &self,
        py: Python<'_>,
        content_ids: (PyBackedBytes, PyBackedBytes),
        keys: (PyBackedBytes, PyBackedBytes),
        values: (PyBackedBytes, PyBackedBytes),
    ) -> PyResult<()> {
        let mut merging = try_enter(py, &self.0)?;
        let state = &mut *merging;
        let added = py.detach(|| guarded(|| state.add([&content_ids, &keys, &values])));
        drop(merging);
        raised(py, added)
    }

    /// Ends the last entry.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let mut merging = try_enter(py, &self.0)?;
        let last = merging.merge.finish();
        merging.merged.extend(last);
        Ok(())
    }

    /// The entries that were merged since the last time.
    fn take_entries(&self, py: Python<'_>) -> PyResult<Batch> {
        let merged = std::mem::take(&mut try_enter(py, &self.0)?.merged);
        Ok(Batch::exported(sums::merged_rows(&merged), FOR_ENGINES))
    }

    /// The flows among them as rows.
    fn take_flows(&self, py: Python<'_>) -> PyResult<Batch> {
        let merged = std::mem::take(&mut try_enter(py, &self.0)?.merged);
        let fields = FlowField::DEFAULT;
        let schema = FlowField::SCHEMA.project(fields.iter().map(|field| *field as usize));
        let mut rows = batch::Batch::new(schema);
        for entry in &merged {
            if let FlowEntry::Flow(flow) = entry {
                let value = |field: &FlowField| flow.value(*field);
                rows.push_row(|place| fields.get(place).map_or(Value::Null, value));
            }
        }
        Ok(Batch::exported(rows, FOR_ENGINES))
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
