//! A report under way over captures.

use std::path::PathBuf;

use bytewright::export::OutputOptions;
use bytewright::host;
use bytewright::input::CaptureOptions;
use bytewright::options::NamedOptions;
use bytewright::report::ReportOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{guarded, raised};
use crate::options::settings;

/// A report under way over one or more captures, one pass after another.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct Report {
    pub(super) report: host::OpenReport,
    path: PathBuf,
    force: bool,
}

#[pymethods]
impl Report {
    /// Makes one whose page is going to be at `path`, where one may be written.
    #[new]
    #[pyo3(signature = (path, **options))]
    fn new(py: Python<'_>, path: PathBuf, options: Option<&Bound<'_, PyDict>>) -> PyResult<Report> {
        let tables = &[ReportOptions::OPTIONS, OutputOptions::OPTIONS, CaptureOptions::OPTIONS];
        let settings = settings(py, tables, options)?;
        let OutputOptions { force, .. } = raised(py, settings.take())?;
        let options = raised(py, ReportOptions::of(&settings))?;
        let report = raised(py, host::OpenReport::new(options))?;
        raised(py, py.detach(|| guarded(|| report.expect_output(&path, force))))?;
        Ok(Report { report, path, force })
    }

    /// Writes the page.
    fn write(&self, py: Python<'_>) -> PyResult<()> {
        raised(py, py.detach(|| guarded(|| self.report.write_to(&self.path, self.force))))
    }
}
