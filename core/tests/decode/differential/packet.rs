//! Our packet decoder beside etherparse.

use std::cell::RefCell;
use std::net::IpAddr;

use bytewright::packet::{DecodeOptions, FrameMeta, LinkType, Packet, Status};
use etherparse::{
    LaxLinkExtSlice, LaxNetSlice, LaxSlicedPacket, TcpSlice, TransportSlice, ether_type,
};

use super::Tally;
use crate::files;
use crate::generate::{frame, seeds};

/// Fields of a frame that both may tell. The ports and the rest of TCP are one value each, since
/// etherparse tells all of a header or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Told {
    vlan: Option<u16>,
    addresses: Option<(IpAddr, IpAddr)>,
    ttl: Option<u8>,
    fragment: Option<u16>,
    proto: Option<u8>,
    ports: Option<(u16, u16)>,
    tcp: Option<(u32, u32, u16)>,
    icmp: Option<(u8, u8)>,
    arp: Option<(IpAddr, IpAddr)>,
}

fn ours(packet: &Packet) -> Told {
    use bytewright::batch::Value;
    use bytewright::packet::Field;
    let address = |field| match packet.value(field) {
        Value::Address(address) => Some(address),
        _ => None,
    };
    // etherparse knows nothing of SCTP.
    let has_ports = matches!(packet.proto(), Some(6 | 17));
    // It tells eight of the twelve flags, and one of the reserved ones.
    let flags = packet.tcp_flags().map(|flags| flags & 0x1ff);
    Told {
        vlan: packet.vlan(),
        addresses: packet.src_ip().zip(packet.dst_ip()),
        ttl: packet.ttl(),
        fragment: packet.frag_offset(),
        proto: packet.proto(),
        ports: packet.src_port().zip(packet.dst_port()).filter(|_| has_ports),
        tcp: packet.seq().zip(packet.ack()).zip(flags).map(|((seq, ack), flags)| (seq, ack, flags)),
        icmp: packet.icmp_type().zip(packet.icmp_code()),
        arp: address(Field::ArpSrcIp).zip(address(Field::ArpDstIp)),
    }
}

fn theirs(sliced: &LaxSlicedPacket<'_>) -> Told {
    let mut told = Told::default();
    if let Some(LaxLinkExtSlice::Vlan(tag)) = sliced.link_exts.first() {
        told.vlan = Some(tag.vlan_identifier().value());
    }
    match &sliced.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            told.addresses = Some((header.source_addr().into(), header.destination_addr().into()));
            told.ttl = Some(header.ttl());
            told.proto = Some(ip.payload_ip_number().0);
            let offset = header.fragments_offset().value() * 8;
            told.fragment = (header.more_fragments() || offset > 0).then_some(offset);
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            told.addresses = Some((header.source_addr().into(), header.destination_addr().into()));
            told.ttl = Some(header.hop_limit());
            told.proto = Some(ip.payload().ip_number.0);
        }
        Some(LaxNetSlice::Arp(arp)) => {
            let address = |bytes: &[u8]| <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from);
            let is_ipv4 = arp.proto_addr_type() == ether_type::IPV4;
            told.arp = address(arp.sender_protocol_addr())
                .zip(address(arp.target_protocol_addr()))
                .filter(|_| is_ipv4);
        }
        None => {}
    }
    match &sliced.transport {
        Some(TransportSlice::Udp(udp)) => {
            told.ports = Some((udp.source_port(), udp.destination_port()));
        }
        Some(TransportSlice::Tcp(tcp)) => {
            told.ports = Some((tcp.source_port(), tcp.destination_port()));
            let numbers = (tcp.sequence_number(), tcp.acknowledgment_number());
            told.tcp = Some((numbers.0, numbers.1, flags(tcp)));
        }
        Some(TransportSlice::Icmpv4(icmp)) => told.icmp = Some((icmp.type_u8(), icmp.code_u8())),
        Some(TransportSlice::Icmpv6(icmp)) => told.icmp = Some((icmp.type_u8(), icmp.code_u8())),
        _ => {}
    }
    told
}

fn flags(tcp: &TcpSlice<'_>) -> u16 {
    let bits = [
        tcp.fin(),
        tcp.syn(),
        tcp.rst(),
        tcp.psh(),
        tcp.ack(),
        tcp.urg(),
        tcp.ece(),
        tcp.cwr(),
        tcp.ns(),
    ];
    bits.iter().enumerate().fold(0, |flags, (bit, set)| flags | u16::from(*set) << bit)
}

fn compare(link_type: u16, length: u32, captured: &[u8], name: &str, tally: &mut Tally) {
    let sliced = match link_type {
        1 => LaxSlicedPacket::from_ethernet(captured).ok(),
        12 | 14 | 101 | 228 | 229 => LaxSlicedPacket::from_ip(captured).ok(),
        _ => return,
    };
    let meta = FrameMeta { number: 1, ts: None, length, link_type: LinkType(link_type) };
    let packet =
        Packet::decode(meta, captured, DecodeOptions { inner: false, ..DecodeOptions::default() });
    let Some(sliced) = sliced else {
        // It has not even the first header.
        let is_broken = packet.status() != Status::default() && packet.src_ip().is_none();
        let rule = match is_broken {
            true => Some("no first header for both"),
            false => has_cut_options(&packet).then_some("IPv4 options cut off"),
        };
        return tally.add(rule, || format!("{name}: {packet:?}"));
    };
    tally.compared += 1;
    let (ours, theirs) = (ours(&packet), theirs(&sliced));
    if ours != theirs {
        tally.add(explain(&packet, &sliced, &ours, &theirs), || {
            format!("{name}\n{ours:?}\n{theirs:?}\n{packet:?}\n{sliced:?}")
        });
    }
}

/// Returns the reason why the two differ, searched from the outermost header inwards.
fn explain(
    packet: &Packet,
    sliced: &LaxSlicedPacket<'_>,
    ours: &Told,
    theirs: &Told,
) -> Option<&'static str> {
    /// MPLS, PPPoE, and what stands in a frame with a length in place of its type.
    const UNKNOWN_TO_ETHERPARSE: [u16; 3] = [0x8847, 0x8848, 0x8864];
    const MACSEC: u16 = 0x88e5;
    let has_net = sliced.net.is_some();
    let is_link_known =
        packet.ethertype().is_none_or(|kind| !UNKNOWN_TO_ETHERPARSE.contains(&kind));
    if ours.vlan != theirs.vlan {
        // Tags behind 802.2, or behind MACsec.
        return (!has_net || packet.ethertype() == Some(MACSEC))
            .then_some("tag behind another header");
    }
    if !has_net {
        let is_llc = sliced.stop_err.is_none() && is_link_known;
        return match () {
            () if !is_link_known => Some("link header unknown to etherparse"),
            () if is_llc => Some("802.2 or more than three tags"),
            () if packet.src_ip().is_none() => Some("header that etherparse stops at"),
            () if has_cut_options(packet) => Some("IPv4 options cut off"),
            () => None,
        };
    }
    if ours.arp != theirs.arp {
        let is_atm = ours.arp.is_none() && packet.arp_op().is_some();
        let is_atm = is_atm
            && matches!(&sliced.net, Some(LaxNetSlice::Arp(arp)) if arp.hw_addr_type().0 == 19);
        return is_atm.then_some("address resolution of ATM, which has another layout");
    }
    if packet.src_ip().is_none() {
        let is_broken = packet.status().has(Status::BAD_HEADER)
            || packet.status().has(Status::TRUNCATED)
            || packet.ethertype() == Some(MACSEC);
        return is_broken.then_some("IP header that contradicts itself");
    }
    if (ours.addresses, ours.ttl) != (theirs.addresses, theirs.ttl) {
        return None;
    }
    explain_payload(packet, sliced, ours, theirs)
}

/// Returns true if an IPv4 header ends within its options: we tell the fixed part, etherparse nothing.
fn has_cut_options(packet: &Packet) -> bool {
    let is_cut = packet.status().has(Status::TRUNCATED);
    is_cut && packet.ip_version() == Some(4) && packet.src_port().is_none()
}

/// Returns the reason why the two differ behind the same IP header.
fn explain_payload(
    packet: &Packet,
    sliced: &LaxSlicedPacket<'_>,
    ours: &Told,
    theirs: &Told,
) -> Option<&'static str> {
    const AUTHENTICATION: u8 = 51;
    let is_v6 = packet.ip_version() == Some(6);
    if ours.fragment != theirs.fragment && !is_v6 {
        return None;
    }
    if packet.status().has(Status::FRAGMENT) {
        let same_proto = ours.proto == theirs.proto;
        let is_above_only = theirs.ports.is_none() && theirs.icmp.is_none();
        if is_above_only && (same_proto || sliced.stop_err.is_some()) {
            return Some("first fragment, whose transport header etherparse leaves alone");
        }
    }
    match () {
        () if !is_v6 && ours.proto.is_none() && theirs.proto == Some(AUTHENTICATION) => {
            Some("authentication header in IPv4 that is cut off")
        }
        () if !is_v6
            && matches!(&sliced.net, Some(LaxNetSlice::Ipv4(ip)) if ip.extensions().auth.is_some()) =>
        {
            Some("authentication header in IPv4")
        }
        () if ours.proto != theirs.proto && is_v6 => {
            Some("extension headers that etherparse does not follow")
        }
        () if ours.proto != theirs.proto => None,
        () if sliced.stop_err.is_some() && theirs.ports.is_none() && theirs.icmp.is_none() => {
            Some("transport header cut off or bad, of which we tell what is there")
        }
        () if packet.status().has(Status::BAD_HEADER) => Some("header that contradicts another"),
        () => None,
    }
}

#[test]
fn random_frames_hold_what_etherparse_finds() {
    let tally = RefCell::new(Tally::default());
    seeds(40_000, |random| {
        let frame = frame::random(random);
        let mut tally = tally.borrow_mut();
        compare(frame.link_type, frame.length, &frame.captured, "a random frame", &mut tally);
    });
    tally.borrow().print("random frames");
    assert!(tally.borrow().compared > 10_000);
}

#[test]
fn collected_frames_hold_what_etherparse_finds() {
    let Some(folder) = files::corpus("collected_frames_hold_what_etherparse_finds") else { return };
    let mut tally = Tally::default();
    for name in files::names(&folder) {
        let capture = files::plain(&folder.join(&name));
        for (record, number) in files::records(&capture).0.iter().zip(1..) {
            let frame = format!("{name} packet {number}");
            compare(record.link_type, record.length, record.captured, &frame, &mut tally);
        }
    }
    tally.print("collected frames");
}
