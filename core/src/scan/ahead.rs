//! Several captures, read side by side on threads of their own, and given in their order.
//!
//! What is asked of them is asked on the caller's thread, of one after the other, so that what they add up to does not
//! depend on the number of threads; reading, decompressing and decoding goes on ahead of it.

use std::sync::Arc;

use super::records::{CaptureFacts, RecordSource};
use super::{CaptureOptions, CaptureReader, FrameBatch};
use crate::stream::Cancel;
use crate::workers::{Lane, Limits, Workers};
use crate::{Error, Result};

/// Captures under way for each thread: one that it reads, and one that was read to its end and waits.
const CAPTURES_PER_JOB: usize = 2;

/// Batches of a capture that wait, of some 300 KB each.
const BATCHES_AHEAD: usize = 4;

/// Captures to be read, and how each is opened.
pub trait CaptureList: Send + Sync + 'static {
    /// How many there are.
    fn count(&self) -> usize;

    /// Whether the capture with this index may be opened before its turn. What is no regular file may not: others in the
    /// list may lead to the same pipe.
    fn is_regular(&self, index: usize) -> bool;

    /// Opens the capture with this index; on another thread, if it is a regular file.
    ///
    /// # Errors
    /// Those of [`CaptureReader::open`].
    fn open(&self, index: usize, options: &CaptureOptions) -> Result<CaptureReader>;
}

/// Captures that are read ahead. It gives a reader for each of them, or why it cannot be opened.
pub struct CapturesAhead {
    list: Arc<dyn CaptureList>,
    options: CaptureOptions,
    /// None where each capture is read when its turn comes.
    workers: Option<Arc<Workers<Delivery>>>,
    next: usize,
}

/// What a thread sends of a capture, in this order.
enum Delivery {
    /// It was opened.
    Opened(Result<Opened>),
    Frames(FrameBatch),
    /// It ended.
    End(Result<()>, Box<CaptureFacts>),
}

struct Opened {
    facts: Box<CaptureFacts>,
    header: Result<()>,
    cancel: Cancel,
}

impl CapturesAhead {
    /// Reads the captures of `list` on at most `jobs` threads beside the caller's; where `jobs` is 1, on the caller's. Those
    /// that are no regular files are read on the caller's in any case.
    pub fn new(list: impl CaptureList, jobs: usize, options: &CaptureOptions) -> Self {
        let (count, jobs) = (list.count(), jobs.max(1));
        let list: Arc<dyn CaptureList> = Arc::new(list);
        let mut options = options.clone();
        // Threads that are left when each capture has one.
        options.stream.jobs = jobs.checked_div(count).unwrap_or(1).max(1);
        let threads = jobs.min(count);
        let tasks = threads * CAPTURES_PER_JOB;
        let limits = Limits { threads, tasks, results: BATCHES_AHEAD };
        // Where the system gives no thread, the captures are read one after the other.
        let workers = (jobs > 1 && count > 0).then(|| Workers::start(limits).ok()).flatten();
        if let Some(workers) = &workers {
            for index in 0..count {
                let (list, options) = (Arc::clone(&list), options.clone());
                workers.add(move |lane| {
                    if list.is_regular(index) {
                        deliver(list.open(index, &options), lane);
                    }
                });
            }
        }
        CapturesAhead { list, options, workers: workers.map(Arc::new), next: 0 }
    }

    /// The reader of a capture that one of `workers` reads; none where it is left to the caller.
    fn ahead(
        &self,
        workers: &Arc<Workers<Delivery>>,
        task: usize,
    ) -> Result<Option<CaptureReader>> {
        let opened = match workers.next(task)? {
            None => return Ok(None),
            Some(Delivery::Opened(opened)) => opened,
            Some(_) => Err(Error::internal("a capture that was not opened")),
        };
        let Opened { facts, header, cancel } = opened.inspect_err(|_| workers.abandon(task))?;
        let (workers, facts) = (Arc::clone(workers), *facts);
        let ahead = Ahead { workers, task, facts, header, ended: None };
        Ok(Some(CaptureReader::of_batches(Box::new(ahead), &self.options, cancel)))
    }
}

impl Iterator for CapturesAhead {
    type Item = Result<CaptureReader>;

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.next;
        if index == self.list.count() {
            return None;
        }
        self.next += 1;
        let ahead = self.workers.as_ref().map_or(Ok(None), |workers| self.ahead(workers, index));
        match ahead {
            Ok(Some(reader)) => Some(Ok(reader)),
            Ok(None) => Some(self.list.open(index, &self.options)),
            Err(error) => Some(Err(error)),
        }
    }
}

/// What a thread does with a capture: reads it to its end, and sends what is in it.
fn deliver(opened: Result<CaptureReader>, lane: &Lane<Delivery>) {
    let mut reader = match opened {
        Ok(reader) => reader,
        Err(error) => {
            lane.give(Delivery::Opened(Err(error)));
            return;
        }
    };
    let header = reader.read_header();
    let (facts, cancel) = (Box::new(reader.facts()), reader.cancel());
    if !lane.give(Delivery::Opened(Ok(Opened { facts, header, cancel }))) {
        return;
    }
    let result = loop {
        let mut batch = match lane.spare() {
            Some(Delivery::Frames(batch)) => batch,
            _ => FrameBatch::new(),
        };
        match reader.read_frames(&mut batch) {
            Ok(()) if batch.is_empty() => break Ok(()),
            Ok(()) if lane.give(Delivery::Frames(batch)) => {}
            Ok(()) => return,
            Err(error) => break Err(error),
        }
    };
    lane.give(Delivery::End(result, Box::new(reader.facts())));
}

/// The caller's end of a capture that is read on another thread.
struct Ahead {
    workers: Arc<Workers<Delivery>>,
    task: usize,
    facts: CaptureFacts,
    header: Result<()>,
    ended: Option<Result<()>>,
}

impl RecordSource for Ahead {
    fn facts(&self) -> CaptureFacts {
        self.facts.clone()
    }

    fn read_header(&mut self) -> Result<()> {
        self.header.clone()
    }

    fn read_frames(&mut self, batch: &mut FrameBatch) -> Result<()> {
        if self.ended.is_none() {
            let result = match self.workers.next(self.task) {
                Ok(Some(Delivery::Frames(mut frames))) => {
                    std::mem::swap(batch, &mut frames);
                    self.workers.recycle(Delivery::Frames(frames));
                    return Ok(());
                }
                Ok(Some(Delivery::End(result, facts))) => {
                    self.facts = *facts;
                    result
                }
                Ok(_) => Err(Error::internal("a capture that broke off")),
                Err(error) => Err(error.in_file(&self.facts.name)),
            };
            self.workers.abandon(self.task);
            self.ended = Some(result);
        }
        drop(batch.clear());
        self.ended.clone().unwrap_or(Ok(()))
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.workers.abandon(self.task);
    }
}
