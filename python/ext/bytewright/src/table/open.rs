//! Opening a table in a file.

use std::path::Path;
use std::time::Duration;

use bytewright::session::table::{self, TableHandle};
use bytewright::table::Values;
use bytewright::table::file::{OpenOptions, SyncMode, TableKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::host::TableHost;
use crate::error::argument;
use crate::turn::Strand;

/// Opens the file, without Python's lock; waits as long as the options say, unless it is interrupted.
pub(super) fn open(
    host: &TableHost<'_>,
    path: &Path,
    kind: TableKind,
    values: Values,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<TableHandle<Strand>> {
    let options =
        keywords.map_or(Ok(OpenOptions { create: true, ..OpenOptions::default() }), options_of)?;
    let options = OpenOptions { values: Some(values), ..options };
    let opened = table::open(host, path, Some(kind), options);
    let opened = opened.map_err(|failure| failure.into_host(host))?;
    Ok(TableHandle::in_file(opened, options))
}

fn options_of(keywords: &Bound<'_, PyDict>) -> PyResult<OpenOptions> {
    let mut options = OpenOptions { create: true, ..OpenOptions::default() };
    for (name, value) in keywords {
        match name.extract::<String>()?.as_str() {
            "create" => options.create = value.is_truthy()?,
            "read_only" => options.read_only = value.is_truthy()?,
            "verify" => options.verify = value.is_truthy()?,
            "sync" => options.sync = sync_mode(&value)?,
            "timeout" => options.timeout = duration(&value)?,
            name => return Err(PyTypeError::new_err(format!("unexpected keyword {name}"))),
        }
    }
    Ok(options)
}

fn sync_mode(value: &Bound<'_, PyAny>) -> PyResult<SyncMode> {
    match value.extract::<String>()?.as_str() {
        "interval" => Ok(SyncMode::Interval),
        "commit" => Ok(SyncMode::Commit),
        "never" => Ok(SyncMode::Never),
        other => {
            let message = format!(
                "expected sync to be \"interval\", \"commit\" or \"never\", found {other:?}"
            );
            Err(argument(value.py(), message))
        }
    }
}

fn duration(seconds: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let number: f64 = seconds.extract()?;
    // As long as there are times: a century is for ever. NaN would be that, too.
    let bounded = if number.is_nan() { number } else { number.min(3.0e9) };
    Duration::try_from_secs_f64(bounded).map_err(|_| {
        argument(seconds.py(), format!("expected a timeout of 0 seconds or more, found {number}"))
    })
}
