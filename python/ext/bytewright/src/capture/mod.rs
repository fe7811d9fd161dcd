//! Captures: packets, flows and Thrift calls of one or several, as records, columns and counts.

mod arguments;
mod fields;
mod flow_entries;
mod flow_log;
mod host;
mod info;
mod record;
mod report;
mod restored;
mod rows;
mod store;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;

use bytewright::ask::{Answer, CountOptions, CutOptions, Question, SumOptions};
use bytewright::bytes::StreamOptions;
use bytewright::export::OutputOptions;
use bytewright::flow::FlowOptions;
use bytewright::host::{self as core, Item, Pass};
use bytewright::input::{self, CaptureOptions, LiveOptions};
use bytewright::options::NamedOptions;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use arguments::{capture_options, field_named};
pub(crate) use flow_entries::{EntryBatches, EntryMerge};
pub(crate) use flow_log::FlowLog;
pub(crate) use host::StreamHost;
pub(crate) use record::{Call, Flow, Packet};
pub(crate) use report::Report;
pub(crate) use restored::{restored_batch, restored_call, restored_flow, restored_packet};
pub(crate) use rows::{Batch, Batches, Records, Rows, layout, schema_of, try_enter};
pub(crate) use store::{FlowStore, StoredFlows};
pub(crate) use writer::CaptureWriter;

use crate::border::descriptor_of;
use crate::error::{after, guarded, raised, to_python, warn_of_all};
use crate::host::PythonHost;
use crate::options::settings;
use crate::shown::class_name;
use crate::values;

/// A network interface, as the source of a `Capture`.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct Interface {
    name: String,
    options: LiveOptions,
}

#[pymethods]
impl Interface {
    #[new]
    #[pyo3(signature = (name, **options))]
    fn new(py: Python<'_>, name: String, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = raised(py, settings(py, &[LiveOptions::OPTIONS], options)?.take())?;
        Ok(Interface { name, options })
    }
}

/// A part of a plain pcap file, as the source of a `Capture`: `capture_parts` tells its numbers.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct CapturePart {
    path: PathBuf,
    part: input::CapturePart,
}

#[pymethods]
impl CapturePart {
    #[new]
    #[pyo3(signature = (path, start, end, packets_before))]
    fn new(path: PathBuf, start: u64, end: Option<u64>, packets_before: u64) -> Self {
        CapturePart { path, part: input::CapturePart { start, end, packets_before } }
    }
}

/// The parts of the capture at `path`, each of `bytes` or more but for the last one: where they begin and end in the file, and how many
/// packets are before them.
#[pyfunction]
pub(crate) fn capture_parts(
    py: Python<'_>,
    path: PathBuf,
    bytes: u64,
) -> PyResult<Vec<(u64, Option<u64>, u64)>> {
    let found =
        py.detach(|| guarded(|| input::capture_parts(&path, bytes, &StreamOptions::default())));
    let numbers = |part: input::CapturePart| (part.start, part.end, part.packets_before);
    Ok(raised(py, found)?.into_iter().map(numbers).collect())
}

/// The numbers of the first packets of parts of the capture at `path`, each of about `bytes` of the file, by its index; 1 alone where
/// it has to be read as a whole. `options` are those of a capture.
#[pyfunction]
#[pyo3(signature = (path, bytes, **options))]
pub(crate) fn indexed_parts(
    py: Python<'_>,
    path: PathBuf,
    bytes: u64,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<u64>> {
    let options = capture_options(py, &settings(py, &[CaptureOptions::OPTIONS], options)?)?;
    raised(py, py.detach(|| guarded(|| input::indexed_parts(&path, bytes, &options))))
}

impl Interface {
    fn open(&self, options: &CaptureOptions) -> bytewright::Result<core::Capture> {
        core::Capture::live(&self.name, self.options.clone(), options.clone())
    }
}

/// Base of `bytewright.Capture`.
#[pyclass(frozen, subclass, weakref, module = "bytewright._bytewright")]
pub(crate) struct Capture {
    capture: Arc<core::Capture>,
    options: CaptureOptions,
    /// A file object, where the bytes come from one.
    object: Option<Py<PyAny>>,
}

impl Capture {
    fn host(&self) -> PythonHost<'_> {
        PythonHost { object: self.object.as_ref() }
    }

    /// The one result of a pass.
    fn result_of(&self, py: Python<'_>, pass: bytewright::Result<Pass>) -> PyResult<Option<Item>> {
        let pass = raised(py, pass)?;
        let mut result = pass.next(&self.host());
        if result.is_err() {
            // Until its thread is gone, it has a store open that it merges into.
            result = after(py, result, pass.close(&self.host()));
        }
        warn_of_all(py, &pass.take_damage())?;
        result
    }
}

#[pymethods]
impl Capture {
    #[new]
    #[pyo3(signature = (source, **options))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Capture> {
        let options = capture_options(py, &settings(py, &[CaptureOptions::OPTIONS], options)?)?;
        match source.extract::<PathBuf>() {
            Ok(path) => {
                let open = || core::Capture::open(&path, options.clone());
                let capture = Arc::new(raised(py, py.detach(|| guarded(open)))?);
                return Ok(Capture { capture, options, object: None });
            }
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {}
            // Of the code that makes a path of the object, or of a signal's handler meanwhile.
            Err(error) => return Err(error),
        }
        if let Ok(part) = source.cast::<CapturePart>() {
            let CapturePart { path, part } = part.get();
            let options = CaptureOptions { part: Some(*part), ..options };
            let opened = py.detach(|| guarded(|| core::Capture::open(path, options.clone())));
            return Ok(Capture { capture: Arc::new(raised(py, opened)?), options, object: None });
        }
        if let Ok(interface) = source.cast::<Interface>() {
            let interface = interface.get();
            let opened = py.detach(|| guarded(|| interface.open(&options)));
            return Ok(Capture { capture: Arc::new(raised(py, opened)?), options, object: None });
        }
        let class = class_name(source);
        if !source.hasattr("read")? && !source.hasattr("readinto")? {
            let message =
                format!("expected a path or an object with read or readinto, found {class}");
            return Err(PyTypeError::new_err(message));
        }
        let name = match source.getattr("name") {
            Ok(name) if name.is_instance_of::<pyo3::types::PyString>() => name.to_string(),
            _ => class,
        };
        let capture = raised(py, guarded(|| core::Capture::of_host(name, options.clone())))?;
        let capture = match descriptor_of(source)? {
            Some(descriptor) => capture.of_descriptor(descriptor),
            None => capture,
        };
        Ok(Capture { capture: Arc::new(capture), options, object: Some(source.clone().unbind()) })
    }

    /// The path, or what stands for it.
    #[getter]
    fn name(&self) -> &str {
        self.capture.name()
    }

    /// True after it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.capture.is_closed()
    }

    /// The error of the damage that the latest reading of it kept the packets before; None where there was none, or it was
    /// opened without `damage="keep"`.
    #[getter]
    fn damage(&self, py: Python<'_>) -> Option<PyErr> {
        self.capture.damage().map(|damage| to_python(py, &damage))
    }

    /// The error for which the index of the capture was not used, or could not be made beside another answer; None where there
    /// was no index, or it was used.
    #[getter]
    fn index_fault(&self, py: Python<'_>) -> Option<PyErr> {
        self.capture.index_fault().map(|fault| to_python(py, &fault))
    }

    /// The packet with a number, or None.
    #[pyo3(name = "_frame")]
    fn frame(&self, py: Python<'_>, number: u64) -> PyResult<Option<Packet>> {
        match self.result_of(py, self.capture.ask(Question::Frame(number)))? {
            Some(Item::Answer(Answer::Frames(batch))) => Ok(Packet::copied(&batch, 0)),
            _ => Ok(None),
        }
    }

    /// Closes it, and ends what reads it.
    fn close(&self) -> PyResult<()> {
        self.capture.close(&self.host())
    }

    /// Ends the iterations and sums under way over an interface, as from another thread: they answer for the packets that
    /// came before. Nothing happens to other captures.
    fn stop(&self) {
        self.capture.stop();
    }

    /// Counts of all iterations over an interface together, as a dict: packets `captured`, `dropped` because there was
    /// no room for them, and `dropped_by_interface`; None for other captures.
    fn live_counts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(counts) = self.capture.live_counts() else { return Ok(None) };
        let dict = PyDict::new(py);
        dict.set_item("captured", counts.captured())?;
        dict.set_item("dropped", counts.dropped())?;
        dict.set_item("dropped_by_interface", counts.dropped_by_interface())?;
        Ok(Some(dict))
    }

    /// Counts packets by the value of a field: a dict in order of the values, where those without the field are counted
    /// under None.
    #[pyo3(signature = (field, **options))]
    fn count_by<'py>(
        &self,
        py: Python<'py>,
        field: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let field = raised(py, field_named(field))?;
        let options = raised(py, settings(py, &[CountOptions::OPTIONS], options)?.take())?;
        let counts = PyDict::new(py);
        let pass = self.capture.ask(Question::Counts(field, options));
        if let Some(Item::Answer(Answer::Counts(found))) = self.result_of(py, pass)? {
            for (value, count) in found.sorted() {
                counts.set_item(values::object(py, value)?, count)?;
            }
        }
        Ok(counts)
    }

    /// Merges the flows into a file that is open; what became of it as a dict.
    #[pyo3(name = "_merge_flows", signature = (store, **options))]
    fn merge_flows<'py>(
        &self,
        py: Python<'py>,
        store: &FlowStore,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let limits = raised(py, settings(py, &[FlowOptions::OPTIONS], options)?.take())?;
        match self.result_of(py, self.capture.merge_flows(&store.0, limits))? {
            Some(Item::Merge(merge)) => info::merge_to_dict(py, &merge),
            _ => Ok(PyDict::new(py)),
        }
    }

    /// Adds the capture to a report; what became of it as a dict.
    #[pyo3(name = "_add_to_report")]
    fn add_to_report<'py>(&self, py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
        match self.result_of(py, self.capture.report(&report.report))? {
            Some(Item::Reported(reported)) => info::reported_to_dict(py, &reported),
            _ => Ok(PyDict::new(py)),
        }
    }

    /// Adds the flows to a file of another program.
    #[pyo3(name = "_add_to_flow_log")]
    fn add_to_flow_log(&self, py: Python<'_>, log: &FlowLog) -> PyResult<()> {
        self.result_of(py, self.capture.log_flows(&log.log)).map(drop)
    }

    /// Adds packets up: these fields, by what the options say.
    #[pyo3(name = "_sum", signature = (fields, **options))]
    fn sum(
        &self,
        py: Python<'_>,
        fields: Vec<String>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Batch> {
        let options: SumOptions =
            raised(py, settings(py, &[SumOptions::OPTIONS], options)?.take())?;
        let question = raised(py, options.question(&fields))?;
        let schema = question.schema();
        let sums = self.result_of(py, self.capture.ask(question))?.and_then(Item::into_batch);
        Ok(Batch::new(sums.unwrap_or_else(|| bytewright::batch::Batch::new(schema))))
    }

    /// Writes packets to a new capture; what was written as a dict.
    #[pyo3(name = "_write_to", signature = (path, **options))]
    fn write_to<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let settings = settings(py, &[CutOptions::OPTIONS, OutputOptions::OPTIONS], options)?;
        let output: OutputOptions = raised(py, settings.take())?;
        let options = raised(py, settings.take())?;
        let pass = raised(py, self.capture.cut(path, options, output.force))?;
        let mut result = pass.next(&self.host());
        if result.is_err() {
            // By then the file is there, or is not and never will be.
            result = after(py, result, pass.close(&self.host()));
        }
        match result? {
            Some(Item::Cut(totals)) => info::cut_to_dict(py, &totals),
            _ => Ok(PyDict::new(py)),
        }
    }

    /// Reads all of the capture and says what it is, as a dict; `damage` is the error that ended it, or None.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.result_of(py, self.capture.ask(Question::Info))? {
            Some(Item::Answer(Answer::Info(found))) => info::to_dict(py, &found),
            _ => Ok(PyDict::new(py)),
        }
    }
}
