//! Any bytes as a frame of any link type: no panic, fields that keep their promises, columns that hold
//! what the packets hold, features of their flows, and frames without addresses.

#![no_main]

use bytewright::batch::Value;
use bytewright::flow::{FeatureSet, Flow, FlowEncoder, FlowFormat, FlowOptions, FlowTable};
use bytewright::packet::{
    Anonymizer, DecodeOptions, Field, Frame, FrameMeta, LinkType, Packet, PacketColumns,
    PayloadRule, Status,
};
use libfuzzer_sys::fuzz_target;

const LINK_TYPES: [u16; 16] = [1, 1, 1, 1, 0, 9, 12, 14, 50, 51, 101, 108, 113, 228, 276, 105];

fuzz_target!(|data: &[u8]| {
    let [link, cut, captured @ ..] = data else { return };
    let link_type = LinkType(LINK_TYPES[usize::from(link % 16)]);
    // More, as much, or less on the wire than captured.
    let length = (captured.len() as u32).wrapping_add(u32::from(*cut)).saturating_sub(32);
    let meta = FrameMeta { number: 1, ts: Some(1), length, link_type };
    let outer =
        Packet::decode(meta, captured, DecodeOptions { inner: false, ..DecodeOptions::default() });
    let inner =
        Packet::decode(meta, captured, DecodeOptions { inner: true, ..DecodeOptions::default() });
    if !outer.status().has(Status::TUNNEL) {
        assert_eq!(outer, inner, "without a tunnel there is nothing inside");
    }
    let packets: Vec<Packet> = (0..link >> 4).flat_map(|_| [outer, inner]).collect();
    for packet in [&outer, &inner] {
        keeps_its_promises(packet, captured);
        let frame = Frame::new(packet, captured, None);
        for field in Field::ALL {
            assert!(
                frame
                    .value(*field)
                    .text()
                    .is_none_or(|text| text.len() <= 3 * captured.len().max(17))
            );
        }
    }
    for rule in [PayloadRule::Zero, PayloadRule::Cut, PayloadRule::Keep] {
        let found = Anonymizer::new(b"a key", rule, 0).frame(link_type, captured).captured.len();
        assert!(found == captured.len() || rule == PayloadRule::Cut && found < captured.len());
    }
    let features = FeatureSet { tcp: true, lengths: true, names: true, bytes: true, labels: true };
    let mut flows = FlowTable::new(FlowOptions { features, ..FlowOptions::default() });
    packets.iter().for_each(|packet| flows.add_frame(packet, captured));
    let flows: Vec<Flow> = flows.finish().collect();
    for flow in &flows {
        assert!(flow.fields().iter().all(|field| flow.value(*field).to_string().len() < 8192));
    }
    for format in FlowFormat::ALL {
        let (mut encoder, mut bytes) = (FlowEncoder::new(*format), Vec::new());
        flows.iter().for_each(|flow| encoder.push(flow, &mut bytes));
        encoder.finish(0, &mut bytes);
        assert!(bytes.len() <= 8192 * (flows.len() + 1));
        assert!(!format.is_text() || bytes.split(|byte| *byte == b'\n').count() > flows.len());
    }
    let mut columns = PacketColumns::new(Field::ALL);
    for part in packets.chunks(usize::from(cut % 11) + 1) {
        columns.extend(part);
    }
    assert_eq!(columns.len(), packets.len());
    for (column, field) in columns.batch().columns().iter().zip(Field::ALL) {
        let nulls = packets.iter().filter(|packet| !packet.has(*field)).count();
        assert_eq!(column.null_count(), nulls);
        for (row, packet) in packets.iter().enumerate() {
            // A column has one form for both versions, in which `::ffff:a.b.c.d` is IPv4.
            let expected = match packet.value(*field) {
                Value::Address(address) => Value::Address(address.to_canonical()),
                value => value,
            };
            assert_eq!(column.value(row), expected, "{:?}", *field);
        }
        assert_eq!(column.value(packets.len()), Value::Null);
    }
});

fn keeps_its_promises(packet: &Packet, captured: &[u8]) {
    let range = packet.payload_range();
    assert!(range.is_none_or(|range| captured.get(range).is_some()));
    assert_eq!(packet.has(Field::SrcIp), packet.has(Field::DstIp));
    assert_eq!(packet.has(Field::SrcIp), packet.has(Field::IpVersion));
    assert_eq!(packet.has(Field::SrcPort), packet.has(Field::DstPort));
    assert!(!packet.has(Field::SrcPort) || packet.has(Field::Proto));
    assert!(!packet.has(Field::Proto) || packet.has(Field::SrcIp));
    assert!(!packet.has(Field::PayloadLen) || packet.has(Field::SrcPort));
    assert!(!packet.has(Field::TcpFlags) || packet.proto() == Some(6));
    assert!(packet.vlan().is_none_or(|vlan| vlan < 4096));
    if packet.status().has(Status::UNKNOWN_LINK) {
        assert!(!packet.has(Field::SrcIp) && !packet.has(Field::Ethertype));
    }
}
