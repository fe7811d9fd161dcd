//! Goal: the flow table gives the flows that a plain hash map gives, on any order of packets, within
//! its memory. Method: behaviours one by one, then random packets through the table and a twin that
//! is slow and obvious; a failure prints the seed that repeats it (BYTEWRIGHT_SEED).

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytewright::batch::Value;
use bytewright::flow::{Flow, FlowField, FlowOptions, FlowTable};
use bytewright::packet::FlowKey;

use crate::flow_frames::{Spec, TCP, UDP, random_spec, tcp};
use crate::generate::{Random, seeds};

const SECOND: i64 = 1_000_000_000;

fn flows_of(specs: &[Spec], options: FlowOptions) -> Vec<Flow> {
    let mut table = FlowTable::new(options);
    let mut flows = Vec::new();
    for specs in specs.chunks(100) {
        specs.iter().for_each(|spec| table.add(&spec.packet()));
        flows.extend(table.drain_finished());
    }
    flows.extend(table.finish());
    flows
}

#[test]
fn both_directions_are_one_flow_seen_from_the_side_that_began() {
    let specs = [
        tcp(5 * SECOND, (9, 40_000), (1, 443), 0x002),
        tcp(5 * SECOND + 1_500, (1, 443), (9, 40_000), 0x012),
        Spec { length: 1_000, ..tcp(5 * SECOND + 2_999, (9, 40_000), (1, 443), 0x010) },
    ];
    let flows = flows_of(&specs, FlowOptions::default());
    let [flow] = flows.as_slice() else { panic!("{flows:?}") };
    assert_eq!(flow.ts(), Some(5 * SECOND));
    assert_eq!(flow.last_ts(), Some(5 * SECOND + 2_999));
    assert_eq!(flow.duration(), Some(2));
    assert_eq!((flow.src_ip(), flow.src_port()), (Ipv4Addr::new(10, 0, 0, 9).into(), Some(40_000)));
    assert_eq!((flow.dst_ip(), flow.dst_port()), (Ipv4Addr::new(10, 0, 0, 1).into(), Some(443)));
    assert_eq!(flow.proto(), TCP);
    assert_eq!((flow.packets(), flow.bytes(), flow.tcp_flags()), (2, 1_060, Some(0x012)));
    assert_eq!((flow.rev_packets(), flow.rev_bytes(), flow.rev_tcp_flags()), (1, 60, Some(0x012)));
    assert_eq!(flow.key(), &FlowKey::of(&specs[1].packet()).unwrap());
}

#[test]
fn an_echo_request_and_its_reply_are_one_flow_and_have_no_ports() {
    let host = |last| IpAddr::from(Ipv4Addr::new(192, 168, 0, last));
    let request = Spec {
        src: host(89),
        dst: host(1),
        proto: 1,
        numbers: (8, 0),
        ..tcp(0, (0, 0), (0, 0), 0)
    };
    let reply = Spec { src: host(1), dst: host(89), numbers: (0, 0), ..request };
    let flows = flows_of(&[request, reply], FlowOptions::default());
    let [flow] = flows.as_slice() else { panic!("{flows:?}") };
    assert_eq!((flow.packets(), flow.rev_packets()), (1, 1));
    assert_eq!((flow.src_ip(), flow.src_port(), flow.dst_port()), (host(89), None, None));
    assert_eq!(flow.tcp_flags(), None);
    assert_eq!(flow.community_id(), "1:X0snYXpgwiv9TZtqg64sgzUn6Dk=");
}

#[test]
fn unreachable_messages_of_two_directions_are_two_flows() {
    let there = Spec { proto: 1, numbers: (3, 1), ..tcp(0, (1, 0), (2, 0), 0) };
    let back = Spec { src: there.dst, dst: there.src, ..there };
    assert_eq!(flows_of(&[there, back, there], FlowOptions::default()).len(), 2);
}

#[test]
fn later_fragments_are_a_flow_without_ports() {
    let first = Spec { proto: UDP, ..tcp(0, (1, 53), (2, 5_000), 0) };
    let later = Spec { later_fragment: true, ..first };
    let flows = flows_of(&[first, later], FlowOptions::default());
    assert_eq!(flows.len(), 2);
    assert_eq!(flows[0].src_port(), Some(53));
    assert_eq!((flows[1].src_port(), flows[1].dst_port(), flows[1].proto()), (None, None, UDP));
}

#[test]
fn packets_without_ip_are_counted_and_are_no_flow() {
    let mut table = FlowTable::new(FlowOptions::default());
    table.add(&bytewright::packet::Packet::default());
    assert_eq!((table.len(), table.packets(), table.packets_without_flow()), (0, 1, 1));
    assert_eq!(table.finish().count(), 0);
}

#[test]
fn packets_without_a_time_leave_times_null_until_one_has_a_time() {
    let timeless = Spec { ts: None, ..tcp(0, (1, 1), (2, 2), 0) };
    let options = FlowOptions {
        idle_timeout: Some(1),
        active_timeout: Some(1),
        max_flows: 10,
        ..FlowOptions::default()
    };
    let flows = flows_of(&[timeless, timeless], options);
    assert_eq!((flows[0].ts(), flows[0].duration(), flows[0].packets()), (None, None, 2));
    assert_eq!(flows[0].value(FlowField::Ts), Value::Null);
    let flows = flows_of(&[timeless, Spec { ts: Some(-7), ..timeless }], options);
    assert_eq!((flows[0].ts(), flows[0].duration(), flows[0].packets()), (Some(-7), Some(0), 2));
    let flows = flows_of(&[Spec { ts: Some(7), ..timeless }, timeless], options);
    assert_eq!((flows[0].ts(), flows[0].last_ts(), flows[0].packets()), (Some(7), Some(7), 2));
}

#[test]
fn a_flow_idle_for_longer_than_the_timeout_ends_and_its_next_packet_begins_another() {
    let packet = |ts| tcp(ts, (1, 1), (2, 2), 0);
    let options = FlowOptions { idle_timeout: Some(SECOND), ..FlowOptions::default() };
    let specs = [packet(0), packet(SECOND), packet(2 * SECOND + 1)];
    let flows = flows_of(&specs, options);
    let summary: Vec<_> = flows.iter().map(|flow| (flow.ts().unwrap(), flow.packets())).collect();
    assert_eq!(summary, [(0, 2), (2 * SECOND + 1, 1)]);
}

#[test]
fn a_flow_older_than_the_active_timeout_ends_although_it_never_pauses() {
    let options = FlowOptions { active_timeout: Some(10 * SECOND), ..FlowOptions::default() };
    let specs: Vec<_> = (0..33).map(|n| tcp(n * SECOND, (1, 1), (2, 2), 0)).collect();
    let flows = flows_of(&specs, options);
    assert_eq!(flows.iter().map(Flow::packets).collect::<Vec<_>>(), [11, 11, 11]);
}

#[test]
fn idle_flows_leave_while_others_go_on() {
    let options = FlowOptions { idle_timeout: Some(SECOND), ..FlowOptions::default() };
    let mut table = FlowTable::new(options);
    for port in 0..1_000 {
        table.add(&tcp(0, (1, port), (2, 2), 0).packet());
    }
    for n in 0..9_000 {
        table.add(&tcp(2 * SECOND + n, (3, 3), (4, 4), 0).packet());
    }
    assert_eq!(table.len(), 1);
    assert_eq!(table.drain_finished().count(), 1_000);
}

#[test]
fn at_any_time_of_the_clock_only_flows_are_open_that_were_not_idle_for_too_long() {
    seeds(3, |random| {
        let options = FlowOptions { idle_timeout: Some(100), ..FlowOptions::default() };
        let mut table = FlowTable::new(options);
        let (mut lasts, mut now) = (HashMap::new(), 0);
        for _ in 0..3_000 {
            now += match random.below(100) {
                0 => -500,
                1 => 90,
                _ => random.below(5) as i64,
            };
            for _ in 0..random.below(3) {
                let port = random.below(40) as u16;
                table.add(&tcp(now, (1, port), (2, 2), 0).packet());
                let last = lasts.entry(port).or_insert(now);
                *last = now.max(*last);
            }
            table.end_idle(now);
            lasts.retain(|_, last| now - *last <= 100);
            assert_eq!(table.len(), lasts.len(), "at {now}");
        }
    });
}

#[test]
fn time_that_goes_back_or_jumps_ahead_once_does_not_flush_the_table() {
    let options = FlowOptions { idle_timeout: Some(SECOND), ..FlowOptions::default() };
    let mut table = FlowTable::new(options);
    for port in 0..1_000 {
        table.add(&tcp(100 * SECOND, (1, port), (2, 2), 0).packet());
    }
    for ts in [i64::MIN, -SECOND, 0, i64::MAX] {
        table.add(&tcp(ts, (3, 3), (4, 4), 0).packet());
    }
    for port in 0..1_000 {
        table.add(&tcp(100 * SECOND + 1, (1, port), (2, 2), 0).packet());
    }
    assert!(table.finished_len() < 20, "{} flows ended", table.finished_len());
}

#[test]
fn a_full_table_ends_flows_that_had_no_packet_for_long_and_stays_in_bounds() {
    let options = FlowOptions { max_flows: 1_000, ..FlowOptions::default() };
    let mut table = FlowTable::new(options);
    let mut packets = 0;
    let mut ended = 0;
    let mut bytes_full = 0;
    for n in 0..50_000_u32 {
        // One busy flow among those of a scan.
        let address = |n: u32| Ipv4Addr::from(0x0a00_0000 + n).into();
        let scan = Spec { src: address(n), ..tcp(n.into(), (1, 1), (2, 2), 0) };
        table.add(&scan.packet());
        table.add(&tcp(n.into(), (250, 1), (251, 2), 0).packet());
        for flow in table.drain_finished() {
            ended += 1;
            packets += flow.packets();
            assert!(flow.src_port() == Some(1) && flow.packets() == 1, "the busy flow stays");
        }
        assert!(table.len() <= 1_000);
        if n == 2_000 {
            bytes_full = table.memory_bytes();
        }
    }
    assert_eq!(table.memory_bytes(), bytes_full);
    assert_eq!(ended, 50_001 - 1_000);
    assert_eq!(packets + table.finish().map(|flow| flow.packets()).sum::<u64>(), 100_000);
}

#[test]
fn a_flow_takes_72_bytes_in_ipv4_and_96_in_ipv6_at_every_size_from_1000_on() {
    for (version, limit) in [(4, 72.0), (6, 96.0)] {
        let mut table = FlowTable::new(FlowOptions::default());
        let mut worst = 0.0_f64;
        for n in 0..100_000_u32 {
            let (src, dst): (IpAddr, IpAddr) = match version {
                4 => (Ipv4Addr::from(n).into(), Ipv4Addr::LOCALHOST.into()),
                _ => (Ipv6Addr::from(u128::from(n)).into(), Ipv6Addr::LOCALHOST.into()),
            };
            let spec = Spec { src, dst, ..tcp(0, (1, 1), (2, 2), 0) };
            table.add(&spec.packet());
            if table.len() >= 1_000 {
                let each = table.memory_bytes() as f64 / table.len() as f64;
                assert!(each <= limit, "IPv{version}: {each} bytes each of {}", table.len());
                worst = worst.max(each);
            }
        }
        println!("IPv{version}: at most {worst:.2} bytes per flow");
    }
}

#[test]
fn the_last_flows_come_in_the_order_of_their_first_packet() {
    seeds(2, |random| {
        let specs: Vec<_> = (0..3_000)
            .map(|_| {
                let ts = random.below(1_000) as i64;
                random_spec(random, Some(ts), 20)
            })
            .collect();
        let flows = flows_of(&specs, FlowOptions::default());
        assert!(flows.is_sorted_by_key(Flow::ts));
    });
}

#[test]
fn every_field_has_its_value_and_its_name() {
    let flows = flows_of(&[tcp(3, (1, 10), (2, 20), 0x02)], FlowOptions::default());
    let text: Vec<_> = FlowField::DEFAULT
        .iter()
        .map(|field| format!("{}={}", field.name(), flows[0].value(*field)))
        .collect();
    assert_eq!(
        text.join(" "),
        format!(
            "ts=3 src_ip=10.0.0.1 dst_ip=10.0.0.2 src_port=10 dst_port=20 proto=6 packets=1 bytes=60 \
             rev_packets=0 rev_bytes=0 duration=0 tcp_flags=2 rev_tcp_flags= community_id={}",
            flows[0].community_id()
        )
    );
    for field in FlowField::ALL {
        assert_eq!(FlowField::named(field.name()).ok(), Some(*field));
    }
}

/// The key of the twin: version and protocol, the endpoints in order, and how they are to be read.
type TwinKey = (u8, [(IpAddr, u16); 2], &'static str);

/// Values of a flow, for comparison, in one row.
type Row = (Option<i64>, Option<i64>, IpAddr, IpAddr, u8, [u64; 4], Option<u16>, Option<u16>);

fn row(flow: &Flow) -> Row {
    let counts = [flow.packets(), flow.bytes(), flow.rev_packets(), flow.rev_bytes()];
    (
        flow.ts(),
        flow.last_ts(),
        flow.src_ip(),
        flow.dst_ip(),
        flow.proto(),
        counts,
        flow.src_port(),
        flow.dst_port(),
    )
}

/// The obvious flow table: every packet of every open flow, kept until the flow ends.
#[derive(Default)]
struct Twin {
    open: HashMap<TwinKey, Vec<Spec>>,
    ended: Vec<Row>,
}

impl Twin {
    fn key(spec: &Spec) -> TwinKey {
        let ends = |a, b| [(spec.src, a), (spec.dst, b)];
        let sorted = |mut ends: [(IpAddr, u16); 2]| {
            ends.sort();
            ends
        };
        if spec.later_fragment {
            return (spec.proto, sorted(ends(0, 0)), "no ports");
        }
        let (kind, code) = spec.numbers;
        let pairs: &[(u16, u16)] = match spec.proto {
            TCP | UDP | 132 => return (spec.proto, sorted(ends(kind, code)), "ports"),
            1 => &[(8, 0), (10, 9), (13, 14), (15, 16), (17, 18)],
            58 => &[(128, 129), (130, 131), (133, 134), (135, 136), (139, 140), (144, 145)],
            _ => return (spec.proto, sorted(ends(0, 0)), "no ports"),
        };
        match pairs.iter().find(|(ask, answer)| [*ask, *answer].contains(&kind)) {
            Some((ask, answer)) => {
                let other = if kind == *ask { *answer } else { *ask };
                (spec.proto, sorted(ends(kind, other)), "two ways")
            }
            None => (spec.proto, ends(kind, code), "one way"),
        }
    }

    fn add(&mut self, spec: &Spec, options: FlowOptions) {
        let key = Self::key(spec);
        if let Some(packets) = self.open.get(&key) {
            let times = || packets.iter().filter_map(|packet| packet.ts);
            let is_over = |limit: Option<i64>, since: Option<i64>| match (spec.ts, limit, since) {
                (Some(ts), Some(limit), Some(since)) => ts - since > limit,
                _ => false,
            };
            if is_over(options.idle_timeout, times().max())
                || is_over(options.active_timeout, times().min())
            {
                self.ended.push(Self::row(&key, packets));
                self.open.remove(&key);
            }
        }
        self.open.entry(key).or_default().push(*spec);
    }

    fn row(key: &TwinKey, packets: &[Spec]) -> Row {
        let times = || packets.iter().filter_map(|packet| packet.ts);
        let first = packets[0];
        let side = |spec: &Spec| {
            let number = if key.2 == "ports" { spec.numbers.0 } else { 0 };
            (spec.src, number)
        };
        // Of messages to oneself with swapped types, the type tells who answers.
        let is_forward = |spec: &Spec| match key.2 {
            "two ways" if spec.src == spec.dst => spec.numbers.0 == first.numbers.0,
            "ports" if spec.src == spec.dst => spec.numbers == first.numbers,
            _ => side(spec) == side(&first),
        };
        let mut counts = [0; 4];
        for packet in packets {
            let at = if is_forward(packet) { 0 } else { 2 };
            counts[at] += 1;
            counts[at + 1] += u64::from(packet.length);
        }
        let ports = (key.2 == "ports").then_some(first.numbers);
        (
            times().min(),
            times().max(),
            first.src,
            first.dst,
            key.0,
            counts,
            ports.map(|ports| ports.0),
            ports.map(|ports| ports.1),
        )
    }

    fn finish(mut self) -> Vec<Row> {
        self.ended.extend(self.open.iter().map(|(key, packets)| Self::row(key, packets)));
        self.ended.sort();
        self.ended
    }
}

fn compare_with_twin(
    options: FlowOptions,
    hosts: usize,
    random: &mut Random,
    mut time: impl FnMut(&mut Random) -> Option<i64>,
) {
    let mut specs = Vec::new();
    let mut twin = Twin::default();
    for _ in 0..12_000 {
        let ts = time(random);
        let spec = random_spec(random, ts, hosts);
        twin.add(&spec, options);
        specs.push(spec);
    }
    let mut rows: Vec<Row> = flows_of(&specs, options).iter().map(row).collect();
    rows.sort();
    let expected = twin.finish();
    if let Some(place) =
        (0..rows.len().max(expected.len())).find(|n| rows.get(*n) != expected.get(*n))
    {
        panic!("{:?} is not {:?}", rows.get(place), expected.get(place));
    }
}

#[test]
fn random_packets_in_any_order_give_the_flows_of_the_twin() {
    seeds(2, |random| {
        compare_with_twin(FlowOptions::default(), 8, random, |random| match random.below(10) {
            0 => None,
            _ => Some(random.below(1_000_000) as i64 - 1_000),
        });
        let any_time = |random: &mut Random| Some(random.below(1_000_000) as i64);
        compare_with_twin(FlowOptions::default(), 200, random, any_time);
    });
}

#[test]
fn random_packets_with_timeouts_give_the_flows_of_the_twin() {
    for (idle, active) in [(Some(1_000), None), (None, Some(3_000)), (Some(1_000), Some(3_000))] {
        for hosts in [6, 60] {
            let options = FlowOptions {
                idle_timeout: idle,
                active_timeout: active,
                ..FlowOptions::default()
            };
            seeds(1, |random| {
                let mut now = 0;
                compare_with_twin(options, hosts, random, |random| {
                    now += random.below(8) as i64;
                    Some(now)
                });
            });
        }
    }
}

#[test]
fn however_small_the_table_no_packet_is_lost_or_counted_twice() {
    seeds(2, |random| {
        let options = FlowOptions {
            idle_timeout: Some(500),
            active_timeout: Some(5_000),
            max_flows: 37,
            ..FlowOptions::default()
        };
        let mut table = FlowTable::new(options);
        let mut expected: BTreeMap<FlowKey, [u64; 2]> = BTreeMap::new();
        let mut counted = expected.clone();
        let add = |sums: &mut BTreeMap<FlowKey, [u64; 2]>, key: FlowKey, sum: [u64; 2]| {
            let entry = sums.entry(key).or_default();
            *entry = [entry[0] + sum[0], entry[1] + sum[1]];
        };
        let sum =
            |flow: &Flow| [flow.packets() + flow.rev_packets(), flow.bytes() + flow.rev_bytes()];
        for _ in 0..40_000 {
            let ts = random.below(20_000) as i64;
            let spec = random_spec(random, Some(ts), 12);
            let packet = spec.packet();
            table.add(&packet);
            assert!(table.len() <= 37);
            add(&mut expected, FlowKey::of(&packet).unwrap(), [1, spec.length.into()]);
            for flow in table.drain_finished() {
                add(&mut counted, *flow.key(), sum(&flow));
            }
        }
        for flow in table.finish() {
            add(&mut counted, *flow.key(), sum(&flow));
        }
        assert!(counted == expected);
    });
}
