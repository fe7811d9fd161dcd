//! The Thrift calls of a whole capture, merged into a table file, in one transaction and once.

use crate::input::{CaptureReader, ContentHasher, ContentId, damage_of};
use crate::rpc::{Call, CallSummary, Rpc, RpcOptions};
use crate::sums::{CallCount, CallStore, CountedCapture};
use crate::{Error, Result};

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
