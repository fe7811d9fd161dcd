//! Rows of captures: one question, asked anew by each iteration and each reader of columns.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;

use bytewright::ask::{
    Answer, CallOptions, CallStructOptions, FlowQuestion, PacketOptions, Question, QuestionSpec,
    ToldFlows,
};
use bytewright::batch::arrow::{ArrowSchema, Layout};
use bytewright::batch::{self, ExportOptions, RowOrigin, Schema};
use bytewright::error::excerpt;
use bytewright::files::FileId;
use bytewright::flow::{self, FlowField, FlowOptions};
use bytewright::host::{self, CaptureSource, Host, Item, RowStep};
use bytewright::input::{CaptureOptions, FrameBatch};
use bytewright::options::NamedOptions;
use bytewright::packet::Field;
use bytewright::rpc::{self, CallField};
use bytewright::{Error, ErrorKind};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};

use super::Capture;
use super::arguments::{call_fields, capture_options, flow_fields, load_calls, packet_fields};
use super::host::StreamHost;
use super::record::{Call, Flow, Packet};
use super::restored::{ReducedBatch, reduced_batch};
use crate::border::read_schema;
use crate::error::{BEING_READ, argument, no_pickle, raised, to_python, warn_of_all};
use crate::frames;
use crate::host::PythonHost;
use crate::options::settings;
use crate::parquet::ParquetRows;
use crate::values;

/// Packets, flows or calls of captures. Iterating gives them one by one; pyarrow, pandas, polars, DuckDB and all that knows
/// Arrow's PyCapsule interface take it as columns. Each time, the captures are read anew.
#[pyclass(frozen, module = "bytewright")]
pub(crate) struct Rows {
    captures: Vec<Source>,
    options: CaptureOptions,
    question: Question,
    /// Form in which the columns leave for Arrow.
    export: ExportOptions,
    /// Damage of the reading that began last.
    damage: Mutex<Damage>,
}

/// Damage that a reading has kept the rows before, so far.
type Damage = Arc<Mutex<Vec<Error>>>;

/// A capture that is open, or a file that is opened for each reading.
enum Source {
    Capture(Py<Capture>),
    Path(PathBuf),
}

impl Source {
    fn clone_ref(&self, py: Python<'_>) -> Source {
        match self {
            Source::Capture(capture) => Source::Capture(capture.clone_ref(py)),
            Source::Path(path) => Source::Path(path.clone()),
        }
    }
}

/// One reading of all captures.
struct Reading {
    rows: host::Rows,
    /// The file objects of the captures, where they have some.
    objects: Vec<Option<Py<PyAny>>>,
    damage: Damage,
}

impl Reading {
    fn step(&mut self) -> PyResult<RowStep> {
        let object = self.objects.get(self.rows.place()).and_then(Option::as_ref);
        let step = self.rows.step(&PythonHost { object })?;
        let damage = noted(&mut self.rows, &self.damage);
        if !damage.is_empty() {
            Python::attach(|py| warn_of_all(py, &damage))?;
        }
        Ok(step)
    }

    /// The next columns for Python.
    fn next(&mut self) -> PyResult<Option<batch::Batch>> {
        loop {
            match self.step()? {
                RowStep::Item(item) => return Ok(self.rows.batch(item)),
                RowStep::NextCapture => {}
                RowStep::End => return Ok(None),
            }
        }
    }

    /// The next columns for a program that reads a stream, perhaps in a thread that has nothing to do with Python.
    fn next_of_stream(
        &mut self,
        owner: thread::ThreadId,
    ) -> bytewright::Result<Option<batch::Batch>> {
        loop {
            let object = self.objects.get(self.rows.place()).and_then(Option::as_ref);
            let host = StreamHost::new(object, owner);
            // The step looks for interrupts only where it waits long.
            host.check_interrupts()?;
            let step = self.rows.step(&host);
            host.warn_of_all(noted(&mut self.rows, &self.damage))?;
            match step? {
                RowStep::Item(item) => return Ok(self.rows.batch(item)),
                RowStep::NextCapture => {}
                RowStep::End => return Ok(None),
            }
        }
    }
}

impl Rows {
    fn of(
        py: Python<'_>,
        sources: &[Bound<'_, PyAny>],
        question: Question,
        options: CaptureOptions,
    ) -> PyResult<Rows> {
        let mut captures = Vec::with_capacity(sources.len());
        for source in sources {
            captures.push(match source.cast::<Capture>() {
                Ok(capture) => Source::Capture(capture.clone().unbind()),
                Err(_) => Source::Path(source.extract()?),
            });
        }
        if captures.is_empty() {
            return Err(argument(py, "expected a capture, found none"));
        }
        let (export, damage) = (ExportOptions::default(), Mutex::default());
        Ok(Rows { captures, options, question, export, damage })
    }

    fn read(&self, py: Python<'_>) -> Reading {
        let mut objects = Vec::with_capacity(self.captures.len());
        let captures = self.captures.iter().map(|source| match source {
            Source::Capture(capture) => {
                let capture = capture.get();
                objects.push(capture.object.as_ref().map(|object| object.clone_ref(py)));
                CaptureSource::Open(Arc::clone(&capture.capture))
            }
            Source::Path(path) => {
                objects.push(None);
                CaptureSource::Path(path.clone(), Box::new(self.options.clone()))
            }
        });
        let rows = host::Rows::new(captures.collect(), self.question.clone());
        let damage = Damage::default();
        *locked(&self.damage) = Arc::clone(&damage);
        Reading { rows, objects, damage }
    }

    /// The files that the captures are in.
    fn inputs(&self) -> Vec<FileId> {
        let files = self.captures.iter().map(|source| match source {
            Source::Capture(capture) => capture.get().capture.file(),
            Source::Path(path) => FileId::at(path).ok(),
        });
        files.flatten().collect()
    }

    /// Returns the origin of the rows, for whoever finds them in a file later.
    fn origin(&self) -> RowOrigin {
        let sources = self.captures.iter().map(|source| match source {
            Source::Capture(capture) => capture.get().capture.name().to_owned(),
            Source::Path(path) => path.display().to_string(),
        });
        let filter = match self.captures.first() {
            Some(Source::Capture(capture)) => capture.get().options.filter.clone(),
            _ => self.options.filter.clone(),
        };
        RowOrigin { sources: sources.collect(), filter }
    }
}

#[pymethods]
impl Rows {
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(no_pickle(
            "Rows",
            "it reads captures that may be open; pickle list(rows), or what asked for it",
        ))
    }

    #[staticmethod]
    #[pyo3(name = "_packets", signature = (sources, fields, **options))]
    fn packets(
        py: Python<'_>,
        sources: Vec<Bound<'_, PyAny>>,
        fields: Vec<String>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Rows> {
        let tables = &[PacketOptions::OPTIONS, CaptureOptions::OPTIONS];
        let settings = settings(py, tables, options)?;
        let question = Question::Packets(packet_fields(py, &fields)?, raised(py, settings.take())?);
        Rows::of(py, &sources, question, capture_options(py, &settings)?)
    }

    /// Packets with their bytes, of one capture.
    #[staticmethod]
    #[pyo3(name = "_frames")]
    fn frames(py: Python<'_>, source: Bound<'_, PyAny>) -> PyResult<Rows> {
        Rows::of(py, &[source], Question::Frames, CaptureOptions::default())
    }

    #[staticmethod]
    #[pyo3(name = "_flows", signature = (sources, fields, **options))]
    fn flows(
        py: Python<'_>,
        sources: Vec<Bound<'_, PyAny>>,
        fields: Vec<String>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Rows> {
        let tables = &[FlowOptions::OPTIONS, ToldFlows::OPTIONS, CaptureOptions::OPTIONS];
        let settings = settings(py, tables, options)?;
        let flows = raised(py, FlowQuestion::of(&settings))?;
        let question = Question::Flows(flow_fields(py, &fields, &flows)?, flows);
        Rows::of(py, &sources, question, capture_options(py, &settings)?)
    }

    #[staticmethod]
    #[pyo3(name = "_calls", signature = (sources, fields, **options))]
    fn calls(
        py: Python<'_>,
        sources: Vec<Bound<'_, PyAny>>,
        fields: Vec<String>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Rows> {
        let tables = &[CallOptions::OPTIONS, CallStructOptions::OPTIONS, CaptureOptions::OPTIONS];
        let settings = settings(py, tables, options)?;
        let calls = load_calls(py, raised(py, settings.take())?)?;
        let structs: CallStructOptions = raised(py, settings.take())?;
        let calls = raised(py, structs.ask(calls))?;
        let question = Question::Calls(call_fields(py, &fields)?, calls);
        Rows::of(py, &sources, question, capture_options(py, &settings)?)
    }

    /// The answer to the question of that name; options of captures are among the keywords unless these are open.
    #[staticmethod]
    #[pyo3(name = "_summary", signature = (name, sources, is_open, **options))]
    fn summary(
        py: Python<'_>,
        name: &str,
        sources: Vec<Bound<'_, PyAny>>,
        is_open: bool,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Rows> {
        let question = raised(py, QuestionSpec::named(name))?;
        let tables = if is_open { question.own_tables() } else { question.tables };
        let settings = settings(py, tables, options)?;
        let question = raised(py, question.question(&settings))?;
        Rows::of(py, &sources, question, capture_options(py, &settings)?)
    }

    /// The names of the columns.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        names(py, &self.question.schema())
    }

    /// The errors of the damage that the reading that began last has kept the rows before, so far, in the order of the
    /// captures: with `damage="keep"`, and none otherwise.
    #[getter]
    fn damage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let damage = Arc::clone(&locked(&self.damage));
        let damage = locked(&damage).clone();
        PyTuple::new(py, damage.iter().map(|error| to_python(py, error)))
    }

    fn __iter__(&self, py: Python<'_>) -> Records {
        Records { state: Mutex::new((self.read(py), Waiting::None)) }
    }

    /// Iterates over the rows in batches of columns.
    fn batches(&self, py: Python<'_>) -> Batches {
        Batches { reading: Mutex::new(self.read(py)), export: self.export }
    }

    /// Returns these rows with columns that leave for Arrow as programs take them that lack some types.
    ///
    /// The keywords are those of `bytewright.options.EXPORT`.
    #[pyo3(signature = (**options))]
    fn converted(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Rows> {
        let export = raised(py, settings(py, &[ExportOptions::OPTIONS], options)?.take())?;
        let captures = self.captures.iter().map(|source| source.clone_ref(py)).collect();
        let (options, question) = (self.options.clone(), self.question.clone());
        Ok(Rows { captures, options, question, export, damage: Mutex::default() })
    }

    #[pyo3(signature = (*_arguments, **_keywords))]
    fn __array__(
        &self,
        _arguments: &Bound<'_, PyTuple>,
        _keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        Err(frames::no_array("rows"))
    }

    /// The columns as Arrow's C stream, in the order and the types of a requested schema where these can be made.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = self.question.schema();
        let layout = layout(py, &schema, self.export, requested_schema.as_ref())?;
        let mut reading = self.read(py);
        let owner = thread::current().id();
        let next = move || reading.next_of_stream(owner);
        let metadata = self.origin().metadata(&schema);
        PyCapsule::new_with_value(py, layout.stream(metadata, next), c"arrow_array_stream")
    }

    /// The names and types of the columns as Arrow's C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = self.question.schema();
        let schema = ArrowSchema::new(&schema, self.export, &self.origin().metadata(&schema));
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Writes the rows to a Parquet file, and returns their number. The file has its name when it is whole.
    ///
    /// The keywords are those of `bytewright.options.PARQUET`.
    #[pyo3(signature = (path, **options))]
    fn to_parquet(
        &self,
        py: Python<'_>,
        path: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<u64> {
        let (schema, origin, inputs) = (self.question.schema(), self.origin(), self.inputs());
        let mut reading = self.read(py);
        ParquetRows { schema, origin, inputs }.write(py, path, options, || reading.next())
    }

    fn __repr__(&self) -> String {
        let schema = self.question.schema();
        let fields: Vec<&str> = schema.fields().iter().map(batch::Field::name).collect();
        format!(
            "<{} of {}: {}>",
            schema.name(),
            self.origin().sources.join(", "),
            fields.join(", ")
        )
    }
}

/// Returns the layout of columns in Arrow, for a program that requests a schema, or does not.
pub(crate) fn layout(
    py: Python<'_>,
    schema: &Schema,
    options: ExportOptions,
    requested_schema: Option<&Bound<'_, PyAny>>,
) -> PyResult<Layout> {
    match requested_schema {
        None => Ok(Layout::new(schema, options)),
        Some(capsule) => {
            let layout =
                read_schema(capsule, |requested| Layout::requested(schema, options, requested))?;
            raised(py, layout)
        }
    }
}

fn names<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, schema.fields().iter().map(batch::Field::name))
}

/// Takes the damage that came to light since the last call, and notes it.
fn noted(rows: &mut host::Rows, noted: &Mutex<Vec<Error>>) -> Vec<Error> {
    let damage = rows.take_damage();
    locked(noted).extend_from_slice(&damage);
    damage
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the mutex if no other thread has it. Waiting for it with Python's lock held would not end:
/// whoever has the mutex needs that lock.
pub(crate) fn try_enter<'a, T>(py: Python<'_>, mutex: &'a Mutex<T>) -> PyResult<MutexGuard<'a, T>> {
    match mutex.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            let message = "expected an iterator that no other thread is using, found one in use";
            Err(to_python(py, &Error::new(ErrorKind::Lock, message)))
        }
    }
}

/// An iterator over batches of columns.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct Batches {
    reading: Mutex<Reading>,
    export: ExportOptions,
}

#[pymethods]
impl Batches {
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(no_pickle("Batches", BEING_READ))
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let rows = try_enter(py, &self.reading)?.next()?;
        Ok(rows.map(|rows| Batch::exported(rows, self.export)))
    }
}

/// Some rows as columns.
#[pyclass(frozen, module = "bytewright")]
pub(crate) struct Batch {
    /// Arrays of Arrow share them.
    pub(super) rows: Arc<batch::Batch>,
    /// Form in which the columns leave for Arrow.
    pub(super) export: ExportOptions,
}

impl Batch {
    /// Rows whose columns leave as they are.
    pub(crate) fn new(rows: batch::Batch) -> Batch {
        Batch::exported(rows, ExportOptions::default())
    }

    /// Rows whose columns leave in that form.
    pub(super) fn exported(rows: batch::Batch, export: ExportOptions) -> Batch {
        Batch { rows: Arc::new(rows), export }
    }
}

#[pymethods]
impl Batch {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<ReducedBatch<'py>> {
        reduced_batch(py, self)
    }

    /// Itself, because nothing changes it.
    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    /// The names of the columns.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        names(py, self.rows.schema())
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// The values of a column as a list.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let place = self.rows.schema().place_of(name);
        let place = place.map_err(|error| PyKeyError::new_err(error.message().to_owned()))?;
        let values =
            (0..self.rows.len()).map(|row| values::object(py, self.rows.value(row, place)));
        PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
    }

    /// The columns as lists by their names.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for field in self.rows.schema().fields() {
            dict.set_item(field.name(), self.__getitem__(py, field.name())?)?;
        }
        Ok(dict)
    }

    #[pyo3(signature = (*_arguments, **_keywords))]
    fn __array__(
        &self,
        _arguments: &Bound<'_, PyTuple>,
        _keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        Err(frames::no_array("batch"))
    }

    /// The columns as Arrow's C schema and C array, in the order and the types of a requested schema where these can be made.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let layout = layout(py, self.rows.schema(), self.export, requested_schema.as_ref())?;
        let array = raised(py, layout.shared_array(&self.rows))?;
        let schema = PyCapsule::new_with_value(py, layout.schema(&[]), c"arrow_schema")?;
        Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    /// The names and types of the columns as Arrow's C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = ArrowSchema::new(self.rows.schema(), self.export, &[]);
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __repr__(&self) -> String {
        let schema = self.rows.schema();
        let fields: Vec<&str> = schema.fields().iter().map(batch::Field::name).collect();
        format!("<Batch of {} {}: {}>", self.rows.len(), schema.name(), fields.join(", "))
    }
}

/// An iterator over records.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct Records {
    state: Mutex<(Reading, Waiting)>,
}

/// Records that were read and not given yet.
enum Waiting {
    None,
    Frames(FrameBatch, usize),
    Rows(batch::Batch, usize),
    Flows(std::vec::IntoIter<flow::Flow>),
    Calls(std::vec::IntoIter<rpc::Call>),
}

impl Waiting {
    fn of(item: Item) -> Waiting {
        match item {
            Item::Answer(Answer::Frames(batch)) => Waiting::Frames(batch, 0),
            Item::Answer(Answer::Flows(flows)) => Waiting::Flows(flows.into_iter()),
            Item::Answer(Answer::Calls(calls, _)) => Waiting::Calls(calls.into_iter()),
            item => item.into_batch().map_or(Waiting::None, |batch| Waiting::Rows(batch, 0)),
        }
    }

    /// The next record as an object.
    fn next<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self {
            Waiting::None => Ok(None),
            Waiting::Frames(batch, place) => {
                let Some(packet) = Packet::copied(batch, *place) else { return Ok(None) };
                *place += 1;
                Ok(Some(Bound::new(py, packet)?.into_any()))
            }
            Waiting::Rows(batch, place) if *place < batch.len() => {
                let columns = 0..batch.columns().len();
                let values = columns.map(|column| values::object(py, batch.value(*place, column)));
                let row = PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)?;
                *place += 1;
                Ok(Some(row.into_any()))
            }
            Waiting::Rows(..) => Ok(None),
            Waiting::Flows(flows) => {
                flows.next().map(|flow| Ok(Bound::new(py, Flow::new(flow))?.into_any())).transpose()
            }
            Waiting::Calls(calls) => {
                calls.next().map(|call| Ok(Bound::new(py, Call::new(call))?.into_any())).transpose()
            }
        }
    }

    /// Takes the item that is used up, if its memory can serve again.
    fn used(&mut self) -> Option<Item> {
        match std::mem::replace(self, Waiting::None) {
            Waiting::Frames(batch, _) => Some(Item::Answer(Answer::Frames(batch))),
            _ => None,
        }
    }
}

#[pymethods]
impl Records {
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(no_pickle("Records", BEING_READ))
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut state = try_enter(py, &self.state)?;
        let (reading, waiting) = &mut *state;
        loop {
            if let Some(record) = waiting.next(py)? {
                return Ok(Some(record));
            }
            if let Some(used) = waiting.used() {
                reading.rows.recycle(used);
            }
            match reading.step()? {
                RowStep::Item(item) => *waiting = Waiting::of(item),
                RowStep::NextCapture => {}
                RowStep::End => return Ok(None),
            }
        }
    }
}

/// The names, types and meanings of the fields of packets, flows or calls.
#[pyfunction]
pub(crate) fn schema_of<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
    let schema = match name {
        "packets" => Field::SCHEMA,
        "flows" => FlowField::SCHEMA,
        "calls" => CallField::SCHEMA,
        other => {
            let message = format!("expected packets, flows or calls, found {}", excerpt(other));
            return Err(argument(py, message));
        }
    };
    let fields = schema.fields().iter().map(|field| {
        (field.name(), field.data_type().name(), field.is_nullable(), field.meaning())
    });
    PyList::new(py, fields)
}
