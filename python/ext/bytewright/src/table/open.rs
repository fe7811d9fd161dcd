//! Opening a table in a file.

use std::path::Path;

use bytewright::host::Outcome;
use bytewright::host::table::{self, OnDamage, TableHandle};
use bytewright::options::NamedOptions;
use bytewright::table::ValueType;
use bytewright::table::file::{FileTable, OpenOptions, TableKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::host::TableHost;
use crate::error::{raised, told_of_clearing};
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
    let opened = table::open(host, path, Some(kind), options);
    in_handle(host, path, options, opened)
}

/// Opens the file of a cache. A damaged one is an error, or an empty one takes its place, with a warning.
pub(super) fn open_mending(
    py: Python<'_>,
    host: &TableHost<'_>,
    path: &Path,
    options: OpenOptions,
    on_damage: OnDamage,
) -> PyResult<TableHandle<Strand>> {
    let told = |error: &bytewright::Error| told_of_clearing(py, error);
    let opened = table::open_mending(host, path, options, on_damage, told);
    in_handle(host, path, options, opened)
}

fn in_handle<'a>(
    host: &TableHost<'a>,
    path: &Path,
    options: OpenOptions,
    opened: Outcome<FileTable, TableHost<'a>>,
) -> PyResult<TableHandle<Strand>> {
    let opened = opened.map_err(|failure| failure.into_host(host))?;
    let handle = TableHandle::in_file(opened, options);
    handle.note_path(path);
    Ok(handle)
}
