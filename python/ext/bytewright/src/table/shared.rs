//! A table that threads of Python share: whose turn it is, and what is done without Python's lock.
//!
//! Python's lock guards the table. The mutex is taken only while that is held, for work in which no Python code runs,
//! so nobody ever waits for it. What takes long gives Python's lock up; the table is the working thread's meanwhile.
//! That, and an open transaction, is a *turn*, which is a lock of Python's: who waits for it can be interrupted.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use bytewright::Result;
use bytewright::table::Table;
use pyo3::prelude::*;

use super::content::Content;
use crate::error::{guarded, raised, to_python};

/// A table, and whose turn it is to use it: everybody's, or that of one thread.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Python's lock for the turn, made when it is first taken.
    lock: Mutex<Option<Py<PyAny>>>,
}

struct State {
    content: Content,
    user: Option<User>,
}

/// Who has the turn.
#[derive(Clone, Copy)]
struct User {
    thread: ThreadId,
    process: u32,
}

impl User {
    fn current() -> User {
        User { thread: thread::current().id(), process: std::process::id() }
    }

    /// Numbers of threads are never used twice, and a forked child goes on counting.
    fn is_current(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Whether it is a thread of the parent that the fork left behind.
    fn is_gone(&self) -> bool {
        !self.is_current() && self.process != std::process::id()
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(content: Content) -> Shared {
        Shared { state: Mutex::new(State { content, user: None }), lock: Mutex::new(None) }
    }

    /// Uses the table at once: `work` must be short, and run no Python code.
    #[inline]
    pub(super) fn briefly<R>(
        &self,
        py: Python<'_>,
        mut work: impl FnMut(&mut Content) -> Result<R>,
    ) -> PyResult<R> {
        loop {
            let mut state = held(&self.state);
            if state.user.is_none_or(|user| user.is_current()) {
                let outcome = guarded(|| work(&mut state.content));
                drop(state);
                return raised(py, outcome);
            }
            drop(state);
            self.wait(py)?;
        }
    }

    /// Reads the table at once, after what its own thread does on its file.
    #[inline]
    pub(super) fn read<R>(
        &self,
        py: Python<'_>,
        mut work: impl FnMut(&Content) -> Result<R>,
    ) -> PyResult<R> {
        loop {
            let outcome = self.briefly(py, |content| match content {
                Content::HashFile(table) if table.is_busy() => Ok(None),
                Content::TreeFile(table) if table.is_busy() => Ok(None),
                content => work(content).map(Some),
            })?;
            match outcome {
                Some(found) => return Ok(found),
                // To look for anything waits for that thread.
                None => self.at_length(py, |content| content.table()?.contains(&[]).map(drop))?,
            }
        }
    }

    /// Changes the table, without Python's lock where that may wait for a disk.
    #[inline]
    pub(super) fn change<R: Send>(
        &self,
        py: Python<'_>,
        mut work: impl FnMut(&mut dyn Table) -> Result<R> + Send,
    ) -> PyResult<R> {
        let outcome = self.briefly(py, |content| match content {
            Content::HashFile(table) if table.waits_for_disk() => Ok(None),
            Content::TreeFile(table) if table.waits_for_disk() => Ok(None),
            content => work(content.table_mut()?).map(Some),
        })?;
        match outcome {
            Some(done) => Ok(done),
            None => self.at_length(py, |content| work(content.table_mut()?)),
        }
    }

    /// Uses the table without Python's lock, while no other thread can.
    pub(super) fn at_length<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Content) -> Result<R> + Send,
    ) -> PyResult<R> {
        let is_taken_now = self.take_turn(py)?;
        let mut content = mem::replace(&mut held(&self.state).content, Content::Away);
        let (content, outcome) = py.detach(move || {
            let outcome = guarded(|| work(&mut content));
            (content, outcome)
        });
        held(&self.state).content = content;
        if is_taken_now {
            self.give_turn_back(py)?;
        }
        raised(py, outcome)
    }

    /// Takes the turn for this thread; whether it was not this thread's before.
    pub(super) fn take_turn(&self, py: Python<'_>) -> PyResult<bool> {
        let user = held(&self.state).user;
        match user {
            Some(user) if user.is_current() => return Ok(false),
            Some(user) if user.is_gone() => self.clear_up(py)?,
            _ => {}
        }
        let lock = self.turn_lock(py)?;
        lock.call_method0(py, "acquire")?;
        held(&self.state).user = Some(User::current());
        Ok(true)
    }

    pub(super) fn give_turn_back(&self, py: Python<'_>) -> PyResult<()> {
        held(&self.state).user = None;
        self.turn_lock(py)?.call_method0(py, "release").map(drop)
    }

    /// Whether a transaction of this thread is open.
    pub(super) fn is_in_transaction(&self, py: Python<'_>) -> PyResult<bool> {
        self.briefly(py, |content| Ok(content.table()?.depth() > 0))
    }

    /// Returns when no other thread has the turn.
    #[cold]
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        if self.take_turn(py)? { self.give_turn_back(py) } else { Ok(()) }
    }

    fn turn_lock(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let made = held(&self.lock).as_ref().map(|lock| lock.clone_ref(py));
        if let Some(lock) = made {
            return Ok(lock);
        }
        let new = py.import("_thread")?.call_method0("allocate_lock")?.unbind();
        // Another thread may have made one meanwhile.
        Ok(held(&self.lock).get_or_insert(new).clone_ref(py))
    }

    /// Takes back the transaction of a thread that is not in this process, and its turn.
    #[cold]
    fn clear_up(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = held(&self.state);
        let cleared = state.content.table_mut().and_then(|table| {
            while table.depth() > 0 {
                table.abort()?;
            }
            Ok(())
        });
        state.user = None;
        drop(state);
        let old = held(&self.lock).take();
        drop(old);
        cleared.map_err(|error| to_python(py, &error))
    }
}
