//! Flows of many captures, in a file.

use std::path::PathBuf;
use std::sync::Mutex;
use std::vec::IntoIter;

use bytewright::ask::Answer;
use bytewright::flow;
use bytewright::host::{FlowTableFile, Item, Pass};
use bytewright::sums::{EntryOrigin, Merged};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::flow_entries::{self, EntryBatches};
use super::record::Flow;
use super::rows::{Batch, try_enter};
use crate::error::{BEING_READ, guarded, no_pickle, raised};
use crate::host::PythonHost;
use crate::values::row_to_dict;

/// Base of `bytewright.FlowStore`.
#[pyclass(frozen, subclass, module = "bytewright._bytewright")]
pub(crate) struct FlowStore(pub(super) FlowTableFile);

#[pymethods]
impl FlowStore {
    /// Opens the file, and makes it where it is missing.
    #[new]
    #[pyo3(signature = (path, *, read_only = false))]
    fn new(py: Python<'_>, path: PathBuf, read_only: bool) -> PyResult<FlowStore> {
        let open = if read_only { FlowTableFile::open_read_only } else { FlowTableFile::open };
        let opened = py.detach(|| guarded(|| open(&path)));
        raised(py, opened).map(FlowStore)
    }

    /// Opens it where the first capture makes the file, so that sources that are no captures leave none behind.
    #[staticmethod]
    #[pyo3(name = "_to_count")]
    fn to_count(py: Python<'_>, path: PathBuf) -> PyResult<FlowStore> {
        let opened = py.detach(|| guarded(|| FlowTableFile::open_to_count(&path)));
        raised(py, opened).map(FlowStore)
    }

    /// The path.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// True after it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Closes it.
    fn close(&self) -> PyResult<()> {
        self.0.close(&PythonHost::OF_FILE)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        raised(py, guarded(|| self.0.len())).map(|len| len as usize)
    }

    /// The captures that were counted, as dicts.
    fn captures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for capture in raised(py, guarded(|| self.0.captures()))? {
            let id: String = capture.content_id.iter().map(|byte| format!("{byte:02x}")).collect();
            let dict = PyDict::new(py);
            dict.set_item("name", capture.name)?;
            dict.set_item("content_id", id)?;
            dict.set_item("packets", capture.packets)?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// Counts the capture whose entries these are; says whether it was not counted before.
    #[pyo3(name = "_count")]
    fn count(
        &self,
        py: Python<'_>,
        keys: Vec<Bound<'_, PyBytes>>,
        values: Vec<Bound<'_, PyBytes>>,
    ) -> PyResult<bool> {
        let (capture, flows) = raised(py, flow_entries::of_capture(&keys, &values))?;
        let counted = py.detach(|| guarded(|| self.0.count(&capture, flows)));
        Ok(matches!(raised(py, counted)?, Merged::Added { .. }))
    }

    /// The entries of the one capture that was counted: its content id, its place in a list of captures, its path and its damage.
    #[pyo3(name = "_entries")]
    fn entries(
        &self,
        py: Python<'_>,
        content_id: &[u8],
        place: i64,
        file: String,
        damage: Option<(u64, String)>,
        rows: usize,
    ) -> PyResult<EntryBatches> {
        let origin = EntryOrigin { place, file, damage };
        let entries = py.detach(|| guarded(|| self.0.entries(content_id, origin)));
        Ok(EntryBatches::new(raised(py, entries)?, rows))
    }

    /// The one row of a file that is no capture, and so has no entries.
    #[staticmethod]
    #[pyo3(name = "_without_entries")]
    fn without_entries(place: i64, file: String, damage: Option<(u64, String)>) -> Batch {
        flow_entries::without_entries(&EntryOrigin { place, file, damage })
    }

    /// Merges table files; what became of each, as dicts.
    #[pyo3(name = "_merge")]
    fn merge<'py>(&self, py: Python<'py>, paths: Vec<PathBuf>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let pass = raised(py, guarded(|| self.0.merge(paths)))?;
        while let Some(item) = pass.next(&PythonHost::OF_FILE)? {
            if let Item::TableMerge(merge) = item {
                list.append(row_to_dict(py, &merge.to_batch(), 0)?)?;
            }
        }
        Ok(list)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<StoredFlows> {
        let pass = raised(py, guarded(|| self.0.flows()))?;
        Ok(StoredFlows { state: Mutex::new((pass, Vec::new().into_iter())) })
    }
}

/// An iterator over the flows of a file.
#[pyclass(frozen, module = "bytewright._bytewright")]
pub(crate) struct StoredFlows {
    state: Mutex<(Pass, IntoIter<flow::Flow>)>,
}

#[pymethods]
impl StoredFlows {
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(no_pickle("StoredFlows", BEING_READ))
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Flow>> {
        let mut state = try_enter(py, &self.state)?;
        let (pass, waiting) = &mut *state;
        loop {
            if let Some(flow) = waiting.next() {
                return Ok(Some(Flow::new(flow)));
            }
            match pass.next(&PythonHost::OF_FILE)? {
                Some(Item::Answer(Answer::Flows(flows))) => *waiting = flows.into_iter(),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }
}
