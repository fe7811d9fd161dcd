//! Goal: flows by interval are those of the packets of each interval, and an interval is given when it is over.
//!
//! Method: random packets, in order and late, beside sums that are put together packet by packet.

use std::collections::BTreeMap;

use bytewright::ask::{IntervalPart, flows_by_interval};
use bytewright::bytes::{ByteStream, Source, StreamOptions};
use bytewright::flow::FlowOptions;
use bytewright::input::{CaptureOptions, CaptureReader};
use bytewright::{Error, Result};

use crate::generate::seeds;

/// A source that gives its bytes in pieces, as somebody writes them.
struct Pieces(Vec<u8>, usize);

impl Source for Pieces {
    fn read(&mut self, into: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let count = limit.min(self.1).min(self.0.len());
        into.extend(self.0.drain(..count));
        Ok(count)
    }
}

/// A pcap file, raw IPv4, of UDP packets: second, port.
fn pcap(packets: &[(u32, u16)]) -> Vec<u8> {
    let mut bytes = 0xa1b2_3c4d_u32.to_le_bytes().to_vec();
    bytes.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0]);
    for (second, port) in packets {
        for word in [*second, 7, 28, 28] {
            bytes.extend(u32::to_le_bytes(word));
        }
        bytes.extend([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend(port.to_be_bytes());
        bytes.extend([0, 53, 0, 8, 0, 0]);
    }
    bytes
}

/// Of each interval: its beginning in seconds, packets, and packets by port.
type Sums = Vec<(i64, u64, BTreeMap<u16, u64>)>;

fn sums(bytes: Vec<u8>, piece: usize, every: i64) -> (Sums, Result<()>) {
    let source = Box::new(Pieces(bytes, piece));
    let stream = ByteStream::new(source, "trace.pcap", &StreamOptions::default()).unwrap();
    let mut reader = CaptureReader::new(stream, &CaptureOptions::default()).unwrap();
    let (mut all, mut ports) = (Sums::new(), BTreeMap::new());
    let every = every * 1_000_000_000;
    let read = flows_by_interval(&mut reader, every, FlowOptions::default(), &mut |part| {
        match part {
            IntervalPart::Flows(flows) => {
                for flow in flows {
                    *ports.entry(flow.src_port().unwrap()).or_default() += flow.packets();
                }
            }
            IntervalPart::End { start, packets, bytes } => {
                assert_eq!(bytes, packets * 28);
                all.push((start / 1_000_000_000, packets, std::mem::take(&mut ports)));
            }
        }
        Ok::<_, Error>(())
    });
    (all, read.unwrap())
}

/// Sums packet by packet: one that comes late counts for the latest interval.
fn slowly(packets: &[(u32, u16)], every: i64) -> Sums {
    let mut all = Sums::new();
    for (second, port) in packets {
        let start = i64::from(*second) / every * every;
        if all.last().is_none_or(|(latest, ..)| *latest < start) {
            all.push((start, 0, BTreeMap::new()));
        }
        let (_, count, ports) = all.last_mut().unwrap();
        *count += 1;
        *ports.entry(*port).or_default() += 1;
    }
    all
}

#[test]
fn intervals_have_the_flows_of_their_packets() {
    seeds(100, |random| {
        let (mut second, every) = (1000, random.below(20) as i64 + 1);
        let packets: Vec<_> = (0..random.below(600))
            .map(|_| {
                second += [0, 0, 0, 1, 30][random.below(5)];
                (second - random.below(8) as u32, 1 + random.below(4) as u16)
            })
            .collect();
        let (found, read) = sums(pcap(&packets), 1 + random.below(1000), every);
        assert_eq!(found, slowly(&packets, every));
        assert!(read.is_ok());
    });
}

#[test]
fn what_is_before_damage_is_given_with_its_interval() {
    let mut bytes = pcap(&[(1000, 1), (1000, 2), (1010, 1)]);
    bytes.truncate(bytes.len() - 1);
    let (found, read) = sums(bytes, 100, 10);
    assert_eq!(found, slowly(&[(1000, 1), (1000, 2)], 10));
    assert!(read.is_err());
}
