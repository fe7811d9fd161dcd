//! The compact records of the flows of one IP version.

use super::chunks::{Chunks, numbers_of};
use super::features::{FeatureCounts, FeatureSet};
use super::index::{FlowIndex, NUMBERS};
use super::key_hash::{Mix, Seed, hash_of};
use super::record::{DirectionSums, Flow, TimeSpan};
use crate::packet::{Key, Packet};

/// Stands for a missing time.
pub(super) const NO_TIME: i64 = i64::MIN;

// Bound (Flows): ClientHellos that are not whole = 64 MiB for the flows of one IP version; others count by their first
// packet.
const JOINED_BYTES_MAX: usize = 64 << 20;

/// A number of a record plus one, so that 0 can say that there is none.
type Link = u32;

/// Records that compete for leaving when the table is full.
const EVICTION_SAMPLE: usize = 16;

/// One packet as a flow sees it.
#[derive(Clone, Copy)]
pub(super) struct Observation {
    /// Nanoseconds since the epoch, or [`NO_TIME`].
    pub(super) ts: i64,
    /// Bytes on the wire.
    pub(super) length: u32,
    pub(super) tcp_flags: u16,
}

/// After what time, in nanoseconds, a flow has ended; `i64::MAX` for never.
#[derive(Clone, Copy)]
pub(super) struct Timeouts {
    pub(super) idle: i64,
    pub(super) active: i64,
}

/// A flow in a table. Endpoint 0 and 1 are those of the key.
#[derive(Debug, Clone, Copy)]
struct FlowRecord<A> {
    first: i64,
    last: i64,
    bytes: [u64; 2],
    packets: [u32; 2],
    /// The next of the list of free records.
    next_free: Link,
    key: Key<A>,
    tcp_flags: [u16; 2],
    /// The endpoint that sent the first packet, or [`FREE`].
    initiator: u8,
}

// Bound (Flows): open flows = `max_flows`, at most 16 million; 72 and 96 bytes each, the index counted.
/// All of them have a number in the index.
pub(super) const RECORDS_MAX: usize = NUMBERS - numbers_of(0);

/// In the place of the initiator of a record: it holds no flow.
const FREE: u8 = 2;

const _: () = assert!(size_of::<FlowRecord<[u8; 4]>>() == 64);
const _: () = assert!(size_of::<FlowRecord<[u8; 16]>>() == 88);

impl<A: Mix> FlowRecord<A> {
    #[inline]
    fn new(key: Key<A>, reversed: bool, observation: Observation) -> Self {
        let mut record = FlowRecord {
            first: observation.ts,
            last: observation.ts,
            bytes: [0; 2],
            packets: [0; 2],
            next_free: 0,
            key,
            tcp_flags: [0; 2],
            initiator: reversed.into(),
        };
        record.count(reversed, observation);
        record
    }

    #[inline]
    fn count(&mut self, reversed: bool, observation: Observation) {
        let direction = usize::from(reversed);
        self.packets[direction] += 1;
        self.bytes[direction] = self.bytes[direction].saturating_add(observation.length.into());
        self.tcp_flags[direction] |= observation.tcp_flags;
    }

    /// Stretches the flow's time to that of a packet. Captures are not always in order.
    #[inline]
    fn stretch(&mut self, ts: i64) {
        self.last = self.last.max(ts);
        if ts < self.first && ts != NO_TIME || self.first == NO_TIME {
            self.first = ts;
        }
    }

    /// Returns true if a packet at `ts` belongs to a new flow instead. Time that goes back ends nothing.
    #[inline]
    fn ended(&self, reversed: bool, ts: i64, timeouts: Timeouts) -> bool {
        self.packets[usize::from(reversed)] == u32::MAX
            || self.idle(ts, timeouts)
            || (ts.saturating_sub(self.first) > timeouts.active && self.first != NO_TIME)
    }

    #[inline]
    fn idle(&self, ts: i64, timeouts: Timeouts) -> bool {
        ts.saturating_sub(self.last) > timeouts.idle && self.last != NO_TIME
    }

    /// Begins the flow anew, and gives what it was.
    #[cold]
    #[inline(never)]
    fn restart(&mut self, reversed: bool, observation: Observation) -> Flow {
        let flow = self.flow();
        *self = FlowRecord::new(self.key, reversed, observation);
        flow
    }

    fn flow(&self) -> Flow {
        let direction = |end: usize| DirectionSums {
            packets: self.packets[end].into(),
            bytes: self.bytes[end],
            tcp_flags: self.tcp_flags[end],
        };
        Flow {
            key: self.key.into(),
            directions: [direction(0), direction(1)],
            initiator: self.initiator,
            span: (self.first != NO_TIME)
                .then_some(TimeSpan { first: self.first, last: self.last }),
            features: None,
        }
    }
}

/// The flows of one IP version.
pub(super) struct Records<A> {
    index: FlowIndex,
    records: Chunks<FlowRecord<A>>,
    free: Link,
    live: usize,
    /// The record that the sweep looks at next.
    hand: usize,
    seed: Seed,
    features: FeatureList,
}

/// The features of flows, by the numbers of their records; empty where none are counted.
#[derive(Default)]
struct FeatureList {
    set: FeatureSet,
    counts: Vec<Option<FeatureCounts>>,
    /// Bytes of the ClientHellos that are not whole.
    joined_bytes: usize,
}

impl FeatureList {
    /// Adds a packet to the features of a record.
    fn add(&mut self, number: usize, from: usize, initiator: usize, packet: &Packet, bytes: &[u8]) {
        if self.counts.len() <= number {
            self.counts.resize_with(number + 1, || None);
        }
        let set = self.set;
        if let Some(counts) = self.counts.get_mut(number) {
            let counts = counts.get_or_insert_with(|| FeatureCounts::new(set));
            counts.add(from, initiator, packet, bytes);
            if counts.reads_names() && from == initiator {
                self.joined_bytes -= counts.joined_bytes();
                counts.read_names(packet, bytes);
                if self.joined_bytes + counts.joined_bytes() > JOINED_BYTES_MAX {
                    counts.stop_joining();
                }
                self.joined_bytes += counts.joined_bytes();
            }
        }
    }

    /// Completes a flow that was the record of that number.
    fn complete(&mut self, number: usize, flow: Flow) -> Flow {
        let counts = self.counts.get_mut(number).and_then(Option::take);
        self.joined_bytes -= counts.as_ref().map_or(0, FeatureCounts::joined_bytes);
        let features = counts.map(|counts| counts.finish(flow.initiator.into(), flow.proto()));
        match features {
            Some(features) => flow.with_features(features),
            None => flow,
        }
    }

    fn memory_bytes(&self) -> usize {
        let counts = self.counts.iter().flatten().map(FeatureCounts::memory_bytes);
        self.counts.capacity() * size_of::<Option<FeatureCounts>>() + counts.sum::<usize>()
    }
}

impl<A: Mix> Records<A> {
    pub(super) fn new(features: FeatureSet) -> Self {
        Records {
            features: FeatureList { set: features, ..FeatureList::default() },
            index: FlowIndex::new(),
            records: Chunks::new(),
            free: 0,
            live: 0,
            hand: 0,
            seed: Seed::random(),
        }
    }

    /// Returns the number of flows that it holds.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.live
    }

    #[inline]
    pub(super) fn hash(&self, key: &Key<A>) -> u64 {
        hash_of(key, &self.seed)
    }

    /// Counts a packet for the flow of `key`, whose hash is `hash`, if it is there, and answers the number of its record. A
    /// flow that ended before is handed over and begins anew.
    #[inline]
    pub(super) fn update(
        &mut self,
        hash: u64,
        key: &Key<A>,
        reversed: bool,
        observation: Observation,
        timeouts: Timeouts,
        finished: &mut Vec<Flow>,
    ) -> Option<usize> {
        let records = &self.records;
        let number = self.index.find(hash, |number| records.get(number).key == *key)?;
        let record = self.records.get_mut(number);
        if record.ended(reversed, observation.ts, timeouts) {
            finished.push(self.features.complete(number, record.restart(reversed, observation)));
        } else {
            record.count(reversed, observation);
            record.stretch(observation.ts);
        }
        Some(number)
    }

    /// Adds a packet, which was counted for the record of that number, to its features.
    pub(super) fn add_features(
        &mut self,
        number: usize,
        reversed: bool,
        packet: &Packet,
        bytes: &[u8],
    ) {
        let initiator = usize::from(self.records.get(number).initiator);
        self.features.add(number, reversed.into(), initiator, packet, bytes);
    }

    /// Begins a flow whose key is not there yet, and answers the number of its record.
    pub(super) fn insert(
        &mut self,
        hash: u64,
        key: Key<A>,
        reversed: bool,
        observation: Observation,
    ) -> usize {
        let record = FlowRecord::new(key, reversed, observation);
        let number = match self.free {
            0 => self.records.push(record),
            link => {
                let number = link as usize - 1;
                self.free = self.records.get(number).next_free;
                *self.records.get_mut(number) = record;
                number
            }
        };
        self.live += 1;
        match self.index.is_full(self.live) {
            true => self.grow(),
            false => self.index.insert(hash, number),
        }
        number
    }

    /// Puts every record into a longer index.
    #[cold]
    fn grow(&mut self) {
        self.index.clear_and_grow();
        for number in self.records.numbers() {
            let record = self.records.get(number);
            if record.initiator != FREE {
                self.index.insert(hash_of(&record.key, &self.seed), number);
            }
        }
    }

    /// Hands over those of the next `count` records that have been idle at `ts`.
    #[inline]
    pub(super) fn sweep(
        &mut self,
        count: usize,
        ts: i64,
        timeouts: Timeouts,
        finished: &mut Vec<Flow>,
    ) {
        for _ in 0..if self.records.is_empty() { 0 } else { count } {
            let number = self.hand;
            self.hand = self.records.after(number);
            let record = self.records.get(number);
            if record.initiator != FREE && record.idle(ts, timeouts) {
                finished.push(self.remove(number));
            }
        }
    }

    /// Hands over all that have been idle at `ts`; answers the earliest of the last packets of those that stay.
    pub(super) fn sweep_all(
        &mut self,
        ts: i64,
        timeouts: Timeouts,
        finished: &mut Vec<Flow>,
    ) -> Option<i64> {
        self.sweep(self.records.numbers().count(), ts, timeouts, finished);
        let records = self.records.numbers().map(|number| self.records.get(number));
        let open = records.filter(|record| record.initiator != FREE && record.last != NO_TIME);
        open.map(|record| record.last).min()
    }

    /// Hands over one flow to make room: of the next few, the one whose last packet is the oldest.
    #[cold]
    pub(super) fn evict(&mut self, finished: &mut Vec<Flow>) {
        let mut oldest: Option<(i64, usize)> = None;
        let mut sampled = 0;
        for _ in self.records.numbers() {
            let number = self.hand;
            self.hand = self.records.after(number);
            let record = self.records.get(number);
            if record.initiator == FREE {
                continue;
            }
            if oldest.is_none_or(|(last, _)| record.last < last) {
                oldest = Some((record.last, number));
            }
            sampled += 1;
            if sampled == EVICTION_SAMPLE {
                break;
            }
        }
        if let Some((_, number)) = oldest {
            finished.push(self.remove(number));
        }
    }

    /// Takes a live record out and puts it on the list of free ones.
    #[cold]
    fn remove(&mut self, number: usize) -> Flow {
        let record = self.records.get_mut(number);
        let flow = record.flow();
        let hash = hash_of(&record.key, &self.seed);
        record.initiator = FREE;
        record.next_free = self.free;
        self.free = number as Link + 1;
        self.index.remove(hash, number);
        self.live -= 1;
        self.features.complete(number, flow)
    }

    /// Bytes of memory it has taken.
    pub(super) fn memory_bytes(&self) -> usize {
        self.index.memory_bytes() + self.records.memory_bytes() + self.features.memory_bytes()
    }

    /// All flows in the order of their first packet. The index makes room for the order.
    pub(super) fn into_ordered(self) -> Ordered<A> {
        drop(self.index);
        let mut order = Vec::with_capacity(self.live);
        order.extend(
            (self.records.numbers())
                .filter(|number| self.records.get(*number).initiator != FREE)
                .map(|number| number as u32),
        );
        order.sort_unstable_by_key(|number| (self.records.get(*number as usize).first, *number));
        Ordered { records: self.records, order: order.into_iter(), features: self.features }
    }
}

/// The flows of one IP version in the order of their first packet.
pub(super) struct Ordered<A> {
    records: Chunks<FlowRecord<A>>,
    order: std::vec::IntoIter<u32>,
    features: FeatureList,
}

impl<A: Mix> Ordered<A> {
    /// The time of the first packet of the flow that is next, or [`NO_TIME`].
    pub(super) fn peek(&self) -> Option<i64> {
        self.order.as_slice().first().map(|number| self.records.get(*number as usize).first)
    }

    pub(super) fn next(&mut self) -> Option<Flow> {
        let number = self.order.next()? as usize;
        Some(self.features.complete(number, self.records.get(number).flow()))
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;

    #[test]
    fn a_full_counter_of_packets_ends_the_flow_and_begins_another() {
        let (key, _) = Key::<[u8; 4]>::of(&Packet::default(), 0);
        let observation = Observation { ts: 1, length: 60, tcp_flags: 0 };
        let timeouts = Timeouts { idle: i64::MAX, active: i64::MAX };
        let mut records = Records::new(FeatureSet::NONE);
        let hash = records.hash(&key);
        records.insert(hash, key, false, observation);
        records.records.get_mut(0).packets[0] = u32::MAX - 1;
        let mut finished = Vec::new();
        for _ in 0..3 {
            let updated = records.update(hash, &key, false, observation, timeouts, &mut finished);
            assert_eq!(updated, Some(0));
        }
        let packets: Vec<u64> = finished.iter().map(Flow::packets).collect();
        assert_eq!(packets, [u32::MAX.into()]);
        assert_eq!(records.records.get(0).packets, [2, 0]);
    }
}
