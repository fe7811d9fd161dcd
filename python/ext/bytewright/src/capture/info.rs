//! Facts about a capture, and the outcome of one that was merged or reported, as dicts.

use bytewright::Error;
use bytewright::ask::{CaptureInfo, CaptureMerge, CutTotals, FlowMergeField, InfoField};
use bytewright::batch::Batch;
use bytewright::report::{ReportedCapture, ReportedField};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::to_python;
use crate::values::{object, row_to_dict};

pub(super) fn to_dict<'py>(py: Python<'py>, info: &CaptureInfo) -> PyResult<Bound<'py, PyDict>> {
    let batch = info.to_batch();
    let dict = PyDict::new(py);
    for (place, field) in InfoField::ALL.iter().enumerate() {
        let value = match field {
            InfoField::Interfaces => rows(py, &info.interface_rows())?,
            InfoField::LinkTypes => rows(py, &info.link_type_rows())?,
            InfoField::Damage => damage(py, info.damage.as_ref()),
            _ => object(py, batch.value(0, place))?,
        };
        dict.set_item(field.name(), value)?;
    }
    Ok(dict)
}

pub(super) fn merge_to_dict<'py>(
    py: Python<'py>,
    merge: &CaptureMerge,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = row_to_dict(py, &merge.to_batch(), 0)?;
    dict.set_item(FlowMergeField::Damage.name(), damage(py, merge.damage.as_ref()))?;
    Ok(dict)
}

pub(super) fn reported_to_dict<'py>(
    py: Python<'py>,
    reported: &ReportedCapture,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = row_to_dict(py, &reported.to_batch(), 0)?;
    dict.set_item(ReportedField::Damage.name(), damage(py, reported.damage.as_ref()))?;
    Ok(dict)
}

/// Makes a dict of the totals of a cut.
pub(super) fn cut_to_dict<'py>(
    py: Python<'py>,
    totals: &CutTotals,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, count) in totals.counts() {
        dict.set_item(name, count)?;
    }
    dict.set_item("damage", damage(py, totals.damage.first()))?;
    Ok(dict)
}

/// The exception that the damage would be raised as, or None.
fn damage<'py>(py: Python<'py>, damage: Option<&Error>) -> Bound<'py, PyAny> {
    match damage {
        Some(damage) => to_python(py, damage).into_value(py).into_bound(py).into_any(),
        None => py.None().into_bound(py),
    }
}

/// A dict for each row.
fn rows<'py>(py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyAny>> {
    let rows = (0..batch.len()).map(|row| row_to_dict(py, batch, row));
    Ok(PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?.into_any())
}
