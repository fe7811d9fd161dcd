//! Packets of several interfaces in the order of their times, in a window that is bounded in time and in bytes.
//!
//! The system hands over the packets of one interface in their order, and those of two in blocks that overlap. A packet waits
//! until no interface has an earlier one any more: because it has a later one, or because the time is over in which the system
//! hands packets over.

use std::collections::VecDeque;

use crate::Result;

/// Packets that wait, as records of a capture.
pub(super) struct TimeMerge {
    queues: Vec<HeldRecords>,
    /// Bytes of an interface that wait at most; when there are more, they go on in the order of those that wait.
    held_max: usize,
}

/// Records of one interface.
struct HeldRecords {
    /// Times and lengths.
    records: VecDeque<(i64, usize)>,
    bytes: Vec<u8>,
    /// Bytes in front that are no longer held.
    gone: usize,
    /// The time before which the interface has no packet any more.
    passed: i64,
}

impl TimeMerge {
    /// No packet yet, of so many interfaces.
    pub(super) fn new(interfaces: usize, held_max: usize) -> Self {
        let none = || HeldRecords {
            records: VecDeque::new(),
            bytes: Vec::new(),
            gone: 0,
            passed: i64::MIN,
        };
        TimeMerge { queues: (0..interfaces).map(|_| none()).collect(), held_max }
    }

    /// Holds a packet of an interface, whose record `encode` appends.
    pub(super) fn hold(
        &mut self,
        interface: usize,
        ts: i64,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let Some(queue) = self.queues.get_mut(interface) else { return Ok(()) };
        let before = queue.bytes.len();
        encode(&mut queue.bytes)?;
        queue.records.push_back((ts, queue.bytes.len() - before));
        queue.passed = queue.passed.max(ts);
        Ok(())
    }

    /// Takes note that an interface has no packet before a time any more.
    pub(super) fn pass(&mut self, interface: usize, ts: i64) {
        if let Some(queue) = self.queues.get_mut(interface) {
            queue.passed = queue.passed.max(ts);
        }
    }

    /// Takes note that no packet comes any more.
    pub(super) fn end(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.passed = i64::MAX);
    }

    /// Returns true if nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.queues.iter().all(|queue| queue.records.is_empty())
    }

    /// Returns true if no more of an interface may wait.
    pub(super) fn is_full(&self, interface: usize) -> bool {
        self.queues.get(interface).is_none_or(|queue| queue.held() >= self.held_max)
    }

    /// The time before which no interface has a packet any more, but for those that wait.
    pub(super) fn passed(&self) -> i64 {
        self.queues.iter().map(|queue| queue.passed).min().unwrap_or(i64::MAX)
    }

    /// The interface of the packet that goes on now; none while all have to wait.
    pub(super) fn ready(&self) -> Option<usize> {
        let first = |(place, queue): (usize, &HeldRecords)| {
            queue.records.front().map(|(ts, _)| (*ts, place))
        };
        let (ts, place) = self.queues.iter().enumerate().filter_map(first).min()?;
        let may_go = ts <= self.passed() || (0..self.queues.len()).any(|other| self.is_full(other));
        may_go.then_some(place)
    }

    /// The first record of an interface.
    pub(super) fn record(&self, interface: usize) -> &[u8] {
        let record = self.queues.get(interface).and_then(|queue| {
            let (_, len) = queue.records.front()?;
            queue.bytes.get(queue.gone..queue.gone + len)
        });
        record.unwrap_or_default()
    }

    /// Lets the first record of an interface go.
    pub(super) fn release(&mut self, interface: usize) {
        let Some(queue) = self.queues.get_mut(interface) else { return };
        queue.gone += queue.records.pop_front().map_or(0, |(_, len)| len);
        if queue.records.is_empty() {
            queue.bytes.clear();
            queue.gone = 0;
        } else if queue.gone > queue.bytes.len() / 2 {
            queue.bytes.drain(..queue.gone);
            queue.gone = 0;
        }
    }
}

impl HeldRecords {
    fn held(&self) -> usize {
        self.bytes.len() - self.gone
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Holds packets whose record is their time.
    fn hold(merge: &mut TimeMerge, interface: usize, ts: i64) {
        let encode = |bytes: &mut Vec<u8>| {
            bytes.extend(ts.to_le_bytes());
            Ok(())
        };
        merge.hold(interface, ts, encode).unwrap();
    }

    /// The times of the packets that go on now.
    fn gone(merge: &mut TimeMerge) -> Vec<i64> {
        let mut times = Vec::new();
        while let Some(interface) = merge.ready() {
            times.push(i64::from_le_bytes(merge.record(interface).try_into().unwrap()));
            merge.release(interface);
        }
        times
    }

    #[test]
    fn packets_wait_until_no_interface_has_an_earlier_one() {
        let mut merge = TimeMerge::new(2, 1000);
        for ts in [1, 5, 9] {
            hold(&mut merge, 0, ts);
        }
        assert_eq!(gone(&mut merge), []);
        for ts in [2, 6] {
            hold(&mut merge, 1, ts);
        }
        assert_eq!((gone(&mut merge), merge.passed()), (vec![1, 2, 5, 6], 6));
        // The other one is silent, and the system has handed over what it had.
        merge.pass(1, 8);
        assert_eq!((gone(&mut merge), merge.is_empty()), (vec![], false));
        merge.pass(1, 9);
        assert_eq!((gone(&mut merge), merge.is_empty()), (vec![9], true));
        hold(&mut merge, 0, 20);
        merge.pass(1, 3);
        assert_eq!(gone(&mut merge), []);
        merge.end();
        assert_eq!(gone(&mut merge), [20]);
    }

    #[test]
    fn those_of_an_interface_that_waits_for_a_silent_one_take_bounded_room() {
        let mut merge = TimeMerge::new(2, 80);
        let mut times = Vec::new();
        for ts in 0..1000 {
            hold(&mut merge, 0, ts);
            assert!(merge.queues[0].bytes.len() <= 2 * 88, "{ts}");
            times.extend(gone(&mut merge));
        }
        assert_eq!(times, (0..=990).collect::<Vec<_>>());
        // One that comes too late is not lost.
        hold(&mut merge, 1, 7);
        merge.end();
        times.extend(gone(&mut merge));
        assert_eq!(times.len(), 1001);
        assert_eq!(times[991], 7);
    }

    #[test]
    fn equal_times_keep_the_order_of_the_interfaces_and_of_each() {
        let mut merge = TimeMerge::new(3, 1000);
        for interface in [2_u8, 0, 1, 0] {
            let encode = |bytes: &mut Vec<u8>| {
                bytes.push(interface);
                Ok(())
            };
            merge.hold(interface.into(), 7, encode).unwrap();
        }
        merge.end();
        let mut order: Vec<u8> = Vec::new();
        while let Some(interface) = merge.ready() {
            order.extend(merge.record(interface));
            merge.release(interface);
        }
        assert_eq!(order, [0, 0, 1, 2]);
    }
}
