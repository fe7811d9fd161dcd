//! The line of `info` that shows the traffic of a capture over time.

use std::collections::BTreeMap;

use bytewright::packet::Packet;
use bytewright::query::TimeBins;

use crate::notation;
use crate::output::Output;
use crate::plot::blocks;

/// Intervals that are shown where there is no terminal.
const BLOCKS: usize = 60;

/// Characters that the line has around them.
const AROUND_LEN: usize = 50;

/// Bytes on the wire by intervals of time.
pub(super) struct Traffic {
    bins: TimeBins,
    /// Nanoseconds of an interval; the interval of the last packet, and what it has.
    width: i64,
    begin: i64,
    end: i64,
    open: u64,
    /// Bytes of the other intervals, by the numbers of those.
    kept: BTreeMap<i64, u64>,
}

impl Traffic {
    pub(super) fn new() -> Self {
        let bins = TimeBins::new();
        Traffic { bins, width: 1, begin: 0, end: 0, open: 0, kept: BTreeMap::new() }
    }

    #[inline]
    pub(super) fn add(&mut self, packet: &Packet) {
        let Some(ts) = packet.ts() else { return };
        if ts < self.begin || ts >= self.end {
            self.turn_to(ts);
        }
        self.open += u64::from(packet.length());
    }

    #[inline(never)]
    fn turn_to(&mut self, ts: i64) {
        self.close();
        if self.bins.see(ts) {
            let (narrow, bins) = (std::mem::take(&mut self.kept), &self.bins);
            for (bin, bytes) in narrow {
                *self.kept.entry(bins.bin_of(bin.saturating_mul(self.width))).or_default() += bytes;
            }
        }
        self.width = self.bins.width();
        self.begin = self.bins.bin_of(ts).saturating_mul(self.width);
        self.end = self.begin.saturating_add(self.width);
    }

    fn close(&mut self) {
        if self.open > 0 {
            let bin = self.bins.bin_of(self.begin);
            *self.kept.entry(bin).or_default() += std::mem::take(&mut self.open);
        }
    }

    /// A block for each interval, and how long one is; nothing where no packet has a time, or all have the same.
    pub(super) fn line(mut self, output: &Output) -> Option<String> {
        self.close();
        let (first, last) = self.bins.span().filter(|(first, last)| first < last)?;
        let width = self.bins.shown_width(output.picture_width(AROUND_LEN, BLOCKS));
        let begin = first.div_euclid(width);
        let mut shown = vec![0u64; (last.div_euclid(width) - begin + 1) as usize];
        for (bin, bytes) in &self.kept {
            let at = bin.saturating_mul(self.width).div_euclid(width) - begin;
            if let Some(sum) = shown.get_mut(at as usize) {
                *sum += bytes;
            }
        }
        let peak = shown.iter().max().copied().unwrap_or_default();
        let each = notation::interval(width);
        Some(format!("{} {} at most in {each}", blocks(&shown), output.bytes(peak)))
    }
}
