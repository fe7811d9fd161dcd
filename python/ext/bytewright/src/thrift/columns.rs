//! Some fields of messages that follow each other, as columns.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use bytewright::batch::arrow::ArrowSchema;
use bytewright::batch::{ExportOptions, RowOrigin};
use bytewright::host::{Host, MessageRows};
use bytewright::thrift::{Columns, MessageLayout, Projection};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use super::codec::codec_of;
use super::source::{Origin, layout_of};
use crate::capture::{Batch, StreamHost, layout, try_enter};
use crate::error::{BEING_READ, argument, guarded_python, no_pickle, raised};
use crate::frames;
use crate::host::PythonHost;
use crate::parquet::ParquetRows;

/// Fields of messages as columns, read anew by each iteration and each stream of Arrow's.
#[pyclass(frozen, subclass, module = "bytewright._bytewright")]
pub(crate) struct ThriftColumns {
    projection: Arc<Projection>,
    origin: Origin,
    layout: MessageLayout,
    rows_max: usize,
}

/// The rows while they are read.
struct Reading {
    rows: MessageRows,
    /// Source of the bytes, if it is an object.
    object: Option<Py<PyAny>>,
}

#[pymethods]
impl ThriftColumns {
    #[new]
    fn new(
        cls: &Bound<'_, PyAny>,
        source: &Bound<'_, PyAny>,
        paths: Vec<String>,
        protocol: &str,
        framed: bool,
        rows: usize,
    ) -> PyResult<ThriftColumns> {
        let py = cls.py();
        if rows == 0 {
            return Err(argument(py, "expected rows above 0, found 0"));
        }
        let layout = layout_of(py, protocol, framed)?;
        let (codec, _) = codec_of(cls)?;
        let projection = Arc::new(codec.column_projection(py, cls, &paths)?);
        raised(py, Columns::new(Arc::clone(&projection)))?;
        Ok(ThriftColumns { projection, origin: Origin::of(source)?, layout, rows_max: rows })
    }

    /// The names of the columns: the paths.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.projection.paths().iter().map(|(path, _)| path))
    }

    /// Iterates over the messages in batches of columns.
    fn batches(&self, py: Python<'_>) -> PyResult<ThriftBatches> {
        Ok(ThriftBatches { reading: Mutex::new(self.read(py)?) })
    }

    #[pyo3(signature = (*_arguments, **_keywords))]
    fn __array__(
        &self,
        _arguments: &Bound<'_, PyTuple>,
        _keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        Err(frames::no_array("columns"))
    }

    /// The columns as Arrow's C stream, in the order and the types of a requested schema where these can be made.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let columns = raised(py, Columns::new(Arc::clone(&self.projection)))?;
        let (schema, options) = (columns.batch().schema(), ExportOptions::default());
        let layout = layout(py, schema, options, requested_schema.as_ref())?;
        let Reading { mut rows, object } = self.read(py)?;
        let owner = thread::current().id();
        let next = move || {
            let host = StreamHost::new(object.as_ref(), owner);
            host.check_interrupts()?;
            rows.next(&host)
        };
        PyCapsule::new_with_value(py, layout.stream(Vec::new(), next), c"arrow_array_stream")
    }

    /// The names and types of the columns as Arrow's C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let columns = raised(py, Columns::new(Arc::clone(&self.projection)))?;
        let schema = ArrowSchema::new(columns.batch().schema(), ExportOptions::default(), &[]);
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Writes the columns to a Parquet file, and returns the number of rows. The file has its name when it is whole.
    ///
    /// The keywords are those of `bytewright.options.PARQUET`.
    #[pyo3(signature = (path, **options))]
    fn to_parquet(
        &self,
        py: Python<'_>,
        path: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<u64> {
        let Reading { mut rows, object } = self.read(py)?;
        let host = PythonHost { object: object.as_ref() };
        let origin = RowOrigin { sources: vec![self.origin.name()], filter: None };
        let inputs = self.origin.file().into_iter().collect();
        let written = ParquetRows { schema: rows.schema().clone(), origin, inputs };
        written.write(py, path, options, || guarded_python(py, || rows.next(&host)))
    }

    fn __repr__(&self) -> String {
        let paths: Vec<&str> =
            self.projection.paths().iter().map(|(path, _)| path.as_str()).collect();
        format!("<messages of {}: {}>", self.origin.name(), paths.join(", "))
    }
}

impl ThriftColumns {
    fn read(&self, py: Python<'_>) -> PyResult<Reading> {
        let columns = raised(py, Columns::new(Arc::clone(&self.projection)))?;
        let input = self.origin.open(py)?;
        let rows = MessageRows::new(input.messages, self.layout, columns, self.rows_max);
        Ok(Reading { rows, object: input.object })
    }
}

/// An iterator over batches of columns.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct ThriftBatches {
    reading: Mutex<Reading>,
}

#[pymethods]
impl ThriftBatches {
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(no_pickle("ThriftBatches", BEING_READ))
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let mut reading = try_enter(py, &self.reading)?;
        let Reading { rows, object } = &mut *reading;
        let host = PythonHost { object: object.as_ref() };
        Ok(guarded_python(py, || rows.next(&host))?.map(Batch::new))
    }
}
