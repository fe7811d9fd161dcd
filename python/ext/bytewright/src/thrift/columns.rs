//! Some fields of messages that follow each other, as columns.

use std::sync::{Arc, Mutex};
use std::thread;

use bytewright::Error;
use bytewright::batch::arrow::{ArrowArrayStream, ArrowSchema};
use bytewright::batch::{self, ExportOptions, Schema};
use bytewright::session::Host;
use bytewright::thrift::{Columns, Limits, Projection, ProtocolError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::codec::codec_of;
use super::encoding_named;
use super::source::{Input, Origin, Row, missing};
use crate::capture::{Batch, StreamHost, entered};
use crate::error::{argument, guarded, raised};
use crate::host::PythonHost;

/// Fields of messages as columns, read anew by each iteration and each stream of Arrow's.
#[pyclass(frozen, subclass, module = "bytewright._bytewright")]
pub(crate) struct ThriftColumns {
    projection: Arc<Projection>,
    origin: Origin,
    row: Row,
    rows_max: usize,
}

/// The source while it is read.
struct Reading {
    columns: Columns,
    input: Input,
    row: Row,
    rows_max: usize,
    /// What is raised when the rows before it are given.
    failure: Option<Error>,
    is_over: bool,
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
        let row = Row { encoding: encoding_named(py, protocol)?, is_framed: framed };
        let (codec, _) = codec_of(cls)?;
        let projection = Arc::new(codec.projection(py, cls, &paths)?);
        raised(py, Columns::new(Arc::clone(&projection)))?;
        Ok(ThriftColumns { projection, origin: Origin::of(source)?, row, rows_max: rows })
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

    /// The columns as Arrow's C stream. A schema that is asked for is not needed to read it.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let mut reading = self.read(py)?;
        let schema = reading.schema();
        let owner = thread::current().id();
        let object = reading.input.object.as_ref().map(|object| object.clone_ref(py));
        let next = move || reading.next(&StreamHost::new(object.as_ref(), owner));
        let stream = ArrowArrayStream::new(&schema, ExportOptions::default(), Vec::new(), next);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The names and types of the columns as Arrow's C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let columns = raised(py, Columns::new(Arc::clone(&self.projection)))?;
        let schema = ArrowSchema::new(columns.batch().schema(), ExportOptions::default(), &[]);
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
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
        let (input, row, rows_max) = (self.origin.open(py)?, self.row, self.rows_max);
        Ok(Reading { columns, input, row, rows_max, failure: None, is_over: false })
    }
}

impl Reading {
    fn schema(&self) -> Schema {
        self.columns.batch().schema().clone()
    }

    /// The next rows; what is wrong is told when those before it are given.
    fn next<H: Host>(&mut self, host: &H) -> Result<Option<batch::Batch>, H::Error> {
        host.check_interrupts()?;
        while !self.is_over && self.columns.batch().len() < self.rows_max {
            self.advance(host)?;
        }
        if self.columns.batch().is_empty() {
            return match self.failure.take() {
                Some(error) => Err(host.error(error)),
                None => Ok(None),
            };
        }
        Ok(Some(self.columns.take()))
    }

    /// Appends the messages that are whole, and brings more bytes where there is none.
    fn advance<H: Host>(&mut self, host: &H) -> Result<(), H::Error> {
        let (row, rows_max) = (self.row, self.rows_max);
        let (bytes, start) = self.input.buffered();
        let (whole, end) = whole_messages(row, bytes, start, rows_max - self.columns.batch().len());
        let columns = &mut self.columns;
        let appended = guarded(|| {
            let mut frames = row.frames(bytes.get(..whole).unwrap_or_default(), start);
            Ok(columns.extend(row.encoding, &mut frames, rows_max, Limits::default())?)
        });
        let available = bytes.len();
        let needed = match (appended, end) {
            (Err(error), _) => {
                self.fail(&error);
                return Ok(());
            }
            (Ok(_), None) => available - whole + 1,
            (Ok(_), Some(error)) => match missing(&error) {
                Some(more) => available - whole + more,
                None => {
                    self.fail(error.error());
                    return Ok(());
                }
            },
        };
        self.input.consume(whole);
        if whole > 0 || self.input.fill(host, needed)? {
            return Ok(());
        }
        self.is_over = true;
        let (bytes, start) = self.input.buffered();
        if let Err(error) = row.frames(bytes, start).next_frame() {
            self.fail(error.error());
        }
        Ok(())
    }

    fn fail(&mut self, error: &Error) {
        self.failure = Some(self.input.placed(error));
        self.is_over = true;
    }
}

/// How many bytes the messages have that are whole, of so many at most, and what is wrong with the next one.
fn whole_messages(
    row: Row,
    bytes: &[u8],
    start: u64,
    count_max: usize,
) -> (usize, Option<ProtocolError>) {
    let mut frames = row.frames(bytes, start);
    for _ in 0..count_max {
        match frames.next_frame() {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => return (frames.consumed(), Some(error)),
        }
    }
    (frames.consumed(), None)
}

/// An iterator over batches of columns.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct ThriftBatches {
    reading: Mutex<Reading>,
}

#[pymethods]
impl ThriftBatches {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let mut reading = entered(py, &self.reading)?;
        let object = reading.input.object.as_ref().map(|object| object.clone_ref(py));
        Ok(reading.next(&PythonHost { object: object.as_ref() })?.map(Batch::new))
    }
}
