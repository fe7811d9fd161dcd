//! Rows that are written to a Parquet file.

use std::path::PathBuf;
use std::time::Duration;

use bytewright::batch::{Batch, ExportOptions, RowOrigin, Schema};
use bytewright::export::{OutputOptions, ParquetFile};
use bytewright::files::FileId;
use bytewright::options::NamedOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{guarded, raised};
use crate::options::settings;

/// Interval between two looks at interrupts while a file is waited for.
const INTERRUPTS_EVERY: Duration = Duration::from_millis(50);

/// Schema of rows, and what they were read from.
pub(crate) struct ParquetRows {
    pub(crate) schema: Schema,
    pub(crate) origin: RowOrigin,
    /// Files that are not replaced.
    pub(crate) inputs: Vec<FileId>,
}

impl ParquetRows {
    /// Writes all rows that `next` gives to a file, and returns their number. The file has its name when it is whole; an interrupt
    /// ends it at any time.
    pub(crate) fn write(
        self,
        py: Python<'_>,
        path: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
        next: impl FnMut() -> PyResult<Option<Batch>>,
    ) -> PyResult<u64> {
        let settings = settings(py, &[ExportOptions::OPTIONS, OutputOptions::OPTIONS], options)?;
        let ParquetRows { schema, origin, inputs } = self;
        let output = OutputOptions { inputs, ..raised(py, settings.take::<OutputOptions>())? };
        let options: ExportOptions = raised(py, settings.take())?;
        let metadata = origin.metadata(&schema);
        let created = py
            .detach(|| guarded(|| ParquetFile::create(&path, &output, schema, options, &metadata)));
        let mut file = raised(py, created)?;
        let written = fill(py, next, &mut file);
        // A file that is not finished waits for the thread that encodes.
        py.detach(|| drop(file));
        written
    }
}

fn fill(
    py: Python<'_>,
    mut next: impl FnMut() -> PyResult<Option<Batch>>,
    file: &mut ParquetFile,
) -> PyResult<u64> {
    let mut count = 0;
    while let Some(batch) = next()? {
        // Rows that are there already are taken without a look at interrupts.
        py.check_signals()?;
        count += batch.len() as u64;
        let written = py.detach(|| guarded(|| file.write(batch)));
        raised(py, written)?;
    }
    loop {
        let is_whole = py.detach(|| guarded(|| file.finish_encoding(INTERRUPTS_EVERY)));
        let is_whole = raised(py, is_whole)?;
        py.check_signals()?;
        if is_whole {
            let finished = py.detach(|| guarded(|| file.publish()));
            return raised(py, finished).map(|()| count);
        }
    }
}
