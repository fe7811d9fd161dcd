//! Properties of every packet, whatever its bytes.

use bytewright::packet::{DecodeOptions, Field, FrameMeta, LinkType, Packet, Status};

use crate::files;
use crate::generate::{frame, seeds};

fn both(link_type: u16, length: u32, captured: &[u8]) -> [Packet; 2] {
    [false, true].map(|inner| {
        let link_type = LinkType(link_type);
        let meta = FrameMeta { number: 1, ts: None, length, link_type };
        Packet::decode(meta, captured, DecodeOptions { inner, ..DecodeOptions::default() })
    })
}

fn keeps_its_promises([outer, inner]: [Packet; 2], captured: &[u8]) {
    if !outer.status().has(Status::TUNNEL) {
        assert_eq!(outer, inner, "without a tunnel there is nothing inside");
    }
    for packet in [outer, inner] {
        let range = packet.payload_range();
        assert!(range.is_none_or(|range| captured.get(range).is_some()));
        for (field, needs) in [
            (Field::SrcIp, Field::DstIp),
            (Field::DstIp, Field::SrcIp),
            (Field::SrcIp, Field::Ttl),
            (Field::SrcPort, Field::DstPort),
            (Field::DstPort, Field::Proto),
            (Field::Proto, Field::IpVersion),
            (Field::PayloadLen, Field::SrcPort),
            (Field::IcmpType, Field::IcmpCode),
            (Field::Ack, Field::Seq),
            (Field::ArpSrcIp, Field::ArpOp),
        ] {
            assert!(!packet.has(field) || packet.has(needs), "{field:?} without {needs:?}");
        }
        assert!(packet.tcp_flags().is_none() || packet.proto() == Some(6));
        assert!(packet.vlan().is_none_or(|vlan| vlan < 4096));
        let is_followed = packet.src_ip().is_some() || packet.arp_op().is_some();
        assert!(is_followed || packet.status() != Status::default(), "null without a reason");
        let is_fragment = packet.status().has(Status::FRAGMENT);
        assert!(is_fragment || packet.frag_offset().is_none());
    }
}

#[test]
fn random_frames_keep_their_promises() {
    seeds(20_000, |random| {
        let frame = frame::random(random);
        let packets = both(frame.link_type, frame.length, &frame.captured);
        keeps_its_promises(packets, &frame.captured);
    });
}

#[test]
fn every_cut_of_a_frame_keeps_its_promises_and_tells_no_other_value() {
    seeds(300, |random| {
        let frame = frame::random(random);
        let [whole, _] = both(frame.link_type, frame.length, &frame.captured);
        for cut in 0..frame.captured.len() {
            let captured = &frame.captured[..cut];
            let packets = both(frame.link_type, frame.length, captured);
            keeps_its_promises(packets, captured);
            // The cut frame tells what the whole one tells, if that was on the wire.
            let differs = |field: &&Field| {
                packets[0].has(**field) && packets[0].value(**field) != whole.value(**field)
            };
            let from_frame = [Field::Status, Field::Caplen, Field::IpLen, Field::PayloadLen];
            if frame.length as usize >= frame.captured.len() {
                let mut other = Field::ALL.iter().filter(|field| !from_frame.contains(field));
                assert_eq!(other.find(differs), None, "cut at {cut}: {whole:?}");
            }
        }
    });
}

#[test]
fn collected_frames_keep_their_promises() {
    let Some(folder) = files::corpus("collected_frames_keep_their_promises") else { return };
    for name in files::names(&folder) {
        let capture = files::plain(&folder.join(&name));
        for record in files::records(&capture).0 {
            let packets = both(record.link_type, record.length, record.captured);
            keeps_its_promises(packets, record.captured);
        }
    }
}
