//! The fields of a flow: their names, types and units, in one table. `--json` keys, CSV columns and
//! the getters of every face come from here.

use super::features::FeatureSet;
use crate::batch::DataType;
use crate::batch::schema::record_fields;
use crate::packet::PROTOCOLS;

record_fields! { "A field of a flow." "flows" FlowField {
    Ts "ts" optional DataType::TimeNs, "Time of the earliest packet, nanoseconds since 1970-01-01 00:00 UTC; null where the capture keeps none.";
    SrcIp "src_ip" required DataType::Address, "Address of the initiator, the side that sent the first packet seen.";
    DstIp "dst_ip" required DataType::Address, "Address of the other side.";
    SrcPort "src_port" optional DataType::U16, "The initiator's port of TCP, UDP or SCTP; null for other protocols and fragments without their first one.";
    DstPort "dst_port" optional DataType::U16, "The other side's port of TCP, UDP or SCTP; null for other protocols and fragments without their first one.";
    Proto "proto" required DataType::Enumeration(&PROTOCOLS), "Protocol number after IP and its extension headers (IANA: 6 TCP, 17 UDP).";
    Packets "packets" required DataType::U64, "Packets from the initiator.";
    Bytes "bytes" required DataType::U64, "Bytes of the frames from the initiator, as on the wire.";
    RevPackets "rev_packets" required DataType::U64, "Packets back to the initiator.";
    RevBytes "rev_bytes" required DataType::U64, "Bytes of the frames back to the initiator, as on the wire.";
    Duration "duration" optional DataType::DurationUs, "Time from the earliest to the latest packet, microseconds; null where the capture keeps no times.";
    TcpFlags "tcp_flags" optional DataType::TcpFlags, "The TCP flags of all packets from the initiator, OR-ed (0x002 SYN, 0x010 ACK); null where it is not TCP.";
    RevTcpFlags "rev_tcp_flags" optional DataType::TcpFlags, "The TCP flags of all packets back to the initiator, OR-ed; null where it is not TCP or none came back.";
    CommunityId "community_id" required DataType::Text, "Community ID v1 of the flow, with seed 0.";
    Rtt "rtt" optional DataType::DurationUs, "Round trip between the recorder and the other side: from the initiator's SYN to the SYN-ACK, microseconds; null without both.";
    RevRtt "rev_rtt" optional DataType::DurationUs, "Round trip between the recorder and the initiator: from the SYN-ACK to the ACK, microseconds; null without both.";
    Retransmissions "retransmissions" optional DataType::U64, "TCP segments from the initiator that were sent again, as tshark's tcp.analysis.retransmission tells them.";
    RevRetransmissions "rev_retransmissions" optional DataType::U64, "TCP segments back to the initiator that were sent again.";
    RetransmittedBytes "retransmitted_bytes" optional DataType::U64, "Payload bytes of the initiator's segments that were sent again.";
    RevRetransmittedBytes "rev_retransmitted_bytes" optional DataType::U64, "Payload bytes of the segments back to the initiator that were sent again.";
    OutOfOrder "out_of_order" optional DataType::U64, "TCP segments from the initiator that came behind later ones, as tshark's tcp.analysis.out_of_order tells them.";
    RevOutOfOrder "rev_out_of_order" optional DataType::U64, "TCP segments back to the initiator that came behind later ones.";
    LostSegments "lost_segments" optional DataType::U64, "Gaps in front of the initiator's TCP segments: what was sent before was not captured, or came later (tcp.analysis.lost_segment).";
    RevLostSegments "rev_lost_segments" optional DataType::U64, "Gaps in front of the TCP segments back to the initiator.";
    DuplicateAcks "duplicate_acks" optional DataType::U64, "TCP segments from the initiator that only repeat its last acknowledgement (tcp.analysis.duplicate_ack).";
    RevDuplicateAcks "rev_duplicate_acks" optional DataType::U64, "TCP segments back to the initiator that only repeat the last acknowledgement.";
    ZeroWindows "zero_windows" optional DataType::U64, "TCP segments from the initiator that close its window (tcp.analysis.zero_window).";
    RevZeroWindows "rev_zero_windows" optional DataType::U64, "TCP segments back to the initiator that close the window.";
    MinWindow "min_window" optional DataType::U32, "Smallest window that the initiator announced, bytes, scaled where the handshake was captured.";
    RevMinWindow "rev_min_window" optional DataType::U32, "Smallest window that the other side announced, bytes.";
    MaxWindow "max_window" optional DataType::U32, "Largest window that the initiator announced, bytes, scaled where the handshake was captured.";
    RevMaxWindow "rev_max_window" optional DataType::U32, "Largest window that the other side announced, bytes.";
    Mss "mss" optional DataType::U16, "Maximum segment size that the initiator takes, by its SYN, bytes.";
    RevMss "rev_mss" optional DataType::U16, "Maximum segment size that the other side takes, by its SYN, bytes.";
    WindowScale "window_scale" optional DataType::U8, "Shift of the initiator's windows, by its SYN.";
    RevWindowScale "rev_window_scale" optional DataType::U8, "Shift of the other side's windows, by its SYN.";
    ClosedBy "closed_by" optional DataType::Text, "The side that sent the first FIN or RST: src, the initiator, or dst; null where none did.";
    ConnState "conn_state" optional DataType::Text, "State of the connection in Zeek's letters: S0 no answer, S1 open, SF closed by both, REJ refused, RSTO and RSTR reset, OTH no handshake.";
    History "history" optional DataType::Text, "History of the connection in Zeek's letters, large from the initiator: S SYN, H SYN-ACK, A ACK, D data, F FIN, R RST, G gap, T sent again.";
    MinLength "min_length" optional DataType::U32, "Smallest length of the initiator's packets, bytes on the wire.";
    MaxLength "max_length" optional DataType::U32, "Largest length of the initiator's packets, bytes on the wire.";
    MeanLength "mean_length" optional DataType::Double, "Mean length of the initiator's packets, bytes on the wire.";
    StdLength "std_length" optional DataType::Double, "Standard deviation of the length of the initiator's packets, bytes on the wire, of a sample; null of fewer than two.";
    RevMinLength "rev_min_length" optional DataType::U32, "Smallest length of the packets back to the initiator, bytes on the wire.";
    RevMaxLength "rev_max_length" optional DataType::U32, "Largest length of the packets back to the initiator, bytes on the wire.";
    RevMeanLength "rev_mean_length" optional DataType::Double, "Mean length of the packets back to the initiator, bytes on the wire.";
    RevStdLength "rev_std_length" optional DataType::Double, "Standard deviation of the length of the packets back to the initiator, bytes on the wire, of a sample; null of fewer than two.";
    MinPayload "min_payload" optional DataType::U32, "Smallest payload of the initiator's packets that carry any, bytes.";
    MaxPayload "max_payload" optional DataType::U32, "Largest payload of the initiator's packets that carry any, bytes.";
    MeanPayload "mean_payload" optional DataType::Double, "Mean payload of the initiator's packets that carry any, bytes.";
    StdPayload "std_payload" optional DataType::Double, "Standard deviation of the payload of the initiator's packets that carry any, bytes, of a sample; null of fewer than two.";
    RevMinPayload "rev_min_payload" optional DataType::U32, "Smallest payload of the packets back to the initiator that carry any, bytes.";
    RevMaxPayload "rev_max_payload" optional DataType::U32, "Largest payload of the packets back to the initiator that carry any, bytes.";
    RevMeanPayload "rev_mean_payload" optional DataType::Double, "Mean payload of the packets back to the initiator that carry any, bytes.";
    RevStdPayload "rev_std_payload" optional DataType::Double, "Standard deviation of the payload of the packets back to the initiator that carry any, bytes, of a sample; null of fewer than two.";
    MinGap "min_gap" optional DataType::DurationUs, "Smallest time between two packets of the initiator, microseconds.";
    MaxGap "max_gap" optional DataType::DurationUs, "Largest time between two packets of the initiator, microseconds.";
    MeanGap "mean_gap" optional DataType::Double, "Mean time between two packets of the initiator, microseconds.";
    StdGap "std_gap" optional DataType::Double, "Standard deviation of the time between two packets of the initiator, microseconds, of a sample; null of fewer than two.";
    RevMinGap "rev_min_gap" optional DataType::DurationUs, "Smallest time between two packets back to the initiator, microseconds.";
    RevMaxGap "rev_max_gap" optional DataType::DurationUs, "Largest time between two packets back to the initiator, microseconds.";
    RevMeanGap "rev_mean_gap" optional DataType::Double, "Mean time between two packets back to the initiator, microseconds.";
    RevStdGap "rev_std_gap" optional DataType::Double, "Standard deviation of the time between two packets back to the initiator, microseconds, of a sample; null of fewer than two.";
    SpltLengths "splt_lengths" optional DataType::Text, "Lengths of the first 20 packets, bytes on the wire, with commas between them, negative those back to the initiator.";
    SpltGaps "splt_gaps" optional DataType::Text, "Microseconds from the packet before to each of the first 20 packets, with commas between them; the first is empty.";
    TlsSni "tls_sni" optional DataType::Text, "Server name in the initiator's TLS ClientHello, over TCP or QUIC.";
    TlsVersion "tls_version" optional DataType::Text, "Highest version of TLS that the ClientHello offers, such as 1.3.";
    TlsAlpn "tls_alpn" optional DataType::Text, "Protocols that the ClientHello offers (ALPN), with commas between them.";
    Ja4 "ja4" optional DataType::Text, "JA4 fingerprint of the ClientHello, which may come in several packets.";
    DnsQuery "dns_query" optional DataType::Text, "Name in the first DNS question of the initiator over UDP.";
    HttpHost "http_host" optional DataType::Text, "Host header of the initiator's first HTTP/1 request.";
    IpBytes "ip_bytes" optional DataType::U64, "Bytes of the initiator's IP packets, as their headers state them.";
    RevIpBytes "rev_ip_bytes" optional DataType::U64, "Bytes of the IP packets back to the initiator, as their headers state them.";
    PayloadBytes "payload_bytes" optional DataType::U64, "Bytes after the headers of TCP, UDP or SCTP from the initiator, those that were sent again too; null of other protocols.";
    RevPayloadBytes "rev_payload_bytes" optional DataType::U64, "Bytes after the headers of TCP, UDP or SCTP back to the initiator.";
    StreamBytes "stream_bytes" optional DataType::U64, "Bytes of the initiator's TCP stream by its sequence numbers: each once, and those that were not captured too.";
    RevStreamBytes "rev_stream_bytes" optional DataType::U64, "Bytes of the TCP stream back to the initiator by its sequence numbers.";
    SrcLabel "src_label" optional DataType::Text, "Label of the initiator's address, by the file of the option label; null without one.";
    DstLabel "dst_label" optional DataType::Text, "Label of the other side's address, by the same file.";
} }

/// The first of the fields that are features.
const FIRST_FEATURE: usize = FlowField::Rtt as usize;

/// The first of the fields about lengths and times between packets; those before are about TCP and its states.
const FIRST_OF_LENGTHS: usize = FlowField::MinLength as usize;

/// The first of the names.
const FIRST_OF_NAMES: usize = FlowField::TlsSni as usize;

/// The first of the bytes by layer.
const FIRST_OF_BYTES: usize = FlowField::IpBytes as usize;

/// The first of the labels.
const FIRST_OF_LABELS: usize = FlowField::SrcLabel as usize;

impl FlowField {
    /// The fields that `flows` gives when it is not told which: those that every flow has.
    pub const DEFAULT: &'static [FlowField] = FlowField::ALL.split_at(FIRST_FEATURE).0;

    /// The fields that are counted where somebody asks for them.
    pub const FEATURES: &'static [FlowField] = FlowField::ALL.split_at(FIRST_FEATURE).1;

    /// The set of features that it is of; none for the fields that every flow has.
    pub(super) fn feature_set(self) -> FeatureSet {
        let place = self as usize;
        FeatureSet {
            tcp: (FIRST_FEATURE..FIRST_OF_LENGTHS).contains(&place),
            lengths: (FIRST_OF_LENGTHS..FIRST_OF_NAMES).contains(&place),
            names: (FIRST_OF_NAMES..FIRST_OF_BYTES).contains(&place),
            bytes: (FIRST_OF_BYTES..FIRST_OF_LABELS).contains(&place),
            labels: place >= FIRST_OF_LABELS,
        }
    }

    /// The place among the features.
    pub(super) fn feature_place(self) -> Option<usize> {
        (self as usize).checked_sub(FIRST_FEATURE)
    }

    /// The fields of flows of which these features are counted: those that every flow has, and the features.
    pub fn counted(features: FeatureSet) -> Vec<FlowField> {
        let is_counted = |field: &FlowField| features.has(field.feature_set());
        FlowField::ALL.iter().copied().filter(is_counted).collect()
    }
}
