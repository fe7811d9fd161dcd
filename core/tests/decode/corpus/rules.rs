//! Reasons for differences from tshark: one rule per kind, each a row of `docs/tshark.md`.

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

/// The name of a kind of difference, and when it applies.
type Rule = (&'static str, fn(&Case<'_>, &Difference) -> bool);

/// The rules for single packets. The first that applies explains.
const RULES: &[Rule] = &[
    ("link type not decoded", |_, difference| difference.field == "any header"),
    ("modified pcap by heuristics", |case, _| case.answer.file == "PcapPlusPlus/igmplayer"),
    ("length above 2^31", is_length_above_31_bits),
    ("fraction of a second above a second", is_fraction_above_a_second),
    ("time beyond 2^63 nanoseconds", is_time_beyond_63_bits),
    ("outer tag 802.1ad", is_outer_tag_802_1ad),
    ("header type not decoded", is_header_type_not_decoded),
    ("Ethernet pseudo-wire", is_pseudo_wire),
    ("IP version against the link type", is_version_against_link_type),
    ("bad IP header", is_bad_ip_header),
    ("IP header cut off", is_ip_header_cut_off),
    ("source route", is_source_route),
    ("first fragment", is_first_fragment),
    ("UDP length against IP's", is_udp_length_against_ip),
    ("UDP length 0", is_udp_length_0),
    ("TCP header shorter than its minimum", is_bad_tcp_header),
    ("TCP header cut off", is_tcp_header_cut_off),
    ("ICMP message shorter than its minimum", is_short_icmp),
    ("IPv6 payload length 0", is_ipv6_length_0),
    ("ARP addresses cut off", is_arp_cut_off),
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
    let files = ["snoop", "link type unknown to tshark", "custom block"];
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
    const UNKNOWN_TO_TSHARK: [u16; 6] = [132, 164, 182, 281, 284, 285];
    let is_unknown = |kind: &u16| UNKNOWN_TO_TSHARK.contains(kind);
    match answer.verdict {
        Verdict::Whole if bytes.starts_with(b"snoop\0\0\0") => Some("snoop"),
        Verdict::Refused if !link_types.is_empty() && link_types.iter().all(is_unknown) => {
            Some("link type unknown to tshark")
        }
        _ => None,
    }
}
