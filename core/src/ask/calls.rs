//! The Thrift calls of a whole capture.

use std::sync::Arc;

use crate::input::{CaptureReader, ContentHasher, ContentId, FrameBatch, damage_of};
use crate::rpc::{Call, CallSummary, Methods, Rpc, RpcOptions};
use crate::sums::{CallCount, CallStore, CountedCapture};
use crate::{Error, Result};

/// Calls that are handed on together.
const BATCH_LEN: usize = 256;

/// Bytes of structs that are handed on together, but for those of the last call.
const BATCH_BYTES: usize = 4 << 20;

/// The calls of captures that are read as one run, handed on in batches. What takes them may wait meanwhile, and then
/// reading does: so that not all calls that are over at once are in memory at once.
#[derive(Debug)]
pub struct CallBatches {
    rpc: Rpc,
    batch: CallBatch,
}

/// Calls that wait for more.
#[derive(Debug)]
struct CallBatch {
    methods: Option<Arc<Methods>>,
    calls: Vec<Call>,
    bytes: usize,
}

impl CallBatches {
    /// No capture read yet. With `methods`, calls of others are left out.
    pub fn new(options: RpcOptions, methods: Option<Arc<Methods>>) -> Self {
        let batch = CallBatch { methods, calls: Vec::new(), bytes: 0 };
        CallBatches { rpc: Rpc::new(options), batch }
    }

    /// Reads a capture to its end, and gives the calls that are over by then. Answers how reading ended; the calls
    /// before that were given.
    ///
    /// # Errors
    /// The first one of `give`, with which reading ends.
    pub fn read<E>(
        &mut self,
        reader: &mut CaptureReader,
        give: &mut impl FnMut(Vec<Call>) -> Result<(), E>,
    ) -> Result<Result<()>, E> {
        if reader.facts().is_live {
            return self.read_as_it_comes(reader, give);
        }
        let CallBatches { rpc, batch } = self;
        let mut given = Ok(());
        let step = reader.each_while(|packet, captured| {
            rpc.add(packet, captured, &mut |call| batch.add(call, give, &mut given));
            given.is_ok()
        });
        given?;
        batch.give(give)?;
        Ok(step.map(|_| ()))
    }

    /// Does this for a capture whose bytes arrive over time: gives the calls that are over before each wait.
    fn read_as_it_comes<E>(
        &mut self,
        reader: &mut CaptureReader,
        give: &mut impl FnMut(Vec<Call>) -> Result<(), E>,
    ) -> Result<Result<()>, E> {
        let CallBatches { rpc, batch } = self;
        let mut frames = FrameBatch::new();
        loop {
            match reader.read_frames(&mut frames) {
                Ok(()) if frames.is_empty() => return Ok(Ok(())),
                Ok(()) => {}
                Err(error) => return Ok(Err(error)),
            }
            let mut given = Ok(());
            for (packet, captured) in
                (0..frames.len()).filter_map(|index| frames.packet_and_bytes(index))
            {
                rpc.add(packet, captured, &mut |call| batch.add(call, give, &mut given));
            }
            given?;
            batch.give(give)?;
        }
    }

    /// Gives the calls that wait for answers.
    ///
    /// # Errors
    /// The first one of `give`.
    pub fn finish<E>(self, give: &mut impl FnMut(Vec<Call>) -> Result<(), E>) -> Result<(), E> {
        let CallBatches { rpc, mut batch } = self;
        let mut given = Ok(());
        rpc.finish(&mut |call| batch.add(call, give, &mut given));
        given?;
        batch.give(give)
    }
}

impl CallBatch {
    /// Takes a call, and gives the batch if it is full; nothing where that failed before.
    fn add<E>(
        &mut self,
        call: Call,
        give: &mut impl FnMut(Vec<Call>) -> Result<(), E>,
        given: &mut Result<(), E>,
    ) {
        if given.is_err() || self.methods.as_ref().is_some_and(|methods| !methods.has(&call)) {
            return;
        }
        self.bytes += call.struct_bytes();
        self.calls.push(call);
        if self.calls.len() >= BATCH_LEN || self.bytes >= BATCH_BYTES {
            *given = self.give(give);
        }
    }

    fn give<E>(&mut self, give: &mut impl FnMut(Vec<Call>) -> Result<(), E>) -> Result<(), E> {
        self.bytes = 0;
        if self.calls.is_empty() {
            return Ok(());
        }
        give(std::mem::take(&mut self.calls))
    }
}

/// Outcome of merging the calls of a capture.
#[derive(Debug, Clone)]
pub struct CallsMerge {
    /// The capture.
    pub file: String,
    /// Fingerprint that its packets are recognised by.
    pub content_id: ContentId,
    /// Packets that were read.
    pub packets: u64,
    /// Calls in them.
    pub calls: u64,
    /// The capture that was counted before with the same content, in which case nothing was added.
    pub already_counted: Option<CountedCapture>,
    /// Error that ended reading before the end of the file. The packets before it were merged.
    pub damage: Option<Error>,
}

/// Merges the calls of a capture into `store`, by method: all of them, or none where the same packets, read with the
/// same filter, were merged before. They are on disk when this returns.
///
/// A damaged capture counts up to its damage, as with [`merge_flows`](super::merge_flows). A connection that goes on
/// in the next capture is another one there: a call whose answer is in the next capture counts as unanswered here,
/// and its answer as a call there.
///
/// # Errors
/// Those of [`merge_flows`](super::merge_flows). Then the store is as it was.
pub fn merge_calls(
    reader: &mut CaptureReader,
    options: RpcOptions,
    store: &CallStore,
) -> Result<CallsMerge> {
    // Before the count begins, which makes a store that is not there.
    reader.read_header()?;
    let count = store.begin()?;
    read_to_merge(reader, options)?.commit(count)
}

/// A capture that was read, and the calls in it, summed up by method.
pub(super) struct ReadCalls {
    file: String,
    content_id: ContentId,
    packets: u64,
    calls: u64,
    summary: CallSummary,
    damage: Option<Error>,
}

/// Reads a capture up to its end or its damage.
///
/// # Errors
/// Those of reading that are not damage.
pub(super) fn read_to_merge(reader: &mut CaptureReader, options: RpcOptions) -> Result<ReadCalls> {
    let mut content = ContentHasher::of(reader);
    let (mut rpc, mut summary) = (Rpc::new(options), CallSummary::new());
    let (mut packets, mut calls) = (0, 0);
    let mut each = |call: Call| {
        calls += 1;
        summary.add(&call);
    };
    let result = reader.each(|packet, captured| {
        packets += 1;
        content.update(packet, captured);
        rpc.add(packet, captured, &mut each);
    });
    rpc.finish(&mut each);
    let damage = damage_of(result)?;
    let (file, content_id) = (reader.facts().name, content.finish());
    Ok(ReadCalls { file, content_id, packets, calls, summary, damage })
}

impl ReadCalls {
    /// Ends a count with what was read.
    pub(super) fn commit(self, count: CallCount<'_>) -> Result<CallsMerge> {
        let ReadCalls { file, content_id, packets, calls, summary, damage } = self;
        let already_counted = count.commit(&content_id.0, &file, Some(packets), summary)?;
        Ok(CallsMerge { file, content_id, packets, calls, already_counted, damage })
    }
}
