//! Reasons for differences from tshark: one rule per kind, below the comment that is its row in `docs/tshark.md`.

use bytewright::capture::Record;
use bytewright::packet::{Packet, Status};

use super::compare::{Difference, transport_name};
use super::oracle::{Answer, Row, Verdict};

/// A packet that differs, with all there is to tell why.
pub(crate) struct Case<'a> {
    pub(crate) answer: &'a Answer,
    pub(crate) record: &'a Record<'a>,
    pub(crate) packet: &'a Packet,
    pub(crate) row: &'a Row,
}

// Row (tshark-files): PcapPlusPlus/solaris.snoop | 250 packets | an error that names the format | We read pcap and
// pcapng.
const SNOOP: &str = "snoop";

// Row (tshark-files): tcpdump/brcm-tag.pcap | refuses the file | 23 packets with their frame columns | tshark 4.0 gives
// up where it has no dissector for link types 132, 164, 182, 281, 284, 285; lengths and times need none.
const UNKNOWN_TO_TSHARK: &str = "link type unknown to tshark";

// Row (tshark-files): pcapng-test-generator/test017.pcapng, packet 1 | a packet of the protocol `data` | no packet | A
// custom block is not a packet. Our packet numbers are below tshark's behind one.
pub(crate) const CUSTOM_BLOCK: &str = "custom block";

/// The name of a kind of difference, and when it applies.
type Rule = (&'static str, fn(&Case<'_>, &Difference) -> bool);

/// The rules for single packets. The first that applies explains.
const RULES: &[Rule] = &[
    // Row (tshark-frames): nDPI/someip_sd_sample.pcap, packet 1 | source 192.168.88.73 | null, status `unknown_link` |
    // PPI, frame relay, 802.11, USB, SunATM and others have frame columns only.
    ("link type not decoded", |_, difference| difference.field == "any header"),
    // Row (tshark-files): PcapPlusPlus/igmplayer, packet 2 | 6,160,385 bytes on the wire | 46 bytes | The file is
    // damaged behind its first packet. tshark takes it for Kuznetsov's variant, whose magic number it does not have.
    // This is the one rule that names a file: a guess has no cause to compute.
    ("modified pcap by heuristics", |case, _| case.answer.file == "PcapPlusPlus/igmplayer"),
    // Row (tshark-frames): nDPI/fuzz-2021-06-07-c6c72a0a56.pcap, packet 1 | 2,147,483,647 bytes | 4,093,509,168 bytes |
    // tshark keeps lengths in 31 bits. An IP packet without a length of its own takes it from the frame.
    ("length above 2^31", is_length_above_31_bits),
    // Row (tshark-frames): tcpdump/timestamp_invalid_micro.pcap, packet 3 | 1418145370.000000000 |
    // 1418147517.483648000, status `bad_time` | tshark multiplies in 32 bits. We keep seconds and fraction as they are
    // and say that it cannot be right.
    ("fraction of a second above a second", is_fraction_above_a_second),
    // Row (tshark-frames): PcapPlusPlus/pcapng-example.pcapng, packet 60 | 18446744073204.126329000 | null, status
    // `bad_time` | Times are 64-bit nanoseconds, which end in the year 2262.
    ("time beyond 2^63 nanoseconds", is_time_beyond_63_bits),
    // Row (tshark-frames): tcpdump/802.1ad_QinQ.pcap, packet 1 | VLAN 2001 | VLAN 200 | The id of an outer tag of type
    // 0x88a8 is another field in tshark, `ieee8021ad.id`; `vlan` is the outermost tag of any type.
    ("outer tag 802.1ad", is_outer_tag_802_1ad),
    // Row (tshark-frames): tcpdump/macsec-integonly.pcap, packet 1 | source 192.168.113.1 | null, EtherType 0x88e5 |
    // MACsec, NSH, provider backbone bridges and FabricPath are told by EtherType and not followed.
    ("header type not decoded", is_header_type_not_decoded),
    // Row (tshark-frames): PcapPlusPlus/MplsPackets.pcap, packet 2 | source 192.168.1.2 | null | Nothing behind an MPLS
    // stack says what follows. tshark guesses Ethernet; we take IP where its version stands there, and else nothing.
    ("Ethernet pseudo-wire", is_pseudo_wire),
    // Row (tshark-frames): tcpdump/arp-oobr.pcap, packet 170 | null | sender 0.0.0.0, status `truncated` | With
    // hardware addresses of 22 bytes the frame holds the sender and not the target. tshark tells both or none.
    ("ARP addresses cut off", is_arp_cut_off),
    // Row (tshark-headers): tcpdump/LINKTYPE_IPV6_invalid.pcap, packet 1 | null | source 192.168.1.100 | IPv4 under the
    // link type of IPv6. The version in the packet tells, whatever led there.
    ("IP version against the link type", is_version_against_link_type),
    // Row (tshark-headers): PcapPlusPlus/ipv4-malformed.pcap, packet 1 | length 11 | null, status `bad_header` | A
    // header length below 20, or a total length below the header: none of its fields is trusted. tshark tells those
    // that it came by.
    ("bad IP header", is_bad_ip_header),
    // Row (tshark-headers): zeek/ip6-trunc.pcap, packet 1 | source 2001:4f8:4:7:2e0:81ff:fe52:ffff | null, status
    // `truncated` | Addresses come in pairs: of a cut header nothing is told.
    ("IP header cut off", is_ip_header_cut_off),
    // Row (tshark-headers): PcapPlusPlus/ipv4-options.pcap, packet 6 | destination 0.0.0.0 | destination 10.0.0.138 |
    // tshark shows the last hop of a source route as the destination. We show the header's own.
    ("source route", is_source_route),
    // Row (tshark-headers): PcapPlusPlus/ip-frag.pcap, packet 445 | UDP length 8,320 | payload of 1,472 bytes, status
    // `fragment` | The UDP header states the whole datagram; `payload_len` is this packet's part. For TCP tshark tells
    // no length of a part.
    ("first fragment", is_first_fragment),
    // Row (tshark-headers): tcpdump/isakmp-delete-segfault.pcap, packet 1 | UDP length 456 | null, status `bad_header`
    // | More than the IP packet holds, or less than the header.
    ("UDP length against IP's", is_udp_length_against_ip),
    // Row (tshark-headers): tcpdump/bigtcp-ipv4-vxlan-ipv4.pcap, packet 1 | UDP length 0 | payload of 80,074 bytes |
    // The length is then what IP says (RFC 2675, section 4).
    ("UDP length 0", is_udp_length_0),
    // Row (tshark-headers): tcpdump/bigtcp-ipv6.pcap, packet 1 | no ports | ports, payload of 79,968 bytes | Segments
    // above 64 KB before offload leave the length to the frame, with or without a jumbo option.
    ("IPv6 payload length 0", is_ipv6_length_0),
    // Row (tshark-headers): nDPI/kerberos_fuzz.pcapng, packet 1 | no flags, length 260 | flags 1, length null, status
    // `bad_header` | The fixed fields are there whatever the data offset says; where the payload begins is not known.
    ("TCP header shorter than its minimum", is_bad_tcp_header),
    // Row (tshark-headers): tcpdump/tcp_header_heapoverflow.pcap, packet 1 | ports | ports, sequence and
    // acknowledgement number, status `truncated` | Every whole field before the cut is told.
    ("TCP header cut off", is_tcp_header_cut_off),
    // Row (tshark-headers): PcapPlusPlus/clusterfuzz-testcase-minimized-FuzzTarget-5196221831708672, packet 1 | null |
    // type 4 | Type and code are there, 3 bytes of the rest are not.
    ("ICMP message shorter than its minimum", is_short_icmp),
];

/// The rule that explains a difference.
pub(crate) fn explain(case: &Case<'_>, difference: &Difference) -> Option<&'static str> {
    let applies = |rule: &&Rule| rule.1(case, difference);
    RULES.iter().find(applies).map(|(name, _)| *name)
}

fn is_length_above_31_bits(case: &Case<'_>, difference: &Difference) -> bool {
    const MAX: u32 = i32::MAX as u32;
    // An IP packet that leaves its length out takes it from the frame.
    let is_from_frame = matches!(difference.field, "ip_len" | "payload_len");
    case.record.length > MAX
        && case.row.text("frame.len") == Some("2147483647")
        && (difference.field == "length" || is_from_frame && number(&difference.ours) > MAX.into())
}

fn is_fraction_above_a_second(case: &Case<'_>, difference: &Difference) -> bool {
    difference.field == "ts" && case.record.bad_time && case.record.ts.is_some()
}

fn is_time_beyond_63_bits(case: &Case<'_>, difference: &Difference) -> bool {
    let theirs = number(&difference.theirs);
    difference.field == "ts" && case.record.ts.is_none() && theirs > i64::MAX.into()
}

/// tshark keeps the id of such a tag in a field of its own, and `vlan.id` is the next tag's.
fn is_outer_tag_802_1ad(case: &Case<'_>, difference: &Difference) -> bool {
    let protocols = case.row.protocols();
    difference.field == "vlan"
        && protocols.iter().find(|name| matches!(**name, "vlan" | "ieee8021ad"))
            == Some(&"ieee8021ad")
}

/// MACsec, network service header, provider backbone bridges, FabricPath: we tell the EtherType and
/// stop, tshark goes on.
fn is_header_type_not_decoded(case: &Case<'_>, difference: &Difference) -> bool {
    const NOT_DECODED: [u16; 4] = [0x88e5, 0x894f, 0x88e7, 0x8903];
    let ethertype = case.packet.ethertype();
    difference.ours.is_none() && ethertype.is_some_and(|kind| NOT_DECODED.contains(&kind))
}

fn is_pseudo_wire(case: &Case<'_>, difference: &Difference) -> bool {
    difference.ours.is_none() && case.row.protocols().contains(&"pwethheuristic")
}

fn is_version_against_link_type(case: &Case<'_>, difference: &Difference) -> bool {
    const IPV6: u16 = 229;
    case.record.link_type == IPV6
        && case.packet.ip_version() == Some(4)
        && difference.theirs.is_none()
}

fn is_bad_ip_header(case: &Case<'_>, difference: &Difference) -> bool {
    difference.ours.is_none()
        && case.packet.src_ip().is_none()
        && case.packet.status().has(Status::BAD_HEADER)
}

fn is_ip_header_cut_off(case: &Case<'_>, difference: &Difference) -> bool {
    difference.ours.is_none()
        && case.packet.src_ip().is_none()
        && case.packet.status().has(Status::TRUNCATED)
}

/// Detects a source route with hops left: tshark shows the last hop's address as the destination.
fn is_source_route(case: &Case<'_>, difference: &Difference) -> bool {
    const ROUTES: [u8; 2] = [0x83, 0x89];
    let options = behind_addresses(case).unwrap_or_default();
    let mut options = options.iter().skip_while(|option| **option == 1);
    difference.field == "dst_ip" && options.next().is_some_and(|kind| ROUTES.contains(kind))
}

/// A datagram's length is told whole in its first fragment; tshark tells no TCP length of a part.
fn is_first_fragment(case: &Case<'_>, difference: &Difference) -> bool {
    let is_part = match transport_name(case.row) {
        Some("udp") => number(&difference.ours) < number(&difference.theirs),
        Some("tcp") => difference.theirs.is_none(),
        _ => false,
    };
    let is_first = case.packet.frag_offset() == Some(0);
    difference.field == "payload_len" && difference.ours.is_some() && is_first && is_part
}

fn is_udp_length_against_ip(case: &Case<'_>, difference: &Difference) -> bool {
    difference.field == "payload_len"
        && difference.ours.is_none()
        && case.packet.proto() == Some(17)
        && case.packet.status().has(Status::BAD_HEADER)
}

/// The length is then what IP says (RFC 2675, section 4); tshark tells the 0.
fn is_udp_length_0(_: &Case<'_>, difference: &Difference) -> bool {
    difference.field == "payload_len" && difference.theirs.as_deref() == Some("0")
}

fn is_bad_tcp_header(case: &Case<'_>, difference: &Difference) -> bool {
    let is_behind_offset = matches!(difference.field, "ack" | "tcp_flags");
    (is_behind_offset && difference.theirs.is_none()
        || difference.field == "payload_len" && difference.ours.is_none())
        && case.packet.proto() == Some(6)
        && case.packet.status().has(Status::BAD_HEADER)
}

fn is_tcp_header_cut_off(case: &Case<'_>, difference: &Difference) -> bool {
    matches!(difference.field, "seq" | "ack")
        && difference.theirs.is_none()
        && case.packet.status().has(Status::TRUNCATED)
        && case.packet.tcp_flags().is_none()
}

fn is_short_icmp(case: &Case<'_>, difference: &Difference) -> bool {
    const IP_HEADER_AND_MINIMUM: u32 = 20 + 8;
    let ip_len = case.packet.ip_len().unwrap_or(u32::MAX);
    difference.field == "icmp_type" && difference.theirs.is_none() && ip_len < IP_HEADER_AND_MINIMUM
}

/// Detects a length too large for its field: we take the length of the frame, tshark takes no payload.
fn is_ipv6_length_0(case: &Case<'_>, difference: &Difference) -> bool {
    let is_big = case.packet.ip_len().is_some_and(|len| len > 0xffff + 40);
    difference.theirs.is_none() && case.packet.ip_version() == Some(6) && is_big
}

fn is_arp_cut_off(case: &Case<'_>, difference: &Difference) -> bool {
    difference.field == "arp_src_ip"
        && difference.theirs.is_none()
        && case.packet.status().has(Status::TRUNCATED)
}

/// The bytes behind the IPv4 addresses of the packet.
fn behind_addresses<'a>(case: &Case<'a>) -> Option<&'a [u8]> {
    let (Some(std::net::IpAddr::V4(src)), Some(std::net::IpAddr::V4(dst))) =
        (case.packet.src_ip(), case.packet.dst_ip())
    else {
        return None;
    };
    let addresses = [src.octets(), dst.octets()].concat();
    let at = case.record.captured.windows(8).position(|window| window == addresses)?;
    case.record.captured.get(at + 8..)
}

/// The number in a value, -1 for none.
fn number(value: &Option<String>) -> i128 {
    value.as_deref().map_or(-1, |value| value.parse().unwrap_or(-1))
}

/// The names of all rules.
pub(crate) fn names() -> Vec<&'static str> {
    let files = [SNOOP, UNKNOWN_TO_TSHARK, CUSTOM_BLOCK];
    RULES.iter().map(|(name, _)| *name).chain(files).collect()
}

/// Returns the reason why one of us read a file to its end and the other did not.
pub(crate) fn explain_end(
    answer: &Answer,
    bytes: &[u8],
    link_types: &[u16],
) -> Option<&'static str> {
    /// Link types that tshark 4.0 has no reader for: Juniper ES and monitor, multilink frame relay,
    /// Broadcom and Marvell switch tags.
    const NO_READER: [u16; 6] = [132, 164, 182, 281, 284, 285];
    let is_unknown = |kind: &u16| NO_READER.contains(kind);
    match answer.verdict {
        Verdict::Whole if bytes.starts_with(b"snoop\0\0\0") => Some(SNOOP),
        Verdict::Refused if !link_types.is_empty() && link_types.iter().all(is_unknown) => {
            Some(UNKNOWN_TO_TSHARK)
        }
        _ => None,
    }
}
