//! Goal: other programs read the flows that are written in their words, and find in them what the flows say.
//!
//! Method: lines of known connections are compared with what Zeek and the schema have for them; messages of IPFIX go through a
//! reader that knows nothing but RFC 7011, and each record is compared with its flow.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use bytewright::batch::Value;
use bytewright::flow::{
    FeatureSet, Flow, FlowEncoder, FlowField, FlowFormat, FlowOptions, FlowTable,
};
use bytewright::input::{CaptureOptions, CaptureReader};
use bytewright::packet::{DecodeOptions, FrameMeta, LinkType, Packet};

use crate::flow_features::{
    ACK, FIN, RST, SYN, Sent, carrying, client, flow_between, flow_of, handshake, hello, server,
};

/// 2023-11-14 22:13:20 UTC.
const NOW: i64 = 1_700_000_000_000_000_000;

/// A number of the reverse direction in [`Record`].
const REVERSE: u32 = 29_305;

/// The flows of a sample, with these features.
fn flows(sample: &str, features: FeatureSet) -> Vec<Flow> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples").join(sample);
    let mut reader = CaptureReader::open(&path, &CaptureOptions::default()).unwrap();
    let mut table = FlowTable::new(FlowOptions { features, ..FlowOptions::default() });
    reader.each(|packet, captured| table.add_frame(packet, captured)).unwrap();
    table.finish().collect()
}

fn features_of(format: FlowFormat) -> FeatureSet {
    FeatureSet::of(format.features().iter().copied())
}

fn encoded(format: FlowFormat, flows: &[Flow]) -> Vec<u8> {
    let (mut encoder, mut bytes) = (FlowEncoder::new(format), Vec::new());
    encoder.begin(NOW, &mut bytes);
    flows.iter().for_each(|flow| encoder.push(flow, &mut bytes));
    encoder.finish(NOW, &mut bytes);
    bytes
}

fn text(format: FlowFormat, flows: &[Flow]) -> String {
    String::from_utf8(encoded(format, flows)).unwrap()
}

/// A flow of one frame of Ethernet with this IP packet.
fn flow_of_packet(ethertype: u16, ip: &[u8], ts: Option<i64>) -> Flow {
    let bytes = [&[2; 12][..], &ethertype.to_be_bytes(), ip].concat();
    let length = bytes.len() as u32;
    let meta = FrameMeta { number: 1, ts, length, link_type: LinkType::ETHERNET };
    let packet = Packet::decode(meta, &bytes, DecodeOptions::default());
    let features = FeatureSet { bytes: true, tcp: true, ..FeatureSet::NONE };
    let mut table = FlowTable::new(FlowOptions { features, ..FlowOptions::default() });
    table.add_frame(&packet, &bytes);
    table.finish().next().unwrap()
}

/// A whole connection: 42 bytes there, 18 back.
fn connection() -> Flow {
    let request = b"GET / HTTP/1.1\r\nHost: example.org:8080\r\n\r\n";
    let len = request.len() as u32;
    let end = 101 + len;
    let sent = [
        carrying(20, 101, request),
        server(27, ACK, 501, end, 18),
        client(30, FIN | ACK, end, 519, 0),
        server(37, FIN | ACK, 519, end + 1, 0),
    ];
    flow_of(&[&handshake(), &sent[..]].concat())
}

/// The values of a line of Zeek's log by the names of its columns.
fn columns(log: &str, line: usize) -> HashMap<&str, &str> {
    let names = log.lines().find_map(|line| line.strip_prefix("#fields\t")).unwrap();
    let values = log.lines().filter(|line| !line.starts_with('#')).nth(line).unwrap();
    names.split('\t').zip(values.split('\t')).collect()
}

#[test]
fn a_log_of_zeek_says_how_to_read_it_and_when_it_was_written() {
    let log = text(FlowFormat::Zeek, &[]);
    let expected = [
        "#separator \\x09",
        "#set_separator\t,",
        "#empty_field\t(empty)",
        "#unset_field\t-",
        "#path\tconn",
        "#open\t2023-11-14-22-13-20",
        "#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tservice\tduration\torig_bytes\tresp_bytes\t\
         conn_state\tlocal_orig\tlocal_resp\tmissed_bytes\thistory\torig_pkts\torig_ip_bytes\tresp_pkts\tresp_ip_bytes\t\
         tunnel_parents\tip_proto",
        "#types\ttime\tstring\taddr\tport\taddr\tport\tenum\tstring\tinterval\tcount\tcount\tstring\tbool\tbool\tcount\t\
         string\tcount\tcount\tcount\tcount\tset[string]\tcount",
        "#close\t2023-11-14-22-13-20",
    ];
    assert_eq!(log.lines().collect::<Vec<_>>(), expected);
}

/// Originator, state and history of a connection in Zeek's log.
fn zeek_of(ports: [u16; 2], sent: &[Sent]) -> String {
    let log = text(FlowFormat::Zeek, &[flow_between(ports, sent)]);
    let found = columns(&log, 0);
    ["id.orig_p", "conn_state", "history"].map(|name| found[name]).join(" ")
}

#[test]
fn a_connection_that_began_before_the_capture_is_turned_around_by_the_ports_of_servers() {
    let sent = [
        server(0, ACK, 501, 101, 10),
        client(1, ACK, 101, 511, 0),
        client(2, ACK, 101, 511, 7),
        client(3, FIN | ACK, 108, 511, 0),
    ];
    assert_eq!(zeek_of([40_000, 443], &sent), "40000 SH ^dADF");
    assert_eq!(zeek_of([40_000, 9_999], &sent), "9999 SHR Dadf");
    // Of two servers, the one with the lower port.
    assert_eq!(zeek_of([8_080, 80], &sent), "8080 SH ^dADF");
    assert_eq!(zeek_of([22, 80], &sent), "80 SHR Dadf");
    let log = text(FlowFormat::Zeek, &[flow_between([40_000, 443], &sent)]);
    let found = columns(&log, 0);
    let expected = [
        ("id.orig_h", "10.0.0.1"),
        ("id.resp_h", "10.0.0.2"),
        ("orig_bytes", "7"),
        ("resp_bytes", "10"),
        ("orig_pkts", "3"),
        ("resp_pkts", "1"),
        ("orig_ip_bytes", "127"),
        ("resp_ip_bytes", "50"),
    ];
    expected.iter().for_each(|(name, value)| assert_eq!(found[name], *value, "{name}"));
    let ends = [server(0, FIN | ACK, 501, 101, 0), client(1, ACK, 101, 502, 0)];
    assert_eq!(zeek_of([40_000, 80], &ends), "40000 SHR ^fA");
    let ends = [server(0, RST, 501, 0, 0)];
    assert_eq!(zeek_of([40_000, 80], &ends), "40000 RSTRH ^r");
    let ends = [server(0, ACK, 501, 101, 1), client(1, RST, 101, 0, 0), server(2, RST, 502, 0, 0)];
    assert_eq!(zeek_of([40_000, 80], &ends), "40000 RSTR ^dRr");
}

#[test]
fn a_connection_whose_syn_was_not_seen_is_turned_around_unless_it_is_a_scan() {
    let answer = server(0, SYN | ACK, 500, 101, 0);
    let goes_on = [answer, client(3, ACK, 101, 501, 0), client(4, ACK, 101, 501, 7)];
    let ends = [server(5, FIN | ACK, 501, 108, 0)];
    let resets = [server(5, RST, 501, 0, 0)];
    // The ports tell at once, so that what follows belongs to a connection that was opened.
    assert_eq!(zeek_of([40_000, 80], &[answer]), "40000 OTH ^h");
    assert_eq!(zeek_of([40_000, 80], &goes_on), "40000 S1 ^hAD");
    assert_eq!(zeek_of([40_000, 80], &[&goes_on[..], &ends].concat()), "40000 S3 ^hADf");
    assert_eq!(zeek_of([40_000, 80], &[&goes_on[..], &resets].concat()), "40000 RSTR ^hADr");
    assert_eq!(zeek_of([40_000, 80], &[&[answer], &resets[..]].concat()), "40000 RSTRH ^hr");
    // Without them, traffic behind the answer tells.
    assert_eq!(zeek_of([40_000, 9_999], &[answer]), "9999 OTH H");
    assert_eq!(zeek_of([40_000, 9_999], &goes_on), "40000 OTH ^hAD");
    assert_eq!(zeek_of([40_000, 9_999], &[&goes_on[..], &ends].concat()), "40000 SHR ^hADf");
    let reset = [answer, client(3, RST, 101, 0, 0)];
    assert_eq!(zeek_of([40_000, 9_999], &reset), "9999 REJ Hr");
    assert_eq!(zeek_of([40_000, 80], &reset), "40000 RSTO ^hR");
    // The SYN comes behind its answer.
    let late = [answer, client(1, SYN, 100, 0, 0), client(2, ACK, 101, 501, 5)];
    assert_eq!(zeek_of([40_000, 9_999], &late), "40000 S1 Hs^D");
}

#[test]
fn a_whole_connection_is_as_it_began_whatever_its_ports_are() {
    for ports in [[40_000, 80], [80, 40_000], [80, 22], [1, 2]] {
        assert_eq!(zeek_of(ports, &handshake()), format!("{} S1 ShA", ports[0]));
    }
}

#[test]
fn an_answer_of_datagrams_without_its_question_is_turned_around() {
    let datagram = |ports: [u16; 2], to: [u8; 4]| {
        let mut ip = vec![0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 2];
        ip.extend(to);
        ports.iter().for_each(|port| ip.extend(port.to_be_bytes()));
        ip.extend([0, 12, 0, 0, 1, 2, 3, 4]);
        let log = text(FlowFormat::Zeek, &[flow_of_packet(0x0800, &ip, Some(0))]);
        let found = columns(&log, 0);
        ["id.orig_p", "conn_state", "history"].map(|name| found[name]).join(" ")
    };
    assert_eq!(datagram([53, 40_000], [10, 0, 0, 1]), "40000 SHR ^d");
    assert_eq!(datagram([40_000, 53], [10, 0, 0, 1]), "40000 S0 D");
    assert_eq!(datagram([123, 123], [10, 0, 0, 1]), "123 S0 D");
    assert_eq!(datagram([67, 68], [255; 4]), "67 S0 D");
}

#[test]
fn a_connection_is_a_line_of_zeek() {
    let log = text(FlowFormat::Zeek, &[connection()]);
    let found = columns(&log, 0);
    for (name, expected) in [
        ("ts", "0.000000"),
        ("id.orig_h", "10.0.0.1"),
        ("id.orig_p", "40000"),
        ("id.resp_h", "10.0.0.2"),
        ("id.resp_p", "80"),
        ("proto", "tcp"),
        ("service", "http"),
        ("duration", "0.037000"),
        ("orig_bytes", "42"),
        ("resp_bytes", "18"),
        ("conn_state", "SF"),
        ("local_orig", "T"),
        ("missed_bytes", "0"),
        ("history", "ShADdFf"),
        ("orig_pkts", "4"),
        ("orig_ip_bytes", "202"),
        ("resp_pkts", "3"),
        ("resp_ip_bytes", "138"),
        ("tunnel_parents", "-"),
        ("ip_proto", "6"),
    ] {
        assert_eq!(found[name], expected, "{name}");
    }
    let uid = found["uid"];
    assert!(uid.len() == 18 && uid.starts_with('C'), "{uid}");
    assert!(uid.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{uid}");
    assert_eq!(text(FlowFormat::Zeek, &[connection()]), log);
}

#[test]
fn what_zeek_leaves_unset_is_unset() {
    let lone = text(FlowFormat::Zeek, &[flow_of(&[client(0, SYN, 100, 0, 0)])]);
    let found = columns(&lone, 0);
    let names = ["duration", "orig_bytes", "resp_bytes", "service", "conn_state", "orig_ip_bytes"];
    assert_eq!(names.map(|name| found[name]), ["-", "-", "-", "-", "S0", "40"]);
    // A gap: how many bytes were missed is not counted.
    let gap = [client(0, ACK, 101, 1, 10), client(9, ACK, 211, 1, 10)];
    let gap = text(FlowFormat::Zeek, &[flow_of(&gap)]);
    let found = columns(&gap, 0);
    assert_eq!(["missed_bytes", "orig_bytes"].map(|name| found[name]), ["-", "120"]);
    let plain: Vec<Flow> = flows("vlan.pcapng", FeatureSet::NONE);
    let plain = text(FlowFormat::Zeek, &plain[..1]);
    let found = columns(&plain, 0);
    let names = ["orig_bytes", "orig_ip_bytes", "missed_bytes", "conn_state", "history", "service"];
    assert_eq!(names.map(|name| found[name]), ["-"; 6]);
}

#[test]
fn protocols_have_the_names_that_zeek_has_for_them() {
    let tls = flow_of(&[handshake(), vec![carrying(20, 101, &hello(0))]].concat());
    let log = text(FlowFormat::Zeek, &[tls]);
    assert_eq!(columns(&log, 0)["service"], "ssl");
    let dns = flows("web.pcap.gz", features_of(FlowFormat::Zeek));
    let dns: Vec<Flow> = dns.into_iter().filter(|flow| flow.dst_port() == Some(53)).collect();
    let log = text(FlowFormat::Zeek, &dns);
    let found = columns(&log, 0);
    assert_eq!(["proto", "service", "history"].map(|name| found[name]), ["udp", "dns", "Dd"]);
    // An echo of ICMPv6: the type, and the one that answers it.
    let log = text(FlowFormat::Zeek, &[flow_of_packet(0x86dd, &echo(), Some(0))]);
    let found = columns(&log, 0);
    let names = ["proto", "id.orig_p", "id.resp_p", "ip_proto", "local_resp"];
    assert_eq!(names.map(|name| found[name]), ["icmp", "128", "129", "58", "F"]);
}

/// An echo request of ICMPv6.
fn echo() -> Vec<u8> {
    let (from, to) = ("fd00::1".parse::<Ipv6Addr>(), "2606::2".parse::<Ipv6Addr>());
    let header =
        [&[0x60, 0, 0, 0, 0, 8, 58, 64][..], &from.unwrap().octets(), &to.unwrap().octets()];
    [header.concat(), vec![128, 0, 0, 0, 0, 1, 0, 1]].concat()
}

#[test]
fn zeeks_json_has_what_its_lines_have_but_for_what_is_unset() {
    for sample in ["web.pcap.gz", "vlan.pcapng", "tunnels.pcap"] {
        let flows = flows(sample, features_of(FlowFormat::Zeek));
        let (log, json) = (text(FlowFormat::Zeek, &flows), text(FlowFormat::ZeekJson, &flows));
        let listed = |name: &str| {
            let line = log.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split('\t').collect::<Vec<_>>()
        };
        let (names, types) = (listed("#fields\t"), listed("#types\t"));
        let lines = log.lines().filter(|line| !line.starts_with('#'));
        let expected = lines.map(|line| {
            let values: Vec<&str> = line.split('\t').collect();
            assert_eq!(values.len(), names.len(), "{line}");
            let set = (0..names.len()).filter(|place| values[*place] != "-").map(|place| {
                let value = match (types[place], values[place]) {
                    ("string" | "enum" | "addr", text) => format!("\"{text}\""),
                    ("bool", "T") => "true".to_owned(),
                    ("bool", "F") => "false".to_owned(),
                    (_, number) => number.to_owned(),
                };
                format!("\"{}\":{value}", names[place])
            });
            format!("{{{}}}\n", set.collect::<Vec<_>>().join(","))
        });
        assert_eq!(json, expected.collect::<String>(), "{sample}");
        assert_eq!(json.lines().count(), flows.len());
    }
}

#[test]
fn a_connection_is_an_object_of_the_elastic_common_schema() {
    let expected = concat!(
        r#"{"@timestamp":"1970-01-01T00:00:00.000000000Z","ecs":{"version":"8.11.0"},"#,
        r#""event":{"kind":"event","category":["network"],"type":["connection"],"#,
        r#""start":"1970-01-01T00:00:00.000000000Z","end":"1970-01-01T00:00:00.037000000Z","duration":37000000},"#,
        r#""source":{"address":"10.0.0.1","ip":"10.0.0.1","port":40000,"packets":4,"bytes":258},"#,
        r#""destination":{"address":"10.0.0.2","ip":"10.0.0.2","port":80,"packets":3,"bytes":180},"#,
        r#""network":{"type":"ipv4","transport":"tcp","iana_number":"6","protocol":"http","packets":7,"bytes":438,"#,
        r#""community_id":"COMMUNITY"},"url":{"domain":"example.org"}}"#,
        "\n",
    );
    let flow = connection();
    let expected = expected.replace("COMMUNITY", &flow.community_id());
    assert_eq!(text(FlowFormat::Ecs, &[flow]), expected);
}

#[test]
fn names_of_tls_stand_in_objects_of_their_own_and_what_is_not_known_is_not_there() {
    let tls = flow_of(&[handshake(), vec![carrying(20, 101, &hello(0))]].concat());
    let line = text(FlowFormat::Ecs, &[tls]);
    let expected = "\"tls\":{\"client\":{\"server_name\":\"example.org\"}}}\n";
    assert!(line.ends_with(expected), "{line}");
    let icmp = text(FlowFormat::Ecs, &[flow_of_packet(0x86dd, &echo(), None)]);
    let expected = concat!(
        r#"{"ecs":{"version":"8.11.0"},"event":{"kind":"event","category":["network"],"type":["connection"]},"#,
        r#""source":{"address":"fd00::1","ip":"fd00::1","packets":1,"bytes":62},"#,
        r#""destination":{"address":"2606::2","ip":"2606::2","packets":0,"bytes":0},"#,
        r#""network":{"type":"ipv6","transport":"ipv6-icmp","iana_number":"58","packets":1,"bytes":62,"#,
    );
    assert!(icmp.starts_with(expected), "{icmp}");
}

/// A record of IPFIX: its values by enterprise and number.
type Record = HashMap<(u32, u16), Vec<u8>>;

/// The elements of records, by enterprise and number, and their lengths.
type Template = Vec<((u32, u16), usize)>;

fn take<'a>(from: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (taken, rest) = from.split_at(len);
    *from = rest;
    taken
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Reads messages by RFC 7011, and checks their numbers.
fn records(mut bytes: &[u8]) -> Vec<Record> {
    let (mut templates, mut records) = (HashMap::new(), Vec::new());
    while !bytes.is_empty() {
        assert_eq!(number(take(&mut bytes, 2)), 10);
        let len = number(take(&mut bytes, 2)) as usize;
        assert_eq!(number(take(&mut bytes, 4)), 1_700_000_000);
        assert_eq!(number(take(&mut bytes, 4)), records.len() as u64);
        assert_eq!(number(take(&mut bytes, 4)), 1);
        let mut sets = take(&mut bytes, len - 16);
        while !sets.is_empty() {
            let id = number(take(&mut sets, 2)) as u16;
            let len = number(take(&mut sets, 2)) as usize;
            let mut content = take(&mut sets, len - 4);
            if id == 2 {
                read_templates(content, &mut templates);
                continue;
            }
            let template: &Template = &templates[&id];
            while !content.is_empty() {
                let values = template
                    .iter()
                    .map(|(element, len)| (*element, take(&mut content, *len).to_vec()));
                records.push(values.collect());
            }
        }
    }
    records
}

fn read_templates(mut content: &[u8], templates: &mut HashMap<u16, Template>) {
    while !content.is_empty() {
        let id = number(take(&mut content, 2)) as u16;
        let count = number(take(&mut content, 2));
        let mut template = Vec::new();
        for _ in 0..count {
            let element = number(take(&mut content, 2)) as u16;
            let len = number(take(&mut content, 2)) as usize;
            let enterprise =
                if element >> 15 == 1 { number(take(&mut content, 4)) as u32 } else { 0 };
            template.push(((enterprise, element & 0x7fff), len));
        }
        assert!(templates.insert(id, template).is_none(), "template {id} comes twice");
    }
}

fn address(record: &Record, v4: u16, v6: u16) -> IpAddr {
    match record.get(&(0, v4)) {
        Some(bytes) => Ipv4Addr::from(<[u8; 4]>::try_from(bytes.as_slice()).unwrap()).into(),
        None => Ipv6Addr::from(<[u8; 16]>::try_from(record[&(0, v6)].as_slice()).unwrap()).into(),
    }
}

/// Nanoseconds since 1970 of a time that NTP counts from 1900, as RFC 7011, section 6.1.9, has them.
fn nanoseconds(record: &Record, element: u16) -> Option<i64> {
    let time = number(record.get(&(0, element))?);
    let (seconds, fraction) = ((time >> 32) as i64 - 2_208_988_800, time & 0xffff_ffff);
    Some(seconds * 1_000_000_000 + ((u128::from(fraction) * 1_000_000_000) >> 32) as i64)
}

fn assert_same(record: &Record, flow: &Flow) {
    let value = |enterprise, element| record.get(&(enterprise, element)).map(|bytes| number(bytes));
    let counted = |field| match flow.value(field) {
        Value::Unsigned(count) => Some(count),
        _ => None,
    };
    assert_eq!([address(record, 8, 27), address(record, 12, 28)], [flow.src_ip(), flow.dst_ip()]);
    assert_eq!([nanoseconds(record, 156), nanoseconds(record, 157)], [flow.ts(), flow.last_ts()]);
    let milliseconds = |ts: Option<i64>| ts.map(|ts| (ts / 1_000_000) as u64);
    assert_eq!(value(0, 152), milliseconds(flow.ts()));
    assert_eq!(value(0, 153), milliseconds(flow.last_ts()));
    assert_eq!(value(0, 7), flow.src_port().map(u64::from));
    assert_eq!(value(0, 11), flow.dst_port().map(u64::from));
    assert_eq!(value(0, 4), Some(flow.proto().into()));
    assert_eq!(value(0, 6), flow.tcp_flags().map(u64::from));
    let rev_flags = flow.tcp_flags().map(|_| flow.rev_tcp_flags().unwrap_or(0).into());
    assert_eq!(value(REVERSE, 6), rev_flags);
    assert_eq!([value(0, 2), value(REVERSE, 2)], [Some(flow.packets()), Some(flow.rev_packets())]);
    assert_eq!([value(0, 352), value(REVERSE, 352)], [Some(flow.bytes()), Some(flow.rev_bytes())]);
    assert_eq!(value(0, 1), counted(FlowField::IpBytes));
    assert_eq!(value(REVERSE, 1), counted(FlowField::RevIpBytes));
    assert_eq!(value(0, 239), Some(1));
}

#[test]
fn a_reader_of_ipfix_finds_each_flow_again() {
    for sample in ["web.pcap.gz", "vlan.pcapng", "tunnels.pcap", "fragments.pcap"] {
        for features in [features_of(FlowFormat::Ipfix), FeatureSet::NONE] {
            let flows = flows(sample, features);
            let records = records(&encoded(FlowFormat::Ipfix, &flows));
            assert_eq!(records.len(), flows.len(), "{sample}");
            records.iter().zip(&flows).for_each(|(record, flow)| assert_same(record, flow));
        }
    }
}

#[test]
fn messages_that_are_flushed_after_each_flow_have_each_template_once() {
    let flows = flows("vlan.pcapng", features_of(FlowFormat::Ipfix));
    let (mut encoder, mut bytes) = (FlowEncoder::new(FlowFormat::Ipfix), Vec::new());
    encoder.begin(NOW, &mut bytes);
    for flow in &flows {
        encoder.push(flow, &mut bytes);
        encoder.flush(NOW, &mut bytes);
    }
    let len = bytes.len();
    encoder.flush(NOW, &mut bytes);
    encoder.finish(NOW, &mut bytes);
    assert_eq!(bytes.len(), len);
    let records = records(&bytes);
    assert_eq!(records.len(), flows.len());
    records.iter().zip(&flows).for_each(|(record, flow)| assert_same(record, flow));
}

#[test]
fn a_flow_of_icmp_has_its_type_and_one_without_times_has_none() {
    let flow = flow_of_packet(0x86dd, &echo(), None);
    let records = records(&encoded(FlowFormat::Ipfix, std::slice::from_ref(&flow)));
    assert_same(&records[0], &flow);
    assert_eq!(records[0][&(0, 178)], [128]);
    assert!(
        [152, 153, 156, 157, 7, 11].iter().all(|element| !records[0].contains_key(&(0, *element)))
    );
}

#[test]
fn nothing_is_a_file_of_ipfix_without_messages() {
    assert_eq!(encoded(FlowFormat::Ipfix, &[]), b"");
}

#[test]
fn a_format_is_known_by_its_name_and_another_name_is_told() {
    for format in FlowFormat::ALL {
        assert_eq!(FlowFormat::by_name(format.name()).unwrap(), *format);
    }
    let told = FlowFormat::by_name("netflow").unwrap_err().to_string();
    assert_eq!(
        told,
        "expected the format of flows to be zeek, zeek-json, ecs or ipfix, found \"netflow\""
    );
}
