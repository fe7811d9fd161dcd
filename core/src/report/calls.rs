//! Thrift calls over time with their latencies, and by method.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::query::TimeBins;
use crate::rpc::{Call, CallSummary, Histogram, MethodSummary};

/// The calls that began in an interval.
#[derive(Debug, Clone, Default)]
pub(super) struct CallsOfBin {
    pub(super) calls: u64,
    pub(super) errors: u64,
    // Bound (Queries): latencies of calls in a report = a histogram for each interval, as `rpc` has for each method.
    /// Nanoseconds.
    pub(super) latency: Histogram,
}

impl CallsOfBin {
    fn merge(&mut self, other: &CallsOfBin) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.latency.merge(&other.latency);
    }
}

/// Calls, added up.
#[derive(Debug, Default)]
pub(super) struct Calls {
    bins: TimeBins,
    by_bin: BTreeMap<i64, CallsOfBin>,
    methods: CallSummary,
    pub(super) all: CallsOfBin,
}

impl Calls {
    pub(super) fn add(&mut self, call: &Call) {
        self.methods.add(call);
        count(&mut self.all, call);
        let Some(ts) = call.ts else { return };
        let width = self.bins.width();
        if self.bins.see(ts) {
            self.by_bin =
                regrouped(&self.by_bin, |bin| self.bins.bin_of(bin.saturating_mul(width)));
        }
        count(self.by_bin.entry(self.bins.bin_of(ts)).or_default(), call);
    }

    /// The calls by intervals of `width`, which no interval here is wider than.
    pub(super) fn by_time(&self, width: i64) -> BTreeMap<i64, CallsOfBin> {
        let narrow = self.bins.width();
        regrouped(&self.by_bin, |bin| bin.saturating_mul(narrow).div_euclid(width))
    }

    /// Nanoseconds of an interval.
    pub(super) fn width(&self) -> i64 {
        self.bins.width()
    }

    /// The methods, those with the most calls first.
    pub(super) fn methods(&self) -> Vec<(Box<str>, MethodSummary)> {
        let mut methods = self.methods.clone().into_sorted();
        methods.sort_by_key(|(_, summary)| Reverse(summary.calls));
        methods
    }
}

fn count(bin: &mut CallsOfBin, call: &Call) {
    bin.calls += 1;
    bin.errors += u64::from(call.outcome.is_error());
    if let Some(latency) = call.latency {
        bin.latency.add(latency);
    }
}

fn regrouped(
    bins: &BTreeMap<i64, CallsOfBin>,
    wide: impl Fn(i64) -> i64,
) -> BTreeMap<i64, CallsOfBin> {
    let mut regrouped: BTreeMap<i64, CallsOfBin> = BTreeMap::new();
    for (bin, calls) in bins {
        regrouped.entry(wide(*bin)).or_default().merge(calls);
    }
    regrouped
}
