//! The flows of whole captures, handed on as they end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::Result;
use crate::flow::{Flow, FlowOptions, FlowTable};
use crate::input::{CaptureReader, FrameBatch};
use crate::packet::{NetworkLabels, Packet};

/// Interval between two searches for flows that were idle for too long, in packets that come as they are captured.
const SWEPT_EVERY: Duration = Duration::from_millis(200);

/// The flows of captures that are read as one run, handed on in batches as they end. Whatever takes them may wait
/// meanwhile, and then reading waits too.
pub struct FlowBatches {
    pub(super) table: FlowTable,
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
    pub(super) fn read_seeing<E>(
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
