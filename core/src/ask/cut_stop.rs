//! Limits of a whole cut, behind which no packet is written.

use std::time::{Duration, Instant};

use crate::capture::WrittenFrame;
use crate::export::CaptureLimits;

/// Limits of a whole cut, as far as they are not used up.
pub(super) struct CutStop {
    /// Packets, and bytes of them, that may still be written.
    packets: u64,
    bytes: u64,
    interval: Option<i64>,
    /// End of the interval by the times of packets, from the first one on, in nanoseconds since 1970.
    end: Option<i64>,
    /// End of it by the clock, of an interface.
    deadline: Option<Instant>,
    is_reached: bool,
}

impl CutStop {
    pub(super) fn new(limits: Option<CaptureLimits>, is_live: bool) -> CutStop {
        let limits = limits.unwrap_or_default();
        let by_clock = limits.interval.filter(|_| is_live);
        let interval = by_clock.and_then(|ns| u64::try_from(ns).ok()).map(Duration::from_nanos);
        CutStop {
            packets: limits.packets.unwrap_or(u64::MAX),
            bytes: limits.bytes.unwrap_or(u64::MAX),
            interval: limits.interval.filter(|_| !is_live),
            end: None,
            deadline: interval.and_then(|interval| Instant::now().checked_add(interval)),
            is_reached: false,
        }
    }

    /// Returns true if `frame` is within the limits, and counts it.
    #[inline]
    pub(super) fn takes(&mut self, frame: &WrittenFrame<'_>) -> bool {
        let len = frame.captured.len() as u64;
        self.end = self.end.or_else(|| frame.ts?.checked_add(self.interval?));
        let is_late = frame.ts.zip(self.end).is_some_and(|(ts, end)| ts >= end);
        if self.is_reached || is_late || len > self.bytes {
            self.is_reached = true;
            return false;
        }
        self.bytes -= len;
        self.packets -= 1;
        self.is_reached = self.packets == 0;
        true
    }

    #[inline]
    pub(super) fn is_reached(&self) -> bool {
        self.is_reached
    }

    /// As [`CutStop::is_reached`], also by the clock.
    pub(super) fn is_reached_by_now(&mut self) -> bool {
        self.is_reached |= self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.is_reached
    }
}
