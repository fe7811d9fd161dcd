//! Flows summed up anew in each interval of time, as packets come.

use crate::Result;
use crate::flow::{Flow, FlowOptions, FlowTable};
use crate::input::{CaptureReader, FrameBatch};
use crate::packet::{Field, Packet};

/// Flows that are given together.
const BATCH_LEN: usize = 256;

/// Part of the sums of packets by intervals, in this order for each interval.
#[derive(Debug)]
pub enum IntervalPart {
    /// Flows of the interval.
    Flows(Vec<Flow>),
    /// The interval is over.
    End {
        /// Its beginning: a multiple of its length since 1970, in nanoseconds.
        start: i64,
        /// Packets that came in it, also those that are of no flow.
        packets: u64,
        /// Their bytes on the wire.
        bytes: u64,
    },
}

/// Sums packets up by flow, anew in each interval of `every` nanoseconds, and gives each interval when it is over: by the
/// times of the packets, and on an interface also by the clock. A packet that comes late counts for the interval under way,
/// and so does one without a time. Intervals in which a capture has no packet are left out. Answers how reading ended.
///
/// # Errors
/// The first one of `give`, with which reading ends.
pub fn flows_by_interval<E>(
    reader: &mut CaptureReader,
    every: i64,
    options: FlowOptions,
    give: &mut impl FnMut(IntervalPart) -> Result<(), E>,
) -> Result<Result<()>, E> {
    let (every, mut under_way) = (every.max(1), None::<Interval>);
    let labels = reader.labels().cloned();
    let give = &mut |part| match (part, &labels) {
        (IntervalPart::Flows(mut flows), Some(labels)) => {
            flows.iter_mut().for_each(|flow| flow.set_labels(labels));
            give(IntervalPart::Flows(flows))
        }
        (part, _) => give(part),
    };
    let start_of = |ts: i64| ts.div_euclid(every).saturating_mul(every);
    let mut frames = FrameBatch::new();
    let read = loop {
        match reader.read_available(&mut frames) {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
        for packet in frames.packets() {
            let start = if packet.has(Field::Ts) { start_of(packet.ts) } else { i64::MIN };
            under_way = end_before(under_way, start, give)?;
            let interval = under_way.get_or_insert_with(|| Interval::new(start, options));
            interval.add(packet, give)?;
        }
        if let Some(now) = reader.watermark().map(start_of) {
            under_way = end_before(under_way, now, give)?;
            under_way.get_or_insert_with(|| Interval::new(now, options));
        }
    };
    end_before(under_way, i64::MAX, give)?;
    Ok(read)
}

/// Ends the interval under way where it began before that.
fn end_before<E>(
    under_way: Option<Interval>,
    start: i64,
    give: &mut impl FnMut(IntervalPart) -> Result<(), E>,
) -> Result<Option<Interval>, E> {
    match under_way {
        Some(interval) if interval.start < start => interval.end(give).map(|()| None),
        under_way => Ok(under_way),
    }
}

struct Interval {
    start: i64,
    table: FlowTable,
    bytes: u64,
}

impl Interval {
    fn new(start: i64, options: FlowOptions) -> Self {
        Interval { start, table: FlowTable::new(options), bytes: 0 }
    }

    fn add<E>(
        &mut self,
        packet: &Packet,
        give: &mut impl FnMut(IntervalPart) -> Result<(), E>,
    ) -> Result<(), E> {
        self.table.add(packet);
        self.bytes += u64::from(packet.length);
        if self.table.finished_len() >= BATCH_LEN {
            give(IntervalPart::Flows(self.table.drain_finished().collect()))?;
        }
        Ok(())
    }

    fn end<E>(self, give: &mut impl FnMut(IntervalPart) -> Result<(), E>) -> Result<(), E> {
        let Interval { start, table, bytes } = self;
        let packets = table.packets();
        let mut rest = table.finish().peekable();
        while rest.peek().is_some() {
            give(IntervalPart::Flows(rest.by_ref().take(BATCH_LEN).collect()))?;
        }
        give(IntervalPart::End { start, packets, bytes })
    }
}
