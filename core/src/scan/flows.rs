//! The flows of a whole capture, merged into a table file: in one transaction, and once.

use super::content::ContentHasher;
use super::{CaptureReader, ContentId};
use crate::flow::{FlowOptions, FlowTable};
use crate::sums::{FlowStore, Merged};
use crate::{Error, ErrorKind, Result};

/// Finished flows that are handed on together.
const BATCH_LEN: usize = 4096;

/// What became of a capture that was to be merged.
#[derive(Debug, Clone)]
pub struct CaptureMerge {
    /// What its packets are recognised by.
    pub content_id: ContentId,
    /// Packets that were read.
    pub packets: u64,
    /// Packets among them that belong to no flow.
    pub packets_without_flow: u64,
    /// Whether they were added.
    pub merged: Merged,
    /// What made reading end before the end of the file. The packets before it are what was merged.
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
    let mut content = ContentHasher::new(reader.filter(), reader.decode_options().inner);
    let mut table = FlowTable::new(options);
    let damage = loop {
        let step = reader.each_while(|packet, captured| {
            content.update(packet, captured);
            table.add(packet);
            table.finished_len() < BATCH_LEN
        });
        count.merge(table.drain_finished())?;
        match step {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) if is_damage(&error) => break Some(error),
            Err(error) => return Err(error),
        }
    };
    let content_id = content.finish();
    let (packets, packets_without_flow) = (table.packets(), table.packets_without_flow());
    count.merge(table.finish())?;
    let merged = count.commit(&content_id.0, reader.stream().name(), Some(packets))?;
    Ok(CaptureMerge { content_id, packets, packets_without_flow, merged, damage })
}

/// Whether the file is at fault, and would be the next time.
pub(super) fn is_damage(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Format | ErrorKind::Truncated { .. } | ErrorKind::Limit)
}
