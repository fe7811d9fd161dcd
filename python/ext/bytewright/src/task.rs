//! Task of its thread that uses an object, if a library of Python's runs tasks by turns in one thread.

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyWeakrefReference};

/// A task of asyncio or of trio, or a greenlet.
pub(crate) struct Task {
    /// The library's function that answers the task that runs now.
    current: Py<PyAny>,
    /// The task, which this does not keep; nothing for what asyncio's loop calls outside of any.
    task: Option<Py<PyWeakrefReference>>,
}

impl Task {
    /// The task that runs now; nothing for the code of a thread that runs none. A task of asyncio counts before one of trio,
    /// which may run the loop, and before a greenlet, which may run inside of it.
    pub(crate) fn running(py: Python<'_>) -> PyResult<Option<Task>> {
        let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
        let modules = modules.cast_into::<PyDict>()?;
        let asyncio = asyncio(&modules)?;
        if let Some((current, task)) = &asyncio
            && !task.is_none()
        {
            return Task::new(current, task).map(Some);
        }
        if let Some(trio) = modules.get_item(intern!(py, "trio"))?
            && let Some(lowlevel) = trio.getattr_opt(intern!(py, "lowlevel"))?
        {
            let current = lowlevel.getattr(intern!(py, "current_task"))?;
            if let Some(task) = unless_none_runs(&current)? {
                return Task::new(&current, &task).map(Some);
            }
        }
        if let Some(greenlet) = modules.get_item(intern!(py, "greenlet"))?
            && let Some(current) = greenlet.getattr_opt(intern!(py, "getcurrent"))?
        {
            return Task::new(&current, &current.call0()?).map(Some);
        }
        Ok(asyncio.map(|(current, _)| Task { current: current.unbind(), task: None }))
    }

    fn new(current: &Bound<'_, PyAny>, task: &Bound<'_, PyAny>) -> PyResult<Task> {
        let task = PyWeakrefReference::new(task)?.unbind();
        Ok(Task { current: current.clone().unbind(), task: Some(task) })
    }

    /// Returns true if it is the one that runs now.
    pub(crate) fn is_running(&self, py: Python<'_>) -> PyResult<bool> {
        let Some(found) = unless_none_runs(self.current.bind(py))? else { return Ok(false) };
        Ok(match &self.task {
            Some(task) => found.is(&task.bind(py).call0()?) && !found.is_none(),
            None => found.is_none(),
        })
    }
}

/// The function that answers the running task of asyncio, and that task; nothing where no loop runs in this thread.
fn asyncio<'py>(
    modules: &Bound<'py, PyDict>,
) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let py = modules.py();
    let Some(asyncio) = modules.get_item(intern!(py, "asyncio"))? else { return Ok(None) };
    // A module that is being imported has not got all of its names.
    let Some(running_loop) = asyncio.getattr_opt(intern!(py, "_get_running_loop"))? else {
        return Ok(None);
    };
    let running_loop = running_loop.call0()?;
    if running_loop.is_none() {
        return Ok(None);
    }
    let current = asyncio.getattr(intern!(py, "current_task"))?;
    let task = current.call1((running_loop,))?;
    Ok(Some((current, task)))
}

/// Calls the function of a library, which raises `RuntimeError` if the library runs nothing; None then.
fn unless_none_runs<'py>(current: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match current.call0() {
        Ok(task) => Ok(Some(task)),
        Err(error) if error.is_instance_of::<PyRuntimeError>(current.py()) => Ok(None),
        Err(error) => Err(error),
    }
}
