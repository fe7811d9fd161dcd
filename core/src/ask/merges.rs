//! Several captures merged into a table file: read and summed up side by side, merged one after the other.
//!
//! A merge counts each capture by itself. So the thread that reads a capture has its flow table and its content hash, and the
//! caller puts the finished flows into the file.

use super::flow_merge::{ReadCapture, merge_flows};
use super::{CallsMerge, CaptureMerge, call_merge, flow_merge};
use crate::flow::{Flow, FlowOptions};
use crate::input::{CaptureList, CaptureOptions, CaptureReader, NextCapture, SideBySide, Task};
use crate::rpc::RpcOptions;
use crate::sums::{CallStore, FlowStore};
use crate::workers::TaskOutput;
use crate::{Error, Result};

// Bound (Captures): captures merged side by side = two begun for each thread; of each, what one takes, and 262,144
// finished flows of all.
/// Flows of some 200 bytes each.
const FLOWS_AHEAD: usize = 1 << 18;

/// Iterator that merges the flows of captures into a store, each with the outcome of [`merge_flows`], on any number of
/// threads. A capture is merged when it is asked for.
pub struct FlowMerges<'s> {
    captures: SideBySide<FlowPart>,
    options: FlowOptions,
    store: &'s FlowStore,
}

/// Part of a capture that a thread sends, in this order.
enum FlowPart {
    /// It is a capture.
    Begin,
    Flows(Vec<Flow>),
    End(Result<ReadCapture>),
}

impl<'s> FlowMerges<'s> {
    /// Reads the captures of `list` on at most `jobs` threads beside the caller's.
    pub fn new(
        list: impl CaptureList,
        jobs: usize,
        captures: &CaptureOptions,
        options: FlowOptions,
        store: &'s FlowStore,
    ) -> Self {
        let work = move |opened: Result<CaptureReader>, output: &TaskOutput<_>| {
            let read = opened.and_then(|mut reader| send_flows(&mut reader, options, output));
            output.give(FlowPart::End(read), 0);
        };
        let captures = SideBySide::new(list, jobs, captures, FLOWS_AHEAD, work);
        FlowMerges { captures, options, store }
    }

    /// Merges a capture that a thread reads.
    fn merge(&self, first: FlowPart, task: &Task<FlowPart>) -> Result<CaptureMerge> {
        let mut count = match first {
            FlowPart::End(read) => return Err(read.err().unwrap_or_else(broken_off)),
            FlowPart::Begin | FlowPart::Flows(_) => self.store.begin()?,
        };
        loop {
            match task.next()? {
                Some(FlowPart::Flows(flows)) => count.merge(flows)?,
                Some(FlowPart::End(read)) => return read?.commit(count),
                Some(FlowPart::Begin) | None => return Err(broken_off()),
            }
        }
    }
}

impl Iterator for FlowMerges<'_> {
    type Item = Result<CaptureMerge>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(match self.captures.next()? {
            Ok(NextCapture::Ahead(first, task)) => self.merge(first, &task),
            Ok(NextCapture::Here(reader)) => {
                (*reader).and_then(|mut reader| merge_flows(&mut reader, self.options, self.store))
            }
            Err(error) => Err(error),
        })
    }
}

/// Reads a capture to its end on a thread, and sends its flows.
fn send_flows(
    reader: &mut CaptureReader,
    options: FlowOptions,
    output: &TaskOutput<FlowPart>,
) -> Result<ReadCapture> {
    reader.read_header()?;
    let send = |part, weight| if output.give(part, weight) { Ok(()) } else { Err(broken_off()) };
    send(FlowPart::Begin, 0)?;
    flow_merge::read_to_merge(reader, options, &mut |flows| {
        let weight = flows.len();
        send(FlowPart::Flows(flows), weight)
    })
}

/// Iterator that merges the calls of captures into a store, each with the outcome of
/// [`merge_calls`](super::merge_calls), on any number of threads. A capture is merged when it is asked for.
pub struct CallMerges<'s> {
    captures: SideBySide<Result<call_merge::ReadCalls>>,
    options: RpcOptions,
    store: &'s CallStore,
}

impl<'s> CallMerges<'s> {
    /// Reads the captures of `list` on at most `jobs` threads beside the caller's.
    pub fn new(
        list: impl CaptureList,
        jobs: usize,
        captures: &CaptureOptions,
        options: RpcOptions,
        store: &'s CallStore,
    ) -> Self {
        let work = move |opened: Result<CaptureReader>, output: &TaskOutput<_>| {
            let read = opened.and_then(|mut reader| {
                reader.read_header()?;
                call_merge::read_to_merge(&mut reader, options)
            });
            output.give(read, 1);
        };
        let captures = SideBySide::new(list, jobs, captures, 1, work);
        CallMerges { captures, options, store }
    }
}

impl Iterator for CallMerges<'_> {
    type Item = Result<CallsMerge>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(match self.captures.next()? {
            Ok(NextCapture::Ahead(read, _)) => {
                read.and_then(|read| read.commit(self.store.begin()?))
            }
            Ok(NextCapture::Here(reader)) => (*reader).and_then(|mut reader| {
                call_merge::merge_calls(&mut reader, self.options, self.store)
            }),
            Err(error) => Err(error),
        })
    }
}

fn broken_off() -> Error {
    Error::internal("a capture that broke off")
}
