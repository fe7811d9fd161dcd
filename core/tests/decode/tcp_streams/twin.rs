//! Goal: random segments give what the obvious way gives. The twin knows where each segment stands in its
//! stream without its number, and keeps every byte by itself.

use std::collections::BTreeMap;

use bytewright::tcp::TcpOptions;

use super::conversation::{ACK, Listener, SYN, Segment, back, there};
use crate::generate::{Random, seeds};

/// One direction, byte by byte.
#[derive(Default)]
struct Twin {
    next: u64,
    bytes: BTreeMap<u64, u8>,
    out: Vec<Option<u8>>,
}

impl Twin {
    fn receive(&mut self, position: u64, bytes: &[u8]) {
        for (at, byte) in (position..).zip(bytes) {
            if at >= self.next {
                self.bytes.entry(at).or_insert(*byte);
            }
        }
        self.advance();
    }

    fn advance(&mut self) {
        while let Some(byte) = self.bytes.remove(&self.next) {
            self.out.push(Some(byte));
            self.next += 1;
        }
    }

    fn acknowledge(&mut self, position: u64) {
        while let Some((first, _)) = self.bytes.first_key_value()
            && *first < position
        {
            self.skip();
        }
    }

    fn skip(&mut self) {
        if let Some((first, _)) = self.bytes.first_key_value() {
            let first = *first;
            self.out.resize(self.out.len() + (first - self.next) as usize, None);
            self.next = first;
            self.advance();
        }
    }

    fn end(mut self) -> Vec<Option<u8>> {
        while !self.bytes.is_empty() {
            self.skip();
        }
        self.out
    }
}

/// A segment and where it stands in its stream.
struct Placed {
    segment: Segment,
    is_back: bool,
    position: u64,
    acknowledged: Option<u64>,
}

/// Two streams cut into segments that come in a random order, some twice, some longer than they should be with
/// other content, some never.
fn invented(random: &mut Random, starts: [u32; 2]) -> Vec<Placed> {
    let mut order: Vec<(u64, Placed)> = Vec::new();
    let disorder = random.pick(&[1, 1, 3, 8, 40]);
    let loss = random.pick(&[1000, 20, 5]);
    let mut clock = 0;
    let mut positions = [0u64; 2];
    for _ in 0..random.below(120) {
        clock += 2;
        let side = random.below(2);
        let len = if random.once_in(8) { 0 } else { random.below(30) };
        let (mut position, mut count) = (positions[side], len as u64);
        positions[side] += count;
        if random.once_in(loss) {
            continue;
        }
        if random.once_in(6) {
            // Some of what was sent before again, with other bytes where it overlaps.
            let before = random.below(40).min(position as usize) as u64;
            (position, count) = (position - before, count + before);
        }
        let bytes: Vec<u8> = match random.once_in(5) {
            true => random.bytes(count as usize),
            false => (position..position + count).map(|at| (at * 7 + side as u64) as u8).collect(),
        };
        let has_ack = !random.once_in(3);
        let lag = random.below(60).min(positions[1 - side] as usize) as u64;
        let acknowledged = positions[1 - side] - lag;
        let seq = starts[side].wrapping_add(1).wrapping_add(position as u32);
        let ack = starts[1 - side].wrapping_add(1).wrapping_add(acknowledged as u32);
        let flags = if has_ack { ACK } else { 0 };
        let segment =
            if side == 1 { back(flags, seq, ack, &bytes) } else { there(flags, seq, ack, &bytes) };
        let acknowledged = has_ack.then_some(acknowledged);
        for _ in 0..if random.once_in(10) { 2 } else { 1 } {
            let placed =
                Placed { segment: segment.clone(), is_back: side == 1, position, acknowledged };
            order.push((clock + random.below(disorder) as u64, placed));
        }
    }
    order.sort_by_key(|(when, _)| *when);
    order.into_iter().map(|(_, placed)| placed).collect()
}

#[test]
fn random_segments_give_what_the_obvious_way_gives() {
    let count = std::env::var("BYTEWRIGHT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    seeds(count.unwrap_or(500), |random| {
        let starts = [0, 1].map(|_| match random.below(3) {
            0 => u32::MAX - random.below(600) as u32,
            1 => random.next() as u32,
            _ => random.below(3) as u32,
        });
        let mut listener = Listener::new(TcpOptions::default());
        listener.hear(&there(SYN, starts[0], 0, b""));
        listener.hear(&back(SYN | ACK, starts[1], starts[0].wrapping_add(1), b""));
        let mut twins = [Twin::default(), Twin::default()];
        for placed in invented(random, starts) {
            if random.once_in(30) {
                // Another system behind the address answers the same SYN.
                let far = starts[1].wrapping_add((1 << 20) + random.below(1 << 30) as u32);
                listener.hear(&back(SYN | ACK, far, starts[0].wrapping_add(1), b""));
            }
            listener.hear(&placed.segment);
            let side = usize::from(placed.is_back);
            if let Some(acknowledged) = placed.acknowledged {
                twins[1 - side].acknowledge(acknowledged);
            }
            twins[side].receive(placed.position, &placed.segment.bytes);
        }
        let (events, mut streams) = listener.end();
        streams.resize_with(1, Default::default);
        for (ours, twin) in streams.remove(0).into_iter().zip(twins) {
            assert_eq!(ours, twin.end(), "{events:?}");
        }
    });
}
