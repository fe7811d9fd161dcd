//! The flows of a whole capture, merged into a table file, in one transaction and once.

use super::FlowBatches;
use crate::flow::{Flow, FlowOptions};
use crate::input::{CaptureReader, ContentHasher, ContentId, damage_of};
use crate::packet::Packet;
use crate::sums::{CaptureCount, FlowStore, Merged};
use crate::{Error, Result};

/// Finished flows that are merged into a table file together.
const MERGED_LEN: usize = 4096;

/// Outcome of merging the flows of a capture.
#[derive(Debug, Clone)]
pub struct CaptureMerge {
    /// The capture.
    pub file: String,
    /// Fingerprint that its packets are recognised by.
    pub content_id: ContentId,
    /// Packets that were read.
    pub packets: u64,
    /// Packets among them that belong to no flow.
    pub packets_without_flow: u64,
    /// Outcome for its flows: added, or counted before.
    pub merged: Merged,
    /// Error that ended reading before the end of the file. The packets before it were merged.
    pub damage: Option<Error>,
}

/// Merges the flows of a capture into `store`: all of them, or none where the same packets, read
/// with the same filter, were merged before. They are on disk when this returns.
///
/// A damaged capture counts up to its damage, and that part is what is recognised. A file that is
/// still being written looks the same, so wait until it is whole.
///
/// # Errors
/// Those of the store; `Format` or `Truncated` where the input is no capture, or ends inside of its
/// header; and those of reading that are not damage: `Io`, `Argument` where the filter does not fit.
/// Then the store is as it was.
pub fn merge_flows(
    reader: &mut CaptureReader,
    options: FlowOptions,
    store: &FlowStore,
) -> Result<CaptureMerge> {
    // Before the count begins, which makes a store that is not there.
    reader.read_header()?;
    let mut count = store.begin()?;
    let read = read_to_merge(reader, options, &mut |flows| count.merge(flows))?;
    read.commit(count)
}

/// A capture that was read, and whose flows were given to be merged.
pub(super) struct ReadCapture {
    file: String,
    content_id: ContentId,
    packets: u64,
    packets_without_flow: u64,
    damage: Option<Error>,
}

/// Reads a capture up to its end or its damage, and gives all of its flows.
///
/// # Errors
/// Those of `give`, and those of reading that are not damage.
pub(super) fn read_to_merge(
    reader: &mut CaptureReader,
    options: FlowOptions,
    give: &mut impl FnMut(Vec<Flow>) -> Result<()>,
) -> Result<ReadCapture> {
    let mut content = ContentHasher::of(reader);
    let mut batches = FlowBatches::new(options, MERGED_LEN);
    let see = |packet: &Packet, captured: &[u8]| content.update(packet, captured);
    let damage = damage_of(batches.read_seeing(reader, see, give)?)?;
    let (packets, packets_without_flow) =
        (batches.table.packets(), batches.table.packets_without_flow());
    batches.finish(give)?;
    let (file, content_id) = (reader.facts().name, content.finish());
    Ok(ReadCapture { file, content_id, packets, packets_without_flow, damage })
}

impl ReadCapture {
    /// Ends a count that has its flows.
    pub(super) fn commit(self, count: CaptureCount<'_>) -> Result<CaptureMerge> {
        let ReadCapture { file, content_id, packets, packets_without_flow, damage } = self;
        let merged = count.commit(&content_id.0, &file, Some(packets))?;
        Ok(CaptureMerge { file, content_id, packets, packets_without_flow, merged, damage })
    }
}
