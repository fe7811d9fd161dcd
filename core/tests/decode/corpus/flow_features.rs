//! Features of flows in the captures of other projects: what tshark 4.6.9 tells of TCP and of ClientHellos, where docs/tshark.md
//! names no difference, and what Zeek's own tests expect of states and histories.

use std::collections::BTreeMap;

use bytewright::batch::Value;
use bytewright::flow::{
    FeatureSet, Flow, FlowEncoder, FlowField, FlowFormat, FlowOptions, FlowTable,
};
use bytewright::input::{CaptureOptions, CaptureReader};
use bytewright::packet::Field;

use crate::files;

fn reader(path: &std::path::Path) -> CaptureReader {
    CaptureReader::open(path, &CaptureOptions::default()).unwrap()
}

fn flows(path: &std::path::Path) -> Vec<Flow> {
    flows_with(path, FeatureSet { tcp: true, ..FeatureSet::NONE })
}

fn flows_with(path: &std::path::Path, features: FeatureSet) -> Vec<Flow> {
    let mut table = FlowTable::new(FlowOptions { features, ..FlowOptions::default() });
    // Damage ends some of them.
    let _ = reader(path).each(|packet, captured| table.add_frame(packet, captured));
    table.finish().collect()
}

/// Sum of a field of both directions over all flows.
fn sum(flows: &[Flow], fields: [FlowField; 2]) -> u64 {
    let values = flows.iter().flat_map(|flow| fields.map(|field| flow.value(field)));
    values.map(|value| if let Value::Unsigned(count) = value { count } else { 0 }).sum()
}

/// Retransmissions, segments out of order and behind gaps, duplicate acknowledgements and closed windows of each capture.
#[test]
fn segments_are_told_as_tshark_tells_them() {
    let Some(folder) = files::corpus("segments_are_told_as_tshark_tells_them") else { return };
    let mut compared = 0;
    for line in include_str!("flow_features/tcp.psv").lines() {
        let (name, expected) = line.split_once('|').unwrap();
        let flows = flows(&folder.join(name));
        let counts = [
            [FlowField::Retransmissions, FlowField::RevRetransmissions],
            [FlowField::OutOfOrder, FlowField::RevOutOfOrder],
            [FlowField::LostSegments, FlowField::RevLostSegments],
            [FlowField::DuplicateAcks, FlowField::RevDuplicateAcks],
            [FlowField::ZeroWindows, FlowField::RevZeroWindows],
        ];
        let found = counts.map(|fields| sum(&flows, fields).to_string()).join("|");
        assert_eq!(found, expected, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 96);
}

/// JA4 and server names, packet by packet, over TCP and QUIC.
#[test]
fn clients_of_tls_have_the_fingerprints_that_tshark_tells() {
    let test = "clients_of_tls_have_the_fingerprints_that_tshark_tells";
    let Some(folder) = files::corpus(test) else { return };
    let mut expected: BTreeMap<&str, BTreeMap<u64, (&str, &str)>> = BTreeMap::new();
    for line in include_str!("flow_features/ja4.psv").lines() {
        let [name, number, ja4, sni] =
            line.split('|').collect::<Vec<_>>().try_into().expect("four columns");
        expected.entry(name).or_default().insert(number.parse().unwrap(), (ja4, sni));
    }
    assert_eq!(expected.values().map(BTreeMap::len).sum::<usize>(), 326);
    for (name, mut packets) in expected {
        let _ = reader(&folder.join(name)).each_frame(|frame| {
            if let Some((ja4, sni)) = packets.remove(&frame.packet().number()) {
                let found = [Field::Ja4, Field::TlsSni].map(|field| frame.value(field).to_string());
                assert_eq!(found, [ja4, sni], "{name}, packet {}", frame.packet().number());
            }
        });
        assert!(packets.is_empty(), "{name}: {packets:?}");
    }
}

/// The log of Zeek's test scripts.base.protocols.ftp.ftp-ipv4.
#[test]
fn connections_have_the_states_and_histories_of_zeek() {
    let test = "connections_have_the_states_and_histories_of_zeek";
    let Some(folder) = files::corpus(test) else { return };
    let told = |flow: &Flow| {
        let fields = [FlowField::SrcPort, FlowField::ConnState, FlowField::History];
        fields.map(|field| flow.value(field).to_string()).join(" ")
    };
    let found: Vec<String> = flows(&folder.join("zeek/ipv4.pcap")).iter().map(told).collect();
    assert_eq!(
        found,
        [
            "50003 SF ShAdDfFa",
            "37604 SF ShAdfFa",
            "59378 SF ShAdfFa",
            "61920 SF ShADaFf",
            "61918 SF ShADaFf",
        ]
    );
}

/// The log of the same test: bytes of streams, of packets and of IP, each way.
#[test]
fn a_log_counts_what_zeek_counts() {
    let Some(folder) = files::corpus("a_log_counts_what_zeek_counts") else { return };
    let features = FeatureSet::of(FlowFormat::Zeek.features().iter().copied());
    let (mut encoder, mut log) = (FlowEncoder::new(FlowFormat::Zeek), Vec::new());
    let flows = flows_with(&folder.join("zeek/ipv4.pcap"), features);
    flows.iter().for_each(|flow| encoder.push(flow, &mut log));
    let log = String::from_utf8(log).unwrap();
    let columns = [3, 9, 10, 11, 14, 15, 16, 17, 18, 19];
    let told = log.lines().map(|line| {
        let values: Vec<&str> = line.split('\t').collect();
        columns.map(|column| values[column]).join(" ")
    });
    let expected = [
        "50003 180 3146 SF 0 ShAdDfFa 38 2164 25 4458",
        "37604 0 342 SF 0 ShAdfFa 4 216 4 562",
        "59378 0 77 SF 0 ShAdfFa 4 216 4 297",
        "61920 342 0 SF 0 ShADaFf 5 614 3 164",
        "61918 77 0 SF 0 ShADaFf 5 349 3 164",
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}
