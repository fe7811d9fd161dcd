//! The fields of a flow: their names, types and units, in one table. `--json` keys, CSV columns and
//! the getters of every face come from here.

use crate::packet::FieldType;

/// How a field's values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowFieldType {
    /// Values of one width, as in the columns of packets.
    Fixed(FieldType),
    /// Text in ASCII.
    Text,
}

/// Declares [`FlowField`] with, for each line, `Variant "name" Type "meaning"`. It expands to the
/// enum, [`FlowField::ALL`] in the same order, and the `match`es behind `name`, `field_type` and
/// `meaning`.
macro_rules! fields {
    ($($variant:ident $name:literal $type:expr, $meaning:literal;)*) => {
        /// A field of a flow.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum FlowField {
            $(#[doc = $meaning] $variant,)*
        }

        impl FlowField {
            /// Every field, in the order of the documentation.
            pub const ALL: &'static [FlowField] = &[$(FlowField::$variant),*];

            /// The name it has in JSON, CSV, `--fields` and Ruby.
            pub const fn name(self) -> &'static str {
                match self { $(FlowField::$variant => $name),* }
            }

            /// How its values are kept.
            pub const fn field_type(self) -> FlowFieldType {
                match self { $(FlowField::$variant => $type),* }
            }

            /// What it is, with its unit.
            pub const fn meaning(self) -> &'static str {
                match self { $(FlowField::$variant => $meaning),* }
            }
        }
    };
}

use FlowFieldType::{Fixed, Text};

fields! {
    Ts "ts" Fixed(FieldType::I64), "Time of the earliest packet, nanoseconds since 1970-01-01 00:00 UTC; null where the capture keeps none.";
    SrcIp "src_ip" Fixed(FieldType::Address), "Address of the initiator, the side that sent the first packet seen.";
    DstIp "dst_ip" Fixed(FieldType::Address), "Address of the other side.";
    SrcPort "src_port" Fixed(FieldType::U16), "The initiator's port of TCP, UDP or SCTP; null for other protocols and later fragments.";
    DstPort "dst_port" Fixed(FieldType::U16), "The other side's port of TCP, UDP or SCTP; null for other protocols and later fragments.";
    Proto "proto" Fixed(FieldType::U8), "Protocol number after IP and its extension headers (IANA: 6 TCP, 17 UDP).";
    Packets "packets" Fixed(FieldType::U64), "Packets from the initiator.";
    Bytes "bytes" Fixed(FieldType::U64), "Bytes of the frames from the initiator, as on the wire.";
    RevPackets "rev_packets" Fixed(FieldType::U64), "Packets back to the initiator.";
    RevBytes "rev_bytes" Fixed(FieldType::U64), "Bytes of the frames back to the initiator, as on the wire.";
    Duration "duration" Fixed(FieldType::U64), "Time from the earliest to the latest packet, microseconds; null where the capture keeps no times.";
    TcpFlags "tcp_flags" Fixed(FieldType::U16), "The TCP flags of all packets from the initiator, OR-ed (0x002 SYN, 0x010 ACK); null where it is not TCP.";
    RevTcpFlags "rev_tcp_flags" Fixed(FieldType::U16), "The TCP flags of all packets back to the initiator, OR-ed; null where it is not TCP or none came back.";
    CommunityId "community_id" Text, "Community ID v1 of the flow, with seed 0.";
}

impl FlowField {
    /// The fields that `flows` prints when it is not told which: all of them.
    pub const DEFAULT: &'static [FlowField] = FlowField::ALL;

    /// The field of that name.
    pub fn named(name: &str) -> Option<FlowField> {
        FlowField::ALL.iter().copied().find(|field| field.name() == name)
    }
}
