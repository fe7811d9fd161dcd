//! The link layer.

use bytewright::packet::{Field, LinkType};

use super::{decoded, ethernet, hex, status, told};
use crate::generate::frame::{
    self, ARP, IPV4, IPV6, arp, ipv4, ipv6, join, mpls, pppoe, udp, vlan,
};

/// A datagram from port 1 to port 2, in IPv4.
fn datagram() -> Vec<u8> {
    ipv4(17, &udp(1, 2, b"ab"))
}

fn is_the_datagram(packet: &bytewright::packet::Packet) -> bool {
    packet.src_ip().is_some_and(|address| address.to_string() == "10.0.0.1")
        && packet.dst_port() == Some(2)
        && packet.payload_len() == Some(2)
        && status(packet).is_empty()
}

#[test]
fn a_dns_query_in_ethernet_is_read_from_its_own_bytes() {
    // The first frame of Wireshark's "dns.cap" in shape: 192.168.170.8 asks 192.168.170.20.
    let packet = ethernet(&hex("00c09f32418c 00e018b10cad 0800
        4500 0038 0000 4000 4011 6547 c0a8aa08 c0a8aa14
        8056 0035 0024 85ed
        1032 0100 0001 0000 0000 0000 0667 6f6f 676c 6503 636f 6d00 0010 0001"));
    assert_eq!(
        told(&packet),
        "src_ip=192.168.170.8 dst_ip=192.168.170.20 src_port=32854 dst_port=53 proto=17 ttl=64 \
         payload_len=28 status=0 ethertype=2048 ip_version=4 ip_len=56"
    );
    assert_eq!(packet.payload_range(), Some(42..70));
}

#[test]
fn the_outermost_tag_gives_the_vlan_id_and_the_innermost_the_ethertype() {
    for tpid in [0x8100, 0x88a8, 0x9100] {
        let tagged = vlan(0xe000 | 100, 0x8100, &vlan(200, IPV4, &datagram()));
        let packet = ethernet(&frame::ethernet(tpid, &tagged));
        assert!(is_the_datagram(&packet));
        assert_eq!((packet.vlan(), packet.ethertype()), (Some(100), Some(IPV4)));
    }
}

#[test]
fn a_vlan_id_of_0_is_told_and_no_tag_is_null() {
    let tagged = ethernet(&frame::ethernet(0x8100, &vlan(0, IPV4, &datagram())));
    assert_eq!(tagged.vlan(), Some(0));
    assert_eq!(ethernet(&frame::ethernet(IPV4, &datagram())).vlan(), None);
}

#[test]
fn a_tag_cut_off_is_truncated() {
    for cut in 0..4 {
        let packet = ethernet(&frame::ethernet(0x8100, &[0; 4][..cut]));
        assert_eq!((packet.vlan(), status(&packet)), (None, vec!["truncated"]));
    }
}

#[test]
fn a_length_in_place_of_the_type_leads_to_802_2() {
    let snap = join(&[&[0xaa, 0xaa, 3, 0, 0, 0], &IPV4.to_be_bytes(), &datagram()]);
    let mut bytes = frame::ethernet(snap.len() as u16, &snap);
    bytes.extend([0; 10]);
    let packet = ethernet(&bytes);
    assert!(is_the_datagram(&packet));
    assert_eq!(packet.ethertype(), Some(IPV4));

    let llc = join(&[&[6, 6, 3], &datagram()]);
    assert!(is_the_datagram(&ethernet(&frame::ethernet(llc.len() as u16, &llc))));

    let spanning_tree = ethernet(&frame::ethernet(38, &[0x42; 38]));
    assert_eq!(told(&spanning_tree), "status=64");
}

#[test]
fn a_vn_tag_is_stepped_over() {
    let tagged = join(&[&hex("8005 0001 0800"), &datagram()]);
    let packet = ethernet(&frame::ethernet(0x8926, &tagged));
    assert!(is_the_datagram(&packet));
    assert_eq!((packet.vlan(), packet.ethertype()), (None, Some(IPV4)));
    let both = join(&[&hex("8005 0001 8100"), &vlan(7, IPV4, &datagram())]);
    assert_eq!(ethernet(&frame::ethernet(0x8926, &both)).vlan(), Some(7));
    for cut in 0..6 {
        assert_eq!(told(&ethernet(&frame::ethernet(0x8926, &tagged[..cut]))), "status=1");
    }
}

#[test]
fn mpls_labels_are_stepped_over_down_to_the_bottom() {
    for labels in [&[16][..], &[16, 17, 18]] {
        let packet = ethernet(&frame::ethernet(0x8847, &mpls(labels, &datagram())));
        assert!(is_the_datagram(&packet));
    }
    let six = ethernet(&frame::ethernet(0x8848, &mpls(&[16], &ipv6(17, &udp(1, 2, b"")))));
    assert_eq!(six.ip_version(), Some(6));
    let pseudo_wire = ethernet(&frame::ethernet(0x8847, &mpls(&[16], &[0; 40])));
    assert_eq!(told(&pseudo_wire), "status=64 ethertype=34887");
    let nothing = ethernet(&frame::ethernet(0x8847, &mpls(&[16], &[])));
    assert_eq!(status(&nothing), ["truncated"]);
    let endless = ethernet(&frame::ethernet(0x8847, &[0; 40]));
    assert_eq!(status(&endless), ["truncated"]);
}

#[test]
fn pppoe_sessions_are_followed_as_far_as_their_length() {
    let session = pppoe(&join(&[&[0, 0x21], &datagram()]));
    assert!(is_the_datagram(&ethernet(&frame::ethernet(0x8864, &session))));
    assert!(is_the_datagram(&decoded(LinkType::PPP_ETHER, &session)));

    let discovery = hex("11 09 0000 0004 0101 0000");
    assert_eq!(told(&ethernet(&frame::ethernet(0x8864, &discovery))), "status=64 ethertype=34916");
    let other_version = hex("21 00 0007 0004 0021 4500");
    assert_eq!(status(&ethernet(&frame::ethernet(0x8864, &other_version))), ["bad_header"]);
}

#[test]
fn what_lies_behind_a_pppoe_payload_is_padding() {
    // The IP header states 6 bytes more than the PPPoE header grants it.
    let segment = frame::tcp(443, 20394, 0x10, b"");
    let mut packet = ipv4(6, &segment);
    packet[3] += 6;
    let mut frame = frame::ethernet(0x8864, &pppoe(&join(&[&[0, 0x21], &packet])));
    frame.extend([0; 6]);
    let packet = ethernet(&frame);
    assert_eq!((packet.ip_len(), packet.payload_len()), (Some(46), Some(0)));
}

#[test]
fn ppp_is_read_with_and_without_its_framing_and_compressed() {
    for start in ["ff03 0021", "0021", "ff03 21", "21"] {
        let frame = join(&[&hex(start), &datagram()]);
        assert!(is_the_datagram(&decoded(LinkType::PPP, &frame)), "{start}");
        assert!(is_the_datagram(&decoded(LinkType::PPP_HDLC, &frame)), "{start}");
    }
    let six = join(&[&[0, 0x57], &ipv6(17, &udp(1, 2, b""))]);
    assert_eq!(decoded(LinkType::PPP, &six).ip_version(), Some(6));
    let labelled = join(&[&[0x02, 0x81], &mpls(&[16], &datagram())]);
    assert!(is_the_datagram(&decoded(LinkType::PPP, &labelled)));
    assert_eq!(told(&decoded(LinkType::PPP, &hex("ff03 c021 0101 0004"))), "status=64");
}

#[test]
fn cisco_hdlc_is_read_under_its_own_link_type_and_under_those_of_ppp() {
    for link_type in [LinkType::C_HDLC, LinkType::PPP, LinkType::PPP_HDLC] {
        for address in [0x0f, 0x8f] {
            let frame = join(&[&[address, 0, 8, 0], &datagram()]);
            assert!(is_the_datagram(&decoded(link_type, &frame)), "{link_type:?}");
        }
        let labelled = join(&[&hex("0f00 8847"), &mpls(&[16], &datagram())]);
        assert!(is_the_datagram(&decoded(link_type, &labelled)), "{link_type:?}");
        // Serial line address resolution, which is not RARP.
        assert_eq!(told(&decoded(link_type, &hex("8f00 8035 00000002 00000000"))), "status=64");
        assert_eq!(status(&decoded(link_type, &hex("0f00 08"))), ["truncated"]);
    }
}

#[test]
fn raw_ip_of_every_number_is_told_by_its_version() {
    let numbers = [12, 14, 101, 228, 229];
    for link_type in numbers.map(LinkType) {
        assert!(is_the_datagram(&decoded(link_type, &datagram())));
        let six = decoded(link_type, &ipv6(17, &udp(1, 2, b"")));
        assert_eq!(six.ip_version(), Some(6));
        assert_eq!(status(&decoded(link_type, &[0x50; 40])), ["bad_header"]);
        assert_eq!(status(&decoded(link_type, &[])), ["truncated"]);
    }
}

#[test]
fn bsd_loopback_has_its_family_in_either_byte_order() {
    for family in ["0200 0000", "0000 0002", "1800 0000", "1c00 0000", "1e00 0000", "0000 001e"] {
        let frame = join(&[&hex(family), &datagram()]);
        assert!(is_the_datagram(&decoded(LinkType::NULL, &frame)), "{family}");
    }
    assert!(is_the_datagram(&decoded(LinkType::LOOP, &join(&[&[0, 0, 0, 2], &datagram()]))));
    assert_eq!(told(&decoded(LinkType::LOOP, &join(&[&[2, 0, 0, 0], &datagram()]))), "status=64");
    assert_eq!(told(&decoded(LinkType::NULL, &hex("0700 0000 4500"))), "status=64");
    assert_eq!(status(&decoded(LinkType::NULL, &hex("0200 00"))), ["truncated"]);
}

#[test]
fn bsd_loopback_may_have_an_ethertype_or_ppp_in_place_of_a_family() {
    for kind in ["0000 0800", "0008 0000", "0f00 0800", "0000 86dd", "dd86 0000"] {
        let packet = decoded(LinkType::NULL, &join(&[&hex(kind), &datagram()]));
        assert!(is_the_datagram(&packet), "{kind}");
        assert!(matches!(packet.ethertype(), Some(0x0800 | 0x86dd)), "{kind}");
    }
    let tagged = join(&[&hex("0000 8100"), &vlan(7, IPV4, &datagram())]);
    assert_eq!(decoded(LinkType::NULL, &tagged).vlan(), Some(7));
    // IRIX has families of 16 bits.
    for start in ["0002 0000", "ffff 0200", "ff03 0021"] {
        assert!(is_the_datagram(&decoded(LinkType::NULL, &join(&[&hex(start), &datagram()]))));
    }
    for (start, expected) in [
        ("0000 07ff 4500", "status=64"),
        ("0000 88cc 4500", "status=64 ethertype=35020"),
        ("0700 0700 4500", "status=64"),
    ] {
        assert_eq!(told(&decoded(LinkType::NULL, &hex(start))), expected, "{start}");
    }
}

#[test]
fn linux_cooked_captures_of_both_versions_are_read() {
    let one = join(&[&hex("0000 0001 0006 aabbccddeeff 0000 0800"), &datagram()]);
    assert!(is_the_datagram(&decoded(LinkType::LINUX_SLL, &one)));
    let two = join(&[&hex("0800 0000 00000002 0001 00 06 aabbccddeeff0000"), &datagram()]);
    assert!(is_the_datagram(&decoded(LinkType::LINUX_SLL2, &two)));
    let tagged = hex("0000 0001 0006 aabbccddeeff 0000 8100");
    let tagged = join(&[&tagged, &vlan(7, IPV4, &datagram())]);
    assert_eq!(decoded(LinkType::LINUX_SLL, &tagged).vlan(), Some(7));
    let spanning_tree = join(&[&hex("0000 0001 0006 aabbccddeeff 0000 0004"), &[0x42, 0x42, 3]]);
    assert_eq!(told(&decoded(LinkType::LINUX_SLL, &spanning_tree)), "status=64");
    assert_eq!(status(&decoded(LinkType::LINUX_SLL, &one[..15])), ["truncated"]);
    assert_eq!(status(&decoded(LinkType::LINUX_SLL2, &two[..19])), ["truncated"]);
}

#[test]
fn an_arp_request_tells_operation_and_addresses() {
    let bytes = frame::ethernet(ARP, &arp(1, [10, 0, 0, 1], [10, 0, 0, 2]));
    assert_eq!(
        told(&ethernet(&bytes)),
        "status=0 ethertype=2054 arp_op=1 arp_src_ip=10.0.0.1 arp_dst_ip=10.0.0.2"
    );
}

#[test]
fn reverse_arp_tells_what_arp_tells() {
    let bytes = frame::ethernet(0x8035, &arp(4, [10, 0, 0, 1], [10, 0, 0, 2]));
    assert_eq!(
        told(&ethernet(&bytes)),
        "status=0 ethertype=32821 arp_op=4 arp_src_ip=10.0.0.1 arp_dst_ip=10.0.0.2"
    );
}

#[test]
fn arp_addresses_that_are_cut_off_or_not_ipv4_are_null() {
    let whole = arp(2, [10, 0, 0, 1], [10, 0, 0, 2]);
    let cut = ethernet(&frame::ethernet(ARP, &whole[..20]));
    assert_eq!(told(&cut), "status=1 ethertype=2054 arp_op=2 arp_src_ip=10.0.0.1");

    // A hardware address of 134 bytes reaches past the end: nothing stands behind it.
    let mut long = whole.clone();
    long[4] = 134;
    let long = ethernet(&frame::ethernet(ARP, &long));
    assert_eq!(told(&long), "status=1 ethertype=2054 arp_op=2");

    let mut ipv6 = whole.clone();
    ipv6[2..4].copy_from_slice(&IPV6.to_be_bytes());
    assert_eq!(told(&ethernet(&frame::ethernet(ARP, &ipv6))), "status=64 ethertype=2054 arp_op=2");

    let mut atm = whole;
    atm[1] = 19;
    assert_eq!(told(&ethernet(&frame::ethernet(ARP, &atm))), "status=64 ethertype=2054 arp_op=2");
}

#[test]
fn a_link_type_that_is_not_decoded_leaves_the_frame_columns() {
    let packet = decoded(LinkType::IEEE802_11_RADIOTAP, &datagram());
    assert_eq!(told(&packet), "status=32");
    assert!(packet.has(Field::Length) && packet.has(Field::Ts));
    assert_eq!(LinkType::IEEE802_11_RADIOTAP.name(), Some("IEEE802_11_RADIOTAP"));
    assert_eq!(LinkType(65_000).name(), None);
}

#[test]
fn an_ethertype_that_is_not_decoded_is_told() {
    assert_eq!(told(&ethernet(&frame::ethernet(0x88cc, &[2, 7, 4]))), "status=64 ethertype=35020");
}

#[test]
fn an_ethernet_header_cut_off_is_truncated() {
    for cut in 0..14 {
        let packet = ethernet(&frame::ethernet(IPV4, b"")[..cut]);
        assert_eq!(told(&packet), "status=1");
    }
}
