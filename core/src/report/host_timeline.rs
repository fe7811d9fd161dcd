//! Bytes and packets of hosts over time, in bounded memory: what a table of hosts needs to tell of a part of the time.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;

use crate::query::TimeBins;

// Bound (Queries): amounts of hosts in the intervals of a report = 131,072 of some 50 bytes, then those of the largest
// hosts that fill half of that are kept.
const AMOUNTS_MAX: usize = 1 << 17;

// Bound (Queries): hosts in the intervals of a report = 65,536 of some 120 bytes, then the largest half of them are
// kept.
const HOSTS_MAX: usize = 1 << 16;

/// Hosts whose numbers are found by a few bits of their addresses, without a look into the map of all.
const RECENT_HOSTS: usize = 1 << 11;

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

/// Numbers of hosts, from 0.
struct HostNumbers {
    of: HashMap<IpAddr, u32>,
    /// The host of each number.
    hosts: Vec<IpAddr>,
    /// Hosts that packets were of lately, each at its place.
    recent: Vec<Option<(IpAddr, u32)>>,
}

impl HostNumbers {
    fn new() -> Self {
        HostNumbers { of: HashMap::new(), hosts: Vec::new(), recent: vec![None; RECENT_HOSTS] }
    }

    /// Returns the number of a host, which gets the next one if it has none.
    #[inline]
    fn number(&mut self, host: IpAddr) -> u32 {
        match self.recent.get(place_of(host)) {
            Some(Some((known, number))) if *known == host => *number,
            _ => self.number_of_other(host),
        }
    }

    #[inline(never)]
    fn number_of_other(&mut self, host: IpAddr) -> u32 {
        let number = *self.of.entry(host).or_insert_with(|| {
            self.hosts.push(host);
            self.hosts.len() as u32 - 1
        });
        if let Some(place) = self.recent.get_mut(place_of(host)) {
            *place = Some((host, number));
        }
        number
    }

    /// Numbers anew the hosts of these numbers only, in their order.
    fn retain(&mut self, numbers: &[u32]) {
        let hosts: Vec<IpAddr> =
            numbers.iter().filter_map(|number| self.hosts.get(*number as usize).copied()).collect();
        *self = HostNumbers::new();
        hosts.into_iter().for_each(|host| _ = self.number_of_other(host));
    }
}

/// Returns the place of a host among recent ones. Hosts that share one cost a look into the map, and nothing else.
#[inline]
fn place_of(host: IpAddr) -> usize {
    let word = match host {
        IpAddr::V4(ip) => ip.to_bits().into(),
        IpAddr::V6(ip) => ip.to_bits() as u64 ^ (ip.to_bits() >> 64) as u64,
    };
    // 2^64 by the golden ratio: Fibonacci hashing (Knuth, The Art of Computer Programming 3, section 6.4).
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % RECENT_HOSTS
}

/// An amount of a closed interval.
struct ClosedAmount {
    bin: i64,
    host: u32,
    amount: HostAmount,
}

/// Amounts by interval and host.
pub(super) struct HostTimeline {
    bins: TimeBins,
    /// The interval of the last packet: where it begins, and where it ends.
    begin: i64,
    end: i64,
    numbers: HostNumbers,
    /// Amounts of the open interval by number of the host, and the numbers that have any.
    open: Vec<HostAmount>,
    touched: Vec<u32>,
    /// Amounts of closed intervals. A host has more than one of an interval that was closed more than once.
    kept: Vec<ClosedAmount>,
    amounts_max: usize,
    hosts_max: usize,
}

impl HostTimeline {
    pub(super) fn new() -> Self {
        HostTimeline {
            bins: TimeBins::new(),
            begin: 0,
            end: 0,
            numbers: HostNumbers::new(),
            open: Vec::new(),
            touched: Vec::new(),
            kept: Vec::new(),
            amounts_max: AMOUNTS_MAX,
            hosts_max: HOSTS_MAX,
        }
    }

    /// Counts a packet. A host that talks to itself has it once.
    #[inline]
    pub(super) fn add(&mut self, ts: i64, from: IpAddr, to: IpAddr, bytes: u32) {
        if ts < self.begin || ts >= self.end {
            self.turn_to(ts);
        }
        let bytes = bytes.into();
        let sent = HostAmount { packets: 1, bytes, sent: bytes, received: 0 };
        let received = HostAmount { packets: 1, bytes, sent: 0, received: bytes };
        if from == to {
            return self.add_to(from, HostAmount { received: bytes, ..sent });
        }
        self.add_to(from, sent);
        self.add_to(to, received);
    }

    #[inline]
    fn add_to(&mut self, host: IpAddr, amount: HostAmount) {
        let number = self.numbers.number(host);
        match self.open.get_mut(number as usize) {
            Some(open) if open.packets > 0 => open.add(amount),
            _ => self.begin_with(number, amount),
        }
    }

    /// Counts the first packet of a host in the open interval.
    #[inline(never)]
    fn begin_with(&mut self, number: u32, amount: HostAmount) {
        let len = self.open.len().max(number as usize + 1);
        self.open.resize(len, HostAmount::default());
        if let Some(open) = self.open.get_mut(number as usize) {
            *open = amount;
            self.touched.push(number);
        }
        if len > self.hosts_max {
            self.close();
        }
    }

    #[inline(never)]
    fn turn_to(&mut self, ts: i64) {
        self.close();
        let width = self.bins.width();
        if self.bins.see(ts) {
            for closed in &mut self.kept {
                closed.bin = self.bins.bin_of(closed.bin.saturating_mul(width));
            }
            self.merge();
        }
        let width = self.bins.width();
        self.begin = self.bins.bin_of(ts).saturating_mul(width);
        self.end = self.begin.saturating_add(width);
    }

    /// Puts what the open interval has to what is kept.
    fn close(&mut self) {
        let bin = self.bins.bin_of(self.begin);
        // What is kept is in order then, if times are.
        self.touched.sort_unstable();
        for host in self.touched.drain(..) {
            if let Some(open) = self.open.get_mut(host as usize) {
                self.kept.push(ClosedAmount { bin, host, amount: std::mem::take(open) });
            }
        }
        let mut is_full = self.kept.len() > self.amounts_max;
        if is_full {
            self.merge();
            // A merge that gains little would soon be needed again.
            is_full = self.kept.len() > self.amounts_max / 4 * 3;
        }
        if is_full || self.numbers.hosts.len() > self.hosts_max {
            self.forget_small_hosts();
        }
    }

    /// Adds up what a host has more than once of an interval.
    fn merge(&mut self) {
        self.kept.sort_by_key(|closed| (closed.bin, closed.host));
        self.kept.dedup_by(|next, first| {
            let is_same = (next.bin, next.host) == (first.bin, first.host);
            if is_same {
                first.amount.add(next.amount);
            }
            is_same
        });
    }

    /// Keeps the amounts of as many of the largest hosts as fill half of the room.
    fn forget_small_hosts(&mut self) {
        let mut sums = vec![(0_u64, 0_usize); self.numbers.hosts.len()];
        for closed in &self.kept {
            if let Some((bytes, count)) = sums.get_mut(closed.host as usize) {
                *bytes = bytes.saturating_add(closed.amount.bytes);
                *count += 1;
            }
        }
        let mut order: Vec<_> =
            (0..).zip(sums).map(|(host, (bytes, count))| (Reverse(bytes), host, count)).collect();
        order.sort_unstable();
        let mut room = self.amounts_max / 2;
        let has_room = |(_, _, count): &&(Reverse<u64>, u32, usize)| {
            let left = room.checked_sub(*count);
            room = left.unwrap_or_default();
            left.is_some()
        };
        let mut hosts: Vec<u32> = order
            .iter()
            .take(self.hosts_max / 2)
            .take_while(has_room)
            .map(|(_, host, _)| *host)
            .collect();
        hosts.sort_unstable();
        let mut places = vec![None; self.numbers.hosts.len()];
        for (host, place) in hosts.iter().zip(0..) {
            if let Some(of_host) = places.get_mut(*host as usize) {
                *of_host = Some(place);
            }
        }
        self.kept.retain_mut(|closed| {
            let place = places.get(closed.host as usize).copied().flatten();
            closed.host = place.unwrap_or_default();
            place.is_some()
        });
        self.numbers.retain(&hosts);
        self.open.truncate(hosts.len());
    }

    /// Returns the amounts of each of these hosts in intervals of `width`, by the number of the interval; no interval
    /// here is wider. The amounts of a host that was forgotten are incomplete.
    pub(super) fn amounts(mut self, hosts: &[IpAddr], width: i64) -> Vec<HashMap<i64, HostAmount>> {
        self.close();
        let places = hosts
            .iter()
            .zip(0..)
            .filter_map(|(host, place)| Some((*self.numbers.of.get(host)?, place)));
        let places: HashMap<u32, usize> = places.collect();
        let mut amounts = vec![HashMap::new(); hosts.len()];
        let narrow = self.bins.width();
        for closed in self.kept {
            let place = places.get(&closed.host).and_then(|place| amounts.get_mut(*place));
            let Some(of_host): Option<&mut HashMap<i64, HostAmount>> = place else { continue };
            let wide = closed.bin.saturating_mul(narrow).div_euclid(width);
            of_host.entry(wide).or_default().add(closed.amount);
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
            (timeline.amounts_max, timeline.hosts_max) = (2000, [1000, 500][seed as usize % 2]);
            added(&mut timeline, &packets);
            assert!(timeline.kept.len() <= 2000, "seed {seed}");
            assert!(timeline.open.len() <= timeline.hosts_max, "seed {seed}");
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
