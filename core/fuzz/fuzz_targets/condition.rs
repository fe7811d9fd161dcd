//! Any text as a condition on packets, and as what they are grouped by and added up: no panic, an error that is short, and an
//! answer for every packet.

#![no_main]

use bytewright::batch::Value;
use bytewright::packet::{DecodeOptions, Field, Frame, FrameMeta, LinkType, Packet};
use bytewright::query::{Condition, GroupBy};
use libfuzzer_sys::fuzz_target;

/// A SYN in Ethernet and IPv4.
const FRAME: &[u8] = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0\x45\0\0\x28\0\x01\0\0\x40\x06\0\0\x0a\0\0\x01\x0a\0\0\x02\
    \x01\xbb\0\x35\0\0\0\x01\0\0\0\0\x50\x02\xff\xff\0\0\0\0";

fuzz_target!(|text: &str| {
    let meta = FrameMeta { number: 1, ts: Some(1), length: 54, link_type: LinkType(1) };
    let packet = Packet::decode(meta, FRAME, DecodeOptions::default());
    let frame = Frame::new(&packet, FRAME, None);
    match Condition::new(text, &Field::SCHEMA) {
        Ok(condition) => {
            condition.holds(|place| frame.value_at(place));
            condition.holds(|_| Value::Null);
            for place in condition.places() {
                condition.intervals(place);
            }
        }
        Err(error) => assert!(error.message().len() < 4096),
    }
    let parts: Vec<&str> = text.split(',').take(70).collect();
    let (keys, sums) = parts.split_at(parts.len() / 2);
    if let Ok(by) = GroupBy::new(&Field::SCHEMA, keys, sums, None) {
        let mut groups = by.groups(4);
        (0..3).for_each(|_| groups.add(|place| frame.value_at(place)));
        assert!(!groups.finish(Some(2)).is_empty());
    }
});
