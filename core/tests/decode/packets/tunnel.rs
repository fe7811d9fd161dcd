//! Packets inside packets.

use bytewright::packet::{DecodeOptions, FrameMeta, LinkType, Packet, Status};

use super::{ethernet, hex, inner, status, told};
use crate::generate::frame::{
    self, IPV4, IPV6, arp, geneve, gre, gtp_u, ipv4, ipv6, join, mpls, tcp, udp, vlan, vxlan,
};
use crate::generate::seeds;

/// Makes the inner packet: IPv6, so that it is told apart from the outer one.
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

fn ethernet_inside() -> Vec<u8> {
    frame::ethernet(IPV6, &inside())
}

/// The frame inside, behind a header.
fn behind(header: &str) -> Vec<u8> {
    join(&[&hex(header), &ethernet_inside()])
}

/// The packet inside, behind a header.
fn ip_behind(header: &str) -> Vec<u8> {
    join(&[&hex(header), &inside()])
}

/// The word of checksum and offset, then two routes of GRE and their end.
const ROUTES: &str = "00000000 0800 04 08 0a000003 0a000004 fffe 00 03 010203 0000 00 00";

fn tunnels() -> Vec<(&'static str, Vec<u8>)> {
    let ppp = join(&[&hex("ff03 0057"), &inside()]);
    let extended = hex("34 ff 0040 00000009 0000 00 85 01 10 02 00");
    let sequenced = hex("32 ff 0040 00000009 0001 00 00");
    let platform = mirrored("200100010000000000000001 0000000000000000");
    let routes = join(&[&[0; 8], &hex(ROUTES)]);
    let l2tp_with_all =
        format!("4a02 {:04x} 0007 0009 0001 0002 0003 aabbcc ff03 0057", 21 + inside().len());
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
        ("VXLAN on Linux's port", outside(17, &udp(5, 8472, &vxlan(&ethernet_inside())))),
        ("VXLAN-GPE", outside(17, &udp(5, 4790, &vxlan(&ethernet_inside())))),
        ("VXLAN-GPE with Ethernet", outside(17, &udp(5, 4790, &behind("0c000003 00002a00")))),
        ("VXLAN-GPE with IP", outside(17, &udp(5, 4790, &ip_behind("04000002 00000000")))),
        (
            "VXLAN-GPE with MPLS",
            outside(17, &udp(5, 4790, &ip_behind("0c000005 00002a00 00010140"))),
        ),
        ("Teredo", outside(17, &udp(5, 3544, &inside()))),
        ("Teredo from a server", outside(17, &udp(3544, 5, &ip_behind("0000 f227 3f1d3bff")))),
        (
            "Teredo with an authentication",
            outside(17, &udp(3544, 5, &ip_behind("0001 0203 4142 434445 0000000000000001 00"))),
        ),
        (
            "Teredo with both",
            outside(
                17,
                &udp(3544, 5, &ip_behind("0001 0000 0000000000000001 00 0000 f227 3f1d3bff")),
            ),
        ),
        ("L2TP", outside(17, &udp(1701, 1701, &ip_behind("0002 0007 0009 ff03 0057")))),
        ("L2TP from a server", outside(17, &udp(1701, 5, &ip_behind("0002 0007 0009 0057")))),
        ("L2TP with all", outside(17, &udp(5, 1701, &ip_behind(&l2tp_with_all)))),
        ("Ethernet in IP", outside(97, &behind("3000"))),
        ("MPLS in IP", outside(137, &mpls(&[16, 17], &inside()))),
        ("GRE with a route", outside(47, &gre(0x4000, IPV6, &hex(ROUTES), &inside()))),
        ("GRE with a route and all words", outside(47, &gre(0xf000, IPV6, &routes, &inside()))),
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
fn vxlan_on_a_port_that_is_named_is_what_it_is_on_its_own() {
    let own = inner(&outside(17, &udp(5, 4789, &vxlan(&ethernet_inside()))));
    for port in [1, 53, 6081, 12_345, u16::MAX] {
        let frame = outside(17, &udp(5, port, &vxlan(&ethernet_inside())));
        let decoded = |inner, vxlan_port| {
            let length = u32::try_from(frame.len()).unwrap();
            let meta = FrameMeta { number: 1, ts: Some(5), length, link_type: LinkType::ETHERNET };
            Packet::decode(meta, &frame, DecodeOptions { inner, vxlan_port })
        };
        assert_eq!(told(&decoded(true, port)), told(&own), "port {port}");
        assert!(decoded(false, port).status().has(Status::TUNNEL));
        assert_eq!(decoded(false, port).dst_port(), Some(port));
        assert_eq!(decoded(true, port ^ 1).dst_port(), Some(port), "another port");
    }
    // A TCP port of that number is none of VXLAN's.
    let frame = outside(6, &tcp(5, 12_345, 0x12, &vxlan(&ethernet_inside())));
    let meta = FrameMeta {
        number: 1,
        ts: Some(5),
        length: u32::try_from(frame.len()).unwrap(),
        link_type: LinkType::ETHERNET,
    };
    let packet = Packet::decode(meta, &frame, DecodeOptions { inner: true, vxlan_port: 12_345 });
    assert_eq!((packet.dst_port(), packet.status()), (Some(12_345), Status::default()));
}

#[test]
fn what_only_looks_like_a_tunnel_is_none() {
    for (name, bytes) in [
        ("VXLAN without its flag", udp(5, 4789, &[0; 60])),
        ("VXLAN cut off", udp(5, 4789, &[8, 0, 0])),
        ("GENEVE of version 1", udp(5, 6081, &[0x40; 60])),
        ("GTP-U echo", udp(5, 2152, &hex("3201 0004 00000000 00000000"))),
        ("VXLAN-GPE for management", udp(5, 4790, &ip_behind("0d000002 00002a00"))),
        ("VXLAN-GPE of version 1", udp(5, 4790, &ip_behind("1c000002 00002a00"))),
        ("Teredo without IPv6", udp(5, 3544, &hex("0000 f227 3f1d3bff 4500"))),
        ("Teredo cut off", udp(5, 3544, &hex("0001 0505 00"))),
        ("L2TP's control", udp(1701, 1701, &hex("c802 000c 0007 0000 0001 0002"))),
        ("L2F", udp(1701, 1701, &ip_behind("0001 0007 0009 ff03 0057"))),
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
        ("GRE's routes", outside(47, &hex("4000 0800 00000000 0800 00 08 0a000003"))),
        ("GRE's last route", outside(47, &hex("4000 0800 00000000 0800 00 04 0a000003"))),
        ("L2TP's session", outside(17, &udp(5, 1701, &hex("0002 0007 00")))),
        ("L2TP's padding", outside(17, &udp(5, 1701, &hex("0202 0007 0009 0004 0000")))),
        ("GTP-U's sequence", outside(17, &udp(5, 2152, &hex("32ff 0004 00000000 0001")))),
    ] {
        assert!(status(&inner(&bytes)).contains(&"truncated"), "{name}");
    }
    let endless = hex("34ff 0010 00000000 0000 00 85 00 00 00 85");
    let packet = inner(&outside(17, &udp(5, 2152, &endless)));
    assert_eq!(status(&packet), ["bad_header", "tunnel"], "an extension header of no length");
}

/// Cookies, each with and without a sublayer: all that may stand behind the session of L2TP version 3.
const L2TP_3_HEADERS: [&str; 6] = [
    "",
    "40000005",
    "a1b2c3d4",
    "a1b2c3d4 40000005",
    "a1b2c3d4e5f60718",
    "a1b2c3d4e5f60718 40000005",
];

/// A data message of L2TP version 3, in IP and over UDP.
fn l2tp_3(header: &str, frame: &[u8]) -> [Vec<u8>; 2] {
    let message = join(&[&hex("00000009"), &hex(header), frame]);
    [outside(115, &message), outside(17, &udp(1701, 1701, &join(&[&hex("0003 0000"), &message])))]
}

/// A packet from 192.168.1.1, whose checksum is right.
fn checked_ipv4(payload: &[u8]) -> Vec<u8> {
    let mut packet = ipv4(17, payload);
    packet[12..16].copy_from_slice(&[192, 168, 1, 1]);
    set_checksum(&mut packet, 10);
    packet
}

/// Sets the word of an IPv4 header at `at` so that its checksum is right.
fn set_checksum(header: &mut [u8], at: usize) {
    header[at..at + 2].fill(0);
    let words = header[..20].chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
    header[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// Frames that L2TP version 3 may carry, and the address and port of what is inside.
fn l2tp_3_frames() -> Vec<(&'static str, Vec<u8>, (&'static str, u16))> {
    let (v4, v6) = (("192.168.1.1", 8), ("2001:db8::1", 2000));
    let packet = checked_ipv4(&udp(7, 8, b"abc"));
    let padded = join(&[&packet, &[0; 15]]);
    let long = checked_ipv4(&udp(7, 8, &[0x45; 1300]));
    let tagged = vlan(9, IPV4, &packet);
    vec![
        ("IPv4", frame::ethernet(IPV4, &packet), v4),
        ("IPv4, padded", frame::ethernet(IPV4, &padded), v4),
        ("IPv4, long", frame::ethernet(IPV4, &long), v4),
        ("IPv6", ethernet_inside(), v6),
        (
            "IPv6 with tags",
            frame::ethernet(0x88a8, &vlan(8, 0x8100, &vlan(9, IPV6, &inside()))),
            v6,
        ),
        ("IPv4 with a tag", frame::ethernet(0x8100, &tagged), v4),
    ]
}

#[test]
fn l2tp_of_version_3_is_followed_behind_every_cookie_and_sublayer() {
    for header in L2TP_3_HEADERS {
        for (name, frame, (address, port)) in l2tp_3_frames() {
            for bytes in l2tp_3(header, &frame) {
                assert_eq!(status(&ethernet(&bytes)), ["tunnel"], "{name} behind {header:?}");
                let packet = inner(&bytes);
                let source = packet.src_ip().map(|ip| ip.to_string());
                let told = (source.as_deref(), packet.dst_port(), status(&packet));
                let expected = (Some(address), Some(port), vec!["tunnel"]);
                assert_eq!(told, expected, "{name} behind {header:?}");
            }
        }
    }
}

#[test]
fn l2tp_of_version_3_is_only_noted_where_a_detail_of_its_frame_is_wrong() {
    let packet = checked_ipv4(&udp(7, 8, &[0; 60]));
    let from_group = {
        let mut packet = inside();
        packet[8] = 0xff;
        packet
    };
    // Behind the Ethernet header: the version, the length, the checksum.
    let changed = |at: usize| {
        let mut frame = frame::ethernet(IPV4, &packet);
        frame[14 + at] ^= 1;
        frame
    };
    for (name, frame) in [
        ("another version", changed(0)),
        ("another length", changed(3)),
        ("a wrong checksum", changed(11)),
        ("an unknown type", frame::ethernet(0x1234, &packet)),
        ("a type of the other version", frame::ethernet(IPV6, &packet)),
        ("bytes behind the packet", frame::ethernet(IPV4, &join(&[&packet, &[0]]))),
        ("a packet cut off", frame::ethernet(IPV4, &packet[..packet.len() - 1])),
        ("a header cut off", frame::ethernet(IPV4, &packet[..19])),
        ("a group that sends", frame::ethernet(IPV6, &from_group)),
        ("no Ethernet", inside()),
        ("ARP", frame::ethernet(0x0806, &arp(1, [10, 9, 9, 1], [10, 9, 9, 2]))),
        ("nothing", vec![]),
    ] {
        for bytes in L2TP_3_HEADERS.into_iter().flat_map(|header| l2tp_3(header, &frame)) {
            assert_eq!(status(&inner(&bytes)), ["tunnel", "unknown_header"], "{name}");
            assert_eq!(inner(&bytes).ttl(), Some(64), "{name}");
        }
    }
    for bytes in l2tp_3("a1b2c3d4 e5f60718 40000005 01020304", &ethernet_inside()) {
        assert_eq!(status(&inner(&bytes)), ["tunnel", "unknown_header"], "a longer header");
    }
}

#[test]
fn l2tp_of_version_3_is_not_followed_where_two_choices_lead_to_two_packets() {
    // The packet of the frame, and what begins in its TTL behind a type in its fragment field: both are IPv4 in every
    // detail.
    let mut packet = checked_ipv4(&udp(7, 8, &[0; 60]));
    let second_len = packet.len() as u16 - 8;
    packet[6..8].copy_from_slice(&IPV4.to_be_bytes());
    packet[8] = 0x45;
    packet[10..12].copy_from_slice(&second_len.to_be_bytes());
    set_checksum(&mut packet[8..28], 10);
    set_checksum(&mut packet, 4);
    for bytes in l2tp_3("", &frame::ethernet(IPV4, &packet)) {
        assert_eq!(status(&inner(&bytes)), ["tunnel", "unknown_header"]);
    }
    // With one detail of the second changed, the first is the only one.
    packet[27] ^= 1;
    for bytes in l2tp_3("", &frame::ethernet(IPV4, &packet)) {
        assert_eq!(inner(&bytes).ttl(), Some(0x45));
    }
}

#[test]
fn random_bytes_in_l2tp_of_version_3_are_not_followed() {
    seeds(2000, |random| {
        let len = random.below(200);
        let mut frame = random.bytes(len);
        // Half of them have a type where a frame may have it.
        let at = 12 + 4 * random.below(4);
        let kind = random.pick(&[IPV4, IPV6, 0x8100]);
        if let Some(place) = frame.get_mut(at..at + 2)
            && random.once_in(2)
        {
            place.copy_from_slice(&kind.to_be_bytes());
        }
        for bytes in l2tp_3("", &frame) {
            assert_eq!(status(&inner(&bytes)), ["tunnel", "unknown_header"]);
        }
    });
}

#[test]
fn control_of_l2tp_version_3_is_no_tunnel_and_its_session_no_frame() {
    assert!(status(&inner(&outside(115, &hex("00000000 c8030014")))).is_empty(), "in IP");
    let control = udp(1701, 1701, &behind("c803 0014 00000009"));
    assert!(status(&inner(&outside(17, &control))).is_empty(), "over UDP");
    let session_0 = outside(17, &udp(1701, 1701, &behind("0003 0000 00000000")));
    assert_eq!(status(&inner(&session_0)), ["tunnel", "unknown_header"]);
    let cut_off = outside(17, &udp(1701, 1701, &hex("0003 0000 0000")));
    assert_eq!(status(&inner(&cut_off)), ["truncated", "tunnel"]);
}

#[test]
fn l2tp_ends_where_its_length_says() {
    let datagram = ipv4(17, &udp(7, 8, b"abc"));
    let l2tp = |len: usize| {
        let header = hex(&format!("4002 {len:04x} 0007 0009 ff03 0021"));
        inner(&outside(17, &udp(1701, 1701, &join(&[&header, &datagram, &[0; 20]]))))
    };
    assert_eq!(
        (l2tp(12 + datagram.len()).payload_len(), l2tp(12 + 28).dst_port()),
        (Some(3), Some(8))
    );
    // The datagram says that it is longer than what the tunnel holds.
    assert_eq!(status(&l2tp(12 + 28)), ["bad_header", "tunnel"]);
    assert_eq!(status(&l2tp(3)), ["bad_header", "tunnel"]);
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
