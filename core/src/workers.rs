//! Threads that work ahead for one caller: tasks side by side, their results in the order of the tasks.
//!
//! Waiting work is bounded twice: a task is begun only while few tasks before it are not used up, and a task whose
//! results nobody takes waits with the next one. Dropping the handle ends the threads and waits until they are gone.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::threads::{self, JoinHandle};
use crate::{Error, ErrorKind, Result, panics};

/// Bounds of the threads and of their work ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorkerLimits {
    /// Threads, at most as many as there are tasks at a time.
    pub(crate) threads: usize,
    /// Tasks that are begun and not used up.
    pub(crate) tasks: usize,
    /// Weight of the results of one task that wait, as [`TaskOutput::give`] is told; one result may wait in any case.
    pub(crate) weight: usize,
    /// Used results that are kept, so that their memory serves again.
    pub(crate) spares: usize,
}

/// Threads that work for the owner of this handle.
pub(crate) struct Workers<T> {
    shared: Arc<SharedQueue<T>>,
    threads: Vec<JoinHandle<()>>,
    /// The process that has the threads: a forked child has a copy of the handle only.
    process: u32,
}

/// Output of a task: takes its results.
pub(crate) struct TaskOutput<T> {
    shared: Arc<SharedQueue<T>>,
    task: usize,
}

type Task<T> = Box<dyn FnOnce(&TaskOutput<T>) + Send>;

struct SharedQueue<T> {
    state: Mutex<WorkerState<T>>,
    /// Something changed for a thread that works.
    for_workers: Condvar,
    /// Something changed for the caller.
    for_caller: Condvar,
    limits: WorkerLimits,
}

struct WorkerState<T> {
    /// Tasks that are not begun; none where nobody wants the results any more.
    waiting: VecDeque<Option<Task<T>>>,
    /// Tasks that are begun and not used up, from number `first` on.
    begun: VecDeque<BegunTask<T>>,
    first: usize,
    spares: Vec<T>,
    is_stopped: bool,
}

struct BegunTask<T> {
    /// Each with its weight.
    results: VecDeque<(T, usize)>,
    /// That of all of them.
    weight: usize,
    end: Option<Result<()>>,
    is_unwanted: bool,
}

impl<T> WorkerState<T> {
    fn begun(&mut self, task: usize) -> Option<&mut BegunTask<T>> {
        self.begun.get_mut(task.checked_sub(self.first)?)
    }

    /// Forgets the first tasks, as far as they are used up.
    fn settle(&mut self) {
        while self.begun.front().is_some_and(|task| task.is_unwanted && task.end.is_some()) {
            self.begun.pop_front();
            self.first += 1;
        }
    }
}

impl<T> SharedQueue<T> {
    fn lock(&self) -> MutexGuard<'_, WorkerState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> Workers<T> {
    /// Starts the threads, or as many as the system gives.
    ///
    /// # Errors
    /// `Io` where it gives none.
    pub(crate) fn start(limits: WorkerLimits) -> Result<Self> {
        let state = WorkerState {
            waiting: VecDeque::new(),
            begun: VecDeque::new(),
            first: 0,
            spares: Vec::new(),
            is_stopped: false,
        };
        let (for_workers, for_caller) = (Condvar::new(), Condvar::new());
        let shared =
            Arc::new(SharedQueue { state: Mutex::new(state), for_workers, for_caller, limits });
        let mut workers = Workers { shared, threads: Vec::new(), process: std::process::id() };
        for _ in 0..limits.threads {
            let shared = Arc::clone(&workers.shared);
            match threads::spawn("bytewright", move || work(&shared)) {
                Ok(thread) => workers.threads.push(thread),
                Err(error) if workers.threads.is_empty() => {
                    return Err(Error::io("start a thread", &error));
                }
                Err(_) => break,
            }
        }
        Ok(workers)
    }

    /// Adds a task behind those that there are. Tasks are numbered from 0 on.
    pub(crate) fn add(&self, task: impl FnOnce(&TaskOutput<T>) + Send + 'static) {
        if self.is_here() {
            self.shared.lock().waiting.push_back(Some(Box::new(task)));
            self.shared.for_workers.notify_all();
        }
    }

    /// Waits for the next result of a task that was added; none at its end.
    ///
    /// # Errors
    /// `Internal` where the task panicked, after its results; `Closed` in a forked child.
    pub(crate) fn next(&self, task: usize) -> Result<Option<T>> {
        if !self.is_here() {
            let message = "expected the process that opened the capture or store, found one forked from it: \
                           open it again here";
            return Err(Error::new(ErrorKind::Closed, message));
        }
        let mut state = self.shared.lock();
        loop {
            // A task that is used up is no longer there.
            if task < state.first {
                return Ok(None);
            }
            if let Some(begun) = state.begun(task) {
                if let Some((result, weight)) = begun.results.pop_front() {
                    begun.weight -= weight;
                    self.shared.for_workers.notify_all();
                    return Ok(Some(result));
                }
                if let Some(end) = begun.end.clone() {
                    begun.is_unwanted = true;
                    state.settle();
                    self.shared.for_workers.notify_all();
                    return end.map(|()| None);
                }
            }
            state = self.shared.for_caller.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives a used result back, so that its memory serves again.
    pub(crate) fn recycle(&self, result: T) {
        if self.is_here() {
            let mut state = self.shared.lock();
            if state.spares.len() < self.shared.limits.spares {
                state.spares.push(result);
            }
        }
    }
}

impl<T> Workers<T> {
    /// Says that nobody wants the results of a task any more.
    pub(crate) fn abandon(&self, task: usize) {
        if !self.is_here() {
            return;
        }
        let mut state = self.shared.lock();
        let unused = match state.begun(task) {
            Some(begun) => {
                begun.is_unwanted = true;
                (std::mem::take(&mut begun.results), None)
            }
            None => {
                let behind = task.checked_sub(state.first + state.begun.len());
                let waiting = behind.and_then(|index| state.waiting.get_mut(index));
                (VecDeque::new(), waiting.and_then(Option::take))
            }
        };
        state.settle();
        drop(state);
        self.shared.for_workers.notify_all();
        drop(unused);
    }

    /// Returns true in the process that has the threads. In a child the lock may have been copied while a thread held
    /// it, and nobody gives it back there.
    fn is_here(&self) -> bool {
        self.process == std::process::id()
    }
}

impl<T> Drop for Workers<T> {
    fn drop(&mut self) {
        if !self.is_here() {
            // Dropped, they would detach threads that are not there.
            std::mem::forget(std::mem::take(&mut self.threads));
            return;
        }
        let mut state = self.shared.lock();
        state.is_stopped = true;
        let unused = (std::mem::take(&mut state.waiting), std::mem::take(&mut state.spares));
        drop(state);
        self.shared.for_workers.notify_all();
        for thread in self.threads.drain(..) {
            // It catches its own panics; there is nothing to learn from joining.
            drop(thread.join());
        }
        drop(unused);
    }
}

/// Does tasks until the threads are told to end.
fn work<T>(shared: &Arc<SharedQueue<T>>) {
    while let Some((task, number)) = next_task(shared) {
        let output = TaskOutput { shared: Arc::clone(shared), task: number };
        let end = panics::catch(|| task(&output)).map_err(Error::internal);
        let mut state = shared.lock();
        if let Some(begun) = state.begun(number) {
            begun.end = Some(end);
        }
        state.settle();
        drop(state);
        shared.for_caller.notify_all();
        shared.for_workers.notify_all();
    }
}

/// Waits for the next task that may begin.
fn next_task<T>(shared: &SharedQueue<T>) -> Option<(Task<T>, usize)> {
    let mut state = shared.lock();
    loop {
        if state.is_stopped {
            return None;
        }
        if state.begun.len() < shared.limits.tasks
            && let Some(task) = state.waiting.pop_front()
        {
            let number = state.first + state.begun.len();
            let (is_unwanted, end) = (task.is_none(), task.is_none().then_some(Ok(())));
            state.begun.push_back(BegunTask {
                results: VecDeque::new(),
                weight: 0,
                end,
                is_unwanted,
            });
            match task {
                Some(task) => return Some((task, number)),
                None => state.settle(),
            }
            continue;
        }
        state = shared.for_workers.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

impl<T> TaskOutput<T> {
    /// Hands a result over, waiting while results of enough weight wait. Says whether it was wanted; otherwise the task
    /// should end.
    pub(crate) fn give(&self, result: T, weight: usize) -> bool {
        let mut state = self.shared.lock();
        loop {
            if state.is_stopped {
                return false;
            }
            match state.begun(self.task) {
                Some(begun) if begun.is_unwanted => return false,
                Some(begun)
                    if begun.results.is_empty()
                        || begun.weight + weight <= self.shared.limits.weight =>
                {
                    begun.weight += weight;
                    begun.results.push_back((result, weight));
                    break;
                }
                Some(_) => {}
                None => return false,
            }
            state = self.shared.for_workers.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        self.shared.for_caller.notify_all();
        true
    }

    /// A result whose memory may be used again.
    pub(crate) fn spare(&self) -> Option<T> {
        self.shared.lock().spares.pop()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    //! Goal: results come in the order of the tasks, bounded, and threads never outlive their handle or hang.

    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    fn workers(threads: usize, tasks: usize, results: usize) -> Workers<usize> {
        Workers::start(WorkerLimits { threads, tasks, weight: results, spares: tasks }).unwrap()
    }

    #[test]
    fn results_come_in_the_order_of_the_tasks_whichever_is_done_first() {
        let workers = workers(4, 8, 1);
        for task in 0..100 {
            workers.add(move |output| {
                for part in 0..3 {
                    std::thread::sleep(Duration::from_micros((task * 7919 % 13) as u64 * 10));
                    output.give(task * 10 + part, 1);
                }
            });
        }
        for task in 0..100 {
            let results: Vec<_> = std::iter::from_fn(|| workers.next(task).unwrap()).collect();
            assert_eq!(results, [task * 10, task * 10 + 1, task * 10 + 2]);
            assert_eq!(workers.next(task).unwrap(), None);
        }
    }

    #[test]
    fn no_more_tasks_are_begun_and_no_more_results_wait_than_the_limits_say() {
        let workers = workers(2, 3, 2);
        let (begun, given) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        for _ in 0..9 {
            let (begun, given) = (Arc::clone(&begun), Arc::clone(&given));
            workers.add(move |output| {
                begun.fetch_add(1, Ordering::SeqCst);
                while output.give(0, 1) {
                    given.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        std::thread::sleep(Duration::from_millis(50));
        assert!(begun.load(Ordering::SeqCst) <= 2 && given.load(Ordering::SeqCst) <= 4);
    }

    #[test]
    fn tasks_that_nobody_wants_leave_room_for_others_begun_or_not() {
        let workers = workers(1, 2, 1);
        for task in 0..50 {
            workers.add(move |output| {
                output.give(task, 1);
            });
        }
        for task in (0..50).filter(|task| task % 10 != 9) {
            workers.abandon(task);
        }
        for task in [9, 19, 29, 39, 49] {
            assert_eq!(workers.next(task).unwrap(), Some(task));
            assert_eq!(workers.next(task).unwrap(), None);
        }
    }

    #[test]
    fn a_panic_is_an_error_of_its_task_behind_its_results() {
        let workers = workers(2, 4, 4);
        workers.add(|output| {
            output.give(1, 1);
            panic!("told as an error");
        });
        workers.add(|output| {
            output.give(2, 1);
        });
        assert_eq!(workers.next(0).unwrap(), Some(1));
        let error = workers.next(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.message().contains("told as an error"));
        assert_eq!(workers.next(1).unwrap(), Some(2));
    }

    #[test]
    fn a_copy_in_a_forked_child_neither_waits_nor_joins() {
        let mut workers = workers(1, 1, 1);
        workers.process = 0;
        let held = Arc::clone(&workers.shared);
        let held = held.lock();
        workers.add(|_| ());
        workers.recycle(1);
        workers.abandon(0);
        assert_eq!(workers.next(0).unwrap_err().kind(), ErrorKind::Closed);
        drop(workers);
        drop(held);
    }
}
