//! The fields of a packet: their names, types and units, in one table. Column names, `--fields`,
//! the JSON keys and the Ruby getters all come from here.

use crate::batch::schema::record_fields;
use crate::batch::{DataType, Enumeration};

/// Protocols after IP that people know by their names (IANA).
pub static PROTOCOLS: Enumeration = Enumeration {
    names: &[
        (1, "icmp"),
        (2, "igmp"),
        (4, "ipip"),
        (6, "tcp"),
        (17, "udp"),
        (41, "ipv6"),
        (47, "gre"),
        (50, "esp"),
        (51, "ah"),
        (58, "icmpv6"),
        (89, "ospf"),
        (112, "vrrp"),
        (132, "sctp"),
    ],
    is_closed: false,
};

/// Response codes of DNS (RFC 1035, section 4.1.1, and RFC 2136, section 2.2).
static DNS_RCODES: Enumeration = Enumeration {
    names: &[
        (0, "noerror"),
        (1, "formerr"),
        (2, "servfail"),
        (3, "nxdomain"),
        (4, "notimp"),
        (5, "refused"),
        (6, "yxdomain"),
        (7, "yxrrset"),
        (8, "nxrrset"),
        (9, "notauth"),
        (10, "notzone"),
    ],
    is_closed: false,
};

record_fields! { "A field of a packet." "packets" Field {
    Ts "ts" optional DataType::TimeNs, "Time of capture, nanoseconds since 1970-01-01 00:00 UTC; null where the file keeps none.";
    SrcIp "src_ip" optional DataType::Address, "Source address of the IP header.";
    DstIp "dst_ip" optional DataType::Address, "Destination address of the IP header.";
    SrcPort "src_port" optional DataType::U16, "Source port of TCP, UDP or SCTP.";
    DstPort "dst_port" optional DataType::U16, "Destination port of TCP, UDP or SCTP.";
    Proto "proto" optional DataType::Enumeration(&PROTOCOLS), "Protocol number after IP and its extension headers (IANA: 6 TCP, 17 UDP).";
    Length "length" required DataType::U32, "Bytes of the frame on the wire.";
    Caplen "caplen" required DataType::U32, "Bytes of the frame in the capture.";
    Vlan "vlan" optional DataType::U16, "VLAN id of the outermost tag before the IP header, 0 to 4095.";
    Ttl "ttl" optional DataType::U8, "Time to live (IPv4) or hop limit (IPv6).";
    TcpFlags "tcp_flags" optional DataType::TcpFlags, "The 12 flag bits of TCP (0x002 SYN, 0x010 ACK).";
    PayloadLen "payload_len" optional DataType::U32, "Bytes of payload after the TCP, UDP or SCTP header, as the headers state them.";
    Number "number" required DataType::U64, "Number of the packet in its capture, from 1.";
    Status "status" required DataType::U16, "Bits that say what is unusual about the packet; see the table of status bits.";
    LinkType "link_type" required DataType::U16, "Link-layer type of the frame (LINKTYPE_ number, 1 Ethernet).";
    Ethertype "ethertype" optional DataType::U16, "EtherType that the link layer ends in, after VLAN tags.";
    IpVersion "ip_version" optional DataType::U8, "4 or 6.";
    IpLen "ip_len" optional DataType::U32, "Bytes of the IP packet as its header states them.";
    FragOffset "frag_offset" optional DataType::U16, "Offset of the fragment in bytes; null where the packet is whole.";
    Seq "seq" optional DataType::U32, "TCP sequence number as on the wire.";
    Ack "ack" optional DataType::U32, "TCP acknowledgement number as on the wire.";
    IcmpType "icmp_type" optional DataType::U8, "Type of ICMP or ICMPv6.";
    IcmpCode "icmp_code" optional DataType::U8, "Code of ICMP or ICMPv6.";
    ArpOp "arp_op" optional DataType::U16, "ARP operation (1 request, 2 reply).";
    ArpSrcIp "arp_src_ip" optional DataType::Address, "Sender's protocol address in ARP over IPv4.";
    ArpDstIp "arp_dst_ip" optional DataType::Address, "Target's protocol address in ARP over IPv4.";
    SrcMac "src_mac" optional DataType::Text, "Source MAC address of the link layer, as aa:bb:cc:dd:ee:ff.";
    DstMac "dst_mac" optional DataType::Text, "Destination MAC address of the link layer, as aa:bb:cc:dd:ee:ff.";
    Interface "interface" optional DataType::U32, "Number of the interface in its section of a pcapng file, from 0; null in pcap.";
    InterfaceName "interface_name" optional DataType::Text, "Name of that interface; null where the file keeps none.";
    DnsQuery "dns_query" optional DataType::Text, "Name in the first question of a DNS message over UDP, or over TCP if the segment has all of it.";
    DnsType "dns_type" optional DataType::U16, "Type of that question (IANA: 1 A, 28 AAAA, 65 HTTPS).";
    DnsId "dns_id" optional DataType::U16, "Identification of the DNS message, the same in a query and its response.";
    DnsIsResponse "dns_is_response" optional DataType::Bool, "True of a DNS response, false of a query.";
    DnsRcode "dns_rcode" optional DataType::Enumeration(&DNS_RCODES), "Response code of a DNS response (IANA: 0 no error, 3 no such name); null for a query.";
    DnsAnswers "dns_answers" optional DataType::Text, "Addresses in the answers of the DNS message, with commas between them.";
    DnsAnswerNames "dns_answer_names" optional DataType::Text, "Names in the answers of the DNS message (CNAME and PTR), with commas between them; at most 255 bytes, … in place of the rest.";
    TlsSni "tls_sni" optional DataType::Text, "Server name in a TLS ClientHello that the packet begins, over TCP or in an Initial packet of QUIC.";
    HttpHost "http_host" optional DataType::Text, "Host header of an HTTP/1 request that the packet begins.";
    HttpMethod "http_method" optional DataType::Text, "Method of that request, such as GET.";
    HttpPath "http_path" optional DataType::Text, "Target of that request, the path with its query; at most 255 bytes, a longer one is cut and ends in ….";
    HttpUserAgent "http_user_agent" optional DataType::Text, "User-Agent header of that request; at most 255 bytes, as the path.";
    HttpStatus "http_status" optional DataType::U16, "Status code of an HTTP/1 response that the packet begins (IANA: 200 OK, 404 not found).";
    TlsVersion "tls_version" optional DataType::Text, "Highest version of TLS that the ClientHello offers, such as 1.3.";
    TlsAlpn "tls_alpn" optional DataType::Text, "Protocols that the ClientHello offers (ALPN), with commas between them.";
    Ja4 "ja4" optional DataType::Text, "JA4 fingerprint of the ClientHello; null where the packet does not have all of it.";
    SrcLabel "src_label" optional DataType::Text, "Label of the source address, by the file of the option label; null without one.";
    DstLabel "dst_label" optional DataType::Text, "Label of the destination address, by the same file.";
} }

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

    /// Returns true if a [`Packet`](super::Packet) holds it. The others are read from its [`Frame`](super::Frame) when
    /// they are asked for.
    pub const fn is_in_packet(self) -> bool {
        (self as u8) < Field::SrcMac as u8
    }

    /// Its bit in a [`FieldSet`]; none where no packet holds it.
    #[inline]
    pub(crate) const fn bit(self) -> u32 {
        if self.is_in_packet() { 1 << self as u8 } else { 0 }
    }
}

/// A set of fields that a packet holds, one bit each.
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

    /// Returns true if `field` is in the set.
    #[inline]
    pub const fn contains(self, field: Field) -> bool {
        self.0 & field.bit() != 0
    }

    /// Fields that every whole IP header gives.
    pub(crate) const IP_HEADER: FieldSet = FieldSet(
        Field::SrcIp.bit()
            | Field::DstIp.bit()
            | Field::IpVersion.bit()
            | Field::Ttl.bit()
            | Field::IpLen.bit(),
    );

    /// Fields that TCP, UDP and SCTP begin with.
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

    /// The fields that are in both sets.
    #[inline]
    pub(crate) const fn and(self, other: FieldSet) -> FieldSet {
        FieldSet(self.0 & other.0)
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
