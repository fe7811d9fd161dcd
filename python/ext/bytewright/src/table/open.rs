//! Opening a table in a file.

use std::path::Path;

use bytewright::host::table::{self, TableHandle};
use bytewright::options::NamedOptions;
use bytewright::table::ValueType;
use bytewright::table::file::{OpenOptions, TableKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::host::TableHost;
use crate::error::raised;
use crate::options::settings;
use crate::turn::Strand;

/// Opens the file, without Python's lock; waits as long as the options say, unless it is interrupted.
pub(super) fn open(
    py: Python<'_>,
    host: &TableHost<'_>,
    path: &Path,
    kind: TableKind,
    values: ValueType,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<TableHandle<Strand>> {
    let mut options = OpenOptions { create: true, values: Some(values), ..OpenOptions::default() };
    let settings = settings(py, &[OpenOptions::OPTIONS], keywords)?;
    raised(py, settings.fill(&mut options))?;
    open_with(host, path, kind, options)
}

/// Opens the file with these options.
pub(super) fn open_with(
    host: &TableHost<'_>,
    path: &Path,
    kind: TableKind,
    options: OpenOptions,
) -> PyResult<TableHandle<Strand>> {
    let opened = table::open(host, path, Some(kind), options);
    let opened = opened.map_err(|failure| failure.into_host(host))?;
    let handle = TableHandle::in_file(opened, options);
    handle.note_path(path);
    Ok(handle)
}
