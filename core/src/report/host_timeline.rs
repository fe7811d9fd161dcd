//! Bytes and packets of hosts over time, in bounded memory: what a table of hosts needs to tell of a part of the time.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;

use super::timeline::Amount;
use crate::query::TimeBins;

/// Pairs of hosts of one interval that are counted before they are put to what is kept, of some 60 bytes.
const PAIRS_MAX: usize = 1 << 16;

/// Amounts of one host in one interval that are kept, of some 80 bytes. When there are more, those of the hosts with the
/// fewest bytes are forgotten.
const AMOUNTS_MAX: usize = 1 << 17;

/// Packets and bytes of a host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct HostAmount {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) sent: u64,
    pub(super) received: u64,
}

impl HostAmount {
    pub(super) fn add(&mut self, other: HostAmount) {
        self.packets += other.packets;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent = self.sent.saturating_add(other.sent);
        self.received = self.received.saturating_add(other.received);
    }
}

/// Amounts by interval and host.
pub(super) struct HostTimeline {
    bins: TimeBins,
    /// The interval of the last packet: where it begins, and where it ends.
    begin: i64,
    end: i64,
    /// The pair of the last packets, which the next one often has, too.
    pair: Option<(IpAddr, IpAddr)>,
    run: Amount,
    /// Amounts of the open interval, by sender and receiver.
    open: HashMap<(IpAddr, IpAddr), Amount>,
    /// Amounts of closed intervals, by number of the interval and host.
    kept: HashMap<(i64, IpAddr), HostAmount>,
    amounts_max: usize,
}

impl HostTimeline {
    pub(super) fn new() -> Self {
        HostTimeline {
            bins: TimeBins::new(),
            begin: 0,
            end: 0,
            pair: None,
            run: Amount::default(),
            open: HashMap::new(),
            kept: HashMap::new(),
            amounts_max: AMOUNTS_MAX,
        }
    }

    /// Counts a packet.
    #[inline]
    pub(super) fn add(&mut self, ts: i64, from: IpAddr, to: IpAddr, bytes: u32) {
        if ts < self.begin || ts >= self.end {
            self.turn_to(ts);
        }
        if self.pair != Some((from, to)) {
            self.end_run();
            self.pair = Some((from, to));
        }
        self.run.add(Amount { packets: 1, bytes: bytes.into() });
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if let Some(pair) = self.pair.take() {
            self.open.entry(pair).or_default().add(run);
            if self.open.len() > PAIRS_MAX {
                self.close();
            }
        }
    }

    #[inline(never)]
    fn turn_to(&mut self, ts: i64) {
        self.end_run();
        self.close();
        let width = self.bins.width();
        if self.bins.see(ts) {
            for ((bin, ip), amount) in std::mem::take(&mut self.kept) {
                let wide = self.bins.bin_of(bin.saturating_mul(width));
                self.kept.entry((wide, ip)).or_default().add(amount);
            }
        }
        let width = self.bins.width();
        self.begin = self.bins.bin_of(ts).saturating_mul(width);
        self.end = self.begin.saturating_add(width);
    }

    /// Puts what the open interval has to what is kept. A host that talks to itself has all of it once.
    fn close(&mut self) {
        let bin = self.bins.bin_of(self.begin);
        for ((from, to), Amount { packets, bytes }) in self.open.drain() {
            let one = HostAmount { packets, bytes, sent: bytes, received: 0 };
            let other = HostAmount { packets, bytes, sent: 0, received: bytes };
            if from == to {
                let both = HostAmount { received: bytes, ..one };
                self.kept.entry((bin, from)).or_default().add(both);
                continue;
            }
            self.kept.entry((bin, from)).or_default().add(one);
            self.kept.entry((bin, to)).or_default().add(other);
        }
        if self.kept.len() > self.amounts_max {
            self.forget_small_hosts();
        }
    }

    /// Keeps the amounts of as many of the largest hosts as fill half of the room.
    fn forget_small_hosts(&mut self) {
        let mut hosts: HashMap<IpAddr, (u64, usize)> = HashMap::new();
        for ((_, ip), amount) in &self.kept {
            let (bytes, count) = hosts.entry(*ip).or_default();
            *bytes = bytes.saturating_add(amount.bytes);
            *count += 1;
        }
        let mut order: Vec<_> =
            hosts.iter().map(|(ip, (bytes, n))| (Reverse(*bytes), *ip, *n)).collect();
        order.sort_unstable();
        let mut amounts = 0;
        for (_, ip, count) in order {
            amounts += count;
            if amounts > self.amounts_max / 2 {
                hosts.remove(&ip);
            }
        }
        self.kept.retain(|(_, ip), _| hosts.contains_key(ip));
    }

    /// Returns the amounts of each of these hosts in intervals of `width`, by the number of the interval; no interval
    /// here is wider. The amounts of a host that was forgotten are incomplete.
    pub(super) fn amounts(mut self, hosts: &[IpAddr], width: i64) -> Vec<HashMap<i64, HostAmount>> {
        self.end_run();
        self.close();
        let places: HashMap<IpAddr, usize> = hosts.iter().copied().zip(0..).collect();
        let mut amounts = vec![HashMap::new(); hosts.len()];
        let narrow = self.bins.width();
        for ((bin, ip), amount) in self.kept {
            let place = places.get(&ip).and_then(|place| amounts.get_mut(*place));
            let Some(of_host): Option<&mut HashMap<i64, HostAmount>> = place else { continue };
            let wide = bin.saturating_mul(narrow).div_euclid(width);
            of_host.entry(wide).or_default().add(amount);
        }
        amounts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(number: u64) -> IpAddr {
        IpAddr::from([10, 0, (number >> 8) as u8, number as u8])
    }

    /// Packets as (time, from, to, bytes) over a span that grows; low hosts have the most bytes.
    fn packets(seed: u64, count: u64, hosts: u64) -> Vec<(i64, u64, u64, u32)> {
        let mut state = seed;
        let mut below = move |end: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % end
        };
        let mut ts = 1_700_000_000_000_000_000;
        let mut packet = || {
            let magnitude = below(34);
            ts += below(1 << magnitude) as i64;
            let highest = 1 + below(hosts);
            let (from, to) = (below(highest), below(highest));
            let bytes = if from < 5 || to < 5 { 100_000 } else { 60 };
            (ts - below(1000) as i64, from, to, bytes)
        };
        (0..count).map(|_| packet()).collect()
    }

    fn added(timeline: &mut HostTimeline, packets: &[(i64, u64, u64, u32)]) {
        for (ts, from, to, bytes) in packets {
            timeline.add(*ts, host(*from), host(*to), *bytes);
        }
    }

    #[test]
    fn a_timeline_of_hosts_adds_up_as_a_map_by_interval_and_host_does() {
        for seed in 1..20 {
            let packets = packets(seed, 2000, 50);
            let mut timeline = HostTimeline::new();
            added(&mut timeline, &packets);
            let width = timeline.bins.shown_width(400);
            let hosts: Vec<IpAddr> = (0..50).map(host).collect();
            let mut twin = vec![HashMap::new(); 50];
            for (ts, from, to, bytes) in &packets {
                let bytes = u64::from(*bytes);
                let mut count = |of: u64, sent, received| {
                    let amount: &mut HostAmount =
                        twin[of as usize].entry(ts.div_euclid(width)).or_default();
                    amount.add(HostAmount { packets: 1, bytes, sent, received });
                };
                match from == to {
                    true => count(*from, bytes, bytes),
                    false => {
                        count(*from, bytes, 0);
                        count(*to, 0, bytes);
                    }
                }
            }
            assert_eq!(timeline.amounts(&hosts, width), twin, "seed {seed}");
        }
    }

    #[test]
    fn the_largest_hosts_are_kept_whole_where_there_are_too_many() {
        for seed in 1..10 {
            let packets = packets(seed, 5000, 3000);
            let mut timeline = HostTimeline::new();
            timeline.amounts_max = 2000;
            added(&mut timeline, &packets);
            assert!(timeline.kept.len() <= 2000, "seed {seed}");
            let known = timeline.amounts(&[host(0), host(1)], 1 << 40);
            for (number, of_host) in known.iter().enumerate() {
                let number = number as u64;
                let is_of =
                    |(_, from, to, _): &&(i64, u64, u64, u32)| *from == number || *to == number;
                let expected = packets.iter().filter(is_of).count() as u64;
                let sum: u64 = of_host.values().map(|amount| amount.packets).sum();
                assert_eq!(sum, expected, "seed {seed}");
            }
        }
    }
}
