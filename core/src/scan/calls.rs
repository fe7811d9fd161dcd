//! The Thrift calls of a whole capture.

use super::content::ContentHasher;
use super::flows::is_damage;
use super::{CaptureReader, ContentId};
use crate::rpc::{Call, CallStore, CountedCapture, Rpc, RpcOptions, Summary};
use crate::{Error, Result};

/// What became of a capture whose calls were to be merged.
#[derive(Debug, Clone)]
pub struct CallsMerge {
    /// What its packets are recognised by.
    pub content_id: ContentId,
    /// Packets that were read.
    pub packets: u64,
    /// Calls in them.
    pub calls: u64,
    /// The capture that was counted before with the same content, in which case nothing was added.
    pub already_counted: Option<CountedCapture>,
    /// What made reading end before the end of the file. The packets before it are what was merged.
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
/// Those of the store, and those of reading that are not damage. Then the store is as it was.
pub fn merge_calls(
    reader: &mut CaptureReader,
    options: RpcOptions,
    store: &CallStore,
) -> Result<CallsMerge> {
    let count = store.begin()?;
    let mut content = ContentHasher::new(reader.filter(), reader.decode_options().inner);
    let (mut rpc, mut summary) = (Rpc::new(options), Summary::new());
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
    let damage = match result {
        Ok(()) => None,
        Err(error) if is_damage(&error) => Some(error),
        Err(error) => return Err(error),
    };
    let content_id = content.finish();
    let name = reader.stream().name();
    let already_counted = count.commit(&content_id.0, name, Some(packets), summary)?;
    Ok(CallsMerge { content_id, packets, calls, already_counted, damage })
}
