//! A new capture.

use std::path::PathBuf;

use bytewright::export::WrittenPacket;
use bytewright::host;
use pyo3::prelude::*;

use crate::error::{guarded, guarded_python, raised};
use crate::host::PythonHost;
use crate::writer::bytes_written;

/// Base of `bytewright.CaptureWriter`.
#[pyclass(frozen, subclass, weakref, module = "bytewright._bytewright")]
pub(crate) struct CaptureWriter(host::CaptureWriter);

#[pymethods]
impl CaptureWriter {
    #[new]
    #[pyo3(signature = (path, *, force = false))]
    fn new(py: Python<'_>, path: PathBuf, force: bool) -> PyResult<CaptureWriter> {
        let created = py.detach(|| guarded(|| host::CaptureWriter::create(&path, force)));
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

    /// Appends a packet; `ts` is nanoseconds since 1970.
    #[pyo3(name = "_write")]
    #[expect(
        clippy::too_many_arguments,
        reason = "what a packet says, which Python has checked by name"
    )]
    fn write(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        ts: Option<i64>,
        length: Option<u32>,
        link_type: u16,
        interface: Option<&str>,
        comment: Option<&str>,
    ) -> PyResult<()> {
        let data = bytes_written(data)?;
        let captured = data.as_bytes();
        let packet = WrittenPacket { captured, ts, length, link_type, interface, comment };
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
