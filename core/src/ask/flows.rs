//! The flows of whole captures: handed on as they end, or merged into a table file, in one transaction and once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::flow::{Flow, FlowOptions, FlowTable};
use crate::input::{CaptureReader, ContentHasher, ContentId, FrameBatch, damage_of};
use crate::packet::{NetworkLabels, Packet};
use crate::sums::{CaptureCount, FlowStore, Merged};
use crate::{Error, Result};

/// Interval between two searches for flows that were idle for too long, in packets that come as they are captured.
const SWEPT_EVERY: Duration = Duration::from_millis(200);

/// Finished flows that are merged into a table file together.
const MERGED_LEN: usize = 4096;

/// The flows of captures that are read as one run, handed on in batches as they end. Whatever takes them may wait
/// meanwhile, and then reading waits too.
pub struct FlowBatches {
    table: FlowTable,
    batch_len: usize,
    /// Labels for flows that end, those of the capture that was read last; none where nobody asks for any.
    labels: Option<Arc<NetworkLabels>>,
}

impl FlowBatches {
    /// No capture read yet. `batch_len` flows are handed on together.
    pub fn new(options: FlowOptions, batch_len: usize) -> Self {
        let labels = options.features.labels.then(Arc::default);
        FlowBatches { table: FlowTable::new(options), batch_len, labels }
    }

    /// Reads a capture to its end, and gives the flows that end before that. Answers how reading ended.
    ///
    /// # Errors
    /// The first one of `give`, with which reading ends.
    pub fn read<E>(
        &mut self,
        reader: &mut CaptureReader,
        give: &mut impl FnMut(Vec<Flow>) -> Result<(), E>,
    ) -> Result<Result<()>, E> {
        self.read_seeing(reader, |_, _| (), give)
    }

    /// Gives the flows that have not ended.
    ///
    /// # Errors
    /// The first one of `give`.
    pub fn finish<E>(self, give: &mut impl FnMut(Vec<Flow>) -> Result<(), E>) -> Result<(), E> {
        let FlowBatches { table, batch_len, labels, .. } = self;
        let mut rest = table.finish().peekable();
        while rest.peek().is_some() {
            give(labelled(rest.by_ref().take(batch_len), labels.as_deref()))?;
        }
        Ok(())
    }

    /// As [`FlowBatches::read`]; `see` is shown each packet with its captured bytes.
    fn read_seeing<E>(
        &mut self,
        reader: &mut CaptureReader,
        mut see: impl FnMut(&Packet, &[u8]),
        give: &mut impl FnMut(Vec<Flow>) -> Result<(), E>,
    ) -> Result<Result<()>, E> {
        // Whoever has a file of labels wants them, and whoever asks without one gets a field that is null.
        self.labels =
            reader.labels().cloned().or_else(|| self.labels.take().map(|_| Arc::default()));
        if reader.facts().is_live {
            return self.read_as_it_comes(reader, see, give);
        }
        let FlowBatches { table, batch_len, labels, .. } = self;
        loop {
            let step = reader.each_while(|packet, captured| {
                see(packet, captured);
                table.add_frame(packet, captured);
                table.finished_len() < *batch_len
            });
            if table.finished_len() > 0 {
                give(labelled(table.drain_finished(), labels.as_deref()))?;
            }
            match step {
                Ok(true) => {}
                Ok(false) => return Ok(Ok(())),
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// Does this for a capture whose bytes arrive over time: gives the flows that have ended before each wait.
    fn read_as_it_comes<E>(
        &mut self,
        reader: &mut CaptureReader,
        mut see: impl FnMut(&Packet, &[u8]),
        give: &mut impl FnMut(Vec<Flow>) -> Result<(), E>,
    ) -> Result<Result<()>, E> {
        let mut frames = FrameBatch::new();
        let mut swept = Instant::now();
        loop {
            match reader.read_available(&mut frames) {
                Ok(true) => {}
                Ok(false) => return Ok(Ok(())),
                Err(error) => return Ok(Err(error)),
            }
            for (packet, captured) in
                (0..frames.len()).filter_map(|index| frames.packet_and_bytes(index))
            {
                see(packet, captured);
                self.table.add_frame(packet, captured);
                if self.table.finished_len() >= self.batch_len {
                    give(labelled(self.table.drain_finished(), self.labels.as_deref()))?;
                }
            }
            if swept.elapsed() >= SWEPT_EVERY
                && let Some(now) = reader.watermark()
            {
                self.table.end_idle(now);
                swept = Instant::now();
            }
            if self.table.finished_len() > 0 {
                give(labelled(self.table.drain_finished(), self.labels.as_deref()))?;
            }
        }
    }
}

/// Collects flows, and gives them labels where there are any.
fn labelled(flows: impl Iterator<Item = Flow>, labels: Option<&NetworkLabels>) -> Vec<Flow> {
    let mut flows: Vec<Flow> = flows.collect();
    if let Some(labels) = labels {
        flows.iter_mut().for_each(|flow| flow.set_labels(labels));
    }
    flows
}

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
