//! The fields of a packet: their names, types and units, in one table. Column names, `--fields`,
//! the JSON keys and the Ruby getters all come from here.

use std::net::IpAddr;

/// How a field's values are kept in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType {
    /// 8-bit unsigned number.
    U8,
    /// 16-bit unsigned number.
    U16,
    /// 32-bit unsigned number.
    U32,
    /// 64-bit unsigned number.
    U64,
    /// 64-bit signed number.
    I64,
    /// IP address in 16 bytes; IPv4 as `::ffff:a.b.c.d` (RFC 4291, section 2.5.5.2).
    Address,
}

impl FieldType {
    /// Its name, in small letters.
    pub const fn name(self) -> &'static str {
        match self {
            FieldType::U8 => "u8",
            FieldType::U16 => "u16",
            FieldType::U32 => "u32",
            FieldType::U64 => "u64",
            FieldType::I64 => "i64",
            FieldType::Address => "address",
        }
    }

    /// Bytes that one value takes in a column.
    pub const fn width(self) -> usize {
        match self {
            FieldType::U8 => 1,
            FieldType::U16 => 2,
            FieldType::U32 => 4,
            FieldType::U64 | FieldType::I64 => 8,
            FieldType::Address => 16,
        }
    }
}

/// One value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// The packet has no such field.
    Null,
    /// A number that is never negative.
    Unsigned(u64),
    /// A number that may be negative.
    Signed(i64),
    /// An IP address.
    Address(IpAddr),
}

/// Declares [`Field`] with, for each line, `Variant "name" Type "meaning"`. It expands to the enum,
/// [`Field::ALL`] in the same order, and the `match`es behind `name`, `field_type` and `meaning`.
macro_rules! fields {
    ($($variant:ident $name:literal $type:ident $meaning:literal;)*) => {
        /// A field of a packet.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Field {
            $(#[doc = $meaning] $variant,)*
        }

        impl Field {
            /// Every field, in the order of the documentation.
            pub const ALL: &'static [Field] = &[$(Field::$variant),*];

            /// The name it has in columns, JSON, `--fields` and Ruby.
            pub const fn name(self) -> &'static str {
                match self { $(Field::$variant => $name),* }
            }

            /// How its values are kept in a column.
            pub const fn field_type(self) -> FieldType {
                match self { $(Field::$variant => FieldType::$type),* }
            }

            /// What it is, with its unit.
            pub const fn meaning(self) -> &'static str {
                match self { $(Field::$variant => $meaning),* }
            }
        }
    };
}

fields! {
    Ts "ts" I64 "Time of capture, nanoseconds since 1970-01-01 00:00 UTC; null where the file keeps none.";
    SrcIp "src_ip" Address "Source address of the IP header.";
    DstIp "dst_ip" Address "Destination address of the IP header.";
    SrcPort "src_port" U16 "Source port of TCP, UDP or SCTP.";
    DstPort "dst_port" U16 "Destination port of TCP, UDP or SCTP.";
    Proto "proto" U8 "Protocol number after IP and its extension headers (IANA: 6 TCP, 17 UDP).";
    Length "length" U32 "Bytes of the frame on the wire.";
    Caplen "caplen" U32 "Bytes of the frame in the capture.";
    Vlan "vlan" U16 "VLAN id of the outermost tag before the IP header, 0 to 4095.";
    Ttl "ttl" U8 "Time to live (IPv4) or hop limit (IPv6).";
    TcpFlags "tcp_flags" U16 "The 12 flag bits of TCP (0x002 SYN, 0x010 ACK).";
    PayloadLen "payload_len" U32 "Bytes of payload after the TCP, UDP or SCTP header, as the headers state them.";
    Number "number" U64 "Number of the packet in its capture, from 1.";
    Status "status" U16 "Bits that say what is unusual about the packet; see the table of status bits.";
    LinkType "link_type" U16 "Link-layer type of the frame (LINKTYPE_ number, 1 Ethernet).";
    Ethertype "ethertype" U16 "EtherType that the link layer ends in, after VLAN tags.";
    IpVersion "ip_version" U8 "4 or 6.";
    IpLen "ip_len" U32 "Bytes of the IP packet as its header states them.";
    FragOffset "frag_offset" U16 "Offset of the fragment in bytes; null where the packet is whole.";
    Seq "seq" U32 "TCP sequence number as on the wire.";
    Ack "ack" U32 "TCP acknowledgement number as on the wire.";
    IcmpType "icmp_type" U8 "Type of ICMP or ICMPv6.";
    IcmpCode "icmp_code" U8 "Code of ICMP or ICMPv6.";
    ArpOp "arp_op" U16 "ARP operation (1 request, 2 reply).";
    ArpSrcIp "arp_src_ip" Address "Sender's protocol address in ARP over IPv4.";
    ArpDstIp "arp_dst_ip" Address "Target's protocol address in ARP over IPv4.";
}

impl Field {
    /// The columns that `packets` prints when it is not told which.
    pub const DEFAULT: &'static [Field] = &[
        Field::Ts,
        Field::SrcIp,
        Field::DstIp,
        Field::SrcPort,
        Field::DstPort,
        Field::Proto,
        Field::Length,
        Field::Caplen,
        Field::Vlan,
        Field::Ttl,
        Field::TcpFlags,
        Field::PayloadLen,
    ];

    /// The field of that name.
    pub fn named(name: &str) -> Option<Field> {
        Field::ALL.iter().copied().find(|field| field.name() == name)
    }

    /// Its bit in a [`FieldSet`].
    #[inline]
    pub(crate) const fn bit(self) -> u32 {
        1 << self as u8
    }
}

/// A set of fields, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FieldSet(pub(crate) u32);

impl FieldSet {
    /// The fields that every packet has.
    pub(crate) const ALWAYS: FieldSet = FieldSet(
        Field::Number.bit()
            | Field::Length.bit()
            | Field::Caplen.bit()
            | Field::LinkType.bit()
            | Field::Status.bit(),
    );

    /// The fields that an IP header and what follows it give.
    pub(crate) const IP_AND_ABOVE: FieldSet = FieldSet(
        Field::SrcIp.bit()
            | Field::DstIp.bit()
            | Field::SrcPort.bit()
            | Field::DstPort.bit()
            | Field::Proto.bit()
            | Field::Ttl.bit()
            | Field::TcpFlags.bit()
            | Field::PayloadLen.bit()
            | Field::IpVersion.bit()
            | Field::IpLen.bit()
            | Field::FragOffset.bit()
            | Field::Seq.bit()
            | Field::Ack.bit()
            | Field::IcmpType.bit()
            | Field::IcmpCode.bit(),
    );

    /// The set of `fields`.
    pub fn of(fields: &[Field]) -> Self {
        FieldSet(fields.iter().fold(0, |bits, field| bits | field.bit()))
    }

    /// Whether `field` is in the set.
    #[inline]
    pub const fn contains(self, field: Field) -> bool {
        self.0 & field.bit() != 0
    }

    /// What every whole IP header gives.
    pub(crate) const IP_HEADER: FieldSet = FieldSet(
        Field::SrcIp.bit()
            | Field::DstIp.bit()
            | Field::IpVersion.bit()
            | Field::Ttl.bit()
            | Field::IpLen.bit(),
    );

    /// What TCP, UDP and SCTP begin with.
    pub(crate) const PORTS: FieldSet = FieldSet(Field::SrcPort.bit() | Field::DstPort.bit());

    /// Puts `field` in the set.
    #[inline]
    pub(crate) fn insert(&mut self, field: Field) {
        self.0 |= field.bit();
    }

    /// The fields of both sets.
    #[inline]
    pub(crate) const fn union(self, other: FieldSet) -> FieldSet {
        FieldSet(self.0 | other.0)
    }

    /// Puts the fields of `other` in the set.
    #[inline]
    pub(crate) fn insert_all(&mut self, other: FieldSet) {
        self.0 |= other.0;
    }

    /// Takes the fields of `other` out of the set.
    #[inline]
    pub(crate) fn remove(&mut self, other: FieldSet) {
        self.0 &= !other.0;
    }
}
