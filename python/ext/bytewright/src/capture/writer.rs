//! A new capture.

use std::path::PathBuf;

use bytewright::export::OutputOptions;
use bytewright::host::{self, PacketDetails};
use bytewright::options::NamedOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{guarded, guarded_python, raised};
use crate::host::PythonHost;
use crate::options::settings;
use crate::writer::bytes_written;

/// Base of `bytewright.CaptureWriter`.
#[pyclass(frozen, subclass, weakref, module = "bytewright._bytewright")]
pub(crate) struct CaptureWriter(host::CaptureWriter);

#[pymethods]
impl CaptureWriter {
    #[new]
    #[pyo3(signature = (path, **options))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CaptureWriter> {
        let settings = settings(py, &[OutputOptions::OPTIONS], options)?;
        let options: OutputOptions = raised(py, settings.take())?;
        let created = py.detach(|| guarded(|| host::CaptureWriter::create(&path, &options)));
        raised(py, created).map(CaptureWriter)
    }

    /// The path.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// True after it was closed or discarded.
    #[getter]
    fn closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Appends a packet of these bytes; `ts` is nanoseconds since 1970.
    #[pyo3(name = "_write", signature = (data, ts, /, **details))]
    fn write(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        ts: Option<i64>,
        details: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let settings = settings(py, &[PacketDetails::OPTIONS], details)?;
        let details = PacketDetails { ts, ..raised(py, settings.take())? };
        let data = bytes_written(data)?;
        let packet = details.of(data.as_bytes());
        guarded_python(py, || self.0.write(&PythonHost::OF_FILE, &packet))
    }

    /// Writes what is left, and gives the file its name.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        guarded_python(py, || self.0.finish(&PythonHost::OF_FILE))
    }

    /// Ends it without a file.
    fn discard(&self, py: Python<'_>) -> PyResult<()> {
        guarded_python(py, || self.0.discard(&PythonHost::OF_FILE))
    }
}
