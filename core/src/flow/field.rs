//! The fields of a flow: their names, types and units, in one table. `--json` keys, CSV columns and
//! the getters of every face come from here.

use crate::batch::DataType;
use crate::batch::schema::record_fields;
use crate::packet::PROTOCOLS;

record_fields! { "A field of a flow." "flows" FlowField {
    Ts "ts" optional DataType::TimeNs, "Time of the earliest packet, nanoseconds since 1970-01-01 00:00 UTC; null where the capture keeps none.";
    SrcIp "src_ip" required DataType::Address, "Address of the initiator, the side that sent the first packet seen.";
    DstIp "dst_ip" required DataType::Address, "Address of the other side.";
    SrcPort "src_port" optional DataType::U16, "The initiator's port of TCP, UDP or SCTP; null for other protocols and later fragments.";
    DstPort "dst_port" optional DataType::U16, "The other side's port of TCP, UDP or SCTP; null for other protocols and later fragments.";
    Proto "proto" required DataType::Enumeration(&PROTOCOLS), "Protocol number after IP and its extension headers (IANA: 6 TCP, 17 UDP).";
    Packets "packets" required DataType::U64, "Packets from the initiator.";
    Bytes "bytes" required DataType::U64, "Bytes of the frames from the initiator, as on the wire.";
    RevPackets "rev_packets" required DataType::U64, "Packets back to the initiator.";
    RevBytes "rev_bytes" required DataType::U64, "Bytes of the frames back to the initiator, as on the wire.";
    Duration "duration" optional DataType::DurationUs, "Time from the earliest to the latest packet, microseconds; null where the capture keeps no times.";
    TcpFlags "tcp_flags" optional DataType::TcpFlags, "The TCP flags of all packets from the initiator, OR-ed (0x002 SYN, 0x010 ACK); null where it is not TCP.";
    RevTcpFlags "rev_tcp_flags" optional DataType::TcpFlags, "The TCP flags of all packets back to the initiator, OR-ed; null where it is not TCP or none came back.";
    CommunityId "community_id" required DataType::Text, "Community ID v1 of the flow, with seed 0.";
} }

impl FlowField {
    /// The fields that `flows` prints when it is not told which: all of them.
    pub const DEFAULT: &'static [FlowField] = FlowField::ALL;
}
