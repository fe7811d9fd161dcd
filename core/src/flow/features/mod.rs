//! Features of a flow, counted beside its sums where somebody asks for them: the course of its TCP connection, the spread of its
//! packets over lengths and times, names in its first packets, and its bytes by layer.
//!
//! An open flow has a [`FeatureCounts`]; its end makes [`FlowFeatures`] of it, one value for each field.

mod amounts;
mod history;
mod lengths;
mod spread;
mod tcp;
mod unacknowledged;
mod value;

use std::str::FromStr;

use self::amounts::Amounts;
use self::history::History;
use self::lengths::Lengths;
use self::tcp::{SegmentFacts, TcpAnalysis};
use super::field::FlowField;
use crate::batch::Value;
use crate::options::OptionKind;
use crate::packet::{ConversationNames, Field, Packet, TcpHeader, proto};
use crate::{Error, Result};
pub(crate) use value::FeatureValue;
pub use value::FlowFeatures;

/// Sets of features: those that are counted of flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeatureSet {
    /// The course of TCP connections, and the states of all conversations.
    pub tcp: bool,
    /// Lengths of packets and the times between them.
    pub lengths: bool,
    /// Names and fingerprints in the first packets.
    pub names: bool,
    /// Bytes of IP packets, of payloads and of TCP's streams.
    pub bytes: bool,
    /// Labels of addresses, which a flow gets when it has ended.
    pub labels: bool,
}

impl FeatureSet {
    /// No features.
    pub const NONE: FeatureSet =
        FeatureSet { tcp: false, lengths: false, names: false, bytes: false, labels: false };

    /// The sets' names, and that of all of them.
    pub(super) const NAMES: &'static [&'static str] =
        &["none", "tcp", "lengths", "names", "bytes", "labels", "all"];

    /// The sets that fields are of.
    pub fn of(fields: impl IntoIterator<Item = FlowField>) -> FeatureSet {
        let sets = fields.into_iter().map(FlowField::feature_set);
        sets.fold(FeatureSet::NONE, FeatureSet::and)
    }

    /// These and those of another.
    pub fn and(self, other: FeatureSet) -> FeatureSet {
        FeatureSet {
            tcp: self.tcp || other.tcp,
            lengths: self.lengths || other.lengths,
            names: self.names || other.names,
            bytes: self.bytes || other.bytes,
            labels: self.labels || other.labels,
        }
    }

    /// The sets as bits, of which [`FeatureSet::of_bits`] makes them.
    pub fn bits(self) -> u8 {
        let sets = [self.tcp, self.lengths, self.names, self.bytes, self.labels];
        sets.into_iter().rev().fold(0, |bits, set| bits << 1 | u8::from(set))
    }

    /// The sets of these bits; none if there are others among them.
    pub fn of_bits(bits: u8) -> Option<FeatureSet> {
        let has = |place: u8| bits >> place & 1 != 0;
        let set = FeatureSet {
            tcp: has(0),
            lengths: has(1),
            names: has(2),
            bytes: has(3),
            labels: has(4),
        };
        (set.bits() == bits).then_some(set)
    }

    /// Returns true if there is no set.
    pub fn is_empty(self) -> bool {
        self == FeatureSet::NONE
    }

    /// Returns true if nothing of them is in the bytes of packets.
    pub(crate) fn needs_no_bytes(self) -> bool {
        self.counted().is_empty()
    }

    /// The sets that are counted as packets come.
    pub(super) fn counted(self) -> FeatureSet {
        FeatureSet { labels: false, ..self }
    }

    /// Returns true if it has all of another.
    pub(super) fn has(self, other: FeatureSet) -> bool {
        self.and(other) == self
    }
}

impl FromStr for FeatureSet {
    type Err = Error;

    /// The sets of a name.
    fn from_str(name: &str) -> Result<Self> {
        if !Self::NAMES.contains(&name) {
            return Err(OptionKind::Choice(Self::NAMES).not("features", format_args!("{name:?}")));
        }
        let is_all = name == "all";
        let has = |set| is_all || name == set;
        Ok(FeatureSet {
            tcp: has("tcp"),
            lengths: has("lengths"),
            names: has("names"),
            bytes: has("bytes"),
            labels: has("labels"),
        })
    }
}

// Bound (Flows): features of a flow = 1.1 KiB of TCP, with 32 ranges that nobody acknowledged each way and 64 letters
// of history; 0.9 KiB of lengths, with the first 20 packets; six names of 255 bytes; 128 bytes of bytes by layer.
const _: () = {
    let ranges = 2 * unacknowledged::RANGES_MAX * size_of::<(u32, u32)>();
    assert!(size_of::<(TcpAnalysis, History)>() + ranges + history::LETTERS_MAX <= 1126);
    assert!(size_of::<Lengths>() + lengths::FIRST_BYTES_MAX <= 921);
    assert!(size_of::<Amounts>() <= 128);
};

/// The features of one open flow so far. Endpoint 0 and 1 are those of its key.
#[derive(Debug, Default)]
pub(super) struct FeatureCounts {
    tcp: Option<Box<(TcpAnalysis, History)>>,
    lengths: Option<Box<Lengths>>,
    names: Option<Box<ConversationNames>>,
    /// Names may still come; told here, so that the packets behind them do not fetch what was found.
    reads_names: bool,
    bytes: Option<Box<Amounts>>,
}

impl FeatureCounts {
    pub(super) fn new(set: FeatureSet) -> Self {
        FeatureCounts {
            tcp: set.tcp.then(Box::default),
            lengths: set.lengths.then(Box::default),
            names: set.names.then(Box::default),
            reads_names: set.names,
            bytes: set.bytes.then(Box::default),
        }
    }

    /// Counts a packet that an endpoint sent.
    pub(super) fn add(&mut self, from: usize, initiator: usize, packet: &Packet, captured: &[u8]) {
        if let Some(tcp) = &mut self.tcp {
            let (analysis, history) = tcp.as_mut();
            match segment_of(packet, captured) {
                Some(segment) => {
                    let findings = analysis.take(from, &segment);
                    history.take(from, initiator, &segment, findings);
                }
                None if packet.proto() == Some(proto::UDP) => {
                    history.take_datagram(from, initiator);
                }
                // Of a header that was cut, and of other protocols, there is no history.
                None => {}
            }
        }
        if let Some(lengths) = &mut self.lengths {
            lengths.add(from, initiator, packet);
        }
        if let Some(bytes) = &mut self.bytes {
            bytes.add(from, packet);
        }
    }

    /// Returns true if names may still come.
    pub(super) fn reads_names(&self) -> bool {
        self.reads_names
    }

    /// Reads the names in a packet of the initiator.
    pub(super) fn read_names(&mut self, packet: &Packet, captured: &[u8]) {
        if let Some(names) = &mut self.names {
            names.add(packet, captured);
            self.reads_names = !names.is_over();
        }
    }

    /// Bytes of a ClientHello that is not whole.
    pub(super) fn joined_bytes(&self) -> usize {
        self.names.as_ref().map_or(0, |names| names.memory_bytes())
    }

    /// Forgets those bytes, and looks for no more names.
    pub(super) fn stop_joining(&mut self) {
        if let Some(names) = &mut self.names {
            names.stop();
            self.reads_names = false;
        }
    }

    /// Bytes of memory that it has taken besides its own.
    pub(super) fn memory_bytes(&self) -> usize {
        let tcp = self.tcp.as_ref().map_or(0, |_| size_of::<(TcpAnalysis, History)>());
        let names = self
            .names
            .as_ref()
            .map_or(0, |names| size_of::<ConversationNames>() + names.memory_bytes());
        let lengths = self.lengths.as_ref().map_or(0, |_| size_of::<Lengths>());
        tcp + names + lengths + self.bytes.as_ref().map_or(0, |_| size_of::<Amounts>())
    }

    /// The features of the flow, which has ended.
    pub(super) fn finish(&self, initiator: usize, protocol: u8) -> FlowFeatures {
        let value = |field: &FlowField| self.value(*field, initiator & 1, protocol);
        let set = FeatureSet {
            tcp: self.tcp.is_some(),
            lengths: self.lengths.is_some(),
            names: self.names.is_some(),
            bytes: self.bytes.is_some(),
            labels: false,
        };
        FlowFeatures::new(set, FlowField::FEATURES.iter().map(value).collect())
    }

    fn value(&self, field: FlowField, initiator: usize, protocol: u8) -> FeatureValue {
        let set = FeatureSet::of([field]);
        match self {
            FeatureCounts { tcp: Some(tcp), .. } if set.tcp => {
                let (analysis, history) = tcp.as_ref();
                value_of_tcp(field, analysis, history, initiator, protocol)
            }
            FeatureCounts { lengths: Some(lengths), .. } if set.lengths => {
                lengths.value(field, initiator)
            }
            FeatureCounts { names: Some(names), .. } if set.names => name_of(field, names),
            FeatureCounts { bytes: Some(bytes), .. } if set.bytes => bytes.value(field, initiator),
            _ => FeatureValue::None,
        }
    }
}

fn name_of(field: FlowField, names: &ConversationNames) -> FeatureValue {
    let value = match field {
        FlowField::TlsSni => names.value(Field::TlsSni),
        FlowField::TlsVersion => names.value(Field::TlsVersion),
        FlowField::TlsAlpn => names.value(Field::TlsAlpn),
        FlowField::Ja4 => names.value(Field::Ja4),
        FlowField::DnsQuery => names.value(Field::DnsQuery),
        FlowField::HttpHost => names.value(Field::HttpHost),
        _ => Value::Null,
    };
    if let Value::Text(text) = value { FeatureValue::text(text) } else { FeatureValue::None }
}

/// The segment that a packet is.
fn segment_of(packet: &Packet, captured: &[u8]) -> Option<SegmentFacts> {
    if !packet.has(Field::TcpFlags) {
        return None;
    }
    let header = TcpHeader::of(packet, captured);
    Some(SegmentFacts {
        ts: packet.ts(),
        seq: packet.seq,
        ack: packet.ack,
        flags: packet.tcp_flags,
        len: packet.payload_len,
        window: header.map(|header| header.window),
        mss: header.and_then(|header| header.mss),
        window_scale: header.and_then(|header| header.window_scale),
    })
}

/// The value of a field about how a connection went.
fn value_of_tcp(
    field: FlowField,
    analysis: &TcpAnalysis,
    history: &History,
    initiator: usize,
    protocol: u8,
) -> FeatureValue {
    let is_tcp = protocol == proto::TCP;
    match field {
        FlowField::ConnState if is_tcp => FeatureValue::text(history.tcp_state(initiator)),
        FlowField::ConnState if protocol == proto::UDP => {
            FeatureValue::text(history.udp_state(initiator))
        }
        FlowField::ConnState => FeatureValue::text("OTH"),
        FlowField::History if history.letters().is_empty() => FeatureValue::None,
        FlowField::History => FeatureValue::text(history.letters()),
        _ if !is_tcp => FeatureValue::None,
        FlowField::Rtt => analysis.handshake()[0].into(),
        FlowField::RevRtt => analysis.handshake()[1].into(),
        FlowField::ClosedBy => analysis.closer().map_or(FeatureValue::None, |closer| {
            FeatureValue::text(if closer == initiator { "src" } else { "dst" })
        }),
        _ => value_of_direction(field, analysis, initiator),
    }
}

/// The value of a field that there is of each direction.
fn value_of_direction(field: FlowField, analysis: &TcpAnalysis, initiator: usize) -> FeatureValue {
    let (sent, came_back) = (analysis.counts(initiator), analysis.counts(1 - initiator));
    match field {
        FlowField::Retransmissions => sent.retransmissions.into(),
        FlowField::RevRetransmissions => came_back.retransmissions.into(),
        FlowField::RetransmittedBytes => sent.retransmitted_bytes.into(),
        FlowField::RevRetransmittedBytes => came_back.retransmitted_bytes.into(),
        FlowField::OutOfOrder => sent.out_of_order.into(),
        FlowField::RevOutOfOrder => came_back.out_of_order.into(),
        FlowField::LostSegments => sent.lost_segments.into(),
        FlowField::RevLostSegments => came_back.lost_segments.into(),
        FlowField::DuplicateAcks => sent.duplicate_acks.into(),
        FlowField::RevDuplicateAcks => came_back.duplicate_acks.into(),
        FlowField::ZeroWindows => sent.zero_windows.into(),
        FlowField::RevZeroWindows => came_back.zero_windows.into(),
        FlowField::MinWindow => sent.windows.map(|windows| windows.0).into(),
        FlowField::RevMinWindow => came_back.windows.map(|windows| windows.0).into(),
        FlowField::MaxWindow => sent.windows.map(|windows| windows.1).into(),
        FlowField::RevMaxWindow => came_back.windows.map(|windows| windows.1).into(),
        FlowField::Mss => sent.mss.map(u32::from).into(),
        FlowField::RevMss => came_back.mss.map(u32::from).into(),
        FlowField::WindowScale => sent.window_scale.map(u32::from).into(),
        FlowField::RevWindowScale => came_back.window_scale.map(u32::from).into(),
        _ => FeatureValue::None,
    }
}
