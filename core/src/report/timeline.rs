//! Packets and bytes over time: of each protocol, of each port, and of what TCP shows, in bounded memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::packet::Packet;
use crate::query::TimeBins;

// Bound (Queries): amounts of ports in the intervals of a report = 262,144 of some 40 bytes, then those of the largest
// ports that fill half of that are kept, and all others counted together.
const PORT_AMOUNTS_MAX: usize = 1 << 18;

/// Series of packets that are counted by intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Series {
    /// Packets of a protocol after IP; none where there is no IP.
    Proto(Option<u8>),
    /// Packets of a service: the smaller one of both ports; none where there are no ports.
    Port(Option<u16>),
    /// Packets of ports that were counted together.
    OtherPorts,
    /// Packets that open connections.
    Syn,
    /// Packets that reset connections.
    Reset,
    /// Packets that repeat what had come before.
    Repeat,
    /// Packets that fill a gap in front of others.
    Fill,
}

/// Places of all series: protocols and none, ports and none, and the others.
const PLACES: usize = 257 + 65_537 + OTHERS.len();

/// Series of neither a protocol nor a port.
const OTHERS: [Series; 5] =
    [Series::OtherPorts, Series::Syn, Series::Reset, Series::Repeat, Series::Fill];

impl Series {
    fn place(self) -> usize {
        match self {
            Series::Proto(proto) => proto.map_or(256, usize::from),
            Series::Port(port) => 257 + port.map_or(65_536, usize::from),
            Series::OtherPorts => PLACES - 5,
            Series::Syn => PLACES - 4,
            Series::Reset => PLACES - 3,
            Series::Repeat => PLACES - 2,
            Series::Fill => PLACES - 1,
        }
    }

    fn at(place: usize) -> Series {
        match place {
            0..=256 => Series::Proto(u8::try_from(place).ok()),
            257..=65_793 => Series::Port(u16::try_from(place - 257).ok()),
            _ => OTHERS.get(place - 65_794).copied().unwrap_or(Series::Fill),
        }
    }

    pub(super) fn is_port(self) -> bool {
        matches!(self, Series::Port(_))
    }

    /// The service that a packet belongs to.
    pub(super) fn port_of(packet: &Packet) -> Series {
        Series::Port(packet.src_port().zip(packet.dst_port()).map(|(from, to)| from.min(to)))
    }
}

/// Returns true if the series at that place is of one port.
fn is_port(place: u32) -> bool {
    Series::at(place as usize).is_port()
}

/// Packets and their bytes on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) packets: u64,
    pub(super) bytes: u64,
}

impl Amount {
    pub(super) fn add(&mut self, other: Amount) {
        self.packets += other.packets;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Amounts by interval and series.
pub(super) struct Timeline {
    bins: TimeBins,
    /// The interval of the last packet: where it begins, and where it ends.
    begin: i64,
    end: i64,
    /// Nanoseconds of it, as of those that are kept.
    width: i64,
    /// Amounts of the open interval by place of the series, and the places that have any.
    open: Vec<Amount>,
    touched: Vec<u32>,
    /// Amounts of closed intervals, by number of the interval and place of the series.
    kept: HashMap<(i64, u32), Amount>,
    kept_ports: usize,
    /// Totals of all packets but those of the open interval, those without a time counted.
    totals: Vec<Amount>,
    port_amounts_max: usize,
}

impl Timeline {
    pub(super) fn new() -> Self {
        Timeline {
            bins: TimeBins::new(),
            begin: 0,
            end: 0,
            width: 1,
            open: vec![Amount::default(); PLACES],
            touched: Vec::new(),
            kept: HashMap::new(),
            kept_ports: 0,
            totals: vec![Amount::default(); PLACES],
            port_amounts_max: PORT_AMOUNTS_MAX,
        }
    }

    /// Makes the interval of `ts` the one that packets are counted in.
    #[inline]
    pub(super) fn turn_to(&mut self, ts: i64) {
        if ts < self.begin || ts >= self.end {
            self.turn(ts);
        }
    }

    #[inline(never)]
    fn turn(&mut self, ts: i64) {
        self.close();
        if self.bins.see(ts) {
            self.widen();
        }
        if self.kept_ports > self.port_amounts_max {
            self.put_small_ports_together();
        }
        self.width = self.bins.width();
        self.begin = self.bins.bin_of(ts).saturating_mul(self.width);
        self.end = self.begin.saturating_add(self.width);
    }

    /// Counts a packet of a series; in the interval that was turned to, where it has a time.
    #[inline]
    pub(super) fn add(&mut self, series: Series, bytes: u32, is_timed: bool) {
        let place = series.place();
        let amount = Amount { packets: 1, bytes: bytes.into() };
        let Some(sum) = (if is_timed { &mut self.open } else { &mut self.totals }).get_mut(place)
        else {
            return;
        };
        if is_timed && sum.packets == 0 {
            self.touched.push(place as u32);
        }
        sum.add(amount);
    }

    /// Puts what the open interval has to what is kept, and to the totals.
    pub(super) fn close(&mut self) {
        let bin = self.bins.bin_of(self.begin);
        for place in self.touched.drain(..) {
            let Some(open) = self.open.get_mut(place as usize) else { continue };
            let kept = self.kept.entry((bin, place)).or_default();
            self.kept_ports += usize::from(kept.packets == 0 && is_port(place));
            let open = std::mem::take(open);
            kept.add(open);
            if let Some(total) = self.totals.get_mut(place as usize) {
                total.add(open);
            }
        }
    }

    /// Puts intervals together that have become one, after the width has grown.
    fn widen(&mut self) {
        let narrow = std::mem::take(&mut self.kept);
        // Every width divides the next, and the one before cannot be told from here: the begin of what was open does.
        self.kept_ports = 0;
        for ((bin, place), amount) in narrow {
            let wide = self.bins.bin_of(bin.saturating_mul(self.width));
            let kept = self.kept.entry((wide, place)).or_default();
            self.kept_ports += usize::from(kept.packets == 0 && is_port(place));
            kept.add(amount);
        }
    }

    /// Keeps the amounts of as many of the largest ports as fill half of the room, and counts all others together in
    /// their intervals.
    fn put_small_ports_together(&mut self) {
        let mut ports: HashMap<u32, usize> = HashMap::new();
        for (_, place) in self.kept.keys().filter(|(_, place)| is_port(*place)) {
            *ports.entry(*place).or_default() += 1;
        }
        let mut ports: Vec<_> = ports.into_iter().collect();
        ports.sort_unstable_by_key(|(place, _)| (Reverse(self.total_at(*place).bytes), *place));
        self.kept_ports = 0;
        let is_large = |(_, amounts): &&(u32, usize)| {
            self.kept_ports += amounts;
            self.kept_ports <= self.port_amounts_max / 2
        };
        let large: HashSet<u32> =
            ports.iter().take_while(is_large).map(|(place, _)| *place).collect();
        let others = Series::OtherPorts.place() as u32;
        for ((bin, place), amount) in std::mem::take(&mut self.kept) {
            let is_kept = !is_port(place) || large.contains(&place);
            let place = if is_kept { place } else { others };
            self.kept.entry((bin, place)).or_default().add(amount);
        }
        self.kept_ports = self.kept.keys().filter(|(_, place)| is_port(*place)).count();
    }

    fn total_at(&self, place: u32) -> Amount {
        self.totals.get(place as usize).copied().unwrap_or_default()
    }

    /// The earliest and the latest time.
    pub(super) fn bins(&self) -> &TimeBins {
        &self.bins
    }

    /// Returns the total of a series, complete once the last interval is closed.
    pub(super) fn total(&self, series: Series) -> Amount {
        self.totals.get(series.place()).copied().unwrap_or_default()
    }

    /// Each series that has packets and what it has in all, the largest first.
    pub(super) fn totals(&self, of: impl Fn(Series) -> bool) -> Vec<(Series, Amount)> {
        let all = self.totals.iter().enumerate().map(|(place, total)| (Series::at(place), *total));
        let mut totals: Vec<_> = all.filter(|(s, total)| total.packets > 0 && of(*s)).collect();
        totals.sort_by_key(|(series, total)| (Reverse((total.bytes, total.packets)), *series));
        totals
    }

    /// Returns the amounts of each series in intervals of `width`, one of the [`TimeBins::shown_width`], by the number
    /// of the interval counted from 1970.
    pub(super) fn amounts(&mut self, width: i64) -> BTreeMap<(Series, i64), Amount> {
        self.close();
        let mut amounts = BTreeMap::new();
        let narrow = self.bins.width();
        for ((bin, place), amount) in &self.kept {
            let wide = bin.saturating_mul(narrow).div_euclid(width);
            let sum: &mut Amount = amounts.entry((Series::at(*place as usize), wide)).or_default();
            sum.add(*amount);
        }
        amounts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random numbers that depend on the seed alone.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % end
        }
    }

    /// Packets as (time, port, bytes), mostly in order, over a span that grows.
    fn packets(seed: u64, count: u64) -> Vec<(i64, u16, u32)> {
        let mut random = Random(seed);
        let mut ts = 1_700_000_000_000_000_000;
        let mut packet = || {
            let magnitude = random.below(34);
            ts += random.below(1 << magnitude) as i64;
            let late = random.below(8) == 0;
            let at = if late { ts - random.below(50_000_000) as i64 } else { ts };
            // The first of them are large, as services are.
            let highest = random.below(3000);
            let port = random.below(1 + highest) as u16;
            let bytes = if port < 20 { 100_000 } else { 60 } + random.below(1400) as u32;
            (at, port, bytes)
        };
        (0..count).map(|_| packet()).collect()
    }

    #[test]
    fn a_timeline_adds_up_as_a_map_by_interval_and_port_does() {
        for seed in 1..20 {
            let mut timeline = Timeline::new();
            let packets = packets(seed, 3000);
            for (ts, port, bytes) in &packets {
                timeline.turn_to(*ts);
                timeline.add(Series::Port(Some(*port)), *bytes, true);
            }
            let width = timeline.bins().shown_width(400);
            let mut twin: BTreeMap<(Series, i64), Amount> = BTreeMap::new();
            for (ts, port, bytes) in &packets {
                let key = (Series::Port(Some(*port)), ts.div_euclid(width));
                twin.entry(key).or_default().add(Amount { packets: 1, bytes: u64::from(*bytes) });
            }
            assert_eq!(timeline.amounts(width), twin, "seed {seed}");
        }
    }

    #[test]
    fn the_largest_ports_stay_by_themselves_where_there_are_too_many() {
        for seed in 1..10 {
            let mut timeline = Timeline::new();
            timeline.port_amounts_max = 1000;
            let packets = packets(seed, 5000);
            for (ts, port, bytes) in &packets {
                timeline.turn_to(*ts);
                timeline.add(Series::Port(Some(*port)), *bytes, true);
            }
            assert!(timeline.kept.len() < 1000 + 2 * PLACES, "seed {seed}");
            let width = timeline.bins().shown_width(400);
            let amounts = timeline.amounts(width);
            let sum = |of: &dyn Fn(Series) -> bool| {
                let mut all = Amount::default();
                amounts.iter().filter(|((s, _), _)| of(*s)).for_each(|(_, a)| all.add(*a));
                all
            };
            let bytes = packets.iter().map(|(_, _, bytes)| u64::from(*bytes)).sum::<u64>();
            assert_eq!(sum(&|_| true), Amount { packets: 5000, bytes }, "seed {seed}");
            assert!(sum(&|series| series == Series::OtherPorts).packets > 0, "seed {seed}");
            for port in 0..20 {
                let series = Series::Port(Some(port));
                assert_eq!(sum(&|other| other == series), timeline.total(series), "seed {seed}");
            }
        }
    }

    #[test]
    fn packets_without_a_time_are_in_the_totals_only() {
        let mut timeline = Timeline::new();
        timeline.add(Series::Proto(None), 60, false);
        assert_eq!(timeline.total(Series::Proto(None)), Amount { packets: 1, bytes: 60 });
        assert!(timeline.amounts(1000).is_empty());
        assert_eq!(timeline.bins().span(), None);
    }

    #[test]
    fn every_series_has_a_place_of_its_own() {
        for place in 0..PLACES {
            assert_eq!(Series::at(place).place(), place);
        }
    }
}
