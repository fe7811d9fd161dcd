//! A table that threads of Python share: whose turn it is, and what is done without Python's lock.
//!
//! Python's lock guards the table. The mutex is taken only while that is held, for work in which no Python code runs,
//! so nobody ever waits for it. What takes long gives Python's lock up; the table is the working thread's meanwhile.
//! That, and an open transaction, is a *turn*, which is a lock of Python's: who waits for it can be interrupted.
//!
//! A transaction is of the task that began it, where one ran in its thread. Another task of that thread cannot wait, because
//! the first one would not go on meanwhile: it may read, and is refused to change anything. Which task runs is asked
//! only while such a transaction is open.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use bytewright::table::Table;
use bytewright::{Error, ErrorKind, Result};
use pyo3::prelude::*;

use super::content::Content;
use crate::error::{argument, guarded, raised, to_python};
use crate::task::Task;

/// A table, and whose turn it is to use it: everybody's, or that of one thread.
pub(super) struct Shared {
    state: Mutex<State>,
    /// Python's lock for the turn, made when it is first taken.
    lock: Mutex<Option<Py<PyAny>>>,
    /// Functions that wake tasks which wait for the turn, the longest first.
    waiting: Mutex<VecDeque<Py<PyAny>>>,
}

struct State {
    content: Content,
    user: Option<Arc<User>>,
    /// The transactions that are open inside of each other, the outermost first.
    open: Vec<Open>,
    /// How many were begun.
    begun_count: u64,
    /// Those whose objects are gone, and that could not be taken back at once.
    abandoned: Vec<Open>,
}

/// What the table is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// To look, which every task of the thread that has the turn may.
    Read,
    /// To change it, or to work with its file.
    Change,
}

/// Who has the turn.
struct User {
    thread: ThreadId,
    process: u32,
    /// The task that began the transaction, where one ran.
    task: Option<Task>,
}

/// A transaction that was begun, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Open(u64);

impl State {
    fn new(content: Content) -> State {
        State { content, user: None, open: Vec::new(), begun_count: 0, abandoned: Vec::new() }
    }

    /// How many transactions it is in; nothing where it is over.
    fn outer_count(&self, one: Open) -> Option<usize> {
        self.open.iter().position(|open| *open == one)
    }

    /// Takes back the transactions inside of `depth` others.
    fn abort_down_to(&mut self, depth: usize) -> Result<()> {
        self.open.truncate(depth);
        guarded(|| abort_down_to(self.content.table_mut()?, depth))
    }
}

impl User {
    fn current(task: Option<Task>) -> User {
        User { thread: thread::current().id(), process: std::process::id(), task }
    }

    /// Numbers of threads are never used twice, and a forked child goes on counting.
    fn is_of_this_thread(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Whether it is a thread of the parent that the fork left behind.
    fn is_gone(&self) -> bool {
        !self.is_of_this_thread() && self.process != std::process::id()
    }

    /// Whether the code of this thread has access, whatever task it is of.
    fn admits_all_tasks(&self, access: Access) -> bool {
        self.is_of_this_thread() && (access == Access::Read || self.task.is_none())
    }

    /// Whether the code that runs now in this thread has access.
    fn admits(&self, py: Python<'_>, access: Access) -> PyResult<bool> {
        match &self.task {
            Some(task) if access == Access::Change => task.is_running(py),
            _ => Ok(true),
        }
    }
}

#[cold]
fn is_of_another_task(py: Python<'_>) -> PyErr {
    let message = "expected a table that no other task of this thread is changing, found a transaction of such a \
                   task; let it end first, or wait for it with: async with table.transaction()";
    to_python(py, &Error::new(ErrorKind::Lock, message))
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(content: Content) -> Shared {
        Shared {
            state: Mutex::new(State::new(content)),
            lock: Mutex::new(None),
            waiting: Mutex::default(),
        }
    }

    /// Uses the table at once: `work` must be short, and run no Python code.
    #[inline]
    pub(super) fn briefly<R>(
        &self,
        py: Python<'_>,
        access: Access,
        mut work: impl FnMut(&mut Content) -> Result<R>,
    ) -> PyResult<R> {
        let mut admitted = None;
        loop {
            let mut state = held(&self.state);
            let is_admitted = state.user.as_ref().is_none_or(|user| {
                user.admits_all_tasks(access) || is_same(user, admitted.as_ref())
            });
            if is_admitted {
                let outcome = guarded(|| work(&mut state.content));
                drop(state);
                return raised(py, outcome);
            }
            drop(state);
            admitted = self.admitted(py, access)?;
            if admitted.is_none() {
                self.wait(py)?;
            }
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
            let outcome = self.briefly(py, Access::Read, |content| match content {
                Content::HashFile(table) if table.is_busy() => Ok(None),
                Content::TreeFile(table) if table.is_busy() => Ok(None),
                content => work(content).map(Some),
            })?;
            match outcome {
                Some(found) => return Ok(found),
                // To look for anything waits for that thread.
                None => self.at_length(py, Access::Read, |content| {
                    content.table()?.contains(&[]).map(drop)
                })?,
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
        let outcome = self.briefly(py, Access::Change, |content| match content {
            Content::HashFile(table) if table.waits_for_disk() => Ok(None),
            Content::TreeFile(table) if table.waits_for_disk() => Ok(None),
            content => work(content.table_mut()?).map(Some),
        })?;
        match outcome {
            Some(done) => Ok(done),
            None => self.at_length(py, Access::Change, |content| work(content.table_mut()?)),
        }
    }

    /// Uses the table without Python's lock, while no other thread can.
    pub(super) fn at_length<R: Send>(
        &self,
        py: Python<'_>,
        access: Access,
        work: impl FnOnce(&mut Content) -> Result<R> + Send,
    ) -> PyResult<R> {
        let is_taken_now = self.admitted(py, access)?.is_none();
        if is_taken_now {
            self.take_turn(py, None)?;
        }
        let mut content = mem::replace(&mut held(&self.state).content, Content::Away);
        let (content, outcome) = py.detach(move || {
            let outcome = guarded(|| work(&mut content));
            (content, outcome)
        });
        held(&self.state).content = content;
        self.take_abandoned_back(py);
        if is_taken_now {
            self.give_turn_back(py)?;
        }
        raised(py, outcome)
    }

    /// Whether a transaction of the running task, or of the thread where none runs, is open.
    pub(super) fn is_in_transaction(&self, py: Python<'_>) -> PyResult<bool> {
        let user = held(&self.state).user.clone();
        match user {
            Some(user) if user.is_of_this_thread() => {
                let is_own = user.admits(py, Access::Change)?;
                self.briefly(py, Access::Read, |content| Ok(is_own && content.table()?.depth() > 0))
            }
            Some(_) => Ok(false),
            None => self.briefly(py, Access::Read, |content| content.table().map(|_| false)),
        }
    }

    /// Begins a transaction, or a savepoint in one of this task.
    pub(super) fn begin(&self, py: Python<'_>) -> PyResult<Open> {
        let is_outermost = self.admitted(py, Access::Change)?.is_none();
        if is_outermost {
            self.take_turn(py, Task::running(py)?)?;
        }
        self.begin_in_turn(py, is_outermost)
    }

    /// As [`Self::begin`], for a block that other tasks may run beside: inside of a transaction that no task began, they
    /// would not end in the order in which they can.
    pub(super) fn begin_block(&self, py: Python<'_>) -> PyResult<Open> {
        match self.admitted(py, Access::Change)? {
            Some(user) if user.task.is_none() && Task::running(py)?.is_some() => {
                Err(is_of_another_task(py))
            }
            _ => self.begin(py),
        }
    }

    /// As [`Self::begin_block`] where that need not wait; otherwise nothing, and the function `wake` is called when it may
    /// be tried again.
    pub(super) fn begin_or_queue(
        &self,
        py: Python<'_>,
        wake: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Open>> {
        let user = held(&self.state).user.clone();
        let is_own = match user {
            Some(user) if user.is_gone() => false,
            Some(user) if !user.is_of_this_thread() => false,
            Some(user) => match &user.task {
                Some(task) => task.is_running(py)?,
                None => true,
            },
            None => false,
        };
        if is_own {
            return self.begin_block(py).map(Some);
        }
        let task = Task::running(py)?;
        held(&self.waiting).push_back(wake.clone().unbind());
        let is_taken = self.try_to_take_turn(py, task);
        if !matches!(is_taken, Ok(false)) {
            self.leave_queue(wake);
        }
        match is_taken? {
            true => self.begin_in_turn(py, true).map(Some),
            false => Ok(None),
        }
    }

    fn begin_in_turn(&self, py: Python<'_>, is_outermost: bool) -> PyResult<Open> {
        let begun = self.change(py, |table| table.begin());
        if begun.is_err() && is_outermost {
            self.give_turn_back(py)?;
        }
        begun?;
        let mut state = held(&self.state);
        state.begun_count += 1;
        let open = Open(state.begun_count);
        state.open.push(open);
        Ok(open)
    }

    /// Checks that a transaction can end now; otherwise it stays as it is. Whether it is open still: it ended with the one
    /// around it where that was taken back.
    pub(super) fn check_end(&self, py: Python<'_>, one: Open, is_kept: bool) -> PyResult<bool> {
        let state = held(&self.state);
        let Some(outer_count) = state.outer_count(one) else { return Ok(false) };
        let (is_innermost, user) = (outer_count + 1 == state.open.len(), state.user.clone());
        drop(state);
        let is_of_user = match user {
            Some(user) => user.is_of_this_thread() && user.admits(py, Access::Change)?,
            None => false,
        };
        if !is_of_user {
            let message = "expected the thread or task that began the transaction to end it, found another one; end it \
                           there, or drop it to take it back";
            return Err(to_python(py, &Error::new(ErrorKind::Lock, message)));
        }
        if is_kept && !is_innermost {
            let message =
                "expected the innermost transaction of the table, found one that has others inside";
            return Err(argument(py, message));
        }
        Ok(true)
    }

    /// Ends a transaction that [`Self::check_end`] found open, and gives the turn back with the outermost. Those inside of it
    /// are taken back with it.
    pub(super) fn end(
        &self,
        py: Python<'_>,
        one: Open,
        is_kept: bool,
        waits: bool,
    ) -> PyResult<()> {
        let mut state = held(&self.state);
        let outer_count = state.outer_count(one).unwrap_or(0);
        state.open.truncate(outer_count);
        drop(state);
        let finish = |table: &mut dyn Table| match is_kept {
            true => table.commit(),
            false => abort_down_to(table, outer_count),
        };
        let ended = match waits {
            true => self.at_length(py, Access::Change, |content| finish(content.table_mut()?)),
            false => self.change(py, finish),
        };
        if ended.is_err() {
            // What a commit that failed left open is taken back.
            held(&self.state).abort_down_to(outer_count).ok();
        }
        if outer_count == 0 {
            self.give_turn_back(py)?;
        }
        ended
    }

    /// Takes back a transaction whose object is gone, and those inside of it.
    pub(super) fn abandon(&self, py: Python<'_>, one: Open) {
        held(&self.state).abandoned.push(one);
        self.take_abandoned_back(py);
    }

    /// Does so unless a thread has the table without Python's lock, which does it afterwards.
    fn take_abandoned_back(&self, py: Python<'_>) {
        let mut state = held(&self.state);
        if state.abandoned.is_empty() || matches!(state.content, Content::Away) {
            return;
        }
        let abandoned = mem::take(&mut state.abandoned);
        let outermost = abandoned.into_iter().filter_map(|one| state.outer_count(one)).min();
        let Some(outer_count) = outermost else { return };
        // Nobody is there to be told of an error; the table says it when it is used again.
        state.abort_down_to(outer_count).ok();
        drop(state);
        if outer_count == 0 {
            self.give_turn_back(py).ok();
        }
    }

    /// Who has the turn, where the code that runs now has access by that; nothing where another thread has the turn, or
    /// nobody. An error where another task of this thread has it.
    fn admitted(&self, py: Python<'_>, access: Access) -> PyResult<Option<Arc<User>>> {
        let user = held(&self.state).user.clone();
        match user {
            Some(user) if !user.is_of_this_thread() => Ok(None),
            Some(user) if !user.admits(py, access)? => Err(is_of_another_task(py)),
            user => Ok(user),
        }
    }

    /// Waits for the turn and takes it.
    fn take_turn(&self, py: Python<'_>, task: Option<Task>) -> PyResult<()> {
        self.forget_who_is_gone(py)?;
        self.turn_lock(py)?.call_method0(py, "acquire")?;
        held(&self.state).user = Some(Arc::new(User::current(task)));
        Ok(())
    }

    /// Takes the turn if it is nobody's; whether it did.
    fn try_to_take_turn(&self, py: Python<'_>, task: Option<Task>) -> PyResult<bool> {
        self.forget_who_is_gone(py)?;
        let is_taken = self.turn_lock(py)?.call_method1(py, "acquire", (false,))?.is_truthy(py)?;
        if is_taken {
            held(&self.state).user = Some(Arc::new(User::current(task)));
        }
        Ok(is_taken)
    }

    fn give_turn_back(&self, py: Python<'_>) -> PyResult<()> {
        held(&self.state).user = None;
        self.turn_lock(py)?.call_method0(py, "release")?;
        self.wake_next(py);
        Ok(())
    }

    /// Returns when no other thread has the turn.
    #[cold]
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        self.take_turn(py, None)?;
        self.give_turn_back(py)
    }

    /// Wakes the task that has waited longest for the turn.
    pub(super) fn wake_next(&self, py: Python<'_>) {
        loop {
            let Some(wake) = held(&self.waiting).pop_front() else { return };
            // A loop that was closed has nobody who waits.
            if wake.call0(py).is_ok() {
                return;
            }
        }
    }

    /// Takes a function out of those that wake.
    pub(super) fn leave_queue(&self, wake: &Bound<'_, PyAny>) {
        let mut waiting = held(&self.waiting);
        let place = waiting.iter().position(|one| one.is(wake));
        let left = place.and_then(|place| waiting.remove(place));
        drop(waiting);
        drop(left);
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
    fn forget_who_is_gone(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = held(&self.state);
        if !state.user.as_ref().is_some_and(|user| user.is_gone()) {
            return Ok(());
        }
        let cleared = state.abort_down_to(0);
        let gone = state.user.take();
        drop(state);
        let old = (held(&self.lock).take(), mem::take(&mut *held(&self.waiting)));
        drop((gone, old));
        cleared.map_err(|error| to_python(py, &error))
    }
}

fn is_same(user: &Arc<User>, other: Option<&Arc<User>>) -> bool {
    other.is_some_and(|other| Arc::ptr_eq(user, other))
}

/// Takes back the transactions inside of `depth` others.
fn abort_down_to(table: &mut dyn Table, depth: usize) -> Result<()> {
    while table.depth() > depth {
        table.abort()?;
    }
    Ok(())
}
