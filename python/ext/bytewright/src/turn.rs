//! Turns of Python's threads and tasks at an object of the core that they share.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::border::raise_soon;
use crate::task::Task;

/// A thread of Python, and the task of it that began what it does, where that matters and one ran.
#[derive(Clone)]
pub(crate) struct Strand {
    thread: ThreadId,
    task: Option<Arc<Task>>,
}

impl Strand {
    /// This thread, whatever task runs.
    pub(crate) fn of_thread() -> Strand {
        Strand { thread: thread::current().id(), task: None }
    }

    /// This thread and the task that runs in it.
    pub(crate) fn running(py: Python<'_>) -> PyResult<Strand> {
        Ok(Strand { task: Task::running(py)?.map(Arc::new), ..Strand::of_thread() })
    }

    /// Says whether the thread is this one. Numbers of threads are never used twice, and a forked child goes on counting.
    pub(crate) fn is_of_this_thread(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Says whether it is this thread, for which no task began anything.
    pub(crate) fn is_this_thread_without_task(&self) -> bool {
        self.is_of_this_thread() && self.task.is_none()
    }

    /// Says whether its task runs now. Without a task, all code of the thread is meant.
    pub(crate) fn is_running(&self, py: Python<'_>) -> PyResult<bool> {
        self.task.as_ref().map_or(Ok(true), |task| task.is_running(py))
    }
}

/// A lock of Python's, made when it is first taken: who waits for it can be interrupted.
#[derive(Default)]
pub(crate) struct TurnLock(Mutex<Option<MadeLock>>);

struct MadeLock {
    /// The lock's methods, so that to take one that is free looks nothing up: to look up may let other threads run.
    acquire: Py<PyAny>,
    release: Py<PyAny>,
    /// Functions that wake tasks which wait for the lock without blocking their thread, the longest first.
    waiting: VecDeque<Py<PyAny>>,
    /// A forked child finds it as it was, perhaps taken by a thread that it has not got.
    process: u32,
}

impl TurnLock {
    /// A lock that is made now, if other threads could run while it is made.
    pub(crate) fn new(py: Python<'_>) -> PyResult<TurnLock> {
        let lock = TurnLock::default();
        if cfg!(Py_GIL_DISABLED) {
            lock.acquire(py)?;
        }
        Ok(lock)
    }

    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<()> {
        self.acquire(py)?.call0(py).map(drop)
    }

    /// Takes it where it is free, and says whether it was.
    pub(crate) fn try_take(&self, py: Python<'_>) -> PyResult<bool> {
        self.acquire(py)?.call1(py, (false,))?.is_truthy(py)
    }

    pub(crate) fn give_back(&self, py: Python<'_>) -> PyResult<()> {
        // Without one of this process, it was taken before the fork.
        let release = self.of_made_here(|made| made.release.clone_ref(py));
        if let Some(release) = release {
            release.call0(py)?;
            self.wake_next(py);
        }
        Ok(())
    }

    /// Has `wake` called when the lock may be free.
    pub(crate) fn join_queue(&self, wake: &Bound<'_, PyAny>) -> PyResult<()> {
        self.acquire(wake.py())?;
        if let Some(made) = &mut *self.made() {
            made.waiting.push_back(wake.clone().unbind());
        }
        Ok(())
    }

    /// Takes a function out of those that wake.
    pub(crate) fn leave_queue(&self, wake: &Bound<'_, PyAny>) {
        let mut made = self.made();
        let left = made.as_mut().and_then(|made| {
            let place = made.waiting.iter().position(|one| one.is(wake));
            place.and_then(|place| made.waiting.remove(place))
        });
        drop(made);
        drop(left);
    }

    /// Wakes the task that has waited longest.
    pub(crate) fn wake_next(&self, py: Python<'_>) {
        loop {
            let next = self.made().as_mut().and_then(|made| made.waiting.pop_front());
            let Some(wake) = next else { return };
            loop {
                match wake.call0(py) {
                    Ok(_) => return,
                    // A loop that was closed has nobody who waits.
                    Err(error) if error.is_instance_of::<PyRuntimeError>(py) => break,
                    // That of a signal's handler. Nobody knows whether the task is awake; that it is woken twice does no harm.
                    Err(error) => raise_soon(py, error),
                }
            }
        }
    }

    /// The method that takes the lock of this process.
    fn acquire(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if let Some(acquire) = self.of_made_here(|made| made.acquire.clone_ref(py)) {
            return Ok(acquire);
        }
        let lock = py.import("_thread")?.call_method0("allocate_lock")?;
        let made = MadeLock {
            acquire: lock.getattr("acquire")?.unbind(),
            release: lock.getattr("release")?.unbind(),
            waiting: VecDeque::new(),
            process: std::process::id(),
        };
        let acquire = made.acquire.clone_ref(py);
        let mut place = self.made();
        // Another thread may have made one meanwhile.
        if let Some(there) = place.as_ref().filter(|there| there.process == made.process) {
            let acquire = there.acquire.clone_ref(py);
            drop(place);
            return Ok(acquire);
        }
        let old = place.replace(made);
        drop(place);
        drop(old);
        Ok(acquire)
    }

    /// Reads something of the lock, if it was made in this process.
    fn of_made_here<R>(&self, read: impl FnOnce(&MadeLock) -> R) -> Option<R> {
        self.made().as_ref().filter(|made| made.process == std::process::id()).map(read)
    }

    fn made(&self) -> MutexGuard<'_, Option<MadeLock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
