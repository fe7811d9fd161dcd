//! Goal: features of a flow say what happened in its connection, by the rules of tshark's analysis and in the letters of Zeek.
//!
//! Method: connections are written segment by segment; a recorded capture has the counts that tshark 4.0 gives for it.

use std::path::Path;

use bytewright::batch::Value;
use bytewright::flow::{FeatureSet, Flow, FlowField, FlowOptions, FlowTable};
use bytewright::input::{CaptureOptions, CaptureReader};
use bytewright::packet::{DecodeOptions, FrameMeta, LinkType, Packet};

const MILLISECOND: i64 = 1_000_000;

pub(crate) const FIN: u8 = 0x01;
pub(crate) const SYN: u8 = 0x02;
pub(crate) const RST: u8 = 0x04;
pub(crate) const ACK: u8 = 0x10;

/// One segment of a connection; `true` in front where the client sends it.
#[derive(Clone, Copy)]
pub(crate) struct Sent {
    by_client: bool,
    /// Milliseconds.
    at: i64,
    flags: u8,
    seq: u32,
    ack: u32,
    len: usize,
    window: u16,
    options: &'static [u8],
    /// The payload; x where it is empty.
    payload: &'static [u8],
}

/// A segment of the client, `at` milliseconds after the begin.
pub(crate) fn client(at: i64, flags: u8, seq: u32, ack: u32, len: usize) -> Sent {
    Sent { by_client: true, at, flags, seq, ack, len, window: 1_000, options: &[], payload: &[] }
}

pub(crate) fn server(at: i64, flags: u8, seq: u32, ack: u32, len: usize) -> Sent {
    Sent { by_client: false, ..client(at, flags, seq, ack, len) }
}

/// The handshake of 10 ms: 7 to the server, 3 to the client. The first bytes are 101 and 501.
pub(crate) fn handshake() -> Vec<Sent> {
    vec![client(0, SYN, 100, 0, 0), server(7, SYN | ACK, 500, 101, 0), client(10, ACK, 101, 501, 0)]
}

/// The ports of connections whose ports nobody asks about.
const PORTS: [u16; 2] = [40_000, 80];

fn frame(sent: &Sent, [client, server]: [u16; 2]) -> Vec<u8> {
    let (addresses, ports) = match sent.by_client {
        true => ([10, 0, 0, 1, 10, 0, 0, 2], [client, server]),
        false => ([10, 0, 0, 2, 10, 0, 0, 1], [server, client]),
    };
    let header_len = 20 + sent.options.len();
    let total = (20 + header_len + sent.len) as u16;
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
    frame.extend(total.to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    frame.extend(addresses);
    ports.iter().for_each(|port| frame.extend(port.to_be_bytes()));
    frame.extend(sent.seq.to_be_bytes());
    frame.extend(sent.ack.to_be_bytes());
    frame.extend([(header_len as u8 / 4) << 4, sent.flags]);
    frame.extend(sent.window.to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(sent.options);
    let payload = if sent.payload.is_empty() { &vec![b'x'; sent.len] } else { sent.payload };
    frame.extend(payload);
    frame
}

fn decoded(number: u64, sent: &Sent, ports: [u16; 2]) -> (Packet, Vec<u8>) {
    let bytes = frame(sent, ports);
    let meta = FrameMeta {
        number,
        ts: Some(sent.at * MILLISECOND),
        length: bytes.len() as u32,
        link_type: LinkType::ETHERNET,
    };
    (Packet::decode(meta, &bytes, DecodeOptions::default()), bytes)
}

/// The flow of a connection.
pub(crate) fn flow_of(sent: &[Sent]) -> Flow {
    flow_between(PORTS, sent)
}

/// The flow of a connection between a client's port and a server's.
pub(crate) fn flow_between(ports: [u16; 2], sent: &[Sent]) -> Flow {
    let features = FeatureSet { tcp: true, lengths: true, names: true, bytes: true, labels: true };
    let mut table = FlowTable::new(FlowOptions { features, ..FlowOptions::default() });
    for (number, sent) in sent.iter().enumerate() {
        let (packet, bytes) = decoded(number as u64 + 1, sent, ports);
        table.add_frame(&packet, &bytes);
    }
    let mut flows = table.finish();
    assert_eq!(flows.len(), 1);
    flows.next().unwrap()
}

/// Fields as text, those that are null empty.
fn told(flow: &Flow, fields: &[FlowField]) -> String {
    let text = fields.iter().map(|field| flow.value(*field).to_string());
    text.collect::<Vec<_>>().join(" ")
}

/// A connection behind its handshake.
fn told_of(sent: &[Sent], fields: &[FlowField]) -> String {
    told(&flow_of(&[&handshake(), sent].concat()), fields)
}

const LOSSES: &[FlowField] = &[
    FlowField::Retransmissions,
    FlowField::RetransmittedBytes,
    FlowField::OutOfOrder,
    FlowField::LostSegments,
    FlowField::RevDuplicateAcks,
];

#[test]
fn a_handshake_tells_the_round_trip_on_both_sides_of_the_recorder() {
    assert_eq!(told_of(&[], &[FlowField::Rtt, FlowField::RevRtt]), "7000 3000");
}

#[test]
fn a_connection_without_a_syn_has_no_round_trip() {
    let flow = flow_of(&[client(0, ACK, 1, 1, 10), server(5, ACK, 1, 11, 0)]);
    assert_eq!(
        told(&flow, &[FlowField::Rtt, FlowField::RevRtt, FlowField::Retransmissions]),
        "  0"
    );
}

#[test]
fn a_segment_that_comes_twice_is_a_retransmission() {
    let sent = [client(20, ACK, 101, 501, 100), client(300, ACK, 101, 501, 100)];
    assert_eq!(told_of(&sent, LOSSES), "1 100 0 0 0");
}

#[test]
fn a_segment_whose_bytes_were_acknowledged_is_a_retransmission_however_soon_it_comes() {
    let sent = [
        client(20, ACK, 101, 501, 100),
        server(21, ACK, 501, 201, 0),
        client(22, ACK, 201, 501, 100),
        client(23, ACK, 101, 501, 100),
    ];
    assert_eq!(told_of(&sent, LOSSES), "1 100 0 0 0");
}

#[test]
fn a_segment_that_comes_soon_behind_a_later_one_is_out_of_order() {
    let sent = [client(20, ACK, 201, 501, 100), client(21, ACK, 101, 501, 100)];
    assert_eq!(told_of(&sent, LOSSES), "0 0 1 1 0");
}

#[test]
fn a_segment_that_fills_a_gap_later_than_a_round_trip_was_sent_again() {
    let sent = [client(20, ACK, 201, 501, 100), client(31, ACK, 101, 501, 100)];
    assert_eq!(told_of(&sent, LOSSES), "1 100 0 1 0");
}

#[test]
fn a_segment_that_duplicate_acknowledgements_asked_for_was_sent_again() {
    let sent = [
        client(20, ACK, 201, 501, 100),
        server(21, ACK, 501, 101, 0),
        server(22, ACK, 501, 101, 0),
        server(23, ACK, 501, 101, 0),
        client(24, ACK, 101, 501, 100),
    ];
    assert_eq!(told_of(&sent, LOSSES), "1 100 0 1 3");
}

#[test]
fn an_acknowledgement_with_another_window_is_no_duplicate() {
    let update = Sent { window: 2_000, ..server(22, ACK, 501, 201, 0) };
    let sent = [client(20, ACK, 101, 501, 100), server(21, ACK, 501, 201, 0), update];
    assert_eq!(told_of(&sent, LOSSES), "0 0 0 0 0");
}

#[test]
fn a_probe_that_keeps_a_connection_alive_and_its_answer_are_no_repetitions() {
    let sent = [
        client(20, ACK, 101, 501, 100),
        server(21, ACK, 501, 201, 0),
        client(9_000, ACK, 200, 501, 1),
        server(9_001, ACK, 501, 201, 0),
    ];
    assert_eq!(told_of(&sent, LOSSES), "0 0 0 0 0");
}

#[test]
fn a_window_that_closes_is_counted_and_its_probe_is_no_new_data() {
    let closed = Sent { window: 0, ..server(21, ACK, 501, 201, 0) };
    let sent = [
        client(20, ACK, 101, 501, 100),
        closed,
        client(300, ACK, 201, 501, 1),
        Sent { at: 301, ..closed },
        server(400, ACK, 501, 201, 0),
        client(401, ACK, 201, 501, 100),
    ];
    let fields = [&[FlowField::RevZeroWindows, FlowField::RevMinWindow], LOSSES].concat();
    assert_eq!(told_of(&sent, &fields), "2 0 0 0 0 0 0");
}

#[test]
fn numbers_that_pass_the_largest_go_on_at_zero() {
    let sent = [
        client(0, SYN, u32::MAX - 50, 0, 0),
        server(1, SYN | ACK, 500, u32::MAX - 49, 0),
        client(2, ACK, u32::MAX - 49, 501, 100),
        client(3, ACK, 50, 501, 100),
        client(90, ACK, u32::MAX - 49, 501, 100),
    ];
    assert_eq!(told(&flow_of(&sent), LOSSES), "1 100 0 0 0");
}

#[test]
fn a_connection_on_the_ports_of_one_before_begins_with_numbers_of_its_own() {
    let first = [client(20, ACK | FIN, 101, 501, 0), server(21, ACK | FIN, 501, 102, 0)];
    let second =
        [client(50, SYN, 9, 0, 0), server(51, SYN | ACK, 7, 10, 0), client(52, ACK, 10, 8, 100)];
    assert_eq!(told_of(&[&first[..], &second].concat(), LOSSES), "0 0 0 0 0");
}

#[test]
fn windows_are_scaled_where_both_sides_offered_it() {
    let syn = Sent { options: &[2, 4, 5, 180, 1, 3, 3, 7], ..client(0, SYN, 100, 0, 0) };
    let answer = Sent { options: &[2, 4, 4, 0, 3, 3, 2, 0], ..server(1, SYN | ACK, 500, 101, 0) };
    let fields = [
        FlowField::Mss,
        FlowField::RevMss,
        FlowField::WindowScale,
        FlowField::RevWindowScale,
        FlowField::MinWindow,
        FlowField::MaxWindow,
    ];
    let both = flow_of(&[syn, answer, client(2, ACK, 101, 501, 0)]);
    assert_eq!(told(&both, &fields), "1460 1024 7 2 1000 128000");
    let alone = flow_of(&[syn, server(1, SYN | ACK, 500, 101, 0), client(2, ACK, 101, 501, 0)]);
    assert_eq!(told(&alone, &fields), "1460  7  1000 1000");
}

#[test]
fn options_that_are_damaged_end_where_they_are() {
    for options in [&[2_u8, 0, 1, 1][..], &[3, 200, 7, 7], &[1, 1, 1, 2], &[0, 2, 4, 5]] {
        let options: &'static [u8] = Box::leak(options.into());
        let flow = flow_of(&[Sent { options, ..client(0, SYN, 100, 0, 0) }]);
        assert_eq!(told(&flow, &[FlowField::Mss, FlowField::WindowScale]), " ", "{options:?}");
    }
}

#[test]
fn states_and_histories_are_those_of_zeek() {
    let of = |sent: &[Sent]| {
        told(&flow_of(sent), &[FlowField::ConnState, FlowField::History, FlowField::ClosedBy])
    };
    let behind = |sent: &[Sent]| of(&[&handshake(), sent].concat());
    let data = [client(20, ACK, 101, 501, 9), server(21, ACK, 501, 110, 9)];
    let ends = [
        client(30, ACK | FIN, 110, 510, 0),
        server(31, ACK | FIN, 510, 111, 0),
        client(32, ACK, 111, 511, 0),
    ];
    assert_eq!(of(&[client(0, SYN, 100, 0, 0)]), "S0 S ");
    assert_eq!(of(&[client(0, SYN, 100, 0, 0), server(1, ACK | RST, 0, 101, 0)]), "REJ Sr dst");
    assert_eq!(behind(&[]), "S1 ShA ");
    assert_eq!(behind(&[&data[..], &ends].concat()), "SF ShADdFf src");
    assert_eq!(behind(&[&data[..], &ends[..1]].concat()), "S2 ShADdF src");
    assert_eq!(behind(&[server(30, ACK | FIN, 501, 101, 0)]), "S3 ShAf dst");
    assert_eq!(behind(&[client(30, RST, 101, 0, 0)]), "RSTO ShAR src");
    assert_eq!(behind(&[server(30, RST, 501, 0, 0)]), "RSTR ShAr dst");
    assert_eq!(of(&data), "OTH Dd ");
    // A RST behind a FIN, and then the FIN of the other side.
    let reset = [ends[0], client(31, RST, 111, 0, 0), ends[1]];
    assert_eq!(behind(&[&data[..], &reset].concat()), "SF ShADdFRf src");
    // Somebody answers a SYN that was not sent, and hears that it was not.
    let scan = [server(0, SYN | ACK, 500, 101, 0), client(1, RST, 101, 0, 0)];
    assert_eq!(of(&scan), "REJ Hr dst");
}

#[test]
fn segments_whose_header_was_cut_have_no_state_and_no_history() {
    let features = FeatureSet::of([FlowField::History]);
    let mut table = FlowTable::new(FlowOptions { features, ..FlowOptions::default() });
    for sent in [client(0, SYN, 100, 0, 0), server(1, SYN | ACK, 500, 101, 0)] {
        let bytes = &frame(&sent, PORTS)[..14 + 20 + 8];
        let (ts, link_type) = (Some(sent.at * MILLISECOND), LinkType::ETHERNET);
        let meta = FrameMeta { number: 1, ts, length: 54, link_type };
        table.add_frame(&Packet::decode(meta, bytes, DecodeOptions::default()), bytes);
    }
    let flow = table.finish().next().unwrap();
    assert_eq!(told(&flow, &[FlowField::ConnState, FlowField::History]), "OTH ");
}

#[test]
fn what_comes_again_is_in_the_history_with_each_tenfold() {
    let again = |count: i64| {
        let again = (0..count).map(|index| client(300 + 300 * index, ACK, 101, 501, 100));
        told_of(
            &[client(20, ACK, 101, 501, 100)].into_iter().chain(again).collect::<Vec<_>>(),
            &[FlowField::History],
        )
    };
    assert_eq!([again(0), again(1), again(9), again(10)], ["ShAD", "ShADT", "ShADT", "ShADTT"]);
}

#[test]
fn lengths_and_gaps_are_those_of_each_direction() {
    let sent = [
        client(0, ACK, 101, 501, 100),
        client(10, ACK, 201, 501, 300),
        server(14, ACK, 501, 501, 0),
        client(40, ACK, 501, 501, 0),
    ];
    let flow = flow_of(&sent);
    let lengths = [
        FlowField::MinLength,
        FlowField::MaxLength,
        FlowField::MeanPayload,
        FlowField::RevMaxPayload,
        FlowField::MinGap,
        FlowField::MaxGap,
        FlowField::MeanGap,
        FlowField::RevMinGap,
        FlowField::SpltLengths,
        FlowField::SpltGaps,
    ];
    assert_eq!(
        told(&flow, &lengths),
        "54 354 200.0  10000 30000 20000.0  154,354,-54,54 ,10000,4000,26000"
    );
}

/// A segment of the client with this payload.
pub(crate) fn carrying(at: i64, seq: u32, payload: &[u8]) -> Sent {
    let payload: &'static [u8] = Box::leak(payload.into());
    Sent { payload, ..client(at, ACK, seq, 501, payload.len()) }
}

/// A ClientHello for example.org over TLS 1.3, in one record, with an extension of so many bytes behind the name.
pub(crate) fn hello(padding: u16) -> Vec<u8> {
    let mut extensions = b"\0\0\0\x10\0\x0e\0\0\x0bexample.org".to_vec();
    extensions.extend([0, 16, 0, 5, 0, 3, 2, b'h', b'2', 0, 43, 0, 3, 2, 3, 4]);
    extensions.extend([0, 21]);
    extensions.extend(padding.to_be_bytes());
    extensions.resize(extensions.len() + usize::from(padding), 0);
    let mut body = [&[3, 3][..], &[7; 32], &[0, 0, 4, 0x13, 1, 0x13, 2, 1, 0]].concat();
    body.extend((extensions.len() as u16).to_be_bytes());
    body.extend(extensions);
    let message = [&[1], &(body.len() as u32).to_be_bytes()[1..], &body].concat();
    [&[22, 3, 1][..], &(message.len() as u16).to_be_bytes(), &message].concat()
}

const NAMES: &[FlowField] = &[FlowField::TlsSni, FlowField::TlsVersion, FlowField::TlsAlpn];

#[test]
fn a_hello_that_comes_in_several_segments_is_joined_for_its_flow() {
    let whole = hello(10);
    let fingerprint = told_of(&[carrying(20, 101, &whole)], &[FlowField::Ja4]);
    assert!(fingerprint.starts_with("t13d0204h2_"), "{fingerprint}");
    for cut in 6..whole.len() {
        let (first, second) = whole.split_at(cut);
        let next = 101 + cut as u32;
        let sent = [
            carrying(20, 101, first),
            carrying(21, 101, first),
            server(22, ACK, 501, next, 0),
            carrying(23, next, second),
        ];
        assert_eq!(told_of(&sent, NAMES), "example.org 1.3 h2", "cut at {cut}");
        assert_eq!(told_of(&sent, &[FlowField::Ja4]), fingerprint, "cut at {cut}");
    }
}

#[test]
fn a_hello_whose_end_never_comes_has_its_name_and_no_fingerprint() {
    let whole = hello(2_000);
    let sent = [carrying(20, 101, &whole[..1_000])];
    assert_eq!(told_of(&sent, NAMES), "example.org 1.3 h2");
    assert_eq!(told_of(&sent, &[FlowField::Ja4]), "");
}

#[test]
fn a_request_of_http_tells_its_host() {
    let sent = [carrying(20, 101, b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n")];
    assert_eq!(told_of(&sent, &[FlowField::HttpHost, FlowField::TlsSni]), "example.org ");
}

#[test]
fn a_request_without_a_host_leaves_it_to_the_next_one() {
    let first = b"GET / HTTP/1.0\r\n\r\n";
    let second = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n";
    let sent = [carrying(20, 101, first), carrying(21, 101 + first.len() as u32, second)];
    assert_eq!(told_of(&sent, &[FlowField::HttpHost]), "example.org");
}

#[test]
fn a_name_that_is_longer_than_names_are_is_left_out() {
    for (len, is_kept) in [(255, true), (256, false)] {
        let host = "h".repeat(len);
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let told = told_of(&[carrying(20, 101, request.as_bytes())], &[FlowField::HttpHost]);
        assert_eq!(told, if is_kept { host } else { String::new() });
    }
}

const BYTES: &[FlowField] = &[
    FlowField::IpBytes,
    FlowField::RevIpBytes,
    FlowField::PayloadBytes,
    FlowField::RevPayloadBytes,
    FlowField::StreamBytes,
    FlowField::RevStreamBytes,
];

#[test]
fn bytes_are_told_by_layer_each_way() {
    let sent = [client(20, ACK, 101, 501, 100), server(21, ACK, 501, 201, 30)];
    // Each header of IP and of TCP has 20 bytes; the handshake has two segments there and one back.
    assert_eq!(told_of(&sent, BYTES), "220 110 100 30 100 30");
}

#[test]
fn a_stream_has_what_was_sent_again_once_and_what_was_not_captured_too() {
    let again = [client(20, ACK, 101, 501, 100), client(300, ACK, 101, 501, 100)];
    assert_eq!(told_of(&again, &BYTES[2..5]), "200 0 100");
    let gap = [client(20, ACK, 101, 501, 100), client(21, ACK, 301, 501, 100)];
    assert_eq!(told_of(&gap, &BYTES[2..5]), "200 0 300");
    let filled = [client(20, ACK, 201, 501, 100), client(21, ACK, 101, 501, 100)];
    assert_eq!(told_of(&filled, &BYTES[2..5]), "200 0 200");
}

#[test]
fn marks_of_a_connection_are_no_bytes_of_its_stream() {
    let sent = [
        client(20, ACK, 101, 501, 100),
        client(21, FIN | ACK, 201, 501, 0),
        client(22, FIN | ACK, 201, 501, 0),
        server(23, FIN | ACK, 501, 202, 10),
        client(24, RST, 9_000, 0, 0),
    ];
    assert_eq!(told_of(&sent, &BYTES[4..]), "100 10");
    let reopened = [
        client(20, ACK, 101, 501, 100),
        client(25, SYN, 70_000, 0, 0),
        client(26, SYN, 70_000, 0, 0),
        client(27, ACK, 70_001, 1, 5),
        client(28, SYN, 70_000, 0, 0),
    ];
    assert_eq!(told_of(&reopened, &BYTES[4..5]), "105");
}

#[test]
fn a_stream_goes_on_behind_the_highest_number() {
    let sent = [client(0, ACK, u32::MAX - 9, 1, 10), client(1, ACK, 0, 1, 10)];
    assert_eq!(told(&flow_of(&sent), &BYTES[4..5]), "20");
}

#[test]
fn features_that_nobody_asked_for_are_null() {
    let mut table = FlowTable::new(FlowOptions::default());
    let (packet, bytes) = decoded(1, &client(0, SYN, 100, 0, 0), PORTS);
    table.add_frame(&packet, &bytes);
    let flow = table.finish().next().unwrap();
    assert!(FlowField::FEATURES.iter().all(|field| flow.value(*field) == Value::Null));
}

#[test]
fn a_recorded_capture_has_the_counts_of_tshark() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/web.pcap.gz");
    let mut reader = CaptureReader::open(&path, &CaptureOptions::default()).unwrap();
    let features = FeatureSet::of([FlowField::Retransmissions]);
    let mut table = FlowTable::new(FlowOptions { features, ..FlowOptions::default() });
    reader.each(|packet, captured| table.add_frame(packet, captured)).unwrap();
    let flows: Vec<Flow> = table.finish().collect();
    let sum = |fields: [FlowField; 2]| -> u64 {
        let values = flows.iter().flat_map(|flow| fields.map(|field| flow.value(field)));
        values.map(|value| if let Value::Unsigned(count) = value { count } else { 0 }).sum()
    };
    // tshark 4.0.17: -Y tcp.analysis.retransmission, .lost_segment, .duplicate_ack and .out_of_order.
    assert_eq!(sum([FlowField::Retransmissions, FlowField::RevRetransmissions]), 140);
    assert_eq!(sum([FlowField::LostSegments, FlowField::RevLostSegments]), 20);
    assert_eq!(sum([FlowField::DuplicateAcks, FlowField::RevDuplicateAcks]), 43);
    assert_eq!(sum([FlowField::OutOfOrder, FlowField::RevOutOfOrder]), 0);
}
