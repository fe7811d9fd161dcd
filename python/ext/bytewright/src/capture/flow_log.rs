//! A file of flows in the words of another program, under way over captures.

use std::path::PathBuf;

use bytewright::ask::{FlowQuestion, ToldFlows};
use bytewright::export::OutputOptions;
use bytewright::flow::{FlowFormat, FlowOptions};
use bytewright::host::OpenFlowLog;
use bytewright::input::CaptureOptions;
use bytewright::options::NamedOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{guarded, raised};
use crate::options::settings;

/// A file of flows under way over one or more captures, one pass after another.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct FlowLog {
    pub(super) log: OpenFlowLog,
}

#[pymethods]
impl FlowLog {
    /// Begins the file at `path`.
    #[new]
    #[pyo3(signature = (path, format, **options))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        format: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<FlowLog> {
        let format = raised(py, FlowFormat::by_name(format))?;
        let tables = &[
            FlowOptions::OPTIONS,
            ToldFlows::OPTIONS,
            OutputOptions::OPTIONS,
            CaptureOptions::OPTIONS,
        ];
        let settings = settings(py, tables, options)?;
        let OutputOptions { force, .. } = raised(py, settings.take())?;
        let question = raised(py, FlowQuestion::of(&settings))?;
        let create = || guarded(|| OpenFlowLog::create(&path, format, question.clone(), force));
        Ok(FlowLog { log: raised(py, py.detach(create))? })
    }

    /// Gives the file its name, and returns the number of its flows.
    fn finish(&self, py: Python<'_>) -> PyResult<u64> {
        raised(py, py.detach(|| guarded(|| self.log.finish())))
    }

    /// Gives the file up, unless it was finished.
    fn discard(&self, py: Python<'_>) {
        py.detach(|| self.log.discard());
    }
}
