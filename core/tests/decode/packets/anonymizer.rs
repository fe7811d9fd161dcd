//! Goal: no address of a host is left in a frame whose addresses were changed, nor anything that no header is; all else is
//! as before, and checksums that were right are right.
//!
//! Method: what the decoder tells of a frame before and after; random frames, and those of the samples; checksums by an
//! obvious function over whole packets; the bytes of addresses looked for in what is left.

use std::cell::RefCell;
use std::collections::HashSet;
use std::net::IpAddr;
use std::path::Path;

use bytewright::packet::{
    Anonymizer, DecodeOptions, Field, FrameMeta, LinkType, Packet, PayloadRule, Status,
};

use super::ethernet;
use crate::files;
use crate::generate::frame::{self, ARP, IPV4, IPV6};
use crate::generate::seeds;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

fn anonymous(rule: PayloadRule, frame: &[u8]) -> Vec<u8> {
    let mut anonymizer = Anonymizer::new(b"a key", rule, 0);
    anonymizer.frame(LinkType::ETHERNET, frame).captured.to_vec()
}

/// The complement of the sum of all words, by the definition (RFC 1071).
fn sum_of(parts: &[&[u8]]) -> u16 {
    let bytes = parts.concat();
    let mut sum = 0_u32;
    for word in bytes.chunks(2) {
        sum += u32::from(word[0]) << 8 | word.get(1).map_or(0, |byte| u32::from(*byte));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn put(bytes: &mut [u8], at: usize, checksum: u16) {
    bytes[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// An IPv4 packet of that protocol, whose checksums are right.
fn summed_ipv4(protocol: u8, checksum_at: usize, content: &[u8]) -> Vec<u8> {
    let mut packet = frame::ipv4_with(protocol, 0, &[7, 3, 4, 0], content);
    let header_sum = sum_of(&[&packet[..24]]);
    put(&mut packet, 10, header_sum);
    let len = (content.len() as u16).to_be_bytes();
    let pseudo = [&packet[12..20], &[0, protocol], &len].concat();
    let summed: &[u8] = if protocol == ICMP { &[] } else { &pseudo };
    let sum = sum_of(&[summed, &packet[24..]]);
    put(&mut packet, 24 + checksum_at, sum);
    packet
}

fn summed_ipv6(protocol: u8, checksum_at: usize, content: &[u8]) -> Vec<u8> {
    let mut packet = frame::ipv6(protocol, content);
    let len = (content.len() as u32).to_be_bytes();
    let sum = sum_of(&[&packet[8..40], &len, &[0, 0, 0, protocol], content]);
    put(&mut packet, 40 + checksum_at, sum);
    packet
}

/// True if the sums of an IP packet with the content at `at` are what they should be.
fn is_right(packet: &[u8], at: usize) -> bool {
    let content = &packet[at..];
    let len = (content.len() as u32).to_be_bytes();
    let (protocol, addresses) = match packet[0] >> 4 {
        4 => (packet[9], &packet[12..20]),
        _ => (packet[6], &packet[8..40]),
    };
    let pseudo = [addresses, &len, &[0, 0, 0, protocol]].concat();
    let summed: &[u8] = if protocol == ICMP { &[] } else { &pseudo };
    let is_header_right = packet[0] >> 4 == 6 || sum_of(&[&packet[..at]]) == 0;
    is_header_right && sum_of(&[summed, content]) == 0
}

#[test]
fn checksums_that_were_right_are_right_whatever_becomes_of_the_payload() {
    let tcp_options = [2, 4, 5, 180, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 30, 6, 1, 2, 3, 4, 1, 1, 1, 1];
    let tcp = frame::tcp_with(1234, 80, 0x18, &tcp_options, b"GET / HTTP/1.1\r\n");
    let udp = frame::udp(53, 5353, b"an odd count of bytes");
    let echo = [&[8, 0, 0, 0, 1, 2, 3, 4][..], b"ping"].concat();
    for rule in [PayloadRule::Zero, PayloadRule::Keep] {
        for (protocol, at, content) in [(TCP, 16, &tcp), (UDP, 6, &udp), (ICMP, 2, &echo)] {
            let packet = summed_ipv4(protocol, at, content);
            assert!(is_right(&packet, 24));
            let found = anonymous(rule, &frame::ethernet(IPV4, &packet));
            assert!(is_right(&found[14..], 24), "{protocol} {rule:?}");
            assert_ne!(found[26..34], packet[12..20]);
        }
        for (protocol, at, content) in [(TCP, 16, &tcp), (UDP, 6, &udp), (ICMPV6, 2, &echo)] {
            let found =
                anonymous(rule, &frame::ethernet(IPV6, &summed_ipv6(protocol, at, content)));
            assert!(is_right(&found[14..], 40), "{protocol} {rule:?}");
        }
    }
}

#[test]
fn a_checksum_that_was_wrong_or_missing_does_not_become_right() {
    let mut packet = summed_ipv4(TCP, 16, &frame::tcp(1, 2, 16, b"x"));
    packet[24 + 16] ^= 0x5a;
    assert!(!is_right(&anonymous(PayloadRule::Zero, &frame::ethernet(IPV4, &packet))[14..], 24));
    let unsummed = frame::ipv4(UDP, &frame::udp(1, 2, b"x"));
    let found = anonymous(PayloadRule::Zero, &frame::ethernet(IPV4, &unsummed));
    assert_eq!(found[14 + 20 + 6..14 + 20 + 8], [0, 0]);
}

#[test]
fn payload_is_overwritten_cut_off_or_kept_and_padding_goes_with_it() {
    let packet = frame::ipv4(UDP, &frame::udp(53, 5353, b"secret"));
    let padded = [frame::ethernet(IPV4, &packet), b"padding".to_vec()].concat();
    let end = 14 + 28;
    let zeroed = anonymous(PayloadRule::Zero, &padded);
    assert_eq!((zeroed.len(), zeroed[end..].iter().all(|byte| *byte == 0)), (padded.len(), true));
    assert_eq!(anonymous(PayloadRule::Cut, &padded), zeroed[..end]);
    let kept = anonymous(PayloadRule::Keep, &padded);
    assert_eq!((&kept[..14 + 26], &kept[end..]), (&zeroed[..14 + 26], &b"secretpadding"[..]));
}

#[test]
fn a_frame_without_a_known_header_counts_as_payload_and_is_told() {
    let mut anonymizer = Anonymizer::new(b"a key", PayloadRule::Zero, 0);
    let unknown = anonymizer.frame(LinkType::IEEE802_11, &[7; 40]);
    assert_eq!((unknown.captured, unknown.is_opaque), (&[0; 40][..], true));
    let spanning_tree = frame::ethernet(38, &[0x42; 38]);
    let known = anonymizer.frame(LinkType::ETHERNET, &spanning_tree);
    assert!(known.is_opaque && known.captured[14..].iter().all(|byte| *byte == 0));
    let packet = frame::ethernet(IPV4, &frame::ipv4(89, b"OSPF names routers"));
    let routing = anonymizer.frame(LinkType::ETHERNET, &packet);
    assert!(!routing.is_opaque && routing.captured[34..].iter().all(|byte| *byte == 0));
}

#[test]
fn an_icmp_error_quotes_the_packet_with_the_addresses_that_it_has_now() {
    let quoted = frame::ipv4(UDP, &frame::udp(1234, 53, b"asked"));
    let error = [&[3, 3, 0, 0, 0, 0, 0, 0][..], &quoted].concat();
    let found = anonymous(PayloadRule::Zero, &frame::ethernet(IPV4, &frame::ipv4(ICMP, &error)));
    let (outer, inner) = (&found[14 + 12..14 + 20], &found[42 + 12..42 + 20]);
    assert_eq!(outer, inner);
    assert_eq!(found[42 + 20..42 + 24], quoted[20..24]);
    assert!(found[42 + 28..].iter().all(|byte| *byte == 0));
}

#[test]
fn neighbours_of_ipv6_are_named_by_the_addresses_that_they_have_now() {
    let target = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
    let asked = [&[135, 0, 0, 0, 0, 0, 0, 0][..], &target, &[1, 1, 2, 0, 0, 0, 0, 2]].concat();
    let found = anonymous(PayloadRule::Zero, &frame::ethernet(IPV6, &frame::ipv6(ICMPV6, &asked)));
    // Who is asked for is who the packet goes to, and who asks is who sent the frame.
    assert_eq!(found[14 + 40 + 8..14 + 40 + 24], found[14 + 24..14 + 40]);
    assert_eq!(found[14 + 40 + 26..], found[6..12]);
}

#[test]
fn arp_names_hosts_by_the_addresses_that_their_packets_have() {
    let found = anonymous(
        PayloadRule::Zero,
        &frame::ethernet(ARP, &frame::arp(1, [10, 0, 0, 1], [10, 0, 0, 2])),
    );
    let packet = anonymous(
        PayloadRule::Zero,
        &frame::ethernet(IPV4, &frame::ipv4(TCP, &frame::tcp(1, 2, 2, b""))),
    );
    let (arp, packet) = (ethernet(&found), ethernet(&packet));
    let told = |packet: &Packet, field| packet.value(field).to_string();
    assert_eq!(told(&arp, Field::ArpSrcIp), told(&packet, Field::SrcIp));
    assert_eq!(told(&arp, Field::ArpDstIp), told(&packet, Field::DstIp));
}

/// Fields that stay: all that a packet holds but addresses.
fn stays(field: Field) -> bool {
    !matches!(field, Field::SrcIp | Field::DstIp | Field::ArpSrcIp | Field::ArpDstIp)
}

#[test]
fn whatever_the_bytes_the_outer_headers_tell_the_same_and_nothing_panics() {
    let rules = [PayloadRule::Zero, PayloadRule::Cut, PayloadRule::Keep];
    let anonymizers = rules.map(|rule| (rule, RefCell::new(Anonymizer::new(b"a key", rule, 0))));
    seeds(20_000, |random| {
        let frame = frame::random(random);
        let link_type = LinkType(frame.link_type);
        let length = frame.length.max(frame.captured.len() as u32);
        let meta = FrameMeta { number: 1, ts: None, length, link_type };
        for (rule, anonymizer) in &anonymizers {
            let mut anonymizer = anonymizer.borrow_mut();
            let found = anonymizer.frame(link_type, &frame.captured).captured;
            assert!(*rule == PayloadRule::Cut || found.len() == frame.captured.len());
            let options = DecodeOptions::default();
            let before = Packet::decode(meta, &frame.captured, options);
            let after = Packet::decode(meta, found, options);
            // What the frame ends within, or does not know, may be zeros now that say something else.
            if before.payload_range().is_none() || before.status() != Status::default() {
                continue;
            }
            for field in
                Field::ALL.iter().filter(|field| stays(**field) && **field != Field::Caplen)
            {
                assert_eq!(after.value(*field), before.value(*field), "{field:?} {rule:?}");
            }
        }
    });
}

#[test]
fn a_frame_becomes_the_same_whatever_frames_came_before_it() {
    for rule in [PayloadRule::Zero, PayloadRule::Cut, PayloadRule::Keep] {
        let after_others = RefCell::new(Anonymizer::new(b"a key", rule, 0));
        seeds(500, |random| {
            let any = frame::random(random);
            let segment = frame::tcp(40_000, 443, 0x10, &vec![0xaa; random.below(1_500)]);
            let datagram = frame::udp(40_000, 443, &vec![0xbb; random.below(900)]);
            let ipv4 = frame::ethernet(IPV4, &frame::ipv4(TCP, &segment));
            let ipv6 = frame::ethernet(IPV6, &frame::ipv6(UDP, &datagram));
            let all = [(any.link_type, any.captured), (1, ipv4), (1, ipv6)];
            for (link_type, frame) in all {
                let link_type = LinkType(link_type);
                let captured = &frame[..frame.len() - random.below(frame.len() / 2 + 1)];
                let mut after_others = after_others.borrow_mut();
                let mut alone = Anonymizer::new(b"a key", rule, 0);
                assert_eq!(
                    after_others.frame(link_type, captured),
                    alone.frame(link_type, captured),
                    "{rule:?}"
                );
            }
        });
    }
}

#[test]
fn no_address_of_a_host_is_left_anywhere_in_the_samples() {
    for name in
        ["web.pcap.gz", "tunnels.pcap", "vlan.pcapng", "fragments.pcap", "interfaces.pcapng"]
    {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
        let capture = files::plain(&samples.join(name));
        let (records, _) = files::records(&capture);
        let mut addresses: HashSet<Vec<u8>> = HashSet::new();
        for record in &records {
            let link_type = LinkType(record.link_type);
            for inner in [false, true] {
                let meta = FrameMeta { number: 1, ts: None, length: record.length, link_type };
                let options = DecodeOptions { inner, ..DecodeOptions::default() };
                let packet = Packet::decode(meta, record.captured, options);
                for address in [packet.src_ip(), packet.dst_ip()].into_iter().flatten() {
                    addresses.extend(told_bytes(address));
                }
            }
        }
        assert!(!addresses.is_empty(), "{name}");
        let mut anonymizer = Anonymizer::new(b"a key", PayloadRule::Zero, 0);
        for (record, number) in records.iter().zip(1..) {
            let link_type = LinkType(record.link_type);
            let found = anonymizer.frame(link_type, record.captured).captured;
            for address in &addresses {
                let is_left = found.windows(address.len()).any(|bytes| bytes == address.as_slice());
                assert!(!is_left, "{name} packet {number} has {address:?}");
            }
        }
    }
}

/// The bytes of an address that tells of a host.
fn told_bytes(address: IpAddr) -> Option<Vec<u8>> {
    match address {
        IpAddr::V4(v4) if v4.is_loopback() || v4.octets()[0] == 0 || v4.octets()[0] >= 224 => None,
        IpAddr::V4(v4) => Some(v4.octets().to_vec()),
        IpAddr::V6(v6) if v6.is_multicast() || v6.is_loopback() || v6.is_unspecified() => None,
        IpAddr::V6(v6) => Some(v6.octets().to_vec()),
    }
}
