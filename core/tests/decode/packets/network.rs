//! IPv4, IPv6 and its extension headers.

use bytewright::packet::{DecodeOptions, FrameMeta, LinkType, Packet};

use super::{decoded, hex, inner, status, told};
use crate::generate::frame::{self, IPV4, ipv4, ipv4_with, ipv6, join, tcp, udp};

fn raw(packet: &[u8]) -> Packet {
    decoded(LinkType::RAW, packet)
}

#[test]
fn ipv4_options_are_stepped_over() {
    for words in 1..=10 {
        let packet = raw(&ipv4_with(17, 0, &vec![1; words * 4], &udp(5, 6, b"abc")));
        assert_eq!((packet.dst_port(), packet.payload_len()), (Some(6), Some(3)));
        assert!(status(&packet).is_empty());
    }
}

#[test]
fn the_first_fragment_has_ports_and_a_later_one_has_not() {
    let first = raw(&ipv4_with(17, 0x2000, &[], &udp(5, 6, &[0; 24])));
    assert_eq!(status(&first), ["fragment"]);
    assert_eq!((first.frag_offset(), first.src_port()), (Some(0), Some(5)));

    let later = raw(&ipv4_with(17, 0x00b9, &[], &[0; 24]));
    assert_eq!(status(&later), ["fragment"]);
    assert_eq!(
        (later.frag_offset(), later.src_port(), later.proto()),
        (Some(1480), None, Some(17))
    );

    let whole = raw(&ipv4_with(17, 0x4000, &[], &udp(5, 6, b"")));
    assert_eq!(whole.frag_offset(), None, "a whole packet has no offset, not 0");
}

#[test]
fn the_largest_fragment_offset_fits() {
    assert_eq!(raw(&ipv4_with(17, 0x1fff, &[], &[0; 8])).frag_offset(), Some(65_528));
}

#[test]
fn a_fragment_is_noted_where_the_options_are_cut_off() {
    let packet = ipv4_with(17, 0x00b9, &[1; 40], &[0; 8]);
    let packet = raw(&packet[..30]);
    assert_eq!(status(&packet), ["truncated", "fragment"]);
    assert_eq!((packet.frag_offset(), packet.proto()), (Some(1480), Some(17)));
}

#[test]
fn an_ipv4_length_below_the_header_is_a_bad_header() {
    for (index, value) in [(0, 0x44), (0, 0x40), (3, 19), (3, 10)] {
        let mut bytes = ipv4(17, &udp(5, 6, b""));
        bytes[index] = value;
        assert_eq!(told(&raw(&bytes)), "status=2", "byte {index} is {value}");
    }
}

#[test]
fn an_ipv4_length_of_0_is_what_the_frame_holds() {
    // Segmentation offload: the capture is taken before the network card fills the length in.
    let mut bytes = ipv4(6, &tcp(5, 6, 0x10, &[0; 1000]));
    bytes[2..4].fill(0);
    let packet = raw(&bytes);
    assert_eq!((packet.ip_len(), packet.payload_len()), (Some(1040), Some(1000)));
}

#[test]
fn what_lies_behind_the_ip_length_is_padding() {
    let mut bytes = ipv4(17, &udp(5, 6, b"abc"));
    bytes.extend([0; 18]);
    let packet = raw(&bytes);
    assert_eq!(packet.payload_range(), Some(28..31));

    let mut bytes = ipv6(6, &tcp(5, 6, 2, b""));
    bytes.extend([0; 18]);
    assert_eq!(raw(&bytes).payload_len(), Some(0));
}

#[test]
fn a_cut_packet_tells_the_length_that_was_on_the_wire() {
    let whole = ipv4(6, &tcp(5, 6, 0x18, &[7; 1000]));
    let meta = FrameMeta { number: 1, ts: None, length: 1040, link_type: LinkType::RAW };
    let packet = Packet::decode(meta, &whole[..60], DecodeOptions::default());
    assert_eq!((packet.payload_len(), packet.payload_range()), (Some(1000), Some(40..60)));
    assert!(status(&packet).is_empty(), "every header is whole");
    assert_eq!(packet.ts(), None);
}

#[test]
fn an_ip_length_above_the_frame_gives_no_payload_that_never_was() {
    let mut bytes = ipv4(6, &tcp(5, 6, 0x18, &[7; 10]));
    bytes[2..4].copy_from_slice(&5000u16.to_be_bytes());
    let packet = raw(&bytes);
    assert_eq!((packet.ip_len(), packet.payload_len()), (Some(5000), Some(10)));
}

#[test]
fn an_ip_header_cut_off_is_truncated_and_gives_nothing() {
    for whole in [ipv4(17, b""), ipv6(17, b"")] {
        for cut in 1..whole.len() {
            assert_eq!(told(&raw(&whole[..cut])), "status=1", "cut at {cut}");
        }
    }
}

#[test]
fn an_ipv6_packet_is_read_from_its_own_bytes() {
    let packet = raw(&hex("6000 0000 0010 3a ff
        fe80 0000 0000 0000 0000 0000 0000 0001 ff02 0000 0000 0000 0000 0000 0000 0002
        8500 7d37 0000 0000 0101 0202 0202 0202"));
    assert_eq!(
        told(&packet),
        "src_ip=fe80::1 dst_ip=ff02::2 proto=58 ttl=255 status=0 ip_version=6 ip_len=56 \
         icmp_type=133 icmp_code=0"
    );
}

#[test]
fn an_ipv6_address_that_maps_an_ipv4_one_stays_ipv6_in_its_packet() {
    let mut bytes = ipv6(17, &udp(5, 6, b""));
    bytes[8..24].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1]);
    let packet = raw(&bytes);
    assert_eq!(packet.src_ip().map(|address| address.is_ipv6()), Some(true));
}

#[test]
fn every_ipv6_extension_header_is_stepped_over() {
    let datagram = udp(5, 6, b"abc");
    for (kind, header) in [
        (0, "11 00 0104 00000000"),
        (43, "11 02 0401 0000000020010db8000000000000000000000001"),
        (44, "11 00 0000 00000001"),
        (51, "11 04 0000 00000001 00000001 000000000000000000000000"),
        (60, "11 01 0104 000000000000000000000000"),
        (135, "11 00 0100 00000000"),
    ] {
        let packet = raw(&ipv6(kind, &join(&[&hex(header), &datagram])));
        assert_eq!((packet.proto(), packet.dst_port()), (Some(17), Some(6)), "header {kind}");
        assert_eq!(packet.payload_len(), Some(3), "header {kind}");
        assert!(
            status(&packet).is_empty(),
            "header {kind}: a fragment header alone is no fragment"
        );
    }
}

#[test]
fn an_authentication_header_in_ipv4_is_stepped_over_as_in_ipv6() {
    let header =
        |next| join(&[&[next], &hex("04 0000 00000001 00000001 000000000000000000000000")]);
    let datagram = udp(5, 6, b"abc");
    let one = join(&[&header(17), &datagram]);
    let two = join(&[&header(51), &one]);
    for payload in [&one, &two] {
        let packets = [raw(&ipv4(51, payload)), raw(&ipv6(51, payload))];
        for packet in packets {
            assert_eq!((packet.proto(), packet.dst_port()), (Some(17), Some(6)));
            assert_eq!((packet.payload_len(), status(&packet)), (Some(3), vec![]));
        }
    }
    let first = raw(&ipv4_with(51, 0x2000, &[], &one));
    assert_eq!((status(&first), first.dst_port()), (vec!["fragment"], Some(6)));
    for cut in [1, 2, 23] {
        let packet = raw(&ipv4(51, &one[..cut]));
        assert_eq!((status(&packet), packet.proto()), (vec!["truncated"], None), "cut at {cut}");
    }
    let inside = ipv4(17, &udp(7, 8, b""));
    let tunnel = frame::ethernet(IPV4, &ipv4(51, &join(&[&header(4), &inside])));
    assert_eq!((inner(&tunnel).proto(), inner(&tunnel).dst_port()), (Some(17), Some(8)));
}

#[test]
fn extension_headers_may_follow_each_other() {
    let chain = join(&[&hex("2b00 0000 00000000 3c00 0000 00000000 0600 0104 00000000")]);
    let packet = raw(&ipv6(0, &join(&[&chain, &tcp(5, 6, 0x12, b"")])));
    assert_eq!((packet.proto(), packet.tcp_flags()), (Some(6), Some(0x12)));
}

#[test]
fn ipv6_fragments_tell_their_offset_and_protocol() {
    let first = raw(&ipv6(44, &join(&[&hex("1100 0001 00000009"), &udp(5, 6, &[0; 16])])));
    assert_eq!(status(&first), ["fragment"]);
    assert_eq!((first.frag_offset(), first.dst_port()), (Some(0), Some(6)));

    let later = raw(&ipv6(44, &join(&[&hex("1100 05a8 00000009"), &[0; 16]])));
    assert_eq!(status(&later), ["fragment"]);
    assert_eq!((later.frag_offset(), later.dst_port()), (Some(1448), None));
    assert_eq!(later.proto(), Some(17));
}

#[test]
fn an_extension_header_cut_off_is_truncated_and_leaves_the_protocol_null() {
    for (kind, header) in [(0, "1101 0000"), (44, "1100 00"), (51, "1104 0000 00000001")] {
        let packet = raw(&ipv6(kind, &hex(header)));
        assert_eq!(status(&packet), ["truncated"]);
        assert_eq!((packet.proto(), packet.ttl()), (None, Some(63)));
    }
}

#[test]
fn a_jumbogram_has_the_length_of_its_frame() {
    let mut bytes = ipv6(0, &join(&[&hex("0600 c204 00013880"), &tcp(5, 6, 0x10, &[0; 70_000])]));
    bytes[4..6].fill(0);
    let packet = raw(&bytes);
    assert_eq!((packet.ip_len(), packet.payload_len()), (Some(70_068), Some(70_000)));
}

#[test]
fn protocols_without_a_decoder_are_told_by_number() {
    for protocol in [2, 50, 59, 89, 255] {
        let packet = raw(&ipv4(protocol, &[0; 30]));
        assert_eq!(packet.proto(), Some(protocol));
        assert_eq!((packet.src_port(), packet.payload_len()), (None, None));
    }
}
