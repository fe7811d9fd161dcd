//! Lengths of the packets of a flow, and times between them.

use std::fmt::Write;

use super::spread::Spread;
use super::value::FeatureValue;
use crate::flow::FlowField;
use crate::packet::{Field, Packet};

/// Packets whose lengths and gaps are told one by one.
const FIRST_PACKETS: usize = 20;

/// The gap before a packet where one of the two has no time.
const NO_GAP: i64 = -1;

/// Bytes that the list of them takes at most.
pub(super) const FIRST_BYTES_MAX: usize =
    FIRST_PACKETS.next_power_of_two() * size_of::<(i64, i64)>();

/// Packets that one endpoint sent.
#[derive(Debug, Default)]
struct SentLengths {
    length: Spread,
    payload: Spread,
    /// Nanoseconds between its packets.
    gap: Spread,
    last: Option<i64>,
}

/// Lengths of the packets of a flow, and times between them. Endpoint 0 and 1 are those of its key.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    directions: [SentLengths; 2],
    /// Lengths of the first packets, negative those back to the initiator, and nanoseconds since the packet before, or
    /// [`NO_GAP`].
    first: Vec<(i64, i64)>,
    last: Option<i64>,
}

impl Lengths {
    pub(super) fn add(&mut self, from: usize, initiator: usize, packet: &Packet) {
        let ts = packet.ts();
        let since = |last: Option<i64>| Some(ts?.checked_sub(last?)?.max(0));
        let direction = &mut self.directions[from & 1];
        direction.length.add(packet.length.into());
        if packet.has(Field::PayloadLen) && packet.payload_len > 0 {
            direction.payload.add(packet.payload_len.into());
        }
        if let Some(gap) = since(direction.last) {
            direction.gap.add(gap.unsigned_abs());
        }
        if self.first.len() < FIRST_PACKETS {
            let sign = if from == initiator { 1 } else { -1 };
            self.first.push((sign * i64::from(packet.length), since(self.last).unwrap_or(NO_GAP)));
        }
        direction.last = ts.or(direction.last);
        self.last = ts.or(self.last);
    }

    /// The value of a field.
    pub(super) fn value(&self, field: FlowField, initiator: usize) -> FeatureValue {
        let (sent, came_back) = (&self.directions[initiator], &self.directions[1 - initiator]);
        match field {
            FlowField::MinLength => sent.length.least().into(),
            FlowField::MaxLength => sent.length.most().into(),
            FlowField::MeanLength => sent.length.mean().into(),
            FlowField::StdLength => sent.length.deviation().into(),
            FlowField::RevMinLength => came_back.length.least().into(),
            FlowField::RevMaxLength => came_back.length.most().into(),
            FlowField::RevMeanLength => came_back.length.mean().into(),
            FlowField::RevStdLength => came_back.length.deviation().into(),
            FlowField::MinPayload => sent.payload.least().into(),
            FlowField::MaxPayload => sent.payload.most().into(),
            FlowField::MeanPayload => sent.payload.mean().into(),
            FlowField::StdPayload => sent.payload.deviation().into(),
            FlowField::RevMinPayload => came_back.payload.least().into(),
            FlowField::RevMaxPayload => came_back.payload.most().into(),
            FlowField::RevMeanPayload => came_back.payload.mean().into(),
            FlowField::RevStdPayload => came_back.payload.deviation().into(),
            FlowField::MinGap => duration(sent.gap.least()),
            FlowField::MaxGap => duration(sent.gap.most()),
            FlowField::MeanGap => micros(sent.gap.mean()),
            FlowField::StdGap => micros(sent.gap.deviation()),
            FlowField::RevMinGap => duration(came_back.gap.least()),
            FlowField::RevMaxGap => duration(came_back.gap.most()),
            FlowField::RevMeanGap => micros(came_back.gap.mean()),
            FlowField::RevStdGap => micros(came_back.gap.deviation()),
            FlowField::SpltLengths => self.listed(|(length, _)| Some(length)),
            FlowField::SpltGaps => self.listed(|(_, gap)| (gap != NO_GAP).then_some(gap / 1000)),
            _ => FeatureValue::None,
        }
    }

    /// The first packets, with commas between them; a missing number is empty.
    fn listed(&self, number: impl Fn((i64, i64)) -> Option<i64>) -> FeatureValue {
        let mut text = String::with_capacity(6 * self.first.len());
        for (index, packet) in self.first.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            if let Some(number) = number(*packet) {
                let _ = write!(text, "{number}");
            }
        }
        FeatureValue::text(&text)
    }
}

fn duration(nanoseconds: Option<u64>) -> FeatureValue {
    nanoseconds.map(|number| FeatureValue::Micros(number / 1000)).unwrap_or_default()
}

fn micros(nanoseconds: Option<f64>) -> FeatureValue {
    nanoseconds.map(|number| number / 1000.0).into()
}
