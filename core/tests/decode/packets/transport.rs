//! TCP, UDP, SCTP and ICMP.

use bytewright::packet::{DecodeOptions, FrameMeta, LinkType, Packet};

use super::{decoded, hex, status, told};
use crate::generate::frame::{ipv4, ipv4_with, ipv6, tcp, tcp_with, udp};

fn carried(protocol: u8, payload: &[u8]) -> Packet {
    decoded(LinkType::RAW, &ipv4(protocol, payload))
}

#[test]
fn a_tcp_handshake_segment_is_read_from_its_own_bytes() {
    let packet = carried(
        6,
        &hex("c8b2 01bb 9f2a6c10 00000000 a002 faf0 1234 0000
        0204 05b4 0402 080a 01020304 00000000 0103 0307"),
    );
    assert_eq!(
        told(&packet),
        "src_ip=10.0.0.1 dst_ip=10.0.0.2 src_port=51378 dst_port=443 proto=6 ttl=64 tcp_flags=2 \
         payload_len=0 status=0 ip_version=4 ip_len=60 seq=2670357520 ack=0"
    );
}

#[test]
fn all_twelve_flag_bits_are_told() {
    assert_eq!(carried(6, &tcp(1, 2, 0xfff, b"")).tcp_flags(), Some(0xfff));
    assert_eq!(carried(6, &tcp(1, 2, 0, b"")).tcp_flags(), Some(0), "no flag is 0, not null");
}

#[test]
fn a_tcp_payload_begins_behind_the_options() {
    let packet = carried(6, &tcp_with(1, 2, 0x18, &[1; 12], b"hello"));
    assert_eq!((packet.payload_len(), packet.payload_range()), (Some(5), Some(52..57)));
}

#[test]
fn a_tcp_header_shorter_than_its_minimum_is_bad() {
    let mut segment = tcp(1, 2, 0x18, b"hello");
    segment[12] = 0x40;
    let packet = carried(6, &segment);
    assert_eq!((packet.payload_len(), packet.tcp_flags()), (None, Some(0x18)));
    assert_eq!(status(&packet), ["bad_header"]);
}

#[test]
fn a_tcp_header_longer_than_the_packet_is_bad() {
    let mut segment = tcp(1, 2, 0x18, b"hello");
    segment[12] = 0xf0;
    let packet = carried(6, &segment);
    assert_eq!(packet.payload_len(), None);
    assert!(status(&packet).contains(&"bad_header"));
}

#[test]
fn a_transport_header_cut_off_tells_the_fields_before_the_cut() {
    let whole = ipv4(6, &tcp(1, 2, 0x18, b""));
    let told_at = |cut: usize| {
        let meta = FrameMeta { number: 1, ts: None, length: 40, link_type: LinkType::RAW };
        let packet = Packet::decode(meta, &whole[..20 + cut], DecodeOptions::default());
        assert_eq!(status(&packet), ["truncated"], "cut at {cut}");
        [
            packet.dst_port().is_some(),
            packet.seq().is_some(),
            packet.ack().is_some(),
            packet.tcp_flags().is_some(),
        ]
    };
    assert_eq!(told_at(3), [false, false, false, false]);
    assert_eq!(told_at(4), [true, false, false, false]);
    assert_eq!(told_at(8), [true, true, false, false]);
    assert_eq!(told_at(12), [true, true, true, false]);
    assert_eq!(told_at(14), [true, true, true, true]);
    assert_eq!(told_at(19), [true, true, true, true]);
}

#[test]
fn a_udp_length_bounds_the_payload() {
    let mut datagram = udp(1, 2, b"hello");
    assert_eq!(carried(17, &datagram).payload_len(), Some(5));
    datagram[5] = 10;
    assert_eq!(carried(17, &datagram).payload_len(), Some(2));
}

#[test]
fn a_udp_length_that_contradicts_ip_is_bad() {
    for len in [7u8, 14, 255] {
        let mut datagram = udp(1, 2, b"hello");
        datagram[5] = len;
        let packet = carried(17, &datagram);
        assert_eq!((packet.dst_port(), packet.payload_len()), (Some(2), None), "length {len}");
        assert_eq!(status(&packet), ["bad_header"], "length {len}");
    }
}

#[test]
fn a_udp_length_of_0_is_what_ip_says() {
    let mut datagram = udp(1, 2, b"hello");
    datagram[5] = 0;
    assert_eq!(carried(17, &datagram).payload_len(), Some(5));
}

#[test]
fn the_first_fragment_of_a_datagram_has_the_payload_it_carries() {
    let mut datagram = udp(1, 2, &[0; 16]);
    datagram[4..6].copy_from_slice(&3000u16.to_be_bytes());
    let packet = decoded(LinkType::RAW, &ipv4_with(17, 0x2000, &[], &datagram));
    assert_eq!((packet.payload_len(), status(&packet)), (Some(16), vec!["fragment"]));
}

#[test]
fn sctp_ports_are_told() {
    let packet = carried(132, &hex("0b59 0b5a 00000001 12345678 0300 0010 01020304"));
    assert_eq!((packet.src_port(), packet.dst_port()), (Some(2905), Some(2906)));
    assert_eq!(packet.payload_len(), Some(8));
    assert_eq!(status(&carried(132, &hex("0b59 0b5a 0000"))), ["truncated", "bad_header"]);
}

#[test]
fn icmp_of_both_versions_tells_type_and_code() {
    let four = carried(1, &hex("0301 fcfe 00000000"));
    assert_eq!((four.icmp_type(), four.icmp_code(), four.src_port()), (Some(3), Some(1), None));
    let reply = carried(1, &hex("0000 fffe 00000001"));
    assert_eq!((reply.icmp_type(), reply.icmp_code()), (Some(0), Some(0)), "0, not null");
    let six = decoded(LinkType::RAW, &ipv6(58, &hex("8000 1234 00000001")));
    assert_eq!(six.icmp_type(), Some(128));
    assert_eq!(status(&carried(1, &hex("03"))), ["truncated"]);
}

#[test]
fn headers_quoted_in_an_icmp_error_are_not_the_packets_own() {
    let quoted = ipv4(17, &udp(1000, 2000, b""));
    let packet = carried(1, &[&hex("0303 0000 00000000")[..], &quoted].concat());
    assert_eq!((packet.src_port(), packet.proto()), (None, Some(1)));
}
