//! A report under way over captures.

use std::path::PathBuf;

use bytewright::report::ReportOptions;
use bytewright::session;
use pyo3::prelude::*;

use crate::error::{guarded, raised};

/// A report under way over one or more captures, one pass after another.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct Report(pub(super) session::OpenReport);

#[pymethods]
impl Report {
    /// Makes one whose page is going to be at `path`, where one may be written.
    #[new]
    #[pyo3(signature = (path, force, title, filter, flow, condition))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        force: bool,
        title: Option<String>,
        filter: Option<String>,
        flow: Option<String>,
        condition: Option<String>,
    ) -> PyResult<Report> {
        let options = ReportOptions { title, filter, flow, condition };
        let report = raised(py, session::OpenReport::new(options))?;
        raised(py, py.detach(|| guarded(|| report.expect_output(&path, force))))?;
        Ok(Report(report))
    }

    /// Writes the page.
    fn write_to(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        raised(py, py.detach(|| guarded(|| self.0.write_to(&path, force))))
    }
}
