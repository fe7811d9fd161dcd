//! The captures of a list, worked on side by side by threads of their own, with results in the order of the list.
//!
//! A thread takes a capture to its end. An error comes in the place of its capture, and the captures after it are read all the
//! same. The caller's thread reads what is no regular file, when its turn comes: the list may name one pipe twice, and the
//! reader of a pipe must stop at once.

use std::sync::Arc;

use super::{CaptureOptions, CaptureReader};
use crate::Result;
use crate::workers::{TaskOutput, WorkerLimits, Workers};

/// Captures under way for each thread: one that it works on, and one that is done and waits for its turn.
const CAPTURES_PER_JOB: usize = 2;

/// Captures to be read, and how each is opened.
pub trait CaptureList: Send + Sync + 'static {
    /// Returns the number of captures.
    fn count(&self) -> usize;

    /// Returns true if the capture with this index may be opened before its turn. What is no regular file may not:
    /// others in the list may lead to the same pipe.
    fn is_regular(&self, index: usize) -> bool;

    /// Opens the capture with this index; on another thread, if it is a regular file.
    ///
    /// # Errors
    /// Those of [`CaptureReader::open`].
    fn open(&self, index: usize, options: &CaptureOptions) -> Result<CaptureReader>;
}

/// Captures in the order of their list. Threads work ahead on those that are regular files.
pub(crate) struct SideBySide<T> {
    list: Arc<dyn CaptureList>,
    options: CaptureOptions,
    /// None where each capture is read when its turn comes.
    workers: Option<Arc<Workers<T>>>,
    next: usize,
}

/// Next capture of a list, and who reads it.
pub(crate) enum NextCapture<T> {
    /// A thread works on it; its first result, and the way to the others.
    Ahead(T, Task<T>),
    /// It is left to the caller.
    Here(Box<Result<CaptureReader>>),
}

/// Work of a thread on one capture, from the caller's side. Dropped, it ends.
pub(crate) struct Task<T> {
    workers: Arc<Workers<T>>,
    number: usize,
}

impl<T: Send + 'static> SideBySide<T> {
    /// Does `work` with the captures of `list` on at most `jobs` threads beside the caller's; where `jobs` is 1, all are
    /// left to the caller. Results of the weight of `weight_max` in all may wait.
    pub(crate) fn new(
        list: impl CaptureList,
        jobs: usize,
        options: &CaptureOptions,
        weight_max: usize,
        work: impl Fn(Result<CaptureReader>, &TaskOutput<T>) + Send + Sync + 'static,
    ) -> Self {
        let (count, jobs) = (list.count(), jobs.max(1));
        let list: Arc<dyn CaptureList> = Arc::new(list);
        let mut options = options.clone();
        // Threads that are left when each capture has one.
        options.stream.jobs = jobs.checked_div(count).unwrap_or(1).max(1);
        let threads = jobs.min(count);
        let tasks = threads * CAPTURES_PER_JOB;
        let limits = WorkerLimits {
            threads,
            tasks,
            weight: weight_max.checked_div(tasks).unwrap_or(1),
            spares: tasks,
        };
        // If the system gives no thread, the captures are read one after the other.
        let workers = (jobs > 1 && count > 0).then(|| Workers::start(limits).ok()).flatten();
        if let Some(workers) = &workers {
            let work = Arc::new(work);
            for index in 0..count {
                let (list, options, work) = (Arc::clone(&list), options.clone(), Arc::clone(&work));
                workers.add(move |output| {
                    if list.is_regular(index) {
                        work(list.open(index, &options), output);
                    }
                });
            }
        }
        SideBySide { list, options, workers: workers.map(Arc::new), next: 0 }
    }

    /// Returns the options that each capture is opened with.
    pub(crate) fn options(&self) -> &CaptureOptions {
        &self.options
    }

    /// The next capture of the list.
    ///
    /// # Errors
    /// Those of [`Workers::next`].
    pub(crate) fn next(&mut self) -> Option<Result<NextCapture<T>>> {
        let index = self.next;
        if index == self.list.count() {
            return None;
        }
        self.next += 1;
        if let Some(workers) = &self.workers {
            let task = Task { workers: Arc::clone(workers), number: index };
            match task.next() {
                Ok(Some(first)) => return Some(Ok(NextCapture::Ahead(first, task))),
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(NextCapture::Here(Box::new(self.list.open(index, &self.options)))))
    }
}

impl<T: Send + 'static> Task<T> {
    /// Waits for the next result; none at the end of the work.
    ///
    /// # Errors
    /// Those of [`Workers::next`].
    pub(crate) fn next(&self) -> Result<Option<T>> {
        self.workers.next(self.number)
    }

    /// Gives a used result back, so that its memory serves again.
    pub(crate) fn recycle(&self, result: T) {
        self.workers.recycle(result);
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.workers.abandon(self.number);
    }
}
