//! Packets inside packets.

use crate::generate::frame::{
    self, IPV4, IPV6, arp, geneve, gre, gtp_u, ipv4, ipv6, join, mpls, tcp, udp, vlan, vxlan,
};
use crate::{ethernet, hex, inner, status, told};

/// What is inside: IPv6, so that it is told apart from what is outside.
fn inside() -> Vec<u8> {
    ipv6(6, &tcp(1000, 2000, 0x12, b"abc"))
}

/// An Ethernet frame with an IPv4 packet of `protocol`.
fn outside(protocol: u8, payload: &[u8]) -> Vec<u8> {
    frame::ethernet(IPV4, &ipv4(protocol, payload))
}

/// A mirrored frame behind the header of ERSPAN.
fn mirrored(header: &str) -> Vec<u8> {
    join(&[&hex(header), &frame::ethernet(IPV6, &inside())])
}

fn tunnels() -> Vec<(&'static str, Vec<u8>)> {
    let ppp = join(&[&hex("ff03 0057"), &inside()]);
    let extended = hex("34 ff 0040 00000009 0000 00 85 01 10 02 00");
    let sequenced = hex("32 ff 0040 00000009 0001 00 00");
    let platform = mirrored("200100010000000000000001 0000000000000000");
    let without_ethernet = join(&[&hex("200100010000000000000800"), &inside()]);
    vec![
        ("6in4", outside(41, &inside())),
        ("GRE", outside(47, &gre(0, IPV6, &[], &inside()))),
        ("GRE with a key", outside(47, &gre(0x2000, IPV6, &[0; 4], &inside()))),
        ("GRE with all words", outside(47, &gre(0xb000, IPV6, &[0; 12], &inside()))),
        ("GRE with Ethernet", outside(47, &gre(0, 0x6558, &[], &frame::ethernet(IPV6, &inside())))),
        ("PPTP", outside(47, &gre(0x3081, 0x880b, &[0; 12], &ppp))),
        ("VXLAN", outside(17, &udp(5, 4789, &vxlan(&frame::ethernet(IPV6, &inside()))))),
        (
            "GENEVE",
            outside(17, &udp(5, 6081, &geneve(0x6558, &[0; 8], &frame::ethernet(IPV6, &inside())))),
        ),
        ("GENEVE with IP", outside(17, &udp(5, 6081, &geneve(IPV6, &[], &inside())))),
        ("GTP-U", outside(17, &udp(5, 2152, &gtp_u(&inside())))),
        ("GTP-U with an extension", outside(17, &udp(5, 2152, &join(&[&extended, &inside()])))),
        ("GRE over UDP", outside(17, &udp(5, 4754, &gre(0, IPV6, &[], &inside())))),
        ("MPLS over UDP", outside(17, &udp(5, 6635, &mpls(&[16, 17], &inside())))),
        ("ERSPAN I", outside(47, &gre(0, 0x88be, &[], &frame::ethernet(IPV6, &inside())))),
        ("ERSPAN II", outside(47, &gre(0x1000, 0x88be, &[0; 4], &mirrored("1001000100000000")))),
        (
            "ERSPAN III",
            outside(47, &gre(0x1000, 0x22eb, &[0; 4], &mirrored("200100010000000000000000"))),
        ),
        ("ERSPAN III with a platform", outside(47, &gre(0x1000, 0x22eb, &[0; 4], &platform))),
        ("ERSPAN III with IP", outside(47, &gre(0x1000, 0x22eb, &[0; 4], &without_ethernet))),
        ("GTP-U with a sequence", outside(17, &udp(5, 2152, &join(&[&sequenced, &inside()])))),
    ]
}

#[test]
fn a_tunnel_is_noted_and_the_outermost_header_told() {
    for (name, bytes) in tunnels() {
        let packet = ethernet(&bytes);
        assert_eq!(status(&packet), ["tunnel"], "{name}");
        assert_eq!(packet.src_ip().map(|ip| ip.to_string()), Some("10.0.0.1".to_owned()), "{name}");
        assert_eq!(packet.ttl(), Some(64), "{name}");
    }
}

#[test]
fn every_tunnel_is_followed_where_that_is_asked_for() {
    for (name, bytes) in tunnels() {
        assert_eq!(
            told(&inner(&bytes)),
            "src_ip=2001:db8::1 dst_ip=2001:db8::2 src_port=1000 dst_port=2000 proto=6 ttl=63 \
             tcp_flags=18 payload_len=3 status=8 ethertype=2048 ip_version=6 ip_len=63 seq=100 \
             ack=200",
            "{name}"
        );
    }
}

#[test]
fn ip_in_ip_tells_the_innermost_of_several() {
    let deep = (0..10).fold(ipv4(17, &udp(7, 8, b"")), |packet, _| ipv4(4, &packet));
    let bytes = frame::ethernet(IPV4, &deep);
    assert_eq!((ethernet(&bytes).proto(), ethernet(&bytes).dst_port()), (Some(4), None));
    assert_eq!((inner(&bytes).proto(), inner(&bytes).dst_port()), (Some(17), Some(8)));
}

#[test]
fn tunnels_without_end_stop_at_a_depth() {
    let deep = (0..200).fold(ipv4(17, &udp(7, 8, b"")), |packet, _| ipv4(4, &packet));
    let packet = inner(&frame::ethernet(IPV4, &deep));
    assert_eq!((packet.proto(), packet.dst_port()), (Some(4), None));
    assert_eq!(status(&packet), ["tunnel"]);
}

#[test]
fn nothing_of_the_outer_headers_is_left_beside_the_inner_ones() {
    // VXLAN outside has ports, the ICMP packet inside has none.
    let icmp = frame::ethernet(IPV4, &ipv4(1, &hex("0800 0000 00000000")));
    let packet = inner(&outside(17, &udp(5, 4789, &vxlan(&icmp))));
    assert_eq!((packet.src_port(), packet.payload_len()), (None, None));
    assert_eq!((packet.proto(), packet.icmp_type()), (Some(1), Some(8)));
}

#[test]
fn an_inner_frame_that_is_no_ip_leaves_the_outer_header() {
    let request = frame::ethernet(0x0806, &arp(1, [10, 9, 9, 1], [10, 9, 9, 2]));
    let packet = inner(&outside(17, &udp(5, 4789, &vxlan(&request))));
    assert_eq!((packet.proto(), packet.dst_port()), (Some(17), Some(4789)));
    assert_eq!(packet.arp_op(), None);
}

#[test]
fn the_vlan_of_an_inner_frame_is_not_the_packets_own() {
    let tagged = frame::ethernet(0x8100, &vlan(99, IPV4, &ipv4(17, &udp(7, 8, b""))));
    let packet = inner(&outside(17, &udp(5, 4789, &vxlan(&tagged))));
    assert_eq!((packet.vlan(), packet.dst_port()), (None, Some(8)));
}

#[test]
fn what_only_looks_like_a_tunnel_is_none() {
    for (name, bytes) in [
        ("VXLAN without its flag", udp(5, 4789, &[0; 60])),
        ("VXLAN cut off", udp(5, 4789, &[8, 0, 0])),
        ("GENEVE of version 1", udp(5, 6081, &[0x40; 60])),
        ("GTP-U echo", udp(5, 2152, &hex("3201 0004 00000000 00000000"))),
        ("GTP'", udp(5, 2152, &hex("20ff 0004 00000000 00000000"))),
    ] {
        assert!(status(&inner(&outside(17, &bytes))).is_empty(), "{name}");
    }
}

#[test]
fn a_tunnel_header_cut_off_is_truncated() {
    for (name, bytes) in [
        ("GRE", outside(47, &hex("2000 08"))),
        ("GRE's key", outside(47, &hex("2000 0800 0000"))),
        ("ERSPAN II", outside(47, &hex("1000 88be 00000000 1001"))),
        ("ERSPAN III", outside(47, &hex("1000 22eb 00000000 2001 0001"))),
        ("GENEVE's options", outside(17, &udp(5, 6081, &hex("02 00 6558 00000000 00000000")))),
        ("GTP-U's sequence", outside(17, &udp(5, 2152, &hex("32ff 0004 00000000 0001")))),
    ] {
        assert!(status(&inner(&bytes)).contains(&"truncated"), "{name}");
    }
    let endless = hex("34ff 0010 00000000 0000 00 85 00 00 00 85");
    let packet = inner(&outside(17, &udp(5, 2152, &endless)));
    assert_eq!(status(&packet), ["bad_header", "tunnel"], "an extension header of no length");
}

#[test]
fn source_routed_gre_is_noted_and_not_followed() {
    let packet = inner(&outside(47, &gre(0x4000, IPV6, &[0; 4], &inside())));
    assert_eq!((packet.proto(), status(&packet)), (Some(47), vec!["tunnel", "unknown_header"]));
}

#[test]
fn an_inner_packet_ends_where_the_outer_one_ends() {
    // The inner header claims 20 bytes more than the outer packet carries; they are padding.
    let mut packet = ipv4(17, &udp(7, 8, b"abc"));
    packet[3] += 20;
    let mut bytes = outside(4, &packet);
    bytes.extend([0; 20]);
    assert_eq!(inner(&bytes).payload_len(), Some(3));
}
