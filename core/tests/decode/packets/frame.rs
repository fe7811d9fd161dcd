//! Fields that are read from a frame's bytes: MAC addresses, interfaces, DNS, TLS and HTTP.

use bytewright::batch::Value;
use bytewright::input::{CaptureOptions, CaptureReader};
use bytewright::packet::{
    DecodeOptions, Field, Frame, FrameInterface, FrameMeta, LinkType, Packet, PacketColumns,
};

use super::{decoded, hex, inner};
use crate::generate::frame::{self, ethernet as ethernet_frame, ipv4, ipv6, join, tcp, udp};
use crate::generate::{Random, seeds};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// The value of a field of a frame, as text.
fn text(packet: &Packet, captured: &[u8], field: Field) -> String {
    Frame::new(packet, captured, None).value(field).to_string()
}

/// The fields of what an Ethernet frame carries that are not null, as text.
fn told(captured: &[u8]) -> String {
    let packet = decoded(LinkType::ETHERNET, captured);
    let frame = Frame::new(&packet, captured, None);
    let fields = [
        Field::DnsQuery,
        Field::DnsType,
        Field::DnsIsResponse,
        Field::DnsRcode,
        Field::DnsAnswers,
        Field::DnsAnswerNames,
        Field::TlsSni,
        Field::HttpMethod,
        Field::HttpPath,
        Field::HttpHost,
        Field::HttpUserAgent,
        Field::HttpStatus,
        Field::TlsVersion,
        Field::TlsAlpn,
        Field::Ja4,
    ];
    let told = fields.into_iter().filter(|field| !frame.value(*field).is_null());
    let told = told.map(|field| format!("{}={}", field.name(), frame.value(field)));
    told.collect::<Vec<_>>().join(" ")
}

#[test]
fn mac_addresses_are_those_that_the_frame_begins_with() {
    let macs = |link_type, captured: &[u8]| {
        let packet = decoded(link_type, captured);
        [Field::SrcMac, Field::DstMac].map(|field| text(&packet, captured, field))
    };
    let header = hex("00c09f32418c 00e018b1adfe 0800");
    let both = ["00:e0:18:b1:ad:fe", "00:c0:9f:32:41:8c"];
    let datagram = ipv4(17, &udp(1, 2, b"x"));
    assert_eq!(macs(LinkType::ETHERNET, &join(&[&header, &datagram])), both);
    assert_eq!(macs(LinkType::ETHERNET, &header), both);
    assert_eq!(macs(LinkType::ETHERNET, &header[..13]), ["", ""]);
    let sender = ["aa:bb:cc:dd:ee:ff", ""];
    let cooked = hex("0000 0001 0006 aabbccddeeff 0000 0800");
    assert_eq!(macs(LinkType::LINUX_SLL, &cooked), sender);
    let cooked = hex("0800 0000 00000002 0001 00 06 aabbccddeeff0000");
    assert_eq!(macs(LinkType::LINUX_SLL2, &cooked), sender);
    let of_8_bytes = hex("0000 0001 0008 aabbccddeeff 0000 0800");
    assert_eq!(macs(LinkType::LINUX_SLL, &of_8_bytes), ["", ""]);
    assert_eq!(macs(LinkType::RAW, &datagram), ["", ""]);
}

#[test]
fn mac_addresses_are_those_of_the_outer_frame_where_a_tunnel_is_followed() {
    let inside = join(&[&hex("0800000000000100 020000000009 020000000008 0800"), &ipv4(17, b"")]);
    let tunnelled = ethernet_frame(IPV4, &ipv4(17, &udp(1, 4789, &inside)));
    let outer = decoded(LinkType::ETHERNET, &tunnelled);
    for field in [Field::SrcMac, Field::DstMac] {
        let of_inner = text(&inner(&tunnelled), &tunnelled, field);
        assert_eq!(of_inner, text(&outer, &tunnelled, field));
        let inside = ["02:00:00:00:00:08", "02:00:00:00:00:09"];
        assert!(!inside.contains(&of_inner.as_str()), "{of_inner}");
    }
}

#[test]
fn the_interface_is_the_one_that_the_file_names() {
    let packet = decoded(LinkType::RAW, &[]);
    let values = |interface| {
        let frame = Frame::new(&packet, &[], interface);
        [Field::Interface, Field::InterfaceName].map(|field| frame.value(field).to_string())
    };
    assert_eq!(
        values(Some(FrameInterface { number: 70_000, name: Some("eth0") })),
        ["70000", "eth0"]
    );
    assert_eq!(values(Some(FrameInterface { number: 0, name: None })), ["0", ""]);
    assert_eq!(values(None), ["", ""]);
}

/// A question for the IPv6 address of www.example.org, as a response with no answer.
const QUESTION: &[u8] =
    b"\x12\x34\x81\x80\0\x01\0\0\0\0\0\0\x03www\x07example\x03org\0\0\x1c\0\x01";

#[test]
fn dns_is_read_on_its_ports_in_both_versions_of_ip() {
    let expected = "dns_query=www.example.org dns_type=28 dns_is_response=true dns_rcode=0";
    for (src_port, dst_port) in [(53, 40_000), (40_000, 53), (5353, 5353), (1, 5355)] {
        let datagram = udp(src_port, dst_port, QUESTION);
        assert_eq!(told(&ethernet_frame(IPV4, &ipv4(17, &datagram))), expected);
        assert_eq!(told(&ethernet_frame(IPV6, &ipv6(17, &datagram))), expected);
    }
    assert_eq!(told(&ethernet_frame(IPV4, &ipv4(17, &udp(54, 55, QUESTION)))), "");
    assert_eq!(told(&ethernet_frame(IPV4, &ipv4(6, &tcp(53, 54, 0x18, QUESTION)))), "");
    let with_length = join(&[&(QUESTION.len() as u16).to_be_bytes(), QUESTION]);
    let segment = |port, payload: &[u8]| ipv4(6, &tcp(port, 54, 0x18, payload));
    assert_eq!(told(&ethernet_frame(IPV4, &segment(53, &with_length))), expected);
    assert_eq!(told(&ethernet_frame(IPV4, &segment(55, &with_length))), "");
    assert_eq!(
        told(&ethernet_frame(IPV4, &segment(53, &with_length[..with_length.len() - 1]))),
        ""
    );
}

#[test]
fn dns_answers_are_the_addresses_and_the_names_of_the_message() {
    let mut message = QUESTION.to_vec();
    message[7] = 3;
    message.extend_from_slice(b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01");
    message.extend_from_slice(b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x02");
    message.extend_from_slice(b"\xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x04\x01a\xc0\x10");
    let told = told(&ethernet_frame(IPV4, &ipv4(17, &udp(53, 1, &message))));
    let answers = "dns_answers=192.0.2.1,192.0.2.2 dns_answer_names=a.example.org";
    assert!(told.ends_with(answers), "{told}");
}

#[test]
fn http_and_tls_are_read_on_any_port() {
    let request = b"GET /a HTTP/1.1\r\nHost: example.org:8080\r\n\r\n";
    let segment = |payload: &[u8]| ethernet_frame(IPV4, &ipv4(6, &tcp(1, 2, 0x18, payload)));
    let of_request = "http_method=GET http_path=/a http_host=example.org:8080";
    assert_eq!(told(&segment(request)), of_request);
    let hello = join(&[
        &hex("16 0301 0049 01 000045 0303"),
        &[7; 32],
        &hex("00 0002 1301 01 00 001a 0000 0016 0014 00 0011"),
        b"secure.example.or",
    ]);
    let client =
        "tls_sni=secure.example.or tls_version=1.2 ja4=t12d010100_0f2cb44170f4_000000000000";
    assert_eq!(told(&segment(&hello)), client);
    assert_eq!(told(&segment(&join(&[b"\r\n", request]))), of_request);
    let (first, second) = hello[5..].split_at(60);
    let record = |part: &[u8]| join(&[&hex("16 0301 00"), &[part.len() as u8], part]);
    let in_two_records = segment(&join(&[&record(first), &record(second)]));
    assert_eq!(told(&in_two_records), client);
    assert_eq!(told(&segment(b"HTTP/1.1 404 Not Found\r\n")), "http_status=404");
    assert_eq!(told(&segment(b"")), "");
    assert_eq!(told(&ethernet_frame(IPV4, &ipv4(17, &udp(1, 2, request)))), "");
}

#[test]
fn rows_of_frames_are_the_values_of_the_frames() {
    seeds(60, |random| {
        let frames: Vec<_> = (0..random.below(300)).map(|_| random_frame(random)).collect();
        let mut columns = PacketColumns::new(Field::ALL);
        for (packet, captured, name) in &frames {
            columns.push(&framed(packet, captured, name));
        }
        assert_eq!(columns.len(), frames.len());
        let batch = columns.take();
        for (row, (packet, captured, name)) in frames.iter().enumerate() {
            let frame = framed(packet, captured, name);
            for (place, field) in Field::ALL.iter().enumerate() {
                let expected = match frame.value(*field) {
                    Value::Address(address) => Value::Address(address.to_canonical()),
                    value => value,
                };
                assert_eq!(batch.value(row, place), expected, "{field:?} of row {row}");
                let kept = frame.to_kept();
                assert_eq!(kept.frame().value(*field), frame.value(*field), "{field:?} of a copy");
            }
        }
        assert!(columns.is_empty());
    });
}

fn framed<'f>(packet: &'f Packet, captured: &'f [u8], name: &'f Option<String>) -> Frame<'f> {
    Frame::new(
        packet,
        captured,
        name.as_deref().map(|name| FrameInterface { number: 3, name: Some(name) }),
    )
}

/// A random frame, or one of DNS or HTTP of which some bytes were changed.
fn random_frame(random: &mut Random) -> (Packet, Vec<u8>, Option<String>) {
    let name = random.once_in(2).then(|| format!("if{}", random.below(3)));
    let mut captured = match random.below(3) {
        0 => ethernet_frame(IPV4, &ipv4(17, &udp(53, 1, QUESTION))),
        1 => {
            let request = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n";
            ethernet_frame(IPV4, &ipv4(6, &tcp(1, 2, 0x18, request)))
        }
        _ => frame::random(random).captured,
    };
    for _ in 0..random.below(3) {
        if !captured.is_empty() {
            let at = random.below(captured.len());
            captured[at] = random.byte();
        }
    }
    captured.truncate(captured.len() - random.below(captured.len() / 4 + 1));
    let length = captured.len() as u32;
    let meta = FrameMeta { number: 1, ts: Some(1), length, link_type: LinkType::ETHERNET };
    (
        Packet::decode(
            meta,
            &captured,
            DecodeOptions { inner: random.once_in(2), ..DecodeOptions::default() },
        ),
        captured,
        name,
    )
}

/// Fields that no sample has: the tests above have frames with them.
const NOT_IN_SAMPLES: &[Field] = &[
    Field::TlsSni,
    Field::TlsVersion,
    Field::TlsAlpn,
    Field::Ja4,
    Field::SrcLabel,
    Field::DstLabel,
];

#[test]
fn every_field_has_values_in_the_samples() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let mut found = vec![false; Field::ALL.len()];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(mut reader) = CaptureReader::open(&path, &CaptureOptions::default()) else {
            continue;
        };
        let _ = reader.each_frame(|frame| {
            for (place, found) in found.iter_mut().enumerate() {
                *found |= !matches!(frame.value_at(place), Value::Null | Value::Unsigned(0));
            }
        });
    }
    let missing: Vec<_> =
        Field::ALL.iter().zip(found).filter(|(_, found)| !found).map(|(field, _)| *field).collect();
    assert_eq!(missing, NOT_IN_SAMPLES);
}
