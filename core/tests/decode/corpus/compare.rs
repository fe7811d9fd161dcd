//! One packet of ours beside one row of tshark's: which values differ.

use bytewright::batch::Value;
use bytewright::packet::{Field, Packet, Status};

use super::oracle::Row;

/// A value that we and tshark tell apart.
pub(crate) struct Difference {
    pub(crate) field: &'static str,
    pub(crate) ours: Option<String>,
    pub(crate) theirs: Option<String>,
}

/// Collects the differences and counts what was compared.
struct Comparison {
    values: usize,
    differences: Vec<Difference>,
}

impl Comparison {
    fn check(&mut self, field: &'static str, ours: Option<String>, theirs: Option<String>) {
        self.values += 1;
        if ours != theirs {
            self.differences.push(Difference { field, ours, theirs });
        }
    }
}

/// Compares everything that both tell; answers how many values that were, and which differ.
pub(crate) fn differences(packet: &Packet, row: &Row) -> (usize, Vec<Difference>) {
    let mut comparison = Comparison { values: 0, differences: Vec::new() };
    frame(&mut comparison, packet, row);
    if packet.status().has(Status::UNKNOWN_LINK) {
        comparison.check("any header", None, any_header(row));
    } else {
        link(&mut comparison, packet, row);
        network(&mut comparison, packet, row);
        transport(&mut comparison, packet, row);
    }
    (comparison.values, comparison.differences)
}

/// An address or port, of whichever header tshark found one in.
fn any_header(row: &Row) -> Option<String> {
    let columns = ["vlan.id", "ip.src", "ipv6.src", "arp.src.proto_ipv4"];
    columns.iter().find_map(|column| text(row, column))
}

fn frame(comparison: &mut Comparison, packet: &Packet, row: &Row) {
    let theirs = row.text("frame.time_epoch").map(|time| nanoseconds(time).to_string());
    comparison.check("ts", packet.ts().map(|ts| ts.to_string()), theirs);
    comparison.check("length", ours(packet, Field::Length), text(row, "frame.len"));
    comparison.check("caplen", ours(packet, Field::Caplen), text(row, "frame.cap_len"));
}

/// Tags and EtherType, which tshark keeps per header and we once, after the tags.
fn link(comparison: &mut Comparison, packet: &Packet, row: &Row) {
    let protocols = row.protocols();
    let before_ip = protocols.iter().take_while(|name| !is_ip(name));
    let tag = before_ip.clone().find(|name| matches!(**name, "vlan" | "ieee8021ad"));
    let vlan = tag.and_then(|_| text(row, "vlan.id"));
    comparison.check("vlan", ours(packet, Field::Vlan), vlan);
    if protocols.starts_with(&["eth", "ethertype"]) && tag.is_none() {
        let theirs = row.text("eth.type").and_then(hexadecimal);
        comparison.check("ethertype", ours(packet, Field::Ethertype), theirs);
    }
    let is_arp = before_ip.clone().any(|name| *name == "arp");
    for (name, field, column) in [
        ("arp_src_ip", Field::ArpSrcIp, "arp.src.proto_ipv4"),
        ("arp_dst_ip", Field::ArpDstIp, "arp.dst.proto_ipv4"),
    ] {
        let theirs = is_arp.then(|| text(row, column)).flatten();
        comparison.check(name, ours(packet, field), theirs);
    }
}

/// The first IP header and the protocol it leads to.
fn network(comparison: &mut Comparison, packet: &Packet, row: &Row) {
    let version = ip_version(row);
    let of = |v4: &str, v6: &str| match version {
        Some("ip") => text(row, v4),
        Some(_) => text(row, v6),
        None => None,
    };
    comparison.check("src_ip", ours(packet, Field::SrcIp), of("ip.src", "ipv6.src"));
    comparison.check("dst_ip", ours(packet, Field::DstIp), of("ip.dst", "ipv6.dst"));
    comparison.check("ttl", ours(packet, Field::Ttl), of("ip.ttl", "ipv6.hlim"));
    if version == Some("ip") {
        if let Some(protocol) = ipv4_protocol(row) {
            comparison.check("proto", ours(packet, Field::Proto), Some(protocol));
        }
        comparison.check("ip_len", ours(packet, Field::IpLen), text(row, "ip.len"));
        comparison.check("frag_offset", ours(packet, Field::FragOffset), fragment_offset(row));
    }
    if version == Some("ipv6")
        && let Some(protocol) = ipv6_protocol(row)
    {
        comparison.check("proto", ours(packet, Field::Proto), Some(protocol));
    }
}

/// The dissector of the first IP header. tshark hands IPv6 that is announced as IPv4 from one to the
/// other without a value for the first.
fn ip_version(row: &Row) -> Option<&str> {
    let protocols = row.protocols();
    let mut from_ip = protocols.iter().skip_while(|name| !is_ip(name));
    match (from_ip.next(), from_ip.next()) {
        (Some(&"ip"), Some(&"ipv6")) if row.text("ip.src").is_none() => Some("ipv6"),
        (first, _) => first.copied(),
    }
}

/// tshark counts in units of 8 bytes and tells 0 for a whole packet too.
fn fragment_offset(row: &Row) -> Option<String> {
    let offset: u32 = row.text("ip.frag_offset")?.parse().expect("a number");
    let is_fragment = offset > 0 || row.text("ip.flags.mf") == Some("1");
    is_fragment.then(|| (offset * 8).to_string())
}

/// The protocol of the header, or the one behind authentication headers, as for IPv6.
fn ipv4_protocol(row: &Row) -> Option<String> {
    let protocols = row.protocols();
    let mut from_ip = protocols.iter().skip_while(|name| !is_ip(name));
    match from_ip.nth(1) {
        Some(&"ah") => protocol_of(transport_name(row)?),
        _ => text(row, "ip.proto"),
    }
}

/// The protocol behind the extension headers. tshark has no field for it: where there is an
/// extension header, the name of the next dissector tells, if it stands for one protocol number.
fn ipv6_protocol(row: &Row) -> Option<String> {
    if !row.protocols().iter().any(|name| is_extension(name)) {
        return text(row, "ipv6.nxt");
    }
    protocol_of(transport_name(row)?)
}

/// The protocol number that a dissector stands for.
fn protocol_of(name: &str) -> Option<String> {
    let number = match name {
        "tcp" => 6,
        "udp" => 17,
        "icmp" => 1,
        "icmpv6" => 58,
        "sctp" => 132,
        "ospf" => 89,
        "ip" => 4,
        "ipv6" => 41,
        "gre" => 47,
        "esp" => 50,
        _ => return None,
    };
    Some(number.to_string())
}

/// Fields of the transport header that follows the first IP header directly. Those of a header
/// quoted in an ICMP error, or inside a tunnel, carry the same names in tshark.
fn transport(comparison: &mut Comparison, packet: &Packet, row: &Row) {
    let name = transport_name(row);
    let column =
        |wanted: &str, column: &str| (name == Some(wanted)).then(|| text(row, column)).flatten();
    let first = |columns: [&'static str; 3]| {
        ["tcp", "udp", "sctp"].into_iter().zip(columns).find_map(|(name, of)| column(name, of))
    };
    let src_port = first(["tcp.srcport", "udp.srcport", "sctp.srcport"]);
    let dst_port = first(["tcp.dstport", "udp.dstport", "sctp.dstport"]);
    comparison.check("src_port", ours(packet, Field::SrcPort), src_port);
    comparison.check("dst_port", ours(packet, Field::DstPort), dst_port);
    let flags = column("tcp", "tcp.flags").as_deref().and_then(hexadecimal);
    comparison.check("tcp_flags", ours(packet, Field::TcpFlags), flags);
    comparison.check("seq", ours(packet, Field::Seq), column("tcp", "tcp.seq_raw"));
    comparison.check("ack", ours(packet, Field::Ack), column("tcp", "tcp.ack_raw"));
    let icmp_type = column("icmp", "icmp.type").or(column("icmpv6", "icmpv6.type"));
    comparison.check("icmp_type", ours(packet, Field::IcmpType), icmp_type);
    match name {
        Some("tcp") => {
            comparison.check("payload_len", ours(packet, Field::PayloadLen), text(row, "tcp.len"));
        }
        Some("udp") => {
            let len = packet.payload_len().map(|len| (len + 8).to_string());
            comparison.check("payload_len", len, text(row, "udp.length"));
        }
        _ => {}
    }
}

/// The dissector that comes next after the first IP header and its extension headers.
pub(crate) fn transport_name(row: &Row) -> Option<&str> {
    let version = ip_version(row)?;
    let mut names = row.protocols().into_iter().skip_while(|name| *name != version).skip(1);
    names.find(|name| !is_extension(name))
}

/// Authentication and mobility are extension headers like the others; tshark names them otherwise.
fn is_extension(name: &str) -> bool {
    name.starts_with("ipv6.") || matches!(name, "ah" | "mipv6")
}

pub(crate) fn is_ip(name: &str) -> bool {
    matches!(name, "ip" | "ipv6")
}

fn ours(packet: &Packet, field: Field) -> Option<String> {
    match packet.value(field) {
        Value::Null => None,
        value => Some(value.to_string()),
    }
}

fn text(row: &Row, column: &str) -> Option<String> {
    row.text(column).map(str::to_owned)
}

fn hexadecimal(text: &str) -> Option<String> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok().map(|value| value.to_string())
}

/// `seconds.nanoseconds`, where the sign stands for both.
fn nanoseconds(time: &str) -> i128 {
    let (sign, digits) = time.strip_prefix('-').map_or((1, time), |digits| (-1, digits));
    let (seconds, fraction) = digits.split_once('.').expect("a point");
    let seconds: i128 = seconds.parse().expect("seconds");
    let fraction: i128 = fraction.parse().expect("nanoseconds");
    sign * (seconds * 1_000_000_000 + fraction)
}
