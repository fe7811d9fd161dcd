//! A flow as people see it.

use std::net::IpAddr;

use super::features::{FeatureSet, FlowFeatures};
use super::field::FlowField;
use crate::batch::{ShortText, Value};
use crate::packet::{FlowKey, NetworkLabels, proto};

/// Counts and flags of one direction of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DirectionSums {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) tcp_flags: u16,
}

/// The times of the earliest and the latest packet, nanoseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeSpan {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// One conversation, summed up: `src` is the side that sent the first packet seen, what it sent is
/// counted in `packets` and `bytes`, and what came back in `rev_packets` and `rev_bytes`.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    pub(crate) key: FlowKey,
    /// Counts and flags of what each endpoint of the key sent.
    pub(crate) directions: [DirectionSums; 2],
    /// The endpoint of the key that sent the first packet, 0 or 1.
    pub(crate) initiator: u8,
    /// Times, where any of its packets had one.
    pub(crate) span: Option<TimeSpan>,
    /// Counts beside its sums.
    pub(crate) features: Option<Box<FlowFeatures>>,
}

impl Flow {
    /// Returns the endpoint of the key that sent the first packet.
    pub(super) fn initiator(&self) -> usize {
        usize::from(self.initiator & 1)
    }

    fn forward(&self) -> &DirectionSums {
        &self.directions[self.initiator()]
    }

    fn back(&self) -> &DirectionSums {
        &self.directions[1 - self.initiator()]
    }

    /// This flow, of which these features were counted.
    pub(crate) fn with_features(self, features: FlowFeatures) -> Flow {
        Flow { features: Some(Box::new(features)), ..self }
    }

    /// Gives the flow the labels of its addresses.
    pub fn set_labels(&mut self, labels: &NetworkLabels) {
        let found = [self.src_ip(), self.dst_ip()].map(|address| labels.label_of(address));
        self.features.get_or_insert_default().set_labels(found);
    }

    /// Returns the key of the packets that belong to it.
    pub const fn key(&self) -> &FlowKey {
        &self.key
    }

    /// Time of the earliest packet, nanoseconds since the epoch.
    pub fn ts(&self) -> Option<i64> {
        self.span.map(|span| span.first)
    }

    /// Time of the latest packet, nanoseconds since the epoch.
    pub fn last_ts(&self) -> Option<i64> {
        self.span.map(|span| span.last)
    }

    /// Address of the initiator.
    pub fn src_ip(&self) -> IpAddr {
        self.key.addresses[self.initiator()]
    }

    /// Address of the other side.
    pub fn dst_ip(&self) -> IpAddr {
        self.key.addresses[1 - self.initiator()]
    }

    /// The initiator's port of TCP, UDP or SCTP.
    pub fn src_port(&self) -> Option<u16> {
        self.key.transport_ports().map(|ports| ports[self.initiator()])
    }

    /// The other side's port of TCP, UDP or SCTP.
    pub fn dst_port(&self) -> Option<u16> {
        self.key.transport_ports().map(|ports| ports[1 - self.initiator()])
    }

    /// Protocol number after IP and its extension headers.
    pub fn proto(&self) -> u8 {
        self.key.proto
    }

    /// Packets from the initiator.
    pub fn packets(&self) -> u64 {
        self.forward().packets
    }

    /// Bytes of the frames from the initiator, as on the wire.
    pub fn bytes(&self) -> u64 {
        self.forward().bytes
    }

    /// Packets back to the initiator.
    pub fn rev_packets(&self) -> u64 {
        self.back().packets
    }

    /// Bytes of the frames back to the initiator, as on the wire.
    pub fn rev_bytes(&self) -> u64 {
        self.back().bytes
    }

    /// Microseconds from the earliest to the latest packet.
    pub fn duration(&self) -> Option<u64> {
        self.span.map(|span| span.last.abs_diff(span.first) / 1000)
    }

    /// The TCP flags of all packets from the initiator, OR-ed.
    pub fn tcp_flags(&self) -> Option<u16> {
        self.flags_of(self.forward())
    }

    /// The TCP flags of all packets back to the initiator, OR-ed.
    pub fn rev_tcp_flags(&self) -> Option<u16> {
        self.flags_of(self.back())
    }

    fn flags_of(&self, direction: &DirectionSums) -> Option<u16> {
        let is_tcp = self.key.proto == proto::TCP && self.key.ports.is_some();
        (is_tcp && direction.packets > 0).then_some(direction.tcp_flags)
    }

    /// Community ID v1 with seed 0; [`FlowKey::community_id`] takes another seed.
    pub fn community_id(&self) -> String {
        self.key.community_id(0)
    }

    /// The fields that it has: those of every flow, and the features that were counted.
    pub fn fields(&self) -> Vec<FlowField> {
        FlowField::counted(self.feature_set())
    }

    /// The features that were counted.
    pub fn feature_set(&self) -> FeatureSet {
        self.features.as_ref().map(|features| features.set()).unwrap_or_default()
    }

    fn feature(&self, field: FlowField) -> Value<'_> {
        let features = self.features.as_ref().zip(field.feature_place());
        features.map_or(Value::Null, |(features, place)| features.value_at(place))
    }

    /// The value of the field at a place of [`FlowField::SCHEMA`]; null behind its end.
    pub fn value_at(&self, place: usize) -> Value<'_> {
        FlowField::ALL.get(place).map_or(Value::Null, |field| self.value(*field))
    }

    /// The value of `field`.
    pub fn value(&self, field: FlowField) -> Value<'_> {
        match field {
            FlowField::Ts => self.ts().map_or(Value::Null, Value::Time),
            FlowField::SrcIp => self.src_ip().into(),
            FlowField::DstIp => self.dst_ip().into(),
            FlowField::SrcPort => self.src_port().into(),
            FlowField::DstPort => self.dst_port().into(),
            FlowField::Proto => self.proto().into(),
            FlowField::Packets => self.packets().into(),
            FlowField::Bytes => self.bytes().into(),
            FlowField::RevPackets => self.rev_packets().into(),
            FlowField::RevBytes => self.rev_bytes().into(),
            FlowField::Duration => self.duration().map_or(Value::Null, Value::Duration),
            FlowField::TcpFlags => self.tcp_flags().into(),
            FlowField::RevTcpFlags => self.rev_tcp_flags().into(),
            FlowField::CommunityId => {
                ShortText::new(&self.community_id()).map_or(Value::Null, Value::ShortText)
            }
            feature => self.feature(feature),
        }
    }
}
