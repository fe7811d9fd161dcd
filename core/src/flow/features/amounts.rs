//! Bytes of a flow by layer, each way: of IP packets, of payloads, and of the streams that TCP numbers.

use super::tcp::{FIN, RST, SYN};
use super::value::FeatureValue;
use crate::flow::FlowField;
use crate::packet::{Field, Packet, proto};

/// Bytes that one endpoint sent.
#[derive(Debug, Default)]
struct SentBytes {
    ip: u64,
    payload: u64,
    stream: u64,
    /// The number of the SYN.
    start: Option<u32>,
    /// The sequence number behind the highest one seen.
    next: Option<u32>,
}

/// Bytes by layer. Endpoint 0 and 1 are those of the flow's key.
#[derive(Debug, Default)]
pub(super) struct Amounts {
    directions: [SentBytes; 2],
    /// A header told the length of a payload.
    has_payloads: bool,
    has_streams: bool,
}

impl Amounts {
    pub(super) fn add(&mut self, from: usize, packet: &Packet) {
        let sent = &mut self.directions[from & 1];
        sent.ip = sent.ip.saturating_add(packet.ip_len().unwrap_or(0).into());
        let Some(payload_len) = packet.payload_len() else { return };
        self.has_payloads = true;
        sent.payload = sent.payload.saturating_add(payload_len.into());
        if packet.proto() == Some(proto::TCP) && packet.has(Field::TcpFlags) {
            self.has_streams = true;
            sent.follow(packet, payload_len);
        }
    }

    /// The value of a field.
    pub(super) fn value(&self, field: FlowField, initiator: usize) -> FeatureValue {
        let (sent, came_back) =
            (&self.directions[initiator & 1], &self.directions[1 - (initiator & 1)]);
        match field {
            FlowField::IpBytes => sent.ip.into(),
            FlowField::RevIpBytes => came_back.ip.into(),
            FlowField::PayloadBytes if self.has_payloads => sent.payload.into(),
            FlowField::RevPayloadBytes if self.has_payloads => came_back.payload.into(),
            FlowField::StreamBytes if self.has_streams => sent.stream.into(),
            FlowField::RevStreamBytes if self.has_streams => came_back.stream.into(),
            _ => FeatureValue::None,
        }
    }
}

impl SentBytes {
    /// Goes on to the end of a segment. SYN and FIN take a number each that is no byte (RFC 9293, section 3.4).
    fn follow(&mut self, packet: &Packet, payload_len: u32) {
        let flags = packet.tcp_flags;
        // A reset may have any number.
        if flags & RST != 0 {
            return;
        }
        let marks = u32::from(flags & SYN != 0) + u32::from(flags & FIN != 0);
        let end = packet.seq.wrapping_add(payload_len).wrapping_add(marks);
        if flags & SYN != 0 && self.start != Some(packet.seq) {
            // Another connection between the same ports begins with a number of its own.
            (self.start, self.next) = (Some(packet.seq), None);
        }
        let next = *self.next.get_or_insert(packet.seq);
        let grown = end.wrapping_sub(next);
        if grown.cast_signed() > 0 {
            self.stream = self.stream.saturating_add(grown.saturating_sub(marks).into());
            self.next = Some(end);
        }
    }
}
