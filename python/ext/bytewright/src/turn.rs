//! How threads of Python wait for their turn to use an object of the core that they share.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use bytewright::session::Caller;
use pyo3::prelude::*;

/// A thread of Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thread(ThreadId);

impl Thread {
    pub(crate) fn current() -> Thread {
        Thread(thread::current().id())
    }
}

impl Caller for Thread {
    fn is(self, other: Self) -> bool {
        self == other
    }

    fn shares_thread_with(self, other: Self) -> bool {
        self == other
    }
}

/// A lock of Python's, made when it is first taken: who waits for it can be interrupted.
#[derive(Default)]
pub(crate) struct TurnLock(Mutex<Option<MadeLock>>);

struct MadeLock {
    lock: Py<PyAny>,
    /// A forked child finds it as it was, perhaps taken by a thread that it has not got.
    process: u32,
}

impl TurnLock {
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py)?.call_method0(py, "acquire").map(drop)
    }

    pub(crate) fn give_back(&self, py: Python<'_>) -> PyResult<()> {
        match self.made_here(py) {
            Some(lock) => lock.call_method0(py, "release").map(drop),
            // It was taken before the fork.
            None => Ok(()),
        }
    }

    /// The lock of this process.
    fn lock(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if let Some(lock) = self.made_here(py) {
            return Ok(lock);
        }
        let new = py.import("_thread")?.call_method0("allocate_lock")?.unbind();
        // Another thread may have made one meanwhile.
        if let Some(lock) = self.made_here(py) {
            return Ok(lock);
        }
        let made = MadeLock { lock: new.clone_ref(py), process: std::process::id() };
        let old = self.made().replace(made);
        drop(old);
        Ok(new)
    }

    fn made_here(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let made = self.made();
        let made = made.as_ref().filter(|made| made.process == std::process::id())?;
        Some(made.lock.clone_ref(py))
    }

    fn made(&self) -> MutexGuard<'_, Option<MadeLock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
