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
    #[new]
    fn new(py: Python<'_>, title: Option<String>, filter: Option<String>) -> PyResult<Report> {
        raised(py, session::OpenReport::new(ReportOptions { title, filter })).map(Report)
    }

    /// Writes the page.
    fn write_to(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        raised(py, py.detach(|| guarded(|| self.0.write_to(&path))))
    }
}
