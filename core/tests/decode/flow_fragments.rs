//! Goal: the fragments of a datagram count for the flow that its first fragment tells, in bounded memory.
//!
//! Method: random datagrams of few hosts, cut into fragments that come mixed, twice, late or not at all, are added to a table
//! and to its slow and obvious twin, which searches all first fragments it has seen. Then a flood of first fragments.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytewright::flow::{Flow, FlowOptions, FlowTable};
use bytewright::packet::{DecodeOptions, FlowKey, FrameMeta, LinkType, Packet};

use crate::generate::{Random, seeds};

const ICMP: u8 = 1;
const UDP: u8 = 17;
const MINUTE: i64 = 60_000_000_000;

/// First fragments that a table remembers; docs/bounds.md tells it.
const REMEMBERED: usize = 16_384;

/// Values that a fragment is made from.
#[derive(Debug, Clone, Copy)]
struct Fragment {
    ts: Option<i64>,
    src: IpAddr,
    dst: IpAddr,
    proto: u8,
    id: u16,
    /// In units of 8 bytes.
    offset: u16,
    has_more: bool,
    /// Ports, or type and code.
    numbers: (u16, u16),
}

impl Fragment {
    fn packet(&self) -> Packet {
        let bytes = self.bytes();
        let length = bytes.len() as u32;
        let meta = FrameMeta { number: 1, ts: self.ts, length, link_type: LinkType::RAW };
        Packet::decode(meta, &bytes, DecodeOptions::default())
    }

    fn bytes(&self) -> Vec<u8> {
        let payload = match (self.offset, self.proto) {
            (0, ICMP | 58) => vec![self.numbers.0 as u8, self.numbers.1 as u8, 0, 0, 0, 0, 0, 0],
            (0, _) => [self.numbers.0.to_be_bytes(), self.numbers.1.to_be_bytes(), [0, 64], [0, 0]]
                .concat(),
            _ => vec![0x17; 8],
        };
        match (self.src, self.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => [
                &[0x45, 0, 0, 28][..],
                &self.id.to_be_bytes(),
                &(u16::from(self.has_more) << 13 | self.offset).to_be_bytes(),
                &[64, self.proto, 0, 0],
                &src.octets(),
                &dst.octets(),
                &payload,
            ]
            .concat(),
            (IpAddr::V6(src), IpAddr::V6(dst)) => [
                &[0x60, 0, 0, 0, 0, 16, 44, 64][..],
                &src.octets(),
                &dst.octets(),
                &[self.proto, 0],
                &(self.offset << 3 | u16::from(self.has_more)).to_be_bytes(),
                &[0xab, 0xcd],
                &self.id.to_be_bytes(),
                &payload,
            ]
            .concat(),
            _ => unreachable!("one version"),
        }
    }

    fn is_of_datagram(&self, other: &Fragment) -> bool {
        let same_proto = self.proto == other.proto || self.src.is_ipv6();
        (self.src, self.dst, self.id) == (other.src, other.dst, other.id) && same_proto
    }
}

/// The obvious twin: all first fragments that it has seen, searched from the last one.
#[derive(Default)]
struct Twin {
    firsts: Vec<Fragment>,
    sums: BTreeMap<FlowKey, [u64; 2]>,
}

impl Twin {
    fn add(&mut self, fragment: &Fragment) {
        if fragment.offset == 0 && fragment.has_more {
            self.firsts.push(*fragment);
        }
        let whole_or_first = fragment.offset == 0;
        let remembered = self.firsts.iter().rev().take(REMEMBERED);
        let first = match whole_or_first {
            true => Some(fragment),
            false => remembered.into_iter().find(|first| first.is_of_datagram(fragment)).filter(
                |first| match (first.ts, fragment.ts) {
                    (Some(one), Some(other)) => (one - other).abs() <= MINUTE,
                    _ => true,
                },
            ),
        };
        let proto = first.map_or(fragment.proto, |first| first.proto);
        let has_numbers = [ICMP, UDP, 6, 58, 132].contains(&proto);
        let numbers = first.map(|first| first.numbers).filter(|_| has_numbers);
        let key = FlowKey::new(fragment.src, fragment.dst, proto, numbers).unwrap();
        let sum = self.sums.entry(key).or_default();
        *sum = [sum[0] + 1, sum[1] + fragment.bytes().len() as u64];
    }
}

fn sums(table: FlowTable) -> BTreeMap<FlowKey, [u64; 2]> {
    let mut sums = BTreeMap::<FlowKey, [u64; 2]>::new();
    for flow in table.finish() {
        let sum = sums.entry(*flow.key()).or_default();
        let both = [flow.packets() + flow.rev_packets(), flow.bytes() + flow.rev_bytes()];
        *sum = [sum[0] + both[0], sum[1] + both[1]];
    }
    sums
}

/// The fragments of a random datagram, in their order.
fn datagram(random: &mut Random, ts: Option<i64>, ids: usize) -> Vec<Fragment> {
    let v4 = random.once_in(2);
    let mut host = || match (v4, random.below(4) as u8) {
        (true, host) => IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)),
        (false, host) => IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host.into())),
    };
    let (src, dst) = (host(), host());
    let proto = [UDP, 6, 132, 50, if v4 { ICMP } else { 58 }][random.below(5)];
    let numbers = match proto {
        ICMP => ([8, 0, 3][random.below(3)], 0),
        58 => ([128, 129, 1][random.below(3)], 0),
        _ => (random.below(3) as u16, random.below(3) as u16),
    };
    let (id, count) = (random.below(ids) as u16, random.below(4) as u16);
    let at = |number| Fragment {
        ts,
        src,
        dst,
        proto,
        id,
        offset: number * 3,
        has_more: number < count,
        numbers,
    };
    (0..=count).map(at).collect()
}

#[test]
fn fragments_in_any_order_give_the_sums_of_the_twin() {
    seeds(6, |random| {
        let (mut table, mut twin) = (FlowTable::new(FlowOptions::default()), Twin::default());
        let (mut waiting, mut now) = (Vec::new(), 0);
        let ids = [3, 50, 60_000][random.below(3)];
        for _ in 0..3_000 {
            now += [1_000, MINUTE / 3][random.below(2)];
            let ts = (!random.once_in(20)).then_some(now);
            waiting.extend(datagram(random, ts, ids));
            while waiting.len() > random.below(12) {
                // Mostly the next, and now and then another; one in ten is lost, one comes again.
                let place = if random.once_in(3) { random.below(waiting.len()) } else { 0 };
                let fragment = waiting.remove(place);
                for _ in 0..[0, 1, 1, 1, 1, 1, 1, 1, 1, 2][random.below(10)] {
                    table.add(&fragment.packet());
                    twin.add(&fragment);
                }
            }
        }
        assert!(sums(table) == twin.sums);
    });
}

#[test]
fn a_datagram_is_one_flow_and_its_answer_too() {
    let (src, dst) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
    let fragment = |src, dst, numbers, offset| Fragment {
        ts: Some(5),
        src,
        dst,
        proto: UDP,
        id: 7,
        offset,
        has_more: offset < 20,
        numbers,
    };
    let mut table = FlowTable::new(FlowOptions::default());
    for offset in [0, 10, 20] {
        table.add(&fragment(src, dst, (5000, 53), offset).packet());
        table.add(&fragment(dst, src, (53, 5000), offset).packet());
    }
    let flows: Vec<Flow> = table.finish().collect();
    let [flow] = &flows[..] else { panic!("{flows:?}") };
    assert_eq!((flow.src_port(), flow.dst_port()), (Some(5000), Some(53)));
    assert_eq!((flow.packets(), flow.rev_packets()), (3, 3));
}

#[test]
fn a_fragment_before_the_first_one_counts_without_ports() {
    let (src, dst) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
    let fragment = |offset| Fragment {
        ts: None,
        src,
        dst,
        proto: UDP,
        id: 7,
        offset,
        has_more: true,
        numbers: (1, 2),
    };
    let mut table = FlowTable::new(FlowOptions::default());
    for offset in [8, 0, 16] {
        table.add(&fragment(offset).packet());
    }
    let flows: Vec<_> = table.finish().map(|flow| (flow.src_port(), flow.packets())).collect();
    assert_eq!(flows, [(None, 1), (Some(1), 2)]);
}

#[test]
fn a_flood_of_fragments_takes_bounded_memory_and_none_is_lost() {
    seeds(1, |random| {
        let mut table = FlowTable::new(FlowOptions { max_flows: 100, ..FlowOptions::default() });
        let (mut most, mut packets) = (0, 0);
        for _ in 0..200_000 {
            let fragment = Fragment {
                ts: Some(1),
                src: Ipv6Addr::from(u128::from(random.next())).into(),
                dst: Ipv6Addr::from(u128::from(random.next())).into(),
                proto: UDP,
                id: random.next() as u16,
                offset: if random.once_in(4) { 9 } else { 0 },
                has_more: true,
                numbers: (1, 2),
            };
            table.add(&fragment.packet());
            most = most.max(table.memory_bytes());
            packets += table.drain_finished().map(|flow| flow.packets()).sum::<u64>();
        }
        packets += table.finish().map(|flow| flow.packets()).sum::<u64>();
        assert_eq!(packets, 200_000);
        assert!(most < 4 << 20, "{most} bytes");
    });
}
