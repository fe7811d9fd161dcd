//! Several captures, read side by side on threads of their own, and given in their order.
//!
//! The caller's thread works on their packets, one capture after the other, so that their sums do not depend on the
//! number of threads: a flow table sees every packet in its order. Reading, decompressing and decoding go on ahead of
//! it.

use super::records::{CaptureFacts, RecordSource};
use super::side_by_side::{NextCapture, SideBySide, Task};
use super::{CaptureList, CaptureOptions, CaptureReader, FrameBatch};
use crate::bytes::Cancel;
use crate::packet::Field;
use crate::workers::TaskOutput;
use crate::{Error, Result};

// Bound (Captures): captures read side by side = two begun for each thread; of each, what one takes, and 128 MiB of
// packets of all.
/// A million packets without their frames: captures that have fewer are read as fast as there are threads, and longer ones wait
/// for those before them.
const AHEAD_BYTES_MAX: usize = 128 << 20;

/// Packets without their frames that are handed over together.
const BATCH_PACKETS: usize = 4096;

/// Parts of packets that are needed from captures that are read ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Their fields only: each is shown with no captured bytes. Many more of them are read ahead.
    Fields,
    /// Their captured bytes, too.
    Frames,
}

/// Captures that are read ahead of their use. Gives a reader for each of them, or why it cannot be opened.
pub struct PrefetchedCaptures(SideBySide<Delivery>);

/// Message of a thread about a capture, sent in this order.
enum Delivery {
    /// It was opened.
    Opened(Result<OpenedCapture>),
    Frames(FrameBatch),
    /// It ended.
    End(Result<()>, Box<CaptureFacts>),
}

struct OpenedCapture {
    facts: Box<CaptureFacts>,
    header: Result<()>,
    cancel: Cancel,
}

impl Needs {
    /// Returns the parts that these fields are read from; add those that a condition or groups look at.
    pub fn of(fields: impl IntoIterator<Item = Field>) -> Needs {
        match fields.into_iter().all(Field::is_in_packet) {
            true => Needs::Fields,
            false => Needs::Frames,
        }
    }
}

impl PrefetchedCaptures {
    /// Reads the captures of `list` on at most `jobs` threads beside the caller's; where `jobs` is 1, on the caller's. Those
    /// that are no regular files are read on the caller's in any case.
    pub fn new(
        list: impl CaptureList,
        jobs: usize,
        options: &CaptureOptions,
        needs: Needs,
    ) -> Self {
        let work = move |opened: Result<CaptureReader>, output: &TaskOutput<_>| {
            deliver(opened, needs, output)
        };
        PrefetchedCaptures(SideBySide::new(list, jobs, options, AHEAD_BYTES_MAX, work))
    }

    /// The reader of a capture that a thread reads.
    fn reader_of(&self, first: Delivery, task: Task<Delivery>) -> Result<CaptureReader> {
        let Delivery::Opened(opened) = first else {
            return Err(Error::internal("a capture that was not opened"));
        };
        let OpenedCapture { facts, header, cancel } = opened?;
        let records = PrefetchedRecords { task, facts: *facts, header, ended: None };
        Ok(CaptureReader::of_batches(Box::new(records), self.0.options(), cancel))
    }
}

impl Iterator for PrefetchedCaptures {
    type Item = Result<CaptureReader>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(match self.0.next()? {
            Ok(NextCapture::Ahead(first, task)) => self.reader_of(first, task),
            Ok(NextCapture::Here(reader)) => *reader,
            Err(error) => Err(error),
        })
    }
}

/// Reads a capture to its end on a thread, and sends what is in it.
fn deliver(opened: Result<CaptureReader>, needs: Needs, output: &TaskOutput<Delivery>) {
    let mut reader = match opened {
        Ok(reader) => reader,
        Err(error) => {
            output.give(Delivery::Opened(Err(error)), 0);
            return;
        }
    };
    let header = reader.read_header();
    let (facts, cancel) = (Box::new(reader.facts()), reader.cancel());
    if !output.give(Delivery::Opened(Ok(OpenedCapture { facts, header, cancel })), 0) {
        return;
    }
    let result = loop {
        let mut batch = match output.spare() {
            Some(Delivery::Frames(batch)) => batch,
            _ => FrameBatch::new(),
        };
        let read = match needs {
            Needs::Fields => reader.read_packets(&mut batch, BATCH_PACKETS),
            Needs::Frames => reader.read_frames(&mut batch),
        };
        let bytes = batch.memory_bytes();
        match read {
            Ok(()) if batch.is_empty() => break Ok(()),
            Ok(()) if output.give(Delivery::Frames(batch), bytes) => {}
            Ok(()) => return,
            Err(error) => break Err(error),
        }
    };
    output.give(Delivery::End(result, Box::new(reader.facts())), 0);
}

/// The caller's end of a capture that is read on another thread.
struct PrefetchedRecords {
    task: Task<Delivery>,
    facts: CaptureFacts,
    header: Result<()>,
    ended: Option<Result<()>>,
}

impl RecordSource for PrefetchedRecords {
    fn facts(&self) -> CaptureFacts {
        self.facts.clone()
    }

    fn read_header(&mut self) -> Result<()> {
        self.header.clone()
    }

    fn read_frames(&mut self, batch: &mut FrameBatch) -> Result<()> {
        if self.ended.is_none() {
            let result = match self.task.next() {
                Ok(Some(Delivery::Frames(mut frames))) => {
                    std::mem::swap(batch, &mut frames);
                    self.task.recycle(Delivery::Frames(frames));
                    return Ok(());
                }
                Ok(Some(Delivery::End(result, facts))) => {
                    self.facts = *facts;
                    result
                }
                Ok(_) => Err(Error::internal("a capture that broke off")),
                Err(error) => Err(error.in_file(&self.facts.name)),
            };
            self.ended = Some(result);
        }
        drop(batch.clear());
        self.ended.clone().unwrap_or(Ok(()))
    }
}
